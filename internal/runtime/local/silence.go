package local

import (
	"sync"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// silence remembers when attempts last showed life, as it was found when somebody had to
// know. Nothing is asked while nothing is due.
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

// taskTimers lists what the task waits for. An agent that is known to have shown life has
// more time to show it again.
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

// lastActivity finds out when the state's agent last showed life, and remembers it.
func (r *Runtime) lastActivity(def *workflow.Definition, t *task.Task) time.Time {
	s, _ := def.StateNamed(t.Status)
	a, live := t.LiveAttempt(s.Role)
	if !live || r.Activity == nil {
		return time.Time{}
	}
	at := r.Activity.LastActive(t, a.Number).UTC().Truncate(time.Microsecond)
	if now := r.now(); at.After(now) { // a clock that was set back must not silence the timer
		at = now
	}
	r.silence.setLastSign(t.ID, at)
	return at
}
