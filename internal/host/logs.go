package host

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orange/internal/core/task"
	"orange/internal/core/transcript"
	"orange/internal/host/agents"
	"orange/internal/outputlog"
	"orange/internal/view/ansi"
)

const (
	maxReplay    = 1 << 20 // bytes of a terminal's output to replay
	maxTailLines = 200     // lines of an agent's log to show
	lastShown    = 8       // lines to keep of an attempt that is over
	maxCapture   = 5 * time.Second
)

// LogLines returns the last lines of an attempt's log, as text: its conversation, or else what its terminal showed,
// or else what it printed.
func (h *Host) LogLines(t *task.Task, k agents.Key, card agents.Card, most int) ([]string, error) {
	said, err := h.Agents.AttemptConversation(t, k.Number, "")
	if err != nil {
		return nil, err
	}
	if len(said.Turns) > 0 {
		p := transcript.Printer{Now: time.Now().UTC()}
		lines := p.FormatTurns(said.Turns)
		return lines[max(len(lines)-most, 0):], nil
	}
	lines, _, err := h.PrintedLines(k, card, most)
	return lines, err
}

// lastLines returns the last lines of an attempt that is over. A window shows all of them, while the process that writes
// its log may be late. For an attempt without a terminal these are its plain messages, or else its conversation; JSON
// lines are left out.
func (h *Host) lastLines(k agents.Key, card agents.Card) []string {
	lines, err := h.closedWindowLines(k, card), error(nil)
	if len(lines) == 0 {
		lines, _, err = h.PrintedLines(k, card, maxTailLines)
	}
	if err == nil && card.Window == "" {
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "{") })
		if t, ok, err := h.Task(k.Task); len(lines) == 0 && err == nil && ok {
			lines, _ = h.LogLines(&t, k, card, maxTailLines)
		}
	}
	if lines = ansi.LastLines(strings.Join(lines, "\n"), lastShown); len(lines) == 0 {
		return nil
	}
	return strings.Split(h.maskAgentSecrets(card.Harness, strings.Join(lines, "\n")), "\n")
}

// closedWindowLines returns what the window of an attempt that is over still shows, if it has one. tmux adds a line that
// says so.
func (h *Host) closedWindowLines(k agents.Key, card agents.Card) []string {
	t, ok, err := h.Task(k.Task)
	if card.Window == "" || h.terminal == nil || !ok || err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxCapture)
	defer cancel()
	text, err := h.terminal.CaptureText(ctx, t.TmuxSession, card.Window)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(ansi.LastLines(text, lastShown+1), func(line string) bool { return strings.HasPrefix(line, "Pane is dead (") })
}

// LastOutput returns a function that reads the last lines of an attempt of t, as text. The exits that older
// versions recorded do not contain them.
func (h *Host) LastOutput(t *task.Task) func(attempt int) string {
	return func(attempt int) string {
		if h.Agents == nil {
			return ""
		}
		return h.Agents.ShownLast(agents.Key{Task: t.ID, Number: attempt})
	}
}

// LastMessage returns a function that reads the last message of an attempt of t, as text.
func (h *Host) LastMessage(t *task.Task) func(attempt int) string {
	return func(attempt int) string {
		if h.Agents == nil {
			return ""
		}
		text, err := h.Agents.LastMessage(t, attempt)
		if err != nil {
			return ""
		}
		return ansi.SafeText(text)
	}
}

// minSecret is the length from which the beginning or the end of a secret is masked too, because programs show
// parts of keys.
const minSecret = 8

// maskAgentSecrets removes the secrets of an agent's environment, and parts of them, from a text.
func (h *Host) maskAgentSecrets(harness, text string) string {
	return MaskSecrets(h.AgentEnv(harness), text)
}

// MaskSecrets removes the secrets of an environment, and parts of them, from a text.
func MaskSecrets(env []string, text string) string {
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

// isFile reports whether a value names a file, as GOOGLE_APPLICATION_CREDENTIALS does. The path of a secret is not
// secret.
func isFile(value string) bool {
	if !filepath.IsAbs(value) {
		return false
	}
	_, err := os.Stat(value)
	return err == nil
}

// secretName reports whether a variable of this name holds a secret.
func secretName(name string) bool {
	for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"} {
		if strings.Contains(strings.ToUpper(name), word) {
			return true
		}
	}
	return false
}

// PrintedLines returns the last lines that an attempt printed: as its terminal showed them, or as written if it has
// no terminal. Cut reports whether there is more before them.
func (h *Host) PrintedLines(k agents.Key, card agents.Card, most int) (lines []string, cut bool, err error) {
	text, cut, err := ReadOutputEnd(h.Agents.OutputFile(k))
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

// ReadOutputEnd reads the end of an attempt's output, and reports whether there is more before it. The text
// begins with a whole line if possible. A missing file is not an error.
func ReadOutputEnd(path string) (text []byte, cut bool, err error) {
	return readOutputEnd(path, maxReplay)
}

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

// outputLines returns the output of a program without a terminal as lines of text.
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
