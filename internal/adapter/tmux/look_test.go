package tmux_test

import (
	"errors"
	"strings"
	"testing"

	"orange/internal/adapter/tmux"
	"orange/internal/wait"
)

// shows waits until a window shows something.
func shows(t *testing.T, s *tmux.Server, session, window, want string) string {
	t.Helper()
	var text string
	wait.Until(t, "the window shows "+want, func() bool {
		v, err := s.CaptureView(t.Context(), session, window)
		if err != nil {
			t.Fatal(err)
		}
		text = v.Text
		return strings.Contains(text, want)
	})
	return text
}

func TestLookShowsColours(t *testing.T) {
	s := terminal(t)
	open(t, s, tmux.Window{Session: "p/b", Name: "worker", Argv: []string{"sh", "-c", `printf '\033[31mred\033[0m \033[1mbold\033[0m \033(0lq\033[34mqk\033(B lqk\n'; exec cat`}})
	text := shows(t, s, "p/b", "worker", "bold")
	if !strings.Contains(text, "\x1b[31mred") || !strings.Contains(text, "\x1b[1m") || !strings.Contains(text, "┌─\x1b[34m─┐") || !strings.Contains(text, " lqk") || strings.Contains(text, "\x0e") {
		t.Errorf("%q", text)
	}
	if err := s.PasteText(t.Context(), "p/b", "worker", "more of it\n"); err != nil {
		t.Fatal(err)
	}
	shows(t, s, "p/b", "worker", "more of it")
}

func TestLookIsNeverAtAnotherWindow(t *testing.T) {
	s := terminal(t)
	say := func(word string) []string { return []string{"sh", "-c", "echo " + word + "; exec cat"} }
	open(t, s, tmux.Window{Session: "p/b", Name: "worker", Argv: say("first")})
	open(t, s, tmux.Window{Session: "p/b", Name: "reviewer", Argv: say("other")})
	shows(t, s, "p/b", "worker", "first")
	shows(t, s, "p/b", "reviewer", "other")
	if err := s.CloseWindow(t.Context(), "p/b", "worker"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if v, err := s.CaptureView(t.Context(), "p/b", "worker"); !errors.Is(err, tmux.ErrGone) {
			t.Errorf("%q, %v", v.Text, err)
		}
	}
	open(t, s, tmux.Window{Session: "p/b", Name: "worker", Argv: say("second")})
	if text := shows(t, s, "p/b", "worker", "second"); strings.Contains(text, "first") {
		t.Errorf("%q", text)
	}
	if err := s.KillServer(t.Context()); err != nil { // the next one counts its panes from the beginning
		t.Fatal(err)
	}
	if v, err := s.CaptureView(t.Context(), "p/b", "worker"); !errors.Is(err, tmux.ErrGone) {
		t.Errorf("%q, %v", v.Text, err)
	}
	open(t, s, tmux.Window{Session: "p/b", Name: "reviewer", Argv: say("third")})
	open(t, s, tmux.Window{Session: "p/b", Name: "worker", Argv: say("fourth")})
	shows(t, s, "p/b", "worker", "fourth")
	shows(t, s, "p/b", "reviewer", "third")
}

func TestLookAtAProgramThatHasEnded(t *testing.T) {
	s := terminal(t)
	open(t, s, tmux.Window{Session: "p/b", Name: "worker", Argv: []string{"sh", "-c", `printf '\033[32mlast words\n'; read x`}})
	shows(t, s, "p/b", "worker", "last words")
	if err := s.PressEnter(t.Context(), "p/b", "worker"); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "it ends", func() bool { return windows(t, s)[0] == "p/b worker dead=true" })
	if text := shows(t, s, "p/b", "worker", "last words"); !strings.Contains(text, "\x1b[32m") {
		t.Errorf("%q", text)
	}
}

// A key goes to a screen that is what was seen, and to no other.
func TestKeysAtAScreen(t *testing.T) {
	s := terminal(t)
	open(t, s, tmux.Window{Session: "p/b", Name: "worker", Argv: []string{"sh", "-c", "stty -echo raw; printf 'Proceed? '; dd bs=1 count=1 2>/dev/null | od -An -c; printf '\\r\\nnext '; exec cat"}})
	shows(t, s, "p/b", "worker", "Proceed?")
	seen, err := s.ReadView(t.Context(), "p/b", "worker")
	if err != nil {
		t.Fatal(err)
	}
	if done, err := s.TypeKeysAt(t.Context(), "p/b", "worker", seen, "\x1b"); err != nil || !done {
		t.Fatalf("done %v, %v", done, err)
	}
	shows(t, s, "p/b", "worker", "033")
	shows(t, s, "p/b", "worker", "next")
	if done, err := s.TypeKeysAt(t.Context(), "p/b", "worker", seen, "x"); err != nil || done {
		t.Errorf("a key was typed at a screen that nobody saw: done %v, %v", done, err)
	}
}
