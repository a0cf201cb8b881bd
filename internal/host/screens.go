package host

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"orange/internal/adapter/filewatch"
	"orange/internal/adapter/tmux"
	"orange/internal/core/task"
	"orange/internal/host/agents"
	"orange/internal/outputlog"
	"orange/internal/view/ansi"
)

const (
	maxTyped = 16 << 10 // bytes that a person may type in one go
	// pollInterval is how often an agent's screen is read if its output cannot be watched. This is the only
	// polling besides trackers and forges, and it lasts only while somebody watches.
	pollInterval = time.Second
	// pasteDelay is how long a program takes further input for part of a paste.
	pasteDelay = 300 * time.Millisecond
)

// HasTerminal reports whether agents have terminals here.
func (h *Host) HasTerminal() bool { return h.terminal != nil }

// TerminalVersion returns the version of tmux.
func (h *Host) TerminalVersion(ctx context.Context) (string, error) { return h.terminal.Version(ctx) }

// AttachArgv returns the command that shows a terminal session, at a window unless that is "".
func (h *Host) AttachArgv(session, window string) []string {
	return h.terminal.AttachArgv(session, window)
}

// CaptureScreen returns what a window shows. It returns false if the window is gone.
func (h *Host) CaptureScreen(ctx context.Context, session, window string) (v ansi.View, ok bool, err error) {
	v, err = h.terminal.CaptureView(ctx, session, window)
	if errors.Is(err, tmux.ErrGone) {
		return v, false, nil
	}
	return v, err == nil, err
}

// ReadInput returns what input the screen of an agent accepts.
func (h *Host) ReadInput(harness string, v ansi.View) ansi.Input {
	return h.Agents.Harnesses.ReadInput(harness, v)
}

// TypeKeysAt types keys into a window. It does nothing and returns false if something was drawn since seen was read, or if tmux itself
// handles keys.
func (h *Host) TypeKeysAt(ctx context.Context, session, window string, seen ansi.View, keys string) (bool, error) {
	return h.terminal.TypeKeysAt(ctx, session, window, seen, keys)
}

// watchOutput implements agents.AgentOptions.
func (h *Host) watchOutput(file string, changed func()) (stop func(), err error) {
	return h.Watcher.Add(filewatch.Watch{Folder: filepath.Dir(file), Names: []string{outputlog.NamePattern(file)}, Pause: pasteDelay, Changed: changed})
}

// WatchOutput returns a channel that receives, until ctx ends, after an attempt wrote something. If the output cannot
// be watched, the channel receives every pollInterval.
func (h *Host) WatchOutput(ctx context.Context, k agents.Key) <-chan struct{} {
	wrote := make(chan struct{}, 1)
	tell := func() {
		select {
		case wrote <- struct{}{}:
		default:
		}
	}
	file := h.Agents.OutputFile(k)
	stop, err := h.Watcher.Add(filewatch.Watch{Folder: filepath.Dir(file), Names: []string{outputlog.NamePattern(file)}, Changed: tell})
	if err != nil {
		h.Log.Debug("watch an agent's output", "component", "screens", "task", k.Task, "error", err)
		go pollUntilDone(ctx, tell) // ends with ctx
		return wrote
	}
	context.AfterFunc(ctx, stop)
	return wrote
}

// pollUntilDone calls call every pollInterval until ctx ends.
func pollUntilDone(ctx context.Context, call func()) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			call()
		}
	}
}

// ErrWindowGone means that no program runs in a window any more.
var ErrWindowGone = tmux.ErrGone

// TypeText pastes a clean text into a window, waits for pasteDelay so that the program does not take Enter for part
// of the paste, and presses Enter.
func (h *Host) TypeText(ctx context.Context, session, window, text string) error {
	if text != "" {
		if err := h.terminal.PasteText(ctx, session, window, text); err != nil {
			return err
		}
		wait := time.NewTimer(pasteDelay)
		defer wait.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wait.C:
		}
	}
	return h.terminal.PressEnter(ctx, session, window)
}

// CleanTypedText returns a text that a person typed, ready to be pasted. It returns an error if the text contains
// anything that a terminal acts on. An empty text means Enter alone.
func CleanTypedText(text string) (string, error) {
	switch {
	case len(text) > maxTyped:
		return "", task.Mistakef("the text has %d bytes, more than the %d that can be typed in one go: put it into a file and tell the agent where it is", len(text), maxTyped)
	case !utf8.ValidString(text):
		return "", task.Mistakef("the text is not valid UTF-8: type it again")
	}
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if i := strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
		return "", task.Mistakef("the text has a control character after %q: leave it out, or press the key in the terminal itself: orange task attach", lastOf(text[:i]))
	}
	return text, nil
}

// lastOf returns the end of a text, short enough to be quoted.
func lastOf(text string) string {
	list := []rune(text)
	return string(list[max(len(list)-20, 0):])
}
