package local

import (
	"context"
	"errors"
	"fmt"

	"orange/internal/core/journal"
)

// commit is one decision on its way to the disk.
type commit struct {
	journal.Commit
	done chan error
}

// maxBatch bounds how many decisions share one write to the disk.
const maxBatch = 256

// write makes decisions durable until the channel closes. Whatever waits when a write
// begins goes into it: one flush of the disk serves them all.
func (r *Runtime) write() {
	for c := range r.commits {
		batch := r.gather([]*commit{c})
		err := r.flush(batch)
		if err != nil && len(batch) > 1 {
			r.flushSingly(batch) // one bad decision must not fail its neighbours
			continue
		}
		for _, c := range batch {
			c.done <- err
		}
	}
}

func (r *Runtime) gather(batch []*commit) []*commit {
	for len(batch) < maxBatch {
		select {
		case c, ok := <-r.commits:
			if !ok {
				return batch
			}
			batch = append(batch, c)
		default:
			return batch
		}
	}
	return batch
}

func (r *Runtime) flushSingly(batch []*commit) {
	for _, c := range batch {
		c.done <- r.flush([]*commit{c})
	}
}

// flush writes one batch. It must not be cut short by a caller that left: the store
// gets a context of its own.
func (r *Runtime) flush(batch []*commit) error {
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
	r.shown.begin(row, batch)
	r.news.tell()
	return nil
}

// StoreError says that nothing was changed because the store could not keep it.
type StoreError struct{ Err error }

func (e *StoreError) Error() string {
	return fmt.Sprintf("nothing was changed: %v", e.Err)
}

// Unwrap gives the store's own error.
func (e *StoreError) Unwrap() error { return errors.Unwrap(e.Err) }
