package sqlite

import (
	"sync"
	"time"
)

// boardMarks tells followers that boards changed. A mark says nothing but that it differs after a change, also from those of
// an earlier server.
type boardMarks struct {
	start int64 // the mark of a board that has not changed since

	mu      sync.Mutex
	changes map[string]int64 // by project
	more    chan struct{}    // closes at the next change; nil if nobody waits for it
}

func newBoardMarks() *boardMarks {
	return &boardMarks{start: time.Now().UnixMilli(), changes: map[string]int64{}}
}

// BoardMark returns the mark of a project's board, which differs after every change of its cards, columns and tags.
func (s *Store) BoardMark(project string) int64 {
	m := s.boards
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.start + m.changes[project]
}

// NextBoardChange returns a channel that closes at the next change of any board.
func (s *Store) NextBoardChange() <-chan struct{} {
	m := s.boards
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.more == nil {
		m.more = make(chan struct{})
	}
	return m.more
}

func (m *boardMarks) noteChange(project string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changes[project]++
	if m.more != nil {
		close(m.more)
		m.more = nil
	}
}
