package herald

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/task"
)

// A Way is one way to tell people something.
type Way struct {
	Name    string // the same at each start; without blanks
	Wants   func(engine.Item) bool
	Retry   bool // what went wrong may go well later
	Several int  // more items than that at once are told as one message; 0: never

	// Tell tells items, one or several. The id is the same each time the same is told.
	// An error with a method Lasting that says true is not tried again.
	Tell func(ctx context.Context, id string, items []engine.Item) error
}

// A Result is how telling went the last time.
type Result struct {
	Way     string
	At      time.Time
	Problem string // "" if it went well
	GaveUp  bool
}

// tellFor is how long people are tried to be told, from the first try on.
const tellFor = 10 * time.Minute

// delays are between tries. The last one goes on.
var delays = [...]time.Duration{2 * time.Second, 10 * time.Second, 40 * time.Second, 2 * time.Minute, 4 * time.Minute}

// line is a way with what it is still to tell: at most one item of each task.
type line struct {
	Way
	report func(Result)
	log    *slog.Logger

	mu     sync.Mutex
	orders []*order // oldest first
	wake   chan struct{}
}

// order is an item to be told.
type order struct {
	key   string
	item  engine.Item
	since time.Time // it was ordered
}

func newLine(w Way, report func(Result), log *slog.Logger) *line {
	if report == nil {
		report = func(Result) {}
	}
	return &line{Way: w, report: report, log: log, wake: make(chan struct{}, 1)}
}

// add orders an item to be told, instead of another one of the same task.
func (w *line) add(o *order) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := slices.IndexFunc(w.orders, func(have *order) bool { return have.item.Task == o.item.Task })
	switch {
	case at >= 0 && w.orders[at].key == o.key:
		return
	case at >= 0:
		w.orders = slices.Delete(w.orders, at, at+1)
	}
	w.orders = append(w.orders, o)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// drop takes back what was ordered of a task.
func (w *line) drop(id task.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.orders = slices.DeleteFunc(w.orders, func(o *order) bool { return o.item.Task == id })
}

func (w *line) busy() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.orders) > 0
}

// due is what is told next, in one message.
func (w *line) due() []*order {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch n := len(w.orders); {
	case n == 0:
		return nil
	case w.Several > 0 && n > w.Several:
		return slices.Clone(w.orders)
	}
	return []*order{w.orders[0]}
}

// old are the orders that were to be told long ago.
func (w *line) old() (out []*order) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.orders {
		if time.Since(o.since) >= tellFor {
			out = append(out, o)
		}
	}
	return out
}

// settled takes orders off the list and says so.
func (w *line) settled(orders []*order, done chan<- end) {
	for _, o := range orders {
		// As long as it is not kept the line is busy, and takes no second order for it.
		kept := make(chan struct{})
		done <- end{task: o.item.Task, key: o.key, way: w.Name, kept: kept}
		<-kept
		w.mu.Lock()
		w.orders = slices.DeleteFunc(w.orders, func(have *order) bool { return have == o })
		w.mu.Unlock()
	}
}

// run tells what is ordered until ctx ends.
func (w *line) run(ctx context.Context, done chan<- end) {
	failed := 0 // tries in a row
	for ctx.Err() == nil {
		orders := w.due()
		if len(orders) == 0 {
			select {
			case <-ctx.Done():
			case <-w.wake:
			}
			continue
		}
		err := w.tell(ctx, orders)
		if err == nil {
			failed = 0
			w.settled(orders, done)
			w.report(Result{Way: w.Name, At: time.Now()})
			continue
		}
		if ctx.Err() != nil {
			return // the next server tells it
		}
		given := w.giveUp(orders, err)
		w.settled(given, done)
		if !w.Retry || lasting(err) {
			continue
		}
		if !pause(ctx, delay(failed)) {
			return
		}
		failed++
	}
}

// tell tells orders. What is under way when ctx ends has a moment to arrive.
func (w *line) tell(ctx context.Context, orders []*order) error {
	items := make([]engine.Item, len(orders))
	for i, o := range orders {
		items[i] = o.item
	}
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		if pause(late, parting) {
			cancel()
		}
	})
	defer stop()
	return w.Tell(late, messageID(orders), items)
}

// giveUp says which orders are not tried again after err.
func (w *line) giveUp(orders []*order, err error) []*order {
	given := orders
	if w.Retry && !lasting(err) {
		given = w.old() // those behind would wait for nothing
	}
	w.report(Result{Way: w.Name, At: time.Now(), Problem: err.Error(), GaveUp: len(given) > 0})
	text := "somebody could not be told, and will be tried again"
	if len(given) > 0 {
		text = "somebody could not be told"
	}
	w.log.Warn(text, "component", "herald", "way", w.Name, "items", max(len(orders), len(given)), "error", err)
	return given
}

// lasting says that trying again would not help.
func lasting(err error) bool {
	var l interface{ Lasting() bool }
	return errors.As(err, &l) && l.Lasting()
}

// delay is how long to wait after a number of failures, a fifth more or less.
func delay(failed int) time.Duration {
	d := delays[min(failed, len(delays)-1)]
	return d - d/5 + rand.N(2*d/5)
}
