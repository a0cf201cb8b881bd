package terminals

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/task"
	"orange/internal/host"
	"orange/internal/view/ansi"
	"orange/internal/wire"
)

// namedKeys are the characters that a terminal sends for the keys of wire.KeyNames.
var namedKeys = map[string]string{
	"enter": "\r", "esc": "\x1b", "tab": "\t", "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "ctrl-c": "\x03",
}

// keyTries is how often a key is tried while the screen is drawn and still means the same.
const keyTries = 5

// errChanged is the answer to somebody who decided about something that is not shown any more.
var errChanged = task.Mistakef("the terminal shows something else now, so nothing was pressed: look at it and decide again")

// PressKey implements api.Screens. It reads the screen immediately before it types, and types only if the screen is what the person
// saw; tmux itself checks that nothing was drawn in between.
func (s Viewer) PressKey(ctx context.Context, t task.Task, in wire.KeyInput) error {
	a, err := s.agentWithTerminal(&t, in.Role)
	if err != nil {
		return err
	}
	for range keyTries {
		v, ok, err := s.Host.CaptureScreen(ctx, t.TmuxSession, a.card.Window)
		if err != nil || !ok {
			return errors.Join(err, errClosed(&t, ok))
		}
		input := s.Host.ReadInput(a.card.Harness, v)
		switch {
		case v.InMode:
			return task.Mistakef("somebody reads the history of this terminal in tmux, so keys do not reach the agent: leave that mode first")
		case in.Seen == "" || in.Seen != digestScreen(a.Number, v, input):
			return errChanged
		case in.Dialog && input.Kind != ansi.Dialog:
			return task.Mistakef("no dialog is open, so nothing was pressed: look at the terminal again")
		}
		keys, err := keysFor(in.Key, input)
		if err != nil {
			return err
		}
		done, err := s.Host.TypeKeysAt(ctx, t.TmuxSession, a.card.Window, v, keys)
		if done || err != nil {
			return errors.Join(err, errClosed(&t, !errors.Is(err, host.ErrWindowGone)))
		}
	}
	return errChanged
}

// errClosed returns why nothing can be typed, if the window is not open.
func errClosed(t *task.Task, open bool) error {
	if open {
		return nil
	}
	return task.Mistakef("the terminal of task %s is closed: start its agent again with orange task spawn %s", t.ID, t.ID)
}

// keysFor returns the characters of a named key, or of a choice that the dialog offers.
func keysFor(key string, input ansi.Input) (string, error) {
	if keys, ok := namedKeys[key]; ok {
		return keys, nil
	}
	if slices.ContainsFunc(input.Choices(), func(c ansi.DialogChoice) bool { return c.Key == key }) {
		return key, nil
	}
	return "", task.Mistakef("unknown key %q: press one of %s, or a choice that is shown", ansi.OneLine(key), strings.Join(wire.KeyNames(), ", "))
}

// digestScreen names what a screen shows to somebody who decides about it. A dialog is named by its question, what is above it and its answers;
// the input line of an agent is named as such, because what is drawn around it moves while the agent works; any other screen by its text.
func digestScreen(attempt int, v ansi.View, input ansi.Input) string {
	what := "text\n"
	switch {
	case input.Question != "":
		what = "question\n" + input.Question
	case input.Kind == ansi.Prompt:
		what = "prompt"
	default:
		for _, line := range ansi.ParseLines(v.Text) {
			what += strings.TrimRight(line.String(), " ") + "\n"
		}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s", attempt, what))
	return hex.EncodeToString(sum[:12])
}
