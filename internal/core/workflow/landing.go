package workflow

import (
	"slices"

	"orange/internal/core/task"
)

// landingTrigger returns the trigger for an outcome of a landing. Work that has landed is merged, however that came about.
func landingTrigger(outcome string) Trigger {
	if outcome == task.Landed {
		return Trigger{Kind: OnTracker, Value: prMerged}
	}
	return Trigger{Kind: OnLanding, Value: outcome}
}

// prMerged is the event of a branch that was merged.
const prMerged = "pr:merged"

// checkLandings checks the edges that answer to landings: a state in which the effect land is pending answers to every
// outcome, and work does not go back for ever.
func (c *checker) checkLandings() {
	for i := range c.d.States {
		s := &c.d.States[i]
		for _, k := range c.d.edgesFrom[s.Name] {
			c.checkLandingEdge(s, &c.d.Edges[k])
		}
		if !c.landsIn(s) {
			continue
		}
		for _, outcome := range landingWords {
			trigger := landingTrigger(outcome)
			answers := func(e *Edge) bool { return e.AnswersTo(trigger.Kind, trigger.Value) }
			switch values, missing, some := c.findUncovered(s, answers); {
			case missing && !some:
				c.reportError(RuleLandingUncovered, s.Pos, "work lands in state %s, and no edge has on: {landing: %s}: add one", s.Name, outcome)
			case missing:
				c.reportError(RuleLandingUncovered, s.Pos, "no edge answers to {landing: %s} in %s, %s: add one", outcome, s.Name, values)
			}
		}
	}
}

// checkLandingEdge checks one edge that answers to a landing that brought nothing into the target.
func (c *checker) checkLandingEdge(s *State, e *Edge) {
	if !slices.ContainsFunc(e.On, func(tr Trigger) bool { return tr.Kind == OnLanding }) {
		return
	}
	if len(e.Gates) > 0 {
		c.reportError(RuleLandingUncovered, e.Pos, "edge %s answers to a landing and has a gate: remove the gate, because the landing has ended", e.edgeTitle())
	}
	if c.leadsBack(s, e) && !c.isBounded(e) {
		c.reportError(RuleLandingUnbounded, e.Pos, "edge %s -> %s leads back to %s, and no counter bounds that: count one, and compare it in when:", s.Name, e.To, s.Name)
	}
}

// landsIn reports whether the effect land is pending in a state: the state or an edge that leads to it requires it.
func (c *checker) landsIn(s *State) bool {
	lands := func(f Effect) bool { return f.Name == Land }
	return slices.ContainsFunc(s.OnEnter, lands) ||
		slices.ContainsFunc(c.d.Edges, func(e Edge) bool { return e.To == s.Name && slices.ContainsFunc(e.Do, lands) })
}
