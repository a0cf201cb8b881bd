package explain

import (
	"slices"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// Past is what is known of a task's history.
type Past struct {
	Entries  []journal.Entry
	Refusals []journal.Refusal
	Problem  string // why the entries could not be read

	Message func(attempt int) string // returns the last message of an attempt; may be nil
}

// A Cause is one entry of the journal as a link in the chain that led here: what happened, which rule
// applied, and how the effects that it requested ended.
type Cause struct {
	Seq     int             `json:"seq"`
	At      time.Time       `json:"at"`
	Type    journal.Type    `json:"type"`
	Signal  signal.Kind     `json:"signal"`
	Actor   task.Actor      `json:"actor,omitempty"`
	Attempt int             `json:"attempt,omitempty"`
	From    string          `json:"from,omitempty"`
	To      string          `json:"to,omitempty"`
	Line    int             `json:"line,omitempty"` // line of the edge in the workflow file
	Reason  string          `json:"reason,omitempty"`
	Note    string          `json:"note,omitempty"`
	Effects []EffectOutcome `json:"effects,omitempty"`
	Via     *signal.Via     `json:"via,omitempty"` // where the action came from
}

// An EffectOutcome is an effect and how it ended.
type EffectOutcome struct {
	Do    string      `json:"do"`
	Role  string      `json:"role,omitempty"`
	Ended EffectState `json:"ended"`
	Tries int         `json:"tries,omitempty"`
	Error string      `json:"error,omitempty"` // of the last failed try
}

// EffectState is the state of an effect.
type EffectState string

// The states of effects.
const (
	EffectPending EffectState = "pending"
	EffectDone    EffectState = "done"
	EffectFailed  EffectState = "failed"   // it will be tried again
	EffectGivenUp EffectState = "given up" // a person must act
	EffectDropped EffectState = "dropped"  // it was given up, and no longer matters
)

// RoleCost is what a role's agents have used so far.
type RoleCost struct {
	Role     string `json:"role"`
	Attempts int    `json:"attempts"` // all attempts ever requested
	Living   int    `json:"living,omitempty"`
	Seconds  int64  `json:"seconds"` // from their starts to their ends
}

// chainLength limits the length of the chain.
const chainLength = 12

// TaskWithPast is like Task, and adds the past: the chain of causes, the cost so far, and the
// refusals.
func TaskWithPast(def *workflow.Definition, t task.Task, sig signal.Signal, past Past) Explanation {
	def = def.ForTask(t.Checks)
	out := Task(def, t, sig)
	out.Chain = causeChain(past.Entries)
	out.Cost = sumRoleCosts(&t, past.Entries, &sig)
	out.Refusals = append(out.Refusals, past.Refusals...)
	out.Problem = past.Problem
	out.Reasons = WaitReasons(def, t, Records{Entries: past.Entries, Sections: sig.Artifacts.Sections, Message: past.Message})
	return out
}

// causeChain returns the last entries as a chain. Entries that only record the result of an effect are
// shown with the effect.
func causeChain(entries []journal.Entry) []Cause {
	out := []Cause{}
	outcomes := EffectOutcomes(entries)
	for i := range entries {
		e := &entries[i]
		if e.Receipt != nil {
			continue
		}
		c := Cause{
			Seq: e.Seq, At: e.At, Type: e.Type, Signal: signal.Kind(e.Cause), Actor: e.Actor, Attempt: e.Attempt,
			From: e.From, To: e.To, Line: e.Line, Reason: e.Reason, Note: e.Note, Via: e.Via,
		}
		for _, f := range e.Effects {
			c.Effects = append(c.Effects, *outcomes[f.ID])
		}
		out = append(out, c)
	}
	return out[max(0, len(out)-chainLength):]
}

// EffectOutcomes returns the outcome of every effect, by its id.
func EffectOutcomes(entries []journal.Entry) map[string]*EffectOutcome {
	outcomes := map[string]*EffectOutcome{}
	for i := range entries {
		e := &entries[i]
		for _, f := range e.Effects {
			outcomes[f.ID] = &EffectOutcome{Do: f.Do, Role: f.Role, Ended: EffectPending}
		}
		for _, id := range e.Dropped {
			if d := outcomes[id]; d != nil {
				d.Ended = EffectDropped
			}
		}
		if e.Receipt == nil || outcomes[e.Receipt.Effect] == nil {
			continue
		}
		d := outcomes[e.Receipt.Effect]
		d.Tries, d.Ended = e.Tries, endOf(e.Type)
		if !e.Receipt.OK {
			d.Error = e.Receipt.Error
		}
	}
	return outcomes
}

func endOf(t journal.Type) EffectState {
	switch t {
	case journal.EffectFailed:
		return EffectFailed
	case journal.EffectGaveUp:
		return EffectGivenUp
	}
	return EffectDone
}

// sumRoleCosts sums up the attempts of each role and how long their agents ran until now. Attempts
// without a process do not count as living.
func sumRoleCosts(t *task.Task, entries []journal.Entry, sig *signal.Signal) []RoleCost {
	out := make([]RoleCost, len(t.AttemptCounts))
	for i, ran := range t.AttemptCounts {
		out[i] = RoleCost{Role: ran.Role, Attempts: ran.Count}
		for _, a := range t.Attempts {
			if a.Role == ran.Role && a.Running && !slices.Contains(sig.Absent, a.Number) {
				out[i].Living++
			}
		}
		out[i].Seconds = int64(runtimeOf(ran.Role, entries, sig.At) / time.Second)
	}
	return out
}

// runtimeOf returns how long the agents of a role ran in total.
func runtimeOf(role string, entries []journal.Entry, now time.Time) time.Duration {
	var sum time.Duration
	began := map[int]time.Time{}
	for i := range entries {
		e := &entries[i]
		if e.Type == journal.AgentSpawned && e.Role == role {
			began[e.Attempt] = e.At
		}
		for _, gone := range e.Ended {
			if at, ok := began[gone.Number]; ok {
				sum += e.At.Sub(at)
				delete(began, gone.Number)
			}
		}
	}
	for _, at := range began {
		sum += max(0, now.Sub(at))
	}
	return sum
}
