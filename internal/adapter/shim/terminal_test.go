package shim_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"orange/internal/adapter/shim"
	"orange/internal/core/agent"
	"orange/internal/testneeds"
	"orange/internal/wait"
)

// A tmux is a terminal for one test.
type tmux struct {
	t      *testing.T
	socket string
}

func newTmux(t *testing.T) tmux {
	t.Helper()
	testneeds.Terminal(t)
	dir, err := os.MkdirTemp("", "at")
	if err != nil {
		t.Fatal(err)
	}
	term := tmux{t, dir + "/socket"}
	t.Cleanup(func() {
		_ = term.command("kill-server").Run() // the test may have done so
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return term
}

func (x tmux) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-S", x.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TERM=screen", "SHELL=/bin/sh"}
	return cmd
}

func (x tmux) run(args ...string) {
	x.t.Helper()
	if out, err := x.command(args...).CombinedOutput(); err != nil {
		x.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
}

// launch runs a shim in a window of its own.
func (x tmux) launch(_ context.Context, argv []string) error {
	out, err := x.command(append([]string{"new-session", "-d", "-s", "s", "--"}, argv...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func (s *env) startIn(x tmux, script string) shim.Started {
	s.t.Helper()
	o := s.orders(script)
	o.Window = new(agent.Window)
	started, err := s.StartAttempt(s.t.Context(), s.folder, o, x.launch)
	if err != nil {
		s.t.Fatal(err)
	}
	return started
}

// stat reads a field of /proc/PID/stat, counted as in its manual page, from the third.
func stat(t *testing.T, pid, field int) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return strings.Fields(rest)[field-3]
}

func TestInATerminalTheAgentIsInTheForeground(t *testing.T) {
	needsLinux(t)
	s, x := newEnv(t), newTmux(t)
	started := s.startIn(x, `echo $$ >$DIR/agent; read line; echo "$line" >$DIR/line; exec sleep 1000`)
	agent := s.pid("agent")
	if agent != started.Child.PID || stat(t, agent, 4) != strconv.Itoa(started.Shim.PID) {
		t.Errorf("agent %d has parent %s; started: %+v", agent, stat(t, agent, 4), started)
	}
	if stat(t, agent, 5) != strconv.Itoa(agent) || stat(t, agent, 8) != strconv.Itoa(agent) {
		t.Errorf("agent %d is in group %s, and %s is in the foreground", agent, stat(t, agent, 5), stat(t, agent, 8))
	}
	if stat(t, agent, 6) != stat(t, started.Shim.PID, 6) {
		t.Error("the agent has left the terminal's session")
	}
	x.run("send-keys", "-t", "=s:", "hello", "Enter")
	wait.Until(t, "the agent reads from the terminal", func() bool {
		text, err := os.ReadFile(s.dir + "/line")
		return err == nil && string(text) == "hello\n"
	})
	exits := s.watch()
	x.run("send-keys", "-t", "=s:", "C-c")
	if exit := receive(t, exits); exit.Code != 130 || exit.Signal != "SIGINT" || exit.Reason != "" {
		t.Errorf("exit: %+v", exit)
	}
}

func TestAnAgentThatIsStoppedFromTheKeyboardContinues(t *testing.T) {
	s, x := newEnv(t), newTmux(t)
	s.startIn(x, `trap 'echo $$ >$DIR/continued' CONT; echo $$ >$DIR/agent; while :; do read line && break; done; exit 4`)
	s.pid("agent")
	exits := s.watch()
	x.run("send-keys", "-t", "=s:", "C-z")
	s.pid("continued")
	x.run("send-keys", "-t", "=s:", "x", "Enter")
	if exit := receive(t, exits); exit.Code != 4 {
		t.Errorf("exit: %+v", exit)
	}
}

func TestWithTheTerminalTheAgentGoes(t *testing.T) {
	cases := map[string]string{
		"an agent that ends":             `echo $$ >$DIR/agent; exec sleep 1000`,
		"an agent that ignores a hangup": `trap "" HUP TERM; echo $$ >$DIR/agent; while :; do sleep 0.01; done`,
		"an agent with a daemon":         daemon + `while ! test -s $DIR/daemon; do sleep 0.01; done; echo $$ >$DIR/agent; exec sleep 1000`,
	}
	for what, script := range cases {
		for _, how := range []string{"kill-server", "kill-session"} {
			t.Run(what+", "+how, func(t *testing.T) {
				needsLinux(t)
				s, x := newEnv(t), newTmux(t)
				started := s.startIn(x, script)
				agent := s.pid("agent")
				exits := s.watch()
				x.run(how)
				exit := receive(t, exits)
				if exit.Code < 128 || exit.Reason != "the terminal is gone" {
					t.Errorf("exit: %+v", exit)
				}
				if !gone(agent) || carried(s.key) != 0 {
					t.Errorf("the agent is gone: %v; with its key: %d", gone(agent), carried(s.key))
				}
				wait.Until(t, "the shim leaves", func() bool { return gone(started.Shim.PID) })
			})
		}
	}
}

func TestTheLastMessageOfAnAgentReachesTheTerminal(t *testing.T) {
	var want strings.Builder
	for n := 1; n <= 20000; n++ {
		fmt.Fprintf(&want, "%d\r\n", n)
	}
	for range 10 {
		s, x := newEnv(t), newTmux(t)
		log := filepath.Join(s.dir, "log")
		o := s.orders("seq 1 20000; kill -9 $$")
		o.Window = new(agent.Window)
		launch := func(ctx context.Context, argv []string) error {
			x.run(slices.Concat([]string{"new-session", "-d", "-s", "s", "--"}, argv,
				[]string{";", "set-option", "-g", "remain-on-exit", "on", ";", "pipe-pane", "-t", "=s:", "exec cat >>" + log})...)
			return nil
		}
		if _, err := s.StartAttempt(t.Context(), s.folder, o, launch); err != nil {
			t.Fatal(err)
		}
		if exit := receive(t, s.watch()); exit.Code != 137 {
			t.Errorf("exit: %+v", exit)
		}
		var got []byte
		wait.Until(t, "all output is in the log", func() bool {
			var err error
			got, err = os.ReadFile(log)
			return err == nil && string(got) == want.String()
		}, func() any {
			return fmt.Sprintf("%d of %d bytes: %.40q ... %q", len(got), want.Len(), got, got[max(0, len(got)-200):])
		})
	}
}

func TestInATerminalWhatCannotBeStartedIsSaid(t *testing.T) {
	s, x := newEnv(t), newTmux(t)
	o := s.orders("")
	o.Window, o.Argv = new(agent.Window), []string{"no-such-program"}
	said := filepath.Join(s.dir, "said")
	launch := func(_ context.Context, argv []string) error {
		x.run(slices.Concat([]string{"new-session", "-d", "-s", "s", "--"}, argv, []string{";", "pipe-pane", "-t", "=s:", "exec cat >>" + said})...)
		return nil
	}
	if _, err := s.StartAttempt(t.Context(), s.folder, o, launch); err == nil || !strings.Contains(err.Error(), "not in the path") {
		t.Errorf("Start: %v", err)
	}
	wait.Until(t, "it is said in the terminal", func() bool {
		text, err := os.ReadFile(said)
		return err == nil && strings.Contains(string(text), `cannot start "no-such-program"`)
	})
}

// TestAnIdleShimIsSmall measures the share of memory that a shim has for
// itself after orders with a long prompt.
func TestAnIdleShimIsSmall(t *testing.T) {
	needsLinux(t)
	if raceDetector {
		t.Skip("the race detector needs memory of its own")
	}
	if os.Getuid() != 0 {
		t.Skip("only root may look into a shim")
	}
	s := newEnv(t)
	o := s.orders("exec sleep 1000")
	o.Argv = append(o.Argv, strings.Repeat("x", 100_000))
	started := s.start(o)
	pss := 0
	wait.Until(t, "the shim is small", func() bool {
		for line := range strings.Lines(readProc(t, started.Shim.PID, "smaps_rollup")) {
			if value, found := strings.CutPrefix(line, "Pss:"); found {
				pss, _ = strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
			}
		}
		return pss > 0 && pss < 10<<10
	})
	t.Logf("PSS %d kB, threads %s", pss, stat(t, started.Shim.PID, 20))
}

func readProc(t *testing.T, pid int, name string) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAttemptsThatEndWithTheirTmuxOrTheirShimsEndTogether(t *testing.T) {
	needsLinux(t)
	cases := map[string]struct {
		agents   int
		terminal bool
		strike   func(x tmux, started []shim.Started)
		mass     string
		reason   string
	}{
		"tmux is killed":                {3, true, func(x tmux, _ []shim.Started) { x.run("kill-server") }, shim.MassTmux, "tmux ended together with 2 other agents"},
		"tmux is killed with one agent": {1, true, func(x tmux, _ []shim.Started) { x.run("kill-server") }, "", ""},
		"a person closes one window":    {2, true, func(x tmux, _ []shim.Started) { x.run("kill-session", "-t", "=s0") }, "", ""},
		"shims are killed": {2, false, func(_ tmux, started []shim.Started) {
			for _, s := range started {
				_ = syscall.Kill(s.Shim.PID, syscall.SIGKILL)
			}
		}, shim.MassShims, "its shim was ended together with those of 1 other agent"},
		"shims are told to end": {2, false, func(_ tmux, started []shim.Started) {
			for _, s := range started {
				_ = syscall.Kill(s.Shim.PID, syscall.SIGTERM)
			}
		}, shim.MassShims, "its shim was ended together with those of 1 other agent"},
		"one shim is killed": {2, false, func(_ tmux, started []shim.Started) {
			_ = syscall.Kill(started[0].Shim.PID, syscall.SIGKILL)
		}, "", ""},
		"only agents are killed": {2, false, func(_ tmux, started []shim.Started) {
			for _, s := range started {
				_ = syscall.Kill(s.Child.PID, syscall.SIGKILL)
			}
		}, "", ""},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			x := newTmux(t)
			first := newEnv(t)
			var started []shim.Started
			var exits []<-chan agent.Exit
			var stages []*env
			for i := range c.agents {
				s := &env{Supervisor: first.Supervisor, t: t, dir: t.TempDir(), key: fmt.Sprint(first.key, i)}
				s.folder = shim.Folder(filepath.Join(s.dir, "attempt"))
				o := s.orders("echo $$ >$DIR/agent; exec sleep 1000")
				launch := s.PlainLaunch()
				if c.terminal {
					o.Window = new(agent.Window)
					launch = func(_ context.Context, argv []string) error {
						x.run(append([]string{"new-session", "-d", "-s", fmt.Sprint("s", i), "--"}, argv...)...)
						return nil
					}
				}
				got, err := s.StartAttempt(t.Context(), s.folder, o, launch)
				if err != nil {
					t.Fatal(err)
				}
				s.pid("agent")
				t.Cleanup(func() { s.EndAttempt(context.WithoutCancel(t.Context()), s.folder) }) //nolint:errcheck // it may be over
				started, exits, stages = append(started, got), append(exits, s.watch()), append(stages, s)
			}
			c.strike(x, started)
			struck := c.agents
			if what == "a person closes one window" || what == "one shim is killed" {
				struck = 1
			}
			for i := range struck {
				exit := receive(t, exits[i])
				if exit.Mass != c.mass || c.mass != "" && exit.Reason != c.reason {
					t.Errorf("agent %d: %+v", i, exit)
				}
				if state := stages[i].state(); state.Exit.Mass != c.mass {
					t.Errorf("the record of agent %d: %+v", i, state.Exit)
				}
			}
		})
	}
}

func TestAnEndThatWasOrderedIsNoMassDeath(t *testing.T) {
	first := newEnv(t)
	for i := range 2 {
		s := &env{Supervisor: first.Supervisor, t: t, dir: t.TempDir(), key: fmt.Sprint(first.key, i)}
		s.folder = shim.Folder(filepath.Join(s.dir, "attempt"))
		s.start(s.orders("exec sleep 1000"))
		exits := s.watch()
		if _, err := s.EndAttempt(t.Context(), s.folder); err != nil {
			t.Fatal(err)
		}
		if exit := receive(t, exits); exit.Mass != "" {
			t.Errorf("%+v", exit)
		}
	}
}

// When a terminal is closed, the agent may see it and end before the shim gets SIGHUP. Here the shim gets none, because it
// does not lead the session of the terminal.
func TestAnAgentThatEndsWithItsTerminalWasEndedFromOutside(t *testing.T) {
	needsLinux(t)
	s, x := newEnv(t), newTmux(t)
	o := s.orders(`trap '' HUP; echo $$ >$DIR/agent; read line; exit 0`)
	o.Window = new(agent.Window)
	started, err := s.StartAttempt(t.Context(), s.folder, o, func(ctx context.Context, argv []string) error {
		return x.launch(ctx, append([]string{"sh", "-c", `"$@"; :`, "sh"}, argv...))
	})
	if err != nil {
		t.Fatal(err)
	}
	s.pid("agent")
	exits := s.watch()
	x.run("kill-server")
	exit := receive(t, exits)
	if exit.ExternalEnd == nil || exit.ExternalEnd.By != "SIGHUP" || exit.Code != 0 {
		t.Errorf("%+v, %+v; started: %+v", exit, exit.ExternalEnd, started)
	}
}
