package engine

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// The verbs by which an agent reports its own result: a verdict, or an outcome.
const (
	VerbVerdict = "verdict" // Arg is PASS or FAIL
	VerbReport  = "report"
)

// VerdictSection returns the section into which a verdict must be written before the request that states it is decided,
// or "" if the request will be refused.
func VerdictSection(def *workflow.Definition, t *task.Task, sig *signal.Signal) string {
	d := &decider{def: def, t: t, sig: sig}
	for _, e := range d.requestedEdges() {
		if d.checkRequester(e) {
			section, _ := def.AsksForVerdict(e, sig.Arg)
			return section
		}
	}
	return ""
}

// verdictFits reports whether the request's verdict may take the edge.
func (d *decider) verdictFits(e *workflow.Edge) bool {
	_, asks := d.def.AsksForVerdict(e, d.sig.Arg)
	return asks && e.PermitsActor(d.sig.Actor)
}

// refuseVerdict refuses a verdict, and says who may give one and when.
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
		return d.refuse("only an agent may give a verdict: %s", d.personCommands())
	case len(states) == 0:
		return d.refuse("no gate of workflow %s asks the %s for a verdict: say that its part is done with orange task complete", d.def.Name, d.sig.Actor)
	case len(verdicts) == 0:
		return d.refuse("the task is %s, and the %s gives a verdict when it is %s", d.t.Status, d.sig.Actor, strings.Join(states, " or "))
	}
	return d.refuse("%q is not a verdict that %s accepts: use %s", d.sig.Arg, d.t.Status, strings.Join(verdicts, " or "))
}

// personCommands lists the commands by which a person moves the task from its state.
func (d *decider) personCommands() string {
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
		return "a person cannot move the task from " + d.t.Status
	}
	return "a person uses " + strings.Join(out, " or ")
}

// refuseReport refuses a report by command, and says why it moves nothing.
func (d *decider) refuseReport() Verdict {
	if _, role := d.def.RoleNamed(string(d.sig.Actor)); !role {
		return d.refuse("only an agent may report: %s", d.personCommands())
	}
	if len(d.undone) > 0 {
		return d.refuse("the report moves nothing: %s", strings.Join(d.undone, "; "))
	}
	if r := nearestReason(d.reasons); r != nil {
		return d.refuse("the report moves nothing: %s", r.Text)
	}
	return d.refuse("the report is empty: name the outcome")
}
