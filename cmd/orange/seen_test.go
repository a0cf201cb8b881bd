package main

import (
	"context"
	"strings"
	"sync"
	"testing"

	"orange/internal/adapter/workflowdir"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/ui/client"
	"orange/internal/view/ansi"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// watched is what somebody sees who follows the state and the screen of a task.
type watched struct {
	mu     sync.Mutex
	state  overview.State
	screen wire.Screen
}

// watch follows a task until the test ends.
func (s *env) watch(c *client.Client, id task.ID) *watched {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	state, err := c.ReadState(ctx, client.StateQuery{})
	check(s.t, err)
	w := &watched{state: state}
	var wait sync.WaitGroup
	wait.Go(func() {
		c.FollowState(ctx, client.FollowOptions{After: state.Row, Lost: func(error) {}, Change: func(change overview.Change) error { //nolint:errcheck // it ends with ctx
			w.mu.Lock()
			defer w.mu.Unlock()
			w.state.ApplyChange(change)
			return nil
		}})
	})
	wait.Go(func() {
		c.WatchScreen(ctx, string(id), "", func(now wire.Screen) error { //nolint:errcheck // likewise
			w.mu.Lock()
			defer w.mu.Unlock()
			w.screen = now
			return nil
		})
	})
	s.t.Cleanup(func() { cancel(); wait.Wait() })
	return w
}

// shows reports whether the last screen contains some text.
func (w *watched) shows(text string) func() bool {
	return func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return strings.Contains(plainText(w.screen.Lines), text)
	}
}

// work says whether a task is seen to have that much work.
func (w *watched) work(id task.ID, want overview.Work) func() bool {
	return func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return workOf(w.state, id) == want
	}
}

func workOf(s overview.State, id task.ID) overview.Work {
	for _, r := range s.Tasks {
		if r.ID == id && r.Work != nil {
			return *r.Work
		}
	}
	return overview.Work{Commits: -1}
}

func plainText(lines []ansi.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

const seenScript = `
worker:
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - run: printf '\033[31mready\033[0m\n'
  - run: until [ -e ../../../commit ]; do sleep 0.02; done
  - commit: {file: a.txt, text: "one\ntwo\n", message: one}
  - print: it is committed
  - run: until [ -e ../../../edit ]; do sleep 0.02; done
  - run: echo three >>a.txt; git add a.txt
  - ask: may I go on?
  - print: "thanks for {attempt} answer"
  - idle:
`

// A commit is seen on the state's stream, and what an agent prints on the screen's.
func TestWorkAndScreensAreSeenAsTheyHappen(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *env) {
		id := s.create("feature", seenScript)
		s.alive(id, 1)
		c := clientOf(s.home, s.getenv)
		defer c.Close()
		w := s.watch(c, id)
		s.eventually("it is ready", w.shows("ready"))
		s.eventually("nothing is done yet", w.work(id, overview.Work{}))
		if none := s.state(c, id); none.Attempts[0].Active.IsZero() || none.Life != overview.Alive {
			t.Errorf("%+v", none)
		}
		s.write("commit", "")
		s.eventually("the commit", w.work(id, overview.Work{Commits: 1, Added: 2, Files: 1}))
		s.eventually("what is printed after it", w.shows("it is committed"))
		s.write("edit", "")
		s.eventually("what is not committed", w.work(id, overview.Work{Commits: 1, Added: 3, Files: 1}))
		if got := workOf(overview.State{Tasks: []overview.Row{s.state(c, id)}}, id); got != (overview.Work{Commits: 1, Added: 3, Files: 1}) {
			t.Errorf("%+v", got)
		}
		s.diffs(c, id)
		if out, err := s.tmux("list-windows", "-a"); err != nil || out == "" {
			wantLine(t, c.TypeText(t.Context(), string(id), "", "y"), "without a terminal")
			return
		}
		s.types(c, id, w)
	})
}

// state is how a task looks.
func (s *env) state(c *client.Client, id task.ID) overview.Row {
	s.t.Helper()
	state, err := c.ReadState(s.t.Context(), client.StateQuery{})
	check(s.t, err)
	for _, r := range state.Tasks {
		if r.ID == id {
			return r
		}
	}
	s.t.Fatalf("%s is not there", id)
	return overview.Row{}
}

func (s *env) diffs(c *client.Client, id task.ID) {
	s.t.Helper()
	got, err := c.ReadDiff(s.t.Context(), string(id))
	check(s.t, err)
	if got.Base != s.git(s.repo, "rev-parse", "main") || got.Cut || len(got.Files) != 1 || got.Files[0].Path != "a.txt" || got.Files[0].Added != 3 {
		s.t.Errorf("%+v", got)
	}
}

// types answers the agent's question at its terminal.
func (s *env) types(c *client.Client, id task.ID, w *watched) {
	s.t.Helper()
	ctx := s.t.Context()
	s.eventually("it asks", w.shows("may I go on?"))
	for name, tc := range map[string]struct{ role, text, want string }{
		"a control character": {"", "y\x1b[201~\r", `a control character after "y"`},
		"too much":            {"", strings.Repeat("y", 16<<10+1), "16384 that can be typed"},
		"no such agent":       {"reviewer", "y", "no agent of task"},
	} {
		s.t.Run(name, func(t *testing.T) { wantLine(t, c.TypeText(ctx, string(id), tc.role, tc.text), tc.want) })
	}
	got, err := c.ReadScreen(ctx, string(id), "worker")
	check(s.t, err)
	red := false
	for _, line := range got.Lines {
		for _, r := range line {
			red = red || r.Text == "ready" && r.FG == "1"
		}
	}
	if !red || !got.Alive || got.Attempt != 1 || got.Role != "worker" || !strings.HasPrefix(got.Harness, "script:") {
		s.t.Errorf("%+v", got)
	}
	check(s.t, c.TypeText(ctx, string(id), "", "y\r\n"))
	s.eventually("it was answered", w.shows("thanks for 1 answer"))
}

func wantLine(t *testing.T, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want one line with %q", err, words)
	}
}

func TestWhatAnAgentLeftIsSeen(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", "worker:\n  - run: seq 1 5000\n  - print: the last line\n  - exit: 3\n")
	s.await(id, "it has ended", func(t task.Task) bool { return t.AttemptCount() > 1 || len(t.Attempts) == 0 && t.Crashed != "" })
	s.orange("pause")
	c := clientOf(s.home, s.getenv)
	defer c.Close()
	s.eventually("nobody is at work", func() bool { return len(s.task(id).Attempts) == 0 })
	got, err := c.ReadScreen(t.Context(), string(id), "")
	check(t, err)
	text := plainText(got.Lines)
	if got.Alive || got.Attempt == 0 || len(got.Lines) != 200 || !strings.HasSuffix(text, "4999\n5000\nthe last line\n") {
		t.Errorf("%d lines of attempt %d: %s", len(got.Lines), got.Attempt, text)
	}
	if got, err = c.ReadScreen(t.Context(), string(id), "reviewer"); err != nil || got.Attempt != 0 || got.Note != "no agent is at work" || len(got.Lines) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	s.orange("resume")
	s.orange("task", "cancel", string(id), "--yes")
	s.await(id, "its branch is gone", func(task.Task) bool {
		_, err := c.ReadDiff(t.Context(), string(id))
		return err != nil && strings.Contains(err.Error(), "has nothing to compare") || s.git(s.repo, "branch", "--list", "feature") != ""
	})
}

func TestEveryWorkflowThatIsKnownCanBeRead(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	mine, _ := builtin.Text("orange")
	mine = strings.Replace(mine, "name: orange", "name: mine", 1)
	s.write("config/orange/workflows/mine.yaml", mine)
	s.write("shop/.orange/workflows/ours.yaml", strings.Replace(mine, "name: mine", "name: ours", 1))
	id := s.createWith("feature", "--harness", "command:sleep 1000", "--workflow", "ours")
	pinned := s.task(id).WorkflowHash
	s.write("shop/.orange/workflows/ours.yaml", strings.Replace(mine, "name: mine", "name: ours # changed", 1))
	s.write("shop/.orange/workflows/big.yaml", strings.Repeat("#", workflowdir.MaxSize+1))
	c := clientOf(s.home, s.getenv)
	defer c.Close()
	list, err := c.ListWorkflows(t.Context())
	check(t, err)
	origins := map[string]int{}
	for _, info := range list {
		origins[info.Origin]++
		text, err := c.ReadWorkflow(t.Context(), info.Hash)
		if err != nil || workflow.HashOf(text.Text) != info.Hash {
			t.Errorf("%+v: %v", info, err)
		}
		if want := map[bool]int{true: 1}[info.Hash == pinned]; info.Tasks != want || (info.Origin == "pinned") != (want == 1) {
			t.Errorf("%+v", info)
		}
	}
	if origins["built-in"] < 3 || origins["user"] != 1 || origins["shop"] != 1 || origins["pinned"] != 1 {
		t.Errorf("%v", origins)
	}
	if _, err := c.ReadWorkflow(t.Context(), strings.Repeat("0", 64)); err == nil {
		t.Error("there is a workflow that is not known")
	}
}
