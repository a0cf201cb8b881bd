package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

// permitted lists what an explanation says that a person may ask for: who may is not
// the question, and no guard is in the way.
func permitted(x explain.Explanation) []explain.Move {
	var out []explain.Move
	for _, e := range x.Edges {
		words := func(s string) []string { return strings.Split(s, ", ") }
		guarded := slices.ContainsFunc(e.Reasons, func(r engine.Reason) bool { return r.Rule == engine.RuleGuard && !r.OK })
		if m := (explain.Move{To: e.To, As: e.As}); slices.Contains(words(e.On), "request") && slices.Contains(words(e.By), "human") && !guarded && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// agree fails if a glance says anything else than the explanation and the inbox.
func agree(t rapid.TB, def *workflow.Definition, tk task.Task, sig signal.Signal) {
	t.Helper()
	g, x := explain.Summarize(def, tk, sig), explain.Task(def, tk, sig)
	type seen struct {
		Kind, Owner, Why string
		Deadline         *engine.Timer
		Moves            []explain.Move
	}
	want := seen{x.Kind, x.Owner, x.Why, x.Deadline, permitted(x)}
	if d := cmp.Diff(want, seen{string(g.Kind), g.Owner, g.Why, g.Deadline, g.Moves}); d != "" {
		t.Fatalf("in %s of %s: %s", tk.Status, def.Name, d)
	}
	it, wanted := explain.InboxItem(def, tk)
	if wanted != (g.Wants != nil) || wanted && !cmp.Equal(*g.Wants, it) {
		t.Fatalf("in %s of %s a person is wanted for %+v, and the inbox says %+v", tk.Status, def.Name, g.Wants, it)
	}
}

func TestTheSummaryAgreesWithTheExplanation(t *testing.T) {
	for _, name := range builtin.Names() {
		def := load(t, name)
		backs := []string{""}
		for i := range def.States {
			backs = append(backs, def.States[i].Name)
		}
		for _, state := range def.States {
			for _, back := range backs {
				for _, full := range []bool{false, true} {
					for _, children := range [][]signal.Child{nil, {{ID: "c", Status: "Finished"}}} {
						tk := task.Task{ID: "t", Project: "p", Status: state.Name, CurrentVisit: task.CurrentVisit{ReturnTo: back, Visit: 3, Since: start}}
						for _, c := range def.Counters {
							counter := task.Counter{Name: c.Name}
							if full {
								counter.Value = c.Max
							}
							tk.Counters = append(tk.Counters, counter)
						}
						agree(t, def, tk, signal.Signal{At: start.Add(time.Minute), Children: children})
					}
				}
			}
		}
	}
}

func TestTheSummaryOfAnyTaskAgreesWithItsExplanation(t *testing.T) {
	var defs []*workflow.Definition
	for _, name := range builtin.Names() {
		defs = append(defs, load(t, name))
	}
	rapid.Check(t, func(rt *rapid.T) {
		p := &player{rt: rt, def: rapid.SampledFrom(defs).Draw(rt, "workflow"), now: start, ids: map[string]bool{}}
		p.play(signal.Signal{Kind: signal.Create, Actor: task.Human, New: &signal.New{
			ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "do it", Spawn: rapid.Bool().Draw(rt, "spawn"), TrackerRef: "board:p/1",
		}})
		if p.task.Seq == 0 {
			return // refused: there is nothing to look at
		}
		for range rapid.IntRange(1, 20).Draw(rt, "signals") {
			p.play(p.nextSignal())
			agree(rt, p.def, p.task, signal.Signal{At: p.now})
			p.movesAreKnown()
			p.answersAreTaken()
		}
	})
}

// movesAreKnown asks for every move that is offered: none may be refused because there
// is no such way, or because a person may not.
func (p *player) movesAreKnown() {
	for _, m := range explain.Summarize(p.def, p.task, signal.Signal{At: p.now}).Moves {
		d := engine.Decide(p.def, &p.task, signal.Signal{Kind: signal.Request, Actor: task.Human, To: m.To, At: p.now})
		if d.Verdict != engine.Refuse {
			continue
		}
		open := slices.ContainsFunc(d.Reasons, func(r engine.Reason) bool { return r.To == m.To && r.Rule == engine.RuleActor && r.OK })
		if !open && !strings.Contains(d.Refused, "clean-up") && !p.task.Deleted {
			p.rt.Fatalf("%s is offered in %s and refused: %s\n%v", m.To, p.task.Status, d.Refused, d.Reasons)
		}
	}
}

// answersAreTaken answers: where that is offered it is not refused because nothing was
// asked, and where it is not offered it comes to nothing.
func (p *player) answersAreTaken() {
	g := explain.Summarize(p.def, p.task, signal.Signal{At: p.now})
	if g.Wants != nil && g.Wants.Verb == engine.VerbAnswer && !g.Answers {
		p.rt.Fatalf("an answer helps in %s, and is not offered: %+v", p.task.Status, g.Wants)
	}
	if p.task.Deleted || p.def.WaitsForChildren(p.task.Status) {
		return
	}
	d := engine.Decide(p.def, &p.task, signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbAnswer, Note: "blue", At: p.now, Rules: engine.Rules})
	known := d.Verdict != engine.Refuse || slices.ContainsFunc(d.Reasons, func(r engine.Reason) bool { return r.Rule == engine.RuleActor && r.OK })
	if g.Answers && !known || !g.Answers && d.Verdict != engine.Refuse {
		p.rt.Fatalf("an answer is offered in %s: %v; it comes to %s %s", p.task.Status, g.Answers, d.Verdict, d.Refused)
	}
}

func TestMovesOfAPerson(t *testing.T) {
	tests := map[string]struct {
		workflow string
		task     task.Task
		children int
		want     []string
	}{
		"a person decides":            {"orange", task.Task{Status: "reviewing"}, 0, []string{"done", "working", "cancelled"}},
		"the reviewer decides":        {"orange", task.Task{Status: "agent-review"}, 0, []string{"cancelled"}},
		"it is over":                  {"orange", task.Task{Status: "done"}, 0, nil},
		"it may be reopened":          {"orange", task.Task{Status: "cancelled"}, 0, []string{"pending"}},
		"back to where it came from":  {"linear-sdlc", task.Task{Status: "Halted", CurrentVisit: task.CurrentVisit{ReturnTo: "Merging"}}, 0, []string{"Merging", "Canceled"}},
		"a task without parts":        {"linear-sdlc", task.Task{Status: "Backlog"}, 0, []string{"Started", "Canceled"}},
		"a task with parts":           {"linear-sdlc", task.Task{Status: "Backlog"}, 1, []string{"Coordinating", "Canceled"}},
		"a state that nobody knows":   {"orange", task.Task{Status: "gone"}, 0, nil},
		"what a person's tags decide": {"joan-board", task.Task{Status: "board"}, 0, []string{"cancelled"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, m := range explain.Summarize(load(t, tt.workflow), tt.task, signal.Signal{At: start, Children: make([]signal.Child, tt.children)}).Moves {
				got = append(got, m.To)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}
