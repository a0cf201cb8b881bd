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

// simulations measures how many whole lives of tasks one core plays in a second.
func simulations(r *report, _ string) error {
	def, err := definition()
	if err != nil {
		return err
	}
	lives := timed(func() error {
		_, err := simulate.Run(def, simulate.Options{Seed: 1}, 0, simulateLives)
		return err
	})
	took, err := alternate(simulateRounds, lives, repeat(hash))
	if err != nil {
		return err
	}
	rate := perSecond(simulateLives, took[0].best())
	r.add(figure{
		Name: "simulate: lifecycles/s", Measured: thousands(rate), Target: "at least " + thousands(minSimulated), Met: rate >= minSimulated,
		Note: fmt.Sprintf("best of %d rounds of %d lives on one core; one life is %.0f times one SHA-256 of 4 KB", simulateRounds, simulateLives, ratio(took[0], took[1])*decideTimes/simulateLives),
	})
	return nil
}
