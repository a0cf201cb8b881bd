package local

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"orange/internal/core/task"
)

// schedule wakes tasks when their timers are due. While nothing is due it sleeps without a timer.
type schedule struct {
	mu   sync.Mutex
	at   map[task.ID]time.Time
	heap dueHeap
	wake chan struct{}
}

type dueItem struct {
	at time.Time
	id task.ID
}

func (s *schedule) init() {
	s.at = make(map[task.ID]time.Time)
	s.wake = make(chan struct{}, 1)
}

func (s *schedule) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.at)
}

// setDue sets when to wake a task; zero removes it.
func (s *schedule) setDue(id task.ID, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at.Equal(s.at[id]) {
		return
	}
	if at.IsZero() {
		delete(s.at, id)
		return // its item in the heap is skipped later
	}
	s.at[id] = at
	heap.Push(&s.heap, dueItem{at: at, id: id})
	if s.heap[0].id != id || !s.heap[0].at.Equal(at) {
		return // the sleeper wakes earlier
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run calls tick for every task that is due, until ctx ends.
func (s *schedule) run(ctx context.Context, now func() time.Time, tick func(task.ID)) {
	for ctx.Err() == nil {
		due, next := s.takeDue(now())
		for _, id := range due {
			tick(id)
		}
		if len(due) == 0 && !s.sleepUntil(ctx, now, next) {
			return
		}
	}
}

// takeDue removes the tasks that are due and returns when the next one will be.
func (s *schedule) takeDue(now time.Time) (due []task.ID, next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.heap) > 0 {
		top := s.heap[0]
		if !s.at[top.id].Equal(top.at) {
			heap.Pop(&s.heap) // changed or removed since
			continue
		}
		if top.at.After(now) {
			return due, top.at
		}
		heap.Pop(&s.heap)
		delete(s.at, top.id)
		due = append(due, top.id)
	}
	return due, time.Time{}
}

func (s *schedule) sleepUntil(ctx context.Context, now func() time.Time, next time.Time) bool {
	var alarm <-chan time.Time
	if !next.IsZero() {
		timer := time.NewTimer(next.Sub(now()))
		defer timer.Stop()
		alarm = timer.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-alarm:
	case <-s.wake:
	}
	return true
}

// dueHeap implements heap.Interface, soonest first.
type dueHeap []dueItem

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h dueHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *dueHeap) Push(x any) { *h = append(*h, x.(dueItem)) }

// Pop implements heap.Interface.
func (h *dueHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
