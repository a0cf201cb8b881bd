package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

func change(actor task.Actor, attempt int, name, value string) signal.Signal {
	return signal.Signal{Kind: signal.Update, Actor: actor, Attempt: attempt, Fields: []signal.Field{{Name: name, To: value}}}
}

func TestWhoMayChangeWhichField(t *testing.T) {
	w := underReview(t) // 1 is the worker, 2 the reviewer
	tests := []struct {
		actor   task.Actor
		attempt int
		field   string
		refused string
	}{
		{task.Human, 0, "summary", ""},
		{task.Human, 0, "effort", ""},
		{task.Engine, 0, "pr_url", ""},
		{task.Tracker, 0, "pr_state", ""},
		{"worker", 1, "summary", ""},
		{"worker", 1, "branch", ""},
		{"worker", 1, "harness", "worker may not change the harness"},
		{"worker", 0, "summary", "worker may not change the summary"},
		{"worker", 9, "summary", "worker may not change the summary"},
		{"reviewer", 2, "summary", "reviewer may not change the summary"},
		{task.Human, 0, "status", `"status" is not a field that can be updated`},
		{task.Human, 0, "workspace", `"workspace" is not a field that can be updated`},
	}
	for n, tt := range tests {
		sig := change(tt.actor, tt.attempt, tt.field, "v"+string(rune('a'+n)))
		if tt.refused != "" {
			w.refused(sig, tt.refused)
			continue
		}
		d := w.must(sig)
		if got, _ := journal.FieldValue(&w.task, tt.field); got != sig.Fields[0].To || d.Verdict != engine.Record {
			t.Errorf("%s by %s: %q, %s", tt.field, tt.actor, got, d.Verdict)
		}
	}
}

func TestAnUpdateWritesDownWhatChangedAndNothingElse(t *testing.T) {
	w := begin(t, "orange", false)
	sig := change(task.Human, 0, "summary", "do it")
	if d := w.must(sig); d.Verdict != engine.Stay || len(d.Entries) > 0 {
		t.Errorf("nothing changes, and %+v", d.Entries)
	}
	sig.Fields = append(sig.Fields, signal.Field{Name: "branch", From: "a lie", To: "c"})
	d := w.must(sig)
	if diff := cmp.Diff([]signal.Field{{Name: "branch", From: "b", To: "c"}}, d.Entries[0].Fields); diff != "" {
		t.Errorf("- want, + got\n%s", diff)
	}
	sig.Fields = []signal.Field{{Name: "summary", To: "new"}, {Name: "branch", To: "no good"}}
	w.refused(sig, `branch "no good" is not a name git accepts`)
	if w.task.Summary != "do it" {
		t.Error("half of a refused update was made")
	}
}

func TestValuesThatNoFieldTakes(t *testing.T) {
	w := begin(t, "orange", false)
	tests := map[string]struct{ field, value, want string }{
		"two lines":          {"summary", "a\nb", "summary has a line break or another control character: give one line"},
		"an escape":          {"summary", "a\x1b[31m", "control character"},
		"no text":            {"effort", "\xff", "effort is not text: give UTF-8"},
		"a document":         {"summary", strings.Repeat("x", 4097), "summary has 4097 bytes and the limit is 4096: put the rest into TASK.md"},
		"no branch":          {"branch", "", `branch "" is not a name git accepts`},
		"an option":          {"branch", "-f", "not a name git accepts"},
		"a parent":           {"branch", "a/../b", "not a name git accepts"},
		"a lock":             {"branch", "a.lock", "not a name git accepts"},
		"a hidden part":      {"branch", "a/.b", "not a name git accepts"},
		"an empty part":      {"branch", "a//b", "not a name git accepts"},
		"a reflog":           {"branch", "a@{1}", "not a name git accepts"},
		"at alone":           {"branch", "@", "not a name git accepts"},
		"a dot at the end":   {"branch", "a.", "not a name git accepts"},
		"a space":            {"branch", "a b", "not a name git accepts"},
		"a name of 256":      {"branch", strings.Repeat("x", 256), "not a name git accepts"},
		"a wildcard":         {"branch", "a*", "not a name git accepts"},
		"a slash at the end": {"branch", "a/", "not a name git accepts"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w.refused(change(task.Human, 0, tt.field, tt.value), tt.want)
		})
	}
	w.must(change(task.Human, 0, "branch", "feature/a-b_c.d"))
}

func TestWhoMayPauseResumeAndDelete(t *testing.T) {
	w := begin(t, "orange", true)
	w.perform()
	for _, kind := range []signal.Kind{signal.Pause, signal.Resume} {
		w.refused(signal.Signal{Kind: kind, Actor: "worker", Attempt: 1}, "only a person may pause or resume a task")
	}
	w.refused(signal.Signal{Kind: signal.Resume, Actor: task.Human}, "the task is not paused and needs no attention")
	w.must(signal.Signal{Kind: signal.Pause, Actor: task.Human})
	w.refused(signal.Signal{Kind: signal.Pause, Actor: task.Human}, "the task is paused already")
	w.must(signal.Signal{Kind: signal.Resume, Actor: task.Human})
	w.refused(signal.Signal{Kind: signal.Delete, Actor: task.Tracker}, "only a person may delete a task")
	w.refused(signal.Signal{Kind: signal.Delete, Actor: task.Human}, "the task is planning: cancel it first, then delete it")
	w.to(task.Human, "cancelled")
	w.refused(signal.Signal{Kind: signal.Delete, Actor: task.Human},
		"3 effects of the task are still to be done: try again in a moment, or see orange task explain 000000000000000000001")
	w.perform()
	w.must(signal.Signal{Kind: signal.Delete, Actor: task.Human})
	w.refused(signal.Signal{Kind: signal.Pause, Actor: task.Human}, "task 000000000000000000001 was deleted")
}

func TestTamperingIsWrittenDownAndChangesNothing(t *testing.T) {
	w := begin(t, "orange", true)
	before := w.task
	fields := []signal.Field{{Name: "status", From: "planning", To: "done"}}
	d := w.must(signal.Signal{Kind: signal.Tamper, Actor: task.Engine, Fields: fields})
	if e := d.Entries[0]; e.Type != journal.TaskTampered || cmp.Diff(fields, e.Fields) != "" || e.Reason == "" {
		t.Errorf("%+v", e)
	}
	before.Seq, before.UpdatedAt = w.task.Seq, w.task.UpdatedAt
	if diff := cmp.Diff(before, w.task); diff != "" {
		t.Errorf("- before, + after\n%s", diff)
	}
}

func newTask(change func(*signal.New)) *signal.New {
	n := &signal.New{ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "s"}
	change(n)
	return n
}

func TestWhatMayBeCreatedAndWhere(t *testing.T) {
	tests := map[string]struct {
		actor   task.Actor
		change  func(*signal.New)
		free    []string
		status  string
		refused string
	}{
		"a plain task":               {task.Human, func(*signal.New) {}, nil, "pending", ""},
		"by the engine":              {task.Engine, func(*signal.New) {}, nil, "pending", ""},
		"by a tracker":               {task.Tracker, func(*signal.New) {}, nil, "pending", ""},
		"by a role":                  {"worker", func(*signal.New) {}, nil, "", "new -> pending: actor: worker may not: it takes human, engine, tracker"},
		"without a summary":          {task.Human, func(n *signal.New) { n.Summary = " " }, nil, "clarification", ""},
		"at once":                    {task.Human, func(n *signal.New) { n.Spawn = true }, []string{"p--1"}, "planning", ""},
		"at once, and nothing free":  {task.Human, func(n *signal.New) { n.Spawn = true }, nil, "pending", ""},
		"for review":                 {task.Human, func(n *signal.New) { n.Status = "agent-review" }, []string{"p--1"}, "agent-review", ""},
		"for review, nothing free":   {task.Human, func(n *signal.New) { n.Status = "agent-review" }, nil, "", "new -> agent-review: workspace: no workspace of project p is free"},
		"where no task begins":       {task.Human, func(n *signal.New) { n.Status = "working" }, nil, "", `Invalid status "working": a task of workflow orange begins in pending, clarification, agent-review, reviewing`},
		"in no state":                {task.Human, func(n *signal.New) { n.Status = "junk" }, nil, "", `Invalid status "junk"`},
		"without a project":          {task.Human, func(n *signal.New) { n.Project = "" }, nil, "", "a task belongs to a project: name one"},
		"under no id":                {task.Human, func(n *signal.New) { n.ID = "x" }, nil, "", `"x" is not a task id`},
		"on no branch":               {task.Human, func(n *signal.New) { n.Branch = "a b" }, nil, "", `branch "a b" is not a name git accepts`},
		"with a workspace":           {task.Human, func(n *signal.New) { n.Workspace = "p--1" }, nil, "", "a new task has no workspace, counters or time of its own: only an import takes them over"},
		"with counters":              {task.Human, func(n *signal.New) { n.Counters = []task.Counter{{Name: "review_round", Value: -9}} }, nil, "", "a new task has no workspace, counters or time"},
		"in the past":                {task.Human, func(n *signal.New) { n.CreatedAt = start }, nil, "", "a new task has no workspace, counters or time"},
		"with a summary of two rows": {task.Human, func(n *signal.New) { n.Summary = "a\nb" }, nil, "", "summary has a line break"},
	}
	def := load(t, "orange")
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := engine.Decide(def, &task.Task{}, signal.Signal{Kind: signal.Create, At: start, Actor: tt.actor, New: newTask(tt.change), Free: tt.free})
			got, err := journal.Fold(task.Task{}, d.Entries)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(d.Refused, tt.refused) || (tt.refused == "") != (d.Refused == "") || got.Status != tt.status {
				t.Errorf("%s, refused %q", got.Status, d.Refused)
			}
			if name == "at once, and nothing free" && !got.Queued {
				t.Error("it does not wait for a workspace")
			}
		})
	}
	if d := engine.Decide(def, &task.Task{}, signal.Signal{Kind: signal.Create, At: start}); d.Refused != "the signal does not describe the task to create" {
		t.Errorf("%q", d.Refused)
	}
}

func TestAnImportTakesATaskAsItWas(t *testing.T) {
	def := load(t, "orange")
	born := start.Add(-time.Hour)
	n := newTask(func(n *signal.New) {
		n.Status, n.CreatedAt, n.PRURL, n.PRState = "reviewing", born, "https://example.com/1", "OPEN"
		n.Counters = []task.Counter{{Name: "review_round", Value: 2}, {Name: "junk", Value: 9}}
	})
	sig := signal.Signal{Kind: signal.Import, At: start, Actor: task.Human, New: n}
	d := engine.Decide(def, &task.Task{}, sig)
	got, err := journal.Fold(task.Task{}, d.Entries)
	if err != nil || d.Verdict != engine.Record {
		t.Fatal(err, d.Refused)
	}
	want := []task.Counter{{Name: "review_round", Value: 2, Total: 2}, {Name: "crash_count"}, {Name: "no_answer"}, {Name: "landing_round"}}
	if diff := cmp.Diff(want, got.Counters); diff != "" || got.Status != "reviewing" || !got.CreatedAt.Equal(born) || got.PRState != "OPEN" {
		t.Errorf("%+v\n%s", got, diff)
	}
	if len(got.Pending)+len(got.Attempts) > 0 {
		t.Errorf("an import starts something: %+v", got)
	}
	for name, tt := range map[string]struct {
		change func(*signal.Signal)
		want   string
	}{
		"by a tracker": {func(s *signal.Signal) { s.Actor = task.Tracker }, "only a person may import a task"},
		"into nowhere": {func(s *signal.Signal) { s.New = newTask(func(n *signal.New) { n.Status = "junk" }) }, `Invalid status "junk": workflow orange has pending, `},
		"of nothing":   {func(s *signal.Signal) { s.New = nil }, "does not describe the task"},
	} {
		bad := sig
		tt.change(&bad)
		if d := engine.Decide(def, &task.Task{}, bad); !strings.HasPrefix(d.Refused, tt.want) && !strings.Contains(d.Refused, tt.want) {
			t.Errorf("%s: %q", name, d.Refused)
		}
	}
}
