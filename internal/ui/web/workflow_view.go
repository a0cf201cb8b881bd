package web

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"orange/internal/core/simulate"
	"orange/internal/core/verify"
	"orange/internal/core/workflow"
	"orange/internal/view/ansi"
	"orange/internal/view/chart"
	"orange/internal/view/humanize"
)

// maxSourceLine limits how much of a line of a workflow file is shown, in bytes.
const maxSourceLine = 2000

// A workflowState is a row of the table of states.
type workflowState struct {
	Name, Kind, Role string
	Limits           string
	To               []string
	Line             int
}

func workflowStates(def *workflow.Definition) []workflowState {
	var out []workflowState
	for i := range def.States {
		s := &def.States[i]
		one := workflowState{Name: s.Name, Kind: string(s.Kind), Role: s.Role, Line: s.Pos.Line}
		var limits []string
		if s.Wall > 0 {
			limits = append(limits, shortSpan(s.Wall)+" at most")
		}
		if s.Idle > 0 {
			limits = append(limits, shortSpan(s.Idle)+" of silence")
		}
		one.Limits = strings.Join(limits, ", ")
		seen := map[string]bool{}
		for _, e := range def.EdgesFrom(s.Name) {
			if to := def.Edges[e].To; !seen[to] {
				seen[to] = true
				one.To = append(one.To, to)
			}
		}
		out = append(out, one)
	}
	return out
}

// shortSpan formats a duration without trailing zeros: 2h0m0s becomes 2h.
func shortSpan(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// A workflowEdge is a row of the table of edges.
type workflowEdge struct {
	From, To   string
	On, By, As string
	Condition  string
	Do         string
	Line       int
}

func workflowEdges(def *workflow.Definition) []workflowEdge {
	var out []workflowEdge
	for i := range def.Edges {
		e := &def.Edges[i]
		one := workflowEdge{From: strings.Join(e.From, ", "), To: e.To, As: ansi.OneLine(e.As), Line: e.Pos.Line}
		var on, by, conditions, do []string
		for _, t := range e.On {
			on = append(on, strings.TrimSuffix(string(t.Kind)+" "+ansi.OneLine(t.Value), " "))
		}
		for _, a := range e.By {
			by = append(by, string(a))
		}
		for _, a := range e.Confirm {
			by = append(by, string(a)+" if a person approves")
		}
		if e.When != nil {
			conditions = append(conditions, ansi.OneLine(e.When.Source))
		}
		for _, g := range e.Gates {
			conditions = append(conditions, "["+g+"]")
		}
		for _, f := range e.Do {
			do = append(do, strings.TrimSpace(f.Name+" "+f.Role))
		}
		one.On, one.By, one.Condition, one.Do = strings.Join(on, ", "), strings.Join(by, ", "), strings.Join(conditions, " "), strings.Join(do, ", ")
		out = append(out, one)
	}
	return out
}

// A workflowLine is a line of the file.
type workflowLine struct {
	Number int
	Text   string
}

func workflowLines(text string) (out []workflowLine, more int) {
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range all[:min(len(all), maxShownLines)] {
		out = append(out, workflowLine{i + 1, ansi.SafeText(humanize.Cut(line, maxSourceLine))})
	}
	return out, len(all) - len(out)
}

// A workflowReport is the result of a search, in words.
type workflowReport struct {
	OK         bool
	Complete   bool
	Counts     string
	Bounds     string
	Took       string
	Properties []workflowProperty
	Violations []workflowViolation
}

// A workflowProperty is a property that must hold, and whether it does.
type workflowProperty struct {
	Name, Means, Says string
	Good, Bad         bool
}

// A workflowViolation is a property that does not hold, with a shortest path that breaks it.
type workflowViolation struct {
	Number          int
	Property, About string
	Steps           []workflowStep
}

type workflowStep struct {
	Move, What, Refused string
}

// propertyWords says what each property means.
var propertyWords = map[verify.Property]string{
	verify.NeverStalls: "every task can always move on, by an agent, the engine or a person",
	verify.Terminates:  "every loop is bounded by a counter, or passes a person",
	verify.Covered:     "every outcome has an edge",
	verify.Fresh:       "no old artifact opens a gate",
	verify.CrashSafe:   "every effect is performed eventually, and twice only if that is harmless",
	verify.OneWorker:   "no role has two living agents",
	verify.ActorSafe:   "an edge is taken only by the actors it names",
	verify.Proven:      "no report of unknown origin leads to a merge",
	verify.WorkSafe:    "no workspace or branch is removed before its work is safe",
	verify.Stoppable:   "a person can end a task wherever it is",
	verify.Reachable:   "every state and every edge can be reached",
}

// reportOf describes a report.
func reportOf(r verify.Report) *workflowReport {
	out := &workflowReport{OK: r.OK, Complete: r.Complete}
	out.Counts = fmt.Sprintf("%s states, %s transitions, %s decisions", chart.FormatGrouped(r.States), chart.FormatGrouped(r.Transitions), chart.FormatGrouped(r.Decisions))
	count := map[verify.Property]int{}
	for _, v := range r.Violations {
		count[v.Property]++
	}
	for _, name := range verify.Properties() {
		one := workflowProperty{Name: string(name), Means: propertyWords[name], Says: "not proved"}
		switch n := count[name]; {
		case n > 0:
			one.Says, one.Bad = "violated, "+humanize.Plural(n, "time"), true
		case r.Complete:
			one.Says, one.Good = "holds", true
		}
		out.Properties = append(out.Properties, one)
	}
	out.Bounds = fmt.Sprintf("there are more than %s states: raise --max-states of orange workflow verify, or lower the bounds of the counters", chart.FormatGrouped(r.States))
	if r.Complete {
		out.Bounds = describeBounds(r.Bounds)
	}
	for i, v := range r.Violations {
		one := workflowViolation{Number: i + 1, Property: string(v.Property), About: ansi.OneLine(v.Message)}
		for _, st := range v.Trace {
			step := workflowStep{Move: st.To, What: ansi.OneLine(st.What)}
			if st.From != st.To {
				step.Move = st.From + " → " + st.To
			}
			if st.Refused {
				step.Refused = ansi.OneLine(st.Why)
			}
			one.Steps = append(one.Steps, step)
		}
		out.Violations = append(out.Violations, one)
	}
	return out
}

// describeBounds describes the worst case if no person intervenes.
func describeBounds(b verify.Bounds) string {
	if b.Unbounded {
		return "no bound, see terminates"
	}
	var out []string
	for _, a := range b.Attempts {
		out = append(out, humanize.Plural(a.Max, a.Name+" attempt"))
	}
	crashes := fmt.Sprintf("%d crashes", b.Crashes)
	if b.Crashes == 1 {
		crashes = "1 crash"
	}
	out = append(out, crashes, humanize.Plural(b.Moves, "move"))
	for _, c := range b.Counters {
		out = append(out, fmt.Sprintf("%s up to %d", c.Name, c.Max))
	}
	return strings.Join(out, ", ")
}

// A workflowPlay is the result of a simulation.
type workflowPlay struct {
	Runs    int
	Seed    uint64
	Drawing template.HTML
	Figures [][4]string // name, P50, P95, mean
	Ends    [][2]string
	Stays   [][3]string // state, mean, share
}

// playOf returns the drawing and the tables of a simulation.
func playOf(def *workflow.Definition, result simulate.Result, runs int, seed uint64) *workflowPlay {
	sum := result.Summary(def)
	c := chart.Simulation{Workflow: def.Name, Runs: runs, Seed: seed, Variants: []chart.Variant{{Result: result, Summary: sum}}}
	out := &workflowPlay{Runs: runs, Seed: seed, Drawing: template.HTML(c.InlineSVG())} //nolint:gosec // made and escaped by us
	for _, f := range sum.Figures {
		out.Figures = append(out.Figures, [4]string{f.Name, chart.FormatQuantity(f.P50, f.Unit, false), chart.FormatQuantity(f.P95, f.Unit, false), chart.FormatQuantity(f.Mean, f.Unit, true)})
	}
	for _, e := range sum.Ends {
		out.Ends = append(out.Ends, [2]string{"end in " + e.State, chart.FormatPercent(e.Share)})
	}
	out.Ends = append(out.Ends, [2]string{"do not end in time", chart.FormatPercent(sum.Unfinished)}, [2]string{"were ever stuck", chart.FormatPercent(sum.Stuck)})
	for _, st := range sum.States {
		out.Stays = append(out.Stays, [3]string{st.State, chart.FormatDuration(st.Mean), chart.FormatPercent(st.Share)})
	}
	return out
}

// Count returns the number of a step, counted from 1.
func (p *workflowPage) Count(i int) int { return i + 1 }
