#!/bin/sh
# Moves one card over the local board: business analyst, architect, developer, reviewer, operations.
# The agents follow a script and never change the board: each ends with a result in JSON, and
# Orange makes the changes that the role may request. The developer fails once and recovers;
# operations asks the architect before the merge. A person approves by tags. The demo needs no key
# and no network, and uses a temporary folder.
set -eu

. "$(dirname "$0")/stage.sh"
repository shop
tagged() { orange board show 1 --json | grep -q "\"$1\"" && orange task show "$id" --json | grep -q '"status":"board"'; }

say "1. A repository whose tasks are cards, and a script for the agents"
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

say "2. A card. Its column and tags start the business analyst and the architect"
run board add "Let customers log in" --description "Customers want to log in." --harness "script:$work/workers.yaml"
id=$(ids)
until_it "the plan" tagged Plan-Pending-Approval
run inbox

say "3. A person approves the plan. The developer fails, a person helps, the developer continues"
run board tag 1 Plan-Approved
until_it "the failure" tagged Implementation-Failed
run inbox
run board tag 1 --remove Implementation-Failed
until_it "the review" tagged Review-Approved

say "4. The reviewer also asked for Ops-Ready, which only a person may set: a person does"
run board show 1 | sed '/^Comment 1,/,$d' # without the nine comments of the agents
run board show 1 | sed -n 's/^  - not done: /The last comment says what was not done: /p'
run board tag 1 Ops-Ready

say "5. Operations asks the architect, continues with the answer, and Orange merges"
run task wait "$id" --for done --timeout 60s
printf '$ git log --oneline main\n'
git --no-pager log --oneline main

say "6. The history of the card, without comments and claims"
run board history 1 | grep -Ev '  said: |; (claimed|released) by '

say "7. Why the task moved: every line is a decision, and orange task history has the rest"
run task history "$id" | sed -n '1p; s/^[^ ]* \([^ ]*\)  auto.advanced  */\1  /p' | cut -c1-120

say "The same with a board of your own: in a repository, orange project add --workflow joan-board, then orange board add"
