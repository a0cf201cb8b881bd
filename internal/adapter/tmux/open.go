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

// A Window is a terminal to open. Session must come from SessionName; Name may be any text.
// Argv is run directly, not by a shell. Recorder is run with the path Log as its last argument
// and receives the program's output, from the first byte, on its standard input; an empty Log
// records nothing. Width and Height apply until someone attaches; zero means a default size.
type Window struct {
	Session, Name, Dir string
	Argv               []string
	Log                string
	Recorder           []string
	Width, Height      int
}

// tries is how often OpenWindow retries if the server ends during the call, as it does when its
// last session is closed at that moment.
const tries = 5

// OpenWindow opens the window in its session, and creates the session if necessary. It does not
// change what attached people see. If a window with that name exists and its program has ended,
// OpenWindow uses it again; if its program runs, it returns ErrOpen.
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

// prepareWindow checks what tmux would not complain about, and creates the log.
func (w *Window) prepareWindow() error {
	if !safeName(w.Session) {
		return fmt.Errorf("%q is not a session name: use SessionName", w.Session)
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

// openOnce tries once. Usually it needs one tmux process: the server itself checks whether the
// session and the window exist, so that nothing can change between the check and the action.
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

// inSession returns a format that evaluates inner within that session, and is empty if the
// session does not exist.
func inSession(session, inner string) string {
	return "#{S:#{?#{==:#{session_name}," + session + "}," + inner + ",}}"
}

// reuseWindow starts the program in a window whose program has ended. tmux refuses if another
// caller was faster.
func (s *Server) reuseWindow(ctx context.Context, w Window, p Pane) error {
	respawn := append(append(command{"respawn-pane", "-t", p.id}, w.startOptions()...), "--")
	_, err := s.runCommands(ctx, nil, append([]command{append(respawn, w.programArgs()...)}, w.markCommands(p.id)...)...)
	if err != nil && strings.Contains(err.Error(), "still active") {
		return ErrOpen
	}
	return err
}

// newSessionCommands returns the commands that create the session with this window.
func (w Window) newSessionCommands() []command {
	size := fmt.Sprintf("%dx%d", w.Width, w.Height)
	add := command{"new-session", "-d", "-s", w.Session, "-n", windowName(w.Name),
		"-x", fmt.Sprint(w.Width), "-y", fmt.Sprint(w.Height)}
	add = append(append(append(add, w.startOptions()...), "--"), w.programArgs()...)
	here := "=" + w.Session + ":"
	return append([]command{add, {"set-option", "-t", here, "default-size", size}}, w.markCommands(here)...)
}

// newWindowCommands returns the commands that add this window to an existing session. It
// becomes the last one, so that it can be addressed whatever names the others have.
func (w Window) newWindowCommands() []command {
	last := "=" + w.Session + ":{end}"
	add := command{"new-window", "-d", "-a", "-t", last, "-n", windowName(w.Name)}
	add = append(append(append(add, w.startOptions()...), "--"), w.programArgs()...)
	return append([]command{add}, w.markCommands(last)...)
}

// startOptions returns the option for the working folder. tmux expands formats in it.
func (w Window) startOptions() []string {
	if strings.Contains(w.Dir, "#") {
		return nil // programArgs handles it
	}
	return []string{"-c", w.Dir}
}

// programArgs returns the program for tmux, which would pass a single argument to a shell.
func (w Window) programArgs() []string {
	switch {
	case strings.Contains(w.Dir, "#"):
		return append([]string{"/bin/sh", "-c", `cd "$0" && exec "$@"`, w.Dir}, w.Argv...)
	case len(w.Argv) == 1:
		return []string{"/bin/sh", "-c", `exec "$0"`, w.Argv[0]}
	}
	return w.Argv
}

// markCommands returns the commands that mark the pane as Orange's and record its output. They
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

// shellWord quotes a word for a shell without any character that tmux's formats, or the time
// formats that it expands first, could act on, and none that printf takes for an option. The
// word must not end with a line end.
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

// Configure sets the options and keys of Orange's server if it runs: an earlier release may have
// started it.
func (s *Server) Configure(ctx context.Context) error {
	if _, err := s.runCommands(ctx, nil, serverOptions()...); err != nil && !errors.Is(err, errNoServer) {
		return fmt.Errorf("set the options of tmux: %w", err)
	}
	return nil
}

// leaveKey is the key with which a person leaves a window, as people call it. It needs no prefix,
// so that it works inside the person's own tmux, which has the same prefix.
const leaveKey = "Ctrl-Q"

// serverOptions returns the options and keys of Orange's server. Every OpenWindow sets them,
// because any of them may be the one that starts the server.
func serverOptions() []command {
	return []command{
		{"set-option", "-s", "escape-time", "10"},
		{"set-option", "-s", "default-terminal", Terminal},
		{"set-option", "-g", "history-limit", "10000"},
		{"set-option", "-g", "set-titles", "off"},
		{"set-option", "-g", "update-environment", ""},
		{"set-option", "-g", "status-interval", "0"},
		{"set-option", "-g", "status-left", "#{session_name} "},
		{"set-option", "-g", "status-left-length", "60"},
		{"set-option", "-g", "status-right", " " + leaveKey + " leaves "},
		{"bind-key", "-n", "C-q", "detach-client"},
		{"bind-key", "C-q", "send-keys", "C-q"}, // after the prefix, the program gets it
		{"set-option", "-wg", "remain-on-exit", "on"},
		{"set-option", "-wg", "automatic-rename", "off"},
		{"set-option", "-wg", "allow-rename", "off"},
		{"set-option", "-wgq", "allow-passthrough", "off"},
	}
}
