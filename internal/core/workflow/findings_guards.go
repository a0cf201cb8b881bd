package workflow

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/task"
)

// checkGuards compares the edges that leave one state with one another.
func (c *checker) checkGuards() {
	for i := range c.d.Edges {
		c.checkNeverOpen(&c.d.Edges[i])
	}
	c.checkOverlaps(New)
	agents := false
	for i := range c.d.States {
		s := &c.d.States[i]
		c.checkOverlaps(s.Name)
		if s.Kind == Agent {
			c.checkExits(s, agents)
			agents = true
		}
	}
}

// checkNeverOpen finds a guard that holds for no value that its names can have.
func (c *checker) checkNeverOpen(e *Edge) {
	if e.When == nil || len(e.From) == 0 { // ForTask leaves edges without a start
		return
	}
	for _, from := range e.From {
		_, open, known := c.searchValues(from, []*Guard{e.When}, func(env Env) bool { return guardHolds(e.When, env) })
		if open || !known {
			return // overlap and exit-uncovered report what cannot be checked
		}
	}
	c.reportError(RuleGuardNever, e.Pos, "edge %s: when: %s holds for no value: fix the guard, or drop the edge", e.edgeTitle(), e.When.Source)
}

// checkOverlaps finds pairs of edges from a state that can open for the same signal.
func (c *checker) checkOverlaps(from string) {
	list := c.d.edgesFrom[from]
	for j := range list {
		for i := range j {
			if c.reportOverlap(from, &c.d.Edges[list[i]], &c.d.Edges[list[j]]) {
				break // one pair is enough to report this edge
			}
		}
	}
}

func (c *checker) reportOverlap(from string, a, b *Edge) bool {
	trigger, byVerb, ok := contestedTrigger(a, b)
	if !ok || trigger.Kind == OnOutcome && asksMore(a, b) {
		return false
	}
	values, both, known := c.searchValues(from, []*Guard{a.When, b.When}, func(env Env) bool {
		back := env[returnTo]
		if byVerb && back != "" && (back == a.To) != (back == b.To) {
			return false // the verb means the way back
		}
		waived := back != "" && (back == a.To || back == b.To)
		excluded := trigger.Kind != OnCrashLimit && !waived && c.verdictsExclude(a, b)
		return !excluded && guardHolds(a.When, env) && guardHolds(b.When, env)
	})
	switch {
	case !known:
		c.reportError(RuleOverlap, b.Pos, "%s -> %s and the edge on line %d cannot be checked: their counters have more than %d combinations: lower max, or name fewer counters in when:",
			from, b.To, a.Pos.Line, maxCombinations)
	case both:
		c.reportError(RuleOverlap, b.Pos, "%s -> %s and the edge on line %d (to %s) both answer to %s, %s: make their guards, gates or actors exclude each other",
			from, b.To, a.Pos.Line, a.To, trigger, values)
	}
	return both || !known
}

// asksMore reports whether a, which comes first, has all gates of b and more: then b is taken
// where a stays closed.
func asksMore(a, b *Edge) bool {
	return len(a.Gates) > len(b.Gates) && !slices.ContainsFunc(b.Gates, func(g string) bool { return !slices.Contains(a.Gates, g) })
}

// contestedTrigger returns the trigger that both edges have. Requests conflict if they name the
// same state, or the same verb with the same gates.
func contestedTrigger(a, b *Edge) (on Trigger, byVerb, ok bool) {
	for _, t := range a.On {
		if !b.AnswersTo(t.Kind, t.Value) {
			continue
		}
		if t.Kind != OnRequest && t.Kind != OnCreate {
			return t, false, true
		}
		verb := t.Kind == OnRequest && a.As != "" && a.As == b.As && sameNames(a.Gates, b.Gates)
		if (a.To == b.To || verb) && shareActor(a, b) {
			return t, a.To != b.To, true
		}
	}
	return Trigger{}, false, false
}

func shareActor(a, b *Edge) bool {
	may := func(e *Edge, x task.Actor) bool { return e.PermitsActor(x) || e.AsksForConsent(x) }
	return slices.ContainsFunc(a.By, func(x task.Actor) bool { return may(b, x) }) ||
		slices.ContainsFunc(a.Confirm, func(x task.Actor) bool { return may(b, x) })
}

// verdictsExclude reports whether one edge needs PASS where the other needs FAIL.
func (c *checker) verdictsExclude(a, b *Edge) bool {
	for _, i := range a.gates {
		for _, j := range b.gates {
			g, h := &c.d.Gates[i], &c.d.Gates[j]
			if g.Section == h.Section && g.AnyWord == h.AnyWord && g.Verdict != "" && h.Verdict != "" && g.Verdict != h.Verdict {
				return true
			}
		}
	}
	return false
}

// checkExits requires that there is an edge for every way in which an agent can end. told means
// that the missing crash counter was already reported.
func (c *checker) checkExits(s *State, told bool) {
	switch {
	case c.d.CrashCounter() == nil && !told:
		c.reportError(RuleExitUncovered, s.Pos, "state %s has an agent and no counter counts its crashes: add a counter with {max: 2, per: state, counts: crashes}", s.Name)
	case c.d.CrashCounter() != nil && !c.d.hasTriggerFrom(s.Name, OnCrashLimit):
		c.reportError(RuleExitUncovered, s.Pos, "state %s has an agent and no edge for when it keeps dying: add an edge with on: crash-limit", s.Name)
	}
	var seen []string
	for _, i := range c.d.edgesFrom[s.Name] {
		e := &c.d.Edges[i]
		key := gateKey(e)
		if e.When != nil && e.hasTrigger(OnExit) && !slices.Contains(seen, key) {
			seen = append(seen, key)
			c.checkGap(s, e, OnExit)
		}
		if e.When != nil && e.hasTrigger(OnCrashLimit) && !slices.Contains(seen, "crash-limit") {
			seen = append(seen, "crash-limit")
			c.checkGap(s, e, OnCrashLimit)
		}
	}
}

// checkGap finds values for which no edge opens that requires no more than e.
func (c *checker) checkGap(s *State, e *Edge, kind TriggerKind) {
	var guards []*Guard
	for _, i := range c.d.edgesFrom[s.Name] {
		f := &c.d.Edges[i]
		if f.hasTrigger(kind) && (kind == OnCrashLimit || isSubset(f.Gates, e.Gates)) {
			guards = append(guards, f.When)
		}
	}
	values, open, known := c.searchValues(s.Name, guards, func(env Env) bool {
		return !slices.ContainsFunc(guards, func(g *Guard) bool { return guardHolds(g, env) })
	})
	what := kindOfExit(kind, e)
	switch {
	case !known:
		c.reportError(RuleExitUncovered, e.Pos, "state %s: %s cannot be checked: the counters have more than %d combinations: lower max, or name fewer counters in when:", s.Name, what, maxCombinations)
	case open:
		c.reportError(RuleExitUncovered, e.Pos, "state %s: no edge answers to %s %s: widen a guard, or add an edge", s.Name, what, values)
	}
}

func kindOfExit(kind TriggerKind, e *Edge) string {
	if kind == OnCrashLimit || len(e.Gates) == 0 {
		return string(kind)
	}
	return fmt.Sprintf("%s with gate %s", kind, strings.Join(e.Gates, ", "))
}

func gateKey(e *Edge) string {
	sorted := slices.Clone(e.Gates)
	slices.Sort(sorted)
	return "exit " + strings.Join(slices.Compact(sorted), " ")
}

func sameNames(a, b []string) bool { return isSubset(a, b) && isSubset(b, a) }

func isSubset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(name string) bool { return !slices.Contains(b, name) })
}
