// Package stats measures tasks from their journals: how they ended, what they cost, how long agents worked and people were
// waited for. It takes journals and returns figures. What nobody measured is not counted as nothing: a group says how many
// of its attempts are measured.
package stats

import (
	"path"
	"strings"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// Outcome is how a task ended, or how it stands.
type Outcome string

// The outcomes of a task.
const (
	Landed    Outcome = "landed"    // over, and its work is in the default branch
	Completed Outcome = "completed" // over, and nothing was merged
	Cancelled Outcome = "cancelled"
	Stuck     Outcome = "stuck" // not over, and it cannot continue without a person who helps
	Open      Outcome = "open"
)

// Outcomes lists the outcomes in the order in which they are shown.
func Outcomes() []Outcome { return []Outcome{Landed, Completed, Cancelled, Stuck, Open} }

// TaskFigures are what is measured of one task.
type TaskFigures struct {
	ID       task.ID
	Project  string
	Workflow string
	Kind     workflow.Kind // of its state; "" if its workflow is not known
	Created  time.Time
	Outcome  Outcome
	Time     Times
	Rounds   int // how often work went from an agent that may write to one that may only read
	Attempts []AttemptFigures
	Checks   []CheckFigures // runs that ended, in order
}

// CheckFigures are what is measured of one run of a check.
type CheckFigures struct {
	Name     string
	Outcome  string
	Duration time.Duration
}

// AttemptFigures are what is measured of one attempt whose agent was started. A check has no agent.
type AttemptFigures struct {
	Number     int
	Started    time.Time
	Role       string
	Harness    string
	Model      string // "" if it is not known
	PromptHash string // "" if it is not recorded
	Prompt     string // the name of the prompt in the workflow
	Usage      task.Usage
	Measured   bool // the harness reported a usage
	NotBegun   bool // it ended before its first turn, and consumed nothing
	Live       bool // it is not over
	Time       Times
}

// Times are durations of a task or an attempt.
type Times struct {
	Working time.Duration // an agent worked
	Waiting time.Duration // a person was waited for
	Total   time.Duration // from the beginning to the end, or until now
}

// A Reader measures one task, entry by entry.
type Reader struct {
	def      *workflow.Definition
	t        task.Task
	out      TaskFigures
	last     time.Time // of the last entry
	ended    time.Time // when it came to a terminal state; zero if it is not in one
	landed   bool
	cancel   bool // the last move was a cancellation
	wrote    bool // the last agent at work could write
	attempts map[int]int
}

// NewReader returns a reader of a task that follows def. def is nil if the workflow is not known: then states are not
// distinguished, and no time is counted as work or waiting.
func NewReader(def *workflow.Definition) *Reader {
	return &Reader{def: def, attempts: map[int]int{}}
}

// Add reads the next entry of the task.
func (r *Reader) Add(e *journal.Entry) error {
	r.addTime(e.At)
	started := r.startedPrompt(e)
	if err := journal.Apply(&r.t, e); err != nil {
		return err
	}
	r.last = e.At
	if e.Type == journal.AgentSpawned && e.Receipt != nil {
		r.addAttempt(e, started)
	}
	r.updateAttempts(e)
	if c := e.Check; c != nil {
		r.out.Checks = append(r.out.Checks, CheckFigures{Name: c.Name, Outcome: c.Outcome, Duration: c.Duration})
	}
	if e.Receipt != nil && e.Receipt.Commit != "" || e.Snapshot != nil && e.Snapshot.Word == signal.PRMerged {
		r.landed = true
	}
	if e.To != "" {
		r.addMove(e)
	}
	return nil
}

// startedPrompt returns the name of the prompt of the agent that an entry says was started.
func (r *Reader) startedPrompt(e *journal.Entry) string {
	if e.Receipt == nil {
		return ""
	}
	for i := range r.t.Pending {
		if r.t.Pending[i].ID == e.Receipt.Effect {
			return r.t.Pending[i].Prompt
		}
	}
	return ""
}

func (r *Reader) addAttempt(e *journal.Entry, prompt string) {
	a, ok := r.t.AttemptByNumber(e.Attempt)
	if _, known := r.attempts[e.Attempt]; known || !ok || r.isCheck(&a) {
		return
	}
	r.attempts[e.Attempt] = len(r.out.Attempts)
	r.out.Attempts = append(r.out.Attempts, AttemptFigures{
		Number: a.Number, Started: e.At, Role: a.Role, Harness: r.harnessOf(&a, e.Receipt.Harness), PromptHash: e.Receipt.PromptHash, Prompt: prompt,
		Model: a.Model, Usage: a.Usage, Live: true,
	})
}

// isCheck reports whether an attempt runs a check.
func (r *Reader) isCheck(a *task.Attempt) bool {
	return a.Role == workflow.CheckRole && len(r.t.Checks) > 0 && (r.def == nil || !r.def.DeclaresRole(a.Role))
}

// harnessOf returns the harness of an attempt. Journals from before do not say it where the role has only one.
func (r *Reader) harnessOf(a *task.Attempt, recorded string) string {
	name := recorded
	if name == "" {
		name, _, _ = strings.Cut(a.Harness, ":")
		if strings.HasPrefix(a.Harness, agent.CommandPrefix) || strings.HasPrefix(a.Harness, agent.ScriptPrefix) {
			name = a.Harness
		}
	}
	if name == "" && r.def != nil {
		if role, ok := r.def.RoleNamed(a.Role); ok {
			name = engine.HarnessChoices(&r.t, role)[0].Harness
		}
	}
	return shortHarness(name)
}

// shortHarness returns the name of a harness without paths and arguments.
func shortHarness(name string) string {
	if strings.HasPrefix(name, agent.ScriptPrefix) {
		return agent.Script
	}
	if line, ok := strings.CutPrefix(name, agent.CommandPrefix); ok {
		words := strings.Fields(line)
		if len(words) == 0 {
			return "command"
		}
		return agent.CommandPrefix + path.Base(words[0])
	}
	return name
}

// updateAttempts takes over what the record says about the attempts that are not over, and what an entry says about one
// that has just ended.
func (r *Reader) updateAttempts(e *journal.Entry) {
	for i := range r.t.Attempts {
		a := &r.t.Attempts[i]
		if at, ok := r.attempts[a.Number]; ok {
			m := &r.out.Attempts[at]
			m.Model, m.Usage = a.Model, a.Usage
			m.Measured = m.Measured || a.Usage != (task.Usage{})
		}
	}
	for i, gone := range e.Ended {
		at, ok := r.attempts[gone.Number]
		if !ok {
			continue
		}
		m := &r.out.Attempts[at]
		m.Live, m.NotBegun = false, e.Type == journal.AgentNotBegun
		if i > 0 {
			continue
		}
		if e.Usage != nil {
			m.Usage, m.Measured = m.Usage.Plus(e.Usage.Minus(m.Usage)), true
		}
		if e.Model != "" {
			m.Model = e.Model
		}
	}
}

func (r *Reader) addMove(e *journal.Entry) {
	s := r.state()
	r.cancel = e.Verb == workflow.VerbCancel || r.takesCancel(e)
	r.ended = time.Time{}
	if s == nil {
		return
	}
	if s.Kind == workflow.Terminal {
		r.ended = e.At
	}
	if role, ok := r.def.RoleNamed(s.Role); ok && s.Kind == workflow.Agent {
		reads := role.Access == "read-only"
		if reads && r.wrote {
			r.out.Rounds++
		}
		r.wrote = !reads
	}
}

// takesCancel reports whether the edge that an entry took is one that cancels.
func (r *Reader) takesCancel(e *journal.Entry) bool {
	if r.def == nil || e.Edge < 0 || e.Edge >= len(r.def.Edges) {
		return false
	}
	edge := &r.def.Edges[e.Edge]
	return edge.To == e.To && edge.As == workflow.VerbCancel
}

// state returns the state of the task, or nil if it is not known.
func (r *Reader) state() *workflow.State {
	if r.def == nil {
		return nil
	}
	s, ok := r.def.StateNamed(r.t.Status)
	if !ok {
		return nil
	}
	return s
}

// phase is what a task does between two entries.
type phase int

const (
	elsewhere phase = iota // it waits for a workspace, a limit, a tracker, or an effect
	working
	waiting // for a person
)

// addTime counts the time since the last entry.
func (r *Reader) addTime(now time.Time) {
	r.out.Time = r.out.Time.plus(r.phase(), r.elapsed(now))
	for i := range r.t.Attempts {
		a := &r.t.Attempts[i]
		if at, ok := r.attempts[a.Number]; ok {
			m := &r.out.Attempts[at]
			m.Time = m.Time.plus(r.phaseOf(a), r.elapsed(now))
			m.Time.Total += r.elapsed(now)
		}
	}
}

func (r *Reader) elapsed(now time.Time) time.Duration {
	if r.last.IsZero() {
		return 0
	}
	return max(0, now.Sub(r.last))
}

func (d Times) plus(p phase, more time.Duration) Times {
	switch p {
	case working:
		d.Working += more
	case waiting:
		d.Waiting += more
	}
	return d
}

// phase returns what the task does now.
func (r *Reader) phase() phase {
	s, t := r.state(), &r.t
	switch {
	case s == nil || s.Kind == workflow.Terminal || t.Deleted:
		return elsewhere
	case t.Paused || t.Attention != "" || t.Asked != nil || t.WorkFailed != "" || t.Unanswered != nil:
		return waiting
	case s.Kind == workflow.Waiting || s.Kind == workflow.HumanDo || s.Kind == workflow.Halt:
		return waiting
	case s.Kind != workflow.Agent:
		return elsewhere
	case t.Crashed != "" && t.RespawnAt.IsZero():
		return waiting
	}
	if a, ok := t.LiveAttempt(s.Role); ok {
		return r.phaseOf(&a)
	}
	return elsewhere
}

// phaseOf returns what an attempt does now. It works only while the task is in a state of its role: a worker that is kept
// while another agent reviews does not.
func (r *Reader) phaseOf(a *task.Attempt) phase {
	s := r.state()
	switch {
	case s == nil || !a.Running || a.Ending || s.Role != a.Role || r.t.Paused:
		return elsewhere
	case task.NeedsPerson(a.Condition.Name), a.Condition.Name == task.Idle:
		return waiting
	case a.Condition.IsBlocked():
		return elsewhere
	}
	return working
}

// Measure returns the figures of the task at a time that is not before its last entry.
func (r *Reader) Measure(now time.Time) TaskFigures {
	at := *r
	at.out.Attempts = append([]AttemptFigures(nil), r.out.Attempts...)
	at.out.Checks = append([]CheckFigures(nil), r.out.Checks...)
	at.addTime(now)
	out := at.out
	out.ID, out.Project, out.Workflow, out.Created = r.t.ID, r.t.Project, r.t.Workflow, r.t.CreatedAt
	if s := r.state(); s != nil {
		out.Kind = s.Kind
	}
	out.Outcome = r.outcome()
	end := now
	if !r.ended.IsZero() {
		end = r.ended
	}
	out.Time.Total = max(0, end.Sub(r.t.CreatedAt))
	return out
}

func (r *Reader) outcome() Outcome {
	s, t := r.state(), &r.t
	over := s != nil && s.Kind == workflow.Terminal
	switch {
	case over && r.cancel:
		return Cancelled
	case over && (r.landed || t.Work != nil && t.Work.Landed):
		return Landed
	case over:
		return Completed
	case t.Deleted:
		return Cancelled
	case s != nil && s.Kind == workflow.Halt, t.Attention != "", t.WorkFailed != "" && t.Stopped == nil, t.Crashed != "" && t.RespawnAt.IsZero():
		return Stuck
	}
	return Open
}
