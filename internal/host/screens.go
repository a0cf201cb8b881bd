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
)

const (
	maxTyped = 16 << 10 // bytes that a person may type at once
	// pollInterval is how often an agent is looked at whose output cannot be watched: the one
	// thing beside trackers and forges that polls, and only while somebody looks.
	pollInterval = time.Second
	// pasteDelay is how long a program takes what comes for part of a paste.
	pasteDelay = 300 * time.Millisecond
)

// HasTerminal says whether agents have terminals here.
func (h *Host) HasTerminal() bool { return h.terminal != nil }

// TerminalVersion asks tmux which version it is.
func (h *Host) TerminalVersion(ctx context.Context) (string, error) { return h.terminal.Version(ctx) }

// AttachArgv is the command that shows a terminal session, and a window of it if one is named.
func (h *Host) AttachArgv(session, window string) []string {
	return h.terminal.AttachArgv(session, window)
}

// CaptureScreen returns what a window shows, with its styles. It returns false if there is no such
// window any more.
func (h *Host) CaptureScreen(ctx context.Context, session, window string) (text string, ok bool, err error) {
	text, err = h.terminal.CaptureStyled(ctx, session, window)
	if errors.Is(err, tmux.ErrGone) {
		return "", false, nil
	}
	return text, err == nil, err
}

// watchOutput implements agents.Options.
func (h *Host) watchOutput(file string, changed func()) (stop func(), err error) {
	return h.Watcher.Add(filewatch.Watch{Folder: filepath.Dir(file), Names: []string{outputlog.NamePattern(file)}, Pause: pasteDelay, Changed: changed})
}

// WatchOutput reports, until ctx ends, that an attempt wrote something. Where output cannot be watched
// it is looked at every now and then instead.
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

// pollUntilDone calls again and again until ctx ends.
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

// ErrWindowGone says that no program runs in a window any more.
var ErrWindowGone = tmux.ErrGone

// TypeText gives a clean text to a window, and then Enter: what comes immediately is taken for part of it.
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

// CleanTypedText is what a person may type: text, and nothing that a terminal acts on. No text at
// all is Enter alone.
func CleanTypedText(text string) (string, error) {
	switch {
	case len(text) > maxTyped:
		return "", task.Mistakef("the text has %d bytes, and %d can be typed at once: put it into a file and tell the agent where it is", len(text), maxTyped)
	case !utf8.ValidString(text):
		return "", task.Mistakef("the text is not valid UTF-8: type it again")
	}
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if i := strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
		return "", task.Mistakef("the text has a control character behind %q: leave it out, or press the key in the terminal itself: orange task attach", lastOf(text[:i]))
	}
	return text, nil
}

// lastOf is the end of a text, short enough to be quoted.
func lastOf(text string) string {
	list := []rune(text)
	return string(list[max(len(list)-20, 0):])
}
