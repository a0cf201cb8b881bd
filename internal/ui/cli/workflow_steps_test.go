package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fileOf writes a value as JSON.
func fileOf(t *testing.T, name string, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func read[T any](t *testing.T, raw json.RawMessage) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

// A step goes on where its code says, by itself or when a person starts it; the five halt codes and what is of kind
// halt stop it, every other code without a next step completes it.
func TestWhereStepsLead(t *testing.T) {
	file := fileOf(t, "chain.json", json.RawMessage(`{"steps": [
	  {"agent": "scout", "on_status": {
	    "MAPPED": {"next_step": "smith"}, "CHAINED": {"next_step": "smith", "auto_chain": true}, "SLOWLY": {"next_step": "smith", "auto_chain": false},
	    "ENOUGH": {"next_step": null, "auto_chain": false}, "OVER": {"next_step": null, "auto_chain": true}, "PAUSE": {"next_step": null, "kind": "halt"},
	    "BLOCKED": {"next_step": null, "auto_chain": false}, "NEEDS_CLARIFICATION": {}, "TESTS_FAILED": {}, "BUILD_FAILED": {"next_step": null}, "NEEDS_RESEARCH": {"next_step": null}}},
	  {"agent": "smith", "on_status": {"FORGED": {"next_step": "scout"}, "BACK": {"next_step": 0}}},
	  {"agent": "scout", "on_status": {"HOME_COMPLETE": {}, "BLOCKED": {}}}]}`))
	for _, tt := range []struct{ from, code, want string }{
		{"0", "MAPPED", "advance smith"}, {"0", "mapped", "advance smith"}, {"0", "Mapped", "advance smith"}, {"0", "CHAINED", "advance smith"},
		{"0", "SLOWLY", "advance smith-ready"}, {"0", "ENOUGH", "advance complete"}, {"0", "OVER", "advance complete"}, {"0", "PAUSE", "halt halted"},
		{"0", "BLOCKED", "halt halted"}, {"0", "NEEDS_CLARIFICATION", "halt halted"}, {"0", "TESTS_FAILED", "halt halted"}, {"0", "BUILD_FAILED", "halt halted"},
		{"0", "NEEDS_RESEARCH: tides", "halt halted"}, {"0", "HOME_COMPLETE", "halt halted"},
		{"1", "FORGED", "advance scout-2"}, {"1", "BACK", "advance scout"}, {"2", "HOME_COMPLETE", "advance complete"}, {"2", "BLOCKED", "halt halted"},
	} {
		if d := decide(t, file, "", "--from", tt.from, "--outcome", tt.code); d.Decision+" "+d.To != tt.want {
			t.Errorf("%s says %s: %s %s because %q, want %s", tt.from, tt.code, d.Decision, d.To, d.Reason, tt.want)
		}
	}
	for _, tt := range []struct{ from, code, want string }{
		{"0", "READY_FOR_DEVELOPMENT", "advance architect"}, {"1", "READY_FOR_IMPLEMENTATION", "advance implementer"}, {"1", "NEEDS_RESEARCH", "halt halted"},
		{"2", "READY_FOR_TESTING", "advance tester"}, {"2", "READY_FOR_INTEGRATION", "advance tester"}, {"2", "BUILD_FAILED", "halt halted"},
		{"3", "TESTING_COMPLETE", "advance documenter"}, {"3", "TESTS_FAILED", "halt halted"}, {"4", "DOCUMENTATION_COMPLETE", "advance complete"}, {"4", "BLOCKED", "halt halted"},
	} {
		if d := decide(t, "cmat-feature", "", "--from", tt.from, "--outcome", tt.code); d.Decision+" "+d.To != tt.want {
			t.Errorf("built in, %s says %s: %s %s because %q, want %s", tt.from, tt.code, d.Decision, d.To, d.Reason, tt.want)
		}
	}
}

func TestWhichStepsAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		steps string
		ok    bool
	}{
		"none":                   {`[]`, false},
		"one":                    {`[{"agent": "smith", "on_status": {"FORGED": {}}}]`, true},
		"with all keys":          {`[{"agent": "smith", "input": "plan.md", "required_output": "report.md", "on_status": {"FORGED": {"next_step": "scout"}}}, {"agent": "scout", "input": "{previous_step}/required_output/", "required_output": "map.md", "on_status": {"HOME": {"next_step": null}}}]`, true},
		"a next one nobody is":   {`[{"agent": "smith", "on_status": {"FORGED": {"next_step": "ghost"}}}]`, false},
		"back to an earlier one": {`[{"agent": "smith", "on_status": {"FORGED": {"next_step": "scout"}}}, {"agent": "scout", "on_status": {"LOST": {"next_step": "smith"}}}]`, true},
		"an empty output":        {`[{"agent": "smith", "input": "plan.md", "required_output": "", "on_status": {"FORGED": {"next_step": null}}}]`, true},
		"a loop":                 {`[{"agent": "smith", "on_status": {"AGAIN": {"next_step": "smith", "auto_chain": true}}}]`, true},
	} {
		file := fileOf(t, "x.json", json.RawMessage(`{"name": "n", "description": "", "steps": `+tt.steps+`}`))
		if code, out, errs := orange(t, t.TempDir(), "", "workflow", "check", file); (code == 0) != tt.ok || code == 1 {
			t.Errorf("%s: exit %d, want it accepted: %v\n%s%s", name, code, tt.ok, out, errs)
		}
	}
}

func TestDecideAboutSteps(t *testing.T) {
	loop := fileOf(t, "loop.json", map[string]any{"max_steps": 4, "steps": []any{map[string]any{"agent": "a", "on_status": map[string]any{"AGAIN": map[string]any{"next_step": "a"}}}}})
	tests := []struct {
		name     string
		workflow string
		args     []string
		decision string
		to, says string
	}{
		{"a code in small letters", "cmat-feature", []string{"--from", "implementer", "--outcome", "ready_for_testing"}, "advance", "tester", "implementer says READY_FOR_TESTING"},
		{"a code with a detail", "cmat-feature", []string{"--from", "architect", "--outcome", "blocked: no Schema"}, "halt", "halted", "architect says BLOCKED: no Schema"},
		{"an unexpected code", "cmat-feature", []string{"--from", "0", "--outcome", "READY_FOR_LUNCH"}, "halt", "halted", "READY_FOR_DEVELOPMENT, BLOCKED, NEEDS_CLARIFICATION"},
		{"an unexpected code with a detail", "cmat-feature", []string{"--from", "0", "--outcome", "hm: x"}, "halt", "halted", "UNEXPECTED"},
		{"the end", "cmat-feature", []string{"--from", "4", "--outcome", "DOCUMENTATION_COMPLETE"}, "advance", "complete", "documenter says"},
		{"the word of another role", "cmat-feature", []string{"--from", "3", "--outcome", "TESTING_COMPLETE", "--actor", "documenter"}, "stay", "", "documenter may not"},
		{"the word of a person", "cmat-feature", []string{"--from", "3", "--outcome", "TESTING_COMPLETE", "--actor", "human"}, "stay", "", "human may not"},
		{"no output", "cmat-feature", []string{"--from", "3", "--outcome", "TESTING_COMPLETE", "--without", "output"}, "stay", "", "tester/required_output/test_summary.md: supposed not to be there"},
		{"no output of this step", "cmat-feature", []string{"--from", "3", "--outcome", "TESTING_COMPLETE", "--without", "file:tester-output"}, "stay", "", "supposed not to be there"},
		{"no output of another step", "cmat-feature", []string{"--from", "3", "--outcome", "TESTING_COMPLETE", "--without", "file:architect-output"}, "advance", "documenter", ""},
		{"no output and a halt", "cmat-feature", []string{"--from", "3", "--outcome", "TESTS_FAILED: two", "--without", "output"}, "halt", "halted", "tester says TESTS_FAILED: two"},
		{"a person resumes", "cmat-feature", []string{"--from", "halted", "--to", "tester", "--set", "return_to=tester"}, "advance", "tester", ""},
		{"a person resumes elsewhere", "cmat-feature", []string{"--from", "halted", "--to", "implementer", "--set", "return_to=tester"}, "advance", "implementer", ""},
		{"an agent resumes", "cmat-feature", []string{"--from", "halted", "--to", "tester", "--actor", "tester"}, "refuse", "", "tester may not"},
		{"a death", "cmat-feature", []string{"--from", "2", "--exit"}, "crash", "", "the implementer ended"},
		{"the second death", "cmat-feature", []string{"--from", "2", "--exit", "--set", "crash_count=1"}, "advance", "halted", "crash 2 of 2"},
		{"a loop that may go on", loop, []string{"--from", "0", "--outcome", "AGAIN", "--set", "steps=3"}, "advance", "a", ""},
		{"a loop at its bound", loop, []string{"--from", "0", "--outcome", "AGAIN", "--set", "steps=4"}, "halt", "halted", "a says AGAIN"},
		{"a loop that was resumed", loop, []string{"--from", "halted", "--to", "a", "--set", "steps=4"}, "advance", "a", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := decide(t, tt.workflow, "", tt.args...)
			if d.Decision != tt.decision || d.To != tt.to || !strings.Contains(d.Reason, tt.says) {
				t.Errorf("got %s to %q because %q, want %s to %q because %q", d.Decision, d.To, d.Reason, tt.decision, tt.to, tt.says)
			}
			if strings.Contains(tt.name, "resumed") && d.Counters["steps"] != 0 {
				t.Errorf("%v", d.Counters)
			}
		})
	}
	for _, args := range [][]string{{"--from", "5", "--outcome", "X"}, {"--from", "0", "--outcome", "X", "--without", "file:x"}} {
		if code, _, errs := orange(t, t.TempDir(), "", append([]string{"workflow", "decide", "cmat-feature"}, args...)...); code != 2 || !strings.Contains(errs, "is not known: use") {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
	if code, _, errs := orange(t, t.TempDir(), "", "workflow", "decide", "orange", "--from", "planning", "--exit", "--without", "output"); code != 2 {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestAFileOfSeveralWorkflowsIsUsedByName(t *testing.T) {
	steps := func(next any) any {
		return map[string]any{"steps": []any{map[string]any{"agent": "a", "on_status": map[string]any{"A": map[string]any{"next_step": next}}}}}
	}
	file := fileOf(t, "t.json", map[string]any{"workflows": map[string]any{"good": steps(nil), "bad": steps("zzz")}})
	tests := []struct {
		args []string
		code int
		says string
	}{
		{[]string{"check", file + "#good"}, 0, "t.json#good: clean"},
		{[]string{"show", file + "#good"}, 0, `"id": "good"`},
		{[]string{"graph", file + "#good"}, 0, "stateDiagram"},
		{[]string{"prompt", file + "#good", "a"}, 0, "You are the a of this task."},
		{[]string{"verify", file + "#good"}, 0, "never-stalls"},
		{[]string{"check", file + "#bad"}, 2, `t.json:1:`},
		{[]string{"check", file + "#none"}, 2, `has no workflow "none": it has bad, good`},
		{[]string{"check", file}, 2, "has 2 workflows (bad, good), not one: import them with orange workflow import"},
		{[]string{"check", file + "x#good"}, 2, "no such file"},
	}
	for _, tt := range tests {
		code, out, errs := orange(t, t.TempDir(), "", append([]string{"workflow"}, tt.args...)...)
		if code != tt.code || !strings.Contains(out+errs, tt.says) {
			t.Errorf("%v: exit %d: %s%s, want %d with %q", tt.args, code, out, errs, tt.code, tt.says)
		}
	}
}

func TestImportTakesAllOrNothing(t *testing.T) {
	steps := func(next any) map[string]any {
		return map[string]any{"name": "Some Name", "steps": []any{map[string]any{"agent": "a", "on_status": map[string]any{"A": map[string]any{"next_step": next}}}}}
	}
	one := fileOf(t, "one.json", steps(nil))
	two := fileOf(t, "two.json", map[string]any{"workflows": map[string]any{"x": steps(nil), "y": steps("a")}})
	bad := fileOf(t, "bad.json", map[string]any{"workflows": map[string]any{"x": steps(nil), "y": steps("zzz"), "z": steps("nobody")}})
	same := fileOf(t, "same.json", map[string]any{"workflows": map[string]any{"x y": steps(nil), "x-y": steps(nil)}})
	three := fileOf(t, "three.json", map[string]any{"steps": []any{steps(1)["steps"].([]any)[0], steps(nil)["steps"].([]any)[0]}})
	written := func(name, text string) string {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	comma := written("comma.json", `{"steps": [{"agent": "a", "on_status": {"A": {}}}]`+"\n,}")
	commas := written("commas.json", `{"workflows": {"x": {"steps": [{"agent": "a", "on_status": {"A": {}}}`+"   ,]}}}")
	empty, yaml := written("empty.json", `{"name": "x"}`), written("y.yaml", "steps: [{agent: a, on_status: {A: {}}}]")
	tests := []struct {
		name  string
		args  []string
		code  int
		says  string
		files string
	}{
		{"one", []string{one}, 0, "some-name: 1 step, written to ", "some-name"},
		{"one under another name", []string{one, "--name", "mine"}, 0, "mine: 1 step,", "mine"},
		{"several", []string{two}, 0, "y: 1 step,", "x y"},
		{"one of several", []string{two, "--workflow", "y"}, 0, "y: 1 step,", "y"},
		{"one of several under another name", []string{two, "--workflow", "y", "--name", "z"}, 0, "z: 1 step,", "z"},
		{"one that is not there", []string{two, "--workflow", "q"}, 2, `has no workflow "q": it has x, y`, ""},
		{"a name for several", []string{two, "--name", "z"}, 2, "choose one with --workflow", ""},
		{"a choice of one", []string{one, "--workflow", "q"}, 2, "has one workflow: leave --workflow out", ""},
		{"a name that is none", []string{one, "--name", "a b"}, 2, "is not a name", ""},
		{"a bad one among several", []string{bad}, 2, `"zzz" is the agent of no step`, ""},
		{"all that is bad", []string{bad}, 2, `"nobody" is the agent of no step`, ""},
		{"the good one of a bad file", []string{bad, "--workflow", "x"}, 0, "x: 1 step,", "x"},
		{"two that would be one", []string{same}, 2, "would be called x-y", ""},
		{"steps", []string{three}, 0, "three: 2 steps, written to ", "three"},
		{"a file that is not there", []string{"orange"}, 2, "orange: workflow import: there is no file orange: give the path of a JSON file with step workflows\n", ""},
		{"a file of several that is not there", []string{"no.json#x"}, 2, "there is no file no.json#x: give", ""},
		{"a comma too many", []string{comma}, 2, `comma.json:2:1: a comma before } is not JSON: remove it`, ""},
		{"a comma too many under another name", []string{comma, "--name", "mine"}, 2, `comma.json:2:1: a comma before }`, ""},
		{"a comma too many among several", []string{commas}, 2, `commas.json:1:73: a comma before ] is not JSON`, ""},
		{"no steps", []string{empty}, 2, `empty.json:1:1: "steps" is missing`, ""},
		{"YAML", []string{yaml}, 2, "y.yaml is not a step workflow in JSON: copy it to .orange/workflows/y.yaml", ""},
		{"the name of a built-in one", []string{one, "--name", "cmat-feature"}, 2, "cmat-feature is a built-in workflow: give --name another one, or --force to hide it\n", ""},
		{"the name of a built-in one, by force", []string{one, "--name", "cmat-feature", "--force"}, 0, "cmat-feature: 1 step, written to", "cmat-feature"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			code, out, errs := orange(t, dir, "", append([]string{"workflow", "import"}, tt.args...)...)
			if code != tt.code || !strings.Contains(out+errs, tt.says) {
				t.Errorf("exit %d: %s%s, want %d with %q", code, out, errs, tt.code, tt.says)
			}
			files, _ := filepath.Glob(filepath.Join(dir, "*"))
			var got []string
			for _, f := range files {
				got = append(got, strings.TrimSuffix(filepath.Base(f), ".json"))
				if code, out, errs := orange(t, dir, "", "workflow", "show", f, "--json"); code != 0 || !strings.Contains(out, `"name":"`+got[len(got)-1]+`"`) {
					t.Errorf("exit %d: %s%s", code, out, errs)
				}
			}
			if strings.Join(got, " ") != tt.files {
				t.Errorf("written: %v, want %q", got, tt.files)
			}
		})
	}
}

func TestAPromptIsPrintedAsAnAgentWouldReadIt(t *testing.T) {
	body := "---\nid: 0123456789abcdefghijk\nbranch: feat/login\nsummary: Log in\nproject: shop\nreview_round: 1\n---\n"
	tests := []struct {
		args []string
		code int
		says []string
	}{
		{[]string{"cmat-feature", "1"}, 0, []string{"You are the architect of this task.", "`READY_FOR_IMPLEMENTATION`", "enhancements/supposed/requirements-analyst/required_output/"}},
		{[]string{"cmat-feature", "tester", "--task-file", "-"}, 0, []string{"# Task: Log in\n", "task_id: 0123456789abcdefghijk\n", "enhancements/login/tester/required_output/test_summary.md"}},
		{[]string{"orange", "agent-review", "--task-file", "-"}, 0, []string{"# Review: Log in", "Review round: 1 of 2", "Branch: feat/login"}},
		{[]string{"cmat-feature", "halted"}, 2, []string{"nobody works in halted"}},
		{[]string{"cmat-feature", "nowhere"}, 2, []string{`state "nowhere" is not known`}},
		{[]string{"cmat-feature", "new"}, 2, []string{"can only be created"}},
		{[]string{"cmat-feature"}, 2, []string{"1 arguments do not fit"}},
	}
	for _, tt := range tests {
		code, out, errs := orange(t, t.TempDir(), body, append([]string{"workflow", "prompt"}, tt.args...)...)
		for _, says := range tt.says {
			if code != tt.code || !strings.Contains(out+errs, says) {
				t.Errorf("%v: exit %d: %s%s, want %d with %q", tt.args, code, out, errs, tt.code, says)
			}
		}
		if strings.Contains(out, "${") {
			t.Errorf("%v: something is not filled in:\n%s", tt.args, out)
		}
	}
	_, out, _ := orange(t, t.TempDir(), "", "workflow", "prompt", "cmat-feature", "0", "--json")
	p := read[struct{ State, Role, Prompt, Text string }](t, json.RawMessage(out))
	if p.State != "requirements-analyst" || p.Role != p.State || p.Prompt != p.State || p.Text == "" {
		t.Errorf("%+v", p)
	}
}

func TestTheCodesOfStepsAreThoseThatAreDetected(t *testing.T) {
	for _, code := range []string{"DONE", "done-2", "A.B_c", "ALL DONE", "DONE!", "2ND", "_A", "-A", "\u00c4", strings.Repeat("A", 80), strings.Repeat("A", 81)} {
		file := fileOf(t, "x.json", map[string]any{"steps": []any{map[string]any{"agent": "a", "on_status": map[string]any{code: map[string]any{}}}}})
		checked, _, errs := orange(t, t.TempDir(), "", "workflow", "check", file)
		_, out, _ := orange(t, t.TempDir(), "---\nagent: a\ntask_id: t\nstatus: "+code+"\n---\n", "detect", "--json")
		found := read[struct{ Code string }](t, json.RawMessage(out)).Code
		if (checked == 0) != (found == strings.ToUpper(code)) {
			t.Errorf("%q: detected as %q, and in a file: %s", code, found, errs)
		}
	}
}

func TestContractsAreImported(t *testing.T) {
	dir := t.TempDir()
	text := `{"description": "d", "agents": {
  "builder": {"outputs": {"root_document": "b.md"}, "statuses": {"success": [{"code": "BUILT", "next_agents": ["tester"]}], "failure": [{"code": "BLOCKED"}]}},
  "tester": {"statuses": {"success": [{"code": "TESTED"}], "failure": [{"code": "TESTS_FAILED"}]}},
  "courier": {"statuses": {"success": [{"code": "SENT"}]}}
}}`
	if err := os.WriteFile(filepath.Join(dir, "agent_contracts.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := orange(t, dir, "", "workflow", "import", "agent_contracts.json", "--name", "team")
	if code != 0 || !strings.HasPrefix(out, "team: 2 steps, written to ") || !strings.Contains(out, "Left out, because no status leads to them: courier\n") {
		t.Fatalf("%d: %s%s", code, out, errs)
	}
	if code, out, errs = orange(t, dir, "", "workflow", "decide", filepath.Join(dir, "team.json"), "--from", "builder", "--outcome", "BUILT", "--json"); code != 0 || !strings.Contains(out, `"to":"tester"`) {
		t.Errorf("%d: %s%s", code, out, errs)
	}
}
