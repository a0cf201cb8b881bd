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
	"orange/internal/view/narrate"
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
	Subject string // who did it, or whom it happened to, if it was no move
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
	outcomes := explain.EffectOutcomes(entries)
	var out []taskMoment
	for i := range entries {
		e := &entries[i]
		if e.Type == journal.EffectDone && e.Receipt != nil && e.Receipt.Note == "" && len(e.Effects) == 0 {
			continue
		}
		m := momentOf(e)
		for _, f := range e.Effects {
			m.Deeds = append(m.Deeds, ansi.OneLine(humanize.Cut(narrate.DescribeEffect(*outcomes[f.ID]), maxWritten)))
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

// momentOf is an entry in words.
func momentOf(e *journal.Entry) taskMoment {
	told := narrate.DescribeEntry(e)
	m := taskMoment{
		Seq: e.Seq, At: e.At, Mark: "quiet", Via: describeVia(e.Via), Line: e.Line,
		Note: ansi.SafeText(humanize.Cut(e.Note, maxWritten)),
	}
	if e.To != "" {
		m.Mark, m.From, m.To, m.Who = "move", ansi.OneLine(e.From), ansi.OneLine(e.To), whoAsked(e.Actor, e.Attempt)
	} else {
		m.Subject, m.What = ansi.OneLine(told.Who), ansi.OneLine(humanize.Cut(told.What, maxWritten))
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
	var why []string
	for _, text := range told.Why {
		if text != e.Note {
			why = append(why, ansi.OneLine(humanize.Cut(text, maxWritten)))
		}
	}
	m.Why = strings.Join(why, "; ")
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
