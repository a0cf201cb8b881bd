package web

import (
	"testing"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

func TestTheTimelineSaysWhatAPersonAsksFor(t *testing.T) {
	m := momentOf(&journal.Entry{Type: journal.EffectAsked, Actor: task.Human, Reason: "a person asked for it", EffectChanges: journal.EffectChanges{Effects: []task.Effect{{Do: "merge"}}}})
	if m.What != "asks for merge" || m.Why != "" {
		t.Errorf("it says %q, because %q", m.What, m.Why)
	}
}
