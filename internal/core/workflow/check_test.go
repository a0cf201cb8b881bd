package workflow_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/core/workflow"
)

// parse reads a file that must be readable.
func parse(t testing.TB, file, text string) *workflow.Definition {
	t.Helper()
	d, err := workflow.Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTheMinimalWorkflowIsClean(t *testing.T) {
	for _, f := range parse(t, "clean.yaml", readFile(t, "testdata/clean.yaml")).Check() {
		t.Error(f)
	}
}

// Each file breaks one rule; what mends it leaves nothing to find.
func TestEachRuleFindsItsOwnFaultAndNothingElse(t *testing.T) {
	human := "  - {from: hold, to: work, by: [human]}\n"
	tests := []struct {
		file, says string
		old, mend  string
	}{
		{"terminal-edge", "reopen: work on state done", "{from: done, to: work", "{from: hold, to: done"},
		{"overlap", "both answer to request, when round = 1", "round < 2", "round < 1"},
		{"overlap-gate", "work -> hold and the edge on line 20 (to done) both answer to exit, always", "on: exit,", "on: {tracker: stop},"},
		{"overlap-request", "hold -> work and the edge on line 23", "by: [human, tracker]", "by: [tracker]"},
		{"overlap-verb", "hold -> todo and the edge on line 24 (to done) both answer to request, always", "to: todo, as: go", "to: todo, as: back"},
		{"overlap-unknown", "cannot be checked", "max: 1000}\n  other: {max: 1000}", "max: 2}\n  other: {max: 2}"},
		{"exit-uncovered", "no edge answers to exit with gate failed when round = 2", "round > 2", "round >= 2"},
		{"exit-uncovered-limit", "add an edge with on: crash-limit", human, human + "  - {from: work, to: hold, on: crash-limit}\n"},
		{"exit-uncovered-counter", "no counter counts its crashes", "per: state}", "per: state, counts: crashes}"},
		{"exit-uncovered-limit-guard", "no edge answers to crash-limit when round = 0", ", when: round > 0}", "}"},
		{"no-deadline", "add deadline", "role: worker}", "role: worker, deadline: {wall: 1m}}"},
		{"idle-above-wall", "idle 2h0m0s is longer than wall 1h0m0s", "idle: 2h", "idle: 1h"},
		{"prompt-edge", "tells the worker to set --status todo", "Then set", "Never set"},
		{"prompt-unused", "prompt spare", "  spare: Hello.\n", ""},
		{"no-entry", "no edge is from: new", human, human + "  - {from: new, to: todo, on: create, by: [human]}\n"},
		{"unreachable", "state lost", "{from: lost, to: done, by: [human]}", "{from: hold, to: lost, by: [human]}\n  - {from: lost, to: done, by: [human]}"},
		{"dead-end", "no edge leaves state pit", "{kind: human}", "{kind: terminal}"},
		{"dead-end-loop", "no path of edges leads from state pit", "{from: hole, to: pit", "{from: hole, to: done"},
		{"dead-end-no-terminal", "no state is terminal", "done: {kind: human}", "done: {kind: terminal}"},
		{"nobody", "nobody may ask", "to: work}", "to: work, by: [human]}"},
		{"nobody-confirm", "add human to by", "by: [tracker], confirm", "by: [human], confirm"},
		{"counter-unused", "counter spare", "orange task", "{spare} orange task"},
		{"counter-bound", "3 is above its max of 2", "round: 3", "round: 2"},
		{"gate-unused", "gate spare", "{from: hold, to: work, ", "{from: hold, to: work, gate: spare, "},
		{"role-unused", "nothing starts role spare", "by: [human], count", "by: [human], do: [{spawn_agent: spare}], count"},
		{"queue-exit", "no edge from it has on: ready", "on: request,", "on: [ready, request],"},
		{"trigger-ignored", "waits for exit, which never happens in a state of kind halt", "on: exit", "by: [human]"},
		{"gate-given", "gate given asks for ## last  Report, which tells agents something", "section: last  Report", "section: Plan"},
		{"outcome-code", "waits for the code DONE, which the worker (work-result) cannot say: use passed or failed", "outcome: done", "outcome: passed"},
		{"outcome-code-consult", "waits for a question to the reviewer, which the worker (work-result) cannot say", "protocol: work-result", "protocol: worker-result"},
		{"outcome-code-form", "waits for the code NOT READY, which the worker (completion-block) cannot say: use letters", "not ready", "not-ready"},
		{"outcome-code-result", "use success or failure, or name it as a result_type", "outcome: passed", "outcome: success"},
		{"outcome-code-silent", "the worker has no protocol", "{prompt: worker, session: visit}", "{prompt: worker, session: visit, protocol: work-result}"},
		{"gate-untold", "asks the worker for ## Handoff, and no prompt of the role mentions that section", "Write ## Handover", "Write ## Handoff"},
		{"gate-untold-label", "asks the worker for LEFT: in ## Handoff", "DONE: or REMAINING:", "DONE: or LEFT:"},
		{"gate-untold-verdict", "asks the reviewer for ## Verdict", "Write ## Review", "Write ## Verdict"},
		{"judges-own-work", "the worker, which may give it, is the author", "by: [reviewer, worker], gate: passed", "by: [reviewer], gate: passed"},
		{"judges-own-work-state", "the worker, which may give it, is the author", "work: {kind: agent, role: worker", "work: {kind: agent, role: author"},
		{"judges-own-work-handover", "which hands over its own work in work", ", gate: [passed, committed]", ", gate: committed"},
		{"two-writers", "the worker may still be in a turn when the reviewer begins in check", "reviewer: {session: visit,", "reviewer: {session: visit, access: read-only,"},
		{"two-writers-effect", "the helper may still be in a turn when the worker begins in work", "{spawn_agent: helper}", "{kill_agent: helper}"},
		{"agent-decides", "hold -> work leaves a state of kind halt", "by: [human, worker]", "by: [human], confirm: [worker]"},
		{"agent-decides-outcome", "leaves a state of kind human", "accept: {kind: human, role: checker}", "accept: {kind: agent, role: checker, deadline: {wall: 1h}}"},
		{"tag-kept", "needs the tag Approved, which only people set", "dispatches: 1}}", "dispatches: 1}, do: [{untag_card: Approved}]}"},
		{"role-unheard", "names the reviewer, and no agent of that role lives there", "by: [worker, reviewer, human]", "by: [worker, human]"},
		{"agent-untold", "check -> work brings the task to the worker, whose agent lives on and is not told why", "gate: failed, when: round < 2}", "gate: failed, when: round < 2, do: [{notify_worker: again}]}"},
		{"agent-untold-rework", "is not told rework_prompt", "rework_prompt: again}", "rework_prompt: again, session: visit}"},
		{"agent-untold-own", "is taken when the worker has said how it went, and nothing tells it to go on in second", "by: [worker]}", "by: [worker], do: [{notify_worker: go}]}"},
		{"gate-untold-title", "asks the worker for ## Handoff, and no prompt of the role mentions that section", "Write ## Handover", "Write ## Handoff"},
		{"event-unheard", "waits for pr:merged, which Orange itself reports when it has merged, and by: leaves engine out", "{pr: merged}], by: [human, tracker]", "{pr: merged}], by: [human, engine, tracker]"},
		{"event-unheard-tracker", "waits for tag:Again, which a tracker reports, and by: leaves tracker out", "{tag: Again}, by: [human]", "{tag: Again}, by: [tracker]"},
		{"harness-unknown", "role worker names the harness codx, which is not known: use claude, codex, opencode, gemini, pi, task or review, command:PROGRAM or script:FILE (did you mean codex?)", "codx", "codex"},
		{"trigger-ignored-beside", "waits for exit too, which never happens there", "on: [request, exit]", "on: request"},
		{"guard-never", "round > 7 holds for no value", "round > 7", "round > 2"},
	}
	covered := map[string]bool{}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			path := filepath.Join("testdata/check", tt.file+".yaml")
			text := readFile(t, path)
			covered[filepath.Base(path)] = true
			wantOnly(t, parse(t, path, text).Check(), tt.file, tt.says)
			mended := strings.Replace(text, tt.old, tt.mend, 1)
			if mended == text {
				t.Fatalf("%q is not in %s", tt.old, path)
			}
			for _, f := range parse(t, path, mended).Check() {
				t.Errorf("mended, and still: %s", f)
			}
		})
	}
	files, _ := filepath.Glob("testdata/check/*.yaml")
	for _, f := range files {
		if !covered[filepath.Base(f)] {
			t.Errorf("%s is in no test", f)
		}
	}
}

// A section that agents only read opens nothing, however it is spelled.
func TestNoGateRequiresSectionsThatAgentsRead(t *testing.T) {
	text := readFile(t, "testdata/check/gate-given.yaml")
	for _, section := range []string{"Requirements", "context", "ANSWER", "Feedback", "Checks", "Landing", "Last report"} {
		found := parse(t, "t.yaml", strings.Replace(text, "last  Report", section, 1)).Check()
		wantOnly(t, found, workflow.RuleGateGiven, "## "+section)
		if len(found) == 1 && (found[0].Pos.Line != 9 || found[0].Pos.Column != 3) {
			t.Errorf("%s: found at %d:%d", section, found[0].Pos.Line, found[0].Pos.Column)
		}
	}
}

func wantOnly(t *testing.T, found []workflow.Finding, rule, says string) {
	t.Helper()
	if len(found) == 0 {
		t.Fatal("nothing is found")
	}
	said := false
	for _, f := range found {
		if !strings.HasPrefix(rule, f.Rule) {
			t.Errorf("found another fault: %s", f)
		}
		if f.Pos.Line < 1 || f.Pos.Column < 1 || !strings.HasPrefix(f.String(), f.File+":") {
			t.Errorf("no place: %s", f)
		}
		said = said || strings.Contains(f.Message, says)
	}
	if !said {
		t.Errorf("found %v, want one that says %q", found, says)
	}
}

// A state that remembers where its task came from waives the gates on the way back,
// and then verdicts exclude nothing.
func TestVerdictsDoNotExcludeOnTheWayBack(t *testing.T) {
	text := strings.Replace(readFile(t, "testdata/clean.yaml"), "hold: {kind: halt}", "hold: {kind: waiting, returns: true}", 1)
	text = strings.Replace(text, "{from: hold, to: work, by: [human]}",
		"{from: hold, to: work, by: [human], gate: passed}\n  - {from: hold, to: work, by: [human], gate: failed}", 1)
	wantOnly(t, parse(t, "t.yaml", text).Check(), workflow.RuleOverlap, `when return_to = "work"`)
}

func TestAVerbOnTheWayBackIsNoOverlapWhenItsTargetIsRemembered(t *testing.T) {
	text := strings.Replace(readFile(t, "testdata/clean.yaml"), "hold: {kind: halt}", "hold: {kind: waiting, returns: true}", 1)
	text = strings.Replace(text, "{from: hold, to: work, by: [human]}",
		"{from: hold, to: work, as: go, by: [human], when: return_to != ''}\n  - {from: hold, to: done, as: go, by: [human]}", 1)
	for _, f := range parse(t, "t.yaml", text).Check() {
		t.Error(f)
	}
}

func TestVariablesOfPeopleAreDeclared(t *testing.T) {
	text := readFile(t, "testdata/clean.yaml") + "    {vars.tests} ${vars.tests}\n"
	found := parse(t, "t.yaml", text).Check()
	wantOnly(t, found, workflow.RuleVariableUnknown, "names {vars.tests}")
	if len(found) != 1 || found[0].Level != workflow.LevelAdvice || len(workflow.ErrorFindings(found)) != 0 {
		t.Errorf("%v", found)
	}
	text = strings.Replace(text, "roles:", "vars: {tests: {default: make check, describe: what is run}}\nroles:", 1)
	for _, f := range parse(t, "t.yaml", text).Check() {
		t.Error(f)
	}
}
