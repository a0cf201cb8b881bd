package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Window is a terminal to open. Session must come from SessionName; Name may be
// anything. Argv is run as it is, not by a shell. What the program prints, from its first
// byte, is the standard input of Recorder, which is run with the path Log as its last
// argument; an empty Log keeps nothing. Width and Height count until somebody attaches;
// zero means a usual size.
type Window struct {
	Session, Name, Dir string
	Argv               []string
	Log                string
	Recorder           []string
	Width, Height      int
}

// tries is how often Open asks again when the server ended while it was asked, as it
// does when another session that was its last is closed at that moment.
const tries = 5

// OpenWindow opens the window in its session, which is made if it is not there. Nobody's view
// changes. If a window of that name is there and its program has ended, it is used
// again; if its program runs, the error is ErrOpen.
func (s *Server) OpenWindow(ctx context.Context, w Window) error {
	if err := w.prepareWindow(); err != nil {
		return fmt.Errorf("open a terminal: %w", err)
	}
	var err error
	for try := range tries {
		if err = s.openOnce(ctx, w); !errors.Is(err, errNoServer) {
			break
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("open window %q: %w", w.Name, ctx.Err())
		case <-time.After(time.Duration(try+1) * 10 * time.Millisecond):
		}
	}
	if err != nil {
		return fmt.Errorf("open window %q: %w", w.Name, err)
	}
	return nil
}

// prepareWindow checks what tmux would not complain about, and makes the log.
func (w *Window) prepareWindow() error {
	if !safeName(w.Session) {
		return fmt.Errorf("%q is no session name: use SessionName", w.Session)
	}
	if w.Name == "" || len(w.Argv) == 0 || w.Argv[0] == "" {
		return errors.New("a window needs a name and a program")
	}
	if info, err := os.Stat(w.Dir); err != nil || !info.IsDir() || !filepath.IsAbs(w.Dir) {
		return fmt.Errorf("%q is not a folder: give the full path of one", w.Dir)
	}
	if w.Width <= 0 || w.Height <= 0 {
		w.Width, w.Height = 160, 48
	}
	if w.Log == "" {
		return nil
	}
	if !filepath.IsAbs(w.Log) || strings.HasSuffix(w.Log, "\n") {
		return fmt.Errorf("%q cannot be a log: give a full path", w.Log)
	}
	if len(w.Recorder) == 0 {
		return errors.New("a log needs a program that records it")
	}
	f, err := os.OpenFile(w.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// openOnce asks once. In the usual case that is one tmux process: the server itself finds
// out whether the session and the window are there, so that nothing can change between
// the question and the answer.
func (s *Server) openOnce(ctx context.Context, w Window) error {
	there := inSession(w.Session, "#{W:#{P:#{?#{==:#{@orange},"+windowName(w.Name)+"},yes,}}}")
	create := ifElseCommand(inSession(w.Session, "yes"), "", w.newWindowCommands(), w.newSessionCommands())
	commands := append([]command{{"start-server"}}, serverOptions()...)
	commands = append(commands, ifElseCommand(there, "", []command{listPanesCommand()}, []command{create}))
	out, err := s.runCommands(ctx, nil, commands...)
	if err != nil {
		return err
	}
	for _, p := range parseListing(out) {
		if p.Session != w.Session || p.Window != w.Name {
			continue
		}
		if !p.Dead {
			return ErrOpen
		}
		return s.reuseWindow(ctx, w, p)
	}
	return nil
}

// inSession is a format that is what inner is within that session, and empty if there
// is no such session.
func inSession(session, inner string) string {
	return "#{S:#{?#{==:#{session_name}," + session + "}," + inner + ",}}"
}

// reuseWindow starts the window's program in a window whose program has ended. tmux refuses
// if somebody else was faster.
func (s *Server) reuseWindow(ctx context.Context, w Window, p Pane) error {
	respawn := append(append(command{"respawn-pane", "-t", p.id}, w.startOptions()...), "--")
	_, err := s.runCommands(ctx, nil, append([]command{append(respawn, w.programArgs()...)}, w.markCommands(p.id)...)...)
	if err != nil && strings.Contains(err.Error(), "still active") {
		return ErrOpen
	}
	return err
}

// newSessionCommands are the commands that make the session with this window in it.
func (w Window) newSessionCommands() []command {
	size := fmt.Sprintf("%dx%d", w.Width, w.Height)
	add := command{"new-session", "-d", "-s", w.Session, "-n", windowName(w.Name),
		"-x", fmt.Sprint(w.Width), "-y", fmt.Sprint(w.Height)}
	add = append(append(append(add, w.startOptions()...), "--"), w.programArgs()...)
	here := "=" + w.Session + ":"
	return append([]command{add, {"set-option", "-t", here, "default-size", size}}, w.markCommands(here)...)
}

// newWindowCommands are the commands that add this window to a session that is there. It becomes
// the last one, and is found there whatever names the others have.
func (w Window) newWindowCommands() []command {
	last := "=" + w.Session + ":{end}"
	add := command{"new-window", "-d", "-a", "-t", last, "-n", windowName(w.Name)}
	add = append(append(append(add, w.startOptions()...), "--"), w.programArgs()...)
	return append([]command{add}, w.markCommands(last)...)
}

// startOptions says where the program begins. tmux expands formats in this option.
func (w Window) startOptions() []string {
	if strings.Contains(w.Dir, "#") {
		return nil // argv sees to it
	}
	return []string{"-c", w.Dir}
}

// programArgs is the program for tmux: a single argument would go to a shell.
func (w Window) programArgs() []string {
	switch {
	case strings.Contains(w.Dir, "#"):
		return append([]string{"/bin/sh", "-c", `cd "$0" && exec "$@"`, w.Dir}, w.Argv...)
	case len(w.Argv) == 1:
		return []string{"/bin/sh", "-c", `exec "$0"`, w.Argv[0]}
	}
	return w.Argv
}

// markCommands are the commands that make the pane known as ours and keep what it prints. They
// run before the server reads anything from the pane.
func (w Window) markCommands(target string) []command {
	marks := []command{{"set-option", "-p", "-t", target, "@orange", windowName(w.Name)}}
	if w.Log == "" {
		return marks
	}
	record := "umask 077; exec"
	for _, word := range w.Recorder {
		record += " " + shellWord(word)
	}
	return append(marks, command{"pipe-pane", "-t", target, record + " " + shellWord(w.Log)})
}

// shellWord writes a word for a shell without any sign that tmux's formats or the time
// formats that it puts through first could act on, and none that printf takes for an option.
// It must not end with a line end.
func shellWord(word string) string {
	var out strings.Builder
	out.WriteString(`"$(printf '`)
	for _, b := range []byte(word) {
		if '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z' || b == '/' || b == '.' || b == '_' {
			out.WriteByte(b)
		} else {
			fmt.Fprintf(&out, `\%03o`, b)
		}
	}
	out.WriteString(`')"`)
	return out.String()
}

// serverOptions are what makes the server ours. They are said with every Open, because any of
// them may be the one that starts the server.
func serverOptions() []command {
	return []command{
		{"set-option", "-s", "escape-time", "10"},
		{"set-option", "-s", "default-terminal", Terminal},
		{"set-option", "-g", "history-limit", "10000"},
		{"set-option", "-g", "set-titles", "off"},
		{"set-option", "-g", "update-environment", ""},
		{"set-option", "-g", "status-interval", "0"},
		{"set-option", "-g", "status-left", "#{session_name} "},
		{"set-option", "-g", "status-left-length", "80"},
		{"set-option", "-g", "status-right", ""},
		{"set-option", "-wg", "remain-on-exit", "on"},
		{"set-option", "-wg", "automatic-rename", "off"},
		{"set-option", "-wg", "allow-rename", "off"},
		{"set-option", "-wgq", "allow-passthrough", "off"},
	}
}
