#!/bin/sh
# The main job from end to end on the embedded default: two tasks at once, with agents
# that play a script in real worktrees and, where tmux is installed, real terminals. One
# review fails before it passes; one worker is killed and replaced; both are merged. No
# key, no network. Everything happens in a temporary folder.
set -eu

. "$(dirname "$0")/stage.sh"
crashed() { orange task show "$1" --json | grep -q '"crashed":"worker"'; }

say "1. A repository, and a script for the agents to play"
cat >"$work/login.yaml" <<'SCRIPT'
worker:
  - section: {name: Plan, text: "APPROACH: a form and a session\nTOUCHING: login.txt"}
  - run: orange task update --status working
  - commit: {file: login.txt, text: "form\n", message: add the form}
  - section: {name: Handoff, text: "DONE: the form"}
  - run: orange task update --status agent-review
  - wait:
  - commit: {file: login.txt, text: "form, with a label\n", message: label the form}
  - section: {name: Handoff, text: "DONE: the form, with a label"}
  - run: orange task update --status agent-review
  - wait:
worker#2:
  - commit: {file: login.txt, text: "form, with a label\n", message: label the form}
  - section: {name: Handoff, text: "DONE: the form, with a label"}
  - run: orange task update --status agent-review
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
  - commit: {file: search.txt, text: "index\n", message: add the index}
  - die: KILL
worker#2:
  - section: {name: Handoff, text: "DONE: the index, which the first attempt had committed"}
  - run: orange task update --status agent-review
  - wait:
reviewer:
  - section: {name: Review, text: "Verdict: PASS"}
  - run: orange task update --status reviewing
SCRIPT
run project add --pool-size 2

say "2. Two tasks, two worktrees, four kinds of trouble to come"
run task create login "Let customers log in" --harness "script:$work/login.yaml"
run task create search "Let customers search" --harness "script:$work/search.yaml"
for id in $(ids); do
	case $(orange task show "$id" --json | sed 's/.*"branch":"\([a-z]*\)".*/\1/') in
	login) login=$id ;;
	search) search=$id ;;
	esac
done

say "3. The worker of search is killed; a person does not wait for Orange to replace it"
until_it "the crash is seen" crashed "$search"
run inbox
run task respawn "$search"

say "4. Both reviews pass in the end, and the work waits for a person"
run task wait "$login" --for reviewing --timeout 60s
run task wait "$search" --for reviewing --timeout 60s
run task attempts "$login"
run workspace list
run inbox

say "5. Merge: done needs the commit in the default branch"
run task merge "$login"
run task merge "$search"
run task wait "$login" --for done --timeout 60s
run task wait "$search" --for done --timeout 60s
git log --oneline --graph | sed 's/^/  /'

say "The timeline"
for id in "$login" "$search"; do
	name=login; [ "$id" = "$search" ] && name=search
	orange task history "$id" | grep -Ev 'effect.done|agent.condition|auto.advanced|agent.stopped' | sed "s/^\([^ ]* *[^ ]*\)  /\1  $(printf '%-7s' $name) /"
done | sort -s -k1,2 | cut -c12-140

say "The way through the workflow"
for id in "$login" "$search"; do
	name=login; [ "$id" = "$search" ] && name=search
	orange task history "$id" | sed -n 's/.*status.changed  *\([a-z-]*\) -> \([a-z-]*\).*/\1 \2/p' | awk -v n="$name" 'NR==1{p=$1}{p=p " -> " $2}END{printf "  %-7s %s\n", n, p}'
done

say "Every record is what its journal folds to"
run doctor
printf '\nDone. Look further with: %s --help\n' "$1"
