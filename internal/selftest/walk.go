package selftest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/ui/client"
	"orange/internal/wire"
)

// The only task of every walk. Its id is fixed, so that creating it twice is noticed.
const (
	walkTask    = task.ID("CrashProof00000000000")
	walkProject = "proof"
	walkBranch  = "proof"
)

// maxMoves limits a walk through a workflow that has loops.
const maxMoves = 20

// settleTime limits how long the engine may take for its pending effects.
const settleTime = 60 * time.Second

// walker plays a task's lifecycle: it writes what gates require, requests moves as actors that
// may, and starts the server again whenever it is dead.
type walker struct {
	def    *workflow.Definition
	dir    string
	repo   string
	home   string
	server *process
	taken  map[string]int // how often each edge was taken
	path   []string
	acked  int // highest entry that the server confirmed
	round  int
}

// prepareRepository creates a repository whose branch is merged, so that the evidence exists.
func (w *walker) prepareRepository() error {
	if err := os.MkdirAll(filepath.Join(w.repo, ".orange", "workflows"), 0o700); err != nil {
		return err
	}
	own := filepath.Join(w.repo, ".orange", "workflows", w.def.Name+".yaml")
	if err := os.WriteFile(own, []byte(w.def.Text), 0o600); err != nil {
		return err
	}
	if err := os.MkdirAll(w.home, 0o700); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", "."},
		{"-c", "user.name=orange", "-c", "user.email=orange@localhost", "commit", "-q", "--allow-empty", "-m", "begin"},
		{"branch", walkBranch},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = w.repo
		// The journal contains the merged commit: every walk must create the same one.
		cmd.Env = append(cmd.Environ(), "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}

// playLifecycle creates the task and moves it on until it is over.
func (w *walker) playLifecycle(ctx context.Context) error {
	if err := w.createTask(ctx); err != nil {
		return err
	}
	if err := w.server.removeSocket(ctx); errors.Is(err, errDied) {
		if err := w.server.restartServer(ctx); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	for range maxMoves {
		t, err := w.awaitSettled(ctx)
		if err != nil {
			return err
		}
		w.path = append(w.path, t.Status)
		if w.isOver(t.Status) {
			return nil
		}
		edge := w.chooseEdge(&t)
		if edge == nil {
			return fmt.Errorf("no edge leads out of %s", t.Status)
		}
		if err := w.takeEdge(ctx, t, edge); err != nil {
			return err
		}
	}
	return w.cancelTask(ctx)
}

func (w *walker) createTask(ctx context.Context) error {
	return w.retryAcrossCrashes(ctx, func() (bool, error) {
		if _, err := w.server.client.ReadTask(ctx, string(walkTask)); err == nil {
			return true, nil
		}
		list, err := w.server.client.ListProjects(ctx)
		if err != nil {
			return false, err
		}
		if len(list) == 0 {
			if _, err := w.server.client.AddProject(ctx, task.Project{Name: walkProject, Path: w.repo, PoolSize: 1}); err != nil {
				return false, err
			}
		}
		a, err := w.server.client.CreateTask(ctx, signal.NewTask{
			New:      signal.New{ID: walkTask, Project: walkProject, Branch: walkBranch, Summary: "prove it", Spawn: true},
			Workflow: w.def.Name, Context: "The crash proof writes here.",
		})
		w.recordAck(a)
		return err == nil, err
	})
}

// retryAcrossCrashes repeats an action until it is done, and starts the server again if it
// died. The action must find out by itself whether an earlier try took effect.
func (w *walker) retryAcrossCrashes(ctx context.Context, action func() (done bool, err error)) error {
	for range 100 {
		done, err := action()
		if done {
			return nil
		}
		var refused *client.Error
		if errors.As(err, &refused) || err == nil || !w.server.isDead() {
			return fmt.Errorf("in %v: %w", w.path, err)
		}
		if err := w.server.restartServer(ctx); err != nil {
			return err
		}
	}
	return errors.New("the server dies repeatedly")
}

func (w *walker) recordAck(a wire.Answer) {
	for _, e := range a.Decision.Entries {
		w.acked = max(w.acked, e.Seq)
	}
}

// awaitSettled waits until no effect is pending and returns the record.
func (w *walker) awaitSettled(ctx context.Context) (t task.Task, err error) {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	err = w.retryAcrossCrashes(ctx, func() (bool, error) {
		for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
			view, err := w.server.client.ReadTask(ctx, string(walkTask))
			if err != nil {
				return false, err
			}
			if t = view.Task; len(t.Pending) == 0 && t.RespawnAt.IsZero() {
				return true, nil
			}
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return false, fmt.Errorf("%s is not done: %w", t.Pending[0].Do, ctx.Err())
			}
		}
	})
	return t, err
}

// chooseEdge prefers the edge that was taken least often, in file order, and a terminal state
// only if there is nothing else: the walk should cover as much as possible.
func (w *walker) chooseEdge(t *task.Task) *workflow.Edge {
	var best *workflow.Edge
	for _, i := range w.def.EdgesFrom(t.Status) {
		e := &w.def.Edges[i]
		if !w.canTake(e, t) {
			continue
		}
		if best == nil || w.edgeWeight(e, t) < w.edgeWeight(best, t) {
			best = e
		}
	}
	return best
}

func (w *walker) edgeWeight(e *workflow.Edge, t *task.Task) int {
	n := 2 * w.taken[t.Status+">"+e.To]
	s, _ := w.def.StateNamed(e.To)
	switch {
	case s.Kind == workflow.Terminal && len(e.Gates) == 0:
		return n + 9 // giving up
	case s.Kind == workflow.Terminal || s.Kind == workflow.Waiting:
		return n + 1
	}
	return n
}

// canTake reports whether the walker can take the edge: an actor that it can speak for may
// request it, or the end of the state's agent leads there.
func (w *walker) canTake(e *workflow.Edge, t *task.Task) bool {
	if e.When != nil {
		env := w.def.NewEnv()
		for _, c := range t.Counters {
			env[c.Name] = c.Value
		}
		env["return_to"] = t.ReturnTo
		if ok, err := e.When.Holds(env); err != nil || !ok {
			return false
		}
	}
	_, ok := w.signalFor(e, t)
	return ok && e.AnswersTo(workflow.OnRequest, "")
}

// signalFor returns the signal of the actor that requests the edge: a living agent first, then
// a person.
func (w *walker) signalFor(e *workflow.Edge, t *task.Task) (signal.Signal, bool) {
	for _, actor := range e.By {
		if a, ok := t.LiveAttempt(string(actor)); ok {
			return signal.Signal{Kind: signal.Request, Actor: actor, Attempt: a.Number, To: e.To}, true
		}
	}
	if e.PermitsActor(task.Human) {
		return signal.Signal{Kind: signal.Request, Actor: task.Human, To: e.To}, true
	}
	return signal.Signal{}, false
}

// takeEdge writes what the edge's gates require and takes it: every second time by the end of
// the agent, if that has the same result.
func (w *walker) takeEdge(ctx context.Context, t task.Task, e *workflow.Edge) error {
	if err := w.satisfyGates(e); err != nil {
		return err
	}
	sig, _ := w.signalFor(e, &t)
	key := t.Status + ">" + e.To
	s, _ := w.def.StateNamed(t.Status)
	if a, ok := t.LiveAttempt(s.Role); ok && e.AnswersTo(workflow.OnExit, "") && w.taken[key]%2 == 1 {
		sig = signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role}
	}
	w.taken[key]++
	return w.submitOnce(ctx, t, sig)
}

// submitOnce sends a signal once, whatever happens to the server in the meantime.
func (w *walker) submitOnce(ctx context.Context, t task.Task, sig signal.Signal) error {
	return w.retryAcrossCrashes(ctx, func() (bool, error) {
		view, err := w.server.client.ReadTask(ctx, string(walkTask))
		if err != nil {
			return false, err
		}
		if view.Task.Visit != t.Visit {
			return true, nil // an earlier try was committed; only its response was lost
		}
		a, err := w.server.client.SendSignal(ctx, string(walkTask), sig)
		w.recordAck(a)
		return err == nil, err
	})
}

// cancelTask cancels a task that is not over.
func (w *walker) cancelTask(ctx context.Context) error {
	t, err := w.awaitSettled(ctx)
	if err != nil || w.isOver(t.Status) {
		return err
	}
	w.path = append(w.path, t.Status)
	if err := w.submitOnce(ctx, t, signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "cancel"}); err != nil {
		return err
	}
	t, err = w.awaitSettled(ctx)
	w.path = append(w.path, t.Status)
	return err
}

func (w *walker) isOver(state string) bool {
	s, ok := w.def.StateNamed(state)
	return ok && s.Kind == workflow.Terminal
}

// satisfyGates writes sections that open the edge's gates, new ones each time.
func (w *walker) satisfyGates(e *workflow.Edge) error {
	w.round++
	path := filepath.Join(w.taskFolder(), "TASK.md")
	for _, name := range e.Gates {
		g, _ := w.def.GateNamed(name)
		if g.Section == "" {
			continue
		}
		text := []string{fmt.Sprintf("Round: %d", w.round)}
		switch {
		case g.Verdict != "":
			text = slices.Insert(text, 0, "Verdict: "+g.Verdict)
		case len(g.AnyOf) > 0:
			text = slices.Insert(text, 0, g.AnyOf[0]+": done")
		}
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(f, "\n## %s\n\n%s\n", g.Section, strings.Join(text, "\n"))
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}
