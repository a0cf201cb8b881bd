package simulate

import (
	"fmt"
	"maps"
	"math"
	"time"

	"orange/internal/core/workflow"
)

// A Profile describes how agents, people and the machine behave in a simulation.
type Profile struct {
	States  map[string]StateBehavior `json:"states"` // those with a role
	Human   Person                   `json:"human"`
	Effects EffectBehavior           `json:"effects"`
	Checks  *CheckBehavior           `json:"checks,omitempty"` // nil: tasks have no checks
}

// StateBehavior describe how the agent of a state behaves. A turn is one piece of work of one agent in
// one visit of a task to the state. Numbers without a unit are probabilities.
type StateBehavior struct {
	Crash     float64 `json:"crash"`      // a turn ends early, without a result
	NoAnswer  float64 `json:"no_answer"`  // a turn ends normally, without a result
	Question  float64 `json:"question"`   // a turn ends with a question to a person
	GiveUp    float64 `json:"give_up"`    // a turn ends with the agent's own request to halt
	Fail      float64 `json:"fail"`       // a finished turn's verdict is FAIL
	Exit      float64 `json:"exit"`       // a completed turn is reported by ending, not by a request
	Limit     float64 `json:"limit"`      // a turn hits a usage limit and waits for its reset
	LimitWait Pace    `json:"limit_wait"` // the time until the reset
	Duration  Pace    `json:"duration"`   // of a turn, without such waiting
	Tokens    Amount  `json:"tokens"`     // of a whole turn; a part of a turn uses a proportional part
	Cost      float64 `json:"cost_per_1k"`
}

// Person describes how people behave.
type Person struct {
	Delay          Pace    `json:"delay"`           // until a person answers
	RequestChanges float64 `json:"request_changes"` // instead of accepting the work
	Cancel         float64 `json:"cancel"`          // instead of any other answer
}

// EffectBehavior describe how effects behave.
type EffectBehavior struct {
	Duration Span    `json:"duration"`
	Fail     float64 `json:"fail"` // of a single try
}

// A Pace is the distribution of a duration: half of the values are below the median, one in
// twenty is above P95; it is lognormal.
type Pace struct {
	Median Span `json:"median"`
	P95    Span `json:"p95"`
}

// An Amount is the distribution of a number, like a Pace.
type Amount struct {
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
}

// A Span is a duration that is written as 90s, 25m or 4h.
type Span time.Duration

// MarshalText implements encoding.TextMarshaler.
func (s Span) MarshalText() ([]byte, error) { return []byte(time.Duration(s).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Span) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a time: write one such as 90s, 25m or 4h", text)
	}
	*s = Span(d)
	return nil
}

// Default assumptions. A turn without a deadline takes as long as one with a deadline of
// unboundedWall.
const (
	unboundedWall = 160 * time.Minute
	medianOfWall  = 8 // the median is the deadline divided by this
	p95OfWall     = 2
)

// DefaultProfile returns the default profile for def. The duration of a turn follows from the
// deadline of its state: the median is an eighth of it, the 95th percentile a half.
func DefaultProfile(def *workflow.Definition) Profile {
	def = def.ForTask(nil)
	p := Profile{
		States:  map[string]StateBehavior{},
		Human:   Person{Delay: Pace{Span(time.Hour), Span(16 * time.Hour)}, RequestChanges: 0.15, Cancel: 0.02},
		Effects: EffectBehavior{Duration: Span(2 * time.Second), Fail: 0.005},
	}
	for i := range def.States {
		if s := &def.States[i]; s.Role != "" && s.Kind != workflow.Terminal {
			p.States[s.Name] = defaultBehavior(def, s)
		}
	}
	return p
}

func defaultBehavior(def *workflow.Definition, s *workflow.State) StateBehavior {
	wall := s.Wall
	if wall == 0 {
		wall = unboundedWall
	}
	h := StateBehavior{
		Crash: 0.03, NoAnswer: 0.03, Question: 0.05, GiveUp: 0.01, Fail: 0.3, Exit: 0.1,
		Limit: 0.01, LimitWait: Pace{Span(2 * time.Hour), Span(270 * time.Minute)},
		Duration: Pace{Span(wall / medianOfWall), Span(wall / p95OfWall)},
		Tokens:   Amount{600_000, 3_000_000}, Cost: 0.002,
	}
	if givesVerdict(def, s) {
		h.Tokens = Amount{250_000, 1_000_000}
	}
	return h
}

// givesVerdict reports whether the agent of a state gives a verdict.
func givesVerdict(def *workflow.Definition, s *workflow.State) bool {
	for _, i := range def.EdgesFrom(s.Name) {
		for _, g := range def.EdgeGates(&def.Edges[i]) {
			if def.Gates[g].Verdict != "" {
				return true
			}
		}
	}
	return false
}

// checkAgainst returns an error if a profile is not valid for def.
func (p *Profile) checkAgainst(def *workflow.Definition) error {
	for i := range def.States {
		name := def.States[i].Name
		h, ok := p.States[name]
		if !ok {
			continue
		}
		if err := h.checkFigures(); err != nil {
			return fmt.Errorf("state %s: %w", name, err)
		}
	}
	if err := checkProbabilities(namedProbability{"request_changes", p.Human.RequestChanges}, namedProbability{"cancel", p.Human.Cancel}); err != nil {
		return fmt.Errorf("human: %w", err)
	}
	if err := p.Human.Delay.checkTimes("delay"); err != nil {
		return fmt.Errorf("human: %w", err)
	}
	if p.Checks != nil {
		if err := p.Checks.checkFigures(); err != nil {
			return fmt.Errorf("checks: %w", err)
		}
	}
	if err := checkProbabilities(namedProbability{"fail", p.Effects.Fail}); err != nil {
		return fmt.Errorf("effects: %w", err)
	}
	if p.Effects.Duration < 0 {
		return fmt.Errorf("effects: duration is %s: give a time from 0s", time.Duration(p.Effects.Duration))
	}
	return nil
}

func (h *StateBehavior) checkFigures() error {
	err := checkProbabilities(namedProbability{"crash", h.Crash}, namedProbability{"no_answer", h.NoAnswer}, namedProbability{"question", h.Question},
		namedProbability{"give_up", h.GiveUp}, namedProbability{"fail", h.Fail}, namedProbability{"exit", h.Exit}, namedProbability{"limit", h.Limit})
	if err != nil {
		return err
	}
	if sum := h.Crash + h.NoAnswer + h.Question + h.GiveUp; sum > 1+1e-9 {
		return fmt.Errorf("crash, no_answer, question and give_up add up to %g: they exclude each other, so make it at most 1", sum)
	}
	if err := h.LimitWait.checkTimes("limit_wait"); err != nil {
		return err
	}
	if err := h.Duration.checkTimes("duration"); err != nil {
		return err
	}
	if h.Tokens.Median < 0 || h.Tokens.P95 < h.Tokens.Median || h.Tokens.P95 > 1e12 {
		return fmt.Errorf("tokens: median %g and p95 %g: give numbers from 0 with p95 not below the median", h.Tokens.Median, h.Tokens.P95)
	}
	if !(h.Cost >= 0 && h.Cost <= 1e6) {
		return fmt.Errorf("cost_per_1k is %g: give a price from 0", h.Cost)
	}
	return nil
}

type namedProbability struct {
	name string
	p    float64
}

func checkProbabilities(list ...namedProbability) error {
	for _, c := range list {
		if !(c.p >= 0 && c.p <= 1) || math.IsNaN(c.p) {
			return fmt.Errorf("%s is %g: a probability is between 0 and 1", c.name, c.p)
		}
	}
	return nil
}

func (p Pace) checkTimes(name string) error {
	if p.Median < 0 || p.P95 < p.Median {
		return fmt.Errorf("%s: median %s and p95 %s: give times with p95 not below the median", name, time.Duration(p.Median), time.Duration(p.P95))
	}
	if p.Median == 0 && p.P95 > 0 {
		return fmt.Errorf("%s: the median is 0s and p95 is not: give both", name)
	}
	return nil
}

func (p Pace) toLogNormal() logNormal { return newLogNormal(float64(p.Median), float64(p.P95)) }

func (p Profile) clone() Profile {
	p.States = maps.Clone(p.States)
	return p
}
