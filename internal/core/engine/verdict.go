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
	for _, e := range x.requestedEdges() {
		if x.checkSpeaker(e) {
			section, _ := def.AsksForVerdict(e, sig.Arg)
			return section
		}
	}
	return ""
}

// verdictFits says whether the edge is one that the request's verdict may take.
func (d *decider) verdictFits(e *workflow.Edge) bool {
	_, asks := d.def.AsksForVerdict(e, d.sig.Arg)
	return asks && e.PermitsActor(d.sig.Actor)
}

// refuseVerdict says who may give a verdict, and when.
func (d *decider) refuseVerdict() Verdict {
	var states, verdicts []string
	for i := range d.def.Edges {
		e := &d.def.Edges[i]
		for _, verdict := range [...]string{"PASS", "FAIL"} {
			if _, asks := d.def.AsksForVerdict(e, verdict); !asks || !e.AnswersTo(workflow.OnRequest, "") || !e.PermitsActor(d.sig.Actor) {
				continue
			}
			for _, from := range e.From {
				if !slices.Contains(states, from) {
					states = append(states, from)
				}
				if from == d.t.Status && !slices.Contains(verdicts, verdict) {
					verdicts = append(verdicts, verdict)
				}
			}
		}
	}
	_, role := d.def.RoleNamed(string(d.sig.Actor))
	switch {
	case !role:
		return d.refuse("a verdict is an agent's word: %s", d.ofPerson())
	case len(states) == 0:
		return d.refuse("no gate of workflow %s asks the %s for a verdict: say that its part is done with orange task complete", d.def.Name, d.sig.Actor)
	case len(verdicts) == 0:
		return d.refuse("the task is %s, and the %s gives a verdict when it is %s", d.t.Status, d.sig.Actor, strings.Join(states, " or "))
	}
	return d.refuse("%q is no verdict that %s asks for: say %s", d.sig.Arg, d.t.Status, strings.Join(verdicts, " or "))
}

// ofPerson lists the commands by which a person moves the task from where it is.
func (d *decider) ofPerson() string {
	var out []string
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		e := &d.def.Edges[i]
		if !e.AnswersTo(workflow.OnRequest, "") || !e.PermitsActor(task.Human) {
			continue
		}
		run := fmt.Sprintf("orange task update %s --status %s", d.t.ID, e.To)
		if !slices.Contains(out, run) {
			out = append(out, run)
		}
	}
	if len(out) == 0 {
		return "a person moves no task from " + d.t.Status
	}
	return "a person uses " + strings.Join(out, " or ")
}

// refuseReport says why a report by command moves nothing.
func (d *decider) refuseReport() Verdict {
	if _, role := d.def.RoleNamed(string(d.sig.Actor)); !role {
		return d.refuse("a report is an agent's word: %s", d.ofPerson())
	}
	if len(d.undone) > 0 {
		return d.refuse("the report moves nothing: %s", strings.Join(d.undone, "; "))
	}
	if r := nearestReason(d.reasons); r != nil {
		return d.refuse("the report moves nothing: %s", r.Text)
	}
	return d.refuse("the report is empty: name the outcome")
}
