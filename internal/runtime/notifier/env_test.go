package notifier_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/runtime/notifier"
)

// memoryStore is a store in memory.
type memoryStore struct {
	mu       sync.Mutex
	order    []task.ID
	tasks    map[task.ID]task.Task
	rows     []journal.Row
	more     chan struct{}
	notices  map[task.ID]string
	settings map[string]string
	dead     bool // nothing is written any more, as if the process was killed
	reads    int  // of tasks
	follows  int
	writes   int
}

func newMemoryStore() *memoryStore {
	return &memoryStore{tasks: map[task.ID]task.Task{}, more: make(chan struct{}), notices: map[task.ID]string{}, settings: map[string]string{}}
}

func (b *memoryStore) FollowJournal(after int64, _ task.ID, limit int) ([]journal.Row, <-chan struct{}, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.follows++
	from := min(int(after), len(b.rows))
	return slices.Clone(b.rows[from:min(from+limit, len(b.rows))]), b.more, nil
}

func (b *memoryStore) LastRow() (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return int64(len(b.rows)), nil
}

func (b *memoryStore) Task(id task.ID) (task.Task, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads++
	t, ok := b.tasks[id]
	return t, ok, nil
}

func (b *memoryStore) EachTask(_ task.Filter, yield func([]byte) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range b.order {
		text, err := json.Marshal(b.tasks[id])
		if err == nil {
			err = yield(text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *memoryStore) UnsettledTasks() ([]task.Task, error) { return nil, nil }

func (b *memoryStore) Notice(id task.ID) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.notices[id], nil
}

func (b *memoryStore) SetNotice(id task.ID, key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dead {
		return errors.New("killed")
	}
	b.writes++
	b.notices[id] = key
	if key == "" {
		delete(b.notices, id)
	}
	return nil
}

func (b *memoryStore) Setting(key string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.settings[key], nil
}

func (b *memoryStore) SetSetting(key, value string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dead {
		return errors.New("killed")
	}
	b.writes++
	b.settings[key] = value
	return nil
}

func (b *memoryStore) kill(dead bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dead = dead
}

// write changes a task, as a commit does.
func (b *memoryStore) write(t task.Task) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t.Seq = b.tasks[t.ID].Seq + 1
	t.UpdatedAt = time.Now()
	if _, known := b.tasks[t.ID]; !known {
		b.order = append(b.order, t.ID)
	}
	b.tasks[t.ID] = t
	b.rows = append(b.rows, journal.Row{ID: int64(len(b.rows) + 1), Entry: fmt.Appendf(nil, `{"task":%q,"seq":%d}`, t.ID, t.Seq)})
	close(b.more)
	b.more = make(chan struct{})
}

// atWork returns a task that wants nobody.
func atWork(id string) task.Task {
	return task.Task{ID: task.ID(id), Project: "shop", Branch: "b-" + id, Setup: task.Setup{Workflow: "orange"}, Status: "working", CurrentVisit: task.CurrentVisit{Visit: 2, Since: start()}, Agents: task.Agents{Attempts: []task.Attempt{{Number: 1, Role: "worker", Running: true}}}}
}

// asks returns a task whose agent asks whether it may do something.
func asks(id, what string) task.Task {
	t := atWork(id)
	t.Attempts[0].Condition = task.Condition{Name: task.WaitingPermission, Detail: what, Since: time.Now()}
	return t
}

// ended returns a task whose agent ended its turn.
func ended(id string) task.Task {
	t := atWork(id)
	t.Rules = engine.Rules
	t.Attempts[0].Condition = task.Condition{Name: task.Idle, Left: task.LeftQuestion, Since: time.Now()}
	return t
}

// broken returns a task that asks for attention.
func broken(id, why string) task.Task {
	t := atWork(id)
	t.Attention = why
	return t
}

func start() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// recipient is a channel that records what it gets.
type recipient struct {
	mu    sync.Mutex
	heard []string // kind, task
	ids   []string
	tries []time.Duration // since the beginning of the test
	fail  func(n int) error
	began time.Time
	hold  chan struct{} // nil: nobody waits
	most  int           // items in one notification
}

func (e *recipient) tell(ctx context.Context, id string, items []explain.Item) error {
	e.mu.Lock()
	e.tries = append(e.tries, time.Since(e.began))
	n, hold := len(e.tries), e.hold
	e.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fail != nil {
		if err := e.fail(n); err != nil {
			return err
		}
	}
	e.most = max(e.most, len(items))
	for _, it := range items {
		e.heard = append(e.heard, string(it.Kind)+" "+string(it.Task))
	}
	e.ids = append(e.ids, id)
	return nil
}

func (e *recipient) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.heard)
}

// env is a herald at work.
type env struct {
	t       *testing.T
	store   *memoryStore
	def     *workflow.Definition
	ways    []notifier.Channel
	log     bytes.Buffer
	results []notifier.DeliveryResult
	mu      sync.Mutex
	h       *notifier.Notifier
	stop    func()
}

func newEnv(t *testing.T) *env {
	t.Helper()
	text, _ := builtin.Text("orange")
	def, err := workflow.Parse(builtin.File("orange"), text)
	if err != nil {
		t.Fatal(err)
	}
	return &env{t: t, store: newMemoryStore(), def: def}
}

// way adds somebody who wants everything.
func (r *env) way(name string, change ...func(*notifier.Channel)) *recipient {
	e := &recipient{began: time.Now()}
	w := notifier.Channel{Name: name, Wants: func(explain.Item) bool { return true }, Deliver: e.tell}
	for _, c := range change {
		c(&w)
	}
	r.ways = append(r.ways, w)
	return e
}

func remote(w *notifier.Channel) { w.Retry = true }

// start lets a herald begin, and waits until it has nothing to do.
func (r *env) start() {
	r.t.Helper()
	r.h = notifier.New(notifier.NotifierOptions{
		Journal: r.store, Tasks: r.store, Notes: r.store, Channels: r.ways, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
		Definition: func(t *task.Task) (*workflow.Definition, error) {
			if t.Workflow != "orange" {
				return nil, errors.New("its workflow is gone")
			}
			return r.def, nil
		},
		Report: func(res notifier.DeliveryResult) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.results = append(r.results, res)
		},
	})
	ctx, cancel := context.WithCancel(r.t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		r.h.Run(ctx)
	}()
	r.stop = func() {
		cancel()
		<-over
	}
	synctest.Wait()
}

// after lets time pass.
func after(d time.Duration) {
	time.Sleep(d) // in a bubble
	synctest.Wait()
}
