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

// A Channel delivers notifications to people in one way.
type Channel struct {
	Name    string // the same at each start; without spaces
	Wants   func(explain.Item) bool
	Retry   bool // a failed delivery may succeed later
	Several int  // more pending items than this are sent as one message; 0: never

	// Deliver sends items, one or several. The id is the same each time the same items are sent. An error with a method
	// Lasting that returns true is not retried.
	Deliver func(ctx context.Context, id string, items []explain.Item) error
}

// A DeliveryResult is the result of the last delivery.
type DeliveryResult struct {
	Channel string
	At      time.Time
	Problem string // "" if it succeeded
	GaveUp  bool
}

// deliveryTimeout is how long delivery is retried, from the first try on.
const deliveryTimeout = 10 * time.Minute

// delays are the pauses between tries. The last one is repeated.
var delays = [...]time.Duration{2 * time.Second, 10 * time.Second, 40 * time.Second, 2 * time.Minute, 4 * time.Minute}

// channelQueue is a channel with its pending items: at most one of each task.
type channelQueue struct {
	Channel
	report func(DeliveryResult)
	log    *slog.Logger

	mu      sync.Mutex
	pending []*announcement // oldest first
	wake    chan struct{}
}

// announcement is an item to be sent.
type announcement struct {
	key   string
	item  explain.Item
	since time.Time // when it was added
}

func newChannelQueue(w Channel, report func(DeliveryResult), log *slog.Logger) *channelQueue {
	if report == nil {
		report = func(DeliveryResult) {}
	}
	return &channelQueue{Channel: w, report: report, log: log, wake: make(chan struct{}, 1)}
}

// addPending adds an item, in place of another one of the same task.
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

// dropTask removes the pending items of a task.
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

// nextBatch returns the items to send next, in one message.
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

// expiredItems returns the items that are older than deliveryTimeout.
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

// settleItems removes items from the queue and reports that.
func (w *channelQueue) settleItems(orders []*announcement, done chan<- deliveryEnd) {
	for _, o := range orders {
		// Until that is stored the item stays in the queue, so that it is not added a second time.
		kept := make(chan struct{})
		done <- deliveryEnd{task: o.item.Task, key: o.key, channel: w.Name, kept: kept}
		<-kept
		w.mu.Lock()
		w.pending = slices.DeleteFunc(w.pending, func(have *announcement) bool { return have == o })
		w.mu.Unlock()
	}
}

// run sends pending items until ctx ends.
func (w *channelQueue) run(ctx context.Context, done chan<- deliveryEnd) {
	failed := 0 // failed tries in a row
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
			return // the next server sends it
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

// deliverItems sends items. A delivery in progress has exitTimeout to finish when ctx ends.
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

// giveUp returns the items that are not retried after err.
func (w *channelQueue) giveUp(orders []*announcement, err error) []*announcement {
	given := orders
	if w.Retry && !isLasting(err) {
		given = w.expiredItems() // the items after them would wait for nothing
	}
	w.report(DeliveryResult{Channel: w.Name, At: time.Now(), Problem: err.Error(), GaveUp: len(given) > 0})
	text := "somebody could not be told, and will be tried again"
	if len(given) > 0 {
		text = "somebody could not be told"
	}
	w.log.Warn(text, "component", "notifier", "channel", w.Name, "items", max(len(orders), len(given)), "error", err)
	return given
}

// isLasting reports whether a retry would not help.
func isLasting(err error) bool {
	var l interface{ IsLasting() bool }
	return errors.As(err, &l) && l.IsLasting()
}

// retryDelay returns how long to wait after a number of failures, with a random deviation of up to a fifth.
func retryDelay(failed int) time.Duration {
	d := delays[min(failed, len(delays)-1)]
	return d - d/5 + rand.N(2*d/5)
}
