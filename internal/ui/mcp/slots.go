package mcp

import (
	"context"
	"errors"
	"sync"
)

// How many requests are handled at the same time over HTTP, and how many of them only wait.
const (
	mostCalls   = 32
	mostWaiting = 64
)

// slots limits how many requests a process handles at the same time. A request that only waits, for a task or for changes
// of resources, does not take the place of one that works.
type slots struct {
	calls, waiting chan struct{}
}

func newSlots() *slots {
	return &slots{make(chan struct{}, mostCalls), make(chan struct{}, mostWaiting)}
}

// take returns the place of a request, or false if there is none.
func (s *slots) take() (*slot, bool) {
	select {
	case s.calls <- struct{}{}:
		return &slot{of: s, held: s.calls}, true
	default:
		return nil, false
	}
}

// A slot is the place of one request. A nil slot is that of a request that needs none.
type slot struct {
	of *slots

	mu   sync.Mutex
	held chan struct{} // nil: it was given back
}

// move gives the place back and takes one of to; nil only gives it back.
func (p *slot) move(to chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held != nil {
		<-p.held
	}
	p.held = to
}

func (p *slot) giveBack() {
	if p != nil {
		p.move(nil)
	}
}

// beginWaiting lets another request work while this one waits. The function it returns ends the waiting; the request
// then only writes its answer.
func (p *slot) beginWaiting() (end func(), err error) {
	if p == nil {
		return func() {}, nil
	}
	select {
	case p.of.waiting <- struct{}{}:
		p.move(p.of.waiting)
		return p.giveBack, nil
	default:
		return nil, errors.New("too many calls wait already: try again later")
	}
}

type slotKey struct{}

// heldFrom returns the place of a request, or nil.
func heldFrom(ctx context.Context) *slot {
	p, _ := ctx.Value(slotKey{}).(*slot)
	return p
}
