package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A person leaves an agent's terminal with Ctrl-Q: from a shell, from the dashboard and inside
// their own tmux, which stays as it is. The terminal has flow control switched on, for which
// Ctrl-Q has a meaning of its own.
func TestCtrlQLeavesAnAgentsTerminal(t *testing.T) {
	s := openEnv(t, "tmux")
	id := s.create("feature", "worker:\n  - print: here is the agent\n  - idle:\n")
	s.alive(id, 1)
	attach := s.program + " task attach " + string(id)
	own := filepath.Join(s.dir, "own") // the person's own tmux
	inTmux := func(line string) string {
		return "stty ixon; tmux -S " + own + " -f /dev/null new-session -s mine \"sh -c 'stty ixon; " + line + "; echo it left with $?; exec sleep 1000'\""
	}
	t.Cleanup(func() { s.command("tmux", "-S", own, "kill-server").Run() }) //nolint:errcheck // it may be gone

	for name, line := range map[string]string{
		"a shell":            "stty ixon; " + attach,
		"inside another one": inTmux(attach),
	} {
		g := s.show(100, 24, line)
		g.shows("here is the agent", "Ctrl-Q leaves")
		s.attached("=shop/feature")
		g.press("C-q")
		g.shows("with 0")
		g.hides("Ctrl-Q leaves")
		if clients, err := s.tmux("list-clients"); err != nil || clients != "" {
			t.Errorf("%s: still attached: %q, %v", name, clients, err)
		}
		if name == "inside another one" {
			g.shows("it left with 0", "[mine]") // the person's own tmux shows its bar
		}
	}

	for name, line := range map[string]string{
		"from the dashboard":                    "stty ixon; TERM=xterm-256color " + s.program,
		"from the dashboard inside another one": strings.Replace(inTmux("TERM=screen-256color "+s.program), "-s mine", "-s board", 1),
	} {
		g := s.show(100, 24, line)
		g.shows("shop/feature", "Enter attach")
		g.press("Enter")
		g.shows("here is the agent", "Ctrl-Q leaves")
		g.press("C-q")
		g.shows("STATUS", "back from the agent's terminal")
		g.press("q")
		if g.shows("with 0"); strings.Contains(name, "inside") {
			g.shows("[board]")
		}
	}

	// The key reaches the agent after the prefix, and leaves the history of the window.
	g := s.show(100, 24, attach)
	g.shows("Ctrl-Q leaves")
	g.press("C-b", "C-q")
	g.shows("Ctrl-Q leaves")
	s.attached("=shop/feature")
	g.press("C-b", "[")
	s.eventually("the history is shown", func() bool {
		mode, err := s.tmux("display-message", "-p", "-t", "=shop/feature:", "#{pane_in_mode}")
		return err == nil && strings.TrimSpace(mode) == "1"
	})
	g.press("C-q")
	g.shows("it ended with 0")
	s.alive(id, 1)
}

// A tmux that an earlier release started has no such key until a server finds it.
func TestAServerTeachesARunningTmuxTheKey(t *testing.T) {
	s := openEnv(t, "tmux")
	id := s.create("feature", "worker:\n  - print: here is the agent\n  - idle:\n")
	s.alive(id, 1)
	_, err := s.tmux("unbind-key", "-n", "C-q")
	check(t, err)
	s.orange("stop")
	s.orange("task", "list")
	s.eventually("the key is there", func() bool {
		keys, err := s.tmux("list-keys", "-T", "root")
		return err == nil && strings.Contains(keys, "C-q")
	})
}
