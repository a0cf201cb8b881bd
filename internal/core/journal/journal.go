// Package journal is what was decided: entries, the record they fold into, and the
// effects that are still owed. Folding needs no workflow: an entry carries what it
// changed, so a journal can be read by any later version.
package journal

import (
	"time"

	"orange/internal/core/board"
	"orange/internal/core/handoff"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// Type names what an entry records. The names are those of history.jsonl.
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
	AgentLost     Type = "agent.lost"        // ended from outside together with others: no crash
	AgentNotBegun Type = "agent.not-started" // ended before its first turn: no crash
	AgentRespawn  Type = "agent.respawned"
	AgentOverdue  Type = "agent.overdue"
	AgentNotice   Type = "agent.condition"
	AgentLimited  Type = "agent.limited"   // ended at its provider's limit: no crash
	AgentNudged   Type = "agent.nudged"    // was told to go on
	AgentSilent   Type = "agent.no-answer" // ended without saying how it went
	AgentAnswered Type = "agent.answered"  // a person answered it; the task stays
	AgentUndone   Type = "agent.undone"    // handed over work that is not committed
	AgentRestate  Type = "agent.restate"   // ended beside a verdict that may not be its own, and was asked to state it
	WorkFailed    Type = "work.failed"     // an agent says that the work is not good; the task stays
	CardSeen      Type = "card.seen"       // the task's card looks different
	PRClosed      Type = "pr.closed"       // without a merge; the task stays
	EffectAsked   Type = "effect.asked"    // a person wants something done that moves no task
	EffectDone    Type = "effect.done"
	EffectFailed  Type = "effect.failed"
	EffectGaveUp  Type = "effect.gave-up"
	AskedPerson   Type = "confirmation.asked"
	EntryLost     Type = "entry.lost"    // an entry that the store had before it was put back
	TaskRestored  Type = "task.restored" // the store was put back; the task's folder knew more
)

// An Entry is one decided change of a task. Its effects may start once it is
// durable, and not before.
type Entry struct {
	Task    task.ID    `json:"task"`
	Seq     int        `json:"seq"` // from 1, without gaps
	At      time.Time  `json:"at"`
	Type    Type       `json:"type"`
	Actor   task.Actor `json:"actor,omitempty"`
	Attempt int        `json:"attempt,omitempty"` // of the actor
	Cause   string     `json:"cause,omitempty"`   // kind of the signal
	Reason  string     `json:"reason,omitempty"`
	Note    string     `json:"note,omitempty"`
	Verb    string     `json:"verb,omitempty"` // the request's, if it named one
	Edge    int        `json:"edge,omitempty"` // that was taken, by its place in the workflow file
	Line    int        `json:"line,omitempty"` // of that edge

	From        string       `json:"from,omitempty"` // the state left, or the one an agent crashed in
	To          string       `json:"to,omitempty"`
	Override    bool         `json:"override,omitempty"`
	Attention   string       `json:"attention,omitempty"` // why a person must look
	GaveUp      *task.GaveUp `json:"gave_up,omitempty"`   // with Attention: the effect it is about
	ReturnTo    string       `json:"return_to,omitempty"` // with To: the new value, "" clears
	EntryCommit string       `json:"tip,omitempty"`       // with To: commit the branch is at

	Rules    int              `json:"rules,omitempty"` // by which it was decided, and what follows, see engine.Rules
	Snapshot *signal.Snapshot `json:"heard,omitempty"` // on the first entry of a decision
	New      *signal.New      `json:"new,omitempty"`
	Workflow string           `json:"workflow,omitempty"`
	Hash     string           `json:"hash,omitempty"`
	Fields   []signal.Field   `json:"fields,omitempty"`
	Counters []task.Counter   `json:"counters,omitempty"` // new values of those that changed
	Opened   []task.Digest    `json:"opened,omitempty"`
	Seen     []task.Digest    `json:"seen,omitempty"`
	Samples  []task.Sample    `json:"samples,omitempty"` // on the first entry of a decision: sections with verdicts that changed
	Bind     string           `json:"bind,omitempty"`    // workspace bound by this entry
	Unbind   bool             `json:"unbind,omitempty"`  // the workspace is free again
	Unpause  bool             `json:"unpause,omitempty"` // the task is over: nothing holds its clean-up
	Asked    *task.Asked      `json:"asked,omitempty"`
	Started  []task.Attempt   `json:"started,omitempty"`
	Ending   []int            `json:"ending,omitempty"`  // attempts ordered to end
	Overdue  []int            `json:"overdue,omitempty"` // attempts whose deadline passed
	Ended    []Ended          `json:"ended,omitempty"`   // attempts that are over
	Parted   []int            `json:"parted,omitempty"`  // with To: attempts whose part is done
	Role     string           `json:"role,omitempty"`    // that crashed or was started
	Respawn  time.Time        `json:"respawn,omitzero"`  // when the dead agent is replaced
	Limit    *task.Limit      `json:"limit,omitempty"`   // of the agent that ended at it
	Chosen   string           `json:"chosen,omitempty"`  // harness of the agent that was started, where it was chosen, and why not another
	Place    string           `json:"place,omitempty"`   // workspace of the agent that was started
	Effects  []task.Effect    `json:"effects,omitempty"`
	Receipt  *signal.Receipt  `json:"receipt,omitempty"`
	Notice   *task.Condition  `json:"condition,omitempty"` // of Attempt, or of the one that ended
	Usage    *task.Usage      `json:"usage,omitempty"`     // likewise, consumed so far
	Nudged   []int            `json:"nudged,omitempty"`    // attempts that were told to go on
	Tries    int              `json:"tries,omitempty"`     // of the effect, with Receipt
	Again    time.Time        `json:"again,omitzero"`      // when the effect is tried again
	Dropped  []string         `json:"dropped,omitempty"`   // given-up effects that no longer matter

	LastReport    *task.LastReport    `json:"said,omitempty"`
	WorkFailed    string              `json:"held,omitempty"`
	Handoff       *handoff.Handoff    `json:"handoff,omitempty"`
	Handover      *task.Handover      `json:"handover,omitempty"` // what the hand-over leaves out; empty: nothing any more
	Question      string              `json:"question,omitempty"` // with To: what a role is consulted about
	Advice        string              `json:"advice,omitempty"`   // with To: what it answered
	CardSnapshot  *board.Snapshot     `json:"face,omitempty"`
	Rejected      []string            `json:"rejected,omitempty"` // wishes of a worker that are not done, and why
	AttemptCounts []task.AttemptTally `json:"ran,omitempty"`      // new counts of the attempts of roles

	Unanswered *task.Unanswered `json:"unanswered,omitempty"` // with Ended: it waited for a person

	Via *signal.Via `json:"via,omitempty"` // on the first entry of a decision: where the action came from
}

// Signal is the signal that the entry, the first of its decision, answered. Of TASK.md
// it has what decisions look at, not the words.
func (e *Entry) Signal(visit int) signal.Signal {
	s := signal.Signal{
		Kind: signal.Kind(e.Cause), At: e.At, Actor: e.Actor, Attempt: e.Attempt, Note: e.Note, Verb: e.Verb,
		New: e.New, Fields: e.Fields, Result: e.Receipt, Visit: visit, Condition: e.Notice, Usage: e.Usage, Rules: e.Rules, Samples: e.Samples,
		Via: e.Via,
	}
	if e.Type == AgentSpawned {
		s.Attempt = 0 // the entry names the attempt that was started
	}
	if h := e.Snapshot; h != nil {
		s.To, s.Role, s.Code, s.Mass, s.Word, s.Timer = h.To, h.Role, h.Code, h.Mass, h.Word, h.Timer
		s.Artifacts = signal.Artifacts{Sections: h.Sections, Problem: h.Problem}
		s.Evidence, s.Free = h.Evidence, h.Free
		s.Arg, s.Active, s.Commit, s.Workspace = h.Arg, h.Active, h.Commit, h.Broken
		s.Busy, s.Children, s.Report, s.Final, s.CardSnapshot = h.Busy, h.Children, h.Report, h.Final, h.CardSnapshot
		s.Lost, s.Merged, s.BrokeOff, s.Confirmed, s.Missing, s.Left = h.Lost, h.Merged, h.BrokeOff, h.Confirmed, h.Missing, h.Left
		s.Unstarted, s.Last = h.Unstarted, h.Last
	}
	return s
}

// BeginsDecision says whether the entry is the first of its decision. A signal whose decision
// may weigh evidence leaves what was heard on its first entry, and there only; every
// other signal leads to one entry.
func (e *Entry) BeginsDecision() bool {
	sig := signal.Signal{Kind: signal.Kind(e.Cause)}
	return e.Snapshot != nil || !sig.WeighsEvidence()
}

// SplitDecisions parts a journal into its decisions: the entries that one signal led to.
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

// A Commit is what one decision changes: the entries it appends and the record they
// leave. A store keeps all of it or nothing.
type Commit struct {
	Task    task.Task
	Entries []Entry
	Due     time.Time // when the engine wants to hear of the task again; zero: never
	Over    bool      // the record is in a terminal state of its workflow
	Segment string    // what begins with the first entry, for instance an import; usually nothing
}
