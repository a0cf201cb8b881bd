package main

import (
	"slices"
	"time"
)

// samples are the durations of one measurement, one per round.
type samples []time.Duration

func (s samples) median() time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[len(sorted)/2]
}

func (s samples) best() time.Duration {
	if len(s) == 0 {
		return 0
	}
	return slices.Min(s)
}

// alternateRounds runs the measurements alternately, round after round, so that other load on the machine affects all
// of them equally; every other round runs backwards, because a measurement is also affected by the one before it. A
// measurement returns its own duration.
func alternateRounds(rounds int, things ...func() (time.Duration, error)) ([]samples, error) {
	out := make([]samples, len(things))
	for round := range rounds {
		for i := range things {
			if round%2 == 1 {
				i = len(things) - 1 - i
			}
			took, err := things[i]()
			if err != nil {
				return nil, err
			}
			out[i] = append(out[i], took)
		}
	}
	return out, nil
}

// medianRatio returns the median over the rounds of a's duration divided by b's.
func medianRatio(a, b samples) float64 {
	var all []float64
	for i := range min(len(a), len(b)) {
		all = append(all, float64(a[i])/float64(b[i]))
	}
	slices.Sort(all)
	if len(all) == 0 {
		return 0
	}
	return all[len(all)/2]
}

// timedCall returns a measurement of the duration of do.
func timedCall(do func() error) func() (time.Duration, error) {
	return func() (time.Duration, error) {
		start := time.Now()
		err := do()
		return time.Since(start), err
	}
}

// perSecond returns the rate of something that happens n times in the given time.
func perSecond(n int, took time.Duration) float64 {
	return float64(n) / took.Seconds()
}
