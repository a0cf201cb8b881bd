package engine_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

// stored is a journal as a store gives it back.
func stored(t rapid.TB, entries []journal.Entry) []journal.Entry {
	t.Helper()
	var out []journal.Entry
	must(t, json.Unmarshal(asJSON(t, entries), &out))
	return out
}

// without is a workflow whose edge on a line is gone; the other lines stay where they are.
func without(t rapid.TB, def *workflow.Definition, line int) *workflow.Definition {
	t.Helper()
	lines := strings.Split(def.Text, "\n")
	lines[line-1] = ""
	out, err := workflow.Parse(def.File, strings.Join(lines, "\n"))
	must(t, err)
	return out
}

func TestWhateverHappensIsDecidedTheSameAgain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := &player{rt: rt, def: load(t, rapid.SampledFrom(builtin.Names()).Draw(rt, "workflow")), now: start, ids: map[string]bool{}}
		p.play(signal.Signal{Kind: signal.Create, Actor: task.Human, New: &signal.New{
			ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "do it", Spawn: rapid.Bool().Draw(rt, "spawn"),
			TrackerRef: rapid.SampledFrom([]string{"", "board:p/1"}).Draw(rt, "card"),
			After:      rapid.SampledFrom([][]task.ID{nil, nil, {otherID}, {otherID, thirdID}}).Draw(rt, "after"),
		}})
		for range rapid.IntRange(1, 40).Draw(rt, "signals") {
			p.play(p.nextSignal())
		}
		entries := stored(rt, p.log)
		again, err := engine.Redecide(p.def, entries)
		must(rt, err)
		if first, n := again.FirstDivergence(); n > 0 || again.Entries != len(entries) || !again.Pinned {
			rt.Fatalf("%d decisions are not the same, first: %s", n, asJSON(rt, first))
		}
		p.everyEdgeCounts(entries)
	})
}

// everyEdgeCounts takes each edge away that was taken: the decision is then another.
func (p *player) everyEdgeCounts(entries []journal.Entry) {
	seen := map[int]bool{}
	if len(p.def.Steps()) > 0 { // a line of a step workflow is more than an edge
		return
	}
	for _, e := range entries {
		if e.Line == 0 || seen[e.Line] || e.To == "" || strings.Contains(strings.Split(p.def.Text, "\n")[e.Line-1], "reopen:") {
			continue
		}
		seen[e.Line] = true
		again, err := engine.Redecide(without(p.rt, p.def, e.Line), entries)
		must(p.rt, err)
		first, _ := again.FirstDivergence()
		if first == nil || first.Seq > e.Seq {
			p.rt.Fatalf("entry %d took the edge on line %d, and without that edge it is the same", e.Seq, e.Line)
		}
	}
}

func TestDecisionsAreSplitAtSignals(t *testing.T) {
	w := begin(t, "orange", true) // created and started in one decision
	w.perform()
	w.send(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 1, Role: "worker"})
	w.now = w.now.Add(time.Hour)
	w.send(signal.Signal{Kind: signal.Timer, Actor: task.Engine, Timer: engine.Respawn, Visit: w.task.Visit})
	w.perform()
	w.send(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 2, Role: "worker"}) // the second crash: stuck
	var got []int
	for _, d := range journal.SplitDecisions(stored(t, w.log)) {
		got = append(got, len(d))
		for i := range d {
			if d[i].BeginsDecision() != (i == 0) || d[i].At != d[0].At || d[i].Cause != d[0].Cause {
				t.Errorf("entry %d of decision %d: %+v", i, d[0].Seq, d[i])
			}
		}
	}
	if len(got) < 4 || got[0] != 2 || got[len(got)-1] != 2 || w.task.Status != "stuck" {
		t.Errorf("decisions of %v entries, at last %s", got, w.task.Status)
	}
	if journal.SplitDecisions(nil) != nil {
		t.Error("an empty journal has decisions")
	}
}

func TestAnotherWorkflowDivergesWithItsReasons(t *testing.T) {
	w := begin(t, "orange", true)
	w.perform()
	w.body = "## Plan\n\nAPPROACH: x\n"
	w.send(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "working"})
	strict, err := workflow.Parse("strict.yaml", strings.Replace(w.def.Text, "any_of: [APPROACH, TOUCHING]", "any_of: [RISKS]", 1))
	if err != nil {
		t.Fatal(err)
	}
	moved, err := workflow.Parse("moved.yaml", "# the same, further down\n\n"+strings.Replace(w.def.Text, "name: orange", "name: moved", 1))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		def     *workflow.Definition
		differs int
		refused string
	}{
		{"its own", w.def, 0, ""},
		{"the same on other lines and by another name", moved, 0, ""},
		{"another gate", strict, 1, "has nothing behind RISKS:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := engine.Redecide(tt.def, stored(t, w.log))
			if err != nil {
				t.Fatal(err)
			}
			first, n := r.FirstDivergence()
			if n != tt.differs {
				t.Fatalf("%d decisions differ, first %s", n, asJSON(t, first))
			}
			if n == 0 {
				return
			}
			if first.From != "planning" || first.To != "working" || first.Signal != signal.Request || first.Verdict != engine.Refuse ||
				!strings.Contains(first.Refused, tt.refused) || len(first.Reasons) == 0 || len(first.Want) != 1 || len(first.Got) != 0 {
				t.Errorf("%s", asJSON(t, first))
			}
		})
	}
}

func TestAChangedEntryIsNoticed(t *testing.T) {
	w := begin(t, "orange", true)
	w.perform()
	entries := stored(t, w.log)
	entries[len(entries)-1].Tries = 7
	r, err := engine.Redecide(w.def, entries)
	if err != nil {
		t.Fatal(err)
	}
	if first, n := r.FirstDivergence(); n != 1 || first.Seq != len(entries) {
		t.Errorf("%d differ: %+v", n, first)
	}
	entries[1].Seq = 9
	if _, err := engine.Redecide(w.def, entries); err == nil {
		t.Error("a gap went unnoticed")
	}
}

func TestTheRecordAsItWas(t *testing.T) {
	w := begin(t, "orange", true)
	w.perform()
	for seq, want := range map[int]string{1: "pending", 2: "planning", len(w.log): "planning"} {
		if got, err := engine.ReplayTo(w.log, seq); err != nil || got.Status != want || got.Seq != seq {
			t.Errorf("at %d: %s, %v", seq, got.Status, err)
		}
	}
	for _, seq := range []int{0, -1, len(w.log) + 1} {
		if _, err := engine.ReplayTo(w.log, seq); err == nil {
			t.Errorf("entry %d was found", seq)
		}
	}
}
