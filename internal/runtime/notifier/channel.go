package notifier

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"orange/internal/core/explain"
	"orange/internal/core/task"
)

// A Channel is one way to tell people something.
type Channel struct {
	Name    string // the same at each start; without blanks
	Wants   func(explain.Item) bool
	Retry   bool // what went wrong may go well later
	Several int  // more items than that at once are told as one message; 0: never

	// Deliver tells items, one or several. The id is the same each time the same is told.
	// An error with a method Lasting that says true is not tried again.
	Deliver func(ctx context.Context, id string, items []explain.Item) error
}

// A DeliveryResult is how telling went the last time.
type DeliveryResult struct {
	Channel string
	At      time.Time
	Problem string // "" if it went well
	GaveUp  bool
}

// deliveryTimeout is how long people are tried to be told, from the first try on.
const deliveryTimeout = 10 * time.Minute

// delays are between tries. The last one goes on.
var delays = [...]time.Duration{2 * time.Second, 10 * time.Second, 40 * time.Second, 2 * time.Minute, 4 * time.Minute}

// channelQueue is a way with what it is still to tell: at most one item of each task.
type channelQueue struct {
	Channel
	report func(DeliveryResult)
	log    *slog.Logger

	mu      sync.Mutex
	pending []*announcement // oldest first
	wake    chan struct{}
}

// announcement is an item to be told.
type announcement struct {
	key   string
	item  explain.Item
	since time.Time // it was ordered
}

func newChannelQueue(w Channel, report func(DeliveryResult), log *slog.Logger) *channelQueue {
	if report == nil {
		report = func(DeliveryResult) {}
	}
	return &channelQueue{Channel: w, report: report, log: log, wake: make(chan struct{}, 1)}
}

// addPending orders an item to be told, instead of another one of the same task.
func (w *channelQueue) addPending(o *announcement) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := slices.IndexFunc(w.pending, func(have *announcement) bool { return have.item.Task == o.item.Task })
	switch {
	case at >= 0 && w.pending[at].key == o.key:
		return
	case at >= 0:
		w.pending = slices.Delete(w.pending, at, at+1)
	}
	w.pending = append(w.pending, o)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// dropTask takes back what was ordered of a task.
func (w *channelQueue) dropTask(id task.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = slices.DeleteFunc(w.pending, func(o *announcement) bool { return o.item.Task == id })
}

func (w *channelQueue) hasPending() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.pending) > 0
}

// nextBatch is what is told next, in one message.
func (w *channelQueue) nextBatch() []*announcement {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch n := len(w.pending); {
	case n == 0:
		return nil
	case w.Several > 0 && n > w.Several:
		return slices.Clone(w.pending)
	}
	return []*announcement{w.pending[0]}
}

// expiredItems are the orders that were to be told long ago.
func (w *channelQueue) expiredItems() (out []*announcement) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.pending {
		if time.Since(o.since) >= deliveryTimeout {
			out = append(out, o)
		}
	}
	return out
}

// settleItems takes orders off the list and says so.
func (w *channelQueue) settleItems(orders []*announcement, done chan<- deliveryEnd) {
	for _, o := range orders {
		// As long as it is not kept the line is busy, and takes no second order for it.
		kept := make(chan struct{})
		done <- deliveryEnd{task: o.item.Task, key: o.key, channel: w.Name, kept: kept}
		<-kept
		w.mu.Lock()
		w.pending = slices.DeleteFunc(w.pending, func(have *announcement) bool { return have == o })
		w.mu.Unlock()
	}
}

// run tells what is ordered until ctx ends.
func (w *channelQueue) run(ctx context.Context, done chan<- deliveryEnd) {
	failed := 0 // tries in a row
	for ctx.Err() == nil {
		orders := w.nextBatch()
		if len(orders) == 0 {
			select {
			case <-ctx.Done():
			case <-w.wake:
			}
			continue
		}
		err := w.deliverItems(ctx, orders)
		if err == nil {
			failed = 0
			w.settleItems(orders, done)
			w.report(DeliveryResult{Channel: w.Name, At: time.Now()})
			continue
		}
		if ctx.Err() != nil {
			return // the next server tells it
		}
		given := w.giveUp(orders, err)
		w.settleItems(given, done)
		if !w.Retry || isLasting(err) {
			continue
		}
		if !waitFor(ctx, retryDelay(failed)) {
			return
		}
		failed++
	}
}

// deliverItems tells orders. What is under way when ctx ends has a moment to arrive.
func (w *channelQueue) deliverItems(ctx context.Context, orders []*announcement) error {
	items := make([]explain.Item, len(orders))
	for i, o := range orders {
		items[i] = o.item
	}
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		if waitFor(late, exitTimeout) {
			cancel()
		}
	})
	defer stop()
	return w.Deliver(late, messageID(orders), items)
}

// giveUp says which orders are not tried again after err.
func (w *channelQueue) giveUp(orders []*announcement, err error) []*announcement {
	given := orders
	if w.Retry && !isLasting(err) {
		given = w.expiredItems() // those behind would wait for nothing
	}
	w.report(DeliveryResult{Channel: w.Name, At: time.Now(), Problem: err.Error(), GaveUp: len(given) > 0})
	text := "somebody could not be told, and will be tried again"
	if len(given) > 0 {
		text = "somebody could not be told"
	}
	w.log.Warn(text, "component", "herald", "way", w.Name, "items", max(len(orders), len(given)), "error", err)
	return given
}

// isLasting says that trying again would not help.
func isLasting(err error) bool {
	var l interface{ IsLasting() bool }
	return errors.As(err, &l) && l.IsLasting()
}

// retryDelay is how long to wait after a number of failures, a fifth more or less.
func retryDelay(failed int) time.Duration {
	d := delays[min(failed, len(delays)-1)]
	return d - d/5 + rand.N(2*d/5)
}
