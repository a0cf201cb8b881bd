package main

import (
	"path/filepath"
	"testing"
	"os"
	"time"
	"context"
	"orange/internal/adapter/sqlite"
	"orange/internal/core/signal"
	"orange/internal/core/journal"
	"orange/internal/core/task"
)

func BenchmarkFlip(b *testing.B) {
	dir, _ := os.MkdirTemp("../bin", "prof")
	defer os.RemoveAll(dir)
	def, _ := definition()
	rt, ids, stop, err := openRuntime(def, filepath.Join(dir, "o.db"))
	if err != nil { b.Fatal(err) }
	defer stop()
	b.ReportAllocs()
	for b.Loop() { if err := flip(rt, ids[0], 2); err != nil { b.Fatal(err) } }
}
func BenchmarkBare(b *testing.B) {
	dir, _ := os.MkdirTemp("../bin", "prof")
	defer os.RemoveAll(dir)
	dir, _ = filepath.Abs(dir)
	def, _ := definition()
	p, err := newBare(def, filepath.Join(dir, "o.db"))
	if err != nil { b.Fatal(err) }
	defer p.close()
	b.ReportAllocs()
	for b.Loop() { if _, err := p.round(); err != nil { b.Fatal(err) } }
}

func BenchmarkStoreOnly(b *testing.B) {
	dir, _ := os.MkdirTemp("../bin", "prof")
	defer os.RemoveAll(dir)
	def, _ := definition()
	s, err := sqlite.Open(filepath.Join(dir, "o.db"))
	if err != nil { b.Fatal(err) }
	defer s.Close()
	if _, err := fill(s, def, 64); err != nil { b.Fatal(err) }
	l := begin(def, 0, time.Now().UTC().Truncate(time.Microsecond), false)
	l.toWork(project + "--1")
	b.ReportAllocs()
	for b.Loop() {
		for _, to := range []string{"clarification", "planning"} {
			l.entries = nil
			l.tell(signal.Signal{Kind: signal.Request, Actor: task.Human, To: to})
			if l.err != nil { b.Fatal(l.err) }
			if _, err := s.Commit(context.Background(), []journal.Commit{l.commit()}); err != nil { b.Fatal(err) }
		}
	}
}
