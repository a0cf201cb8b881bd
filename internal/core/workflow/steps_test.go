package workflow_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

// wayOf returns what a step workflow makes of a code, in one line.
func wayOf(d *workflow.Definition, from, code string) []string {
	var out []string
	for _, i := range d.EdgesFrom(from) {
		e := &d.Edges[i]
		if !e.AnswersTo(workflow.OnOutcome, code) {
			continue
		}
		way := e.To
		if e.When != nil {
			way += " when " + e.When.Source
		}
		if len(e.Gates) > 0 {
			way += " gate " + strings.Join(e.Gates, ", ")
		}
		for _, c := range e.Count {
			way += fmt.Sprintf(" %s+%d", c.Counter, c.Value)
		}
		out = append(out, way)
	}
	return out
}

const twoSteps = `{"name": "two", "steps": [
  {"agent": "builder", "input": "plan.md", "required_output": "done.md", "model": "m1", "on_status": {
    "built": {"next_step": "tester", "description": "it builds"},
    "LATER": {"next_step": "tester", "auto_chain": false},
    "SLOWLY": {"next_step": "tester", "auto_start": false},
    "BLOCKED": {"next_step": null},
    "GIVE_UP": {"next_step": null, "kind": "halt"},
    "ALL_DONE": {}}},
  {"agent": "tester", "on_status": {
    "TESTED": {"next_step": null, "auto_chain": false},
    "TESTS_FAILED": {"next_step": null, "kind": "complete"},
    "NEEDS_RESEARCH": {"next_step": null, "auto_chain": true}}}]}`

func TestAStepWorkflowIsADefinitionLikeAnyOther(t *testing.T) {
	d := parse(t, "two.json", twoSteps)
	if d.Name != "two" || d.Version != 1 || d.Text != twoSteps || d.Hash != workflow.HashOf(twoSteps) {
		t.Errorf("%q version %d", d.Name, d.Version)
	}
	var states []string
	for _, s := range d.States {
		states = append(states, strings.TrimSpace(s.Name+" "+string(s.Kind)+" "+s.Role))
	}
	want := []string{"pending queued", "builder agent builder", "tester-ready human", "tester agent tester", "halted halt", "complete terminal", "cancelled terminal", "checking check"}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("states: - want, + got\n%s", diff)
	}
	if diff := cmp.Diff([]string{"builder", "tester"}, d.Steps()); diff != "" {
		t.Errorf("steps: %s", diff)
	}
	for code, want := range map[string]string{
		"BUILT": "tester gate builder-output", "LATER": "tester-ready gate builder-output", "SLOWLY": "tester-ready gate builder-output",
		"BLOCKED": "halted", "GIVE_UP": "halted", "ALL_DONE": "complete gate builder-output, committed, clean",
	} {
		if diff := cmp.Diff([]string{want}, wayOf(d.ForTask(nil), "builder", code)); diff != "" {
			t.Errorf("%s: - want, + got\n%s", code, diff)
		}
	}
	for code, want := range map[string]string{"TESTED": "complete gate committed, clean", "TESTS_FAILED": "complete gate committed, clean", "NEEDS_RESEARCH": "halted"} {
		if diff := cmp.Diff([]string{want}, wayOf(d.ForTask(nil), "tester", code)); diff != "" {
			t.Errorf("%s: - want, + got\n%s", code, diff)
		}
	}
	s, _ := d.StateNamed("builder")
	if s.Input != "plan.md" || s.Output != "done.md" || s.Model != "m1" || s.Wall == 0 || s.Idle == 0 || s.Respawn != workflow.RespawnAuto {
		t.Errorf("%+v", s)
	}
	g, _ := d.GateNamed("builder-output")
	if g == nil || g.File != "enhancements/{enhancement_name}/builder/required_output/done.md" || len(g.Header) != 5 {
		t.Errorf("%+v", g)
	}
	r, _ := d.RoleNamed("tester")
	if r.Protocol != "completion-block" || r.Session != workflow.PerVisit || r.Harness != "task" || r.Prompt != "tester" || r.WorkType != "tester" {
		t.Errorf("%+v", r)
	}
	if len(d.Check()) > 0 {
		t.Error(d.Check())
	}
	if _, ok := d.CounterNamed("steps"); ok {
		t.Error("steps that lead only forward are counted")
	}
}

func TestWhatStopsAStepStopsItVisibly(t *testing.T) {
	d := parse(t, "two.json", twoSteps)
	for _, state := range []string{"builder", "tester"} {
		for _, kind := range []workflow.TriggerKind{workflow.OnUnexpected, workflow.OnCrashLimit, workflow.OnSilence} {
			found := ""
			for _, i := range d.EdgesFrom(state) {
				if e := &d.Edges[i]; e.AnswersTo(kind, "") {
					found += e.To
				}
			}
			if found != "halted" {
				t.Errorf("%s on %s: %q", state, kind, found)
			}
		}
	}
	for _, s := range d.States {
		cancels := slices.ContainsFunc(d.EdgesFrom(s.Name), func(i int) bool { return d.Edges[i].As == "cancel" && d.Edges[i].To == "cancelled" })
		if cancels == (s.Kind == workflow.Terminal) {
			t.Errorf("%s can be cancelled: %v", s.Name, cancels)
		}
	}
}

func TestAHaltedTaskResumesWhereItStoppedOrWhereAPersonSays(t *testing.T) {
	d := parse(t, "two.json", twoSteps)
	env := d.NewEnv()
	for _, tt := range []struct{ stopped, verb, state string }{{"builder", "builder", "tester"}, {"tester", "tester", "builder"}, {"", "builder", "tester"}} {
		env["return_to"] = tt.stopped
		var verb, other []string
		for _, i := range d.EdgesFrom("halted") {
			e := &d.Edges[i]
			if open, err := holdsIn(e, env); err != nil || !open || e.As == "cancel" || e.As == "accept" {
				continue
			}
			if !e.PermitsActor(task.Human) || e.PermitsActor("builder") {
				t.Errorf("%s may be taken by %v", e.To, e.By)
			}
			if e.As == "resume" {
				verb = append(verb, e.To)
			} else {
				other = append(other, e.To)
			}
		}
		if !slices.Equal(verb, []string{tt.verb}) || !slices.Equal(other, []string{tt.state}) {
			t.Errorf("stopped in %q: resume leads to %v, a state to %v", tt.stopped, verb, other)
		}
	}
}

func holdsIn(e *workflow.Edge, env workflow.Env) (bool, error) {
	if e.When == nil {
		return true, nil
	}
	return e.When.Holds(env)
}

// chain returns a step workflow of agents, each with one code to the given next step.
func chain(agents []string, nexts ...string) string {
	var steps []string
	for i, agent := range agents {
		next := "null"
		if i < len(nexts) && nexts[i] != "" {
			next = nexts[i]
		}
		steps = append(steps, fmt.Sprintf(`{"agent": %q, "on_status": {"DONE": {"next_step": %s}}}`, agent, next))
	}
	return `{"name": "chain", "steps": [` + strings.Join(steps, ",\n") + `]}`
}

func TestNextStepIsNeverTakenForAnother(t *testing.T) {
	tests := []struct {
		name   string
		text   string
		from   string
		to, is string // where it leads, or what is wrong
	}{
		{"an agent that comes once", chain([]string{"a", "b"}, `"b"`), "a", "b", ""},
		{"the next one of several", chain([]string{"t", "a", "i", "t"}, `"a"`, `"i"`, `"t"`), "i", "t-2", ""},
		{"the nearest of several ahead", chain([]string{"a", "t", "t"}, `"t"`), "a", "t", ""},
		{"the only one behind", chain([]string{"a", "b"}, `"b"`, `"a"`), "b", "a", ""},
		{"itself", chain([]string{"a"}, `"a"`), "a", "a", ""},
		{"a number", chain([]string{"t", "t", "a"}, "", "", "1"), "a", "t-2", ""},
		{"a number in quotes", chain([]string{"t", "t", "a"}, "", "", `"0"`), "a", "t", ""},
		{"two behind", chain([]string{"t", "t", "a"}, "", "", `"t"`), "", "", `step 2 (a): DONE: next_step "t" is ambiguous: give the step's number, one of 0, 1`},
		{"itself and one behind", chain([]string{"t", "t"}, "", `"t"`), "", "", "is ambiguous"},
		{"nobody", chain([]string{"a", "b"}, `"zzz"`), "", "", `next_step "zzz" is the agent of no step: use a or b, the number of a step, or null`},
		{"a number of nobody", chain([]string{"a"}, "7"), "", "", `next_step "7" is the number of no step: use 0 to 0`},
		{"the word null", chain([]string{"a"}, `"null"`), "a", "complete", ""},
		{"nothing", chain([]string{"a"}, `""`), "a", "complete", ""},
		{"an agent in capitals", chain([]string{"a", "Code_Reviewer2"}, `"Code_Reviewer2"`), "a", "Code_Reviewer2", ""},
		{"an agent in other letters", chain([]string{"a", "Code"}, `"code"`), "", "", `next_step "code" is the agent of no step: use a or Code`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := workflow.Parse("chain.json", tt.text)
			if tt.is != "" {
				if err == nil || !strings.Contains(err.Error(), tt.is) || !strings.HasPrefix(err.Error(), "chain.json:") {
					t.Fatalf("%v, want %q", err, tt.is)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			ways := wayOf(d.ForTask(nil), tt.from, "DONE")
			if len(ways) == 0 || strings.Fields(ways[0])[0] != tt.to {
				t.Errorf("leads to %v, want %s", ways, tt.to)
			}
			if found := d.Check(); len(found) > 0 {
				t.Error(found)
			}
		})
	}
}

func TestALoopOfStepsIsBounded(t *testing.T) {
	text := chain([]string{"a", "b"}, `"b"`, `"a"`)
	d := parse(t, "chain.json", text)
	c, ok := d.CounterNamed("steps")
	if !ok || c.Max != 9 {
		t.Fatalf("%+v", c)
	}
	want := []string{"a when steps < 9 steps+1", "halted when steps >= 9"}
	if diff := cmp.Diff(want, wayOf(d, "b", "DONE")); diff != "" {
		t.Errorf("- want, + got\n%s", diff)
	}
	for _, i := range d.EdgesFrom("halted") {
		if e := &d.Edges[i]; e.As == "resume" && (len(e.Count) != 1 || e.Count[0].Add || e.Count[0].Value != 0) {
			t.Errorf("resume counts %+v", e.Count)
		}
	}
	given := parse(t, "chain.json", strings.Replace(text, `"name"`, `"max_steps": 4, "name"`, 1))
	if c, _ := given.CounterNamed("steps"); c == nil || c.Max != 4 {
		t.Errorf("%+v", c)
	}
	many := parse(t, "chain.json", chain(strings.Fields(strings.Repeat("a ", 20)), `"1"`, `"0"`))
	if c, _ := many.CounterNamed("steps"); c == nil || c.Max != 50 {
		t.Errorf("%+v", c)
	}
}

func TestStepErrorsSayWhereAndWhatToDo(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"no steps", `{"name": "x", "steps": []}`, "x.json:1:24: the workflow has no steps: add at least one"},
		{"steps that are no list", `{"steps": {"a": 1}}`, "steps: expected a list, found a mapping"},
		{"steps that are nothing", `{"steps": null}`, "steps: expected a list, found nothing"},
		{"a step that is text", `{"steps": ["a"]}`, "step 0: expected a mapping, found a string"},
		{"no agent", `{"steps": [{"on_status": {"A": {}}}]}`, "step 0 has no agent: add"},
		{"an empty agent", `{"steps": [{"agent": " ", "on_status": {"A": {}}}]}`, "step 0 has no agent: add"},
		{"an agent with signs", `{"steps": [{"agent": "a b!", "on_status": {"A": {}}}]}`, `x.json:1:22: step 0: agent "a b!" is not a name: use letters, digits, dash and underscore, beginning with a letter`},
		{"an agent that begins with a digit", `{"steps": [{"agent": "2nd", "on_status": {"A": {}}}]}`, `agent "2nd" is not a name`},
		{"an agent that is a number", `{"steps": [{"agent": 5, "on_status": {"A": {}}}]}`, "x.json:1:22: step 0: agent: expected text, found a integer"},
		{"an agent that is an actor", `{"steps": [{"agent": "human", "on_status": {"A": {}}}]}`, `role "human": this is the name of an actor`},
		{"no codes", `{"steps": [{"agent": "a"}]}`, "step 0 (a) has no on_status"},
		{"empty codes", `{"steps": [{"agent": "a", "on_status": {}}]}`, "step 0 (a): on_status is empty"},
		{"codes that are a list", `{"steps": [{"agent": "a", "on_status": []}]}`, "step 0 (a): on_status: expected a mapping, found a list"},
		{"a code that is text", `{"steps": [{"agent": "a", "on_status": {"A": "b"}}]}`, "step 0 (a): A: expected a mapping"},
		{"the same code in other letters", `{"steps": [{"agent": "a", "on_status": {"A": {}, "a": {}}}]}`, "x.json:1:50: step 0 (a): code A is given twice"},
		{"a code with a colon", `{"steps": [{"agent": "a", "on_status": {"A: b": {}}}]}`, `x.json:1:41: step 0 (a): code "A: b" has a colon`},
		{"a code of two words", `{"steps": [{"agent": "a", "on_status": {"ALL DONE": {}}}]}`, `x.json:1:41: step 0 (a): code "ALL DONE" cannot be reported by an agent: use letters, digits, dash, underscore and dot, beginning with a letter, at most 80`},
		{"a code with a sign", `{"steps": [{"agent": "a", "on_status": {"DONE!": {}}}]}`, `code "DONE!" cannot be reported by an agent`},
		{"a code in other letters", `{"steps": [{"agent": "a", "on_status": {"FERTIG_ÜBERALL": {}}}]}`, "cannot be reported by an agent"},
		{"a code that begins with a digit", `{"steps": [{"agent": "a", "on_status": {"2ND": {}}}]}`, "cannot be reported by an agent"},
		{"a code without end", `{"steps": [{"agent": "a", "on_status": {"` + strings.Repeat("A", 81) + `": {}}}]}`, "at most 80"},
		{"a code without a name", `{"steps": [{"agent": "a", "on_status": {" ": {}}}]}`, "a code without a name"},
		{"a chain that is no truth", `{"steps": [{"agent": "a", "on_status": {"A": {"auto_chain": "yes"}}}]}`, `auto_chain: "yes" is neither: write true or false`},
		{"a next step that is a list", `{"steps": [{"agent": "a", "on_status": {"A": {"next_step": []}}}]}`, "next_step: expected text, found a list"},
		{"a next step that is a truth", `{"steps": [{"agent": "a", "on_status": {"A": {"next_step": true}}}]}`, "next_step: expected text, found a bool"},
		{"an unknown kind", `{"steps": [{"agent": "a", "on_status": {"A": {"kind": "stop"}}}]}`, `"stop" is not known: use complete or halt`},
		{"an end that goes on", `{"steps": [{"agent": "a", "on_status": {"A": {"kind": "halt", "next_step": "a"}}}]}`, "keep one"},
		{"an absolute output", `{"steps": [{"agent": "a", "required_output": "/etc/x", "on_status": {"A": {}}}]}`, `x.json:1:46: step 0 (a): required_output "/etc/x" is not a path in the worktree`},
		{"an output that leads out", `{"steps": [{"agent": "a", "required_output": "../../x", "on_status": {"A": {}}}]}`, "leads out of the worktree"},
		{"an output that is a folder", `{"steps": [{"agent": "a", "required_output": "x/", "on_status": {"A": {}}}]}`, "is not the name of a file"},
		{"an output with an unknown variable", `{"steps": [{"agent": "a", "required_output": "{x}.md", "on_status": {"A": {}}}]}`, "{x} cannot be used in a path: use {enhancement_name}"},
		{"an absolute input", `{"steps": [{"agent": "a", "input": "/etc/passwd", "on_status": {"A": {}}}]}`, `x.json:1:36: step 0 (a): input "/etc/passwd" is not a path in the worktree: write it relative`},
		{"an input that leads out", `{"steps": [{"agent": "a", "input": "{previous_step}/../../x", "on_status": {"A": {}}}]}`, "leads out of the worktree: write it without .."},
		{"an input with an unknown variable", `{"steps": [{"agent": "a", "input": "{x}/", "on_status": {"A": {}}}]}`, "input: variable {x} is not known: use {enhancement_name}"},
		{"a model that is an option", `{"steps": [{"agent": "a", "model": "--yes", "on_status": {"A": {}}}]}`, `x.json:1:36: step 0 (a): model "--yes" cannot be one`},
		{"a prompt with an unknown variable", `{"steps": [{"agent": "a", "prompt": "Hello ${colour}", "on_status": {"A": {}}}]}`, "x.json:1:37: prompt a: variable {colour} is not known: use {summary}"},
		{"an unknown key of the file", `{"step": 1, "steps": [{"agent": "a", "on_status": {"A": {}}}]}`, `x.json:1:2: a step workflow has no key "step": use id`},
		{"an unknown key of a step", `{"steps": [{"agent": "a", "onstatus": {}}]}`, `a step has no key "onstatus": use agent`},
		{"an unknown key of a code", `{"steps": [{"agent": "a", "on_status": {"A": {"auto_chian": false}}}]}`, `a code of on_status has no key "auto_chian": use next_step`},
		{"a bound that is none", `{"max_steps": 0, "steps": [{"agent": "a", "on_status": {"A": {}}}]}`, "x.json:1:15: max_steps: 0: give a number from 1 to 1000"},
		{"a name of signs", `{"id": "!!!", "steps": [{"agent": "a", "on_status": {"A": {}}}]}`, "add id:"},
		{"too many steps", chain(strings.Fields(strings.Repeat("a ", 65))), "has 65 steps and the limit is 64"},
		{"nothing but a name", `{"name": "x"}`, `x.json:1:1: "steps" is missing: write {"steps": [`},
		{"nothing at all", `{}`, `x.json:1:1: "steps" is missing`},
		{"steps by another name", "{\n\"stepz\": []}", `"steps" is missing`},
		{"a key that is there twice", "{\"name\": \"x\",\n \"name\": \"y\", \"steps\": []}", `x.json:2:2: mapping key "name" already defined at [1:2]: fix the JSON here`},
		{"broken JSON", `{"steps": [`, "x.json:1:12: the JSON ends too early: close what is open"},
		{"JSON that ends early", "{\n  \"steps\": [\n    {\"agent\": \"a\"\n", "x.json:3:18: the JSON ends too early"},
		{"JSON with something else in it", "{\"é\": 1,\n \"b\": 'c', \"steps\": [", "x.json:2:7: invalid character '\\'' looking for beginning of value: fix the JSON here"},
		{"several workflows", `{"version": "2", "workflows": {"one": {}, "two": {}}}`, "x.json:1:18: the file has 2 workflows (one, two), not one: import them with orange workflow import x.json, or name one as x.json#ID"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := workflow.Parse("x.json", tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%v\nwant %q", err, tt.want)
			}
			wellFormed(t, errors.New(strings.ReplaceAll(err.Error(), "x.json:", "t.yaml:")))
		})
	}
}

func TestAStepWorkflowHasANameWhateverTheFileSays(t *testing.T) {
	const rest = `"steps": [{"agent": "a", "on_status": {"A": {}}}]}`
	for _, tt := range []struct{ file, head, name, describe string }{
		{"f.json", `"id": "my-flow", "name": "My Flow"`, "my-flow", "My Flow"},
		{"f.json", `"id": "my-flow", "name": "My Flow", "description": "Does it."`, "my-flow", "Does it."},
		{"f.json", `"name": "New Feature Development"`, "new-feature-development", ""},
		{"f.json", `"name": "2nd"`, "workflow-2nd", ""},
		{"dir/bug fix.json", `"description": "d"`, "bug-fix", "d"},
	} {
		d := parse(t, tt.file, "{"+tt.head+", "+rest)
		if d.Name != tt.name || d.Describe != tt.describe {
			t.Errorf("%s: %q, %q", tt.head, d.Name, d.Describe)
		}
	}
}

func TestStatesOfStepsNeverShareAName(t *testing.T) {
	d := parse(t, "f.json", `{"steps": [
	  {"agent": "pending", "on_status": {"A": {"next_step": "x", "auto_chain": false}}},
	  {"agent": "x-ready", "on_status": {"A": {"next_step": 3}}},
	  {"agent": "x-2", "on_status": {"A": {"next_step": 4}}},
	  {"agent": "x", "on_status": {"A": {"next_step": 4}}},
	  {"agent": "x", "on_status": {"A": {}}}]}`)
	seen := map[string]bool{}
	for _, s := range d.States {
		if seen[s.Name] {
			t.Errorf("%s is there twice", s.Name)
		}
		seen[s.Name] = true
	}
	if want := []string{"pending-2", "x-ready", "x-2", "x", "x-3"}; !slices.Equal(d.Steps(), want) {
		t.Errorf("%v, want %v", d.Steps(), want)
	}
	if ways := wayOf(d, "pending-2", "A"); len(ways) != 1 || ways[0] != "x-ready-2" {
		t.Error(ways)
	}
	if found := d.Check(); len(found) > 0 {
		t.Error(found)
	}
}

func TestTextsForSteps(t *testing.T) {
	d := parse(t, "f.json", `{"steps": [
	  {"agent": "tester", "required_output": "a.md", "on_status": {"A": {"next_step": 1}}},
	  {"agent": "tester", "on_status": {"A": {"next_step": 2}}},
	  {"agent": "tester", "required_output": "b.md", "on_status": {"A": {"next_step": 3}}},
	  {"agent": "tester", "prompt": "Look at ${branch}.", "on_status": {"A": {"next_step": 4}}},
	  {"agent": "painter", "prompt": "${expected_statuses}", "on_status": {"A": {}}}]}`)
	told := func(state string) string {
		s, _ := d.StateNamed(state)
		r, _ := d.RoleNamed(s.Role)
		name := r.Prompt
		if s.Prompt != "" {
			name = s.Prompt
		}
		p, _ := d.PromptNamed(name)
		return p.Text
	}
	for state, want := range map[string]bool{"tester": true, "tester-2": false, "tester-3": true} {
		text := told(state)
		if strings.Contains(text, "${required_output_filename}") != want || !strings.Contains(text, "find out whether it does") || !strings.Contains(text, "${report}") {
			t.Errorf("%s is told\n%s", state, text)
		}
	}
	if got := told("tester-4"); !strings.HasPrefix(got, "Look at ${branch}.\n") || !strings.Contains(got, "${report}") {
		t.Error(got)
	}
	if got := told("painter"); got != "${expected_statuses}" {
		t.Error(got)
	}
	if found := d.Check(); len(found) > 0 {
		t.Error(found)
	}
	usual := parse(t, "f.json", chain([]string{"requirements-analyst", "architect", "implementer", "tester", "documenter", "code-reviewer", "general", "somebody"}))
	seen := map[string]string{}
	for _, p := range usual.Prompts {
		if other := seen[p.Text]; other != "" && p.Name != "somebody" {
			t.Errorf("%s and %s are told the same", p.Name, other)
		}
		seen[p.Text] = p.Name
	}
}

func TestAnEditedStepWorkflowStaysOne(t *testing.T) {
	d := parse(t, "two.json", twoSteps)
	c, err := d.WithEdits(func(e *workflow.Definition) { e.States[1].Wall = 0 })
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Check()) == 0 || len(d.Check()) != 0 || !slices.Equal(c.Steps(), d.Steps()) {
		t.Errorf("%v, %v", c.Check(), d.Check())
	}
}

func TestALongLineOfJSONIsNotDeep(t *testing.T) {
	var agents []string
	for i := range 40 {
		agents = append(agents, fmt.Sprintf("a%d", i))
	}
	parse(t, "f.json", strings.ReplaceAll(chain(agents), "\n", ""))
	deep := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
	if _, err := workflow.Parse("f.json", deep); err == nil || !strings.Contains(err.Error(), "nests deeper") {
		t.Error(err)
	}
}

func TestTemplatesAreSplitInFileOrder(t *testing.T) {
	text := "{\n  \"version\": \"2.0.0\",\n  \"workflows\": {\n    \"zeta\": " + twoSteps + ",\n    \"alpha\": {\"name\": \"Ä first\", \"steps\": [\n      {\"agent\": \"a\", \"on_status\": {\"A\": {\"next_step\": \"b\"}}}]}\n  }\n}\n"
	list, err := workflow.SplitTemplates("t.json", text)
	if err != nil || len(list) != 2 || list[0].ID != "zeta" || list[1].ID != "alpha" || !workflow.HasTemplates(text) || workflow.HasTemplates(twoSteps) {
		t.Fatalf("%v: %+v", err, list)
	}
	d, err := list[0].Parse("t.json")
	if err != nil || d.Name != "zeta" || d.File != "t.json#zeta" || d.Text != list[0].Text || !json.Valid([]byte(d.Text)) {
		t.Errorf("%v: %+v", err, d)
	}
	if again, err := workflow.Parse("zeta.json", list[0].Text); err != nil || again.Hash != d.Hash || !strings.HasSuffix(list[0].Text, "}\n") {
		t.Errorf("%v", err)
	}
	_, err = list[1].Parse("t.json")
	if err == nil || !strings.HasPrefix(err.Error(), "t.json:17:36: ") || !strings.Contains(err.Error(), `"b" is the agent of no step`) {
		t.Errorf("the error is not placed in the whole file: %v", err)
	}
	for _, tt := range []struct{ text, want string }{
		{`{"workflows": {}}`, "has no workflows"}, {`{"steps": []}`, "has no workflows"}, {`[]`, "has no workflows"},
		{"workflows: {a: {steps: []}}", "t.json:1:1: the file does not begin with {"}, {"{\"workflows\": {\n}, }", "t.json:2:2: a comma before } is not JSON: remove it"}, {`{"workflows": {"a": [1]}}`, "t.json:1:21: workflow a: a step workflow is a JSON object"},
		{"{", "t.json:1:"},
	} {
		if _, err := workflow.SplitTemplates("t.json", tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.text, err, tt.want)
		}
	}
}

func TestAFileThatIsToBeJSONSaysWhereItIsNone(t *testing.T) {
	const rest = `"on_status": {"A": {}}}]`
	tests := []struct{ name, file, text, want string }{
		{"JSON", "x.json", twoSteps, ""},
		{"a comma at the end of an object", "x.json", `{"steps": [{"agent": "a", ` + rest + ",\n}", "x.json:1:51: a comma before } is not JSON: remove it"},
		{"a comma at the end of a list", "x.json", "{\"steps\": [1,\n\n ]}", "x.json:1:13: a comma before ] is not JSON: remove it"},
		{"a comment", "x.json", "{\n  // first\n}", "x.json:2:3: invalid character '/' looking for beginning of object key string: fix the JSON here"},
		{"words", "x.json", "name: x", "x.json:1:1: the file does not begin with {: write it as JSON, or call it .yaml"},
		{"a list", "x.json", `[1, 2`, "x.json:1:6: the JSON ends too early"},
		{"more than one", "x.json", "{}\n{}", "x.json:2:1: invalid character '{' after top-level value"},
		{"nothing", "x.json", " \n", "x.json:1:1: the file is empty"},
		{"JSON by its beginning", "notes.txt", ` {"steps": [],}`, "notes.txt:1:14: a comma before }"},
		{"one of several", "x.json#one", `{"a": 1,}`, "x.json#one:1:8: a comma before }"},
		{"YAML by its name", "x.yaml", `{"steps": [],}`, ""},
		{"YAML by its beginning", "notes.txt", "name: [", ""},
		{"too much", "x.json", "{" + strings.Repeat(" ", workflow.MaxSize), "limit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := workflow.JSONProblem(tt.file, tt.text)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// Checks run before the work is complete. A failed one leads where failed tests lead, if a counter bounds that.
func TestChecksRunBeforeTheLastStepCompletes(t *testing.T) {
	ways := func(d *workflow.Definition) []string {
		var out []string
		for _, i := range d.EdgesFrom("checking") {
			e := &d.Edges[i]
			when := ""
			if e.When != nil {
				when = " when " + e.When.Source
			}
			if e.AnswersTo(workflow.OnCheck, task.CheckPassed) || e.AnswersTo(workflow.OnCheck, task.CheckFailed) {
				out = append(out, e.On[0].Value+" "+e.To+when)
			}
		}
		return out
	}
	d := parse(t, "two.json", twoSteps)
	if diff := cmp.Diff([]string{"checking gate committed, clean"}, wayOf(d, "tester", "TESTED")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"passed complete", "failed halted"}, ways(d)); diff != "" {
		t.Error(diff)
	}
	d = parse(t, "back.json", strings.Replace(twoSteps, `"TESTS_FAILED": {"next_step": null, "kind": "complete"}`, `"TESTS_FAILED": {"next_step": "builder"}`, 1))
	if diff := cmp.Diff([]string{"passed complete", "failed builder when steps < 9", "failed halted when steps >= 9"}, ways(d)); diff != "" {
		t.Error(diff)
	}
	if found := d.Check(); len(found) > 0 {
		t.Errorf("%v", found)
	}
}

func TestTheBuiltInStepsAreThoseOfTheirFile(t *testing.T) {
	text, _ := builtin.Text("cmat-feature")
	d := parse(t, "cmat-feature.json", text)
	want := []string{"requirements-analyst", "architect", "implementer", "tester", "documenter"}
	if !slices.Equal(d.Steps(), want) {
		t.Errorf("%v", d.Steps())
	}
	for i, code := range []string{"READY_FOR_DEVELOPMENT", "READY_FOR_IMPLEMENTATION", "READY_FOR_TESTING", "TESTING_COMPLETE", "DOCUMENTATION_COMPLETE"} {
		next := append(slices.Clone(want), "complete")[i+1]
		if ways := wayOf(d.ForTask(nil), want[i], code); len(ways) != 1 || strings.TrimSuffix(ways[0], ", committed, clean") != next+" gate "+want[i]+"-output" || strings.Contains(ways[0], "clean") != (next == "complete") {
			t.Errorf("%s: %v", code, ways)
		}
	}
}

// anySteps draws a step workflow of whatever shape.
func anySteps(t *rapid.T) string {
	type code struct {
		Next  any    `json:"next_step"`
		Chain bool   `json:"auto_chain"`
		Start bool   `json:"auto_start"`
		Kind  string `json:"kind,omitempty"`
	}
	type step struct {
		Agent  string          `json:"agent"`
		Output string          `json:"required_output"`
		Codes  map[string]code `json:"on_status"`
	}
	n := rapid.IntRange(1, 5).Draw(t, "steps")
	var steps []step
	for range n {
		s := step{Agent: rapid.SampledFrom([]string{"a", "b", "c", "new", "halted"}).Draw(t, "agent"), Codes: map[string]code{}}
		s.Output = rapid.SampledFrom([]string{"", "o.md"}).Draw(t, "output")
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"A", "B", "BLOCKED"}), 1, 3, rapid.ID).Draw(t, "codes") {
			c := code{Chain: rapid.Bool().Draw(t, "chain"), Start: rapid.Bool().Draw(t, "start")}
			if rapid.Bool().Draw(t, "goes on") {
				c.Next = rapid.IntRange(0, n-1).Draw(t, "next")
			}
			s.Codes[name] = c
		}
		steps = append(steps, s)
	}
	b, err := json.Marshal(map[string]any{"name": "any", "steps": steps})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWhateverTheStepsTheyAreCleanAndLoopsAreBounded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := anySteps(rt)
		d, err := workflow.Parse("any.json", text)
		if err != nil {
			rt.Fatalf("%s: %v", text, err)
		}
		if found := d.Check(); len(found) > 0 {
			rt.Fatalf("%s: %v", text, found)
		}
		// Without the edges that the bound closes, no outcome leads round in a circle.
		next := map[string][]string{}
		for i := range d.Edges {
			e := &d.Edges[i]
			bounded := e.When != nil && strings.HasPrefix(e.When.Source, "steps < ") && len(e.Count) == 1 && e.Count[0].Add
			person := len(e.By) == 1 && e.By[0] == task.Human && strings.HasPrefix(e.From[0], e.To) // a person starts a step
			outcome := slices.ContainsFunc(e.On, func(tr workflow.Trigger) bool { return tr.Kind == workflow.OnOutcome })
			if (outcome && !bounded || person) && e.To != "halted" {
				for _, from := range e.From {
					next[from] = append(next[from], e.To)
				}
			}
		}
		for _, s := range d.Steps() {
			if reaches(next, s, s, map[string]bool{}) {
				rt.Fatalf("%s: %s leads back to itself without a bound", text, s)
			}
		}
	})
}

func reaches(next map[string][]string, from, to string, seen map[string]bool) bool {
	for _, s := range next[from] {
		if s == to {
			return true
		}
		if !seen[s] {
			seen[s] = true
			if reaches(next, s, to, seen) {
				return true
			}
		}
	}
	return false
}

func FuzzParseSteps(f *testing.F) {
	text, _ := builtin.Text("cmat-feature")
	for _, s := range []string{text, twoSteps, `{"steps":[{"agent":"a","on_status":{"A":{"next_step":0}}}]}`, `{"workflows":{"a":{"steps":[]}}}`,
		`{"steps":[null]}`, `{"steps":[{"agent":"é","on_status":{"x y":{}}}]}`, `{"steps":[{"agent":"a","on_status":{"A":{"next_step":1e3}}}]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if err := workflow.JSONProblem("t.json", text); err != nil {
			wellFormed(t, errors.New(strings.Replace(err.Error(), "t.json:", "t.yaml:", 1)))
		}
		if list, err := workflow.SplitTemplates("t.yaml", text); err == nil {
			for _, one := range list {
				if _, err := one.Parse("t.yaml"); err != nil {
					wellFormed(t, err)
				}
			}
		} else {
			wellFormed(t, err)
		}
		d, err := workflow.Parse("t.yaml", text)
		if err != nil {
			wellFormed(t, err)
			return
		}
		if _, err := d.WithEdits(func(*workflow.Definition) {}); err != nil {
			t.Error(err)
		}
		d.Check()
	})
}
