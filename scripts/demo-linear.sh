#!/bin/sh
# Three issues of a Linear team go Backlog -> Started -> Finished -> Delivered -> Accepted.
# A server on this machine takes the place of Linear and checks every request against a schema; the
# agents follow scripts. A comment holds one issue, and its QA agents do not report an outcome. The
# script kills Orange and the server. At the end no comment exists twice and no state is missing.
# The demo needs no key and no network, and uses a temporary folder.
set -eu

folder() { (cd "$(dirname "$1")" && pwd); }
linear="$(folder "$2")/$(basename "$2")" person="$(folder "$3")/$(basename "$3")"
. "$(dirname "$0")/stage.sh"
repository shop
export LINEAR_API_KEY=lin_api_demo
linear_pid=
trap 'kill $linear_pid 2>/dev/null || true; finish' EXIT
start_linear() {
	rm -f "$work/linear.url"
	"$linear" -addr "${linear_addr:-127.0.0.1:0}" -addr-file "$work/linear.url" -state "$work/linear.json" -seed "$work/issues.json" -token "$LINEAR_API_KEY" >>"$work/linear.log" 2>&1 &
	linear_pid=$!
	until_it "Linear" test -s "$work/linear.url"
	linear_addr=$(sed 's,http://\([^/]*\)/.*,\1,' "$work/linear.url")
}
in_linear() { "$person" "$work/linear.url" "$@"; }
is_in() { [ "$(in_linear state "$1")" = "$2" ]; }
task_of() { sed -n "s/^started .*lin:$1 .* task \([0-9A-Za-z]*\)$/\1/p" "$work/dispatched"; }
dispatch() { printf '$ orange dispatch --once\n'; orange dispatch --once >"$work/round"; cat "$work/round"; cat "$work/round" >>"$work/dispatched"; }

say "1. A team in Linear with three issues; a comment holds one of them"
cat >"$work/issues.json" <<'JSON'
[{"title": "Show the cart", "description": "Customers want to see what they buy.", "state": "Backlog", "author": "alice", "priority": 2},
 {"title": "Let customers pay", "description": "By card.", "state": "Backlog", "author": "alice", "priority": 1},
 {"title": "Say thank you", "description": "After the order.", "state": "Backlog", "author": "alice", "priority": 3}]
JSON
start_linear
in_linear comment ENG-2 alice "HOLD - legal looks at it"
in_linear show

say "2. A repository, a script for the agents, and Linear as its tracker"
cat >"$work/agents.yaml" <<'SCRIPT'
development:
  - commit: {file: "{task}.txt", text: "done\n", message: do what the issue asks for}
  - say: It is done.
qa:
  - say: "Everything was tried.\n<!-- WORK_RESULT:passed nonce={nonce} -->"
acceptance:
  - say: "It is what was asked for.\n<!-- WORK_RESULT:passed nonce={nonce} -->"
SCRIPT
sed 's/^  - say: "Everything was tried.*/  - say: It looks good to me./' "$work/agents.yaml" >"$work/forgetful.yaml"
run project add --workflow linear-sdlc --pool-size 3
run tracker add lin --kind linear --url "http://$linear_addr/graphql" --scope ENG --token env:LINEAR_API_KEY --author alice --harness "script:$work/agents.yaml"
run tracker test lin

say "3. Dispatch: the most urgent issue first, but not the held one"
dispatch

say "4. Orange is killed while the agents work; the next command starts it again"
until_it "the first task" is_in ENG-1 Started
kill -9 "$(head -n 1 "$ORANGE_HOME/server.lock")" && echo "killed"
run task list

say "5. Linear is killed as well; Orange keeps pending writes and retries them"
kill -9 "$linear_pid"; wait "$linear_pid" 2>/dev/null || true
sleep 1
start_linear
for issue in ENG-1 ENG-3; do run task wait "$(task_of $issue)" --for Accepted --timeout 120s; done
for issue in ENG-1 ENG-3; do until_it "$issue" is_in $issue Accepted; done

say "6. alice resumes the held issue. Its QA ends three times without a report"
in_linear comment ENG-2 alice RESUME
cat >>"$work/forgetful.yaml" <<'SCRIPT'
qa#4:
  - say: "Tried once more.\n<!-- WORK_RESULT:passed nonce={nonce} -->"
SCRIPT
run tracker add lin --harness "script:$work/forgetful.yaml"
dispatch
second=$(task_of ENG-2)
run task wait "$second" --for Halted --timeout 120s
run inbox
orange task explain "$second" | sed "/^Ways out/,\$d"


say "7. A person starts QA again; the fourth one reports its outcome"
run task answer "$second" "Say how it went, with the marker."
run task wait "$second" --for Accepted --timeout 120s
until_it ENG-2 is_in ENG-2 Accepted

say "8. In Linear: no state is missing, and no comment exists twice"
in_linear show
for issue in ENG-1 ENG-2 ENG-3; do in_linear check $issue Backlog Started Finished Delivered Accepted; done
run tracker list
run doctor | grep trackers
if grep -rqs "$LINEAR_API_KEY" "$ORANGE_HOME" "$work/shop"; then echo "demo: a file contains the secret" >&2; exit 1; fi
echo "No file of Orange contains the secret."
