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

// The one task of every walk. Its id is fixed, so that asking for it twice is seen.
const (
	walkTask    = task.ID("CrashProof00000000000")
	walkProject = "proof"
	walkBranch  = "proof"
)

// maxMoves bounds a walk through a workflow that has loops.
const maxMoves = 20

// settleTime bounds how long the engine may take to do what it owes.
const settleTime = 60 * time.Second

// walker plays a task's life: it writes what gates ask for, asks for moves as those
// who may, and starts the server again whenever it is dead.
type walker struct {
	def    *workflow.Definition
	dir    string
	repo   string
	home   string
	server *process
	taken  map[string]int // how often each edge was taken
	path   []string
	acked  int // highest entry the server confirmed
	round  int
}

// prepare makes a repository whose branch is merged, so that evidence is there.
func (w *walker) prepare() error {
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
		// The journal names the commit that was merged: every walk must make the same one.
		cmd.Env = append(cmd.Environ(), "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}

// live creates the task and moves it on until it is over.
func (w *walker) live(ctx context.Context) error {
	if err := w.create(ctx); err != nil {
		return err
	}
	if err := w.server.hide(ctx); errors.Is(err, errDied) {
		if err := w.server.again(ctx); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	for range maxMoves {
		t, err := w.settled(ctx)
		if err != nil {
			return err
		}
		w.path = append(w.path, t.Status)
		if w.over(t.Status) {
			return nil
		}
		edge := w.choose(&t)
		if edge == nil {
			return fmt.Errorf("nothing leads on from %s", t.Status)
		}
		if err := w.move(ctx, t, edge); err != nil {
			return err
		}
	}
	return w.end(ctx)
}

func (w *walker) create(ctx context.Context) error {
	return w.insist(ctx, func() (bool, error) {
		if _, err := w.server.client.Task(ctx, string(walkTask)); err == nil {
			return true, nil
		}
		list, err := w.server.client.Projects(ctx)
		if err != nil {
			return false, err
		}
		if len(list) == 0 {
			if _, err := w.server.client.AddProject(ctx, task.Project{Name: walkProject, Path: w.repo, PoolSize: 1}); err != nil {
				return false, err
			}
		}
		a, err := w.server.client.Create(ctx, signal.Wish{
			New:      signal.New{ID: walkTask, Project: walkProject, Branch: walkBranch, Summary: "prove it", Spawn: true},
			Workflow: w.def.Name, Context: "The crash proof writes here.",
		})
		w.ack(a)
		return err == nil, err
	})
}

// insist repeats an action until it is done, starting the server again if it died.
// The action must find out by itself whether an earlier try took effect.
func (w *walker) insist(ctx context.Context, action func() (done bool, err error)) error {
	for range 100 {
		done, err := action()
		if done {
			return nil
		}
		var refused *client.Error
		if errors.As(err, &refused) || err == nil || !w.server.dead() {
			return fmt.Errorf("in %v: %w", w.path, err)
		}
		if err := w.server.again(ctx); err != nil {
			return err
		}
	}
	return errors.New("the server dies again and again")
}

func (w *walker) ack(a wire.Answer) {
	for _, e := range a.Decision.Entries {
		w.acked = max(w.acked, e.Seq)
	}
}

// settled waits until the engine owes nothing and returns the record.
func (w *walker) settled(ctx context.Context) (t task.Task, err error) {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	err = w.insist(ctx, func() (bool, error) {
		for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
			view, err := w.server.client.Task(ctx, string(walkTask))
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

// choose prefers the edge that was taken least often, in file order, and a finish
// only when there is nothing else: the walk is to see as much as it can.
func (w *walker) choose(t *task.Task) *workflow.Edge {
	var best *workflow.Edge
	for _, i := range w.def.EdgesFrom(t.Status) {
		e := &w.def.Edges[i]
		if !w.possible(e, t) {
			continue
		}
		if best == nil || w.weight(e, t) < w.weight(best, t) {
			best = e
		}
	}
	return best
}

func (w *walker) weight(e *workflow.Edge, t *task.Task) int {
	n := 2 * w.taken[t.Status+">"+e.To]
	s, _ := w.def.State(e.To)
	switch {
	case s.Kind == workflow.Terminal && len(e.Gates) == 0:
		return n + 9 // giving up
	case s.Kind == workflow.Terminal || s.Kind == workflow.Waiting:
		return n + 1
	}
	return n
}

// possible says whether the walker can take the edge: somebody it can speak for may
// ask, or the end of the state's agent leads there.
func (w *walker) possible(e *workflow.Edge, t *task.Task) bool {
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
	_, ok := w.speaker(e, t)
	return ok && e.Answers(workflow.OnRequest, "")
}

// speaker finds who asks for the edge: a living agent first, then a person.
func (w *walker) speaker(e *workflow.Edge, t *task.Task) (signal.Signal, bool) {
	for _, actor := range e.By {
		if a, ok := t.Live(string(actor)); ok {
			return signal.Signal{Kind: signal.Request, Actor: actor, Attempt: a.Number, To: e.To}, true
		}
	}
	if e.Permits(task.Human) {
		return signal.Signal{Kind: signal.Request, Actor: task.Human, To: e.To}, true
	}
	return signal.Signal{}, false
}

// move writes what the edge's gates ask for and takes it: every second time by the
// end of the agent, if that leads the same way.
func (w *walker) move(ctx context.Context, t task.Task, e *workflow.Edge) error {
	if err := w.satisfy(e); err != nil {
		return err
	}
	sig, _ := w.speaker(e, &t)
	key := t.Status + ">" + e.To
	s, _ := w.def.State(t.Status)
	if a, ok := t.Live(s.Role); ok && e.Answers(workflow.OnExit, "") && w.taken[key]%2 == 1 {
		sig = signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role}
	}
	w.taken[key]++
	return w.submit(ctx, t, sig)
}

// submit sends a signal once, whatever happens to the server meanwhile.
func (w *walker) submit(ctx context.Context, t task.Task, sig signal.Signal) error {
	return w.insist(ctx, func() (bool, error) {
		view, err := w.server.client.Task(ctx, string(walkTask))
		if err != nil {
			return false, err
		}
		if view.Task.Visit != t.Visit {
			return true, nil // an earlier try was committed; only its answer was lost
		}
		a, err := w.server.client.Signal(ctx, string(walkTask), sig)
		w.ack(a)
		return err == nil, err
	})
}

// end cancels a task that is still under way.
func (w *walker) end(ctx context.Context) error {
	t, err := w.settled(ctx)
	if err != nil || w.over(t.Status) {
		return err
	}
	w.path = append(w.path, t.Status)
	if err := w.submit(ctx, t, signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "cancel"}); err != nil {
		return err
	}
	t, err = w.settled(ctx)
	w.path = append(w.path, t.Status)
	return err
}

func (w *walker) over(state string) bool {
	s, ok := w.def.State(state)
	return ok && s.Kind == workflow.Terminal
}

// satisfy writes sections that open the edge's gates, new ones each time.
func (w *walker) satisfy(e *workflow.Edge) error {
	w.round++
	path := filepath.Join(w.folder(), "TASK.md")
	for _, name := range e.Gates {
		g, _ := w.def.Gate(name)
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
