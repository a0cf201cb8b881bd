package journal

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"orange/internal/core/signal"
	"orange/internal/core/task"
)

func TestTell(t *testing.T) {
	tests := map[string]struct {
		entry Entry
		want  NarratedEntry
	}{
		"the beginning":         {Entry{Type: TaskCreated, Actor: task.Human, Move: Move{From: "new", To: "pending"}}, NarratedEntry{Who: "human", To: "pending", Tone: Moved}},
		"a move":                {Entry{Type: StatusChanged, Actor: "worker", Attempt: 2, Move: Move{From: "a", To: "b"}, Reason: "## Plan"}, NarratedEntry{Who: "worker 2", From: "a", To: "b", Why: []string{"## Plan"}, Tone: Moved}},
		"a person's words":      {Entry{Type: StatusChanged, Actor: task.Human, Move: Move{From: "a", To: "b"}, Note: "again"}, NarratedEntry{Who: "human", From: "a", To: "b", Why: []string{"again"}, Tone: Moved}},
		"wishes that are not":   {Entry{Type: AutoAdvanced, Move: Move{From: "a", To: "b"}, Results: Results{Rejected: []string{"tag x: no"}}}, NarratedEntry{From: "a", To: "b", Why: []string{"tag x: no"}, Tone: Warn}},
		"a start":               {Entry{Type: AgentSpawned, Actor: task.Engine, Attempt: 1, Reason: "spawn_agent", AttemptChanges: AttemptChanges{Role: "worker", StartedIn: "p--1"}}, NarratedEntry{Who: "worker 1", What: "was started in p--1"}},
		"a crash":               {Entry{Type: AgentCrashed, Actor: task.Engine, Reason: "why", Move: Move{From: "a"}, AttemptChanges: AttemptChanges{Role: "worker", Ended: []Ended{{3, "worker", 1}}}}, NarratedEntry{Who: "worker 3", From: "a", What: "died (code 1)", Why: []string{"why"}, Tone: Bad}},
		"an end":                {Entry{Type: AgentExited, Actor: task.Engine, AttemptChanges: AttemptChanges{Ended: []Ended{{3, "worker", 0}}}}, NarratedEntry{Who: "worker 3", What: "ended (code 0)", Tone: Quiet}},
		"a person starts again": {Entry{Type: AgentRespawn, Actor: task.Human, AttemptChanges: AttemptChanges{Started: []task.Attempt{{Role: "worker"}}}}, NarratedEntry{Who: "human", What: "starts the worker again"}},
		"the engine does":       {Entry{Type: AgentRespawn, Actor: task.Engine, AttemptChanges: AttemptChanges{Role: "worker"}}, NarratedEntry{Who: "worker", What: "is started again"}},
		"an agent waits":        {Entry{Type: AgentNotice, Actor: task.Engine, Attempt: 1, Reason: "waiting-input: y?", AttemptChanges: AttemptChanges{Role: "worker", Condition: &task.Condition{Name: task.WaitingInput}}}, NarratedEntry{Who: "worker 1", What: "waiting-input: y?", Tone: Warn}},
		"a deed":                {Entry{Type: EffectAsked, Actor: task.Human, Reason: "a person asked for it", EffectChanges: EffectChanges{Effects: []task.Effect{{Do: "merge"}}}}, NarratedEntry{Who: "human", What: "asks for merge"}},
		"a deed given up":       {Entry{Type: EffectGaveUp, Actor: task.Engine, Reason: "push", EffectChanges: EffectChanges{Receipt: &signal.Receipt{Error: "no"}}, RecordChanges: RecordChanges{Attention: "push failed: no"}}, NarratedEntry{Who: "engine", What: "push was given up: no", Why: []string{"push failed: no"}, Tone: Bad}},
		"a question":            {Entry{Type: AskedPerson, Actor: "fixer", Attempt: 4, RecordChanges: RecordChanges{Asked: &task.Asked{To: "done"}}}, NarratedEntry{Who: "fixer 4", What: "asks for done: a person must agree", Tone: Warn}},
		"fields":                {Entry{Type: TaskUpdated, Actor: task.Human, RecordChanges: RecordChanges{Fields: []signal.Field{{Name: "branch"}, {Name: "summary"}}}}, NarratedEntry{Who: "human", What: "changed branch, summary"}},
		"one of a later day":    {Entry{Type: "agent.something-new"}, NarratedEntry{What: "agent something-new"}},
		"a receipt alone":       {Entry{Type: EffectDone, Actor: task.Engine, Reason: "push"}, NarratedEntry{Who: "engine", What: "effect done", Why: []string{"push"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.entry.Seq, tt.entry.At = 7, time.Unix(9, 0)
			tt.want.Seq, tt.want.At, tt.want.Type = 7, time.Unix(9, 0), tt.entry.Type
			if d := cmp.Diff([]NarratedEntry{tt.want}, NarrateEntries([]Entry{tt.entry}), cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTellFoldsReceiptsAway(t *testing.T) {
	done, failed := Entry{Type: EffectDone, Reason: "push"}, Entry{Type: EffectFailed, Reason: "create_pr", EffectChanges: EffectChanges{Receipt: &signal.Receipt{Error: "no"}}}
	turn := Entry{Type: AgentNotice, AttemptChanges: AttemptChanges{Condition: &task.Condition{Name: task.Idle}}}
	used := Entry{Type: AgentNotice, AttemptChanges: AttemptChanges{Usage: &task.Usage{InputTokens: 1}}}
	got := NarrateEntries([]Entry{{Type: StatusChanged, Move: Move{From: "a", To: "b"}}, done, failed, turn, done, used, {Type: TaskPaused}})
	want := []NarratedEntry{
		{Type: StatusChanged, From: "a", To: "b", Tone: Warn, Done: 2, Failed: []string{"create_pr: no"}},
		{Type: TaskPaused, What: "paused", Tone: Warn},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
