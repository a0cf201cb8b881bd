// Package effect performs effects. Recorder is the performer of an installation without agents: it starts nothing and
// records the effects, from a separate process.
package effect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/runtime/local"
)

// Recorder runs Command once per effect, with the path of the task's file below Dir as its last argument and a
// RecordedEffect as JSON on its standard input.
type Recorder struct {
	Command []string
	Dir     string
	Env     []string
}

// A RecordedEffect is the record of one effect. Key makes it unique: an effect that is performed twice is recorded
// once.
type RecordedEffect struct {
	Key       string `json:"key"`
	Do        string `json:"do"`
	By        string `json:"by"`
	Task      string `json:"task"`
	Project   string `json:"project"`
	Branch    string `json:"branch"`
	Role      string `json:"role,omitempty"`
	Attempt   int    `json:"attempt,omitempty"`
	Start     bool   `json:"start,omitempty"`
	Window    string `json:"window,omitempty"`
	Prompt    string `json:"prompt,omitempty"`
	Workspace string `json:"workspace,omitempty"`
}

// timeout bounds one recording; it is a write to a local file.
const timeout = 30 * time.Second

// Perform implements local.Performer.
func (r Recorder) Perform(ctx context.Context, t task.Task, e task.Effect) (local.EffectResult, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	line, err := json.Marshal(RecordedEffect{
		Key: e.ID, Do: e.Do, By: e.By, Task: string(t.ID), Project: t.Project, Branch: t.Branch,
		Role: e.Role, Attempt: e.Attempt, Start: e.Start, Window: e.Window, Prompt: e.Prompt, Workspace: e.Workspace,
	})
	if err != nil {
		return local.EffectResult{}, fmt.Errorf("write down %s: %w", e.Do, err)
	}
	file := filepath.Join(r.Dir, string(t.ID)+".jsonl")
	cmd := exec.CommandContext(ctx, r.Command[0], append(slices.Clone(r.Command[1:]), file)...)
	cmd.Env = r.Env
	cmd.Stdin = bytes.NewReader(line)
	if out, err := cmd.CombinedOutput(); err != nil {
		return local.EffectResult{}, fmt.Errorf("write down %s: %w", e.Do, explainFailure(err, out))
	}
	return recordedResult(&t, &e), nil
}

// recordedResult returns what the effect would have led to: a session, or processes that are gone.
func recordedResult(t *task.Task, e *task.Effect) local.EffectResult {
	info, _ := workflow.EffectNamed(e.Do)
	var d local.EffectResult
	if e.Start {
		d.Session = t.Project + "/" + t.Branch
	}
	for _, a := range t.Attempts {
		ordered := a.Ending && (e.Role == "" || e.Role == a.Role)
		if info.Kills && (ordered || e.Attempt == a.Number) {
			d.Ended = append(d.Ended, a.Number)
		}
	}
	return d
}

func explainFailure(err error, out []byte) error {
	if text := strings.TrimSpace(string(out)); text != "" {
		last := text[strings.LastIndex(text, "\n")+1:]
		return errors.New(last)
	}
	return err
}
