#!/bin/sh
# One card goes over the embedded board: business analyst, architect, developer, reviewer,
# operations. The workers play a script and never touch the board: each ends with a result
# in JSON, and Orange does what it may ask for. The developer fails once and recovers;
# operations asks the architect before the merge. A person approves by tags. No key, no
# network. Everything happens in a temporary folder.
set -eu

bin=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
work=$(mktemp -d)
export ORANGE_HOME="$work/home" HOME="$work" XDG_CONFIG_HOME="$work/config" XDG_RUNTIME_DIR="$work"
export PATH="$(dirname "$bin"):$PATH" GIT_CONFIG_NOSYSTEM=1 TZ=UTC
unset ORANGE_ROLE ORANGE_TASK ORANGE_ATTEMPT ORANGE_TOKEN ORANGE_EFFECTS TMUX 2>/dev/null || true
finish() {
	"$bin" task cancel "${id:-none}" --yes >/dev/null 2>&1 || true
	"$bin" stop >/dev/null 2>&1 || true
	tmux -S "$ORANGE_HOME/tmux.sock" kill-server 2>/dev/null || true
	rm -rf "$work"
}
trap finish EXIT
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { printf '$ orange %s\n' "$*"; orange "$@"; }
until_it() { # until_it WHAT COMMAND...: waits until the command succeeds
	what=$1; shift; n=0
	until "$@" >/dev/null 2>&1; do
		n=$((n + 1)); [ $n -lt 1500 ] || { echo "demo: it does not come: $what" >&2; orange task explain "$id" >&2; exit 1; }
		sleep 0.02
	done
}
tagged() { orange board show 1 --json | grep -q "\"$1\"" && orange task show "$id" --json | grep -q '"status":"board"'; }

say "1. A repository whose tasks are cards, and a script for the workers to play"
git init -q -b main "$work/shop"
cd "$work/shop"
git config user.name demo
git config user.email demo@localhost
echo 'shop' >README && git add README && git commit -qm 'begin'
cat >"$work/workers.yaml" <<'SCRIPT'
ba:
  - say: |
      {"success": true, "summary": "The requirements are complete", "worker_type": "ba", "task_id": "{task}",
       "joan_actions": {"add_tags": ["Ready"], "move_to_column": "Analyse",
         "add_comment": "ALS/1\nactor: ba\nintent: decision\naction: mark-ready\nsummary: Ready to be planned."},
       "stage_context": {"from_stage": "ba", "to_stage": "architect", "key_decisions": ["Sessions, no tokens"]}}
architect:
  - say: |
      {"success": true, "summary": "A plan with two steps", "worker_type": "architect", "task_id": "{task}",
       "joan_actions": {"add_tags": ["Plan-Pending-Approval"], "remove_tags": ["Ready"],
         "update_description": "Customers want to log in.\n\n## Plan\n- [ ] a form\n- [ ] a session"}}
architect#2:
  - say: |
      {"success": true, "summary": "The plan is final", "worker_type": "architect", "task_id": "{task}",
       "joan_actions": {"add_tags": ["Planned"], "remove_tags": ["Plan-Pending-Approval"], "move_to_column": "Development"},
       "stage_context": {"from_stage": "architect", "to_stage": "dev", "key_decisions": ["The form goes to login.txt"]}}
architect#3:
  - say: |
      {"success": true, "summary": "Keep both: the form of this branch, the header of main", "worker_type": "architect", "task_id": "{task}",
       "joan_actions": {"add_comment": "Take the header from main."}}
dev:
  - say: |
      {"success": false, "summary": "The build server is down", "worker_type": "dev", "task_id": "{task}",
       "joan_actions": {"add_tags": ["Dev-Complete"]}, "errors": ["cannot reach the build server"], "needs_human": "start the build server"}
dev#2:
  - commit: {file: login.txt, text: "form\n", message: add the form}
  - say: |
      {"success": true, "summary": "The form is there", "worker_type": "dev", "task_id": "{task}",
       "joan_actions": {"add_tags": ["Dev-Complete", "Design-Complete", "Test-Complete"], "remove_tags": ["Planned"], "move_to_column": "Review"},
       "git_actions": {"commit_made": true, "files_changed": ["login.txt"]},
       "stage_context": {"from_stage": "dev", "to_stage": "reviewer", "key_decisions": ["One file"], "files_of_interest": ["login.txt"]}}
reviewer:
  - say: |
      {"success": true, "summary": "Approved", "worker_type": "reviewer", "task_id": "{task}", "joan_actions": {"add_tags": ["Review-Approved", "Ops-Ready"]}}
ops:
  - say: |
      {"success": true, "summary": "A conflict that needs a decision", "worker_type": "ops", "task_id": "{task}",
       "joan_actions": {"add_tags": ["Invoke-Architect"]},
       "invoke_agent": {"agent_type": "architect", "mode": "advisory-conflict",
         "context": {"reason": "Both sides changed the header", "question": "Which header stays?", "files_of_interest": ["login.txt"]},
         "resume_as": {"agent_type": "ops", "mode": "merge-with-guidance"}}}
ops#2:
  - say: |
      {"success": true, "summary": "Ready to be merged, as the architect says", "worker_type": "ops", "task_id": "{task}",
       "joan_actions": {"remove_tags": ["Review-Approved", "Dev-Complete", "Design-Complete", "Test-Complete"], "move_to_column": "Deploy"}}
SCRIPT
run project add --workflow joan-board

say "2. A card. The business analyst and the architect are called because of where it is"
run board add "Let customers log in" --description "Customers want to log in." --harness "script:$work/workers.yaml"
id=$(orange task list --json | sed -n 's/.*"id": *"\([0-9A-Za-z]\{21\}\)".*/\1/p' | head -n 1)
[ -n "$id" ] || id=$(orange task list --json | tr '{' '\n' | sed -n 's/.*"id":"\([0-9A-Za-z]\{21\}\)".*/\1/p' | head -n 1)
until_it "the plan" tagged Plan-Pending-Approval
run inbox

say "3. A person approves the plan. The developer fails, a person helps, the developer goes on"
run board tag 1 Plan-Approved
until_it "the failure" tagged Implementation-Failed
run inbox
run board tag 1 --remove Implementation-Failed
until_it "the review" tagged Review-Approved

say "4. The reviewer asked for Ops-Ready as well, which is not its to set: a person does"
run board show 1
run board tag 1 Ops-Ready

say "5. Operations asks the architect, goes on with the answer, and Orange merges"
run task wait "$id" --for done --timeout 60s
git log --oneline main

say "6. What the card has been through"
run board history 1
run task history "$id"
