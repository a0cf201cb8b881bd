package simulate

import (
	"fmt"
	"math"
	"slices"
	"time"

	"orange/internal/core/workflow"
)

// A Result has the results of runs: one number per run for every figure. Results can be merged;
// the summary does not depend on the order.
type Result struct {
	Runs       int
	figures    []figureColumn
	states     []string
	ends       []int // runs that ended there, by state
	unfinished int
	halted     int
	inState    []int64 // milliseconds, by state
}

// figureColumn is one figure of every run.
type figureColumn struct {
	name string
	unit Unit
	of   []int64
}

// Unit is the unit of a figure.
type Unit string

// The units of figures. Results have milliseconds and micro-dollars, summaries have seconds and
// dollars.
const (
	Seconds Unit = "seconds"
	Dollars Unit = "dollars"
	Tokens  Unit = "tokens"
	Count   Unit = "count"
)

// scaleFactor returns how many stored units make one displayed unit.
func (u Unit) scaleFactor() float64 {
	switch u {
	case Seconds:
		return 1000
	case Dollars:
		return 1e6
	}
	return 1
}

// The names of the figures that every workflow has. There are further figures for every role
// and for every counter.
const (
	Duration = "duration"
	Work     = "agents at work"
	Waiting  = "waiting for people"
	TokenUse = "tokens"
	Cost     = "cost"
	Waits    = "human waits"
	Crashed  = "crashes"
	Attempts = "attempts"
)

func newResult(def *workflow.Definition, n int) Result {
	r := Result{
		figures: []figureColumn{
			{Duration, Seconds, nil}, {Work, Seconds, nil}, {Waiting, Seconds, nil},
			{TokenUse, Tokens, nil}, {Cost, Dollars, nil},
			{Waits, Count, nil}, {Crashed, Count, nil}, {Attempts, Count, nil},
		},
		ends: make([]int, len(def.States)), inState: make([]int64, len(def.States)),
	}
	for i := range def.Roles {
		r.figures = append(r.figures, figureColumn{name: "attempts of " + def.Roles[i].Name, unit: Count})
	}
	for i := range def.Counters {
		r.figures = append(r.figures, figureColumn{name: "total of " + def.Counters[i].Name, unit: Count})
	}
	for i := range def.States {
		r.states = append(r.states, def.States[i].Name)
	}
	for i := range r.figures {
		r.figures[i].of = make([]int64, 0, n)
	}
	return r
}

// addRun adds one run.
func (s *Result) addRun(r *taskRun) {
	s.Runs++
	row := [...]int64{
		toMillis(r.now), toMillis(r.worked), toMillis(r.waited), int64(math.Round(r.tokens)), int64(math.Round(r.cost)),
		int64(r.waits), int64(r.crashes), int64(r.t.AttemptCount()),
	}
	for i, v := range row {
		s.figures[i].of = append(s.figures[i].of, v)
	}
	at := len(row)
	def := r.plan.def
	for i := range def.Roles {
		s.figures[at].of = append(s.figures[at].of, int64(r.t.AttemptsOfRole(def.Roles[i].Name)))
		at++
	}
	for i := range def.Counters {
		total := 0
		for _, c := range r.t.Counters {
			if c.Name == def.Counters[i].Name {
				total = c.Total
			}
		}
		s.figures[at].of = append(s.figures[at].of, int64(total))
		at++
	}
	if r.over {
		s.ends[r.at]++
	} else {
		s.unfinished++
	}
	if r.halted {
		s.halted++
	}
	for i, d := range r.inState {
		s.inState[i] += toMillis(d)
	}
}

// Merge adds the runs of another result of the same workflow.
func (s *Result) Merge(o Result) {
	if s.Runs == 0 {
		*s = o
		return
	}
	s.Runs += o.Runs
	s.unfinished += o.unfinished
	s.halted += o.halted
	for i := range s.figures {
		s.figures[i].of = append(s.figures[i].of, o.figures[i].of...)
	}
	for i := range s.states {
		s.ends[i] += o.ends[i]
		s.inState[i] += o.inState[i]
	}
}

// A Summary is a result in a few numbers.
type Summary struct {
	Runs       int      `json:"runs"`
	Figures    []Figure `json:"figures"`
	Ends       []Share  `json:"ends"`       // terminal states, by share of the runs
	Unfinished float64  `json:"unfinished"` // share of runs that hit a limit
	Stuck      float64  `json:"stuck"`      // share of runs that entered a halt state
	States     []Stay   `json:"states"`
}

// A Figure is one figure over all runs.
type Figure struct {
	Name string  `json:"name"`
	Unit Unit    `json:"unit"`
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	Mean float64 `json:"mean"`
}

// A Share is a fraction of the runs.
type Share struct {
	State string  `json:"state"`
	Share float64 `json:"share"`
}

// A Stay is how long tasks are in a state.
type Stay struct {
	State string  `json:"state"`
	Mean  float64 `json:"mean_seconds"` // of a run, all visits together
	Share float64 `json:"share"`        // of the time of all runs
}

// Summary returns the result in a few numbers.
func (s *Result) Summary(def *workflow.Definition) Summary {
	def = def.ForTask(nil)
	out := Summary{Runs: s.Runs, Figures: []Figure{}, Ends: []Share{}, States: []Stay{}}
	runs := float64(max(s.Runs, 1))
	for i := range s.figures {
		out.Figures = append(out.Figures, s.figures[i].toFigure())
	}
	out.Unfinished, out.Stuck = float64(s.unfinished)/runs, float64(s.halted)/runs
	all := int64(0)
	for _, ms := range s.inState {
		all += ms
	}
	for i, name := range s.states {
		st, ok := def.StateNamed(name)
		if ok && st.Kind == workflow.Terminal {
			out.Ends = append(out.Ends, Share{State: name, Share: float64(s.ends[i]) / runs})
			continue
		}
		out.States = append(out.States, Stay{
			State: name, Mean: float64(s.inState[i]) / 1000 / runs, Share: float64(s.inState[i]) / float64(max(all, 1)),
		})
	}
	return out
}

func (c *figureColumn) toFigure() Figure {
	f := Figure{Name: c.name, Unit: c.unit}
	if len(c.of) == 0 {
		return f
	}
	sorted := slices.Sorted(slices.Values(c.of))
	sum := int64(0)
	for _, v := range sorted {
		sum += v
	}
	f.P50 = float64(quantileOf(sorted, 0.5)) / c.unit.scaleFactor()
	f.P95 = float64(quantileOf(sorted, 0.95)) / c.unit.scaleFactor()
	f.Mean = float64(sum) / float64(len(sorted)) / c.unit.scaleFactor()
	return f
}

// quantileOf returns the smallest value that is at least as large as the fraction p of all
// values.
func quantileOf(sorted []int64, p float64) int64 {
	at := int(math.Ceil(p*float64(len(sorted)))) - 1
	return sorted[min(max(at, 0), len(sorted)-1)]
}

// SortedValues returns a figure of every run in its unit, smallest first.
func (s *Result) SortedValues(name string) ([]float64, error) {
	for i := range s.figures {
		c := &s.figures[i]
		if c.name != name {
			continue
		}
		out := make([]float64, len(c.of))
		for k, v := range slices.Sorted(slices.Values(c.of)) {
			out[k] = float64(v) / c.unit.scaleFactor()
		}
		return out, nil
	}
	return nil, fmt.Errorf("there is no figure %q", name)
}

// FindFigure returns the figure of the summary with a name.
func (s *Summary) FindFigure(name string) Figure {
	for _, f := range s.Figures {
		if f.Name == name {
			return f
		}
	}
	return Figure{Name: name}
}

// toMillis converts a duration to the unit of results.
func toMillis(d time.Duration) int64 { return d.Milliseconds() }
