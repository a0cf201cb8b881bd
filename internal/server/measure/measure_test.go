package measure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/adapter/filewatch"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/view/overview"
	"orange/internal/wait"
)

// view is a Service of tasks that are only imagined: it has their store and their journal,
// and says how much work they are.
type view struct {
	*Service
	mu       sync.Mutex
	tasks    map[task.ID]task.Task
	kept     map[task.ID]string // checks
	entries  []journal.Row
	news     chan struct{}
	works    map[task.ID]overview.Work
	trouble  error
	measured []task.ID
	busy     int // being measured
	busiest  int
	hold     chan struct{} // measuring waits for it, unless nil
}

func newView(ids ...task.ID) *view {
	w := &view{tasks: map[task.ID]task.Task{}, kept: map[task.ID]string{}, news: make(chan struct{}), works: map[task.ID]overview.Work{}}
	for _, id := range ids {
		w.tasks[id] = task.Task{ID: id}
	}
	w.Service = New(MeasureOptions{
		Watcher: filewatch.New(),
		Store:   w, Rows: w.follow, Measure: w.count, Log: slog.New(slog.DiscardHandler),
		Worktree: func(*task.Task) string { return "" }, Output: func(task.ID, int) string { return "" },
	})
	return w
}

// inView plays a test with a Service that has begun to measure.
func inView(t *testing.T, play func(t *testing.T, w *view), ids ...task.ID) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newView(ids...)
		defer w.Start(t.Context())()
		play(t, w)
	})
}

func (w *view) Task(id task.ID) (task.Task, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t, ok := w.tasks[id]
	return t, ok, nil
}

func (w *view) LastRow() (int64, error) { return int64(len(w.entries)), nil }

func (w *view) Checks() (map[task.ID]string, error) { return w.kept, nil }

func (w *view) SetChecks(id task.ID, word string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.kept[id] = word; word == "" {
		delete(w.kept, id)
	}
	return nil
}

func (w *view) follow(after int64, _ task.ID, limit int) ([]journal.Row, <-chan struct{}, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	rows := w.entries[after:]
	return slices.Clone(rows[:min(limit, len(rows))]), w.news, nil
}

// happens adds to the journal.
func (w *view) happens(list ...journal.Entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range list {
		text, err := journal.Encode(&e)
		if err != nil {
			panic(err)
		}
		w.entries = append(w.entries, journal.Row{ID: int64(len(w.entries)) + 1, Entry: text})
	}
	close(w.news)
	w.news = make(chan struct{})
}

func (w *view) count(ctx context.Context, t *task.Task) (*overview.Work, error) {
	w.mu.Lock()
	w.measured = append(w.measured, t.ID)
	w.busy++
	w.busiest = max(w.busiest, w.busy)
	hold := w.hold
	w.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy--
	if work, ok := w.works[t.ID]; ok && w.trouble == nil {
		return &work, nil
	}
	return nil, w.trouble
}

// has says how much work a task is from now on.
func (w *view) has(id task.ID, commits int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.works[id] = overview.Work{Commits: commits}
}

// looked returns which tasks were measured, and forgets it.
func (w *view) looked() []task.ID {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.measured
	w.measured = nil
	return out
}

func (w *view) facts(id task.ID) overview.Facts { return w.TaskFacts(&task.Task{ID: id}) }

// commits returns how many a task is known to have, -1 if nobody knows.
func (w *view) commits(id task.ID) int {
	if work := w.facts(id).Work; work != nil {
		return work.Commits
	}
	return -1
}

func moved(id task.ID) journal.Entry { return journal.Entry{Task: id, Type: journal.StatusChanged} }

func want[T any](t *testing.T, got, want T) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestATaskIsMeasuredOnceWhenItIsAskedFor(t *testing.T) {
	inView(t, func(t *testing.T, w *view) {
		w.has("a", 2)
		_, mark, more := w.ChangedSince(0)
		want(t, w.commits("a"), -1) // nobody waits for git
		synctest.Wait()
		select {
		case <-more:
		default:
			t.Error("nobody was told")
		}
		ids, mark, _ := w.ChangedSince(mark)
		want(t, ids, []task.ID{"a"})
		for range 100 {
			want(t, w.commits("a"), 2)
		}
		time.Sleep(time.Hour)
		want(t, w.looked(), []task.ID{"a"})
		ids, _, _ = w.ChangedSince(mark)
		want(t, ids, nil)
	}, "a", "b")
}

// Reading all tasks measures none that is over and has no worktree.
func TestFinishedTasksAreNotMeasuredForASummary(t *testing.T) {
	inView(t, func(t *testing.T, w *view) {
		w.Over = func(t *task.Task) bool { return t.Status == "done" }
		w.ChangedSince(0)
		w.TaskFacts(&task.Task{ID: "gone", Status: "done"})
		w.TaskFacts(&task.Task{ID: "kept", Status: "done", Resources: task.Resources{Workspace: "shop--1"}})
		w.TaskFacts(&task.Task{ID: "active", Status: "working"})
		synctest.Wait()
		got := w.looked()
		slices.Sort(got)
		want(t, got, []task.ID{"active", "kept"})
		w.has("active", 3)
		w.happens(moved("active")) // it ends: what it came to is measured once more
		time.Sleep(2 * settling)
		synctest.Wait()
		want(t, w.looked(), []task.ID{"active"})
		want(t, w.TaskFacts(&task.Task{ID: "active", Status: "done"}).Work, &overview.Work{Commits: 3})
	}, "gone", "kept", "active")
}

func TestATaskIsMeasuredAgainWhenSomethingHappened(t *testing.T) {
	about := func(e journal.Entry) func(*view) { return func(w *view) { e.Task = "a"; w.happens(e) } }
	for name, tc := range map[string]struct {
		happens func(w *view)
		again   int
	}{
		"it moved on":             {about(journal.Entry{Type: journal.StatusChanged}), 1},
		"its agent ended":         {about(journal.Entry{Type: journal.AgentExited}), 1},
		"an effect was done":      {about(journal.Entry{Type: journal.EffectDone}), 1},
		"its agent's turn ended":  {about(journal.Entry{Type: journal.AgentNotice, AttemptChanges: journal.AttemptChanges{Condition: &task.Condition{Name: task.Idle}}}), 1},
		"its agent waits":         {about(journal.Entry{Type: journal.AgentNotice, AttemptChanges: journal.AttemptChanges{Condition: &task.Condition{Name: task.WaitingPermission}}}), 0},
		"it was paused":           {about(journal.Entry{Type: journal.TaskPaused}), 0},
		"its card looks new":      {about(journal.Entry{Type: journal.CardSeen}), 0},
		"another moved on":        {func(w *view) { w.happens(moved("b")) }, 0},
		"its worktree changed":    {func(w *view) { w.markStale("a") }, 1},
		"a lot happens":           {func(w *view) { w.happens(slices.Repeat([]journal.Entry{moved("a")}, 5000)...) }, 1},
		"its agent writes":        {func(w *view) { w.markOutput("a") }, 0},
		"its checks were read":    {func(w *view) { w.KeepPullRequest("a", tracker.PR{}) }, 0},
		"one thing after another": {func(w *view) { w.happens(moved("a")); time.Sleep(settling / 2); w.happens(moved("a")) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inView(t, func(t *testing.T, w *view) {
				w.has("a", 1)
				w.facts("a")
				synctest.Wait()
				want(t, w.looked(), []task.ID{"a"})
				w.ChangedSince(0)
				w.has("a", 7)
				tc.happens(w)
				time.Sleep(2 * settling)
				synctest.Wait()
				if got := len(w.looked()); got != tc.again {
					t.Errorf("measured %d times, want %d", got, tc.again)
				}
				if tc.again > 0 {
					want(t, w.commits("a"), 7)
				}
			}, "a", "b")
		})
	}
}

func TestWhileNobodyLooksNothingIsMeasured(t *testing.T) {
	inView(t, func(t *testing.T, w *view) {
		w.facts("a")
		synctest.Wait()
		w.looked()
		w.ChangedSince(0)
		time.Sleep(viewerTime)
		w.has("a", 3)
		for range 10 {
			w.happens(moved("a"))
			w.markOutput("a")
			time.Sleep(time.Minute)
		}
		want(t, w.looked(), nil)
		w.facts("a")
		synctest.Wait()
		want(t, w.looked(), []task.ID{"a"})
		want(t, w.commits("a"), 3)
	}, "a")
}

func TestWhatHappensWhileATaskIsMeasuredIsNotMissed(t *testing.T) {
	inView(t, func(t *testing.T, w *view) {
		w.hold = make(chan struct{})
		w.ChangedSince(0)
		w.facts("a")
		synctest.Wait()
		w.markStale("a")
		w.markStale("a")
		w.has("a", 4)
		close(w.hold)
		synctest.Wait()
		want(t, w.looked(), []task.ID{"a", "a"})
		want(t, w.commits("a"), 4)
	}, "a")
}

func TestOnlyAFewAreMeasuredConcurrently(t *testing.T) {
	var ids []task.ID
	for i := range 100 {
		ids = append(ids, task.ID(fmt.Sprint(i)))
	}
	inView(t, func(t *testing.T, w *view) {
		w.hold = make(chan struct{})
		for _, id := range ids {
			w.facts(id)
		}
		synctest.Wait()
		close(w.hold)
		synctest.Wait()
		got := w.looked()
		slices.Sort(got)
		want(t, got, slices.Sorted(slices.Values(ids)))
		want(t, w.busiest, measurers)
	}, ids...)
}

func TestWhatCannotBeMeasuredStaysAsItWas(t *testing.T) {
	inView(t, func(t *testing.T, w *view) {
		w.has("a", 5)
		w.facts("a")
		w.facts("unknown")
		synctest.Wait()
		_, mark, _ := w.ChangedSince(0)
		w.trouble = errors.New("git does not answer")
		w.markStale("a")
		synctest.Wait()
		want(t, w.commits("a"), 5)
		ids, _, _ := w.ChangedSince(mark)
		want(t, ids, nil)
		w.trouble = nil
		delete(w.works, "a") // its branch is gone
		w.markStale("a")
		synctest.Wait()
		want(t, w.commits("a"), -1)
	}, "a")
}

func TestChecksAreStoredAndShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newView("a", "b")
		w.kept["b"] = tracker.CheckPassed
		defer w.Start(t.Context())()
		want(t, w.facts("b").Checks, tracker.CheckPassed)
		w.facts("a")
		synctest.Wait()
		_, mark, more := w.ChangedSince(0)
		failed := tracker.PR{Checks: []tracker.Check{{State: tracker.CheckPassed}, {State: tracker.CheckFailed}}}
		w.KeepPullRequest("a", failed)
		<-more
		ids, mark, _ := w.ChangedSince(mark)
		want(t, ids, []task.ID{"a"})
		want(t, w.facts("a").Checks, tracker.CheckFailed)
		want(t, w.kept, map[task.ID]string{"a": tracker.CheckFailed, "b": tracker.CheckPassed})
		w.KeepPullRequest("a", failed)
		ids, _, _ = w.ChangedSince(mark)
		want(t, ids, nil)
		w.KeepPullRequest("a", tracker.PR{})
		want(t, w.facts("a").Checks, "")
		want(t, w.kept, map[task.ID]string{"b": tracker.CheckPassed})
	})
}

func TestADeletedTaskIsForgotten(t *testing.T) {
	inView(t, func(t *testing.T, w *view) {
		w.hold = make(chan struct{})
		w.has("a", 1)
		w.facts("a")
		w.KeepPullRequest("a", tracker.PR{Checks: []tracker.Check{{State: tracker.CheckPending}}})
		synctest.Wait()
		w.happens(journal.Entry{Task: "a", Type: journal.TaskDeleted})
		time.Sleep(2 * settling)
		close(w.hold) // it was being measured
		synctest.Wait()
		ids, _, _ := w.ChangedSince(0)
		want(t, ids, nil)
		want(t, w.kept, map[task.ID]string{})
		want(t, len(w.Service.known), 0)
	}, "a")
}

func TestSince(t *testing.T) {
	inView(t, func(t *testing.T, w *view) {
		for i, id := range []task.ID{"a", "b", "c"} {
			w.has(id, i)
			w.facts(id)
			synctest.Wait()
		}
		since := func(mark int64) []task.ID {
			ids, now, more := w.ChangedSince(mark)
			if now != 4 || more == nil {
				t.Errorf("now is %d", now)
			}
			return ids
		}
		w.KeepPullRequest("b", tracker.PR{Checks: []tracker.Check{{State: tracker.CheckPending}}})
		want(t, since(0), []task.ID{"b", "c", "a"})
		want(t, since(1), []task.ID{"b", "c"})
		want(t, since(3), []task.ID{"b"})
		want(t, since(4), nil)
		want(t, since(5), nil) // of another server
		want(t, since(-1), nil)
	}, "a", "b", "c")
}

func TestAnAgentThatWritesIsReportedAndNotMeasured(t *testing.T) {
	inView(t, func(t *testing.T, w *view) {
		dir := t.TempDir()
		file := filepath.Join(dir, "output.log")
		w.Output = func(id task.ID, n int) string { return filepath.Join(dir, map[int]string{1: "output.log"}[n]) }
		record := task.Task{ID: "a", Agents: task.Agents{Attempts: []task.Attempt{{Number: 1}}}}
		want(t, w.TaskFacts(&record).Active, map[int]time.Time{})
		check(t, os.WriteFile(file, []byte("x"), 0o600))
		at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		check(t, os.Chtimes(file, at, at))
		want(t, w.TaskFacts(&record).Active, map[int]time.Time{1: at})
		synctest.Wait()
		_, mark, more := w.ChangedSince(0)
		w.markOutput("a")
		<-more
		ids, _, _ := w.ChangedSince(mark)
		want(t, ids, []task.ID{"a"})
	}, "a")
}

// What a real worktree and a real file tell: a commit is measured, what an agent prints is
// not.
func TestACommitIsReportedAndOutputIsNot(t *testing.T) {
	dir := t.TempDir()
	repo, attempt := filepath.Join(dir, "repo"), filepath.Join(dir, "attempt")
	check(t, os.MkdirAll(attempt, 0o700))
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(cmd.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main", repo)
	git("-C", repo, "commit", "-q", "--allow-empty", "-m", "one")
	w := newView("a")
	w.tasks["a"] = task.Task{ID: "a", Agents: task.Agents{Attempts: []task.Attempt{{Number: 1}}}}
	w.Worktree = func(*task.Task) string { return repo }
	w.Output = func(task.ID, int) string { return filepath.Join(attempt, "output.log") }
	stop := w.Start(t.Context())
	defer func() { stop() }()
	becomes := func(commits int) {
		t.Helper()
		wait.Until(t, fmt.Sprintf("%d commits are seen", commits), func() bool { return w.commits("a") == commits })
	}
	w.ChangedSince(0)
	w.has("a", 1)
	becomes(1)
	for range 100 {
		check(t, os.WriteFile(filepath.Join(attempt, "output.log"), []byte("x"), 0o600))
	}
	w.has("a", 2)
	git("-C", repo, "commit", "-q", "--allow-empty", "-m", "two")
	becomes(2)
	if n := len(w.looked()); n > 4 { // the commit may have been reported in parts
		t.Errorf("measured %d times", n)
	}
	if n := w.Watcher.Len(); n != 2 {
		t.Errorf("%d folders are watched", n)
	}
	w.mu.Lock()
	w.tasks["a"] = task.Task{ID: "a"} // its agent has ended
	w.mu.Unlock()
	w.has("a", 3)
	w.happens(moved("a"))
	becomes(3)
	if n := w.Watcher.Len(); n != 1 {
		t.Errorf("%d folders are watched", n)
	}
	w.happens(journal.Entry{Task: "a", Type: journal.TaskDeleted})
	wait.Until(t, "the folder is not watched", func() bool { return w.Watcher.Len() == 0 })
	stop()
	stop = func() {}
}

func TestManyAreMeasured(t *testing.T) {
	var ids []task.ID
	for i := range 20 {
		ids = append(ids, task.ID(fmt.Sprint(i)))
	}
	w := newView(ids...)
	stop := w.Start(t.Context())
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			mark := int64(0)
			for j := range 200 {
				id := ids[(i+j)%len(ids)]
				switch j % 6 {
				case 0:
					w.has(id, i*j)
					w.markStale(id)
				case 1:
					_, mark, _ = w.ChangedSince(mark)
				case 2:
					w.KeepPullRequest(id, tracker.PR{Checks: []tracker.Check{{State: tracker.CheckPending}}})
				case 3:
					w.happens(moved(id))
				case 4:
					w.forgetTask(id)
				}
				w.facts(id)
			}
		})
	}
	wait.Wait()
	stop()
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheLastLineOfAnOutput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "output.log")
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":            {"", ""},
		"a line":             {"Running the tests ...\n", "Running the tests ..."},
		"the last with text": {"one\ntwo\n\n   \n", "two"},
		"an unfinished line": {"one\ntwo", "two"},
		"colours":            {"\x1b[32m+ index.go\x1b[0m  42 lines\n", "+ index.go 42 lines"},
		"a drawn screen":     {"\x1b[2J\x1b[1;1Hmenu\n", ""},
		"an erased line":     {"10 %\r\x1b[K20 %\n", ""},
		"a cut line":         {strings.Repeat("x", 3*maxTail), ""},
		"a line after it":    {strings.Repeat("x", 3*maxTail) + "\nlast\n", "last"},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, os.WriteFile(file, []byte(tt.text), 0o600))
			want(t, strings.Join(strings.Fields(lastLine(file)), " "), tt.want)
		})
	}
	want(t, lastLine(filepath.Join(t.TempDir(), "missing")), "")
}
