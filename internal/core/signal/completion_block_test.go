package signal

import (
	"fmt"
	"strings"
	"testing"
)

func blockOf(lines ...string) string {
	return "---\n" + strings.Join(lines, "\n") + "\n---\n"
}

func TestCompletionBlocks(t *testing.T) {
	const head = "agent: tester\ntask_id: t1"
	ready := blockOf(head, "status: READY_FOR_REVIEW")
	for name, c := range map[string]struct {
		text         string
		want         Result
		code, detail string
		says         string
	}{
		"plain":                         {"Done.\n" + ready, Passed, "READY_FOR_REVIEW", "", ""},
		"in a yaml fence":               {"```yaml\n" + ready + "```\n", Passed, "READY_FOR_REVIEW", "", ""},
		"in a yml fence":                {"~~~YML\n" + ready + "~~~\n", Passed, "READY_FOR_REVIEW", "", ""},
		"in a plain fence":              {"```\n" + ready + "```\n", Passed, "READY_FOR_REVIEW", "", ""},
		"in a fence in a list":          {"- so:\n  ```yaml\n  ---\n  agent: tester\n  task_id: t1\n  status: X_COMPLETE\n  ---\n  ```\n", Passed, "X_COMPLETE", "", ""},
		"in another fence":              {"```markdown\n" + ready + "```\n", Unknown, "", "", "line 2: a block in a code fence does not count"},
		"in a block quote":              {"> " + strings.ReplaceAll(strings.TrimSpace(ready), "\n", "\n> "), Unknown, "", "", "line 1: a block in a block quote does not count"},
		"order free, more keys":         {blockOf("status: X_COMPLETE", "skills_used: [a, b]", "", "notes:", "  - one", head), Passed, "X_COMPLETE", "", ""},
		"quotes":                        {blockOf(`"agent": 'tester'`, `task_id: "t1"`, `status: "BLOCKED: no key"`), Halted, "BLOCKED", "no key", ""},
		"a halt with colons":            {blockOf(head, "status: TESTS_FAILED: 3 of 5: a#b, 'c' # d"), Halted, "TESTS_FAILED", "3 of 5: a#b, 'c' # d", ""},
		"no space behind the colon":     {blockOf(head, "status: BLOCKED:why"), Halted, "BLOCKED", "why", ""},
		"a comment":                     {blockOf(head, "status: X_COMPLETE # yes"), Passed, "X_COMPLETE", "", ""},
		"a block scalar":                {blockOf(head, "status: |", "  BLOCKED: no key"), Halted, "BLOCKED", "no key", ""},
		"lower case":                    {blockOf(head, "status: ready_for_review"), Passed, "READY_FOR_REVIEW", "", ""},
		"a number for a task":           {blockOf("agent: tester", "task_id: 007", "status: X_COMPLETE"), Unknown, "", "", "a block of task 007, and this is task t1"},
		"another key with a colon":      {blockOf(head, "summary: fixed: all of it", "status: X_COMPLETE"), Passed, "X_COMPLETE", "", ""},
		"carriage returns":              {strings.ReplaceAll(ready, "\n", "\r\n"), Passed, "READY_FOR_REVIEW", "", ""},
		"trailing spaces":               {"---  \nagent: tester \ntask_id: t1\t\nstatus: X_COMPLETE  \n--- ", Passed, "X_COMPLETE", "", ""},
		"the last one counts":           {ready + "\n" + blockOf(head, "status: BLOCKED: x"), Halted, "BLOCKED", "x", "line 1: a block says READY_FOR_REVIEW, and a later one counts"},
		"the last valid one counts":     {ready + "\n" + blockOf(head, "status: <STATUS_CODE>"), Passed, "READY_FOR_REVIEW", "", "status <STATUS_CODE> is no code"},
		"a shared line":                 {"---\n" + head + "\nstatus: BLOCKED: x\n---\n" + head + "\nstatus: X_COMPLETE\n---\n", Passed, "X_COMPLETE", "", "line 1: a block says BLOCKED"},
		"behind a rule":                 {"Text\n\n---\n\nmore text: yes\nand no\n\n" + ready, Passed, "READY_FOR_REVIEW", "", ""},
		"another task":                  {blockOf("agent: tester", "task_id: X", "status: X_COMPLETE"), Unknown, "", "", "line 1: a block of task X, and this is task t1"},
		"another agent":                 {blockOf("agent: documenter", "task_id: t1", "status: X_COMPLETE"), Unknown, "", "", "a block of agent documenter, and this is agent Tester"},
		"blank lines":                   {"---\n\nagent: tester\n\ntask_id: t1\n\nstatus: X_COMPLETE\n\n---\n", Passed, "X_COMPLETE", "", ""},
		"another code in the prose":     {"READY_FOR_REVIEW is out of reach.\n" + blockOf(head, "status: BLOCKED: a token", "tools: []"), Halted, "BLOCKED", "a token", ""},
		"a code nobody knows":           {blockOf(head, "status: CUSTOM_HALT"), Unknown, "CUSTOM_HALT", "", "code CUSTOM_HALT has no meaning here"},
		"no status":                     {blockOf(head), Unknown, "", "", "a block without status does not count"},
		"an empty status":               {blockOf(head, "status:"), Unknown, "", "", "status is missing"},
		"a status that is a list":       {blockOf(head, "status: [X_COMPLETE]"), Unknown, "", "", "status is missing"},
		"words for a status":            {blockOf(head, "status: all done"), Unknown, "", "", `status "all done" is no code`},
		"two statuses":                  {"Well.\n\n" + blockOf(head, "status: X_COMPLETE", "status: BLOCKED: x"), Unknown, "", "", `line 3: a block does not count: it is not YAML: line 7: mapping key "status" already defined at line 6`},
		"no end":                        {"---\n" + head + "\nstatus: X_COMPLETE\n", Unknown, "", "", "its closing --- is missing"},
		"no end before the fence's":     {"```yaml\n---\n" + head + "\nstatus: X_COMPLETE\n```\n---\n", Unknown, "", "", "line 2: a block does not count: the fence ends"},
		"no lines around it":            {"```yaml\n" + head + "\nstatus: X_COMPLETE\n```\n", Unknown, "", "", "there is no --- line before it"},
		"four dashes":                   {"----\n" + head + "\nstatus: X_COMPLETE\n----\n", Unknown, "", "", ""},
		"prose between":                 {blockOf(head, "I am done", "status: X_COMPLETE"), Unknown, "", "", "it is not YAML"},
		"broken YAML":                   {"1\n2\n3\n" + blockOf(head, "status: X_COMPLETE", "list: [a"), Unknown, "", "", "line 4: a block does not count: it is not YAML: line 8: sequence end token"},
		"broken YAML in a list":         {"- so:\n  ```yaml\n  ---\n  agent: tester\n  task_id: t1\n  status: [X_COMPLETE\n  ---\n  ```\n", Unknown, "", "", "it is not YAML: line 6: sequence end token"},
		"anchors":                       {blockOf(head, "a: &a [1]", "b: *a", "status: X_COMPLETE"), Unknown, "", "", "anchors and aliases are not supported"},
		"a bomb":                        {bomb(head), Unknown, "", "", "anchors and aliases are not supported"},
		"deep nesting":                  {blockOf(head, "x: "+strings.Repeat("[", 200)+strings.Repeat("]", 200), "status: X_COMPLETE"), Unknown, "", "", "nests deeper"},
		"many lists beside one another": {blockOf(head, "x: ["+strings.Repeat("{a: [1]}, ", 40)+"2]", "status: X_COMPLETE"), Passed, "X_COMPLETE", "", ""},
		"too long":                      {blockOf(head, "x: "+strings.Repeat("y", maxBlock), "status: X_COMPLETE"), Unknown, "", "", "line 1: a block has more than 65536 bytes"},
		"too long by its lines":         {blockOf(head, strings.Repeat("k: v\n", maxBlock/5), "status: X_COMPLETE"), Unknown, "", "", "a block has more than"},
		"not text":                      {blockOf(head, "x: \x00\xff", "status: X_COMPLETE"), Unknown, "", "", "it is not text"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range []Protocol{CompletionBlock, AnyProtocol} {
				got := DetectText(c.text, DetectOptions{Protocol: p, Task: "t1", Agent: "Tester"})
				if got.Outcome != c.want || got.Code != c.code || got.Detail != c.detail || !strings.Contains(got.Diagnosis, c.says) || c.says == "" && got.Diagnosis != "" {
					t.Errorf("%+v, want %+v", got, c)
				}
				if (got.Source == FromBlock) != (c.code != "") {
					t.Errorf("source %q", got.Source)
				}
			}
		})
	}
}

// bomb returns a block that would be a million times its size with every alias written out.
func bomb(head string) string {
	lines := []string{head, "status: X_COMPLETE", "a0: &a0 [x,x,x,x,x,x,x,x,x,x]"}
	for i := 1; i < 10; i++ {
		lines = append(lines, fmt.Sprintf("a%d: &a%d [%s]", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ",")))
	}
	return blockOf(lines...)
}

func TestTheCodesOfAStepDecide(t *testing.T) {
	codes := map[string]Result{"DONE": Passed, "REJECTED": Failed, "BLOCKED": Halted}
	for text, want := range map[string]Result{
		blockOf("agent: a", "task_id: t", "status: done"):             Passed,
		blockOf("agent: a", "task_id: t", "status: REJECTED: bad"):    Failed,
		blockOf("agent: a", "task_id: t", "status: BLOCKED: x"):       Halted,
		blockOf("agent: a", "task_id: t", "status: READY_FOR_REVIEW"): Unknown,
		"DONE": Passed,
	} {
		got := DetectText(text, DetectOptions{Protocol: CompletionBlock, Codes: codes})
		if got.Outcome != want || got.Code == "" {
			t.Errorf("%q: %+v, want %s", text, got, want)
		}
		if want == Unknown && !strings.Contains(got.Diagnosis, "is not one of BLOCKED, DONE, REJECTED") {
			t.Errorf("%q", got.Diagnosis)
		}
	}
}

func TestLegacyForms(t *testing.T) {
	for text, want := range map[string]string{
		"Status: READY_FOR_TESTING":                    "passed READY_FOR_TESTING",
		"**Status: READY_FOR_TESTING**":                "passed READY_FOR_TESTING",
		"**Status:** TESTING_COMPLETE  ":               "passed TESTING_COMPLETE",
		"Status: **TESTING_COMPLETE**":                 "passed TESTING_COMPLETE",
		"Status: TESTING_COMPLETE, I think":            "unknown ",
		"The Status: TESTING_COMPLETE":                 "unknown ",
		"status: TESTING_COMPLETE":                     "unknown ",
		"DOCUMENTATION_COMPLETE":                       "passed DOCUMENTATION_COMPLETE",
		"  DOCUMENTATION_COMPLETE  ":                   "passed DOCUMENTATION_COMPLETE",
		"documentation_complete":                       "unknown ",
		"It is DOCUMENTATION_COMPLETE":                 "unknown ",
		"_COMPLETE":                                    "unknown ",
		"READY_FOR_":                                   "unknown ",
		"## Status\n\nREADY_FOR_REVIEW":                "passed READY_FOR_REVIEW",
		"## Status\nREADY_FOR_REVIEW - see above":      "passed READY_FOR_REVIEW",
		"## Status\nSo:\nREADY_FOR_REVIEW - see above": "unknown ",
		"BLOCKED: no key":                              "halted BLOCKED no key",
		"**BLOCKED:** no key":                          "halted BLOCKED no key",
		"NEEDS_CLARIFICATION: a: b?":                   "halted NEEDS_CLARIFICATION a: b?",
		"TESTS_FAILED: 3":                              "halted TESTS_FAILED 3",
		"BUILD_FAILED: make":                           "halted BUILD_FAILED make",
		"NEEDS_RESEARCH: caches":                       "halted NEEDS_RESEARCH caches",
		"blocked: x":                                   "unknown ",
		"BLOCKED":                                      "unknown ",
		"BLOCKED:":                                     "unknown ",
		"It is BLOCKED: x":                             "unknown ",
		"BUILD_COMPLETE, yet BLOCKED: no disk":         "ambiguous ",
		"READY_FOR_TESTING is near\nBLOCKED: db":       "halted BLOCKED db",
		"BLOCKED: db\nTESTING_COMPLETE":                "halted BLOCKED db",
		"BLOCKED: cannot reach TESTING_COMPLETE":       "halted BLOCKED cannot reach TESTING_COMPLETE",
		"READY_FOR_TESTING\nREADY_FOR_REVIEW":          "passed READY_FOR_REVIEW",
		"```\nTESTING_COMPLETE\n```":                   "unknown ",
		"> BLOCKED: x":                                 "unknown ",
		"---\nagent: a\ntask_id: t\nstatus: A_COMPLETE\n---\nBLOCKED: x": "passed A_COMPLETE",
	} {
		got := DetectText(text, DetectOptions{Protocol: CompletionBlock})
		if said := strings.TrimSuffix(fmt.Sprintf("%s %s %s", got.Outcome, got.Code, got.Detail), " "); said != want {
			t.Errorf("%q: %q, want %q (%s)", text, said, want, got.Diagnosis)
		}
	}
}
