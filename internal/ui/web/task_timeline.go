package web

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
)

// maxMoments is how many entries a timeline shows unless all are asked for.
const maxMoments = 150

// maxWritten bounds a text of somebody's in a timeline, in bytes.
const maxWritten = 8 << 10

// A taskMoment is something that happened to a task, or was refused. All its texts are
// safe to show.
type taskMoment struct {
	Seq     int // of its entry, 0 for what was refused
	At      time.Time
	Mark    string // move, agent, bad, person or quiet: how it looks
	What    string
	From    string // with To: the move it was
	To      string
	Who     string
	Via     string // where the action came from
	Line    int    // of the edge, in the workflow file
	Why     string // one line
	Note    string // somebody's words
	Deeds   []string
	Later   bool // than the moment that is shown
	Current bool // it is the moment that is shown

	Clock    string // when it was, "" if the one before it says so
	Anchor   string
	Href     string // the task as it was then
	LineHref string
}

// taskMoments tells a journal. Entries that only say how an effect went are told with
// the one that asked for it.
func taskMoments(entries []journal.Entry, refused []journal.Refusal) []taskMoment {
	deeds := taskPersonActions(entries)
	var out []taskMoment
	for i := range entries {
		e := &entries[i]
		if e.Type == journal.EffectDone && e.Receipt != nil && e.Receipt.Note == "" && len(e.Effects) == 0 {
			continue
		}
		m := momentOf(e)
		for _, f := range e.Effects {
			m.Deeds = append(m.Deeds, ansi.OneLine(deeds[f.ID]))
		}
		out = append(out, m)
	}
	for _, r := range refused {
		out = append(out, taskMoment{
			At: r.At, Mark: "bad", What: "refused: " + ansi.OneLine(strings.TrimSpace(string(r.Kind)+" "+r.Asked)),
			Who: whoAsked(r.Actor, r.Attempt), Via: describeVia(r.Via), Why: ansi.OneLine(r.Why),
		})
	}
	slices.SortStableFunc(out, func(a, b taskMoment) int { return a.At.Compare(b.At) })
	return out
}

// momentOf puts an entry into words.
func momentOf(e *journal.Entry) taskMoment {
	m := taskMoment{
		Seq: e.Seq, At: e.At, Mark: "quiet", Who: whoAsked(e.Actor, e.Attempt), Via: describeVia(e.Via), Line: e.Line, Why: ansi.OneLine(humanize.Cut(e.Reason, maxWritten)),
		Note: ansi.SafeText(humanize.Cut(e.Note, maxWritten)), What: ansi.OneLine(describeEntry(e)),
	}
	if e.To != "" {
		m.Mark, m.From, m.To = "move", ansi.OneLine(e.From), ansi.OneLine(e.To)
	}
	switch e.Type {
	case journal.AgentSpawned, journal.AgentExited, journal.AgentRespawn, journal.AgentNudged:
		m.Mark = "agent"
	case journal.AgentCrashed, journal.AgentLost, journal.AgentNotBegun, journal.AgentOverdue, journal.AgentSilent, journal.AgentLimited, journal.WorkFailed,
		journal.EffectFailed, journal.EffectGaveUp, journal.TaskTampered, journal.EntryLost:
		m.Mark = "bad"
	case journal.AskedPerson, journal.TaskPaused, journal.TaskResumed, journal.EffectAsked, journal.TaskRestored:
		m.Mark = "person"
	}
	if e.Type == journal.AgentNotice { // its words say all
		m.Who, m.Why = "", ""
	}
	if e.Type == journal.EffectAsked && e.Actor == task.Human { // the reason is only that a person asked
		m.What, m.Why = ansi.OneLine(journal.NarrateEntries([]journal.Entry{*e})[0].What), ""
	}
	for _, more := range []string{e.Attention, e.WorkFailed, strings.Join(e.Rejected, "; ")} {
		if more != "" {
			m.Why = strings.TrimPrefix(m.Why+"; "+ansi.OneLine(humanize.Cut(more, maxWritten)), "; ")
		}
	}
	return m
}

func whoAsked(actor task.Actor, attempt int) string {
	switch {
	case actor == "":
		return ""
	case attempt > 0:
		return ansi.OneLine(fmt.Sprintf("%s, attempt %d", actor, attempt))
	}
	return ansi.OneLine(string(actor))
}

// describeVia says where an action came from, "" if that is not known.
func describeVia(v *signal.Via) string {
	if v == nil {
		return ""
	}
	return ansi.OneLine(v.String())
}

// describeEntry says what an entry is about in a few words.
func describeEntry(e *journal.Entry) string {
	role := e.Role
	if role == "" && len(e.Ended) > 0 {
		role = e.Ended[0].Role
	}
	if role == "" {
		role = "agent"
	}
	switch e.Type {
	case journal.TaskCreated:
		return "created"
	case journal.StatusChanged, journal.AutoAdvanced:
		return "moved"
	case journal.AgentSpawned:
		return strings.TrimSuffix(fmt.Sprintf("%s started, attempt %d, in %s", role, e.Attempt, e.StartedIn), ", in ")
	case journal.AgentExited:
		return role + " ended" + describeEnd(e)
	case journal.AgentCrashed:
		return role + " crashed" + describeEnd(e)
	case journal.AgentLost:
		return role + " ended together with others"
	case journal.AgentNotBegun:
		return role + " could not start" + describeEnd(e)
	case journal.AgentRespawn:
		return role + " is started again"
	case journal.AgentLimited:
		return role + " ended at its provider's limit"
	case journal.AgentSilent:
		return role + " ended without an answer" + describeEnd(e)
	case journal.AgentNotice:
		return describeNotice(e)
	case journal.TaskUpdated:
		return "changed " + fieldNames(e)
	case journal.EffectFailed, journal.EffectGaveUp, journal.EffectDone:
		return describeEffects(e)
	case journal.AskedPerson:
		if e.Asked != nil {
			return "asks for " + e.Asked.To
		}
	}
	if text, ok := typeWords[e.Type]; ok {
		return text
	}
	return string(e.Type)
}

// typeWords are entries that are said in the same words always.
var typeWords = map[journal.Type]string{
	journal.TaskQueued: "queued for a workspace", journal.TaskPaused: "paused", journal.TaskResumed: "resumed",
	journal.TaskTampered: "TASK.md was changed by hand", journal.TaskDeleted: "deleted", journal.AgentOverdue: "the deadline passed",
	journal.AgentNudged: "told to go on", journal.WorkFailed: "the work is not good yet", journal.CardSeen: "the card looks different",
	journal.PRClosed: "the pull request was closed", journal.EffectAsked: "asked for",
	journal.EntryLost: "lost with the store", journal.TaskRestored: "restored",
}

func describeEnd(e *journal.Entry) string {
	if len(e.Ended) == 0 {
		return ""
	}
	return fmt.Sprintf(", attempt %d, exit %d", e.Ended[0].Number, e.Ended[0].Code)
}

func describeNotice(e *journal.Entry) string {
	if e.Condition == nil {
		return "usage was counted"
	}
	text := e.Condition.Name
	if text == "" {
		text = task.Running
	}
	if e.Condition.Detail != "" {
		text += ": " + humanize.Cut(e.Condition.Detail, maxWritten)
	}
	return fmt.Sprintf("attempt %d is %s", e.Attempt, text)
}

func fieldNames(e *journal.Entry) string {
	names := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}

func describeEffects(e *journal.Entry) string {
	if e.Receipt == nil {
		return string(e.Type)
	}
	how := map[journal.Type]string{journal.EffectFailed: "failed, and is tried again", journal.EffectGaveUp: "was given up"}[e.Type]
	if how == "" {
		how = "was done"
	}
	text := "an effect " + how
	for _, more := range []string{e.Receipt.Error, e.Receipt.Note} {
		if more != "" {
			text += ": " + humanize.Cut(more, maxWritten)
		}
	}
	return text
}

// taskPersonActions says of every effect how it ended, by its id.
func taskPersonActions(entries []journal.Entry) map[string]string {
	out, names := map[string]string{}, map[string]string{}
	for i := range entries {
		e := &entries[i]
		for _, f := range e.Effects {
			names[f.ID] = strings.TrimSpace(f.Do + " " + f.Role)
			out[f.ID] = names[f.ID] + ": " + string(explain.EffectPending)
		}
		for _, id := range e.Dropped {
			out[id] = names[id] + ": " + string(explain.EffectDropped)
		}
		if e.Receipt == nil || names[e.Receipt.Effect] == "" {
			continue
		}
		how := explain.EffectDone
		switch e.Type {
		case journal.EffectFailed:
			how = explain.EffectFailed
		case journal.EffectGaveUp:
			how = explain.EffectGivenUp
		}
		text := names[e.Receipt.Effect] + ": " + string(how)
		if e.Tries > 1 {
			text += fmt.Sprintf(" after %d tries", e.Tries)
		}
		if e.Receipt.Error != "" {
			text += " (" + humanize.Cut(e.Receipt.Error, maxWritten) + ")"
		}
		out[e.Receipt.Effect] = text
	}
	return out
}

// taskPath is the states that a task was in, in order.
func taskPath(entries []journal.Entry) []string {
	var out []string
	for i := range entries {
		if entries[i].To != "" {
			out = append(out, entries[i].To)
		}
	}
	return out
}
