// Package signal describes what happened to a task: a request, an exit, a timer, an effect's
// result. A Signal is a plain value that can be encoded as JSON. It contains its own time and
// the evidence as it was read, so that a decision about it needs nothing else.
package signal

import (
	"fmt"
	"strings"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
)

// Kind is what happened.
type Kind string

// The kinds of signals.
const (
	Create  Kind = "create"  // a task is requested
	Request Kind = "request" // an actor requests a state, or a verb
	Ready   Kind = "ready"   // it is a queued task's turn
	Exit    Kind = "exit"    // an attempt's process is gone
	Notice  Kind = "notice"  // the condition of a living attempt, and its usage
	Outcome Kind = "outcome" // an attempt reported
	Timer   Kind = "timer"   // a time that the engine waited for has come
	Tracker Kind = "tracker" // a tracker or forge reports an event
	Effect  Kind = "effect"  // the result of an effect
	Update  Kind = "update"  // fields of the record should change
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
	Attempt int        `json:"attempt,omitempty"` // of the actor that requests, or that ended

	To   string `json:"to,omitempty"`   // request: the requested state
	Verb string `json:"verb,omitempty"` // request: the requested verb, if no state
	Arg  string `json:"arg,omitempty"`  // request: the argument of the verb, such as a merge strategy
	Note string `json:"note,omitempty"` // the reason, in the actor's words

	Role string `json:"role,omitempty"` // exit: whose; request to send a message: to whom, "" for the state's role
	Code int    `json:"code,omitempty"` // exit: of the process
	Mass string `json:"mass,omitempty"` // exit: what ended it together with others; "" if it ended alone

	Unstarted bool   `json:"unstarted,omitempty"` // exit: it ended by itself within seconds of its start, before its first turn
	Last      string `json:"last,omitempty"`      // exit: the last lines of its output; untrusted

	Check     *task.CheckResult `json:"check,omitempty"`     // exit of a check: its result, nil if it broke off
	Condition *task.Condition   `json:"condition,omitempty"` // notice; exit: the last one, if it explains the end
	Usage     *task.Usage       `json:"usage,omitempty"`     // notice, exit: the total so far
	Model     string            `json:"model,omitempty"`     // notice, exit: the model that the harness reports
	Active    time.Time         `json:"active,omitzero"`     // timer: when the attempt was last active
	Commit    string            `json:"commit,omitempty"`    // the commit of the branch at that time
	Workspace string            `json:"workspace,omitempty"` // request, outcome, exit of an attempt: why its workspace is not the task's worktree

	Report       *Report         `json:"report,omitempty"`        // outcome, exit: the attempt's report
	Final        string          `json:"final,omitempty"`         // notice, outcome, exit: its last message, truncated; untrusted
	Left         task.Left       `json:"left,omitempty"`          // exit: the kind of that message, if the message itself is not kept
	CardSnapshot *board.Snapshot `json:"card_snapshot,omitempty"` // tracker: the present state of the card

	Word  string `json:"word,omitempty"`  // outcome: the protocol's code; tracker: the event
	Timer string `json:"timer,omitempty"` // timer: its name
	Visit int    `json:"visit,omitempty"` // timer: the visit it was set in

	New    *New     `json:"new,omitempty"`    // create, import
	Fields []Field  `json:"fields,omitempty"` // update, tamper
	Result *Receipt `json:"result,omitempty"` // effect

	Samples  []task.Sample `json:"samples,omitempty"`   // sections with verdicts that changed since they were last read
	BrokeOff bool          `json:"broke_off,omitempty"` // exit: with a code other than 0, where a verdict is required

	Artifacts  Artifacts       `json:"artifacts,omitzero"`
	Evidence   []Evidence      `json:"evidence,omitempty"`
	Free       []string        `json:"free,omitempty"` // workspaces of the project that no task holds
	Busy       []string        `json:"busy,omitempty"` // serial groups of the project in which another task works
	Children   []Child         `json:"children,omitempty"`
	Missing    []string        `json:"missing,omitempty"`   // harnesses that a role may use and that are not installed
	Absent     []int           `json:"-"`                   // attempts that have no process now; used only by explanations
	Lost       *Lost           `json:"lost,omitempty"`      // restore, import: what the store does not contain
	Queue      task.QueuePlace `json:"-"`                   // the place in the landing queue; used only by explanations
	Performing *Performing     `json:"-"`                   // request: the merge that is being performed, nil for none; it can only lead to a refusal, so it is never stored
	PauseCause task.PauseCause `json:"-"`                   // pause: what caused it, "" for a request; only the server sets it
	Rules      int             `json:"rules,omitempty"`     // the rules to decide by; see engine.Rules
	Told       bool            `json:"told,omitempty"`      // hypothetical: every agent already knows of the move
	Unchecked  bool            `json:"unchecked,omitempty"` // hypothetical: nobody defined checks

	Predecessors []task.Predecessor `json:"predecessors,omitempty"` // the tasks that this one is after; nil: as the record has them

	Merged  string `json:"merged,omitempty"`  // tracker, pr:merged: the commit by which the forge merged it; "" if unknown
	Via     *Via   `json:"via,omitempty"`     // where an action of a person, or of a tracker, came from; nil if unknown
	Confirm string `json:"confirm,omitempty"` // the code that confirms a person's merge; never stored

	Confirmed string `json:"confirmed,omitempty"` // the commit for which a person gave the correct code
}

// Performing is a merge that is being performed: its effect has begun, and its receipt is not decided yet.
type Performing struct {
	Effect string // its id
	Target string // the branch that the work comes into
}

// Lost is what the folders of a task show beyond a restored store.
type Lost struct {
	Events        []string            `json:"events,omitempty"`         // the lines of history.jsonl for the missing entries, in order
	Status        string              `json:"status,omitempty"`         // the last one in history.jsonl
	AttemptCounts []task.AttemptTally `json:"attempt_counts,omitempty"` // attempts so far, of the roles that have more than the record contains
	Workspace     string              `json:"workspace,omitempty"`      // the workspace that is bound to the task; "" if none is
}

// A Child is a task that is a part of another.
type Child struct {
	ID     task.ID `json:"id"`
	Status string  `json:"status"`
}

// What can end several attempts together. That is not a crash.
const (
	MassReboot = "reboot"     // the machine was restarted
	MassTmux   = "tmux"       // the tmux server ended
	MassShims  = "attendants" // something ended the shims of several attempts
)

// Values of Word in tracker signals.
const (
	CardChanged = "card"      // a card changed
	Reachable   = "back"      // the tracker is reachable again
	PRMerged    = "pr:merged" // Arg is its last commit; "" if it was merged here
	PRClosed    = "pr:closed" // without a merge; Arg is its last commit

	PredecessorMoved = "predecessor" // a task that this one is after landed, was cancelled or was reopened
)

// Snapshot is the part of a signal that a journal stores with the entry it led to: what was
// requested, and the evidence at that time, without the text of TASK.md.
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

	Check *task.CheckResult `json:"check,omitempty"`
}

// WeighsEvidence reports whether a decision about the signal may depend on evidence.
func (s *Signal) WeighsEvidence() bool {
	switch s.Kind {
	case Create, Request, Ready, Exit, Outcome, Timer, Tracker, Import, Restore:
		return true
	case Effect: // the end of a landing may move the task
		return s.Result != nil && s.Result.Landing != ""
	}
	return false
}

// Snapshot returns the part of s that a journal stores.
func (s *Signal) Snapshot() *Snapshot {
	return &Snapshot{
		To: s.To, Role: s.Role, Code: s.Code, Mass: s.Mass, Word: s.Word, Timer: s.Timer, Arg: s.Arg,
		Active: s.Active, Commit: s.Commit, Sections: taskfile.WithoutText(s.Artifacts.Sections), Problem: s.Artifacts.Problem, Evidence: s.Evidence, Free: s.Free,
		Busy: s.Busy, Children: s.Children, Report: s.Report, Final: s.Final, CardSnapshot: s.CardSnapshot, WorkspaceProblem: s.Workspace, Lost: s.Lost,
		Merged: s.Merged, BrokeOff: s.BrokeOff, Confirmed: s.Confirmed, Missing: s.Missing, Left: s.Left, Unstarted: s.Unstarted, Last: s.Last,
		Check: s.Check,
	}
}

// AttemptWords returns the attempt's own text with its report: its last message, or the text of
// a report by command. It is untrusted.
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

// New describes a requested task.
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

	Model       string `json:"model,omitempty"`        // of Harness
	ReviewModel string `json:"review_model,omitempty"` // of ReviewHarness

	AgentFlags  string `json:"agent_flags,omitempty"` // for agents of Harness
	Permissions string `json:"permissions,omitempty"`

	Roles []task.RoleChoice `json:"roles,omitempty"` // agents for single roles; of several for one role, the preferred one first

	TrackerRef string `json:"tracker_ref,omitempty"`
	Spawn      bool   `json:"spawn,omitempty"` // let it leave its queue as soon as possible

	Delivery   task.Delivery `json:"delivery,omitempty"`    // "" for local
	Base       string        `json:"base,omitempty"`        // the commit at which its branch begins
	BaseBranch string        `json:"base_branch,omitempty"` // the branch that the work starts from and lands on, "" for the project's
	ForkOf     string        `json:"fork_of,omitempty"`
	Parent     task.ID       `json:"parent,omitempty"`
	Vars       task.Vars     `json:"vars,omitempty"`   // for its prompts
	Checks     task.Checks   `json:"checks,omitempty"` // set by the runtime: those of the workflow and the project

	Unchanged task.PathPatterns `json:"unchanged,omitempty"` // set by the runtime: those of the project
	After     []task.ID         `json:"after,omitempty"`     // tasks that must land first; a request may name them in any way
	Stack     bool              `json:"stack,omitempty"`     // begin at the branch of the one task that it is after
	StackOn   task.ID           `json:"stack_on,omitempty"`  // set by the runtime: that task

	Counters  []task.Counter `json:"counters,omitempty"`  // import
	CreatedAt time.Time      `json:"created_at,omitzero"` // import
	PRURL     string         `json:"pr_url,omitempty"`    // import
	PRState   string         `json:"pr_state,omitempty"`  // import
	Workspace string         `json:"workspace,omitempty"` // import
}

// A NewTask is a requested task, before it has a workflow and an id.
type NewTask struct {
	New
	Workflow string     `json:"workflow,omitempty"` // "" for the project's
	Context  string     `json:"context,omitempty"`  // for ## Context, quoted; from a person or a parent's attempt it becomes Requirements
	Actor    task.Actor `json:"actor,omitempty"`
	Attempt  int        `json:"attempt,omitempty"`
	Via      *Via       `json:"via,omitempty"` // where the request came from; nil if unknown

	Issue        string `json:"issue,omitempty"`        // address of an issue to work on: its text becomes context, and the task is linked with it
	Requirements string `json:"requirements,omitempty"` // for ## Requirements: text of a person, or of the parent's attempt
}

// ToRequirements moves the context to Requirements: it is text of an actor whose instructions
// are followed.
func (w *NewTask) ToRequirements() {
	if text := strings.TrimSpace(w.Requirements + "\n\n" + w.Context); text != "" {
		w.Requirements = text
	}
	w.Context = ""
}

// A Field is a value of the record to change.
type Field struct {
	Name string `json:"name"`
	From string `json:"from"`
	To   string `json:"to"`
}

// A Receipt is the result of one try of an effect.
type Receipt struct {
	Effect   string         `json:"effect"` // its id
	OK       bool           `json:"ok"`
	Error    string         `json:"error,omitempty"`
	Final    bool           `json:"final,omitempty"`    // a retry cannot help
	Do       string         `json:"do,omitempty"`       // with Error: the effect that was tried; older journals do not contain it
	Conflict *task.Conflict `json:"conflict,omitempty"` // why a merge failed
	Session  string         `json:"session,omitempty"`
	Note     string         `json:"note,omitempty"`    // what was skipped, and why, although the effect is done
	Base     string         `json:"base,omitempty"`    // acquire_workspace: commit at which the branch left the default branch
	Salvage  string         `json:"salvage,omitempty"` // release_workspace: ref that holds uncommitted work
	Aside    []string       `json:"aside,omitempty"`   // release_workspace: folders with work that git could not save
	Commit   string         `json:"commit,omitempty"`  // merge_branch: the commit by which the work came into the default branch
	Target   string         `json:"target,omitempty"`  // merge_branch, with Commit: the branch that the work came into; older journals do not contain it

	Moved     bool            `json:"moved,omitempty"`     // merge_branch, with Commit: the task moved because of it before this receipt, which dropped the effect
	Landing   string          `json:"landing,omitempty"`   // merge_branch: a step or the outcome of a landing; older journals do not contain it
	Candidate *task.Candidate `json:"candidate,omitempty"` // merge_branch: what was built
	Reuse     bool            `json:"reuse,omitempty"`     // merge_branch: results of checks in the workspace count for the candidate if it has the same tree
	Files     []string        `json:"files,omitempty"`     // merge_branch: a person's files that are in the way; safe to show
	Since     time.Time       `json:"since,omitzero"`      // merge_branch: since when somebody else keeps the target from moving

	Harness    string `json:"harness,omitempty"`     // start of an agent: the harness that runs it
	Model      string `json:"model,omitempty"`       // start of an agent: the model that was requested
	PromptHash string `json:"prompt_hash,omitempty"` // start of an agent: digest of the text of its prompt before values are filled in
}

// KeptWork says where work is that was not committed when the workspace was released, "" if there was none.
func (r *Receipt) KeptWork() string {
	var said []string
	if r.Salvage != "" {
		said = append(said, fmt.Sprintf("work that was not committed is kept at %s: bring it back with git switch -c NAME %s", r.Salvage, r.Salvage))
	}
	if len(r.Aside) > 0 {
		said = append(said, fmt.Sprintf("work that git could not save is kept at %s: take what you need, then delete it; for folders below .aside, orange workspace gc says how", strings.Join(r.Aside, ", ")))
	}
	return strings.Join(said, "; ")
}

// Values of Receipt.Landing besides the outcomes of a landing.
const (
	LandingBuilt = "built" // a candidate exists: the effect continues when its checks have passed
	LandingMoved = "moved" // the target moved: a new candidate is needed
	LandingBusy  = "busy"  // a person rebases or merges in the checkout of the target
	LandingWaits = "waits" // a forge runs its checks, or brings the branch up to date
)

// Artifacts are the sections of TASK.md at the time of the signal.
type Artifacts struct {
	Sections []taskfile.Section `json:"sections,omitempty"`
	Problem  string             `json:"problem,omitempty"` // why they could not be read
}

// Evidence is a fact that a gate may require.
type Evidence struct {
	Name   string `json:"name"`
	Holds  bool   `json:"holds"`
	Detail string `json:"detail,omitempty"` // how it is known, or what is missing
	Base   string `json:"base,omitempty"`   // commits, merged: last commit before those of the task
	Head   string `json:"head,omitempty"`   // commits, merged: last commit of the task
	Empty  bool   `json:"empty,omitempty"`  // merged: the branch has no commits of its own, and nothing was merged

	LeftBehind []string `json:"left_behind,omitempty"` // merged: commits that were handed over, and that the branch does not have any more

	Changes []task.PathChange `json:"changes,omitempty"` // unchanged: what the branch changes of the paths that need a person
}
