// Package transcript represents the conversation of an attempt as values, and formats it as
// plain text, the same on every surface. It does no I/O: package harness reads the files that
// agents keep.
package transcript

import (
	"fmt"
	"strings"
	"time"

	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
)

// Who is the speaker of a turn.
type Who string

// The speakers of a conversation.
const (
	User  Who = "user"  // the author of prompts: Orange or a person
	Agent Who = "agent" // the model: its messages and tool calls
	Tool  Who = "tool"  // the result of a tool
)

// A Turn is one message, one tool call or one tool result.
type Turn struct {
	ID       string    `json:"id,omitempty"` // two turns with the same id are versions of one turn
	At       time.Time `json:"at,omitzero"`
	Who      Who       `json:"who"`
	Text     string    `json:"text,omitempty"`     // of a message, or the first lines of a result
	More     int       `json:"more,omitempty"`     // lines of a result that Text leaves out
	Tool     string    `json:"tool,omitempty"`     // the called tool
	Argument string    `json:"argument,omitempty"` // its arguments, in one line
	Failed   bool      `json:"failed,omitempty"`   // the tool returned an error
}

const (
	answerLines = 5   // lines of a tool's result that are kept
	answerLine  = 300 // bytes of each of them
)

// ShortenAnswer keeps the first lines of a tool's result and counts the others. Blank lines do
// not count.
func ShortenAnswer(text string) (head string, more int) {
	var lines []string
	for line := range strings.SplitSeq(ansi.SafeText(text), "\n") {
		switch line = strings.TrimRight(line, " \t"); {
		case line == "":
		case len(lines) < answerLines:
			lines = append(lines, humanize.Cut(line, answerLine))
		default:
			more++
		}
	}
	return strings.Join(lines, "\n"), more
}

// LatestTurns keeps the last version of each turn, at the position and the time of the first
// one.
func LatestTurns(turns []Turn) []Turn {
	place := map[string]int{}
	out := make([]Turn, 0, len(turns))
	for _, t := range turns {
		if first, again := place[t.ID]; again && t.ID != "" {
			t.At = out[first].At
			out[first] = t
			continue
		}
		place[t.ID] = len(out)
		out = append(out, t)
	}
	return out
}

// A Printer formats turns as lines of text, as they arrive. A header with the time and the
// speaker precedes each message. Tool calls and their results follow the message of their
// agent.
type Printer struct {
	Now     time.Time // determines the time zone
	lastWho Who       // the speaker of the last header
	any     bool
	shown   map[string]string // by id: the text that was printed
}

// FormatTurns formats more turns. It skips a turn that it has already formatted, unless its
// text has changed.
func (p *Printer) FormatTurns(turns []Turn) []string {
	if p.shown == nil {
		p.shown = map[string]string{}
	}
	var out []string
	for _, t := range turns {
		body := strings.Join(t.bodyLines(), "\n")
		if t.ID != "" {
			if p.shown[t.ID] == body {
				continue
			}
			p.shown[t.ID] = body
		}
		out = append(out, p.formatTurn(t, body)...)
	}
	return out
}

func (p *Printer) formatTurn(t Turn, body string) []string {
	var out []string
	speaker := t.Who
	if speaker == Tool {
		speaker = Agent
	}
	if message := t.Who != Tool && t.Tool == ""; message || speaker != p.lastWho {
		if p.any {
			out = append(out, "")
		}
		out = append(out, p.formatHeader(t.At, speaker))
	}
	p.any, p.lastWho = true, speaker
	return append(out, strings.Split(body, "\n")...)
}

func (p *Printer) formatHeader(at time.Time, who Who) string {
	if at.IsZero() {
		return string(who)
	}
	return humanize.FormatTime(p.Now, at) + " " + string(who)
}

// bodyLines returns a turn without its header and without control sequences.
func (t Turn) bodyLines() []string {
	switch {
	case t.Tool != "":
		line := "› " + ansi.OneLine(t.Tool)
		if arg := ansi.OneLine(t.Argument); arg != "" {
			line += ": " + arg
		}
		return []string{line}
	case t.Who != Tool:
		return strings.Split(strings.Trim(ansi.SafeText(t.Text), "\n"), "\n")
	}
	var out []string
	if text := ansi.SafeText(t.Text); text != "" {
		for line := range strings.SplitSeq(text, "\n") {
			out = append(out, strings.TrimRight("  "+line, " "))
		}
	}
	switch {
	case t.More == 1:
		out = append(out, "  ... 1 more line")
	case t.More > 1:
		out = append(out, fmt.Sprintf("  ... %d more lines", t.More))
	case len(out) == 0 && t.Failed:
		return []string{"  (failed)"}
	case len(out) == 0:
		return []string{"  (no output)"}
	}
	return out
}
