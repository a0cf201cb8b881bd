package main

import (
	"fmt"
	"strings"
)

// tries are what is run in a root after an install, and what it must print.
var tries = []struct{ script, prints string }{
	{"orange version", "orange "},
	{"orange --version", "(commit "},
	{"orange --help", "task"},
	{"orange completion bash", "complete -F _orange orange"},
	{"orange workflow verify orange", "never-stalls  holds"},
	{task, "add the form"},
}

// task is one task by two scripted agents in terminals, from its creation to its merge.
const task = `
mkdir /root/shop && cd /root/shop
git init --quiet && echo shop >README && git add README && git commit --quiet -m begin
cat >/root/login.yaml <<'SCRIPT'
worker:
  - section: {name: Plan, text: "APPROACH: a form\nTOUCHING: login.txt"}
  - run: orange task update --status working
  - commit: {file: login.txt, text: "form\n", message: add the form}
  - section: {name: Handoff, text: "DONE: the form"}
  - run: orange task update --status agent-review
  - wait:
reviewer:
  - section: {name: Review, text: "Verdict: PASS"}
  - run: orange task update --status reviewing
SCRIPT
orange task create login "Let customers log in" --harness script:/root/login.yaml
id=$(orange task list --json | tr '{' '\n' | sed -n 's/.*"id":"\([0-9A-Za-z]\{21\}\)".*/\1/p')
orange task wait "$id" --for reviewing --timeout 120s
orange task merge "$id"
orange task wait "$id" --for done --timeout 120s
orange doctor
orange stop
git log --oneline main
`

// tryOrange runs the program in the root.
func (r root) tryOrange() error {
	for _, t := range tries {
		out, err := r.run(t.script)
		if err != nil {
			return err
		}
		if !strings.Contains(out, t.prints) {
			return fmt.Errorf("%s: it does not print %q:\n%s", t.script, t.prints, out)
		}
	}
	return nil
}
