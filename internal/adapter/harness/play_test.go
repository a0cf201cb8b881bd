package harness

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"orange/internal/core/agent"
	"orange/internal/core/task"
	"orange/internal/wait"
)

// TestMain plays a script where the program is started as one, as orange play is.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "play" {
		dir, err := os.Getwd()
		if err != nil {
			os.Exit(99)
		}
		os.Exit(PlayScript(context.Background(), PlayOptions{
			File: os.Args[2], Dir: dir, Env: os.Getenv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			Hook: func(event string, payload []byte) error {
				f, err := os.OpenFile(os.Getenv("TOLD"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
				if err != nil {
					return err
				}
				_, err = f.WriteString(event + " " + string(payload) + "\n")
				return errors.Join(err, f.Close())
			},
		}))
	}
	os.Exit(m.Run())
}

// env is where a script is played in a test.
type env struct {
	dir, script string
	mu          sync.Mutex
	modelText   []agent.Notice
	out         bytes.Buffer
}

func newEnv(t *testing.T, text string) *env {
	t.Helper()
	s := &env{dir: t.TempDir()}
	s.script = filepath.Join(s.dir, "script.yaml")
	if err := os.WriteFile(s.script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *env) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

func (s *env) printed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

func (s *env) play(t *testing.T, ctx context.Context, in io.Reader, env map[string]string) int {
	t.Helper()
	work := filepath.Join(s.dir, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		t.Fatal(err)
	}
	return PlayScript(ctx, PlayOptions{
		File: s.script, Role: "worker", Task: "T1", Attempt: "7", Dir: work, Stdin: in, Stdout: s, Stderr: s,
		Env: func(name string) string { return env[name] },
		Hook: func(event string, payload []byte) error {
			n, err := script{}.ParseHook(event, payload, time.Now())
			s.mu.Lock()
			defer s.mu.Unlock()
			s.modelText = append(s.modelText, n)
			return err
		},
	})
}

// conditions returns a short form of the events that Orange received.
func (s *env) conditions() (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.modelText {
		word := n.Condition.Name
		if n.Prompted {
			word += " prompted"
		}
		if n.Condition.Detail != "" {
			word += ": " + n.Condition.Detail
		}
		if n.Final != "" {
			word += ", said " + n.Final
		}
		out = append(out, word)
	}
	return out
}

func TestPlayWork(t *testing.T) {
	s := newEnv(t, `
worker:
  - print: "task {task}, attempt {attempt}, round {round} of {role}"
  - section: {name: Plan, text: "APPROACH: think\nTOUCHING: a.txt"}
  - run: "echo ran >ran.txt; exit 3"
  - commit: {file: deep/a.txt, text: "for {task}\n", message: "-add {task}"}
  - usage: {input: 10, output: 5, cache: 1, cost: 0.25}
  - section:
      name: Plan
      text: |
        APPROACH: think again
  - section: {name: Handoff, text: "DONE: all"}
  - exit: 4
`)
	work := filepath.Join(s.dir, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := inGit(work, nil, "init", "--quiet", "--initial-branch=main"); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	file := filepath.Join(s.dir, "TASK.md")
	if err := os.WriteFile(file, []byte("---\nid: T1\n---\n## Context\n\nwords\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../TASK.md", filepath.Join(work, "TASK.md")); err != nil {
		t.Fatal(err)
	}
	if exit := s.play(t, t.Context(), nil, map[string]string{"ORANGE_ROUND": "2"}); exit != 4 {
		t.Errorf("exit %d: %s", exit, s.printed())
	}
	text, err := os.ReadFile(file)
	want := "---\nid: T1\n---\n## Context\n\nwords\n\n## Plan\n\nAPPROACH: think again\n\n## Handoff\n\nDONE: all\n"
	if err != nil || string(text) != want {
		t.Errorf("TASK.md is %q, %v", text, err)
	}
	if info, err := os.Lstat(filepath.Join(work, "TASK.md")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
	if log, err := inGit(work, nil, "log", "--format=%an <%ae> %s", "--name-only"); err != nil || log != "Script <script@orange.invalid> -add T1\n\ndeep/a.txt\n" {
		t.Errorf("log %q, %v", log, err)
	}
	if got := s.printed(); !strings.Contains(got, "task T1, attempt 7, round 2 of worker\n") || !strings.Contains(got, "run: exit 3\n") {
		t.Errorf("printed %q", got)
	}
	if last := s.modelText[len(s.modelText)-1]; !cmp.Equal(last.Usage, usage(10, 5, 1, 250000)) {
		t.Errorf("told %+v", last)
	}
}

func TestPlayChoosesTheStepsOfTheAttempt(t *testing.T) {
	s := newEnv(t, "worker: [{print: first}]\nworker#2: [{print: second}]\nreviewer: [{print: review}]\n")
	for run, want := range map[string]string{"": "first", "1": "first", "2": "second", "3": "first"} {
		s.out.Reset()
		if exit := s.play(t, t.Context(), nil, map[string]string{"ORANGE_ROLE_RUN": run}); exit != 0 || s.printed() != want+"\n" {
			t.Errorf("attempt %q: exit %d, %q", run, exit, s.printed())
		}
	}
	var out bytes.Buffer
	env := func(name string) string { return map[string]string{"ORANGE_ROLE": "qa"}[name] }
	exit := PlayScript(t.Context(), PlayOptions{File: s.script, Env: env, Stdout: &out, Stderr: &out})
	if want := s.script + ` has no steps for role "qa": add them` + "\n"; exit != exitBroken || out.String() != want {
		t.Errorf("exit %d, %q", exit, out.String())
	}
}

func TestPlayEndsWhereItMust(t *testing.T) {
	for name, c := range map[string]struct {
		steps string
		exit  int
	}{
		"a command that must work":         {`[{run: "exit 9", must: true}, {print: never}]`, 1},
		"a file outside":                   {`[{commit: {file: ../x, text: x, message: x}}, {print: never}]`, 1},
		"nothing to commit to":             {`[{commit: {file: x, text: x, message: x}}, {print: never}]`, 1},
		"a section that closes itself":     {`[{section: {name: Plan, text: "x\n\n## Other\n\ny"}}, {print: never}]`, 1},
		"a limit":                          {`[{limit: 1h}, {print: never}]`, 1},
		"no terminal to hear a message at": {`[wait, {print: never}]`, 0},
		"the end of the list":              {`[{sleep: 1ms}]`, 0},
		"an exit":                          {`[{exit: 0}, {print: never}]`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newEnv(t, "worker: "+c.steps+"\n")
			if exit := s.play(t, t.Context(), strings.NewReader(""), nil); exit != c.exit || strings.Contains(s.printed(), "never") {
				t.Errorf("exit %d, want %d: %s", exit, c.exit, s.printed())
			}
		})
	}
}

func TestScriptReadsMessages(t *testing.T) {
	s := newEnv(t, `
worker:
  - print: ready
  - wait
  - ask: "may I run {task}?"
  - wait
  - limit: 1ms
    stay: true
  - idle
`)
	in, out := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() { done <- s.play(t, ctx, in, nil) }()
	for _, keys := range []string{"\x1b[200~first\rline\x1b[201~\r", "yes\r", "seco", "nd\x7fd\x1b[A!\r"} {
		if _, err := out.Write([]byte(keys)); err != nil {
			t.Fatal(err)
		}
	}
	wait.Until(t, "ten conditions are reported", func() bool { return len(s.conditions()) == 10 }, func() any { return s.conditions() })
	cancel()
	if exit := <-done; exit != exitEnded {
		t.Errorf("exit %d", exit)
	}
	if err := out.Close(); err != nil {
		t.Error(err)
	}
	got := s.conditions()
	limit, _, _ := strings.Cut(got[7], "20") // a time follows
	got[7] = limit
	got[9], _, _ = strings.Cut(got[9], ", said "+limitLine)
	want := []string{
		task.Running, task.Idle + ", said ready", task.Running + " prompted",
		task.WaitingPermission + ": may I run T1?", task.Running,
		task.Idle + ", said may I run T1?", task.Running + " prompted",
		task.Limited + ": " + limitLine, task.Running, task.Idle,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.Contains(s.printed(), "first\nline\n") || !strings.Contains(s.printed(), "second!\n") {
		t.Errorf("printed %q", s.printed())
	}
}

func TestScriptIsAskedToEnd(t *testing.T) {
	for _, steps := range []string{"[idle]", "[wait]", `[{ask: "x"}]`, "[{sleep: 1h}]", "[{limit: 1h, stay: true}]", `[{run: "exec sleep 3600"}, {print: never}]`} {
		t.Run(steps, func(t *testing.T) {
			s := newEnv(t, "worker: "+steps+"\n")
			in, out := io.Pipe()
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan int, 1)
			go func() { done <- s.play(t, ctx, in, nil) }()
			wait.Until(t, "a condition is reported", func() bool { return len(s.conditions()) > 0 })
			cancel()
			if exit := <-done; exit != exitEnded || strings.Contains(s.printed(), "never") {
				t.Errorf("exit %d: %s", exit, s.printed())
			}
			if err := out.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// process starts a script as a separate process.
func (s *env) process(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(self(t), "play", s.script)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "ORANGE_ROLE=worker", "TOLD="+filepath.Join(s.dir, "told"))
	return cmd
}

func TestScriptDies(t *testing.T) {
	for name, want := range map[string]syscall.Signal{"KILL": syscall.SIGKILL, "SIGTERM": syscall.SIGTERM} {
		cmd := newEnv(t, "worker: [{die: "+name+"}, {print: never}]\n").process(t)
		out, err := cmd.CombinedOutput()
		status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if err == nil || !ok || !status.Signaled() || status.Signal() != want {
			t.Errorf("%s: %v, %s", name, err, out)
		}
	}
}

func TestPlayLeavesADaemonBehind(t *testing.T) {
	s := newEnv(t, `worker: [{daemon: "echo $$ >pid.tmp; mv pid.tmp pid; exec sleep 3600"}, {run: "until test -e pid; do sleep 0.01; done"}]`)
	if out, err := s.process(t).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // it may be gone
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("the daemon ended with the script: %v", err)
	}
	if leader, err := unix.Getsid(pid); err != nil || leader != pid {
		t.Errorf("the daemon is in session %d, not its own: %v", leader, err)
	}
}

// TestPlayAtATerminal pastes into a script in a real terminal.
func TestPlayAtATerminal(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	s := newEnv(t, "worker: [{print: ready}, wait, {print: over}, idle]\n")
	socket := filepath.Join(s.dir, "tmux")
	tmux := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("tmux", append([]string{"-S", socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v %s", args, err, out)
		}
		return string(out)
	}
	modelText := filepath.Join(s.dir, "told")
	tmux("new-session", "-d", "-x", "80", "-y", "24", "-c", s.dir, "env", "ORANGE_ROLE=worker", "TOLD="+modelText, self(t), "play", s.script)
	defer exec.Command("tmux", "-S", socket, "kill-server").Run() //nolint:errcheck // it may have ended
	heard := func(word string) func() bool {
		return func() bool {
			text, err := os.ReadFile(modelText)
			return err == nil && strings.Contains(string(text), word)
		}
	}
	wait.Until(t, "the agent is idle", heard("idle "))
	wait.Until(t, "the terminal shows the prompt", func() bool {
		return tmux("display-message", "-p", "#{pane_in_mode}#{bracket_paste_flag}") != "" && strings.Contains(tmux("capture-pane", "-p"), "ready")
	})
	tmux("set-buffer", "two\nlines; rm -rf $HOME")
	wait.Until(t, "the terminal shows the prompt", func() bool {
		stty, err := exec.Command("stty", "-F", strings.TrimSpace(tmux("display-message", "-p", "#{pane_tty}")), "-a").Output()
		return err != nil || strings.Contains(string(stty), "-icanon")
	})
	tmux("paste-buffer", "-p")
	tmux("send-keys", "Enter")
	wait.Until(t, "the agent got a prompt", heard("prompt "))
	wait.Until(t, "the terminal shows the text", func() bool { return strings.Contains(tmux("capture-pane", "-p"), "two\nlines; rm -rf $HOME\nover") })
}
