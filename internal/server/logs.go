package server

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orange/internal/core/task"
	"orange/internal/core/transcript"
	"orange/internal/outputlog"
	"orange/internal/runtime/agents"
	"orange/internal/view/ansi"
	"orange/internal/wire"
)

const (
	maxReplay   = 1 << 20 // bytes of a terminal's output that are replayed
	lastShown   = 8       // lines that are told of an attempt that is over
	maxLogLines = 2000    // lines of an output without turns that are answered
)

// AttemptLog implements api.Attempts.
func (v attemptsView) AttemptLog(t task.Task, number int, role, after string) (wire.Log, error) {
	number, card, err := v.findAttempt(&t, number, role)
	if err != nil {
		return wire.Log{}, err
	}
	_, alive := t.AttemptByNumber(number)
	out := wire.Log{Attempt: number, Role: card.Role, Harness: card.Harness, Alive: alive, Form: wire.FormTranscript}
	said, err := v.c.agents.AttemptConversation(&t, number, after)
	if err != nil {
		return out, err
	}
	if after != "" || len(said.Turns) > 0 {
		out.Turns, out.Skipped, out.Cut, out.Next = said.Turns, said.Skipped, said.Cut, said.Next
		return out, nil
	}
	out.Form = wire.FormOutput
	if card.Window != "" {
		out.Form = wire.FormTerminal
	}
	out.Lines, out.Cut, err = v.c.lastPrintedLines(agents.Key{Task: t.ID, Number: number}, card, maxLogLines)
	return out, err
}

// LastMessage implements api.Attempts.
func (v attemptsView) LastMessage(t task.Task, number int, role string) (wire.Message, error) {
	number, card, err := v.findAttempt(&t, number, role)
	if err != nil {
		return wire.Message{}, err
	}
	_, alive := t.AttemptByNumber(number)
	text, err := v.c.agents.LastMessage(&t, number)
	return wire.Message{Attempt: number, Role: card.Role, Alive: alive, Text: text}, err
}

// findAttempt finds the attempt of a number, else the newest of a role, else the newest.
func (v attemptsView) findAttempt(t *task.Task, number int, role string) (int, agents.Card, error) {
	list := v.c.agents.AttemptNumbers(t)
	for i := len(list) - 1; i >= 0; i-- {
		card, err := v.c.agents.LoadCard(agents.Key{Task: t.ID, Number: list[i]})
		if err != nil {
			return 0, card, err
		}
		if (number == 0 || number == list[i]) && (role == "" || role == card.Role) {
			return list[i], card, nil
		}
	}
	what := "attempt"
	if role != "" {
		what += " of role " + ansi.OneLine(role)
	}
	if number > 0 {
		what += fmt.Sprintf(" with number %d", number)
	}
	return 0, agents.Card{}, task.Mistakef("task %s has no %s: see orange task attempts %s", t.ID, what, t.ID)
}

// logLines are the last lines of an attempt's log, as text: what was said in it, else what
// its terminal showed, else what it printed.
func (c *agentHost) logLines(t *task.Task, k agents.Key, card agents.Card, most int) ([]string, error) {
	said, err := c.agents.AttemptConversation(t, k.Number, "")
	if err != nil {
		return nil, err
	}
	if len(said.Turns) > 0 {
		p := transcript.Printer{Now: time.Now().UTC()}
		lines := p.FormatTurns(said.Turns)
		return lines[max(len(lines)-most, 0):], nil
	}
	lines, _, err := c.lastPrintedLines(k, card, most)
	return lines, err
}

// lastLines are what an attempt that is over showed last. Without a terminal these are its own complaints;
// what it wrote for programs is told as a conversation.
func (s *Server) lastLines(k agents.Key, card agents.Card) []string {
	lines, _, err := s.host.lastPrintedLines(k, card, maxTailLines)
	if err == nil && card.Window == "" {
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "{") })
		if t, ok, err := s.store.Task(k.Task); len(lines) == 0 && err == nil && ok {
			lines, _ = s.host.logLines(&t, k, card, maxTailLines)
		}
	}
	return ansi.LastLines(strings.Join(lines, "\n"), lastShown)
}

// minSecret is how much of a secret counts as one. Programs show the beginning or the end of a key.
const minSecret = 8

// maskAgentSecrets takes the secrets that an agent was given out of a text, and parts of them.
func (s *Server) maskAgentSecrets(harness, text string) string {
	return maskSecrets(s.agentEnv(harness), text)
}

func maskSecrets(env []string, text string) string {
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if !secretName(name) || isFile(value) {
			continue
		}
		for n := len(value); n >= minSecret; n-- {
			if part := value[len(value)-n:]; strings.Contains(text, part) {
				text = strings.ReplaceAll(text, part, "[secret]")
			}
			if part := value[:n]; strings.Contains(text, part) {
				text = strings.ReplaceAll(text, part, "[secret]")
			}
		}
	}
	return text
}

// isFile says whether a value names a file, as GOOGLE_APPLICATION_CREDENTIALS does: where a secret is is none.
func isFile(value string) bool {
	if !filepath.IsAbs(value) {
		return false
	}
	_, err := os.Stat(value)
	return err == nil
}

// secretName says whether a variable of this name holds a secret.
func secretName(name string) bool {
	for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"} {
		if strings.Contains(strings.ToUpper(name), word) {
			return true
		}
	}
	return false
}

// lastPrintedLines are the last lines that an attempt printed: what its terminal looked like, or
// the lines of an output without one. It says whether there is more before them.
func (c *agentHost) lastPrintedLines(k agents.Key, card agents.Card, most int) (lines []string, cut bool, err error) {
	text, cut, err := readOutputEnd(c.agents.OutputFile(k), maxReplay)
	if err != nil {
		return nil, false, err
	}
	if card.Window != "" {
		term := ansi.NewTerminal(ansi.TerminalWidth, ansi.TerminalHeight)
		term.Write(text) //nolint:errcheck // it never fails
		lines = term.Lines()
	} else {
		lines = outputLines(text)
	}
	if len(lines) > most {
		lines, cut = lines[len(lines)-most:], true
	}
	return lines, cut, nil
}

// readOutputEnd reads the end of what an attempt printed, and says whether there is more
// before it. It begins with a whole line if it can. That nothing was printed is no error.
func readOutputEnd(path string, most int64) (text []byte, cut bool, err error) {
	out, err := outputlog.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer out.Close()
	var read bytes.Buffer
	from := max(out.Size()-most, 0)
	if _, err := out.WriteFrom(&read, from); err != nil {
		return nil, false, err
	}
	text = read.Bytes()
	if end := bytes.IndexByte(text, '\n'); from > 0 && end >= 0 {
		text = text[end+1:] // the first line is not whole
	}
	return text, from > 0, nil
}

// outputLines makes lines of text of what a program without a terminal printed.
func outputLines(text []byte) []string {
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		out.WriteString(strings.TrimRight(ansi.OutputText(strings.TrimSuffix(line, "\n")), "\n") + "\n")
	}
	whole := strings.TrimRight(out.String(), "\n")
	if whole == "" {
		return nil
	}
	return strings.Split(whole, "\n")
}
