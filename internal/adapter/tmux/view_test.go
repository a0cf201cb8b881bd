package tmux_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/adapter/tmux"
	"orange/internal/wait"
)

// What was seen is checked by tmux itself in the step that types: a cursor that moved, and a mode in
// which tmux takes keys for itself, keep everything away.
func TestOnlyAWindowThatIsAsItWasSeenIsTypedAt(t *testing.T) {
	var socket string
	s := terminalAt(t, func(dir string) string { socket = filepath.Join(dir, "s"); return socket })
	dir := t.TempDir()
	log, got := filepath.Join(dir, "log"), filepath.Join(dir, "got")
	open(t, s, tmux.Window{Session: "p/b", Name: "w", Log: log, Argv: []string{"sh", "-c", `stty raw; printf 'ready> '; exec cat >"$1"`, "sh", got}})
	wait.Until(t, "the reader is ready", func() bool { return strings.Contains(read(t, log), "ready> ") })
	seen, err := s.ReadView(t.Context(), "p/b", "w")
	if err != nil || seen.X != len("ready> ") || seen.Y != 0 || seen.InMode || seen.Width == 0 || !strings.HasPrefix(seen.Text, "ready>") {
		t.Fatalf("%+v, %v", seen, err)
	}
	type outcome struct {
		done bool
		err  error
	}
	paste := func(text string) outcome {
		done, err := s.PasteAt(t.Context(), "p/b", "w", seen, text)
		return outcome{done, err}
	}
	enter := func() outcome {
		done, err := s.EnterAt(t.Context(), "p/b", "w", seen)
		return outcome{done, err}
	}
	mode := func(args ...string) {
		t.Helper()
		args = append([]string{"-S", socket, "copy-mode", "-t", "=p/b:"}, args...)
		if out, err := exec.Command("tmux", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}

	mode()
	if v, err := s.ReadView(t.Context(), "p/b", "w"); err != nil || !v.InMode {
		t.Errorf("in copy mode it is %+v, %v", v, err)
	}
	if a, b := paste("one;"), enter(); a != (outcome{}) || b != (outcome{}) {
		t.Errorf("in copy mode: %+v, %+v", a, b)
	}
	mode("-q")
	if a := paste("two;"); a != (outcome{done: true}) {
		t.Errorf("at the prompt: %+v", a)
	}
	wait.Until(t, "the cursor moves", func() bool {
		v, err := s.ReadView(t.Context(), "p/b", "w")
		return err == nil && v.X > seen.X
	})
	if a, b := paste("three;"), enter(); a != (outcome{}) || b != (outcome{}) {
		t.Errorf("behind what was typed: %+v, %+v", a, b)
	}
	if seen, err = s.ReadView(t.Context(), "p/b", "w"); err != nil {
		t.Fatal(err)
	}
	if b := enter(); b != (outcome{done: true}) {
		t.Errorf("seen again: %+v", b)
	}
	wait.Until(t, "it is read", func() bool { return strings.HasSuffix(read(t, got), "\r") })
	if text := read(t, got); text != "two;\r" {
		t.Errorf("it read %q", text)
	}
	if out, err := exec.Command("tmux", "-S", socket, "list-buffers").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("buffers are left: %s, %v", out, err)
	}
}
