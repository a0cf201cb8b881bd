// Package signal is what happened: a request, an exit, a timer, an effect's result.
// A Signal is a plain value that survives JSON and carries its own time and the
// evidence as it was read, so that deciding about it needs nothing else.
package signal

import (
	"strings"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
)

// Kind says what sort of thing happened.
type Kind string

// The kinds of signals.
const (
	Create  Kind = "create"  // a task is wanted
	Request Kind = "request" // an actor asks for a state, or for a verb
	Ready   Kind = "ready"   // a queued task's turn has come
	Exit    Kind = "exit"    // an attempt's process is gone
	Notice  Kind = "notice"  // how a living attempt is doing, and what it has consumed
	Outcome Kind = "outcome" // an attempt said how it went
	Timer   Kind = "timer"   // a moment the engine waited for has come
	Tracker Kind = "tracker" // a tracker or forge reports an event
	Effect  Kind = "effect"  // how an effect went
	Update  Kind = "update"  // fields of the record are to change
	Pause   Kind = "pause"
	Resume  Kind = "resume"
	Tamper  Kind = "tamper" // the frontmatter was changed by hand
	Delete  Kind = "delete"
	Import  Kind = "import"  // a task of an earlier installation, or of a store that is lost
	Restore Kind = "restore" // the store is older than the task's folder
)

// A Signal is one thing that happened to one task.
type Signal struct {
	Kind    Kind       `json:"kind"`
	At      time.Time  `json:"at"`
	Actor   task.Actor `json:"actor,omitempty"`
	Attempt int        `json:"attempt,omitempty"` // of the actor that asks, or that ended

	To   string `json:"to,omitempty"`   // request: the state asked for
	Verb string `json:"verb,omitempty"` // request: the verb asked for, if no state
	Arg  string `json:"arg,omitempty"`  // request: what the verb needs, such as a merge strategy
	Note string `json:"note,omitempty"` // why, in the asker's words

	Role string `json:"role,omitempty"` // exit: whose
	Code int    `json:"code,omitempty"` // exit: of the process
	Mass string `json:"mass,omitempty"` // exit: what ended it together with others, "" if it ended alone

	Unstarted bool   `json:"unstarted,omitempty"` // exit: it ended by itself within seconds of its start, before its first turn
	Last      string `json:"last,omitempty"`      // exit: the last lines that it showed; untrusted

	Condition *task.Condition `json:"condition,omitempty"` // notice; exit: the last one, if it explains the end
	Usage     *task.Usage     `json:"usage,omitempty"`     // notice, exit: consumed so far
	Active    time.Time       `json:"active,omitzero"`     // timer: when the attempt last showed life
	Commit    string          `json:"commit,omitempty"`    // the branch's, as it was
	Workspace string          `json:"workspace,omitempty"` // request, outcome, exit of an attempt: why its workspace is not the task's worktree

	Report       *Report         `json:"report,omitempty"`        // outcome, exit: what the attempt said
	Final        string          `json:"final,omitempty"`         // notice, outcome, exit: its last message, cut short; untrusted
	Left         task.Left       `json:"left,omitempty"`          // exit: what sort of message that is, where the message itself is not kept
	CardSnapshot *board.Snapshot `json:"card_snapshot,omitempty"` // tracker: the card as it looks now

	Word  string `json:"word,omitempty"`  // outcome: the protocol's code; tracker: the event
	Timer string `json:"timer,omitempty"` // timer: its name
	Visit int    `json:"visit,omitempty"` // timer: the visit it was set in

	New    *New     `json:"new,omitempty"`    // create, import
	Fields []Field  `json:"fields,omitempty"` // update, tamper
	Result *Receipt `json:"result,omitempty"` // effect

	Samples  []task.Sample `json:"samples,omitempty"`   // sections with verdicts that changed since they were last looked at
	BrokeOff bool          `json:"broke_off,omitempty"` // exit: with a code other than 0, where a verdict is asked for

	Artifacts Artifacts  `json:"artifacts,omitzero"`
	Evidence  []Evidence `json:"evidence,omitempty"`
	Free      []string   `json:"free,omitempty"` // workspaces of the project that no task holds
	Busy      []string   `json:"busy,omitempty"` // serial groups of the project at which another task works
	Children  []Child    `json:"children,omitempty"`
	Missing   []string   `json:"missing,omitempty"` // harnesses that a role may have and that are not installed
	Absent    []int      `json:"-"`                 // attempts that have no process now; only explanations ask
	Lost      *Lost      `json:"lost,omitempty"`    // restore, import: what the store does not know
	Rules     int        `json:"rules,omitempty"`   // by which to decide, see engine.Rules
	Told      bool       `json:"told,omitempty"`    // supposed: every agent knows of the move already

	Merged  string `json:"merged,omitempty"`  // tracker, pr:merged: the commit by which the forge merged it, "" if it does not say
	Via     *Via   `json:"via,omitempty"`     // where an action of a person, or of a tracker, came from; nil: not known
	Confirm string `json:"confirm,omitempty"` // the code that confirms a person's merge; never kept

	Confirmed string `json:"confirmed,omitempty"` // the commit for which a person gave the right code
}

// Lost is what the folders of a task show beyond a store that was put back.
type Lost struct {
	Events        []string            `json:"events,omitempty"`         // what history.jsonl shows of each entry that is missing, in order
	Status        string              `json:"status,omitempty"`         // the last that history.jsonl shows
	AttemptCounts []task.AttemptTally `json:"attempt_counts,omitempty"` // attempts ever asked for, of the roles that have more than the record says
	Workspace     string              `json:"workspace,omitempty"`      // that is bound to the task, "" if none is
}

// A Child is a task that is a part of another.
type Child struct {
	ID     task.ID `json:"id"`
	Status string  `json:"status"`
}

// What can end an attempt together with others. That is no crash.
const (
	MassReboot = "reboot"     // the machine was restarted
	MassTmux   = "tmux"       // the tmux server ended
	MassShims  = "attendants" // something ended the attendants of several attempts
)

// Words of a tracker's signals.
const (
	CardChanged = "card"      // a card looks different
	Reachable   = "back"      // the tracker answers again
	PRMerged    = "pr:merged" // Arg is its last commit, "" if it was merged here
	PRClosed    = "pr:closed" // without a merge; Arg is its last commit
)

// Snapshot is what a journal keeps of a signal beside the entry it led to: what was
// asked for, and the evidence as it was, without the words of TASK.md.
type Snapshot struct {
	To               string             `json:"to,omitempty"`
	Role             string             `json:"role,omitempty"`
	Code             int                `json:"code,omitempty"`
	Mass             string             `json:"mass,omitempty"`
	Word             string             `json:"word,omitempty"`
	Timer            string             `json:"timer,omitempty"`
	Arg              string             `json:"arg,omitempty"`
	Active           time.Time          `json:"active,omitzero"`
	Commit           string             `json:"commit,omitempty"`
	WorkspaceProblem string             `json:"workspace_problem,omitempty"`
	Sections         []taskfile.Section `json:"sections,omitempty"`
	Problem          string             `json:"problem,omitempty"`
	Evidence         []Evidence         `json:"evidence,omitempty"`
	Free             []string           `json:"free,omitempty"`
	Busy             []string           `json:"busy,omitempty"`
	Children         []Child            `json:"children,omitempty"`
	Report           *Report            `json:"report,omitempty"`
	Final            string             `json:"final,omitempty"`
	Left             task.Left          `json:"left,omitempty"`
	CardSnapshot     *board.Snapshot    `json:"card_snapshot,omitempty"`
	Lost             *Lost              `json:"lost,omitempty"`
	Merged           string             `json:"merged,omitempty"`
	BrokeOff         bool               `json:"broke_off,omitempty"`
	Missing          []string           `json:"missing,omitempty"`

	Unstarted bool   `json:"unstarted,omitempty"`
	Last      string `json:"last,omitempty"`
	Confirmed string `json:"confirmed,omitempty"`
}

// WeighsEvidence reports whether deciding about the signal may look at evidence.
func (s *Signal) WeighsEvidence() bool {
	switch s.Kind {
	case Create, Request, Ready, Exit, Outcome, Timer, Tracker, Import, Restore:
		return true
	}
	return false
}

// Snapshot returns what a journal keeps of s.
func (s *Signal) Snapshot() *Snapshot {
	return &Snapshot{
		To: s.To, Role: s.Role, Code: s.Code, Mass: s.Mass, Word: s.Word, Timer: s.Timer, Arg: s.Arg,
		Active: s.Active, Commit: s.Commit, Sections: taskfile.WithoutText(s.Artifacts.Sections), Problem: s.Artifacts.Problem, Evidence: s.Evidence, Free: s.Free,
		Busy: s.Busy, Children: s.Children, Report: s.Report, Final: s.Final, CardSnapshot: s.CardSnapshot, WorkspaceProblem: s.Workspace, Lost: s.Lost,
		Merged: s.Merged, BrokeOff: s.BrokeOff, Confirmed: s.Confirmed, Missing: s.Missing, Left: s.Left, Unstarted: s.Unstarted, Last: s.Last,
	}
}

// AttemptWords returns the attempt's own that go with what it said: its last message, or what
// it gave with a report by command. They are untrusted.
func (h *Snapshot) AttemptWords() string {
	if h == nil {
		return ""
	}
	if h.Final != "" || h.Report != nil {
		return strings.TrimSpace(h.Final)
	}
	_, words, _ := strings.Cut(h.Word, ":")
	return strings.TrimSpace(words)
}

// New describes the task that is wanted.
type New struct {
	ID            task.ID `json:"id,omitempty"`
	Project       string  `json:"project"`
	Branch        string  `json:"branch,omitempty"`
	Summary       string  `json:"summary"`
	Status        string  `json:"status,omitempty"` // "" for the workflow's first entry
	Harness       string  `json:"harness,omitempty"`
	ReviewHarness string  `json:"review_harness,omitempty"`
	Effort        string  `json:"effort,omitempty"`
	ReviewEffort  string  `json:"review_effort,omitempty"`

	Roles []task.RoleChoice `json:"roles,omitempty"` // agents for single roles, of several for one the preferred first

	TrackerRef string `json:"tracker_ref,omitempty"`
	Spawn      bool   `json:"spawn,omitempty"` // let it leave its queue as soon as it can

	Delivery task.Delivery `json:"delivery,omitempty"` // "" for local
	Base     string        `json:"base,omitempty"`     // commit its branch begins at
	ForkOf   string        `json:"fork_of,omitempty"`
	Parent   task.ID       `json:"parent,omitempty"`
	Vars     task.Vars     `json:"vars,omitempty"` // for its prompts

	Counters  []task.Counter `json:"counters,omitempty"`  // import
	CreatedAt time.Time      `json:"created_at,omitzero"` // import
	PRURL     string         `json:"pr_url,omitempty"`    // import
	PRState   string         `json:"pr_state,omitempty"`  // import
	Workspace string         `json:"workspace,omitempty"` // import
}

// A NewTask is a task that somebody wants, before it has a workflow and an id.
type NewTask struct {
	New
	Workflow string     `json:"workflow,omitempty"` // "" for the project's
	Context  string     `json:"context,omitempty"`  // for ## Context, quoted; of a person or a parent's attempt it is Requirements
	Actor    task.Actor `json:"actor,omitempty"`
	Attempt  int        `json:"attempt,omitempty"`
	Via      *Via       `json:"via,omitempty"` // where the wish came from; nil: not known

	Requirements string `json:"requirements,omitempty"` // for ## Requirements: words of a person, or of the parent's attempt
}

// ToRequirements makes what was handed over Requirements: words of somebody whose words are
// carried out.
func (w *NewTask) ToRequirements() {
	if text := strings.TrimSpace(w.Requirements + "\n\n" + w.Context); text != "" {
		w.Requirements = text
	}
	w.Context = ""
}

// A Field is a value of the record that is to change.
type Field struct {
	Name string `json:"name"`
	From string `json:"from"`
	To   string `json:"to"`
}

// A Receipt is how one try of an effect went.
type Receipt struct {
	Effect   string         `json:"effect"` // its id
	OK       bool           `json:"ok"`
	Error    string         `json:"error,omitempty"`
	Final    bool           `json:"final,omitempty"`    // trying again cannot help
	Do       string         `json:"do,omitempty"`       // with Error: what was tried; journals from before do not say it
	Conflict *task.Conflict `json:"conflict,omitempty"` // why a merge failed
	Session  string         `json:"session,omitempty"`
	Note     string         `json:"note,omitempty"`    // what was left out, and why, though it is done
	Base     string         `json:"base,omitempty"`    // acquire_workspace: commit at which the branch left the default branch
	Salvage  string         `json:"salvage,omitempty"` // release_workspace: ref at which uncommitted work is kept
	Commit   string         `json:"commit,omitempty"`  // merge_branch: the commit by which the work came into the default branch
}

// Artifacts are the sections of TASK.md as they were when the signal was made.
type Artifacts struct {
	Sections []taskfile.Section `json:"sections,omitempty"`
	Problem  string             `json:"problem,omitempty"` // why they could not be read
}

// Evidence is a fact about the world that a gate may ask for.
type Evidence struct {
	Name   string `json:"name"`
	Holds  bool   `json:"holds"`
	Detail string `json:"detail,omitempty"` // how it is known, or what is missing
	Base   string `json:"base,omitempty"`   // commits, merged: last commit before those of the task
	Head   string `json:"head,omitempty"`   // likewise: the last one of the task
	Empty  bool   `json:"empty,omitempty"`  // merged: the branch has no commits of its own, and nothing was merged
}
