package tui

import (
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/transcript"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
	"orange/internal/wire"
)

// attemptLog is the log of one attempt, and the attempts that the task has.
type attemptLog struct {
	attempts []wire.Attempt // by number
	at       int            // in attempts
	log      wire.Log
}

// maxLogLines is how many lines of a log are shown; the newest are.
const maxLogLines = 2000

// loadLog reads the log of an attempt of a task: the newest one if number is 0.
func loadLog(ctx context.Context, api Reader, id string, number int) loaded {
	out := loaded{ready: true}
	list, err := api.ListAttempts(ctx, id)
	if err != nil || len(list) == 0 {
		out.err = err
		return out
	}
	slices.SortFunc(list, func(a, b wire.Attempt) int { return a.Number - b.Number })
	at := slices.IndexFunc(list, func(a wire.Attempt) bool { return a.Number == number })
	if at < 0 {
		at = len(list) - 1
	}
	out.log = attemptLog{attempts: list, at: at}
	out.log.log, out.err = api.ReadLog(ctx, id, list[at].Number, "")
	return out
}

// showAttempt turns to the log of the attempt that is so many after the shown one.
func (m *model) showAttempt(by int) tea.Cmd {
	d := &m.detail
	if d.tab != tabLog {
		return m.showTab(tabLog)
	}
	l := &d.data.log
	if len(l.attempts) < 2 {
		m.showNote("the task has no other attempts")
		return nil
	}
	number := l.attempts[(l.at+by+len(l.attempts))%len(l.attempts)].Number
	m.resetDetail(m.chosen, tabLog)
	m.detail.attempt = number
	return m.readTab()
}

// logLines returns the log of an attempt.
func (m *model) logLines(l *attemptLog, width int) []string {
	if len(l.attempts) == 0 {
		return m.styledLine(m.theme.Faint, "no agent of the task has run yet", width)
	}
	a := &l.attempts[l.at]
	head := fmt.Sprintf("attempt %d (%d of %d): %s", a.Number, l.at+1, len(l.attempts), plainLine(a.Role))
	if a.Harness != "" {
		head += " (" + plainLine(a.Harness) + ")"
	}
	head += ", " + attemptEnd(a)
	if len(l.attempts) > 1 {
		head += " · , . others"
	}
	out := m.styledLine(m.theme.Strong, head, width)
	if l.log.Cut {
		out = append(out, m.styledLine(m.theme.Faint, "earlier parts are left out", width)...)
	}
	body := m.turnLines(l.log.Turns, width)
	for _, line := range l.log.Lines {
		body = append(body, m.styledLine(m.theme.Text, plainLine(line), width)...)
	}
	if len(body) == 0 {
		return append(out, m.styledLine(m.theme.Faint, "it has written nothing", width)...)
	}
	return append(out, body[max(0, len(body)-maxLogLines):]...)
}

// attemptEnd says how an attempt ended.
func attemptEnd(a *wire.Attempt) string {
	switch {
	case a.Alive:
		return "at work"
	case a.Code == nil:
		return "its end was not seen"
	case *a.Code == 0:
		return "ended"
	}
	return fmt.Sprintf("ended with exit code %d", *a.Code)
}

// turnLines renders a conversation.
func (m *model) turnLines(turns []transcript.Turn, width int) []string {
	var out []string
	p := transcript.Printer{Now: m.now}
	for i := range turns {
		t := &turns[i]
		message := t.Who != transcript.Tool && t.Tool == ""
		headed := !message
		for _, line := range p.FormatTurns(turns[i : i+1]) {
			line = ansi.SteadyText(line)
			switch {
			case line == "":
				out = append(out, "")
			case !headed: // the first line of a message says who speaks
				headed = true
				out = append(out, m.styledLine(m.theme.Title, line, width)...)
			case message:
				out = append(out, m.styledLines(m.theme.Text, line, width)...)
			default:
				out = append(out, m.styledLine(m.theme.Faint, humanize.Prefix(line, 4*width), width)...)
			}
		}
	}
	return out
}
