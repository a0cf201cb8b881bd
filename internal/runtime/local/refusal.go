package local

import (
	"context"
	"sync"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// maxUnwritten bounds the refusals that wait for the store. Nothing depends on them, so the rest is dropped.
const maxUnwritten = 1024

// refusalQueue queues refusals. They are written in the background, many at a time, so that no caller waits for the
// disk.
type refusalQueue struct {
	mu      sync.Mutex
	waiting []journal.Refusal
	dropped int
	busy    bool          // a goroutine is writing
	written chan struct{} // closed when the newest are written
}

// enqueueRefusal queues a refusal and reports whether the caller must start a writer.
func (q *refusalQueue) enqueueRefusal(one journal.Refusal) (begin bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) >= maxUnwritten {
		q.dropped++
		return false
	}
	if len(q.waiting) == 0 {
		q.written = make(chan struct{})
	}
	q.waiting = append(q.waiting, one)
	begin = !q.busy
	q.busy = true
	return begin
}

// takeWaiting gives the writer the waiting refusals and the channel to close when they are written. If there are none,
// it ends the writer's turn.
func (q *refusalQueue) takeWaiting() (list []journal.Refusal, dropped int, written chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	list, dropped = q.waiting, q.dropped
	q.waiting, q.dropped = nil, 0
	q.busy = len(list) > 0
	return list, dropped, q.written
}

// waitWritten returns when all earlier refusals are written.
func (q *refusalQueue) waitWritten(ctx context.Context) {
	q.mu.Lock()
	written := q.written
	q.mu.Unlock()
	if written == nil {
		return
	}
	select {
	case <-written:
	case <-ctx.Done():
	}
}

// noteRefusal stores a refusal for people to read. The caller was admitted.
func (r *Runtime) noteRefusal(id task.ID, sig signal.Signal, why string) {
	if why == "" || !shouldRecord(&sig) {
		return
	}
	sig.At = r.now()
	if r.refusals.enqueueRefusal(journal.NewRefusal(id, &sig, why)) {
		r.wait.Go(r.writeRefusals)
	}
}

// RecordRefusal stores a refusal that the engine did not make: an attempt made a request for a task that is not its
// own.
func (r *Runtime) RecordRefusal(id task.ID, sig signal.Signal, why string) {
	if r.admitCaller() != nil {
		return
	}
	defer r.wait.Done()
	r.noteRefusal(id, sig, why)
}

// shouldRecord leaves out the runtime's own signals that came too late: receipts, timers, exits, and turns in a queue
// that the task has left.
func shouldRecord(sig *signal.Signal) bool {
	switch sig.Kind {
	case signal.Request, signal.Update, signal.Ready, signal.Outcome, signal.Tracker, signal.Pause, signal.Resume, signal.Delete:
		return sig.Actor != task.Engine
	}
	return false
}

func (r *Runtime) writeRefusals() {
	for {
		list, dropped, written := r.refusals.takeWaiting()
		if dropped > 0 {
			r.Log.Warn("refusals came faster than they could be written", "component", "local", "dropped", dropped)
		}
		if len(list) == 0 {
			return
		}
		if err := r.Store.SaveRefusals(list); err != nil {
			r.Log.Error("keep refusals", "component", "local", "count", len(list), "error", err)
		}
		close(written)
	}
}
