package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"orange/internal/adapter/shim"
	"orange/internal/adapter/tmux"
	"orange/internal/core/agent"
	"orange/internal/view/ansi"
)

// launchInWindow opens a window for a shim. It first closes a window of the same name that an earlier attempt left.
func (h *Host) launchInWindow(o agent.Orders) shim.Launch {
	return func(ctx context.Context, argv []string) error {
		w := tmux.Window{Session: o.Window.Session, Name: o.Window.Name, Dir: o.Dir, Argv: argv, Log: o.Window.Log, Recorder: []string{h.Self, OutputCommand}, Width: ansi.TerminalWidth, Height: ansi.TerminalHeight}
		err := h.terminal.OpenWindow(ctx, w)
		if !errors.Is(err, tmux.ErrOpen) {
			return err
		}
		if err := h.terminal.CloseWindow(ctx, w.Session, w.Name); err != nil {
			return err
		}
		return h.terminal.OpenWindow(ctx, w)
	}
}

// terminal implements agents.Terminal with tmux.
type terminal struct{ *tmux.Server }

// SessionName implements agents.Terminal.
func (terminal) SessionName(project, branch string) string { return tmux.SessionName(project, branch) }

// inPath returns env with the folder of this program first in PATH.
func inPath(env []string, self string) []string {
	dir := filepath.Dir(self)
	out := make([]string, 0, len(env)+1)
	found := false
	for _, kv := range env {
		if value, ok := cutVariable(kv, "PATH"); ok {
			kv, found = "PATH="+dir+string(os.PathListSeparator)+value, true
		}
		out = append(out, kv)
	}
	if !found {
		out = append(out, "PATH="+dir)
	}
	return out
}

// envValue returns the value of a variable in an environment.
func envValue(env []string, name string) string {
	for _, kv := range env {
		if value, ok := cutVariable(kv, name); ok {
			return value
		}
	}
	return ""
}

func cutVariable(kv, name string) (string, bool) {
	if len(kv) > len(name) && kv[:len(name)] == name && kv[len(name)] == '=' {
		return kv[len(name)+1:], true
	}
	return "", false
}
