package web_test

import (
	"context"
	"testing"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
	"orange/internal/ui/apitest"
	"orange/internal/ui/web"
	"orange/internal/view/ansi"
	"orange/internal/view/diff"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

const (
	taskID  = "T0000000000000000000t"
	hostile = `<img src=x onerror="window.harmed=1"><script>window.harmed=1</script>`
)

// taskWorkflow is what the task of a taskBackend follows.
const taskWorkflow = `name: studio
version: 1
describe: "` + `<script>window.harmed=1</script>` + `"
roles:
  worker: {describe: works, harness: task, prompt: worker, session: persistent}
states:
  pending: {kind: queued}
  working: {kind: agent, role: worker, deadline: {wall: 1h}}
  reviewing: {kind: human}
  asking: {kind: waiting}
  done: {kind: terminal}
  cancelled: {kind: terminal}
edges:
  - {from: new, to: pending, on: create, by: [human]}
  - {from: pending, to: working, on: [request, ready], as: complete, by: [human, engine]}
  - {from: working, to: reviewing, on: [request, exit], as: complete, by: [human, worker]}
  - {from: working, to: asking, as: ask, by: [human, worker]}
  - {from: asking, to: working, as: complete, by: [human]}
  - {from: reviewing, to: working, as: request-changes, by: [human]}
  - {from: reviewing, to: done, as: complete, by: [human]}
  - {from: [pending, working, reviewing, asking], to: cancelled, as: cancel, by: [human]}
prompts:
  worker: "do it <b>well</b>"
`

// taskBackend is a backend with one task, and an agent with a terminal.
type taskBackend struct {
	*backend
	body        string
	diff        string
	diffProblem string
	screen      string
	dialog      ansi.Input        // what the screen asks
	files       map[string]string // contents, those of the old side with " before" behind their path
	work        overview.Work
	more        chan struct{} // closes when the screen is another
	watched     int           // how many streams of the terminal are open
}

func newTaskBackend(t *testing.T) *taskBackend {
	t.Helper()
	s := &taskBackend{backend: newBackend(t), more: make(chan struct{}), diff: taskDiff, work: overview.Work{Commits: 2, Added: 3, Deleted: 1}}
	s.refusal = ""
	now := epoch
	s.Now = func() time.Time { now = now.Add(time.Second); return now }
	s.def = s.AddWorkflow(t, "studio.yaml", taskWorkflow)
	flawed := &workflow.Definition{Name: "flawed", File: "f.yaml", Text: "name: flawed\nversion: 1\nstates:\n  trap: {kind: human}\n  done: {kind: terminal}\nedges:\n  - {from: new, to: trap, on: create, by: [human]}\n"}
	s.Workflows["flawed"], s.Workflows["broken"] = flawed, &workflow.Definition{Name: hostile, File: "b.yaml", Text: "name: " + hostile + "\nstates: 1\n"}
	s.api.Projects = apitest.Projects{{Name: "shop"}}
	s.api.Library = apitest.FakeLibrary{{Name: "studio", Hash: s.def.Hash, Origin: "user", File: "/x/" + hostile, Tasks: 1}}
	s.api.Folders, s.api.Attempts, s.api.Changes, s.api.Screens, s.api.Measurements = s, taskAttempts{}, s, s, s
	a, err := s.Begin(s.def, signal.New{ID: taskID, Project: "shop", Branch: "fix-login", Summary: "Fix " + hostile, Harness: "script:x"})
	if err != nil || a.Decision.Verdict == engine.Refuse {
		t.Fatal(err, a.Decision.Refused)
	}
	s.Tasks[0].Branch, s.Journals[taskID][0].New.Branch = hostile, hostile
	return s
}

const taskDiff = `diff --git a/src/<b>login.go b/src/<b>login.go
--- a/src/<b>login.go
+++ b/src/<b>login.go
@@ -1,3 +1,4 @@ func <script>
 package login
-var old = 1
+var new = "<script>window.harmed=1</script>"
+var more = 2
 // end
diff --git a/README b/README
--- a/README
+++ b/README
@@ -1 +1 @@
-shop
+the shop
`

// open opens a site of the backend.
func (s *taskBackend) open(input bool) *env {
	return newEnv(s.t, s.backend, func(o *web.SiteOptions) { o.Input = input })
}

// send lets something happen.
func (s *taskBackend) send(sig signal.Signal) engine.Decision {
	s.t.Helper()
	a, err := s.DecidingEngine.Submit(context.Background(), taskID, sig)
	if err != nil {
		s.t.Error(err)
	}
	return a.Decision
}

// ask is a person asking for a verb.
func (s *taskBackend) ask(verb string) {
	s.t.Helper()
	if d := s.send(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: verb}); d.Verdict == engine.Refuse {
		s.t.Errorf("%s: %s", verb, d.Refused)
	}
}

// spend lets the agent report what it consumed.
func (s *taskBackend) spend() {
	s.t.Helper()
	s.send(signal.Signal{Kind: signal.Notice, Actor: task.Engine, Attempt: 1, Condition: &task.Condition{Name: task.Running}, Usage: &task.Usage{InputTokens: 120_000, OutputTokens: 3_400, CostMicroUSD: 420_000}})
}

func (s *taskBackend) status() string {
	t, _, _ := s.Task(taskID)
	return t.Status
}

// entries counts the entries of the task.
func (s *taskBackend) entries() int {
	list, _ := s.FakeStore.Journal(taskID, 0)
	return len(list)
}

// shows changes what the terminal of the agent shows.
func (s *taskBackend) shows(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.screen = text
	close(s.more)
	s.more = make(chan struct{})
}

// Path implements api.Folders.
func (*taskBackend) Path(string, task.ID) string { return "/tasks/t" }

// ReadTaskFile implements api.Folders.
func (s *taskBackend) ReadTaskFile(string, task.ID) (taskfile.Document, error) {
	return taskfile.Parse([]byte(s.body))
}

// AbsentAttempts implements api.Measurements.
func (s *taskBackend) AbsentAttempts(t *task.Task) []int { return s.TaskFacts(t).Absent }

// TaskFacts implements api.Measurements.
func (s *taskBackend) TaskFacts(*task.Task) overview.Facts {
	s.mu.Lock()
	defer s.mu.Unlock()
	work := s.work
	return overview.Facts{Work: &work}
}

// TaskDiff implements api.Changes.
func (s *taskBackend) TaskDiff(context.Context, task.Task) (diff.Comparison, error) {
	return diff.Comparison{Base: "0123456789abcdef", Files: diff.Parse(s.diff), Problem: s.diffProblem}, nil
}

// TaskFile implements api.Changes.
func (s *taskBackend) TaskFile(_ context.Context, _ task.Task, path string, old bool) (content []byte, cut bool, err error) {
	text, ok := s.files[path+map[bool]string{true: " before"}[old]]
	if !ok {
		return nil, false, task.Mistakef("no such file: %s", path)
	}
	return []byte(text), false, nil
}

// ReadScreen implements api.Screens.
func (s *taskBackend) ReadScreen(context.Context, task.Task, string) (wire.Screen, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return wire.Screen{Attempt: 1, Role: "worker", Harness: "script", Alive: true, Lines: ansi.ParseLines(s.screen), At: epoch,
		Seen: "seen " + ansi.OneLine(s.screen), Dialog: s.dialog.Kind == ansi.Dialog, Choices: s.dialog.Choices()}, nil
}

// nextScreen returns a channel that closes when another screen is shown.
func (s *taskBackend) nextScreen() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.more
}

// WatchOutput implements api.Screens.
func (s *taskBackend) WatchOutput(ctx context.Context, _ task.Task, _ string) (<-chan struct{}, error) {
	s.watchers(1)
	out := make(chan struct{}, 1)
	more := s.nextScreen() // before the caller reads the screen: it is told of every screen after that
	go func() {
		defer s.watchers(-1)
		for {
			select {
			case <-ctx.Done():
				return
			case <-more:
				more = s.nextScreen()
			}
			select {
			case out <- struct{}{}:
			default:
			}
		}
	}()
	return out, nil
}

// TypeText implements api.Screens.
func (s *taskBackend) TypeText(_ context.Context, _ task.Task, _, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.typed = append(s.typed, text)
	return nil
}

// PressKey implements api.Screens.
func (s *taskBackend) PressKey(_ context.Context, _ task.Task, in wire.KeyInput) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case in.Seen != "seen "+ansi.OneLine(s.screen):
		return task.Mistakef("the terminal shows something else now: look at it and decide again")
	case in.Dialog && s.dialog.Kind != ansi.Dialog:
		return task.Mistakef("no dialog is open: look at the terminal again")
	}
	s.typed = append(s.typed, "key "+in.Key)
	return nil
}

// watchers counts the streams of the terminal, more by n.
func (s *taskBackend) watchers(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched += n
	return s.watched
}

// taskAttempts are the attempts of a task's record, all alive.
type taskAttempts struct{ apitest.Attempts }

// ListAttempts implements api.Attempts.
func (taskAttempts) ListAttempts(t task.Task) (out []wire.Attempt, err error) {
	for _, a := range t.Attempts {
		out = append(out, wire.Attempt{Number: a.Number, Role: a.Role, Harness: "script", Alive: true, Since: a.Since, Log: "/x/log", Final: hostile})
	}
	return out, nil
}
