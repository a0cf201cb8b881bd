#!/bin/sh
# The main job from end to end on the embedded default: one task from plan to merge,
# with a failed review, a crash, a stale handoff that is refused, and a server that is
# killed on the way. No key, no network. Everything happens in a temporary folder.
set -eu

bin=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
work=$(mktemp -d)
export ORANGE_HOME="$work/home" HOME="$work" XDG_CONFIG_HOME="$work/config" XDG_RUNTIME_DIR="$work" ORANGE_EFFECTS=record
unset ORANGE_ROLE ORANGE_TASK ORANGE_ATTEMPT 2>/dev/null || true
trap '"$bin" stop >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
orange() { "$bin" "$@"; }

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { printf '$ orange %s\n' "$*"; orange "$@"; }
refused() { printf '$ orange %s\n' "$*"; if orange "$@"; then echo "demo: this was to be refused" >&2; exit 1; fi; }
as() { role=$1 attempt=$2; shift 2; printf '%s$ orange %s\n' "$role" "$*"; ORANGE_ROLE=$role ORANGE_ATTEMPT=$attempt ORANGE_TASK=$id orange "$@"; }
write() { printf '\n## %s\n\n%s\n' "$1" "$2" >>"$task_md"; printf '%s\n' "  (## $1 is written to TASK.md: $2)" | head -n 1; }
# settled waits until the engine has carried out every effect it owes.
settled() {
	n=0
	while orange task show "$id" --json | grep -q '"pending":'; do
		n=$((n + 1)); [ $n -lt 500 ] || { echo "demo: effects do not end" >&2; exit 1; }
		sleep 0.02
	done
}
attempt_of() { orange task show "$id" --json | tr '{' '\n' | grep "\"role\":\"$1\"" | grep '"number"' | sed 's/.*"number":\([0-9]*\).*/\1/' | tail -n 1; }

say "Orange decides. In this demo no agent is started: effects are written down by a"
say "separate process, and this script plays the worker, the reviewer and the person."

say "1. A repository, a project, a task"
git init -q -b main "$work/shop"
cd "$work/shop"
git config user.name demo
git config user.email demo@localhost
echo 'shop' >README && git add README && git commit -qm 'begin'
git checkout -qb login && echo 'login' >login.txt && git add login.txt && git commit -qm 'add login' && git checkout -q main
run project add --pool-size 1
run task create login "Let customers log in"
id=$(orange task list --json | sed 's/.*"id":"\([0-9A-Za-z]*\)".*/\1/')
task_md="$ORANGE_HOME/tasks/shop/$id/TASK.md"
settled

say "2. The worker may not go on without a plan; with one it may"
worker=$(attempt_of worker)
refused task update "$id" --status working
write Plan "APPROACH: a form and a session"
as worker "$worker" task update --status working

say "3. The worker hands over; a reviewer is started beside it, and says FAIL"
write Handoff "DONE: the form"
as worker "$worker" task complete
settled
reviewer=$(attempt_of reviewer)
write Review "Verdict: FAIL"
as reviewer "$reviewer" task update --status working
settled

say "4. An old handoff does not submit new work"
refused task complete "$id"

say "5. The worker dies; Orange sees a crash, counts it, and will start another"
run task exit "$id" --role worker --code 137
orange task explain "$id" | sed -n '1,4p'

say "6. The server is killed for good measure; the next command starts another"
kill -9 "$(head -n 1 "$ORANGE_HOME/server.lock")"
write Handoff "DONE: the form, mended"
run task complete "$id"
settled

say "7. The second review passes; a person takes over, and done needs a merge"
reviewer=$(attempt_of reviewer)
write Review "Verdict: PASS"
as reviewer "$reviewer" task complete
settled
refused task complete "$id"
git merge -q --no-ff login -m 'merge login'
echo '$ git merge login'
run task complete "$id"
settled

say "The timeline, from the journal"
run task history "$id"

say "What would have been done in the world, each thing once"
sed 's/.*"key":"[^/]*\/\([0-9/]*\)","do":"\([a-z_]*\)".*/  \1\t\2/' "$ORANGE_HOME/effects/$id.jsonl"

say "Every record is what its journal folds to"
run doctor
printf '\nDone. Look further with: %s --help\n' "$1"
