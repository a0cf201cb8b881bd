package server

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
	"orange/internal/outputlog"
	"orange/internal/runtime/agents"
	"orange/internal/view/ansi"
	"orange/internal/wire"
)

const (
	maxTailLines = 200      // lines of an agent's log that are shown
	maxTyped     = 16 << 10 // bytes that a person may type at once
	// pollInterval is how often an agent is looked at whose output cannot be watched: the one
	// thing beside trackers and forges that polls, and only while somebody looks.
	pollInterval = time.Second
	// pasteDelay is how long a program takes what comes for part of a paste.
	pasteDelay = 300 * time.Millisecond
)

// screens look at the terminals of agents.
type screens struct{ s *Server }

// viewedAgent is an agent that can be looked at.
type viewedAgent struct {
	agents.Key
	card  agents.Card
	alive bool
}

// ReadScreen implements api.Screens. An agent with a terminal shows what is on it; of one
// that has none, or that has ended, the last lines of its log are shown.
func (v screens) ReadScreen(ctx context.Context, t task.Task, role string) (wire.Screen, error) {
	out := wire.Screen{Role: role, At: time.Now().UTC()}
	a, ok, err := v.findAgent(&t, role)
	if err != nil {
		return out, err
	}
	if !ok {
		out.Note = "no agent is at work"
		return out, nil
	}
	out.Attempt, out.Role, out.Harness, out.Alive = a.Number, a.card.Role, a.card.Harness, a.alive
	if a.alive && v.hasTerminal(&t, a) {
		text, err := v.s.host.terminal.CaptureStyled(ctx, t.Session, a.card.Window)
		if err == nil {
			out.Lines = ansi.ParseLines(text)
			return out, nil
		}
		if !errors.Is(err, tmux.ErrGone) {
			return out, err
		}
	}
	lines, err := v.s.host.logLines(&t, a.Key, a.card, maxTailLines)
	if err != nil {
		return out, err
	}
	if strings.TrimSpace(strings.Join(lines, "")) == "" {
		out.Note = "it has written nothing yet"
		if !a.alive {
			out.Note = "it wrote nothing"
		}
		return out, nil
	}
	out.Lines = ansi.ParseLines(strings.Join(lines, "\n"))
	return out, nil
}

// findAgent is the one that a person wants to see: the living one of the role, else the last
// one there was. Without a role it is the one whose turn it is.
func (v screens) findAgent(t *task.Task, role string) (viewedAgent, bool, error) {
	if live, ok := v.livingAttempt(t, role); ok {
		k := agents.Key{Task: t.ID, Number: live.Number}
		card, err := v.s.host.agents.LoadCard(k)
		card.Role = live.Role
		return viewedAgent{k, card, true}, true, err
	}
	for n := t.AttemptCount(); n > 0; n-- {
		k := agents.Key{Task: t.ID, Number: n}
		card, err := v.s.host.agents.LoadCard(k)
		if err == nil && card.Role != "" && (role == "" || role == card.Role) {
			return viewedAgent{k, card, false}, true, nil
		}
	}
	return viewedAgent{}, false, nil
}

// livingAttempt is the newest living attempt of a role; without one, that of the state's role
// before all others.
func (v screens) livingAttempt(t *task.Task, role string) (task.Attempt, bool) {
	if role == "" {
		if def, err := v.s.runtime.Definition(t); err == nil {
			if st, ok := def.StateNamed(t.Status); ok && st.Role != "" {
				if a, ok := newestAttempt(t, st.Role); ok {
					return a, true
				}
			}
		}
	}
	return newestAttempt(t, role)
}

// newestAttempt is the last attempt of a role, or of any, that is not over; one that was not told
// to end comes first.
func newestAttempt(t *task.Task, role string) (out task.Attempt, ok bool) {
	for _, a := range t.Attempts {
		if (role == "" || role == a.Role) && (!ok || out.Ending || !a.Ending) {
			out, ok = a, true
		}
	}
	return out, ok
}

// hasTerminal says whether an agent has one.
func (v screens) hasTerminal(t *task.Task, a viewedAgent) bool {
	return v.s.host.terminal != nil && t.Session != "" && a.card.Window != ""
}

// WatchOutput implements api.Screens. Where output cannot be watched it is looked at every now
// and then instead.
func (v screens) WatchOutput(ctx context.Context, t task.Task, role string) (<-chan struct{}, error) {
	a, ok, err := v.findAgent(&t, role)
	if err != nil || !ok || !a.alive {
		return nil, err
	}
	wrote := make(chan struct{}, 1)
	tell := func() {
		select {
		case wrote <- struct{}{}:
		default:
		}
	}
	file := v.s.host.agents.OutputFile(a.Key)
	stop, err := v.s.measure.Watcher.Add(filewatch.Watch{Folder: filepath.Dir(file), Names: []string{outputlog.NamePattern(file)}, Changed: tell})
	if err != nil {
		v.s.log.Debug("watch an agent's output", "component", "screens", "task", t.ID, "error", err)
		go pollUntilDone(ctx, tell) // ends with ctx
		return wrote, nil
	}
	context.AfterFunc(ctx, stop)
	return wrote, nil
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

// TypeText implements api.Screens. The text is pasted as one; its last line ends are those
// that Enter makes.
func (v screens) TypeText(ctx context.Context, t task.Task, role, text string) error {
	text, err := cleanTypedText(text)
	if err != nil {
		return err
	}
	if v.s.host.terminal == nil {
		return task.Mistakef("agents run without a terminal here, where nothing can be typed: see orange task answer --help")
	}
	a, ok, err := v.findAgent(&t, role)
	switch {
	case err != nil:
		return err
	case !ok || !a.alive:
		return task.Mistakef("no agent of task %s is at work: start one with orange task spawn %s", t.ID, t.ID)
	case !v.hasTerminal(&t, a):
		return task.Mistakef("the %s of task %s has no terminal: wait until it is started, or see orange task log %s", a.card.Role, t.ID, t.ID)
	}
	err = v.pasteText(ctx, t.Session, a.card.Window, text)
	if errors.Is(err, tmux.ErrGone) {
		err = task.Mistakef("the terminal of task %s is closed: start its agent again with orange task spawn %s", t.ID, t.ID)
	}
	return err
}

// pasteText gives text to a window, and then Enter: what comes at once is taken for part of it.
func (v screens) pasteText(ctx context.Context, session, window, text string) error {
	if text != "" {
		if err := v.s.host.terminal.PasteText(ctx, session, window, text); err != nil {
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
	return v.s.host.terminal.PressEnter(ctx, session, window)
}

// cleanTypedText is what a person may type: text, and nothing that a terminal acts on. No text at
// all is Enter alone.
func cleanTypedText(text string) (string, error) {
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
