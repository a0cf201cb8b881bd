package engine

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// The verbs by which an agent says itself how it went: what it found, or an outcome.
const (
	VerbVerdict = "verdict" // Arg is PASS or FAIL
	VerbReport  = "report"
)

// VerdictSection is the section into which a verdict is to be written before the request
// that states it is decided, "" if the request will be refused.
func VerdictSection(def *workflow.Definition, t *task.Task, sig *signal.Signal) string {
	x := &decider{def: def, t: t, sig: sig}
	for _, e := range x.asked() {
		if x.speaks(e) {
			section, _ := def.AsksForVerdict(e, sig.Arg)
			return section
		}
	}
	return ""
}

// rules says whether the edge is one that the request's verdict may take.
func (x *decider) rules(e *workflow.Edge) bool {
	_, asks := x.def.AsksForVerdict(e, x.sig.Arg)
	return asks && e.Permits(x.sig.Actor)
}

// refuseVerdict says who may give a verdict, and when.
func (x *decider) refuseVerdict() Verdict {
	var states, verdicts []string
	for i := range x.def.Edges {
		e := &x.def.Edges[i]
		for _, verdict := range [...]string{"PASS", "FAIL"} {
			if _, asks := x.def.AsksForVerdict(e, verdict); !asks || !e.Answers(workflow.OnRequest, "") || !e.Permits(x.sig.Actor) {
				continue
			}
			for _, from := range e.From {
				if !slices.Contains(states, from) {
					states = append(states, from)
				}
				if from == x.t.Status && !slices.Contains(verdicts, verdict) {
					verdicts = append(verdicts, verdict)
				}
			}
		}
	}
	_, role := x.def.Role(string(x.sig.Actor))
	switch {
	case !role:
		return x.refuse("a verdict is an agent's word: %s", x.ofPerson())
	case len(states) == 0:
		return x.refuse("no gate of workflow %s asks the %s for a verdict: say that its part is done with orange task complete", x.def.Name, x.sig.Actor)
	case len(verdicts) == 0:
		return x.refuse("the task is %s, and the %s gives a verdict when it is %s", x.t.Status, x.sig.Actor, strings.Join(states, " or "))
	}
	return x.refuse("%q is no verdict that %s asks for: say %s", x.sig.Arg, x.t.Status, strings.Join(verdicts, " or "))
}

// ofPerson lists the commands by which a person moves the task from where it is.
func (x *decider) ofPerson() string {
	var out []string
	for _, i := range x.def.EdgesFrom(x.t.Status) {
		e := &x.def.Edges[i]
		if !e.Answers(workflow.OnRequest, "") || !e.Permits(task.Human) {
			continue
		}
		run := fmt.Sprintf("orange task update %s --status %s", x.t.ID, e.To)
		if !slices.Contains(out, run) {
			out = append(out, run)
		}
	}
	if len(out) == 0 {
		return "a person moves no task from " + x.t.Status
	}
	return "a person uses " + strings.Join(out, " or ")
}

// refuseReport says why a report by command moves nothing.
func (x *decider) refuseReport() Verdict {
	if _, role := x.def.Role(string(x.sig.Actor)); !role {
		return x.refuse("a report is an agent's word: %s", x.ofPerson())
	}
	if len(x.undone) > 0 {
		return x.refuse("the report moves nothing: %s", strings.Join(x.undone, "; "))
	}
	if r := nearest(x.reasons); r != nil {
		return x.refuse("the report moves nothing: %s", r.Text)
	}
	return x.refuse("the report is empty: name the outcome")
}
