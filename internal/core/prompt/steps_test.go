package prompt_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/prompt"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

func steps(t *testing.T, text string) prompt.Facts {
	t.Helper()
	def, err := workflow.Parse("steps.json", text)
	if err != nil {
		t.Fatal(err)
	}
	return prompt.Facts{
		Def: def, Project: task.Project{Name: "shop", DefaultBranch: "main"},
		Task: task.Task{ID: "0123456789abcdefghijk", Project: "shop", Branch: "feat/log in", Summary: "Log in"},
	}
}

// tell renders words as the prompt of the agent of a state.
func tell(f prompt.Facts, state, words string) string {
	s, _ := f.Def.State(state)
	f.Task.Status = state
	f.Effect = task.Effect{Prompt: "p", Role: s.Role}
	f.Words = func(string) (string, bool) { return words, true }
	return prompt.Message(f)
}

const three = `{"name": "three", "steps": [
  {"agent": "a", "input": "enhancements/{enhancement_name}/{enhancement_name}.md", "required_output": "a.md",
   "on_status": {"A": {"next_step": "b", "description": "to b"}, "BLOCKED": {}}},
  {"agent": "b", "input": "{previous_step}/required_output/",
   "on_status": {"B": {"next_step": "c", "auto_chain": false}, "AGAIN": {"next_step": "a"}, "STOP": {"kind": "halt", "description": "no way"}}},
  {"agent": "c", "input": "${previous_step}/x.md", "on_status": {"C": {"description": "all\nis done"}, "BACK": {"next_step": "b"}}}]}`

func TestVariablesOfSteps(t *testing.T) {
	f := steps(t, three)
	tests := []struct{ state, words, want string }{
		{"a", "${task_id} {task_id} ${agent} {agent}", "0123456789abcdefghijk 0123456789abcdefghijk a a"},
		{"a", "${summary}|${task_description}|{task_description}", "Log in|Log in|Log in"},
		{"a", "${required_output_filename} in ${enhancement_dir} of {enhancement_name}", "a.md in enhancements/log-in of log-in"},
		{"b", "[${required_output_filename}]", "[]"},
		{"a", "${input_instruction}", "Read the file enhancements/log-in/log-in.md and work from it."},
		{"b", "{input_instruction}", "Read all files in the folder enhancements/log-in/a/required_output/ and work from them."},
		{"c", "{input_instruction}", "Read the file enhancements/log-in/b/x.md and work from it."},
		{"a", "$ {agent} $${agent} ${unknown}", "$ a $a ${unknown}"},
	}
	for _, tt := range tests {
		if got := tell(f, tt.state, tt.words); got != tt.want {
			t.Errorf("%s in %s:\n got %q\nwant %q", tt.words, tt.state, got, tt.want)
		}
	}
}

func TestTheStepBeforeIsTheOneThatLedHere(t *testing.T) {
	f := steps(t, three)
	f.Task.Said = &task.Said{Role: "c", State: "c", Code: "BACK"}
	if got := tell(f, "b", "${input_instruction}"); !strings.Contains(got, "enhancements/log-in/c/") {
		t.Error(got)
	}
	f.Task.Said = &task.Said{Role: "b", State: "b", Code: "BLOCKED"} // it halted, and goes on
	if got := tell(f, "b", "${input_instruction}"); !strings.Contains(got, "enhancements/log-in/a/") {
		t.Error(got)
	}
}

func TestAValueIsNeverFilledAgain(t *testing.T) {
	f := steps(t, three)
	f.Task.Summary = "${agent} {task_id} ${expected_statuses}"
	if got := tell(f, "a", "${task_description}"); got != f.Task.Summary {
		t.Errorf("%q", got)
	}
}

func TestExpectedStatusesAreInThreeGroups(t *testing.T) {
	def := steps(t, three).Def
	tests := map[string]string{
		"a": "**Completion Statuses (workflow continues automatically):**\n- `A` - to b\n\n" +
			"**Halt Statuses (stops workflow, requires human intervention):**\n- `BLOCKED`\n\n",
		"b": "**Completion Statuses (workflow continues automatically):**\n- `B` (a person starts what follows)\n- `AGAIN`\n\n" +
			"**Halt Statuses (stops workflow, requires human intervention):**\n- `STOP` - no way\n\n",
		"c": "**Completion Statuses (workflow continues automatically):**\n- `BACK`\n\n" +
			"**Completion Statuses (workflow is complete):**\n- `C` - all is done\n\n",
	}
	for state, want := range tests {
		got := prompt.Expected(def, state)
		if !strings.HasPrefix(got, want) || strings.Count(got, "**") != strings.Count(want, "**") || strings.HasSuffix(got, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", state, got, want)
		}
	}
	if got := prompt.Expected(def, "pending") + prompt.Expected(def, "nowhere"); got != "" {
		t.Errorf("%q", got)
	}
}

// cmatCase is one case of the shared conformance file.
type cmatCase struct {
	Suite, Name, Recommended string
	Input, Expected          json.RawMessage
}

func cmatCases(t *testing.T, suite string) []cmatCase {
	t.Helper()
	text, err := os.ReadFile("../../../../shared/conformance/cmat.json")
	if os.IsNotExist(err) {
		t.Skip("the shared conformance file is not here")
	}
	var all, out []cmatCase
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if c.Suite == suite {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		t.Fatalf("no cases of suite %s", suite)
	}
	return out
}

func TestPublicInputs(t *testing.T) {
	for _, c := range cmatCases(t, "resolve_input") {
		var in struct {
			Input, Enhancement string
			Before             string `json:"previous_agent"`
		}
		var want string
		if json.Unmarshal(c.Input, &in) != nil || json.Unmarshal(c.Expected, &want) != nil {
			t.Fatal(c.Name)
		}
		if got := prompt.ResolveInput(in.Input, in.Enhancement, in.Before); got != want {
			t.Errorf("%s: %q, want %q", c.Name, got, want)
		}
	}
	for _, c := range cmatCases(t, "input_instruction") {
		var in, want string
		if json.Unmarshal(c.Input, &in) != nil || json.Unmarshal(c.Expected, &want) != nil {
			t.Fatal(c.Name)
		}
		if got := prompt.InputInstruction(in); got != want {
			t.Errorf("%s: %q, want %q", c.Name, got, want)
		}
	}
}

func TestPublicStatusesOfAStep(t *testing.T) {
	for _, c := range cmatCases(t, "format_statuses_for_prompt") {
		var listed string
		if err := json.Unmarshal(c.Expected, &listed); err != nil {
			t.Fatal(err)
		}
		codes, ends := map[string]any{}, false
		for line := range strings.Lines(listed) {
			if code, ok := strings.CutPrefix(line, "- `"); ok {
				code, rest, _ := strings.Cut(code, "`")
				next := any(nil)
				if strings.HasPrefix(code, "READY_") {
					next = "next"
				}
				ends = ends || strings.HasSuffix(code, "_COMPLETE")
				codes[code] = map[string]any{"next_step": next, "description": strings.TrimSpace(strings.TrimPrefix(rest, " - "))}
			}
		}
		text, err := json.Marshal(map[string]any{"name": "x", "steps": []any{
			map[string]any{"agent": "first", "on_status": codes}, map[string]any{"agent": "next", "on_status": map[string]any{"A": map[string]any{}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		got := prompt.Expected(steps(t, string(text)).Def, "first")
		want, _, _ := strings.Cut(listed, "\n\nChoose")
		if ends { // the end of the work is no halt
			want = strings.Replace(want, "- `DOCUMENTATION_COMPLETE`\n", "", 1)
			want = "**Completion Statuses (workflow is complete):**\n- `DOCUMENTATION_COMPLETE`\n\n" + want
		}
		if ends != (c.Recommended != "") {
			t.Errorf("%s: recommended %q", c.Name, c.Recommended)
		}
		if diff := cmp.Diff(want+"\n", strings.TrimSuffix(got, got[strings.LastIndex(got, "\n")+1:])[:len(want)+1]); diff != "" {
			t.Errorf("%s: - want, + got\n%s", c.Name, diff)
		}
	}
}
