package engine_test

import (
	"testing"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
)

func BenchmarkDecide(b *testing.B) {
	def := load(b, "orange")
	created := engine.Decide(def, &task.Task{}, signal.Signal{Kind: signal.Create, At: start, Actor: task.Human, Free: []string{"p--1"}, New: &signal.New{
		ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "s", Spawn: true,
	}})
	t, err := journal.Fold(task.Task{}, created.Entries)
	if err != nil {
		b.Fatal(err)
	}
	doc, err := taskfile.Parse([]byte("## Plan\n\nAPPROACH: x\n\n## Handoff\n\nDONE: y\n\n## Review\n\nVerdict: FAIL\n"))
	if err != nil {
		b.Fatal(err)
	}
	sections := signal.Artifacts{Sections: doc.Sections()}
	review := t
	review.Status = "agent-review"
	review.Attempts = []task.Attempt{{Number: 1, Role: "worker"}, {Number: 2, Role: "reviewer"}}
	review.Pending = nil
	working := review
	working.Status = "working"
	working.Attempts = review.Attempts[:1]
	for name, c := range map[string]struct {
		t   task.Task
		sig signal.Signal
	}{
		"plan accepted":     {t, signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "working"}},
		"handoff":           {working, signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "agent-review"}},
		"review by exit":    {review, signal.Signal{Kind: signal.Exit, Attempt: 2, Role: "reviewer"}},
		"refused, not mine": {review, signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "reviewing"}},
		"effect done":       {t, signal.Signal{Kind: signal.Effect, Result: &signal.Receipt{Effect: t.Pending[0].ID, OK: true}}},
	} {
		sig := c.sig
		sig.At, sig.Artifacts = start, sections
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if d := engine.Decide(def, &c.t, sig); d.Verdict == "" {
					b.Fatal("no verdict")
				}
			}
		})
	}
}
