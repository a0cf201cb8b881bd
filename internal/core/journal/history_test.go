package journal

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/signal"
	"orange/internal/core/task"
)

func TestHistory(t *testing.T) {
	for name, tc := range map[string]struct {
		entry Entry
		want  []string
	}{
		"a task is created": {
			Entry{Type: TaskCreated, Task: "t", Move: Move{To: "pending"}, Actor: task.Human, Creation: Creation{New: &signal.New{Project: "p", Branch: "b", Summary: "a <b> & c"}}},
			[]string{`"type":"task.created",`, `"task_id":"t","project":"p","branch":"b","summary":"a <b> & c","status":"pending","actor":"human"`},
		},
		"a person asks for a merge": {
			Entry{Type: EffectAsked, Actor: task.Human, Reason: "a person asked for it", EffectChanges: EffectChanges{Effects: []task.Effect{{Do: "merge"}}}},
			[]string{`"type":"effect.asked",`, `"actor":"human","reason":"asks for merge"`},
		},
		"a tracker answers again": {
			Entry{Type: EffectAsked, Actor: task.Engine, Reason: "the tracker answers again"},
			[]string{`"reason":"the tracker answers again"`},
		},
		"fields are updated": {
			Entry{Type: TaskUpdated, RecordChanges: RecordChanges{Fields: []signal.Field{{Name: "summary", From: "a", To: "b"}, {Name: "branch", From: "x", To: "y"}}}},
			[]string{`"changes":{"branch":{"from":"x","to":"y"},"summary":true}`},
		},
		"an agent is started": {
			Entry{Type: AgentSpawned, Attempt: 1, AttemptChanges: AttemptChanges{Role: "worker", StartedIn: "p--1"}, EffectChanges: EffectChanges{Receipt: &signal.Receipt{Effect: "t/1/0", OK: true, Session: "p/b"}}},
			[]string{`"workspace":"p--1","tmux_session":"p/b","role":"worker","attempt":1}`},
		},
		"an agent crashes": {
			Entry{Type: AgentCrashed, Move: Move{From: "working"}, AttemptChanges: AttemptChanges{Role: "worker"}, Reason: "code 1", RecordChanges: RecordChanges{Counters: []task.Counter{{Name: "crash_count", Value: 2}}}},
			[]string{`"status":"working","crash_count":2,"reason":"code 1","role":"worker"`},
		},
		"the engine advances": {
			Entry{Type: AutoAdvanced, Move: Move{From: "planning", To: "working"}, Reason: "plan is there"},
			[]string{`"type":"auto.advanced",`, `"from":"planning","to":"working","reason":"plan is there"}`, `"type":"status.changed",`, `"from":"planning","to":"working"}`},
		},
		"an agent asks for the next state": {
			Entry{Type: StatusChanged, Move: Move{From: "working", To: "agent-review"}, Actor: "worker"},
			[]string{`{"type":"status.changed",`, `"actor":"worker"`},
		},
		"a state is completed with something to show": {
			Entry{Type: StatusChanged, Move: Move{From: "working", To: "agent-review"}, Actor: task.Human, Verb: "complete", RecordChanges: RecordChanges{Opened: []task.Digest{{Section: "Handoff"}}}},
			[]string{`{"type":"agent.stopped",`, `"outcome":"passed"}`, `"type":"status.changed",`},
		},
		"a person cancels": {
			Entry{Type: StatusChanged, Move: Move{From: "working", To: "cancelled"}, Actor: task.Human, Note: "no need"},
			[]string{`{"type":"status.changed",`, `"type":"task.cancelled",`, `"reason":"no need"}`},
		},
		"an attempt ends": {
			Entry{Type: AgentExited, Reason: "as ordered", AttemptChanges: AttemptChanges{Ended: []Ended{{Number: 3, Role: "reviewer", Code: 1}}}},
			[]string{`"type":"agent.exited",`, `"reason":"as ordered","role":"reviewer","attempt":3,"code":1}`},
		},
		"an effect fails": {
			Entry{Type: EffectFailed, Reason: "spawn_agent", EffectChanges: EffectChanges{Tries: 2, RetryAt: time.Unix(0, 0), Receipt: &signal.Receipt{Effect: "t/1/0", Error: "no tmux"}}},
			[]string{`"effect":"t/1/0","error":"no tmux","tries":2,"again":"1970-01-01T00:00:00.000Z"`},
		},
		"a person is asked":          {Entry{Type: AskedPerson, RecordChanges: RecordChanges{Asked: &task.Asked{To: "done"}}}, []string{`"asked":"done"`}},
		"a frontmatter was tampered": {Entry{Type: TaskTampered, RecordChanges: RecordChanges{Fields: []signal.Field{{Name: "status", From: "a", To: "b"}}}}, []string{`"changes":{"status":{"from":"a","to":"b"}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.entry.Seq, tc.entry.At = 7, time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.FixedZone("", 3600))
			text := historyText(t, tc.entry)
			rest := text
			for _, part := range tc.want {
				at := strings.Index(rest, part)
				if at < 0 {
					t.Fatalf("%q is not there, or not in order:\n%s", part, text)
				}
				rest = rest[at+len(part):]
			}
			if again := historyText(t, tc.entry); again != text {
				t.Errorf("not the same twice:\n%s%s", text, again)
			}
		})
	}
}

// historyText is the lines of an entry; every line is checked for what all lines have.
func historyText(t *testing.T, e Entry) string {
	t.Helper()
	var b strings.Builder
	for _, event := range HistoryEvents(e) {
		line, err := event.HistoryLine()
		if err != nil {
			t.Fatal(err)
		}
		var common struct {
			Type, Timestamp string
			Seq             int
		}
		if err := json.Unmarshal(line, &common); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if common.Type == "" || common.Timestamp != "2026-01-02T02:04:05.678Z" || common.Seq != 7 {
			t.Errorf("type, timestamp or seq is missing: %s", line)
		}
		b.Write(line)
	}
	return b.String()
}

func TestHistoryOfEveryTypeHasALine(t *testing.T) {
	for _, typ := range []Type{TaskCreated, TaskUpdated, TaskQueued, TaskPaused, TaskResumed, TaskTampered, TaskDeleted, StatusChanged,
		AutoAdvanced, AgentSpawned, AgentExited, AgentCrashed, AgentRespawn, AgentOverdue, EffectDone, EffectFailed, EffectGaveUp,
		AskedPerson} {
		events := HistoryEvents(Entry{Type: typ, Seq: 1})
		if len(events) == 0 || events[0].Type != typ {
			t.Errorf("%s shows as %v", typ, events)
		}
	}
}

func TestEventMarshalsAsItsLine(t *testing.T) {
	got, err := json.Marshal(HistoryEvents(Entry{Type: TaskPaused, Seq: 1}))
	want := `[{"type":"task.paused","timestamp":"0001-01-01T00:00:00.000Z","seq":1}]`
	if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}
