package verify

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

// randomTask returns a random task as others see it: what is observed of it, and steps that need something from others.
func randomTask(r *rand.Rand) *labelled {
	labels := []stepLabel{
		0, 0, 0, byPerson, byPerson, byAgent, needsFree, needsFree | byTurn, needsNone, needsFree | needsMet | byPerson, needsUnmet | byPerson,
		needsToken, needsToken | byTurn, needsBusy, byPerson | endsTask, checkPass, checkFail, landTask, retryTask, giveBack,
	}
	observations := []observation{0, hasWorkspace, hasWorkspace | movesOn, movesOn, isQueued, isQueued | hasWorkspace, isPolling, isLanding | hasWorkspace, isLanding | isChecked | hasWorkspace, isReturned, 1, 1 | isQueued, hasLanded, isCancelled}
	if r.IntN(2) == 0 { // fewer kinds, so that more nodes can do the same
		r.Shuffle(len(observations), func(i, k int) { observations[i], observations[k] = observations[k], observations[i] })
		observations, labels = observations[:2], append(labels, make([]stepLabel, 2*len(labels))...)
	}
	g := &labelled{}
	n := 3 + r.IntN(8)
	for at := range n {
		o := isUncreated
		if at > 0 {
			o = observations[r.IntN(len(observations))]
		}
		g.seen, g.first = append(g.seen, o), append(g.first, uint32(len(g.steps)))
		for range 1 + r.IntN(4) {
			l := labels[r.IntN(len(labels))]
			if at == 0 { // a person creates it
				l |= byPerson
			}
			g.steps = append(g.steps, labelledStep{l, 1 + int32(r.IntN(n-1))})
		}
	}
	g.first = append(g.first, uint32(len(g.steps)))
	return g
}

func faultsOf(c *composition) []Property {
	out := map[Property]bool{}
	for _, f := range c.faults {
		out[f.property] = true
	}
	return slices.Sorted(maps.Keys(out))
}

// asItIs returns a graph in which each node is a class of its own.
func asItIs(g *labelled) *minimized {
	m := &minimized{labelled: *g}
	for at := range g.seen {
		m.class = append(m.class, int32(at))
	}
	return m
}

// Tasks that were minimized do together what they did before.
func TestMinimizedTasksHaveTheSameFaults(t *testing.T) {
	found, smaller := map[Property]int{}, 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 2))
		g, enabled := randomTask(r).hidePeople()
		o := SearchOptions{MaxStates: 1 << 20}
		if seed%2 == 1 {
			o.Without = TaskProtections()
		}
		pool, small := 1+r.IntN(2), g.minimize()
		whole, part := compose(asItIs(g), enabled, 2, pool, o), compose(small, enabled, 2, pool, o)
		if d := cmp.Diff(faultsOf(whole), faultsOf(part)); d != "" {
			t.Fatalf("seed %d, pool of %d:\n%s\n%s", seed, pool, d, drawLabelled(g))
		}
		if len(part.joints) < len(whole.joints) {
			smaller++
		}
		for _, p := range faultsOf(whole) {
			found[p]++
		}
	}
	t.Logf("%v; %d became smaller", found, smaller)
	for _, p := range TaskProperties() {
		if found[p] == 0 {
			t.Errorf("no case violates %s", p)
		}
	}
	if smaller < 100 {
		t.Errorf("only %d cases became smaller", smaller)
	}
}

// Exchanging tasks leaves out no joint and no fault.
func TestExchangedTasksHaveTheSameFaults(t *testing.T) {
	for seed := range uint64(150) {
		g, enabled := randomTask(rand.New(rand.NewPCG(seed, 3))).hidePeople()
		one := g.minimize()
		exchanged := compose(one, enabled, 3, 1, SearchOptions{MaxStates: 1 << 20})
		named := newComposition(one, enabled, 3, 1, SearchOptions{MaxStates: 1 << 20})
		named.orders = [][]int8{{0, 1, 2}}
		named.searchAll()
		got, want := map[joint]bool{}, map[joint]bool{}
		for i := range exchanged.joints {
			got[exchanged.joints[i]] = true
		}
		for i := range named.joints {
			j, _ := exchanged.canonical(&named.joints[i])
			want[j] = true
		}
		if !maps.Equal(got, want) || !slices.Equal(faultsOf(exchanged), faultsOf(named)) {
			t.Fatalf("seed %d: %d joints, %v; with names %d, %v", seed, len(got), faultsOf(exchanged), len(want), faultsOf(named))
		}
	}
}

func parseBuiltin(t *testing.T, name string) *workflow.Definition {
	t.Helper()
	text, _ := builtin.Text(name)
	def, err := workflow.Parse(builtin.File(name), text)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

// A counterexample that the engine does not play is an error, not a violation.
func TestACounterexampleThatTheEngineDoesNotPlayIsAnError(t *testing.T) {
	o := SearchOptions{Decide: func(def *workflow.Definition, t *task.Task, sig signal.Signal) engine.Decision {
		sig.Free = nil // the search believes that no workspace is ever free
		return engine.Decide(def, t, sig)
	}}
	r, err := VerifyTasks(parseBuiltin(t, "solo"), 2, o)
	if err == nil || !strings.Contains(err.Error(), "that the engine does not play: step 1 ") || r.OK {
		t.Errorf("ok %v, %d violations, error %v", r.OK, len(r.Violations), err)
	}
}

func TestAChangedCounterexampleIsNotPlayed(t *testing.T) {
	def := parseBuiltin(t, "solo")
	r, err := VerifyTasks(def, 2, SearchOptions{Without: []Protection{CheckedTrees}})
	if err != nil || len(r.Violations) != 1 {
		t.Fatalf("%v, %+v", err, r)
	}
	v := r.Violations[0]
	if err := v.Replay(def); err != nil {
		t.Fatal(err)
	}
	for i := range v.Trace[:len(v.Trace)-1] {
		if len(v.Trace[i].Signals) == 0 {
			continue
		}
		changed := v
		changed.Trace = slices.Delete(slices.Clone(v.Trace), i, i+1)
		if err := changed.Replay(def); err == nil {
			t.Errorf("it plays without step %d (%s)", i+1, v.Trace[i].What)
		}
	}
}

func TestTheNumberOfTasksIsBounded(t *testing.T) {
	for _, n := range []int{-1, 0, MaxTasks + 1} {
		if _, err := VerifyTasks(parseBuiltin(t, "solo"), n, SearchOptions{}); err == nil {
			t.Errorf("%d tasks are composed", n)
		}
	}
}
