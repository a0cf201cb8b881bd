package agents

import (
	"strings"

	"orange/internal/core/prompt"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// promptFacts are what an attempt's words are made of.
func (a *Agents) promptFacts(def *workflow.Definition, t *task.Task, e *task.Effect) prompt.Facts {
	p, _ := a.Engine.Project(t.Project)
	f := prompt.Facts{
		Def: def, Task: *t, Effect: *e, Project: p, Nonce: a.AttemptNonce(Key{t.ID, e.Attempt}),
		Words: func(name string) (string, bool) { return a.Words(p, name) },
	}
	if a.OnBoard != nil {
		f.Card = a.OnBoard(t)
	}
	if a.About != nil {
		f.Known = a.About(t, e.Role)
	}
	return f
}

// maxFinal bounds what a signal carries of an agent's last message, in bytes. The end of
// it is what matters.
const maxFinal = 16 << 10

// lastWords looks for what an attempt said about its work in its last message. There is
// no report for a role without a protocol, nor where nothing was said.
func (a *Agents) lastWords(k Key, role, harness, final string) (*signal.Report, string) {
	if strings.TrimSpace(final) == "" {
		return nil, ""
	}
	t, ok, err := a.Engine.Task(k.Task)
	var def *workflow.Definition
	if err == nil && ok {
		def, err = a.Engine.Definition(&t)
	}
	if err != nil {
		a.Log.Error("read what an attempt said", "component", "agents", "task", k.Task, "attempt", k.Number, "error", err)
	}
	if err != nil || !ok {
		return nil, ""
	}
	r, ok := def.RoleNamed(role)
	if !ok || r.Protocol == "" {
		return nil, ""
	}
	nonce := a.AttemptNonce(k)
	report := signal.DetectText(final, signal.DetectOptions{
		Protocol: signal.Protocol(r.Protocol), WorkType: r.WorkType, Task: string(k.Task), Agent: role, Nonce: nonce, OwnStream: a.Harnesses.SeparatesMessages(harness),
		Codes: codeResults(def, t.Status, r.Protocol), Stages: workerRoles(def),
	})
	report.Unproven = report.Nonce != nonce
	return &report, tailText(final)
}

// codeResults says what each code that edges of a state answer to comes to. Only steps choose
// their codes themselves.
func codeResults(def *workflow.Definition, state, protocol string) map[string]signal.Result {
	if signal.Protocol(protocol) != signal.CompletionBlock {
		return nil
	}
	out := map[string]signal.Result{}
	for _, i := range def.EdgesFrom(state) {
		e := &def.Edges[i]
		to, _ := def.StateNamed(e.To)
		for _, tr := range e.On {
			if tr.Kind != workflow.OnOutcome {
				continue
			}
			out[tr.Value] = signal.Passed
			if to.Kind == workflow.Halt {
				out[tr.Value] = signal.Halted
			}
		}
	}
	return out
}

// workerRoles are the roles that end with a worker's result.
func workerRoles(def *workflow.Definition) []string {
	var out []string
	for i := range def.Roles {
		if signal.Protocol(def.Roles[i].Protocol) == signal.WorkerResult {
			out = append(out, def.Roles[i].Name)
		}
	}
	return out
}

func tailText(s string) string {
	if len(s) <= maxFinal {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-maxFinal:], "")
}
