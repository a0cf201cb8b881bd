#!/bin/sh
# Runs two tasks at the same time with the default workflow, from creation to merge. The agents
# follow a script in real worktrees and real terminals. Five things go wrong, and the demo names
# each: an agent needs an answer, a worker is killed, the server is killed, a check of the project
# fails, and a review fails. Both tasks land, the second after main has moved. The demo needs no key
# and no network, and uses a temporary folder.
set -eu

. "$(dirname "$0")/stage.sh"
repository shop
crashed() { orange task show "$1" --json | grep -q '"crashed":"worker"'; }
in_state() { orange task show "$1" --json | grep -q "\"status\":\"$2\""; }
check_failed() { orange task show "$1" | grep -q '^> 2:TODO'; }
review_failed() { orange task history "$1" | grep -q 'agent-review -> working'; }
trouble() { printf '\n\033[1;33mTrouble %s\033[0m\n' "$*"; }
# screen WORDS: shows the dashboard as a terminal of 110 columns shows it
screen() {
	tmux -S "$work/watch.sock" -f /dev/null new-session -d -x 110 -y 20 "ORANGE_HOME='$ORANGE_HOME' '$bin'"
	until_it "the dashboard" sh -c "tmux -S '$work/watch.sock' capture-pane -p | grep -q '$1'"
	printf '$ orange\n'
	tmux -S "$work/watch.sock" capture-pane -p | sed 's/^/  | /; s/ *$//'
	tmux -S "$work/watch.sock" kill-server
}

say "1. A repository, and a script for each worker and reviewer"
cat >"$work/login.yaml" <<'SCRIPT'
worker:
  - section: {name: Questions, text: "May a user name have spaces?"}
  - run: orange task update --status clarification
  - wait:
  - section: {name: Plan, text: "APPROACH: a form and a session\nTOUCHING: login.txt"}
  - run: orange task update --status working
  - commit: {file: login.txt, text: "form\n", message: add the form}
  - section: {name: Handoff, text: "DONE: the form"}
  - run: orange task update --status agent-review
  - wait:
  - commit: {file: login.txt, text: "form, with a label\n", message: label the form}
  - section: {name: Handoff, text: "DONE: the form, with a label"}
  - usage: {input: 52000, output: 1800, cost: 0.12}
  - run: orange task update --status agent-review
  - wait:
reviewer:
  - section: {name: Review, text: "Verdict: FAIL\n\nThe form has no label."}
  - run: orange task update --status working
reviewer#2:
  - section: {name: Review, text: "Verdict: PASS"}
  - run: orange task update --status reviewing
SCRIPT
cat >"$work/search.yaml" <<'SCRIPT'
worker:
  - section: {name: Plan, text: "APPROACH: an index\nTOUCHING: search.txt"}
  - run: orange task update --status working
  - commit: {file: search.txt, text: "index\nTODO: forget deleted pages\n", message: add the index}
  - die: KILL
worker#2:
  - section: {name: Handoff, text: "DONE: the index, which the first attempt had committed"}
  - run: orange task update --status agent-review
  - wait:
  - commit: {file: search.txt, text: "index that forgets deleted pages\n", message: forget deleted pages}
  - section: {name: Handoff, text: "DONE: the index, with what the check found"}
  - run: orange task update --status agent-review
  - wait:
reviewer:
  - section: {name: Review, text: "Verdict: PASS"}
  - run: orange task update --status reviewing
SCRIPT
run project add --pool-size 2 --check 'tests=! grep -n TODO *.txt'

say "2. Two tasks: each gets a branch, a worktree and an agent. Five things will go wrong"
run task create login "Let customers log in" --harness "script:$work/login.yaml"
run task create search "Let customers search" --harness "script:$work/search.yaml"
for id in $(ids); do
	case $(orange task show "$id" --json | sed 's/.*"branch":"\([a-z]*\)".*/\1/') in
	login) login=$id ;;
	search) search=$id ;;
	esac
done

until_it "the question" in_state "$login" clarification
trouble "1 of 5: the worker of login needs an answer before it goes on"
run inbox | sed -n '1p;/question/,/orange task answer/p'
run task answer "$login" "No. Refuse them."

until_it "the crash is seen" crashed "$search"
trouble "2 of 5: the worker of search was killed in the middle. What it committed is there; another goes on"
git log --oneline main..search
run task respawn "$search"

trouble "3 of 5: the server is killed while agents work. Agents go on; the next command starts a server"
pid=$(head -n 1 "$ORANGE_HOME/server.lock")
printf '$ kill -9 %s\n' "$pid"
kill -9 "$pid"
run task list

until_it "the failed check" check_failed "$search"
trouble "4 of 5: the check of search failed. Orange ran it, and sent the work back with its output"
run task show "$search" | grep -E '^\$|^> |-> working .*check'

until_it "the failed review" review_failed "$login"
trouble "5 of 5: the review of login failed, and the work went back to its worker"
run task wait "$login" --for reviewing --timeout 60s
run task wait "$search" --for reviewing --timeout 60s
run task show "$search" | grep -E '^\$|^Check'
echo "The states of login:"
orange task history "$login" | sed -n 's/^[^ ]* *\([^ ]*\)  *status.changed  *\([a-z-]* -> [a-z-]*\).*/  \1  \2/p'

say "3. The check and both reviews passed in the end. This is the dashboard: orange without arguments"
screen reviewing

say "4. Review the change and merge it. Tasks land one after the other. The queue is held for a moment, to show it"
printf '$ git diff main...login\n'
git --no-pager diff main...login
run land pause
run task merge "$login" --no-wait
run task merge "$search" --no-wait
run land list
run land resume
run task wait "$login" --for done --timeout 60s
run task wait "$search" --for done --timeout 60s
echo "main moved when login landed. The work of search was merged with that, and the check ran again before main moved on:"
orange task history "$search" | sed -n 's/^[^ ]* *[^ ]*  *landing.built  *\(candidate [0-9a-f]* on main [0-9a-f]*\).*/  \1/p'
run task show "$search" | grep -E '^\$|^Check'
printf '$ git log --oneline --graph\n'
git --no-pager log --oneline --graph

say "5. The cost, and whether every record agrees with its journal"
run stats --by role
run doctor | grep -E '^\$|journal|chain|anchors'

say "Next, use a repository of your own, with an agent that you are logged in to (claude, codex, opencode, gemini or pi):"
cat <<NEXT
  export PATH="$(dirname "$bin"):\$PATH"
  cd ~/code/shop
  orange run "Keep the user name after a failed login"
NEXT
