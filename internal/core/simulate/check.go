package simulate

import (
	"fmt"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// CheckBehavior describes how the checks of a project end. The probabilities exclude each other; a check that does none of
// this passes.
type CheckBehavior struct {
	Fail     float64 `json:"fail"`      // the command fails
	TimedOut float64 `json:"timed_out"` // it does not end in time
	Invalid  float64 `json:"invalid"`   // it changes files, or the branch moves
	Crash    float64 `json:"crash"`     // it leaves no result
	Duration Pace    `json:"duration"`
}

// DefaultChecks returns how checks end if nothing is known about them.
func DefaultChecks() CheckBehavior {
	return CheckBehavior{Fail: 0.2, TimedOut: 0.01, Invalid: 0.01, Crash: 0.005, Duration: Pace{Span(3 * time.Minute), Span(12 * time.Minute)}}
}

func (c *CheckBehavior) checkFigures() error {
	err := checkProbabilities(namedProbability{"fail", c.Fail}, namedProbability{"timed_out", c.TimedOut}, namedProbability{"invalid", c.Invalid}, namedProbability{"crash", c.Crash})
	if sum := c.Fail + c.TimedOut + c.Invalid + c.Crash; err == nil && sum > 1+1e-9 {
		err = fmt.Errorf("fail, timed_out, invalid and crash add up to %g: they exclude each other, so make it at most 1", sum)
	}
	if err != nil {
		return err
	}
	return c.Duration.checkTimes("duration")
}

// simulatedChecks returns the checks of simulated tasks: those that the workflow names, or one.
func simulatedChecks(def *workflow.Definition, p *Profile) task.Checks {
	if p.Checks == nil || !def.HasCheckStates() {
		return nil
	}
	var out task.Checks
	for _, name := range def.NamedChecks() {
		out = append(out, task.CheckDefinition{Name: name, Run: "true"})
	}
	if len(out) == 0 {
		out = task.Checks{{Name: "tests", Run: "true"}}
	}
	return out
}

// beginCheck starts the check that runs.
func (r *taskRun) beginCheck() {
	a, ok := r.t.LiveAttempt(workflow.CheckRole)
	if r.turn.on || r.t.CheckRun == nil || !ok || !a.Running || r.turn.attempt == a.Number {
		return
	}
	t := agentTurn{on: true, attempt: a.Number, visit: r.t.Visit, from: r.now, check: r.drawCheck()}
	span := r.rand.sampleTime(r.plan.checkTime)
	if t.check == task.CheckTimeout || span >= task.DefaultCheckTimeout {
		t.check, span = task.CheckTimeout, task.DefaultCheckTimeout
	}
	t.to = r.now + span
	r.turn = t
}

// endTurnsBesideCheck reports that the agents rest for which a check waits.
func (r *taskRun) endTurnsBesideCheck() {
	if _, runs := r.t.LiveAttempt(workflow.CheckRole); runs || r.t.CheckRun == nil || r.t.WorkFailed != "" {
		return
	}
	for _, a := range r.t.Attempts {
		if a.Running && !a.Ending && a.Condition.InTurn() {
			r.noticeCondition(a.Number, task.Idle)
		}
	}
}

func (r *taskRun) noticeCondition(attempt int, name string) {
	r.submitSignal(&signal.Signal{Kind: signal.Notice, Actor: task.Engine, Attempt: attempt, Rules: engine.Rules, Condition: &task.Condition{Name: name}})
}

// drawCheck draws how a check will end.
func (r *taskRun) drawCheck() string {
	c, u := r.plan.checks, r.rand.nextFloat64()
	for _, end := range [...]struct {
		outcome string
		p       float64
	}{{task.CheckFailed, c.Fail}, {task.CheckTimeout, c.TimedOut}, {task.CheckInvalid, c.Invalid}, {task.CheckBroken, c.Crash}} {
		if u -= end.p; u < 0 {
			return end.outcome
		}
	}
	return task.CheckPassed
}

// endCheck is the moment at which a check ends. One that broke off leaves no result.
func (r *taskRun) endCheck(a task.Attempt, outcome string) {
	sig := signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role, Evidence: r.plan.evidence}
	if outcome != task.CheckBroken {
		sig.Check = &task.CheckResult{Name: r.t.CheckRun.Name, Outcome: outcome, Tree: "simulated"}
	}
	if outcome != task.CheckPassed {
		sig.Code = 1
	}
	r.submitSignal(&sig)
}

// checkSamples are the ends of checks in journals.
type checkSamples struct {
	durations                          []time.Duration
	runs, fails, late, invalid, broken int
}

// countCheck counts the end of a check. A command that is not found says nothing about the next one.
func (s *checkSamples) countCheck(e *journal.Entry) {
	if e.Check == nil || e.Check.Outcome == task.CheckMissing {
		return
	}
	s.runs++
	switch e.Check.Outcome {
	case task.CheckFailed:
		s.fails++
	case task.CheckTimeout:
		s.late++
	case task.CheckInvalid:
		s.invalid++
	case task.CheckBroken:
		s.broken++
	}
	if d := e.Check.Duration; d > 0 && e.Check.Outcome != task.CheckTimeout {
		s.durations = append(s.durations, d)
	}
}

// applyToChecks sets the behavior of checks to the samples. Without a run, tasks stay without checks.
func (s *checkSamples) applyToChecks(p *Profile) []string {
	if s.runs == 0 {
		return nil
	}
	c := DefaultChecks()
	if p.Checks != nil {
		c = *p.Checks
	}
	var notes learningNotes
	notes.learnPace("checks: duration", s.durations, &c.Duration)
	notes.learnRate("checks: fail", s.fails, s.runs, &c.Fail)
	notes.learnRate("checks: timed_out", s.late, s.runs, &c.TimedOut)
	notes.learnRate("checks: invalid", s.invalid, s.runs, &c.Invalid)
	notes.learnRate("checks: crash", s.broken, s.runs, &c.Crash)
	p.Checks = &c
	return notes
}
