// Package keyedmutex locks by key: a task, a workspace, a tracker.
package keyedmutex

import "sync"

// Mutex is a mutex for each key. The zero value is ready for use. It keeps nothing about a key
// that nobody holds or waits for.
type Mutex[K comparable] struct {
	mu   sync.Mutex
	held map[K]*keyLock
}

type keyLock struct {
	sync.Mutex
	users int // goroutines that hold it or wait for it
}

// Lock locks a key and returns the function that unlocks it.
func (m *Mutex[K]) Lock(key K) (unlock func()) {
	m.mu.Lock()
	if m.held == nil {
		m.held = make(map[K]*keyLock)
	}
	e := m.held[key]
	if e == nil {
		e = &keyLock{}
		m.held[key] = e
	}
	e.users++
	m.mu.Unlock()
	e.Lock()
	return func() {
		e.Unlock()
		m.mu.Lock()
		defer m.mu.Unlock()
		if e.users--; e.users == 0 {
			delete(m.held, key)
		}
	}
}
