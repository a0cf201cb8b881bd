package narrate

import (
	"fmt"
	"strings"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// A NarratedEntry is an entry in words, with the results of its effects. Who and Why may
// contain words of agents and trackers.
type NarratedEntry struct {
	At       time.Time
	Seq      int
	Type     journal.Type
	Who      string // the actor, with the number of its attempt; "" for none
	Via      string // where the action came from; "" if it is not known
	From, To string // the move; From is "" at the beginning, To is "" if there is none
	What     string // what happened, if it was not a move
	Why      []string
	Tone     Tone
	Done     int      // number of effects that succeeded before the next entry that has a line
	Failed   []string // effects that failed before it, with their errors
}

// Tone classifies a NarratedEntry, for its style.
type Tone string

// The tones.
const (
	Plain Tone = ""
	Moved Tone = "moved"
	Quiet Tone = "quiet" // a detail
	Warn  Tone = "warn"
	Bad   Tone = "bad"
)

// DescribeEntries describes entries, oldest first. It adds receipts to the entry before them, and
// leaves out entries that only say that an agent's turn ended or that it used more.
func DescribeEntries(entries []journal.Entry) []NarratedEntry {
	var out []NarratedEntry
	for i := range entries {
		e := &entries[i]
		if n := len(out) - 1; n >= 0 && isFolded(e) {
			out[n].addFolded(e)
			continue
		}
		out = append(out, DescribeEntry(e))
	}
	return out
}

// isFolded reports whether an entry gets no line of its own.
func isFolded(e *journal.Entry) bool {
	switch e.Type {
	case journal.EffectDone:
		return len(keptPlaces(e)) == 0
	case journal.EffectFailed:
		return true
	case journal.AgentNotice: // usage, or the end or start of a turn
		return e.Condition == nil || !e.Condition.IsBlocked() && !e.Condition.AsksPerson()
	}
	return false
}

func (t *NarratedEntry) addFolded(e *journal.Entry) {
	switch e.Type {
	case journal.EffectDone:
		t.Done++
	case journal.EffectFailed:
		t.Failed = append(t.Failed, e.Reason+": "+errorOf(e))
		if t.Tone != Bad {
			t.Tone = Warn
		}
	}
}

// DescribeEntry describes one entry.
func DescribeEntry(e *journal.Entry) NarratedEntry {
	t := NarratedEntry{At: e.At, Seq: e.Seq, Type: e.Type, Who: e.ActorName(), From: e.From, To: e.To}
	if e.Via != nil {
		t.Via = e.Via.String()
	}
	if e.Type == journal.TaskCreated {
		t.From = ""
	}
	if e.To != "" {
		t.Tone = Moved
	} else {
		t.What, t.Tone = describeEvent(e)
	}
	t.addReasons(e)
	return t
}

// addReasons adds the reasons that the text does not contain yet.
func (t *NarratedEntry) addReasons(e *journal.Entry) {
	texts := append([]string{e.Reason, e.Note, e.WorkFailed, e.Attention}, e.Rejected...)
	switch e.Type {
	case journal.AgentMessaged:
		texts[0] = ""
	case journal.AgentNotice:
		if e.Condition != nil {
			texts[0] = "" // it is the condition, by the names of the record
		}
	case journal.AgentStopped:
		texts[0], texts[2] = "", "" // who was stopped is in the text, and why in the note
	}
	if e.Type == journal.AgentSpawned || e.Type == journal.EffectAsked && e.Actor == task.Human {
		texts[0] = e.ReceiptNote() // the reason only repeats the request
	}
	for _, text := range texts {
		if text != "" && !strings.Contains(t.What, text) && !strings.Contains(strings.Join(t.Why, "\n"), text) {
			t.Why = append(t.Why, text)
		}
	}
	if len(e.Rejected) > 0 && t.Tone != Bad {
		t.Tone = Warn
	}
}

// describeEvent describes an entry that does not move the task.
func describeEvent(e *journal.Entry) (string, Tone) {
	switch e.Type {
	case journal.TaskUpdated:
		return "changed " + listChanged(e), Plain
	case journal.TaskTampered:
		return "TASK.md was changed by hand: " + listFieldNames(e), Warn
	case journal.TaskQueued:
		return "waits for its turn", Plain
	case journal.TaskPaused:
		return "paused", Warn
	case journal.TaskResumed:
		return "resumed", Plain
	case journal.TaskDeleted:
		return "deleted", Warn
	case journal.CardSeen:
		return "the card changed", Quiet
	case journal.PRClosed:
		return "the pull request was closed without a merge", Warn
	case journal.EntryLost:
		return "lost with the store", Warn
	case journal.TaskRestored:
		return "restored", Warn
	case journal.EffectAsked:
		return e.DescribeEffects(), Plain
	case journal.EffectDone:
		if places := keptPlaces(e); len(places) > 0 {
			return "work that was not committed is kept at " + strings.Join(places, ", "), Warn
		}
		return strings.TrimSuffix(e.Reason+" is done: "+e.ReceiptNote(), ": "), Quiet
	case journal.EffectFailed:
		return e.Reason + " failed: " + errorOf(e), Warn
	case journal.EffectGaveUp:
		return e.Reason + " was given up: " + errorOf(e), Bad
	case journal.AskedPerson:
		if e.Asked != nil {
			return "asks for " + e.Asked.To + ": a person must agree", Warn
		}
	}
	return describeAgentEvent(e)
}

// listChanged names what an update changes.
func listChanged(e *journal.Entry) string {
	names := listFieldNames(e)
	if e.Verb == engine.VerbEdit && e.Note != "" {
		names = strings.TrimPrefix(names+", requirements", ", ")
	}
	return names
}

// describeAgentEvent describes an entry about an agent.
func describeAgentEvent(e *journal.Entry) (string, Tone) {
	switch e.Type {
	case journal.AgentSpawned:
		if e.StartedIn != "" {
			return "was started in " + e.StartedIn, Plain
		}
		return "was started", Plain
	case journal.AgentExited:
		return "ended" + describeExitCode(e), Quiet
	case journal.AgentCrashed:
		return "died" + describeExitCode(e), Bad
	case journal.AgentLost:
		return "ended together with others", Warn
	case journal.AgentNotBegun:
		return "could not start" + describeExitCode(e), Bad
	case journal.AgentRespawn:
		if e.Actor == task.Human && len(e.Started) > 0 && len(e.Ending) > 0 {
			return "replaces the " + e.Started[0].Role, Plain
		}
		if e.Actor == task.Human && len(e.Started) > 0 {
			return "starts the " + e.Started[0].Role + " again", Plain
		}
		return "is started again", Plain
	case journal.CheckAsked:
		return "asks for a check", Plain
	case journal.ChangesApproved:
		return "approves changes of " + strings.Join(task.PathsOf(e.Approved), ", "), Plain
	case journal.PredecessorMoved:
		return e.Reason, Quiet
	case journal.LandingBuilt:
		return "the checks run on the merged work", Plain
	case journal.LandingMoved:
		return "the target moved: the landing starts over", Quiet
	case journal.LandingEnded:
		return "the work did not land: " + e.Reason, Bad
	case journal.LandingLeft:
		return "takes the task out of the landing queue", Plain
	case journal.CheckEnded, journal.CheckHeld:
		return describeCheck(e)
	case journal.AgentOverdue:
		return "is past its deadline", Warn
	case journal.AgentLimited:
		return "reached its limit", Warn
	case journal.AgentNudged:
		return "was told to go on", Quiet
	case journal.AgentSilent:
		return describeSilence(e), Warn
	case journal.AgentAnswered:
		return "answers the " + e.Role, Plain
	case journal.AgentMessaged:
		return "sends a message to the " + e.Role, Plain
	case journal.AgentStopped:
		return "stops the " + e.Role, Plain
	case journal.AgentUndone:
		return "handed over work that is not committed", Warn
	case journal.AgentRestate:
		return "was asked to state its verdict by command", Warn
	case journal.WorkFailed:
		return "says that the work failed", Bad
	case journal.AgentNotice:
		if e.Condition == nil {
			return "usage was counted", Quiet
		}
		return e.Condition.Text(), Warn
	}
	return strings.ReplaceAll(string(e.Type), ".", " "), Plain
}

// describeCheck describes how a check ended.
func describeCheck(e *journal.Entry) (string, Tone) {
	switch r := e.Check; {
	case r == nil:
		return "waits for a person", Warn
	case r.Outcome == task.CheckPassed:
		return r.Name + " passed", Plain
	case r.Failed():
		return r.Name + " failed", Bad
	default:
		return r.Name + " has no result (" + r.Outcome + ")", Warn
	}
}

// describeSilence describes how an agent ended without a report.
func describeSilence(e *journal.Entry) string {
	if e.Unanswered != nil && e.Unanswered.Asks {
		return "ended with a question"
	}
	return "did not report its outcome"
}

func describeExitCode(e *journal.Entry) string {
	if len(e.Ended) == 0 {
		return ""
	}
	return fmt.Sprintf(" (code %d)", e.Ended[0].Code)
}

func listFieldNames(e *journal.Entry) string {
	names := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}

// keptPlaces returns where the uncommitted work of a released workspace is kept.
func keptPlaces(e *journal.Entry) []string {
	r := e.Receipt
	switch {
	case r == nil:
		return nil
	case r.Salvage == "":
		return r.Aside
	}
	return append([]string{r.Salvage}, r.Aside...)
}

func errorOf(e *journal.Entry) string {
	if e.Receipt == nil || e.Receipt.Error == "" {
		return "no reason was given"
	}
	return e.Receipt.Error
}
