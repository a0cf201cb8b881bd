#!/bin/sh
# Takes the pictures of docs/TOUR.md, and pictures of every page in three sizes and two themes, with few tasks and with
# many. Arguments: the program orange, the program of test/tour, the folder for the pictures of documents, and the folder
# for the others. Agents that follow scripts bring tasks into the shown states; the dashboard runs in a real tmux, the
# page in a real browser. Everything else is in a temporary folder.
set -eu

tour=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
pictures=$(cd "$3" && pwd)
matrix=$(cd "$4" && pwd)
. "$(dirname "$0")/stage.sh"
. "$(dirname "$0")/tour-stage.sh"
make_stage
orange status

# The dashboard, in a terminal of its own. It is not in a project, and shows all of them.
dash() { tmux -S "$work/d.sock" -f /dev/null "$@"; }
shows() { dash capture-pane -p -t tour | grep -q "$1"; }
key() { dash send-keys -t tour "$@"; sleep 0.6; }
shot() { dash capture-pane -e -p -t tour | "$tour" screen "$pictures/$1.svg" "$2" "$work"; }
export COLORTERM=truecolor
dash new-session -d -s tour -x 118 -y 40 -c / "$bin dashboard"
trap 'dash kill-server 2>/dev/null || true; rm -rf "$agents"; finish' EXIT
until_it "the dashboard" shows round-per-line
sleep 1
shot dashboard "orange"
key g; shot groups "orange: grouped by status"; key g; key g; key g
key /; key -l "title and author"; key Enter; key Tab; key 4; shot live "orange: the agent's terminal"
key 5; shot graph "orange: the way through the workflow"
key Escape; key Escape
key i; shot inbox "orange: the inbox"
key Escape
key c; key -l "Let customers pay by invoice"; key Tab
key -l "Offer it from the second order on."; key M-Enter; key M-Enter; key -l -- "- the address is checked first"; key M-Enter; key -l -- "- at most 200 EUR"
shot create "orange: a new task"
key Escape
key q

# The pages of documents.
workflow=$(orange task show "$review" --json | sed 's/.*"workflow_hash":"\([0-9a-f]*\)".*/\1/')
"$tour" pages "$pictures" "$(orange web)" <<LIST
board       /                                1440x680 light
board-dark  /                                1440x680 dark
task        /tasks/$question                 1280x800 light
review      /tasks/$review?tab=changes       1280x1060 light
terminal    /tasks/$search?tab=terminal      1280x720 light
web-inbox   /inbox?item=$permission          1280x720 light
fleet       /fleet                           1280x720 light
workflow    /workflows/$workflow             1280x800 light
LIST

# Every page.
every_page() { # every_page TASKS
	"$tour" matrix "$matrix" "$(orange web)" <<LIST
$1-inbox             /inbox
$1-inbox-question    /inbox?item=$question
$1-inbox-permission  /inbox?item=$permission
$1-inbox-review      /inbox?item=$review
$1-board             /
$1-board-state       /?group=status
$1-board-project     /?group=project
$1-task-changes      /tasks/$review?tab=changes
$1-task-unified      /tasks/$review?tab=changes             #file-1
$1-task-split        /tasks/$review?tab=changes&view=split  #file-1
$1-task-image        /tasks/$review?tab=changes             [data-path$=png]
$1-task-overview     /tasks/$review?tab=overview
$1-task-question     /tasks/$question
$1-task-terminal     /tasks/$search?tab=terminal
$1-task-dialog       /tasks/$permission?tab=terminal
$1-task-log          /tasks/$review?tab=log
$1-task-timeline     /tasks/$review?tab=timeline
$1-task-workflow     /tasks/$review?tab=workflow
$1-task-merged       /tasks/$merged?tab=changes
$1-kanban            /kanban/docs
$1-kanban-card       /kanban/docs/1
$1-fleet             /fleet
$1-workflows         /workflows
$1-workflow          /workflows/$workflow
$1-stats             /stats
$1-new               /new
$1-project           /projects/new
$1-move              /move/$review
$1-error             /nowhere
$1-style             /style
LIST
}
rm -rf "$matrix"/*
every_page 12
fill_stage
orange status
every_page 300
