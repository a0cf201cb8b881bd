package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"orange/internal/core/journal"
)

// pendingCommit is a decision that is not written yet.
type pendingCommit struct {
	journal.Commit
	turn chan struct{} // receives when this caller must write
	done chan error
}

// writer queues decisions. A caller that finds no write in progress writes all waiting decisions in its own goroutine,
// and then passes the turn to the first caller that arrived meanwhile. So one flush of the disk serves many callers,
// and a single caller waits for no other goroutine.
type writer struct {
	mu      sync.Mutex
	writing bool
	queue   []*pendingCommit
}

// maxBatch bounds how many decisions share one write to the disk.
const maxBatch = 256

// writeDurably makes a decision durable. Until the write begins, ctx can cancel it.
func (r *Runtime) writeDurably(ctx context.Context, decided journal.Commit) error {
	c := &pendingCommit{Commit: decided, turn: make(chan struct{}, 1), done: make(chan error, 1)}
	if !r.writer.joinQueue(c) {
		select {
		case err := <-c.done:
			return err
		case <-c.turn:
		case <-ctx.Done():
			if r.writer.withdrawCommit(c) {
				return fmt.Errorf("wait for the store: %w", ctx.Err())
			}
			return <-c.done
		}
	}
	r.writeAll(r.writer.takeBatch())
	return <-c.done
}

// joinQueue appends a decision to the queue and reports whether it is its turn immediately.
func (w *writer) joinQueue(c *pendingCommit) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = append(w.queue, c)
	first := !w.writing
	w.writing = true
	return first
}

// withdrawCommit removes a decision from the queue, unless it is being written.
func (w *writer) withdrawCommit(c *pendingCommit) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := slices.Index(w.queue, c)
	if at < 0 {
		return false
	}
	w.queue = slices.Delete(w.queue, at, at+1)
	select {
	case <-c.turn:
		w.wakeNext()
	default:
	}
	return true
}

// takeBatch takes the waiting decisions from the queue, oldest first. The caller has the turn, and its decision is the
// first.
func (w *writer) takeBatch() []*pendingCommit {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.queue), maxBatch)
	batch := slices.Clone(w.queue[:n])
	w.queue = slices.Delete(w.queue, 0, n)
	return batch
}

// passTurn ends the caller's turn.
func (w *writer) passTurn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wakeNext()
}

// wakeNext passes the turn to the first in the queue. The caller holds mu and has the turn.
func (w *writer) wakeNext() {
	if len(w.queue) == 0 {
		w.writing = false
		return
	}
	w.queue[0].turn <- struct{}{}
}

// writeAll writes a batch, reports the result to every caller and ends the turn, even if the store panics, so that no
// caller waits forever.
func (r *Runtime) writeAll(batch []*pendingCommit) {
	defer r.writer.passTurn()
	defer func() {
		for _, c := range batch {
			c.reportResult(errUnknown)
		}
	}()
	err := r.flushBatch(batch)
	for _, c := range batch {
		if err != nil && len(batch) > 1 { // one bad decision must not fail the others
			c.reportResult(r.flushBatch([]*pendingCommit{c}))
			continue
		}
		c.reportResult(err)
	}
}

// reportResult reports the result to a caller. Only the first report counts.
func (c *pendingCommit) reportResult(err error) {
	select {
	case c.done <- err:
	default:
	}
}

// errUnknown is the result of callers whose write was interrupted.
var errUnknown = errors.New("the write broke off, and it is not known what of it was kept: restart the server with orange restart")

// flushBatch writes one batch. It uses its own context, because a caller that gave up must not interrupt it.
func (r *Runtime) flushBatch(batch []*pendingCommit) error {
	commits := make([]journal.Commit, len(batch))
	entries := 0
	for i, c := range batch {
		commits[i] = c.Commit
		entries += len(c.Entries)
	}
	r.Fault("commit.before")
	row, err := r.Store.Commit(context.Background(), commits)
	if err != nil {
		return &StoreError{err}
	}
	r.Fault("commit.after")
	r.shown.beginBatch(row, batch)
	r.commits.wakeFollowers()
	return nil
}

// StoreError means that nothing was changed because the store could not store it.
type StoreError struct{ Err error }

func (e *StoreError) Error() string {
	return fmt.Sprintf("nothing was changed: %v", e.Err)
}

// Unwrap returns the store's error.
func (e *StoreError) Unwrap() error { return e.Err }
