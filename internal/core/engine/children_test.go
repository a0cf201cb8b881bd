package engine_test

import (
	"strings"
	"testing"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// kids are children of a task, by their states.
func kids(states ...string) (out []signal.Child) {
	for _, s := range states {
		out = append(out, signal.Child{ID: task.ID("child-" + s), Status: s})
	}
	return out
}

func TestATaskWithChildrenIsNotDevelopedItself(t *testing.T) {
	for _, kind := range []signal.Kind{signal.Ready, signal.Request} {
		for children, want := range map[string]string{"": "Started", "Backlog": "Coordinating", "Accepted Started": "Coordinating"} {
			w := placed(t, "linear-sdlc", "Backlog")
			sig := signal.Signal{Kind: kind, Actor: task.Human, Children: kids(strings.Fields(children)...)}
			if kind == signal.Request {
				sig.Verb = "complete"
			}
			if d := w.must(sig); w.task.Status != want || want == "Coordinating" && effects(d.Entries) != "move_card" {
				t.Errorf("%s with children %q: %s, %s", kind, children, w.task.Status, effects(d.Entries))
			}
		}
	}
}

func TestAGateOnChildren(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		children []signal.Child
		refused  string
	}{
		{"Coordinating", "Finished-parent", nil, "the task has no children: create one with --parent"},
		{"Coordinating", "Finished-parent", kids("Started"), "0 of 1 children are Finished or Delivered or Merging or Accepted or Canceled"},
		{"Coordinating", "Finished-parent", kids("Finished", "Accepted", "Started"), "2 of 3 children are"},
		{"Coordinating", "Finished-parent", kids("Finished", "Canceled"), ""},
		{"Coordinating", "Finished-parent", kids("Finished", "Delivered", "Merging", "Accepted"), ""},
		{"Delivered-parent", "Accepted", kids("Accepted", "Delivered"), "1 of 2 children are Accepted or Canceled"},
		{"Tested-parent", "Delivered-parent", kids("Accepted", "Delivered"), "1 of 2 children are Accepted or Canceled"},
		{"Delivered-parent", "Accepted", kids("Accepted", "Accepted"), ""},
	} {
		w := placed(t, "linear-sdlc", tt.from)
		sig := signal.Signal{Kind: signal.Request, Actor: task.Human, To: tt.to, Children: tt.children}
		if tt.refused != "" {
			w.refused(sig, tt.refused)
			continue
		}
		if w.must(sig); w.task.Status != tt.to {
			t.Errorf("%s with %v: %s", tt.from, tt.children, w.task.Status)
		}
	}
}

func TestTheWayOfAParent(t *testing.T) {
	w := begin(t, "linear-sdlc", false)
	child := func(states ...string) engine.Decision {
		return w.must(signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: "child", Children: kids(states...)})
	}
	if d := child("Backlog"); d.Verdict != engine.Stay || w.task.Status != "Backlog" {
		t.Fatalf("a child's news starts its parent: %s", w.task.Status)
	}
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "complete", Children: kids("Backlog", "Backlog")})
	if w.task.Status != "Coordinating" || len(w.task.Attempts) > 0 || w.task.Workspace != "" || len(engine.Timers(w.def, &w.task)) > 0 {
		t.Fatalf("%+v", w.task)
	}
	if it, ok := explain.InboxItem(w.def, w.task); ok {
		t.Errorf("a person is asked while the children work: %+v", it)
	}
	for _, states := range [][]string{{"Started", "Backlog"}, {"Finished", "Started"}} {
		if d := child(states...); d.Verdict != engine.Stay || len(d.Entries) > 0 || w.task.Status != "Coordinating" {
			t.Errorf("%v: %s in %s", states, d.Verdict, w.task.Status)
		}
	}
	child("Finished", "Accepted")
	w.perform()
	if a := w.own(); w.task.Status != "Finished-parent" || a.Role != "qa-coordination" || w.task.Workspace == "" {
		t.Fatalf("%s, %+v", w.task.Status, a)
	}
	w.ends(word("failed"))
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "request-changes", Children: kids("Finished", "Accepted")})
	child("Accepted", "Accepted")
	w.perform()
	w.ends(word("passed"))
	if w.task.Status != "Tested-parent" {
		t.Fatal(w.task.Status)
	}
	child("Accepted", "Delivered")
	if w.task.Status != "Tested-parent" || len(w.task.Attempts) > 0 {
		t.Errorf("%s, %+v", w.task.Status, w.task.Attempts)
	}
	child("Accepted", "Canceled")
	w.perform()
	a := w.own()
	w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role, Report: word("passed"), Children: kids("Accepted", "Delivered")})
	if w.task.Status != "Delivered-parent" || w.task.CounterValue("no_answer") != 1 || !strings.Contains(w.task.LastReport.Diagnosis, "1 of 2 children are Accepted") {
		t.Errorf("accepted before its children: %s, %+v", w.task.Status, w.task.LastReport)
	}
	w.perform()
	a = w.own()
	w.must(signal.Signal{Kind: signal.Outcome, Actor: task.Actor(a.Role), Attempt: a.Number, Report: word("passed"), Children: kids("Accepted", "Accepted")})
	w.perform()
	if w.task.Status != "Accepted" || len(w.task.Attempts) > 0 || w.task.Workspace != "" {
		t.Errorf("%s, %+v in %q", w.task.Status, w.task.Attempts, w.task.Workspace)
	}
	again, err := engine.Redecide(w.def, stored(t, w.log))
	must(t, err)
	if first, n := again.FirstDivergence(); n > 0 {
		t.Errorf("%d decisions differ: %s", n, asJSON(t, first))
	}
}
