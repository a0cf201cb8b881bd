package engine_test

import (
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// world plays one task: it keeps the record, the sections and the time.
type world struct {
	t    *testing.T
	def  *workflow.Definition
	task task.Task
	log  []journal.Entry
	now  time.Time
	body string
	free []string
}

func load(t testing.TB, name string) *workflow.Definition {
	t.Helper()
	text, ok := builtin.Text(name)
	if !ok {
		t.Fatalf("no built-in %s", name)
	}
	return first.read(t, name+".yaml", text).ForTask(nil)
}

// loadChecked is the built-in workflow as a task with checks follows it.
func loadChecked(t testing.TB, name string) *workflow.Definition {
	t.Helper()
	text, _ := builtin.Text(name)
	return first.read(t, name+".yaml", text)
}

// A reading keeps the definitions it read, by their text: reading one takes longer
// than deciding about it a thousand times.
type reading struct{ byText sync.Map }

// Two readings of the same text share no memory.
var first, second reading

func (r *reading) read(t rapid.TB, file, text string) *workflow.Definition {
	t.Helper()
	if def, ok := r.byText.Load(text); ok {
		return def.(*workflow.Definition)
	}
	def, err := workflow.Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	r.byText.Store(text, def)
	return def
}

func begin(t *testing.T, name string, spawn bool) *world {
	w := &world{t: t, def: load(t, name), now: start, free: []string{"p--1"}}
	w.send(signal.Signal{Kind: signal.Create, Actor: task.Human, New: &signal.New{
		ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "do it", Spawn: spawn,
	}})
	return w
}

func (w *world) send(sig signal.Signal) engine.Decision {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	sig.At = w.now
	sig.Free = w.free
	doc, err := taskfile.Parse([]byte(w.body))
	if err != nil {
		w.t.Fatal(err)
	}
	sig.Artifacts.Sections = doc.Sections()
	d := engine.Decide(w.def, &w.task, sig)
	next, err := journal.Fold(w.task, d.Entries)
	if err != nil {
		w.t.Fatal(err)
	}
	w.task = next
	w.log = append(w.log, d.Entries...)
	return d
}

// perform answers every pending effect with success; kills end their attempts.
func (w *world) perform() (done []string) {
	w.t.Helper()
	for range 50 {
		e, ok := engine.NextEffect(&w.task)
		if !ok {
			return done
		}
		done = append(done, e.Do)
		if info, _ := workflow.EffectNamed(e.Do); info.Kills {
			for _, a := range w.task.Clone().Attempts {
				if a.Ending && (e.Role == "" || e.Role == a.Role) || a.Number == e.Attempt {
					w.send(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role})
				}
			}
		}
		w.send(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: e.ID, OK: true}})
	}
	w.t.Fatal("effects do not end")
	return nil
}

func TestATaskGoesFromPlanToReviewing(t *testing.T) {
	w := begin(t, "orange", true)
	if w.task.Status != "planning" || w.task.Workspace != "p--1" {
		t.Fatalf("%+v", w.task)
	}
	t.Log(w.perform())
	w.body = "## Plan\n\nAPPROACH: x\n"
	d := w.send(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "working"})
	if d.Verdict != engine.Advance {
		t.Fatal(d.Refused)
	}
	w.body += "\n## Handoff\n\nDONE: x\n"
	d = w.send(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, Verb: "complete"})
	if d.Verdict != engine.Advance || w.task.CounterValue("review_round") != 1 {
		t.Fatal(d.Refused)
	}
	t.Log(w.perform())
	w.body += "\n## Review\n\nVerdict: FAIL\n"
	d = w.send(signal.Signal{Kind: signal.Exit, Attempt: 2, Role: "reviewer"})
	if d.Verdict != engine.Advance || w.task.Status != "working" {
		t.Fatal(d.Verdict, d.Reasons)
	}
	t.Log(w.perform())
	d = w.send(signal.Signal{Kind: signal.Exit, Attempt: 1, Role: "worker", Code: 1})
	if d.Verdict != engine.Crash {
		t.Fatal(d.Verdict, d.Reasons)
	}
	t.Logf("%+v", explain.Task(w.def, w.task, signal.Signal{At: w.now}))
}

// sectionsOf reads the sections of a task file.
func sectionsOf(t testing.TB, body string) []taskfile.Section {
	t.Helper()
	doc, err := taskfile.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return doc.Sections()
}
