package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// ReplayTo folds a journal up to and including entry seq, and returns the record at that point.
func ReplayTo(entries []journal.Entry, seq int) (task.Task, error) {
	if seq < 1 || seq > len(entries) {
		return task.Task{}, fmt.Errorf("there is no entry %d: the journal has 1 to %d", seq, len(entries))
	}
	return journal.Fold(task.Task{}, entries[:seq])
}

// Replayed lists every decision of a journal, made once more.
type Replayed struct {
	Workflow  string          `json:"workflow"`
	Hash      string          `json:"hash"`
	Entries   int             `json:"entries"`
	Decisions []RedecidedStep `json:"decisions"`
	Pinned    bool            `json:"pinned"` // the workflow is the one that decided the task
}

// RedecidedStep is one decision of a journal, made again on the record before it.
type RedecidedStep struct {
	Seq    int         `json:"seq"` // of its first entry
	At     time.Time   `json:"at"`
	Signal signal.Kind `json:"signal"`
	Actor  task.Actor  `json:"actor,omitempty"`
	From   string      `json:"from"`  // status before it
	To     string      `json:"to"`    // status after it, as recorded
	Rules  int         `json:"rules"` // the rules that decided it
	Same   bool        `json:"same"`

	// Set only where it is not the same:
	Want    []journal.Entry `json:"want,omitempty"` // as recorded
	Got     []journal.Entry `json:"got,omitempty"`
	Verdict Verdict         `json:"verdict,omitempty"`
	Refused string          `json:"refused,omitempty"`
	Reasons []Reason        `json:"reasons,omitempty"`
}

// FirstDivergence returns the first decision that is not the same, and the number of such decisions.
func (r *Replayed) FirstDivergence() (first *RedecidedStep, count int) {
	for i := range r.Decisions {
		if r.Decisions[i].Same {
			continue
		}
		if count++; first == nil {
			first = &r.Decisions[i]
		}
	}
	return first, count
}

// FirstFault returns the first decision of the present rules that is not the same, and counts faults and differing
// decisions by other rules. A decision by other rules may come out differently.
func (r *Replayed) FirstFault() (first *RedecidedStep, faults, byOtherRules int) {
	for i := range r.Decisions {
		switch d := &r.Decisions[i]; {
		case d.Same:
		case d.Rules != Rules:
			byOtherRules++
		default:
			if faults++; first == nil {
				first = d
			}
		}
	}
	return first, faults, byOtherRules
}

// Redecide decides every signal of a journal again, each on the record at that point, and compares the entries byte for
// byte. Under another workflow than the task's own, it ignores what only identifies the file: its name, its hash, and
// the line of an edge.
func Redecide(def *workflow.Definition, entries []journal.Entry) (Replayed, error) {
	out := Replayed{Workflow: def.Name, Hash: def.Hash, Entries: len(entries), Decisions: []RedecidedStep{}}
	out.Pinned = len(entries) > 0 && entries[0].WorkflowHash == def.Hash
	var t task.Task
	for _, recorded := range journal.SplitDecisions(entries) {
		one, err := redecideOne(def, t, recorded, out.Pinned)
		if err != nil {
			return out, err
		}
		next := t.Clone() // folding must not change what was decided
		for i := range recorded {
			if err := journal.Apply(&next, &recorded[i]); err != nil {
				return out, err
			}
		}
		t = next
		one.To, one.Rules = t.Status, t.Rules
		out.Decisions = append(out.Decisions, one)
	}
	return out, nil
}

func redecideOne(def *workflow.Definition, t task.Task, recorded []journal.Entry, pinned bool) (RedecidedStep, error) {
	first := &recorded[0]
	d := Decide(def, &t, first.Signal(t.Visit))
	out := RedecidedStep{Seq: first.Seq, At: first.At, Signal: signal.Kind(first.Cause), Actor: first.Actor, From: t.Status}
	want, err := comparableBytes(recorded, pinned)
	if err != nil {
		return out, err
	}
	got, err := comparableBytes(d.Entries, pinned)
	if err != nil {
		return out, err
	}
	if out.Same = bytes.Equal(want, got); !out.Same {
		out.Want, out.Got = recorded, d.Entries
		out.Verdict, out.Refused, out.Reasons = d.Verdict, d.Refused, d.Reasons
	}
	return out, nil
}

// comparableBytes returns the part of a list of entries that must be the same.
func comparableBytes(entries []journal.Entry, pinned bool) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, e := range entries {
		if !pinned {
			e.Workflow, e.WorkflowHash, e.Edge, e.Line = "", "", 0, 0
		}
		if err := enc.Encode(&e); err != nil {
			return nil, fmt.Errorf("write entry %d: %w", e.Seq, err)
		}
	}
	return b.Bytes(), nil
}
