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

// checkLandings checks the edges that answer to landings: a state answers to every outcome that can happen there, and work
// does not go back for ever.
func (c *checker) checkLandings() {
	for i := range c.d.States {
		s := &c.d.States[i]
		for _, k := range c.d.edgesFrom[s.Name] {
			c.checkLandingEdge(s, &c.d.Edges[k])
		}
		for _, outcome := range c.requiredOutcomes(s) {
			trigger := landingTrigger(outcome)
			answers := func(e *Edge) bool { return e.AnswersTo(trigger.Kind, trigger.Value) }
			switch values, missing, some := c.findUncovered(s, answers); {
			case missing && !some:
				c.reportError(RuleLandingUncovered, s.Pos, "state %s answers to landings, and no edge has on: {landing: %s}: add one", s.Name, outcome)
			case missing:
				c.reportError(RuleLandingUncovered, s.Pos, "no edge answers to {landing: %s} in %s, %s: add one", outcome, s.Name, values)
			}
		}
	}
}

// requiredOutcomes returns the outcomes of a landing to which a state must answer: all where the effect land is pending. A
// state that sends work back answers to both ways in which work comes back, or a person would have to see to one of them.
func (c *checker) requiredOutcomes(s *State) []string {
	if c.landsIn(s) {
		return landingWords[:]
	}
	back := [...]string{task.LandingConflict, task.LandingFailed}
	answers := slices.ContainsFunc(c.d.edgesFrom[s.Name], func(k int) bool {
		return c.d.Edges[k].AnswersTo(OnLanding, back[0]) || c.d.Edges[k].AnswersTo(OnLanding, back[1])
	})
	if answers {
		return back[:]
	}
	return nil
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
