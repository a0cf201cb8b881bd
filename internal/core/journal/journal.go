// Package journal defines what was decided: entries, the record they fold into, and the pending effects. Folding needs
// no workflow: an entry carries what it changed, so any later version can read a journal.
package journal

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/handoff"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// Type is what an entry records. The names are those of history.jsonl.
type Type string

// The types of entries.
const (
	TaskCreated   Type = "task.created"
	TaskUpdated   Type = "task.updated"
	TaskQueued    Type = "task.queued"
	TaskPaused    Type = "task.paused"
	TaskResumed   Type = "task.resumed"
	TaskTampered  Type = "task.tampered"
	TaskDeleted   Type = "task.deleted"
	StatusChanged Type = "status.changed"
	AutoAdvanced  Type = "auto.advanced" // like status.changed, taken by the engine
	AgentSpawned  Type = "agent.spawned"
	AgentExited   Type = "agent.exited"
	AgentCrashed  Type = "agent.crashed"
	AgentLost     Type = "agent.lost"        // ended from outside together with others: not a crash
	AgentNotBegun Type = "agent.not-started" // ended before its first turn: not a crash
	AgentRespawn  Type = "agent.respawned"
	AgentOverdue  Type = "agent.overdue"
	AgentNotice   Type = "agent.condition"
	AgentLimited  Type = "agent.limited"   // ended at its provider's limit: not a crash
	AgentNudged   Type = "agent.nudged"    // was told to continue
	AgentSilent   Type = "agent.no-answer" // ended without a report
	AgentAnswered Type = "agent.answered"  // a person answered it; the task stays
	AgentMessaged Type = "agent.messaged"  // a person sent it a message; the task stays
	AgentStopped  Type = "agent.stopped"   // a person ordered its end; the task stays
	AgentUndone   Type = "agent.undone"    // handed over work that is not committed
	AgentRestate  Type = "agent.restate"   // ended, left a verdict that may not be its own, and was asked to state it
	WorkFailed    Type = "work.failed"     // an agent reports that the work failed; the task stays
	CardSeen      Type = "card.seen"       // the task's card changed
	PRClosed      Type = "pr.closed"       // without a merge; the task stays
	EffectAsked   Type = "effect.asked"    // a person requested an action that does not move the task
	EffectDone    Type = "effect.done"
	EffectFailed  Type = "effect.failed"
	EffectGaveUp  Type = "effect.gave-up"
	AskedPerson   Type = "confirmation.asked"
	EntryLost     Type = "entry.lost"    // an entry that the store had before it was restored
	TaskRestored  Type = "task.restored" // the store was restored, and the task's folder was newer
	CheckAsked    Type = "check.asked"   // a person asked for a check
	CheckEnded    Type = "check.ended"   // a check ended; the task stays
	CheckHeld     Type = "check.held"    // a check could not run: the task is held for a person

	ChangesApproved Type = "changes.approved" // a person approved changes of paths that need a person; the task stays

	PredecessorMoved Type = "predecessor.moved" // a task that this one is after landed, was cancelled or was reopened
	LandingBuilt     Type = "landing.built"     // a candidate was built on the target; its checks follow
	LandingMoved     Type = "landing.moved"     // the target moved: the landing starts over
	LandingEnded     Type = "landing.ended"     // the work did not land, and the task stays
	LandingLeft      Type = "landing.left"      // a person took the task out of the landing queue
)

// knownTypes are the types of entries that this version can fold.
var knownTypes = [...]Type{
	TaskCreated, TaskUpdated, TaskQueued, TaskPaused, TaskResumed, TaskTampered, TaskDeleted, StatusChanged, AutoAdvanced,
	AgentSpawned, AgentExited, AgentCrashed, AgentLost, AgentNotBegun, AgentRespawn, AgentOverdue, AgentNotice, AgentLimited,
	AgentNudged, AgentSilent, AgentAnswered, AgentUndone, AgentRestate, WorkFailed, CardSeen, PRClosed, EffectAsked,
	EffectDone, EffectFailed, EffectGaveUp, AskedPerson, EntryLost, TaskRestored,
	CheckAsked, CheckEnded, CheckHeld, AgentMessaged, ChangesApproved, PredecessorMoved,
	LandingBuilt, LandingMoved, LandingEnded, LandingLeft, AgentStopped,
}

// CountTypes returns how many types of entries this version knows. A type is never removed, so a version that knows as
// many as another knows the same.
func CountTypes() int { return len(knownTypes) }

// check returns an error for a type that only a later version knows: its changes would be missing from the record.
func (t Type) check() error {
	switch {
	case slices.Contains(knownTypes[:], t):
		return nil
	case t == "":
		return errors.New("it has no type")
	}
	return fmt.Errorf("its type %.60q is not known to this version: %w", t, ErrUpgrade)
}

// An Entry is one decided change of a task. Its effects may start only after it is durable. Its groups are embedded:
// code reads e.To, and JSON nests it as move.to. docs/FORMAT.md lists the names that may never change.
type Entry struct {
	Task     task.ID          `json:"task"`
	Seq      int              `json:"seq"` // from 1, without gaps
	At       time.Time        `json:"at"`
	Type     Type             `json:"type"`
	Actor    task.Actor       `json:"actor,omitempty"`
	Attempt  int              `json:"attempt,omitempty"` // of the actor
	Cause    string           `json:"cause,omitempty"`   // kind of the signal
	Reason   string           `json:"reason,omitempty"`
	Note     string           `json:"note,omitempty"`
	Verb     string           `json:"verb,omitempty"`     // of the request, if it named one
	Rules    int              `json:"rules,omitempty"`    // that decided this entry and the later ones, see engine.Rules
	Snapshot *signal.Snapshot `json:"snapshot,omitempty"` // on the first entry of a decision
	Via      *signal.Via      `json:"via,omitempty"`      // on the first entry of a decision: where the action came from

	Creation       `json:"creation,omitzero"`
	Move           `json:"move,omitzero"`
	RecordChanges  `json:"record_changes,omitzero"`
	AttemptChanges `json:"attempt_changes,omitzero"`
	EffectChanges  `json:"effect_changes,omitzero"`
	Results        `json:"results,omitzero"`
}

// Creation is the initial content of a task. Only the first entry of a task has it.
type Creation struct {
	New          *signal.New `json:"new,omitempty"`
	Workflow     string      `json:"workflow,omitempty"`
	WorkflowHash string      `json:"workflow_hash,omitempty"`
}

// Move is the transition of an entry, and the start of the new visit.
type Move struct {
	From         string        `json:"from,omitempty"` // the state left, or the one in which an agent crashed
	To           string        `json:"to,omitempty"`
	Edge         int           `json:"edge,omitempty"` // index of the edge in the workflow file
	Line         int           `json:"line,omitempty"` // line of that edge
	Override     bool          `json:"override,omitempty"`
	ReturnTo     string        `json:"return_to,omitempty"`     // with To: the new value, "" clears
	EntryCommit  string        `json:"entry_commit,omitempty"`  // with To: the branch's commit
	Seen         []task.Digest `json:"seen,omitempty"`          // with To: sections as they are
	DoneAttempts []int         `json:"done_attempts,omitempty"` // with To: attempts whose part is done
	Question     string        `json:"question,omitempty"`      // with To: what a role is consulted about
	Advice       string        `json:"advice,omitempty"`        // with To: the answer
	Unpause      bool          `json:"unpause,omitempty"`       // the task is over: nothing delays its clean-up
}

// RecordChanges are the values of the record that an entry sets.
type RecordChanges struct {
	Fields          []signal.Field  `json:"fields,omitempty"`
	Counters        []task.Counter  `json:"counters,omitempty"` // new values of those that changed
	Opened          []task.Digest   `json:"opened,omitempty"`
	Samples         []task.Sample   `json:"samples,omitempty"`          // on the first entry of a decision: sections with verdicts that changed
	BindWorkspace   string          `json:"bind_workspace,omitempty"`   // workspace bound by this entry
	UnbindWorkspace bool            `json:"unbind_workspace,omitempty"` // the workspace is free again
	Attention       string          `json:"attention,omitempty"`        // why a person must act
	GaveUp          *task.GaveUp    `json:"gave_up,omitempty"`          // with Attention: the merge it is about
	Asked           *task.Asked     `json:"asked,omitempty"`
	PauseCause      task.PauseCause `json:"pause_cause,omitempty"` // with task.paused; conversion adds it to entries that lack it
	CheckRun        *task.CheckRun  `json:"check_run,omitempty"`   // the check that is wanted next
	Landing         *task.Landing   `json:"landing,omitempty"`     // the candidate, or how the landing ended

	Predecessors []task.Predecessor `json:"predecessors,omitempty"` // on the first entry of a decision: what became of the tasks that this one is after, if that changed
}

// AttemptChanges are the changes of attempts.
type AttemptChanges struct {
	Started       []task.Attempt      `json:"started,omitempty"`
	Ending        []int               `json:"ending,omitempty"`         // attempts ordered to end
	Overdue       []int               `json:"overdue,omitempty"`        // attempts whose deadline passed
	Ended         []Ended             `json:"ended,omitempty"`          // attempts that are over
	Nudged        []int               `json:"nudged,omitempty"`         // attempts that were told to continue
	AttemptCounts []task.AttemptTally `json:"attempt_counts,omitempty"` // new counts of the attempts of roles
	Role          string              `json:"role,omitempty"`           // that crashed or was started
	RespawnAt     time.Time           `json:"respawn_at,omitzero"`      // when the dead agent is replaced
	Limit         *task.Limit         `json:"limit,omitempty"`          // of the agent that ended at it
	ChosenHarness string              `json:"chosen_harness,omitempty"` // of the started agent, if it was chosen, and why not another
	StartedIn     string              `json:"started_in,omitempty"`     // workspace of the agent that was started
	Condition     *task.Condition     `json:"condition,omitempty"`      // of Attempt, or of the one that ended
	Usage         *task.Usage         `json:"usage,omitempty"`          // likewise, consumed so far
	Model         string              `json:"model,omitempty"`          // likewise, that it reports
	Unanswered    *task.Unanswered    `json:"unanswered,omitempty"`     // with Ended: it waited for a person
}

// EffectChanges are the effects that an entry requires, and the result of one.
type EffectChanges struct {
	Effects []task.Effect   `json:"effects,omitempty"`
	Receipt *signal.Receipt `json:"receipt,omitempty"`
	Tries   int             `json:"tries,omitempty"`   // of the effect, with Receipt
	RetryAt time.Time       `json:"retry_at,omitzero"` // when the effect is tried again
	Dropped []string        `json:"dropped,omitempty"` // given-up effects that no longer matter

	Undelivered []task.Undelivered `json:"undelivered,omitempty"` // what of the dropped messages the next agent of the role gets
}

// Results are an agent's report about its work, and the snapshot of the card.
type Results struct {
	LastReport   *task.LastReport  `json:"last_report,omitempty"`
	WorkFailed   string            `json:"work_failed,omitempty"`
	Handoff      *handoff.Handoff  `json:"handoff,omitempty"`
	Handover     *task.Handover    `json:"handover,omitempty"` // what the hand-over leaves out; empty: nothing any more
	CardSnapshot *board.Snapshot   `json:"card_snapshot,omitempty"`
	Check        *task.CheckResult `json:"check,omitempty"`    // the result of a check
	Rejected     []string          `json:"rejected,omitempty"` // actions of a worker that are not done, and why
	Approved     []task.PathChange `json:"approved,omitempty"` // changes that a person approves
}

// Signal returns the signal of the entry's decision, of which the entry must be the first. Of TASK.md it has what
// decisions use, not the text.
func (e *Entry) Signal(visit int) signal.Signal {
	s := signal.Signal{
		Kind: signal.Kind(e.Cause), At: e.At, Actor: e.Actor, Attempt: e.Attempt, Note: e.Note, Verb: e.Verb,
		New: e.New, Fields: e.Fields, Result: e.Receipt, Visit: visit, Condition: e.Condition, Usage: e.Usage, Model: e.Model, Rules: e.Rules, Samples: e.Samples,
		Via: e.Via, PauseCause: e.PauseCause, Predecessors: e.Predecessors,
	}
	if e.Type == AgentSpawned {
		s.Attempt = 0 // the entry names the attempt that was started
	}
	if h := e.Snapshot; h != nil {
		s.To, s.Role, s.Code, s.Mass, s.Word, s.Timer = h.To, h.Role, h.Code, h.Mass, h.Word, h.Timer
		s.Artifacts = signal.Artifacts{Sections: h.Sections, Problem: h.Problem}
		s.Evidence, s.Free = h.Evidence, h.Free
		s.Arg, s.Active, s.Commit, s.Workspace = h.Arg, h.Active, h.Commit, h.WorkspaceProblem
		s.Busy, s.Children, s.Report, s.Final, s.CardSnapshot = h.Busy, h.Children, h.Report, h.Final, h.CardSnapshot
		s.Lost, s.Merged, s.BrokeOff, s.Confirmed, s.Missing, s.Left = h.Lost, h.Merged, h.BrokeOff, h.Confirmed, h.Missing, h.Left
		s.Unstarted, s.Last, s.Check = h.Unstarted, h.Last, h.Check
	}
	return s
}

// BeginsDecision reports whether the entry is the first of its decision. If a decision may weigh evidence, its first
// entry, and no other, has a snapshot; every other signal leads to one entry.
func (e *Entry) BeginsDecision() bool {
	sig := signal.Signal{Kind: signal.Kind(e.Cause)}
	return e.Snapshot != nil || !sig.WeighsEvidence()
}

// SplitDecisions splits a journal into its decisions: the entries that one signal led to.
func SplitDecisions(entries []Entry) [][]Entry {
	var out [][]Entry
	first := 0
	for i := range entries {
		if i > first && entries[i].BeginsDecision() {
			out = append(out, entries[first:i])
			first = i
		}
	}
	if first < len(entries) {
		out = append(out, entries[first:])
	}
	return out
}

// Ended is the end of an attempt.
type Ended struct {
	Number int    `json:"number"`
	Role   string `json:"role"`
	Code   int    `json:"code"`
}

// A Commit is what one decision changes: the entries that it appends and the resulting record. A store keeps all of it
// or nothing.
type Commit struct {
	Task    task.Task
	Entries []Entry
	Due     time.Time // when the engine needs the next timer signal; zero for never
	Over    bool      // the record is in a terminal state of its workflow
	Segment string    // what begins with the first entry, for instance an import; usually empty
}

// ActorName is the one that asked, or the agent that it happened to, with the number of its attempt.
func (e *Entry) ActorName() string {
	name, number := string(e.Actor), e.Attempt
	if name == string(task.Engine) || name == "" {
		switch {
		case len(e.Ended) > 0 && e.To == "":
			name, number = e.Ended[0].Role, e.Ended[0].Number
		case e.Role != "" && e.To == "":
			name = e.Role
		}
	}
	if number > 0 && name != "" && name != string(task.Human) && name != string(task.Engine) && name != string(task.Tracker) {
		return fmt.Sprintf("%s %d", name, number)
	}
	return name
}
