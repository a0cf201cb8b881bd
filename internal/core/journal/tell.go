package journal

import (
	"fmt"
	"strings"
	"time"

	"orange/internal/core/task"
)

// A NarratedEntry is what happened, in words for people: an entry, with what came of its effects.
// Who asks and why may be in the words of agents and trackers.
type NarratedEntry struct {
	At       time.Time
	Seq      int
	Type     Type
	Who      string // the actor, with the number of its attempt; "" for nobody in particular
	Via      string // where the action came from; "" if that is not known
	From, To string // a move; without From the beginning, without To none
	What     string // what it was, if it was no move
	Why      []string
	Tone     Tone
	Done     int      // effects that were done since, until the next thing happened
	Failed   []string // those of them that were not, with their errors
}

// Tone says how a Told is meant.
type Tone string

// The tones.
const (
	Plain Tone = ""
	Moved Tone = "moved"
	Quiet Tone = "quiet" // of interest to those who look closely
	Warn  Tone = "warn"
	Bad   Tone = "bad"
)

// NarrateEntries tells entries, oldest first. Receipts are told with what came before them; that
// an agent's turn ended, or that it used more, is not told.
func NarrateEntries(entries []Entry) []NarratedEntry {
	var out []NarratedEntry
	for i := range entries {
		e := &entries[i]
		if n := len(out) - 1; n >= 0 && isFolded(e) {
			out[n].addFolded(e)
			continue
		}
		out = append(out, narrateEntry(e))
	}
	return out
}

// isFolded says that an entry is no news by itself.
func isFolded(e *Entry) bool {
	switch e.Type {
	case EffectDone:
		return receiptSalvage(e) == ""
	case EffectFailed:
		return true
	case AgentNotice: // what it has consumed, and that its turn ended or began
		return e.Condition == nil || !e.Condition.IsBlocked() && !e.Condition.AsksPerson()
	}
	return false
}

func (t *NarratedEntry) addFolded(e *Entry) {
	switch e.Type {
	case EffectDone:
		t.Done++
	case EffectFailed:
		t.Failed = append(t.Failed, e.Reason+": "+errorOf(e))
		if t.Tone != Bad {
			t.Tone = Warn
		}
	}
}

func narrateEntry(e *Entry) NarratedEntry {
	t := NarratedEntry{At: e.At, Seq: e.Seq, Type: e.Type, Who: describeActor(e), From: e.From, To: e.To}
	if e.Via != nil {
		t.Via = e.Via.String()
	}
	if e.Type == TaskCreated {
		t.From = ""
	}
	if e.To != "" {
		t.Tone = Moved
	} else {
		t.What, t.Tone = e.describeEntry()
	}
	t.addReasons(e)
	return t
}

// addReasons adds the reasons that are not said yet.
func (t *NarratedEntry) addReasons(e *Entry) {
	texts := append([]string{e.Reason, e.Note, e.WorkFailed, e.Attention}, e.Rejected...)
	if e.Type == AgentSpawned || e.Type == EffectAsked && e.Actor == task.Human {
		texts[0] = receiptNote(e) // the reason is only that it was to be done
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

// describeActor is the one that asked, or the agent that it happened to.
func describeActor(e *Entry) string {
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

// describeEntry says what an entry is that moves no task.
func (e *Entry) describeEntry() (string, Tone) {
	switch e.Type {
	case TaskUpdated:
		return "changed " + e.fieldNames(), Plain
	case TaskTampered:
		return "TASK.md was changed by hand: " + e.fieldNames(), Warn
	case TaskQueued:
		return "waits for its turn", Plain
	case TaskPaused:
		return "paused", Warn
	case TaskResumed:
		return "resumed", Plain
	case TaskDeleted:
		return "deleted", Warn
	case CardSeen:
		return "the card looks different", Quiet
	case PRClosed:
		return "the pull request was closed without a merge", Warn
	case EntryLost:
		return "lost with the store", Warn
	case TaskRestored:
		return "restored", Warn
	case EffectAsked:
		return e.describeEffects(), Plain
	case EffectDone:
		if ref := receiptSalvage(e); ref != "" {
			return "work that was not committed is kept at " + ref, Warn
		}
	case EffectGaveUp:
		return e.Reason + " was given up: " + errorOf(e), Bad
	case AskedPerson:
		if e.Asked != nil {
			return "asks for " + e.Asked.To + ": a person must agree", Warn
		}
	}
	return e.agentWords()
}

// receiptNote is what is to be known about an effect though it was done.
func receiptNote(e *Entry) string {
	if e.Receipt == nil {
		return ""
	}
	return e.Receipt.Note
}

// agentWords says what became of an agent.
func (e *Entry) agentWords() (string, Tone) {
	switch e.Type {
	case AgentSpawned:
		if e.StartedIn != "" {
			return "was started in " + e.StartedIn, Plain
		}
		return "was started", Plain
	case AgentExited:
		return "ended" + e.describeExitCode(), Quiet
	case AgentCrashed:
		return "died" + e.describeExitCode(), Bad
	case AgentLost:
		return "ended together with others", Warn
	case AgentNotBegun:
		return "could not start" + e.describeExitCode(), Bad
	case AgentRespawn:
		if e.Actor == task.Human && len(e.Started) > 0 {
			return "starts the " + e.Started[0].Role + " again", Plain
		}
		return "is started again", Plain
	case AgentOverdue:
		return "is past its deadline", Warn
	case AgentLimited:
		return "reached its limit", Warn
	case AgentNudged:
		return "was told to go on", Quiet
	case AgentSilent:
		return e.describeSilence(), Warn
	case AgentAnswered:
		return "answers the " + e.Role, Plain
	case AgentUndone:
		return "handed over work that is not committed", Warn
	case AgentRestate:
		return "was asked to state its verdict by command", Warn
	case WorkFailed:
		return "says that the work failed", Bad
	case AgentNotice:
		return e.Reason, Warn // it waits
	}
	return strings.ReplaceAll(string(e.Type), ".", " "), Plain
}

// describeSilence says how an agent ended without an answer.
func (e *Entry) describeSilence() string {
	if e.Unanswered != nil && e.Unanswered.Asks {
		return "ended with a question"
	}
	return "did not say how it went"
}

func (e *Entry) describeExitCode() string {
	if len(e.Ended) == 0 {
		return ""
	}
	return fmt.Sprintf(" (code %d)", e.Ended[0].Code)
}

func (e *Entry) fieldNames() string {
	names := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}

func (e *Entry) describeEffects() string {
	if len(e.Effects) == 0 {
		return "what was given up is tried again"
	}
	names := make([]string, len(e.Effects))
	for i, f := range e.Effects {
		names[i] = f.Do
	}
	return "asks for " + strings.Join(names, ", ")
}

func receiptSalvage(e *Entry) string {
	if e.Receipt == nil {
		return ""
	}
	return e.Receipt.Salvage
}

func errorOf(e *Entry) string {
	if e.Receipt == nil || e.Receipt.Error == "" {
		return "no reason was given"
	}
	return e.Receipt.Error
}
