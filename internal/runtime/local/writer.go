package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"orange/internal/core/journal"
)

// pendingCommit is one decision on its way to the disk.
type pendingCommit struct {
	journal.Commit
	turn chan struct{} // receives when it is up to this one to write
	done chan error
}

// writer lines decisions up. Whoever finds nobody writing writes for all that wait,
// in the goroutine it is in; then it is the turn of the first that came meanwhile. So
// one flush of the disk serves many, and one alone waits for no other goroutine.
type writer struct {
	mu      sync.Mutex
	writing bool
	queue   []*pendingCommit
}

// maxBatch bounds how many decisions share one write to the disk.
const maxBatch = 256

// writeDurably makes a decision durable. Until a write has begun, ctx can call it off.
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

// joinQueue puts a decision at the end of the line and says whether it is its turn at once.
func (w *writer) joinQueue(c *pendingCommit) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = append(w.queue, c)
	first := !w.writing
	w.writing = true
	return first
}

// withdrawCommit takes a decision out of the line, unless it is being written.
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

// takeBatch takes what waits out of the line, oldest first. It is the caller's turn, and
// the caller is the first of them.
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

// wakeNext gives the turn to the first in line. The caller holds mu and has the turn.
func (w *writer) wakeNext() {
	if len(w.queue) == 0 {
		w.writing = false
		return
	}
	w.queue[0].turn <- struct{}{}
}

// writeAll writes a batch, answers everyone in it and ends the caller's turn, even if
// the store panics: nobody may wait for ever.
func (r *Runtime) writeAll(batch []*pendingCommit) {
	defer r.writer.passTurn()
	defer func() {
		for _, c := range batch {
			c.reportResult(errUnknown)
		}
	}()
	err := r.flushBatch(batch)
	for _, c := range batch {
		if err != nil && len(batch) > 1 { // one bad decision must not fail its neighbours
			c.reportResult(r.flushBatch([]*pendingCommit{c}))
			continue
		}
		c.reportResult(err)
	}
}

// reportResult says how it went. Only the first answer is heard.
func (c *pendingCommit) reportResult(err error) {
	select {
	case c.done <- err:
	default:
	}
}

// errUnknown is the answer to those whose write broke off.
var errUnknown = errors.New("the write broke off, and it is not known what of it was kept: restart the server with orange stop")

// flushBatch writes one batch. It must not be cut short by a caller that left: the store
// gets a context of its own.
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

// StoreError says that nothing was changed because the store could not keep it.
type StoreError struct{ Err error }

func (e *StoreError) Error() string {
	return fmt.Sprintf("nothing was changed: %v", e.Err)
}

// Unwrap gives the store's own error.
func (e *StoreError) Unwrap() error { return e.Err }
