package main

import (
	"fmt"

	"orange/internal/core/simulate"
)

const (
	simulateRounds = 21
	simulateLives  = 500 // per round
	minSimulated   = 5000
)

// measureSimulations measures how many whole lives of tasks one core simulates per second.
func measureSimulations(r *report, _ string) error {
	def, err := defaultWorkflow()
	if err != nil {
		return err
	}
	lives := timedCall(func() error {
		_, err := simulate.Run(def, simulate.RunOptions{Seed: 1}, 0, simulateLives)
		return err
	})
	took, err := alternateRounds(simulateRounds, lives, repeatDecision(hashBlock))
	if err != nil {
		return err
	}
	rate := perSecond(simulateLives, took[0].best())
	r.addFigure(figure{
		Name: "simulate: lifecycles/s", Measured: formatThousands(rate), Target: "at least " + formatThousands(minSimulated), Met: rate >= minSimulated,
		Note: fmt.Sprintf("best of %d rounds of %d lives on one core; one life is %.0f times one SHA-256 of 4 KB", simulateRounds, simulateLives, medianRatio(took[0], took[1])*decideTimes/simulateLives),
	})
	return nil
}
