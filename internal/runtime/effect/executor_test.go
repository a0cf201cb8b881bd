package effect_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"orange/internal/core/agent"
	"orange/internal/core/board"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/runtime/effect"
	"orange/internal/runtime/local"
)

// hands plays every port and writes down what it is asked.
type hands struct {
	did  []string
	fail string // what goes wrong
}

func (h *hands) do(format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	h.did = append(h.did, what)
	if h.fail != "" && strings.HasPrefix(what, h.fail) {
		return errors.New("no luck")
	}
	return nil
}

func (h *hands) StartAgent(_ context.Context, t task.Task, e task.Effect) (agent.Start, error) {
	return agent.Start{Session: t.Project + "/" + t.Branch}, h.do("start %s %d", e.Role, e.Attempt)
}

func (h *hands) MessageAgent(_ context.Context, _ task.Task, e task.Effect) error {
	return h.do("tell %s %s", e.Role, e.Prompt)
}

func (h *hands) EndAttempts(_ context.Context, _ task.Task, attempts []int) error {
	return h.do("end %v", attempts)
}
func (h *hands) ChangeCard(_ context.Context, _ task.Task, e task.Effect) (string, error) {
	return "left out", h.do("change %s %s", e.Do, e.Arg)
}

func (h *hands) ReadCard(context.Context, task.Task) (*board.Snapshot, error) {
	return &board.Snapshot{Column: "Review"}, h.do("look")
}

func (h *hands) ClearSession(context.Context, task.Task) error { return h.do("clear") }

func (h *hands) RenameSession(_ context.Context, t task.Task) (string, error) {
	return t.Project + "/" + t.Branch, h.do("rename session")
}

func (h *hands) Acquire(_ context.Context, _ task.Task, name string) (local.EffectResult, error) {
	return local.EffectResult{Note: "moved aside", Base: "abc"}, h.do("acquire %s", name)
}

func (h *hands) Ready(_ context.Context, t task.Task) (string, error) {
	return "made again", h.do("ready %s", t.Workspace)
}

func (h *hands) Release(_ context.Context, _ task.Task, name string) (local.EffectResult, error) {
	return local.EffectResult{Note: "kept", Salvage: "refs/x"}, h.do("release %s", name)
}

func (h *hands) PrepareLanding(context.Context, task.Task) error { return h.do("landing") }

func (h *hands) RenameBranch(_ context.Context, t task.Task, from string) error {
	return h.do("rename %s %s", from, t.Branch)
}

func (h *hands) Merge(_ context.Context, _ task.Task, e task.Effect) (local.EffectResult, error) {
	return local.EffectResult{Landed: "abc"}, h.do("merge %s", e.Arg)
}
func (h *hands) Push(context.Context, task.Task) error { return h.do("push") }

func (h *hands) CreatePR(context.Context, task.Task) (string, error) {
	return "https://x/1", h.do("create pr")
}
func (h *hands) DeleteRemoteBranch(context.Context, task.Task) error { return h.do("delete remote") }

func (h *hands) SetRequirements(_ string, _ task.ID, text string) error {
	return h.AddSection("", "", "Requirements", text, "")
}

func (h *hands) AddSection(_ string, _ task.ID, section, text, key string) error {
	return h.do("write %s %s %s", section, text, key)
}

func TestEveryEffectIsDone(t *testing.T) {
	living := task.Task{ID: "t", Project: "p", Branch: "b", Resources: task.Resources{Workspace: "p--1"}, Agents: task.Agents{Attempts: []task.Attempt{
		{Number: 1, Role: "worker"}, {Number: 2, Role: "reviewer", Ending: true}, {Number: 3, Role: "fixer", Ending: true},
	}}}
	for _, tt := range []struct {
		e    task.Effect
		did  string
		done string
	}{
		{task.Effect{Do: "acquire_workspace", Workspace: "p--1"}, "acquire p--1", "note moved aside"},
		{task.Effect{Do: "release_workspace", Workspace: "p--1"}, "release p--1", "note kept"},
		{task.Effect{Do: "release_workspace"}, "", ""},
		{task.Effect{Do: "spawn_agent", Role: "worker", Attempt: 4, Start: true}, "ready p--1, start worker 4", "session p/b, note made again"},
		{task.Effect{Do: "spawn_reviewer", Role: "reviewer", Attempt: 5, Start: true}, "ready p--1, start reviewer 5", "session p/b, note made again"},
		{task.Effect{Do: "notify_worker", Role: "worker", Attempt: 6, Start: true}, "ready p--1, start worker 6", "session p/b, note made again"},
		{task.Effect{Do: "notify_worker", Role: "worker", Attempt: 1, Prompt: "review-failed"}, "tell worker review-failed", ""},
		{task.Effect{Do: "notify_agent", Role: "reviewer", Attempt: 2, Prompt: "nudge"}, "tell reviewer nudge", ""},
		{task.Effect{Do: "kill_reviewer", Role: "reviewer"}, "end [2]", "ended [2]"},
		{task.Effect{Do: "kill_agent", Role: "worker", Attempt: 1}, "end [1]", "ended [1]"},
		{task.Effect{Do: "kill_session"}, "end [2 3], clear", "ended [2 3]"},
		{task.Effect{Do: "spawn_next"}, "", ""},
		{task.Effect{Do: "delete_remote_branch"}, "delete remote", ""},
		{task.Effect{Do: "push"}, "push", ""},
		{task.Effect{Do: "create_pr"}, "create pr", "fields pr_url=https://x/1 pr_state=OPEN"},
		{task.Effect{Do: "merge", Arg: "ff"}, "merge ff", "event pr:merged, landed abc"},
		{task.Effect{Do: "move_card", Arg: "Review"}, "change move_card Review", "note left out"},
		{task.Effect{Do: "read_card"}, "look", "face Review"},
		{task.Effect{Do: "rename_branch", Arg: "old"}, "rename old b, rename session", "session p/b"},
		{task.Effect{Do: "write_section", Arg: "Answer", Text: "blue", ID: "t/1/0"}, "write Answer blue t/1/0", ""},
	} {
		h := &hands{}
		done, err := effect.Executor{Agents: h, Workspaces: h, Delivery: h, Sections: h, Cards: h}.Perform(t.Context(), living, tt.e)
		if err != nil || strings.Join(h.did, ", ") != tt.did || told(done) != tt.done {
			t.Errorf("%s: %v, did %q, %q", tt.e.Do, err, h.did, told(done))
		}
	}
}

func told(d local.EffectResult) string {
	var out []string
	if d.Session != "" {
		out = append(out, "session "+d.Session)
	}
	if len(d.Ended) > 0 {
		out = append(out, fmt.Sprint("ended ", d.Ended))
	}
	if d.Note != "" {
		out = append(out, "note "+d.Note)
	}
	if d.CardSnapshot != nil {
		out = append(out, "face "+d.CardSnapshot.Column)
	}
	if d.Event != "" {
		out = append(out, "event "+d.Event)
	}
	if d.Landed != "" {
		out = append(out, "landed "+d.Landed)
	}
	if len(d.Fields) > 0 {
		line := "fields"
		for _, f := range d.Fields {
			line += " " + f.Name + "=" + f.To
		}
		out = append(out, line)
	}
	return strings.Join(out, ", ")
}

func TestWhatFailedMadeNothingTrue(t *testing.T) {
	for do, fail := range map[string]string{"merge": "merge", "create_pr": "create pr", "kill_session": "end"} {
		h := &hands{fail: fail}
		done, err := effect.Executor{Agents: h, Workspaces: h, Delivery: h, Sections: h, Cards: h}.Perform(t.Context(), agents(), task.Effect{Do: do})
		if err == nil || told(done) != "" {
			t.Errorf("%s: %v, %q", do, err, told(done))
		}
	}
}

func TestEveryWordOfTheVocabularyIsKnown(t *testing.T) {
	h := &hands{}
	doer := effect.Executor{Agents: h, Workspaces: h, Delivery: h, Sections: h, Cards: h}
	for _, info := range workflow.EffectVocabulary() {
		if _, err := doer.Perform(t.Context(), agents(), task.Effect{Do: info.Name, Start: info.Spawns, Workspace: "p--1"}); err != nil {
			t.Errorf("%s: %v", info.Name, err)
		}
	}
	if _, err := doer.Perform(t.Context(), agents(), task.Effect{Do: "fly"}); err == nil {
		t.Error("nothing knows how to fly")
	}
	if !slices.Contains(h.did, "push") {
		t.Error("the vocabulary is not complete")
	}
}
