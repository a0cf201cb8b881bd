#!/bin/sh
# Creates the pictures of docs/TOUR.md. Arguments: the program orange, the program of
# test/tour, and the folder for the pictures. Agents that follow scripts bring tasks into the
# shown states; the dashboard runs in a real tmux, the page in a real browser. Everything else is
# in a temporary folder.
set -eu

tour=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
pictures=$(cd "$3" && pwd)
. "$(dirname "$0")/stage.sh"
agents=/tmp/shop-agents # short, because it is visible
mkdir "$agents"
trap 'rm -rf "$agents"; finish' EXIT

cat >"$agents/good.yaml" <<'SCRIPT'
worker:
  - print: "Reading the task, then the code around the form."
  - section: {name: Plan, text: "APPROACH: keep the field after a failed login\nTOUCHING: login.txt, login_test.txt"}
  - run: orange task update --status working
  - usage: {input: 48200, output: 2100, cost: 0.21}
  - commit: {file: login.txt, text: "form\nlabel\nfield that keeps its value\n", message: keep the user name}
  - commit: {file: login_test.txt, text: "the name is still there\n", message: test it}
  - section: {name: Handoff, text: "DONE: the form keeps the user name\nREMAINING: nothing\nUNCERTAIN: nothing"}
  - run: orange task update --status agent-review
  - wait:
  - print: "The field needs a label. I look at the form again."
  - print: "Writing login.txt"
  - idle:
reviewer:
  - section: {name: Review, text: "Verdict: PASS\n\nThe field keeps its value, and a test says so."}
  - usage: {input: 21000, output: 600, cost: 0.06}
  - run: orange task update --status reviewing
SCRIPT
sed 's/login/footer/g; s/label.nfield that keeps its value/the year/; s/keep the user name/show the year/; s/keeps the user name/shows the year/; s/the name is still there/the year is there/' "$agents/good.yaml" >"$agents/footer.yaml"
cat >"$agents/busy.yaml" <<'SCRIPT'
worker:
  - section: {name: Plan, text: "APPROACH: an index over titles\nTOUCHING: search.txt"}
  - run: orange task update --status working
  - usage: {input: 15300, output: 900, cost: 0.08}
  - commit: {file: search.txt, text: "index\n", message: add the index}
  - print: "The index is there. Now the query."
  - run: "printf '\\033[32m+ index.go\\033[0m  42 lines\\n\\033[33m~ query.go\\033[0m  in progress\\n'"
  - print: "Running the tests ..."
  - idle:
SCRIPT
cat >"$agents/asks.yaml" <<'SCRIPT'
worker:
  - section: {name: Questions, text: "1. Are prices shown with tax?\n2. Which countries do we ship to?"}
  - run: orange task update --status clarification
  - wait:
  - idle:
SCRIPT
cat >"$agents/dies.yaml" <<'SCRIPT'
worker:
  - section: {name: Plan, text: "APPROACH: cache in memory"}
  - run: orange task update --status working
  - die: KILL
SCRIPT

orange project add --pool-size 5 >/dev/null
make_task() { orange task create "$1" "$2" --harness "script:$agents/$3.yaml" --json | sed 's/.*"task":{"id":"\([0-9A-Za-z]*\)".*/\1/'; }
done_=$(make_task fix-footer "Show the year in the footer" footer)
orange task wait "$done_" --for reviewing --timeout 60s >/dev/null
orange task merge "$done_" >/dev/null
orange task wait "$done_" --for done --timeout 60s >/dev/null
login=$(make_task fix-login "Keep the user name after a failed login" good)
search=$(make_task search "Let customers search by title" busy)
asks=$(make_task shipping "Show shipping costs in the cart" asks)
dies=$(make_task cache "Cache the start page" dies)
orange task create newsletter "Send the newsletter from a queue" --no-spawn --harness "script:$agents/busy.yaml" >/dev/null
orange task wait "$login" --for reviewing --timeout 60s >/dev/null
orange task wait "$asks" --for clarification --timeout 60s >/dev/null
crashed() { orange task show "$dies" --json | grep -q '"crashed":"worker"'; }
until_it "a crash" crashed
committed() { orange task log "$search" | grep -q "Running the tests"; }
until_it "an agent at work" committed

# The dashboard, in a terminal of its own.
dash() { tmux -S "$work/d.sock" -f /dev/null "$@"; }
shows() { dash capture-pane -p -t tour | grep -q "$1"; }
key() { dash send-keys -t tour "$@"; sleep 0.6; }
shot() { dash capture-pane -e -p -t tour | "$tour" screen "$pictures/$1.svg" "$2" "$work"; }
export COLORTERM=truecolor
dash new-session -d -s tour -x 118 -y 34 "$bin dashboard"
trap 'dash kill-server 2>/dev/null || true; rm -rf "$agents"; finish' EXIT
until_it "the dashboard" shows fix-login
sleep 1
shot dashboard "orange"
key g; shot groups "orange: grouped by status"; key g; key g; key g
key /; key -l search; key Enter; key Tab; key 4; shot live "orange: the agent's terminal"
key 5; shot graph "orange: the way through the workflow"
key Escape; key Escape
key i; shot inbox "orange: the inbox"
key Escape
key c; key -l "Let customers pay by invoice"; key Tab
key -l "Offer it from the second order on."; key M-Enter; key M-Enter; key -l -- "- the address is checked first"; key M-Enter; key -l -- "- at most 200 EUR"
shot create "orange: a new task"
key Escape
key q

# The page, in a browser.
photo() { name=$1; shift; "$tour" page "$pictures/$name.png" "$(orange web)" "$@"; }
workflow=$(orange task show "$login" --json | sed 's/.*"workflow_hash":"\([0-9a-f]*\)".*/\1/')
photo board /
photo board-dark / dark
photo task "/tasks/$login"
photo review "/tasks/$login" "#review"
photo terminal "/tasks/$search/terminal" 1280x560
photo web-inbox /inbox 1280x640
photo fleet /fleet 1280x560
photo workflow "/workflows/$workflow"
orange status
ls -la "$pictures"
