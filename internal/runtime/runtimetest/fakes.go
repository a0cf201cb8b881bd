package runtimetest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// FakePerformer is a performer that starts nothing. It records the effects it receives, and fails or waits on demand.
type FakePerformer struct {
	mu     sync.Mutex
	asked  []AskedEffect
	before func(t task.Task, e task.Effect) error
	silent bool // processes end without a report
}

// AskedEffect is one effect that the performer received.
type AskedEffect struct {
	At     time.Time
	Task   task.Task // as it was at that time
	Effect task.Effect
	Err    error
}

// Perform records an effect. A kill ends the attempts that it names.
func (s *FakePerformer) Perform(_ context.Context, t task.Task, e task.Effect) (session string, ended []int, err error) {
	s.mu.Lock()
	before, silent := s.before, s.silent
	s.mu.Unlock()
	if before != nil {
		err = before(t, e)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, AskedEffect{At: time.Now(), Task: t, Effect: e, Err: err})
	if err != nil {
		return "", nil, err
	}
	if e.Start {
		session = t.Project + "/" + t.Branch
	}
	info, _ := workflow.EffectNamed(e.Do)
	for _, a := range t.Attempts {
		if info.Kills && !silent && (a.Ending && (e.Role == "" || e.Role == a.Role) || a.Number == e.Attempt) {
			ended = append(ended, a.Number)
		}
	}
	return session, ended, nil
}

// doBefore calls f before every later effect. An error of f is the effect's.
func (s *FakePerformer) doBefore(before func(t task.Task, e task.Effect) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = before
}

// dieSilently sets whether processes end without a report.
func (s *FakePerformer) dieSilently(silent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = silent
}

// askedFor lists the effects of a task, in order; "" means all tasks.
func (s *FakePerformer) askedFor(id task.ID) (out []AskedEffect) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.asked {
		if id == "" || a.Task.ID == id {
			out = append(out, a)
		}
	}
	return out
}

// effectsDone returns the effects performed for a task, as text.
func (s *FakePerformer) effectsDone(id task.ID) string {
	var words []string
	for _, a := range s.askedFor(id) {
		if a.Err == nil {
			words = append(words, a.Effect.Do)
		}
	}
	return strings.Join(words, " ")
}

// failingStore is a store that calls a function before each commit. An error of it is the commit's.
type failingStore struct {
	StorePort
	mu     sync.Mutex
	before func(commits []journal.Commit) error
}

// Commit implements the store's port.
func (d *failingStore) Commit(ctx context.Context, commits []journal.Commit) (int64, error) {
	d.mu.Lock()
	before := d.before
	d.mu.Unlock()
	if before != nil {
		if err := before(commits); err != nil {
			return 0, err
		}
	}
	return d.StorePort.Commit(ctx, commits)
}

func (d *failingStore) beforeCommit(before func(commits []journal.Commit) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before = before
}

// failingFolders are folders that fail to be written on demand.
type failingFolders struct {
	Folders
	mu   sync.Mutex
	full bool
}

var errFull = errors.New("write TASK.md: no space left: free some")

// WriteVerdict implements the folders' port.
func (p *MemoryFolders) WriteVerdict(_ string, id task.ID, section string, s taskfile.Statement) (taskfile.Document, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	doc, err := taskfile.Parse([]byte(p.text[id]))
	if err != nil {
		return doc, err
	}
	doc = doc.WithVerdict(section, s)
	p.text[id] = string(doc.Bytes())
	return doc, nil
}

// ShowRecord implements the folders' port.
func (s *failingFolders) ShowRecord(t task.Task, entries []journal.Entry, earlier func(after int) ([]journal.Entry, error)) error {
	s.mu.Lock()
	full := s.full
	s.mu.Unlock()
	if full {
		return errFull
	}
	return s.Folders.ShowRecord(t, entries, earlier)
}

func (s *failingFolders) setFull(full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = full
}

// MemoryFolders are folders in memory.
type MemoryFolders struct {
	mu   sync.Mutex
	text map[task.ID]string
	last map[task.ID]int
}

// NewMemoryFolders returns folders without a task.
func NewMemoryFolders() *MemoryFolders {
	return &MemoryFolders{text: map[task.ID]string{}, last: map[task.ID]int{}}
}

// CreateFolder implements the folders' port.
func (p *MemoryFolders) CreateFolder(_ string, id task.ID, body []byte) error {
	return p.Edit("", id, func(string) string { return string(body) })
}

// Edit changes the text as an editor would.
func (p *MemoryFolders) Edit(_ string, id task.ID, change func(string) string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text[id] = change(p.text[id])
	return nil
}

// ReadTaskFile implements the folders' port. A page that is missing reads as empty.
func (p *MemoryFolders) ReadTaskFile(_ string, id task.ID) (taskfile.Document, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return taskfile.Parse([]byte(p.text[id]))
}

// ShowRecord implements the folders' port.
func (p *MemoryFolders) ShowRecord(t task.Task, entries []journal.Entry, earlier func(after int) ([]journal.Entry, error)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(entries) == 0 || p.last[t.ID]+1 < entries[0].Seq {
		var err error
		if entries, err = earlier(p.last[t.ID]); err != nil {
			return err
		}
	}
	doc, err := taskfile.Parse([]byte(p.text[t.ID]))
	if err != nil {
		return err
	}
	if doc, err = doc.WithFields(journal.Frontmatter(t)); err != nil {
		return err
	}
	for _, e := range entries {
		if e.Seq > p.last[t.ID]+1 {
			return errors.New("an entry is missing in the history")
		}
		p.last[t.ID] = max(p.last[t.ID], e.Seq)
	}
	p.text[t.ID] = string(doc.Bytes())
	return nil
}

// LastSeq implements the folders' port.
func (p *MemoryFolders) LastSeq(_ string, id task.ID) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last[id], nil
}

// RemoveFolder implements the folders' port.
func (p *MemoryFolders) RemoveFolder(_ string, id task.ID) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.text, id)
	delete(p.last, id)
	return nil
}
