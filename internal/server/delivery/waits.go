package delivery

import (
	"sync"
	"time"
)

// Waits remembers since when somebody else keeps work from landing: a person who rebases in the checkout of a target, or a
// forge that runs its checks. Of several tasks that find the same, each is told the same time.
type Waits struct {
	Clock func() time.Time

	mu   sync.Mutex
	list map[string]seen
}

// seen is when something was first and last seen.
type seen struct{ first, last time.Time }

// maxGap is how long nobody may have looked for two sights to be one: the longest time between two tries.
const maxGap = 2 * time.Minute

// since returns since when something has been seen, which is now if it was not seen lately.
func (w *Waits) since(what string) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.list == nil {
		w.list = map[string]seen{}
	}
	now := w.Clock().UTC().Truncate(time.Microsecond)
	s, ok := w.list[what]
	if !ok || now.Sub(s.last) > maxGap {
		s.first = now
	}
	s.last = now
	w.list[what] = s
	return s.first
}

// forget notes that something is over.
func (w *Waits) forget(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.list, what)
}
