package effect_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/task"
	"orange/internal/runtime/effect"
	"orange/internal/runtime/local"
)

// record returns a command that keeps the last line it was given beside its last argument.
func record(dir, script string) effect.Recorder {
	return effect.Recorder{Command: []string{"/bin/sh", "-c", script, "record"}, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}}
}

func agents() task.Task {
	return task.Task{ID: "t", Project: "p", Branch: "b", Agents: task.Agents{Attempts: []task.Attempt{
		{Number: 1, Role: "worker"}, {Number: 2, Role: "reviewer", Ending: true}, {Number: 3, Role: "fixer", Ending: true},
	}}}
}

func TestAnEffectIsWrittenDownByAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	e := task.Effect{ID: "t/2/0", Do: "spawn_agent", By: task.ByEdge, Role: "worker", Attempt: 4, Start: true, Window: "worker", Prompt: "worker", Workspace: "p--1"}
	done, err := record(dir, `cat > "$1"`).Perform(t.Context(), agents(), e)
	if err != nil || done.Session != "p/b" || done.Ended != nil {
		t.Fatalf("%+v, %v", done, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "t.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var got effect.RecordedEffect
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want := effect.RecordedEffect{Key: "t/2/0", Do: "spawn_agent", By: "edge", Task: "t", Project: "p", Branch: "b", Role: "worker",
		Attempt: 4, Start: true, Window: "worker", Prompt: "worker", Workspace: "p--1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("- want, + got\n%s", diff)
	}
}

func TestAKillSaysWhoIsGone(t *testing.T) {
	for name, tt := range map[string]struct {
		e    task.Effect
		want []int
	}{
		"everyone who was told to end":   {task.Effect{Do: "kill_session"}, []int{2, 3}},
		"of one role":                    {task.Effect{Do: "kill_reviewer", Role: "reviewer"}, []int{2}},
		"one attempt, at its deadline":   {task.Effect{Do: "kill_agent", Role: "worker", Attempt: 1}, []int{1}},
		"nobody of a role that lives on": {task.Effect{Do: "kill_agent", Role: "worker"}, nil},
		"nobody, by another effect":      {task.Effect{Do: "release_workspace"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			done, err := record(t.TempDir(), "cat > /dev/null").Perform(t.Context(), agents(), tt.e)
			if diff := cmp.Diff(local.EffectResult{Ended: tt.want}, done); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func TestACommandThatFailsSaysWhyInItsLastLine(t *testing.T) {
	for name, tt := range map[string]struct{ script, want string }{
		"with words":    {"cat > /dev/null; echo first; echo no space left >&2; exit 1", "write down spawn_next: no space left"},
		"without words": {"cat > /dev/null; exit 3", "write down spawn_next: exit status 3"},
	} {
		t.Run(name, func(t *testing.T) {
			done, err := record(t.TempDir(), tt.script).Perform(t.Context(), agents(), task.Effect{Do: "spawn_next"})
			if err == nil || err.Error() != tt.want || done.Ended != nil {
				t.Errorf("%+v, %v", done, err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := record(t.TempDir(), "cat").Perform(ctx, agents(), task.Effect{Do: "x"}); err == nil || !strings.Contains(err.Error(), "write down x: ") {
		t.Errorf("called off: %v", err)
	}
}
