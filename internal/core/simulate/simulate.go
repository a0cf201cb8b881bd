// Package simulate plays lifecycles of tasks with likely agents and people, to estimate what a
// workflow will cost in time and money. It calls engine.Decide itself, so it simulates the code
// that runs.
package simulate

import (
	"time"

	"orange/internal/core/workflow"
)

// RunOptions control a simulation.
type RunOptions struct {
	Profile      Profile // zero: DefaultProfile
	Seed         uint64
	MaxTime      time.Duration // of a run, simulated; 0 for 30 days
	MaxDecisions int           // of a run; 0 for 10,000
}

// Run plays n runs, beginning with number first. Each is the whole life of one task under
// engine.Decide. How often checks fail is a property of the project, not of the workflow, so
// tasks have checks only if the profile describes them. A run depends only on the seed and its number, so that runs can be distributed
// and their results merged in any order.
func Run(def *workflow.Definition, o RunOptions, first, n int) (Result, error) {
	checks := simulatedChecks(def, &o.Profile)
	def = def.ForTask(checks)
	p, err := newRunPlan(def, o, checks)
	if err != nil {
		return Result{}, err
	}
	out := newResult(def, n)
	r := &taskRun{plan: p, limited: make([]time.Duration, len(def.Roles)), inState: make([]time.Duration, len(def.States))}
	for i := first; i < first+n; i++ {
		r.reset(newRandomSource(o.Seed, i))
		r.playToEnd()
		if r.err != nil {
			return Result{}, r.err
		}
		out.addRun(r)
	}
	return out, nil
}
