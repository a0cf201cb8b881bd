#!/bin/sh
# Runs the tests of every package that starts processes again and again, with the race
# detector, while the machine is busy, to find rare failures. The tests of many concurrent merges
# are longer than in make check and have another seed in each round. The tests of the model
# checker, which are longer here too, start no process and run in the first round only.
#
# Every test program is built once, from a copy of the tree, so that work on the tree can go on.
# Programs run side by side, also those of different rounds and several copies of the same one;
# each has a temporary folder of its own.
#
# SOAK_COUNT=10      rounds
# SOAK_JOBS=N        test programs that run at the same time (default: one for each processor)
# SOAK_LOAD=N        busy loops beside them (default: one for every two processors)
# SOAK_SEED=1        seed of the first round; the next has one more
# SOAK_PACKAGES=...  which packages (default: all that start processes)
# SOAK_RUN=REGEXP    which tests of them (default: all)
set -eu
cd "$(dirname "$0")/.."

# soak.sh --one FOLDER NAME ROUND runs one test program of FOLDER and prints its result.
# xargs starts it below. It always succeeds: each failure leaves a file, and the script counts the files.
if [ "${1:-}" = --one ]; then
	work=$2 name=$3 round=$4
	ORANGE_SOAK_SEED=$((SOAK_SEED + round - 1))
	TMPDIR=$SOAK_FILES/$round.$name # short, for the paths of sockets
	export ORANGE_SOAK_SEED TMPDIR
	mkdir "$TMPDIR"
	log="$work/log/$round-$name"
	package=$(cat "$work/bin/$name.package") run=$SOAK_RUN start=$(date +%s)
	cd "$(cat "$work/bin/$name.dir")"
	outcome=passed
	if ! "$work/bin/$name.test" -test.timeout 90m -test.parallel 4 -test.run "$run" >"$log" 2>&1; then
		outcome="FAILED, see $log"
		: >"$work/log/$round-$name.failed"
	fi
	echo "round $round, seed $ORANGE_SOAK_SEED, $package, $(($(date +%s) - start)) s: $outcome"
	[ "$outcome" = passed ] || grep -E '^ *--- FAIL|^panic:|WARNING: DATA RACE' "$log" | sed 's/^/    /' || true
	rm -rf "$TMPDIR" || true
	exit 0
fi

processors=$(getconf _NPROCESSORS_ONLN)
SOAK_SEED=${SOAK_SEED:-1} SOAK_RUN=${SOAK_RUN:-.}
count=${SOAK_COUNT:-10} jobs=${SOAK_JOBS:-$processors} load=${SOAK_LOAD:-$(((processors + 1) / 2))}
packages=${SOAK_PACKAGES:-"./cmd/orange
./internal/adapter/shim ./internal/adapter/tmux ./internal/adapter/worktree ./internal/adapter/git ./internal/adapter/sqlite ./internal/adapter/harness
$(go list ./internal/runtime/... ./internal/host/... ./internal/server/...)
./internal/ui/api ./internal/ui/cli ./internal/ui/mcp ./internal/ui/web ./internal/ui/tui
./internal/core/verify"}
ORANGE_NPM_DIR=$(scripts/contracts.sh)
GORACE=atexit_sleep_ms=0 # without it, every process with the race detector takes a second to exit
export ORANGE_NPM_DIR SOAK_SEED SOAK_RUN GORACE

work=$(mktemp -d /tmp/soak.XXXXXX)
chmod 755 "$work" # TestForAnOrdinaryUser runs tests in it as another user
mkdir "$work/bin" "$work/log" "$work/tree"
SOAK_FILES=$(scripts/memory.sh)
export SOAK_FILES
git ls-files -z --cached --others --exclude-standard | tar -c --null --ignore-failed-read -T - 2>/dev/null | tar -x -C "$work/tree"
cd "$work/tree"
busy=
end() {
	for pid in $busy; do kill "$pid" 2>/dev/null || true; done
	rm -rf "$work/bin" "$work/tree" "$SOAK_FILES"
}
trap end EXIT
trap 'exit 130' INT TERM

echo "building the test programs"
ORANGE_TEST_PROGRAM=$work/bin/orange # tests that do without the race detector start this one
export ORANGE_TEST_PROGRAM
go build -o "$ORANGE_TEST_PROGRAM" ./cmd/orange
number=0
for package in $packages; do
	race=$(scripts/race.sh) rounds=$count
	case "$package" in */core/verify) race= rounds=1 ;; esac # it starts no process and takes long
	number=$((number + 1))
	# shellcheck disable=SC2086 # the flags are words
	go test -c $race -o "$work/bin/$number.test" "$package"
	[ -f "$work/bin/$number.test" ] || continue # it has no tests
	go list "$package" >"$work/bin/$number.package"
	go list -f '{{.Dir}}' "$package" >"$work/bin/$number.dir"
	round=1
	while [ "$round" -le "$rounds" ]; do
		echo "$number $round" >>"$work/runs"
		round=$((round + 1))
	done
done

i=0
while [ "$i" -lt "$load" ]; do
	(while :; do :; done) &
	busy="$busy $!"
	i=$((i + 1))
done

runs=$(wc -l <"$work/runs") began=$(date +%s)
echo "$count rounds, $((runs)) runs, $jobs at a time, $load busy loops, seeds from $SOAK_SEED; output in $work/log"
sort -s -n -k 2 "$work/runs" | xargs -n 2 -P "$jobs" scripts/soak.sh --one "$work"
failures=$(find "$work/log" -name '*.failed' | wc -l)
echo "soak: $((runs)) runs in $(($(date +%s) - began)) s, $((failures)) failed"
if [ "$failures" -gt 0 ]; then exit 1; fi
rm -rf "$work"
