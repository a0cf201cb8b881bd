package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// screenOf runs a program in a terminal of its own and returns functions that press keys
// there and that look at it.
func (s *env) screenOf(env []string, argv ...string) (press func(keys ...string), look func(flags ...string) string) {
	s.t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		s.t.Skip(err)
	}
	socket := filepath.Join(s.dir, "screen.sock")
	tmux := func(args ...string) string {
		cmd := s.command("tmux", append([]string{"-S", socket, "-f", os.DevNull}, args...)...)
		cmd.Env = append(cmd.Env, env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			s.t.Fatalf("tmux %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	tmux(append([]string{"new-session", "-d", "-x", "120", "-y", "20"}, argv...)...)
	s.t.Cleanup(func() { s.command("tmux", "-S", socket, "kill-server").Run() }) //nolint:errcheck // it may have ended
	return func(keys ...string) { tmux(append([]string{"send-keys"}, keys...)...) },
		func(flags ...string) string { return tmux(append([]string{"capture-pane", "-p"}, flags...)...) }
}

// withOrange is an environment in which the program under test is orange.
func (s *env) withOrange() []string {
	return []string{"PATH=" + filepath.Dir(s.program) + ":" + os.Getenv("PATH"), "TERM=xterm-256color"}
}

func TestTmuxShowsTheStatus(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", "worker:\n  - section: {name: Plan, text: \"APPROACH: x\"}\n  - run: orange task update --status working\n  - idle:\n")
	s.create("other", "worker:\n  - idle:\n", "--status", "reviewing")
	s.alive(id, 1)
	conf := s.write("tmux.conf", s.orange("status", "--snippet", "tmux")+"set -g status-interval 1\nset -g status-right-length 80\n")
	_, look := s.screenOf(append(s.withOrange(), "TMUX="), "tmux", "-S", filepath.Join(s.dir, "inner.sock"), "-f", conf, "new-session")
	t.Cleanup(func() {
		s.command("tmux", "-S", filepath.Join(s.dir, "inner.sock"), "kill-server").Run() //nolint:errcheck // it may have ended
	})
	bar := func(flags ...string) string {
		lines := strings.Split(strings.TrimSpace(look(flags...)), "\n")
		return lines[len(lines)-1]
	}
	s.eventually("the status line says it", func() bool { return strings.Contains(bar(), " 1 idle 2 wait") })
	if line := bar("-e"); !strings.Contains(line, "\x1b[33m") && !strings.Contains(line, "\x1b[1m\x1b[33m") {
		t.Logf("the line is %q", line) // colours are the terminal's own affair
	}
	if strings.Contains(bar(), "#[") {
		t.Errorf("the line shows what is meant for tmux: %q", bar())
	}
	s.orange("stop")
	s.eventually("nothing is said without a server", func() bool { return !strings.Contains(bar(), "idle") })
}

func TestBashShowsTheStatusInItsPrompt(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	s.create("other", "worker:\n  - idle:\n", "--status", "reviewing")
	file := s.write("bashrc", "PS1='> '\n"+s.orange("status", "--snippet", "bash")+"printf '%s' \"${PS1@P}\"\n")
	s.eventually("the prompt says it", func() bool { // a prompt does not wait for a server that is slow
		cmd := s.command("bash", "--norc", file)
		cmd.Env = append(cmd.Env, s.withOrange()...)
		out, _ := cmd.CombinedOutput()
		return string(out) == "[1 wait] > "
	})
}

func TestBashCompletesWithWhatIsThere(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	waits := s.create("first", "worker:\n  - idle:\n", "--no-spawn")
	id := s.create("second", "worker:\n  - idle:\n")
	s.alive(id, 1)
	file := s.write("bashrc", s.orange("completion", "bash")+"PS1='> '\n")
	press, look := s.screenOf(s.withOrange(), "bash", "--rcfile", file)
	shows := func(what string) {
		t.Helper()
		s.eventually(fmt.Sprintf("%q in %s", what, look()), func() bool { return strings.Contains(look(), what) })
	}
	shows(">")
	for keys, want := range map[string]string{
		"orange task sp":                          "orange task spawn",
		"orange task spawn ":                      "orange task spawn " + string(waits),
		"orange task attach ":                     "orange task attach " + string(id),
		"orange task fork " + string(id)[:8]:      "orange task fork " + string(id) + "@",
		"orange workflow graph ora":               "orange workflow graph orange",
		"orange workflow graph orange --format s": "--format svg",
		"orange tracker add x --token fi":         "--token file:",
		"orange task list --status=pend":          "--status=pending",
		"orange als REA":                          "orange als README",
	} {
		press("-l", keys)
		s.eventually(fmt.Sprintf("%q in %s", want, look()), func() bool { // a key is not waited for long
			press("Tab")
			for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
				if strings.Contains(look(), want) {
					return true
				}
			}
			return false
		})
		press("C-u", "clear", "Enter")
		s.eventually("it is clear", func() bool { return strings.TrimSpace(look()) == ">" })
	}
	press("-l", "orange task show ")
	press("Tab", "Tab", "Tab")
	shows("(planning second do it)")
	shows("(pending first do it)")
}
