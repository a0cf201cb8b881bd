#!/bin/sh
# Runs the tests of every package that starts processes again and again, with the race
# detector, while the machine is busy, to find failures that come only now and then. The merge
# storms are longer than in make check and have another seed in each round, and so are the
# comparisons of the reduced search of workflows with the full one.
#
# SOAK_COUNT=10      rounds
# SOAK_LOAD=N        busy loops beside the tests (default: one for each processor)
# SOAK_SEED=1        seed of the first round; the next has one more
# SOAK_PACKAGES=...  which packages (default: all that start processes)
# SOAK_RUN=REGEXP    which tests of them (default: all)
set -eu
cd "$(dirname "$0")/.."

count=${SOAK_COUNT:-10} seed=${SOAK_SEED:-1} run=${SOAK_RUN:-.}
load=${SOAK_LOAD:-$(getconf _NPROCESSORS_ONLN)}
packages=${SOAK_PACKAGES:-"./cmd/orange
./internal/adapter/shim ./internal/adapter/tmux ./internal/adapter/worktree ./internal/adapter/git ./internal/adapter/sqlite ./internal/adapter/harness
$(go list ./internal/runtime/... ./internal/server/...)
./internal/ui/api ./internal/ui/cli ./internal/ui/mcp ./internal/ui/web ./internal/ui/tui"}
ORANGE_NPM_DIR=$(scripts/contracts.sh)
export ORANGE_NPM_DIR

logs=$(mktemp -d)
busy=
end_load() {
	for pid in $busy; do kill "$pid" 2>/dev/null || true; done
	busy=
}
trap end_load EXIT
trap 'exit 130' INT TERM
i=0
while [ "$i" -lt "$load" ]; do
	(while :; do :; done) &
	busy="$busy $!"
	i=$((i + 1))
done

echo "$count rounds, $load busy loops, seeds from $seed; output in $logs"
round=1 failures=0 runs=0 began=$(date +%s)
while [ "$round" -le "$count" ]; do
	ORANGE_SOAK_SEED=$((seed + round - 1))
	export ORANGE_SOAK_SEED
	bad= start=$(date +%s)
	for package in $packages; do
		runs=$((runs + 1))
		log="$logs/$round-$(echo "$package" | tr / _).log"
		if ! go test -race -count=1 -timeout 60m -run "$run" "$package" >"$log" 2>&1; then
			failures=$((failures + 1)) bad="$bad $package"
			grep -E '^ *--- FAIL|^panic:|WARNING: DATA RACE' "$log" | sed 's/^/    /' || true
			echo "  round $round, seed $ORANGE_SOAK_SEED: $package failed, see $log"
		fi
	done
	runs=$((runs + 1))
	log="$logs/$round-search.log"
	if ! go test -count=1 -timeout 60m -run '^TestRandomWorkflowsAreJudgedAlikeInFull$' ./internal/core/verify >"$log" 2>&1; then
		failures=$((failures + 1)) bad="$bad ./internal/core/verify"
		echo "  round $round, seed $ORANGE_SOAK_SEED: the reduced search differs from the full one, see $log"
	fi
	echo "round $round of $count, seed $ORANGE_SOAK_SEED, $(($(date +%s) - start)) s: ${bad:-all passed}"
	round=$((round + 1))
done
echo "soak: $runs runs in $(($(date +%s) - began)) s, $failures failed"
if [ "$failures" -gt 0 ]; then exit 1; fi
rm -rf "$logs"
