package prompt_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/prompt"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

var update = flag.Bool("update", false, "write the golden files anew")

func facts(t *testing.T, name string) prompt.Facts {
	t.Helper()
	text, _ := builtin.Text(name)
	def, err := workflow.Parse(name+".yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	return prompt.Facts{
		Known: prompt.Known{Requirements: "- A form with name and password.\n- Three wrong passwords lock the account for a minute."},
		Def:   def, Nonce: "k7Q2mZ", Project: task.Project{Name: "shop", DefaultBranch: "main"},
		Task: task.Task{
			ID: "0123456789abcdefghijk", Project: "shop", Branch: "login", Summary: "Let customers log in", Status: "working",
			Counters: []task.Counter{{Name: "review_round", Value: 1}},
		},
	}
}

// stateOf returns the state in which a prompt is used.
func stateOf(def *workflow.Definition, name string) string {
	for _, s := range def.States {
		if s.Prompt == name || s.Role == roleOf(def, name) {
			return s.Name
		}
	}
	return "working"
}

// roleOf returns the role that gets a prompt.
func roleOf(def *workflow.Definition, name string) string {
	for _, s := range def.States {
		if s.Prompt == name && s.Role != "" {
			return s.Role
		}
	}
	for _, r := range def.Roles {
		if r.Prompt == name || r.RespawnPrompt == name || r.ReworkPrompt == name {
			return r.Name
		}
	}
	return "worker"
}

func TestEveryPromptOfTheBuiltIns(t *testing.T) {
	for _, name := range builtin.Names() {
		f := facts(t, name)
		for _, p := range f.Def.Prompts {
			t.Run(name+"/"+p.Name, func(t *testing.T) {
				if def := f.Def; !strings.HasPrefix(name, "orange") {
					f.Task.Status = stateOf(def, p.Name)
				}
				f.Effect = task.Effect{Prompt: p.Name, Role: roleOf(f.Def, p.Name), Attempt: 3, Start: true}
				golden(t, name+"-"+p.Name+".txt", prompt.StartPrompt(f))
			})
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: run go test -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: - want, + got\n%s", path, diff)
	}
}

func TestARespawnAfterAReviewCarriesTheMessageToo(t *testing.T) {
	f := facts(t, "orange")
	f.Effect = task.Effect{Prompt: "worker-respawn", Message: "changes-requested", Text: "make it blue\n## Review", Role: "worker", Attempt: 4, Start: true}
	got := prompt.StartPrompt(f)
	for _, want := range []string{"# Resuming: Let customers log in", "A person asks for changes.", "\n> make it blue\n> ## Review\n", "attempt 4 of task"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

func TestMessagesOfTheEngine(t *testing.T) {
	f := facts(t, "orange")
	for _, name := range []string{workflow.MessageAnswer, workflow.MessageNudge, workflow.MessageReset, workflow.MessageTurn} {
		f.Effect = task.Effect{Prompt: name, Role: "worker"}
		golden(t, "message-"+name+".txt", prompt.MessageText(f)+"\n")
	}
}

func TestWhatAValueSaysIsNotAPlaceToFill(t *testing.T) {
	f := facts(t, "orange")
	f.Task.Summary, f.Task.Branch = "use {branch} and {status}", "b-{summary}"
	f.Effect = task.Effect{Prompt: "worker", Role: "worker"}
	if got := prompt.StartPrompt(f); !strings.Contains(got, "# Task: use {branch} and {status}\n") || !strings.Contains(got, "Branch: b-{summary}\n") {
		t.Error(got)
	}
}

func TestARepositoryHasTheLastWord(t *testing.T) {
	f := facts(t, "orange")
	f.Words = func(name string) (string, bool) { return "House style for {project}: " + name, name == "worker" }
	f.Effect = task.Effect{Prompt: "worker", Role: "worker"}
	if got := prompt.StartPrompt(f); !strings.HasPrefix(got, "House style for shop: worker\n") || !strings.Contains(got, "Commands of this session") {
		t.Error(got)
	}
	f.Effect = task.Effect{Prompt: "reviewer", Role: "reviewer"}
	if got := prompt.StartPrompt(f); !strings.HasPrefix(got, "# Review: Let customers log in") {
		t.Error(got)
	}
}

func TestPromptsNameTheDelivery(t *testing.T) {
	f := facts(t, "orange")
	f.Effect = task.Effect{Prompt: "worker", Role: "worker"}
	for d, want := range map[task.Delivery]string{"": "Do NOT push to remote.", task.DeliverPush: "the branch is pushed for you", task.DeliverPR: "open no pull request"} {
		f.Task.Delivery = d
		if got := prompt.StartPrompt(f); !strings.Contains(got, want) {
			t.Errorf("%s: %q is missing in\n%s", d, want, got)
		}
	}
}

func TestTheSkillSaysWhenToUseItAndNamesRealCommands(t *testing.T) {
	head, _, ok := strings.Cut(strings.TrimPrefix(prompt.Skill, "---\n"), "\n---\n")
	if !ok || !strings.Contains(head, "name: orange\n") || !strings.Contains(head, "\ndescription: ") {
		t.Fatalf("frontmatter %q", head)
	}
	for _, part := range []string{"## Operator", "## In a task", "ORANGE_TASK"} {
		if !strings.Contains(prompt.Skill, part) {
			t.Errorf("%q is missing", part)
		}
	}
}

// Prompts with the same text have the same digest, whatever is filled in.
func TestThePromptHashIsThatOfTheTextBeforeValuesAreFilledIn(t *testing.T) {
	one, other := facts(t, "orange"), facts(t, "orange")
	one.Effect.Prompt, one.Effect.Role = "worker", "worker"
	other.Effect = one.Effect
	other.Task.Summary, other.Task.Branch, other.Nonce = "Let customers search", "search", "another"
	if prompt.StartPrompt(one) == prompt.StartPrompt(other) {
		t.Fatal("the prompts do not differ")
	}
	hash := prompt.HashStartPrompt(one)
	if len(hash) != 16 || prompt.HashStartPrompt(other) != hash {
		t.Errorf("%q and %q", hash, prompt.HashStartPrompt(other))
	}
	other.Words = func(string) (string, bool) { return "Do {summary} in another way.", true }
	if prompt.HashStartPrompt(other) == hash {
		t.Error("another text has the same digest")
	}
	one.Effect.Message, one.Goes = workflow.MessageReply, true
	if prompt.HashStartPrompt(one) == hash {
		t.Error("an agent that continues a conversation was not given the prompt, but has its digest")
	}
}

func TestAnAgentOfAStackedTaskIsToldWhatIsItsOwn(t *testing.T) {
	f := facts(t, "solo")
	f.Effect = task.Effect{Role: "worker", Prompt: "worker"}
	f.Task.StackOn, f.Task.Base, f.Task.After = "below0000000000000000", "c1", []task.ID{"below0000000000000000"}
	f.Task.Predecessors = []task.Predecessor{{ID: f.Task.StackOn, Branch: "below", State: task.PredecessorOpen, Stack: true, Head: "c1"}}
	if text := prompt.StartPrompt(f); !strings.Contains(text, "The change of this task is git diff c1...HEAD.") {
		t.Error(text)
	}
	f.Task.Predecessors[0].State = task.PredecessorLanded
	if text := prompt.StartPrompt(f); strings.Contains(text, "stacked") {
		t.Error(text)
	}
}
