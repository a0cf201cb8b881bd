package prompt_test

import (
	"strings"
	"testing"

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
	s, _ := f.Def.StateNamed(state)
	f.Task.Status = state
	f.Effect = task.Effect{Prompt: "p", Role: s.Role}
	f.Words = func(string) (string, bool) { return words, true }
	return prompt.MessageText(f)
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
	f.Task.LastReport = &task.LastReport{Role: "c", State: "c", Code: "BACK"}
	if got := tell(f, "b", "${input_instruction}"); !strings.Contains(got, "enhancements/log-in/c/") {
		t.Error(got)
	}
	f.Task.LastReport = &task.LastReport{Role: "b", State: "b", Code: "BLOCKED"} // it halted, and goes on
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
		got := prompt.ExpectedCodes(def, state)
		if !strings.HasPrefix(got, want) || strings.Count(got, "**") != strings.Count(want, "**") || strings.HasSuffix(got, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", state, got, want)
		}
	}
	only := steps(t, `{"name": "one", "steps": [{"agent": "solo", "on_status": {
	  "NEEDS_RESEARCH": {}, "SHIPPED": {"description": "it is out"}, "BLOCKED": {"description": "a person must decide"}}}]}`).Def
	want := "**Completion Statuses (workflow is complete):**\n- `SHIPPED` - it is out\n\n" +
		"**Halt Statuses (stops workflow, requires human intervention):**\n- `NEEDS_RESEARCH`\n- `BLOCKED` - a person must decide\n\n"
	if got := prompt.ExpectedCodes(only, "solo"); !strings.HasPrefix(got, want) {
		t.Errorf("the end of the work is no halt, and the order is the file's:\n%s\nwant\n%s", got, want)
	}
	if got := prompt.ExpectedCodes(def, "pending") + prompt.ExpectedCodes(def, "nowhere"); got != "" {
		t.Errorf("%q", got)
	}
}

func TestInputs(t *testing.T) {
	for _, tt := range []struct{ input, before, want string }{
		{"", "", "Work from the task description provided."},
		{" \t", "scout", "Work from the task description provided."},
		{"null", "scout", "Work from the task description provided."},
		{"notes/{enhancement_name}.txt", "", "Read the file notes/dark-mode.txt and work from it."},
		{"${enhancement_dir}/brief.md", "scout", "Read the file enhancements/dark-mode/brief.md and work from it."},
		{"{previous_step}/", "scout", "Read all files in the folder enhancements/dark-mode/scout/ and work from them."},
		{"${previous_step}/out/{enhancement_name}/", "", "Read all files in the folder enhancements/dark-mode/out/dark-mode/ and work from them."},
	} {
		if got := prompt.InputInstruction(prompt.ResolveInput(tt.input, "dark-mode", tt.before)); got != tt.want {
			t.Errorf("%q behind %q:\n got %q\nwant %q", tt.input, tt.before, got, tt.want)
		}
	}
}
