package simulate

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"orange/internal/core/workflow"
)

// WhatIf returns the workflow with another max of a counter. Guards that compare the counter
// with its old max compare it with the new one. It changes the text in place, so that line
// numbers stay the same; changed is the number of places.
func WhatIf(def *workflow.Definition, counter string, limit int) (out *workflow.Definition, changed int, err error) {
	c, ok := def.CounterNamed(counter)
	if !ok {
		return nil, 0, fmt.Errorf("counter %q is not declared: workflow %s has %s", counter, def.Name, counterList(def))
	}
	if c.Max == limit {
		return def, 0, nil
	}
	e := boundEdit{def: def, counter: c, limit: limit, lines: strings.SplitAfter(def.Text, "\n")}
	if err := e.changeMax(); err != nil {
		return nil, 0, err
	}
	for i := range def.Edges {
		if err := e.changeGuard(&def.Edges[i]); err != nil {
			return nil, 0, err
		}
	}
	out, err = workflow.Parse(def.File, strings.Join(e.lines, ""))
	if err != nil {
		return nil, 0, fmt.Errorf("read the workflow with %s=%d: %w", counter, limit, err)
	}
	return out, e.changed, e.verifyEdit(out)
}

// boundEdit changes the text of a workflow.
type boundEdit struct {
	def     *workflow.Definition
	counter *workflow.Counter
	limit   int
	lines   []string // with line endings
	changed int
}

// changeMax changes the bound in the counter's declaration.
func (e *boundEdit) changeMax() error {
	old := regexp.MustCompile(`(["']?\bmax\b["']?\s*:\s*["']?)` + strconv.Itoa(e.counter.Max) + `\b`)
	first, from := e.counter.Pos.Line-1, e.counter.Pos.Column-1
	for i := first; i >= 0 && i < min(first+12, len(e.lines)); i++ {
		line := e.lines[i]
		if i != first || from > len(line) {
			from = 0
		}
		if at := old.FindStringSubmatchIndex(line[from:]); at != nil {
			e.lines[i] = line[:from+at[3]] + strconv.Itoa(e.limit) + line[from+at[1]:]
			e.changed++
			return nil
		}
	}
	return fmt.Errorf("the max of counter %s is not found near %s:%d: write it as max: %d", e.counter.Name, e.def.File, e.counter.Pos.Line, e.counter.Max)
}

// changeGuard changes the value with which an edge compares the counter.
func (e *boundEdit) changeGuard(edge *workflow.Edge) error {
	if edge.When == nil {
		return nil
	}
	source := e.replaceBound(edge.When.Source)
	if source == edge.When.Source {
		return nil
	}
	at := edge.When.Pos.Line - 1
	old := regexp.MustCompile(`(\bwhen\b["']?\s*:\s*["']?)` + regexp.QuoteMeta(edge.When.Source))
	if at >= len(e.lines) || !old.MatchString(e.lines[at]) {
		if at < len(e.lines) && strings.Contains(e.lines[at], source) {
			return nil // another edge on the same line has the same guard
		}
		return fmt.Errorf("%s:%d: the guard %q is not written on one line: write it on one line, then try again", e.def.File, edge.When.Pos.Line, edge.When.Source)
	}
	e.lines[at] = old.ReplaceAllString(e.lines[at], "${1}"+strings.ReplaceAll(source, "$", "$$"))
	e.changed++
	return nil
}

// replaceBound returns a guard's source with the new bound.
func (e *boundEdit) replaceBound(source string) string {
	name, old, limit := regexp.QuoteMeta(e.counter.Name), strconv.Itoa(e.counter.Max), strconv.Itoa(e.limit)
	after := regexp.MustCompile(`(\b` + name + `\s*(?:<=|>=|==|!=|<|>)\s*)` + old + `\b`)
	before := regexp.MustCompile(`\b` + old + `(\s*(?:<=|>=|==|!=|<|>)\s*` + name + `\b)`)
	return before.ReplaceAllString(after.ReplaceAllString(source, "${1}"+limit), limit+"${1}")
}

// verifyEdit returns an error unless the text changed exactly where it should.
func (e *boundEdit) verifyEdit(out *workflow.Definition) error {
	same := len(out.Counters) == len(e.def.Counters) && len(out.Edges) == len(e.def.Edges)
	for i := 0; same && i < len(out.Counters); i++ {
		want := e.def.Counters[i].Max
		if e.def.Counters[i].Name == e.counter.Name {
			want = e.limit
		}
		same = out.Counters[i].Max == want
	}
	for i := 0; same && i < len(out.Edges); i++ {
		if was := e.def.Edges[i].When; was != nil {
			same = out.Edges[i].When != nil && out.Edges[i].When.Source == e.replaceBound(was.Source)
		}
	}
	if !same {
		return fmt.Errorf("the text of %s cannot be changed safely: give the counter %s and its guards separate lines", e.def.File, e.counter.Name)
	}
	return nil
}

func counterList(def *workflow.Definition) string {
	def = def.ForTask(nil)
	if len(def.Counters) == 0 {
		return "none"
	}
	names := make([]string, len(def.Counters))
	for i := range def.Counters {
		names[i] = def.Counters[i].Name
	}
	return strings.Join(names, ", ")
}
