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

// maxMoments is the number of moments a timeline shows, unless the person asks for all.
const maxMoments = 150

// maxWritten limits the length of a note in a timeline, in bytes.
const maxWritten = 8 << 10

// A taskMoment is an entry of a task's journal, or a refusal, on the timeline. All its texts are safe
// to show.
type taskMoment struct {
	Seq     int // of its entry, 0 for a refusal
	At      time.Time
	Mark    string // the style: move, agent, bad, person or quiet
	Subject string // who did it, or whom it affected; not set for a move
	What    string
	From    string // with To: the move
	To      string
	Who     string
	Via     string // where the action came from
	Line    int    // line of the edge in the workflow file
	Why     string // one line
	Note    string // a text that a person or an agent wrote
	Effects []taskEffect
	Later   bool // it is later than the moment shown
	Current bool // it is the moment shown

	Clock    string // its time, "" if it is that of the moment before it
	Anchor   string
	Href     string // address of the task as it was then
	LineHref string
}

// taskEffect is how an effect ended, and its name in the workflow file.
type taskEffect struct{ Text, Name string }

// taskMoments returns the moments of a journal and its refusals. Entries that only record the result
// of an effect are shown with the entry that requested the effect.
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
			d := *outcomes[f.ID]
			m.Effects = append(m.Effects, taskEffect{ansi.OneLine(humanize.Cut(narrate.DescribeEffectInWords(d), maxWritten)), ansi.OneLine(strings.TrimSpace(d.Do + " " + d.Role))})
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

// momentOf returns the moment of an entry.
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
	case journal.AskedPerson, journal.TaskPaused, journal.TaskResumed, journal.EffectAsked, journal.TaskRestored, journal.AgentStopped:
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

// describeVia returns where an action came from, or "" if that is not known.
func describeVia(v *signal.Via) string {
	if v == nil {
		return ""
	}
	return ansi.OneLine(v.String())
}

// taskPath returns the states of a task, in order.
func taskPath(entries []journal.Entry) []string {
	var out []string
	for i := range entries {
		if entries[i].To != "" {
			out = append(out, entries[i].To)
		}
	}
	return out
}
