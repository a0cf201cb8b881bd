// Package prompts is the server's part in running an attempt: it chooses the agent of a role, renders the agent's prompts
// and messages, and reads its reports.
package prompts

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"orange/internal/core/agent"
	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/prompt"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// A Renderer renders prompts and finds reports.
type Renderer struct {
	Task       func(id task.ID) (task.Task, *workflow.Definition, bool, error) // with the workflow that it follows
	Definition func(t *task.Task) (*workflow.Definition, error)
	Project    func(name string) (task.Project, bool)
	Card       func(t *task.Task) *prompt.Card                                       // the task's card, nil if it is on no board; nil: no task is on one
	Facts      func(t *task.Task, role string) prompt.Known                          // facts about the task for an agent of a role; nil: none
	Pull       func(ctx context.Context, t task.Task) (url, state string, err error) // the present pull request of the task; nil: that of the record
}

// PlanStart returns which agent an effect starts.
func (s Renderer) PlanStart(t *task.Task, e *task.Effect) (agent.StartPlan, error) {
	def, err := s.Definition(t)
	if err != nil {
		return agent.StartPlan{}, err
	}
	role, ok := def.RoleNamed(e.Role)
	if !ok {
		return agent.StartPlan{}, task.Mistakef("workflow %s has no role %q", def.Name, e.Role)
	}
	choice := engine.ChoiceOf(t, role, e)
	out := agent.StartPlan{
		Harness: choice.Harness, Effort: choice.Effort, Model: choice.Model, Permissions: t.Permissions, ReadOnly: role.Access == "read-only",
		Reports: role.Protocol != "", GoesOn: role.Session == workflow.Persistent || workflow.GoesOn(e.Message), Answers: e.Message == workflow.MessageReply,
	}
	if choice.Harness == t.Harness {
		out.Flags = t.AgentFlags // another harness would not know them
	}
	if st, ok := def.StateNamed(t.Status); ok && st.Role == role.Name && out.Model == "" && choice.Harness == engine.HarnessChoices(t, role)[0].Harness {
		out.Model = st.Model // the state names a model of the preferred agent
	}
	return out, nil
}

// StartPrompt renders the prompt with which an agent is started. It also returns the digest of the prompt's text before
// values are filled in.
func (s Renderer) StartPrompt(ctx context.Context, t *task.Task, e *task.Effect, o agent.Opening) (text, hash string, err error) {
	f, err := s.gatherFacts(t, e, o.Nonce)
	if err != nil {
		return "", "", err
	}
	f.Goes, f.Asked = o.GoesOn, o.Asked
	if s.Pull != nil && f.MentionsVariable("pull_request") {
		if f.Task.PRURL, f.Task.PRState, err = s.Pull(ctx, *t); err != nil {
			return "", "", fmt.Errorf("find the pull request: %w", err)
		}
	}
	return prompt.StartPrompt(f), prompt.HashStartPrompt(f), nil
}

// MessageText renders a message to a running agent.
func (s Renderer) MessageText(t *task.Task, e *task.Effect, nonce string) (string, error) {
	f, err := s.gatherFacts(t, e, nonce)
	if err != nil {
		return "", err
	}
	return prompt.MessageText(f), nil
}

// gatherFacts collects the facts for a prompt or a message.
func (s Renderer) gatherFacts(t *task.Task, e *task.Effect, nonce string) (prompt.Facts, error) {
	def, err := s.Definition(t)
	if err != nil {
		return prompt.Facts{}, err
	}
	p, _ := s.Project(t.Project)
	p = p.ForTask(t)
	f := prompt.Facts{
		Def: def, Task: *t, Effect: *e, Project: p, Nonce: nonce,
		Words: func(name string) (string, bool) { return repositoryText(p, name) },
	}
	if s.Card != nil {
		f.Card = s.Card(t)
	}
	if s.Facts != nil {
		f.Known = s.Facts(t, e.Role)
	}
	return f, nil
}

// maxText bounds a prompt from a repository, in bytes.
const maxText = 256 << 10

// repositoryText reads the prompt .orange/prompts/NAME.md from the project's checkout. It returns false if there is none
// or it is too long.
func repositoryText(p task.Project, name string) (string, bool) {
	if name == "" || strings.ContainsAny(name, "/\\") {
		return "", false
	}
	root, err := os.OpenRoot(p.Path)
	if err != nil {
		return "", false
	}
	defer root.Close() //nolint:errcheck // read only
	text, err := root.ReadFile(filepath.Join(".orange", "prompts", name+".md"))
	return string(text), err == nil && len(text) > 0 && len(text) <= maxText
}

// FindReport finds the report of an attempt in its last message. It returns nil for a role without a protocol and for an
// unknown task.
func (s Renderer) FindReport(id task.ID, m agent.LastMessage) (*signal.Report, error) {
	t, def, ok, err := s.Task(id)
	if err != nil || !ok {
		return nil, err
	}
	r, ok := def.RoleNamed(m.Role)
	if !ok || r.Protocol == "" {
		return nil, nil
	}
	report := signal.DetectText(m.Text, signal.DetectOptions{
		Protocol: signal.Protocol(r.Protocol), WorkType: r.WorkType, Task: string(id), Agent: m.Role, Nonce: m.Nonce, OwnStream: m.OwnStream,
		Codes: codeResults(def, t.Status, r.Protocol), Stages: workerRoles(def),
	})
	report.Unproven = report.Nonce != m.Nonce
	return &report, nil
}

// codeResults maps the codes that the edges of a state respond to to their results. It returns nil for protocols with
// fixed codes.
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

// workerRoles returns the roles that end with a worker's result.
func workerRoles(def *workflow.Definition) []string {
	var out []string
	for i := range def.Roles {
		if signal.Protocol(def.Roles[i].Protocol) == signal.WorkerResult {
			out = append(out, def.Roles[i].Name)
		}
	}
	return out
}

// TaskRecords reads the facts about a task.
type TaskRecords struct {
	TaskFile   func(project string, id task.ID) (taskfile.Document, error)
	Definition func(t *task.Task) (*workflow.Definition, error)
	Journal    func(id task.ID, after int) ([]journal.Entry, error)
	Reasons    func(t *task.Task) []explain.WaitReason
	Log        *slog.Logger
}

// TaskFacts returns the facts about a task that a prompt for an agent of a role contains besides the record.
func (r TaskRecords) TaskFacts(t *task.Task, role string) (out prompt.Known) {
	doc, err := r.TaskFile(t.Project, t.ID)
	if err != nil {
		r.Log.Error("read TASK.md for a prompt", "component", "serve", "task", t.ID, "error", err)
	}
	out.Requirements, out.Context = prompt.ReadGiven(doc.Sections())
	def, err := r.Definition(t)
	var entries []journal.Entry
	if err == nil {
		entries, err = r.Journal(t.ID, 0)
	}
	if err != nil {
		r.Log.Error("read the last report", "component", "serve", "task", t.ID, "error", err)
		return out
	}
	out.Last = prompt.FindLast(def, t, role, entries, func(section string) string {
		found, _ := taskfile.FindSection(doc.Sections(), section)
		return found.Text
	})
	if at, ok := def.StateNamed(t.Status); ok && at.Kind == workflow.Halt { // for its role or the role that replaces it
		out.Why = describeHalt(r.Reasons(t))
	}
	return out
}

// describeHalt returns the reasons that the helper of a halted task is given besides the last report.
func describeHalt(reasons []explain.WaitReason) string {
	var out []string
	for _, r := range reasons {
		if r.Kind == explain.BecauseOfNote || r.Kind == explain.BecauseOfCrash {
			title := r.Kind.Title()
			if r.By != "" {
				title += " of the " + r.By
			}
			out = append(out, title+": "+r.Text)
		}
	}
	return strings.Join(out, "\n\n")
}
