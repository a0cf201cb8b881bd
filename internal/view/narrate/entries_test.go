package narrate

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

func TestNotify(t *testing.T) {
	tests := map[string]struct {
		entry journal.Entry
		want  NarratedEntry
	}{
		"the beginning":         {journal.Entry{Type: journal.TaskCreated, Actor: task.Human, Move: journal.Move{From: "new", To: "pending"}}, NarratedEntry{Who: "human", To: "pending", Tone: Moved}},
		"a move":                {journal.Entry{Type: journal.StatusChanged, Actor: "worker", Attempt: 2, Move: journal.Move{From: "a", To: "b"}, Reason: "## Plan"}, NarratedEntry{Who: "worker 2", From: "a", To: "b", Why: []string{"## Plan"}, Tone: Moved}},
		"a person's words":      {journal.Entry{Type: journal.StatusChanged, Actor: task.Human, Move: journal.Move{From: "a", To: "b"}, Note: "again"}, NarratedEntry{Who: "human", From: "a", To: "b", Why: []string{"again"}, Tone: Moved}},
		"wishes that are not":   {journal.Entry{Type: journal.AutoAdvanced, Move: journal.Move{From: "a", To: "b"}, Results: journal.Results{Rejected: []string{"tag x: no"}}}, NarratedEntry{From: "a", To: "b", Why: []string{"tag x: no"}, Tone: Warn}},
		"a start":               {journal.Entry{Type: journal.AgentSpawned, Actor: task.Engine, Attempt: 1, Reason: "spawn_agent", AttemptChanges: journal.AttemptChanges{Role: "worker", StartedIn: "p--1"}}, NarratedEntry{Who: "worker 1", What: "was started in p--1"}},
		"a crash":               {journal.Entry{Type: journal.AgentCrashed, Actor: task.Engine, Reason: "why", Move: journal.Move{From: "a"}, AttemptChanges: journal.AttemptChanges{Role: "worker", Ended: []journal.Ended{{Number: 3, Role: "worker", Code: 1}}}}, NarratedEntry{Who: "worker 3", From: "a", What: "died (code 1)", Why: []string{"why"}, Tone: Bad}},
		"an end":                {journal.Entry{Type: journal.AgentExited, Actor: task.Engine, AttemptChanges: journal.AttemptChanges{Ended: []journal.Ended{{Number: 3, Role: "worker", Code: 0}}}}, NarratedEntry{Who: "worker 3", What: "ended (code 0)", Tone: Quiet}},
		"a person starts again": {journal.Entry{Type: journal.AgentRespawn, Actor: task.Human, AttemptChanges: journal.AttemptChanges{Started: []task.Attempt{{Role: "worker"}}}}, NarratedEntry{Who: "human", What: "starts the worker again"}},
		"a person stops it":     {journal.Entry{Type: journal.AgentStopped, Actor: task.Human, Reason: "a person stopped attempt 1 of the worker", Note: "wrong way", AttemptChanges: journal.AttemptChanges{Role: "worker", Ending: []int{1}}, Results: journal.Results{WorkFailed: "a person stopped the worker: wrong way"}}, NarratedEntry{Who: "human", What: "stops the worker", Why: []string{"wrong way"}}},
		"the engine does":       {journal.Entry{Type: journal.AgentRespawn, Actor: task.Engine, AttemptChanges: journal.AttemptChanges{Role: "worker"}}, NarratedEntry{Who: "worker", What: "is started again"}},
		"an agent waits":        {journal.Entry{Type: journal.AgentNotice, Actor: task.Engine, Attempt: 1, Reason: "waiting-input: y?", AttemptChanges: journal.AttemptChanges{Role: "worker", Condition: &task.Condition{Name: task.WaitingInput, Detail: "y?"}}}, NarratedEntry{Who: "worker 1", What: "waits for input: y?", Tone: Warn}},
		"a deed":                {journal.Entry{Type: journal.EffectAsked, Actor: task.Human, Reason: "a person asked for it", EffectChanges: journal.EffectChanges{Effects: []task.Effect{{Do: "merge"}}}}, NarratedEntry{Who: "human", What: "asks for merge"}},
		"a deed given up":       {journal.Entry{Type: journal.EffectGaveUp, Actor: task.Engine, Reason: "push", EffectChanges: journal.EffectChanges{Receipt: &signal.Receipt{Error: "no"}}, RecordChanges: journal.RecordChanges{Attention: "push failed: no"}}, NarratedEntry{Who: "engine", What: "push was given up: no", Why: []string{"push failed: no"}, Tone: Bad}},
		"a question":            {journal.Entry{Type: journal.AskedPerson, Actor: "fixer", Attempt: 4, RecordChanges: journal.RecordChanges{Asked: &task.Asked{To: "done"}}}, NarratedEntry{Who: "fixer 4", What: "asks for done: a person must agree", Tone: Warn}},
		"fields":                {journal.Entry{Type: journal.TaskUpdated, Actor: task.Human, RecordChanges: journal.RecordChanges{Fields: []signal.Field{{Name: "branch"}, {Name: "summary"}}}}, NarratedEntry{Who: "human", What: "changed branch, summary"}},
		"one of a later day":    {journal.Entry{Type: "agent.something-new"}, NarratedEntry{What: "agent something-new"}},
		"a receipt alone":       {journal.Entry{Type: journal.EffectDone, Actor: task.Engine, Reason: "push"}, NarratedEntry{Who: "engine", What: "push is done", Tone: Quiet}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.entry.Seq, tt.entry.At = 7, time.Unix(9, 0)
			tt.want.Seq, tt.want.At, tt.want.Type = 7, time.Unix(9, 0), tt.entry.Type
			if d := cmp.Diff([]NarratedEntry{tt.want}, DescribeEntries([]journal.Entry{tt.entry}), cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestNarrationOmitsReceipts(t *testing.T) {
	done, failed := journal.Entry{Type: journal.EffectDone, Reason: "push"}, journal.Entry{Type: journal.EffectFailed, Reason: "create_pr", EffectChanges: journal.EffectChanges{Receipt: &signal.Receipt{Error: "no"}}}
	turn := journal.Entry{Type: journal.AgentNotice, AttemptChanges: journal.AttemptChanges{Condition: &task.Condition{Name: task.Idle}}}
	used := journal.Entry{Type: journal.AgentNotice, AttemptChanges: journal.AttemptChanges{Usage: &task.Usage{InputTokens: 1}}}
	got := DescribeEntries([]journal.Entry{{Type: journal.StatusChanged, Move: journal.Move{From: "a", To: "b"}}, done, failed, turn, done, used, {Type: journal.TaskPaused}})
	want := []NarratedEntry{
		{Type: journal.StatusChanged, From: "a", To: "b", Tone: Warn, Done: 2, Failed: []string{"create_pr: no"}},
		{Type: journal.TaskPaused, What: "paused", Tone: Warn},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestEffectsAreInWords expects no word of a workflow file, for any effect of the vocabulary.
func TestEffectsAreInWords(t *testing.T) {
	for _, info := range workflow.EffectVocabulary() {
		d := explain.EffectOutcome{Do: info.Name, Ended: explain.EffectDone}
		if info.TakesArg == "role" || info.Notifies {
			d.Role = "worker"
		}
		if got := DescribeEffectInWords(d); strings.Contains(got, "_") || !strings.Contains(got, " ") || !strings.HasSuffix(got, ": done") {
			t.Errorf("%s: %q", info.Name, got)
		}
	}
	for want, d := range map[string]explain.EffectOutcome{
		"start the worker: done": {Do: "spawn_agent", Role: "worker", Ended: explain.EffectDone},
		"end all agents: done":   {Do: "kill_session", Ended: explain.EffectDone},
		"merge the branch into the default branch: failed after 2 tries (it is locked)": {Do: "merge", Ended: explain.EffectFailed, Tries: 2, Error: "it is locked"},
		"give the workspace back: pending":                                              {Do: "release_workspace", Ended: explain.EffectPending},
		"something_new: done":                                                           {Do: "something_new", Ended: explain.EffectDone},
	} {
		if got := DescribeEffectInWords(d); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
