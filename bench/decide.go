package main

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
)

const (
	decideRounds = 41
	decideTimes  = 200 // per round: short enough to fit between two interruptions
	maxDecide    = 5 * time.Microsecond
	maxAllocs    = 20
)

// situation is one input for the engine.
type situation struct {
	name string
	task task.Task
	sig  signal.Signal
}

// measureDecisions measures the slowest of a few typical decisions.
func measureDecisions(r *report, _ string) error {
	def, err := defaultWorkflow()
	if err != nil {
		return err
	}
	list, err := typicalSituations()
	if err != nil {
		return err
	}
	var slowest, hashing time.Duration
	var name string
	var allocs, against float64
	for _, s := range list {
		ask := func() { engine.Decide(def, &s.task, s.sig) }
		allocs = max(allocs, testing.AllocsPerRun(200, ask))
		took, err := alternateRounds(decideRounds, repeatDecision(ask), repeatDecision(hashBlock))
		if err != nil {
			return err
		}
		if best := took[0].best() / decideTimes; best > slowest {
			slowest, hashing, name, against = best, took[1].best()/decideTimes, s.name, medianRatio(took[0], took[1])
		}
	}
	r.addFigure(figure{
		Name: "engine.Decide, slowest of " + fmt.Sprint(len(list)) + " decisions", Measured: formatMicros(slowest), Target: "under " + formatMicros(maxDecide), Met: slowest < maxDecide,
		Note: fmt.Sprintf("best of %d rounds, %s; %.1f times one SHA-256 of 4 KB (%s)", decideRounds, name, against, formatMicros(hashing)),
	})
	r.addFigure(figure{Name: "engine.Decide, allocations", Measured: fmt.Sprintf("%.0f", allocs), Target: fmt.Sprintf("under %d", maxAllocs), Met: allocs < maxAllocs})
	return nil
}

// typicalSituations plays two tasks up to typical decisions.
func typicalSituations() ([]situation, error) {
	def, err := defaultWorkflow()
	if err != nil {
		return nil, err
	}
	fresh := beginLife(def, 1, time.Unix(1_800_000_000, 0).UTC(), true)
	if len(fresh.task.Pending) == 0 {
		return nil, fmt.Errorf("a task that was created asks for nothing: %w", fresh.err)
	}
	started := fresh.task
	fresh.performPending()
	planning := fresh.task
	fresh.text = planText
	fresh.requestMove("worker", "working")
	working := fresh.task
	fresh.text += handoffText
	fresh.requestMove("worker", "agent-review")
	doc, err := taskfile.Parse([]byte(planText + handoffText + "\n## Review\n\nVerdict: FAIL\n"))
	if err != nil || fresh.err != nil {
		return nil, fmt.Errorf("play a task up to its review: %w, %w", err, fresh.err)
	}
	list := []situation{
		{"a plan accepted", planning, signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "working"}},
		{"a handoff", working, signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "agent-review"}},
		{"a review that ends by exit", fresh.task, signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: 2, Role: "reviewer"}},
		{"a request refused", fresh.task, signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "reviewing"}},
		{"an effect done", started, signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: started.Pending[0].ID, OK: true}}},
	}
	for i := range list {
		s := &list[i]
		s.sig.At, s.sig.Artifacts.Sections = fresh.at, doc.Sections()
		if d := engine.Decide(def, &s.task, s.sig); (d.Verdict == engine.Refuse) != (i == 3) {
			return nil, fmt.Errorf("%s: the verdict is %s: %s", s.name, d.Verdict, d.Refused)
		}
	}
	return list, nil
}

const (
	planText    = "## Plan\n\nAPPROACH: count lines while reading\nTOUCHING: parse.go\n"
	handoffText = "\n## Handoff\n\nDONE: all of it\nUNCERTAIN: the error of an empty file\n"
)

func repeatDecision(do func()) func() (time.Duration, error) {
	return timedCall(func() error {
		for range decideTimes {
			do()
		}
		return nil
	})
}

// hashBlock is work of a known size that is independent of Orange.
func hashBlock() {
	var block [4096]byte
	sum := sha256.Sum256(block[:])
	if sum == [32]byte{} {
		panic("SHA-256 of something is nothing")
	}
}
