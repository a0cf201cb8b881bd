// Package overview defines the summary of all tasks: the rows, their content, and which are shown in which order. The
// dashboard, the web page, the status line and the inbox are built from it. It decides nothing and reads nothing:
// callers pass in the records and other facts.
package overview

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
	"orange/internal/view/narrate"
)

// Limits of untrusted text in a row, in bytes.
const (
	maxSummary = 500
	maxText    = 1000
	maxReason  = 4000
	maxOutput  = 200
)

// A State is the state of all tasks at one moment.
type State struct {
	Row      int64     `json:"row"` // the last row of the journal that it includes
	At       time.Time `json:"at"`  // by the server's clock
	Version  string    `json:"version"`
	Paused   bool      `json:"paused"` // all tasks are paused
	Projects []Project `json:"projects"`
	Tasks    []Row     `json:"tasks"` // in order of creation
}

// A Change is the difference between two states: rows that are new or changed, and tasks that are gone.
type Change struct {
	Row      int64     `json:"row"`
	At       time.Time `json:"at"`
	Paused   bool      `json:"paused"`
	Projects []Project `json:"projects"`
	Tasks    []Row     `json:"tasks"`
	Gone     []task.ID `json:"gone"`
}

// A Project is a repository and its pool of workspaces.
type Project struct {
	Name string      `json:"name"`
	Path string      `json:"path"`
	Pool int         `json:"pool_size"`
	Day  task.Budget `json:"budget,omitzero"`

	DayAttempts int   `json:"day_attempts,omitempty"` // of all tasks, today
	DayMicros   int64 `json:"day_cost_micro_usd,omitempty"`

	HoldLanding bool `json:"hold_landing,omitempty"` // a person holds its landing queues

	Git string `json:"git,omitempty"` // which programs git may not run, because nobody has trusted them

	Board int64 `json:"board,omitempty"` // differs after every change of the project's kanban board
}

// A Row is one task. Every text in it is one line and safe for a terminal.
type Row struct {
	ID           task.ID       `json:"id"`
	Project      string        `json:"project"`
	Branch       string        `json:"branch"`
	Summary      string        `json:"summary"`
	Status       string        `json:"status"`
	Kind         workflow.Kind `json:"kind,omitempty"` // of its state
	Workflow     string        `json:"workflow"`
	WorkflowHash string        `json:"workflow_hash"`
	Harness      string        `json:"harness"`
	Workspace    string        `json:"workspace,omitempty"`
	Tracker      string        `json:"tracker,omitempty"`
	Parent       task.ID       `json:"parent,omitempty"`

	After   []task.Predecessor `json:"after,omitempty"`   // the tasks that it is after, and what became of them
	Landing *Landing           `json:"landing,omitempty"` // of work that waits to be merged, nil for other work

	Life     Life      `json:"life"`
	Attempts []Attempt `json:"attempts,omitempty"` // not over yet

	Owner  string           `json:"owner"` // who must act
	Why    string           `json:"why"`
	Wants  explain.ItemKind `json:"wants,omitempty"` // what a person is needed for
	Text   string           `json:"text,omitempty"`  // description of that
	Action explain.Action   `json:"action,omitzero"` // what helps
	Do     string           `json:"do,omitempty"`    // Action as a command line
	Verb   string           `json:"verb,omitempty"`  // see explain.Item
	Note   string           `json:"note,omitempty"`  // the text that goes with it
	Asked  time.Time        `json:"asked,omitzero"`  // since when

	Reasons []explain.WaitReason `json:"reasons,omitempty"` // why it waits; their texts keep their line breaks

	Checks   []CheckStatus  `json:"checks,omitempty"` // that Orange runs on its work
	PR       *PR            `json:"pr,omitempty"`
	Work     *Work          `json:"work,omitempty"` // nil: not measured
	Spent    task.Usage     `json:"spent,omitzero"`
	Today    int64          `json:"today_cost_micro_usd,omitempty"` // the part of Spent that was spent today, UTC
	Moves    []explain.Move `json:"moves,omitempty"`                // moves that a person may request
	Answers  bool           `json:"answers,omitempty"`              // an answer of a person would be accepted
	Deadline *engine.Timer  `json:"deadline,omitempty"`

	Paused  bool      `json:"paused,omitempty"`
	Queued  bool      `json:"queued,omitempty"`
	Created time.Time `json:"created_at"`
	Since   time.Time `json:"since"`       // in this state
	Active  time.Time `json:"active_at"`   // the last activity
	Seq     int       `json:"seq"`         // of its journal
	Crashes int       `json:"crash_count"` // in this state
}

// A Landing is the place of a task in the landing queue of its project and base.
type Landing struct {
	Base  string    `json:"base,omitempty"` // "" for the project's default branch
	Since time.Time `json:"since"`          // when the merge was requested
	Begun bool      `json:"begun,omitempty"`
	Text  string    `json:"text"` // how far it is
}

// Life summarizes the agents of a task.
type Life string

// The values of Life.
const (
	Alive Life = "alive" // one is at work
	Dead  Life = "dead"  // it died, and was not replaced
	None  Life = "none"  // there is none
)

// An Attempt is an agent that has not ended.
type Attempt struct {
	Number    int        `json:"number"`
	Role      string     `json:"role"`
	State     string     `json:"state"` // of the task when the attempt was started
	Since     time.Time  `json:"since"`
	Active    time.Time  `json:"active_at,omitzero"` // when it last wrote anything
	Output    string     `json:"output,omitempty"`   // the last line it wrote, if it writes lines
	Condition string     `json:"condition,omitempty"`
	Detail    string     `json:"detail,omitempty"` // of its condition, in the agent's words
	Until     time.Time  `json:"until,omitzero"`   // of a limit
	Usage     task.Usage `json:"usage,omitzero"`
	Starting  bool       `json:"starting,omitempty"` // its start is not confirmed: its terminal is not recorded yet
	Ending    bool       `json:"ending,omitempty"`
	Absent    bool       `json:"absent,omitempty"` // it has no process: it is being started, or has just ended
	Overdue   bool       `json:"overdue,omitempty"`
}

// A PR is a pull request as last read.
type PR struct {
	Number int    `json:"number"`
	URL    string `json:"url"`
	State  string `json:"state"`            // OPEN, MERGED or CLOSED
	Checks string `json:"checks,omitempty"` // pending, passed or failed, "" if there are none
}

// Work is what a branch has and the default branch has not.
type Work struct {
	Commits int `json:"commits"`
	Added   int `json:"added"` // lines, those not committed included
	Deleted int `json:"deleted"`
	Files   int `json:"files"`
}

// Facts are what is known of a task besides its journal.
type Facts struct {
	Work   *Work
	Checks string            // of its pull request
	Active map[int]time.Time // when attempts last wrote anything
	Output map[int]string    // the last line of attempts that write lines

	Absent   []int          // attempts that have no process
	Children []signal.Child // tasks that are parts of it
	Reasons  []explain.WaitReason
}

// NewRow returns the row of a task. def is nil if its workflow cannot be read.
func NewRow(def *workflow.Definition, t *task.Task, f Facts, now time.Time) Row {
	def = def.ForTask(t.Checks)
	r := Row{
		ID: t.ID, Project: cleanWord(t.Project), Branch: cleanWord(t.Branch), Summary: cleanLine(t.Summary, maxSummary), Status: cleanWord(t.Status), Workflow: cleanWord(t.Workflow),
		WorkflowHash: t.WorkflowHash, Harness: cleanWord(t.Harness), Workspace: cleanWord(t.Workspace), Tracker: cleanWord(t.TrackerRef), Parent: t.Parent,
		Life: lifeOf(t, f.Absent), Work: f.Work, Spent: t.Spent.Usage, Today: t.Spent.OnDay(now).DayCostMicroUSD, Paused: t.Paused, Queued: t.Queued,
		Created: t.CreatedAt, Since: t.Since, Active: t.UpdatedAt, Seq: t.Seq, PR: pullOf(t, f.Checks),
		Checks: ChecksOf(t), After: cleanPredecessors(t.Predecessors), Landing: landingOf(t),
	}
	r.addAgents(t, f)
	if def == nil {
		r.Owner, r.Why = explain.APerson, "its workflow cannot be read: see orange doctor"
		r.Wants, r.Text, r.Asked = explain.ItemAttention, "its workflow cannot be read", t.Since
		r.setAction(explain.Action{Verb: explain.VerbDoctor})
		return r
	}
	if c := def.CrashCounter(); c != nil {
		r.Crashes = t.CounterValue(c.Name)
	}
	g := explain.Summarize(def, *t, signal.Signal{At: now, Children: f.Children, Absent: f.Absent})
	r.Kind, r.Owner, r.Why, r.Deadline, r.Moves = g.Kind, g.Owner, cleanLine(g.Why, maxText), g.Deadline, g.Moves
	r.Answers = g.Answers
	if it := g.Wants; it != nil {
		it.SetReasons(f.Reasons)
		r.Wants, r.Text, r.Asked = it.Kind, cleanLine(it.Text, maxText), it.Since
		r.setAction(it.Action)
		r.Reasons = cleanReasons(it.Reasons)
		r.Verb, r.Note = it.Verb, cleanLine(it.Note, maxText)
	}
	return r
}

// A Standing is what the workflow says about a record in a sum of rows.
type RowStatus struct {
	Kind  workflow.Kind
	Wants explain.ItemKind
}

// FindRowStatus returns the standing of a task. def is nil if its workflow cannot be read.
func FindRowStatus(def *workflow.Definition, t *task.Task) (out RowStatus) {
	def = def.ForTask(t.Checks)
	if def == nil {
		return RowStatus{Wants: explain.ItemAttention}
	}
	if s, ok := def.StateNamed(t.Status); ok {
		out.Kind = s.Kind
	}
	if it, ok := explain.InboxItem(def, *t); ok {
		out.Wants = it.Kind
	}
	return out
}

// NewCountedRow returns the part of a task's row that sums of rows, counts of the inbox and a status line need.
func NewCountedRow(t *task.Task, s RowStatus, absent []int) Row {
	r := Row{ID: t.ID, Status: cleanWord(t.Status), Project: cleanWord(t.Project), Life: lifeOf(t, absent), Paused: t.Paused, Queued: t.Queued, Kind: s.Kind, Wants: s.Wants,
		Workspace: cleanWord(t.Workspace), After: t.Predecessors, Landing: landingOf(t)}
	r.addAgents(t, Facts{Absent: absent})
	return r
}

// setAction says what helps. What others wrote is cleaned.
func (r *Row) setAction(a explain.Action) {
	r.Do = cleanLine(narrate.FormatCommand(a), maxText)
	a.To, a.Card, a.Note = cleanWord(a.To), cleanWord(a.Card), cleanLine(a.Note, maxText)
	a.Tags, a.Untags = cleanWords(a.Tags), cleanWords(a.Untags)
	r.Action = a
}

func cleanPredecessors(list []task.Predecessor) []task.Predecessor {
	out := slices.Clone(list)
	for i := range out {
		out[i].Branch = cleanWord(out[i].Branch)
	}
	return out
}

func landingOf(t *task.Task) *Landing {
	p, ok := t.LandingPlace()
	if !ok {
		return nil
	}
	return &Landing{Base: cleanWord(t.BaseBranch), Since: p.Since, Begun: p.Begun, Text: cleanLine(t.DescribeLanding(), maxText)}
}

// PlaceOf returns the place of a task in its landing queue, as rows have it. It is zero if the task is in none.
func PlaceOf(rows []Row, r *Row) (at task.QueuePlace) {
	if r.Landing == nil {
		return at
	}
	own := task.LandingPlace{ID: r.ID, Since: r.Landing.Since, Begun: r.Landing.Begun}
	at = task.QueuePlace{Position: 1, Of: 1}
	for i := range rows {
		other := &rows[i]
		if other.Landing == nil || other.ID == r.ID || other.Project != r.Project || other.Landing.Base != r.Landing.Base {
			continue
		}
		at.Of++
		if (task.LandingPlace{ID: other.ID, Since: other.Landing.Since, Begun: other.Landing.Begun}).Compare(own) < 0 {
			at.Position++
		}
	}
	return at
}

// SuccessorsOf lists the tasks among rows that are after one and not over.
func SuccessorsOf(rows []Row, id task.ID) []task.Reference {
	var out []task.Reference
	for i := range rows {
		r := &rows[i]
		if r.Kind != workflow.Terminal && slices.ContainsFunc(r.After, func(p task.Predecessor) bool { return p.ID == id }) {
			out = append(out, task.Reference{ID: r.ID, Branch: r.Branch, Status: r.Status})
		}
	}
	return out
}

// CountSuccessors returns how many tasks among rows are after each task and not over.
func CountSuccessors(rows []Row) map[task.ID]int {
	out := map[task.ID]int{}
	for i := range rows {
		if rows[i].Kind == workflow.Terminal {
			continue
		}
		for _, p := range rows[i].After {
			out[p.ID]++
		}
	}
	return out
}

func cleanWords(list []string) []string {
	var out []string
	for _, word := range list {
		out = append(out, cleanWord(word))
	}
	return out
}

// Idle reports whether the agents of a task live and none of them is at work.
func (r *Row) Idle() bool {
	living, idle := 0, 0
	for i := range r.Attempts {
		if a := &r.Attempts[i]; a.IsLive() {
			living++
			if a.Idle() {
				idle++
			}
		}
	}
	return r.Life == Alive && living > 0 && living == idle
}

// IsLive reports whether an agent has a process and was not ordered to end.
func (a *Attempt) IsLive() bool { return !a.Ending && !a.Absent }

// HasStarted reports whether an agent of the task lives and its start is confirmed, so that its terminal can be opened.
func (r *Row) HasStarted() bool {
	return slices.ContainsFunc(r.Attempts, func(a Attempt) bool { return a.IsLive() && !a.Starting })
}

// Idle reports whether an agent lives and its turn is over.
func (a *Attempt) Idle() bool { return a.IsLive() && a.Condition == task.Idle }

// Blocked reports whether an agent lives and cannot continue before somebody else acts.
func (a *Attempt) Blocked() bool { return a.IsLive() && task.Condition{Name: a.Condition}.IsBlocked() }

// lifeOf summarizes the agents of a task. A dead agent takes precedence over a living one: its work is not being done.
func lifeOf(t *task.Task, absent []int) Life {
	if t.Crashed != "" {
		if _, replaced := t.LiveAttempt(t.Crashed); !replaced {
			return Dead
		}
	}
	life := None
	for i := range t.Attempts {
		a := &t.Attempts[i]
		switch gone := slices.Contains(absent, a.Number); {
		case a.Ending:
		case !gone:
			return Alive
		case a.Running:
			life = Dead // its end is not recorded yet
		}
	}
	return life
}

// May reports whether a person may request a verb.
func (r *Row) May(verb string) bool {
	return slices.ContainsFunc(r.Moves, func(m explain.Move) bool { return m.As == verb })
}

// WaitsFor reports whether a person is needed for one of these.
func (r *Row) WaitsFor(kinds ...explain.ItemKind) bool { return slices.Contains(kinds, r.Wants) }

// AtTerminal returns the role of the agent that needs a person at its terminal, as the row says it, or "".
func (r *Row) AtTerminal() string {
	condition := r.Wants.Info().Condition
	for i := range r.Attempts {
		if a := &r.Attempts[i]; condition != "" && a.Condition == condition {
			return a.Role
		}
	}
	return ""
}

// cleanReasons makes reasons safe for a terminal. They keep their line breaks.
func cleanReasons(list []explain.WaitReason) []explain.WaitReason {
	var out []explain.WaitReason
	for _, r := range list {
		text := ansi.SteadyText(ansi.SafeText(humanize.Cut(r.Text, maxReason)))
		out = append(out, explain.WaitReason{Kind: r.Kind, By: cleanWord(r.By), Text: text})
	}
	return out
}

// addAgents lists the attempts that have not ended, and finds the last activity.
func (r *Row) addAgents(t *task.Task, f Facts) {
	for i := range t.Attempts {
		a := &t.Attempts[i]
		active := f.Active[a.Number]
		if active.After(r.Active) {
			r.Active = active
		}
		r.Attempts = append(r.Attempts, Attempt{
			Number: a.Number, Role: cleanWord(a.Role), State: cleanWord(a.State), Since: a.Since, Active: active, Output: cleanLine(f.Output[a.Number], maxOutput), Condition: cleanWord(a.Condition.Name),
			Detail: cleanLine(a.Condition.Detail, maxText), Until: a.Condition.Until, Usage: a.Usage, Starting: !a.Running, Ending: a.Ending, Overdue: a.Overdue, Absent: slices.Contains(f.Absent, a.Number),
		})
	}
}

func pullOf(t *task.Task, checks string) *PR {
	if t.PRURL == "" {
		return nil
	}
	number, _ := tracker.PRNumber(t.PRURL)
	return &PR{Number: number, URL: cleanLine(t.PRURL, maxText), State: cleanWord(t.PRState), Checks: cleanWord(checks)}
}

// SumChecks summarizes the checks of a pull request, "" if there are none.
func SumChecks(list []tracker.Check) string {
	out := ""
	for _, c := range list {
		switch {
		case c.State == tracker.CheckFailed:
			return tracker.CheckFailed
		case c.State == tracker.CheckPending || out == "":
			out = c.State
		}
	}
	return out
}

// cleanWord cleans an untrusted name.
func cleanWord(s string) string { return cleanLine(s, maxSummary) }

// cleanLine returns text on one line, of at most n bytes plus three dots.
func cleanLine(s string, n int) string {
	whole := len(s) <= 4*n
	if !whole { // text that is cut off need not be cleaned
		s = strings.ToValidUTF8(s[:4*n], "")
	}
	s = ansi.SteadyText(ansi.OneLine(s))
	if whole && len(s) <= n {
		return s
	}
	cut := min(n, len(s))
	for cut > 0 && cut < len(s) && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strings.TrimSpace(s[:cut]) + "..."
}
