package local

import (
	"sync"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// silence caches when attempts were last active. It is updated only when a timer is due.
type silence struct {
	mu   sync.Mutex
	seen map[task.ID]time.Time
}

func (q *silence) setLastSign(id task.ID, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.seen == nil {
		q.seen = make(map[task.ID]time.Time)
	}
	q.seen[id] = at
}

func (q *silence) lastSign(id task.ID) time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.seen[id]
}

func (q *silence) forgetTask(id task.ID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.seen, id)
}

// taskTimers lists the timers of the task. It extends the idle timer of an agent that is known to have been active.
func (r *Runtime) taskTimers(def *workflow.Definition, t *task.Task) []engine.Timer {
	list := engine.Timers(def, t)
	kept := list[:0]
	for _, tm := range list {
		if tm.Name == engine.Idle {
			if r.Activity == nil {
				continue
			}
			if s, ok := def.StateNamed(t.Status); ok {
				if at := r.silence.lastSign(t.ID).Add(s.Idle); at.After(tm.At) {
					tm.At = at
				}
			}
		}
		kept = append(kept, tm)
	}
	return kept
}

// lastActivity reads when the state's agent was last active, and caches it.
func (r *Runtime) lastActivity(def *workflow.Definition, t *task.Task) time.Time {
	s, _ := def.StateNamed(t.Status)
	a, live := t.LiveAttempt(s.Role)
	if !live || r.Activity == nil {
		return time.Time{}
	}
	at := r.Activity.LastActive(t, a.Number).UTC().Truncate(time.Microsecond)
	if now := r.now(); at.After(now) { // a clock that was set back must not stop the timer
		at = now
	}
	r.silence.setLastSign(t.ID, at)
	return at
}
