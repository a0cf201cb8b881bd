package render

import (
	"fmt"
	"strings"
	"time"

	"orange/internal/core/journal"
	"orange/internal/view/narrate"
)

// maxEvents is how many events of a timeline are shown; the newest are.
const maxEvents = 1000

// RenderTimeline renders the journal of a task, newest last.
func (t Theme) RenderTimeline(entries []journal.Entry, now time.Time, width int) []string {
	if width < 1 {
		return nil
	}
	s := t.newSheet(width)
	lines := narrate.DescribeEntries(entries)
	if len(lines) == 0 {
		s.putLine(strip{{"Nothing has happened yet.", s.faint}})
	}
	if n := len(lines) - maxEvents; n > 0 {
		s.putWrapped(nil, nil, strip{{fmt.Sprintf("%d earlier things are not shown: see orange task history", n), s.faint}})
		lines = lines[n:]
	}
	day := now.Format(time.DateOnly)
	for i := range lines {
		at := lines[i].At.In(now.Location())
		if d := at.Format(time.DateOnly); d != day {
			day = d
			s.putLine(strip{{at.Format("Monday, 2 January 2006"), s.faint}})
		}
		s.putEvent(&lines[i], at)
	}
	return s.lines
}

// Columns of a timeline: the time, then who.
const (
	clockWidth = 9
	whoWidth   = 12
	narrow     = 48
)

func (s *sheet) putEvent(t *narrate.NarratedEntry, at time.Time) {
	head, rest := strip{{at.Format("15:04:05 "), s.faint}}, indentStrip(clockWidth)
	var text strip
	switch {
	case s.width >= narrow:
		head = append(head, piece{FitWidth(t.Who, whoWidth-1) + " ", s.busy})
		rest = indentStrip(clockWidth + whoWidth)
	case t.Who != "":
		text.addText(s.busy, t.Who+" ")
	}
	text = append(text, s.eventText(t)...)
	if t.Via != "" {
		text.addText(s.faint, " · "+oneLine(t.Via))
	}
	for _, why := range append(t.Why, t.Failed...) {
		text.addText(s.faint, " · "+strings.TrimSpace(oneLine(shortOf(why))))
	}
	most := 2
	if t.Tone == narrate.Bad || t.Tone == narrate.Warn {
		most = 4
	}
	s.putWrappedMost(most, head, rest, text)
}

func (s *sheet) eventText(t *narrate.NarratedEntry) strip {
	var out strip
	switch {
	case t.To != "" && t.From == "":
		out.addText("", "begins as ")
		out.addText(s.strong, t.To)
	case t.To != "":
		out.addText("", t.From)
		out.addText(s.accent, " → ")
		out.addText(s.strong, t.To)
	default:
		out.addText(s.tonePen(t.Tone), t.What)
	}
	if t.Done > 0 {
		out.addTextf(s.faint, "  ✓%d", t.Done)
	}
	if n := len(t.Failed); n > 0 {
		out.addTextf(s.warn, "  ✗%d", n)
	}
	return out
}

func (s *sheet) tonePen(t narrate.Tone) pen {
	switch t {
	case narrate.Bad:
		return s.bad
	case narrate.Warn:
		return s.warn
	case narrate.Quiet:
		return s.faint
	}
	return s.text
}

// maxWords is how much of an untrusted text is shown beside something else.
const maxWords = 400

// shortOf returns the beginning of a long text.
func shortOf(text string) string {
	if len(text) <= maxWords {
		return text
	}
	text = strings.ToValidUTF8(text[:maxWords], "")
	return text + ellipsis
}
