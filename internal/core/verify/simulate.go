package verify

import (
	"time"

	"orange/internal/core/workflow"
)

// SimOptions say what is simulated, and how long at most.
type SimOptions struct {
	Profile      Profile // zero: DefaultProfile
	Seed         uint64
	MaxTime      time.Duration // of a run, simulated; 0 for 30 days
	MaxDecisions int           // of a run; 0 for 10,000
}

// Simulate plays the runs from first on, n of them, each the whole life of one task
// under engine.Decide. A run depends on the seed and on its number alone, so that runs
// can be shared out and their results merged in any order.
func Simulate(def *workflow.Definition, o SimOptions, first, n int) (SimResult, error) {
	p, err := newSimPlan(def, o)
	if err != nil {
		return SimResult{}, err
	}
	out := newSimResult(def, n)
	r := &simRun{plan: p, limited: make([]time.Duration, len(def.Roles)), inState: make([]time.Duration, len(def.States))}
	for i := first; i < first+n; i++ {
		r.reset(newSimRand(o.Seed, i))
		r.play()
		if r.err != nil {
			return SimResult{}, r.err
		}
		out.add(r)
	}
	return out, nil
}
