package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// Rule names what was weighed.
type Rule string

// The rules, in the order in which they are weighed.
const (
	RuleEdge      Rule = "edge"
	RuleActor     Rule = "actor"
	RuleGuard     Rule = "guard"
	RuleGate      Rule = "gate"
	RuleAfter     Rule = "after" // a task that this one is after has not landed
	RuleWorkspace Rule = "workspace"
	RuleConfirm   Rule = "confirm" // of the runtime: a person must enter a code
)

// A Reason is one rule weighed for one edge.
type Reason struct {
	From string `json:"from"`
	To   string `json:"to"`
	Line int    `json:"line,omitempty"` // in the workflow file
	Rule Rule   `json:"rule"`
	OK   bool   `json:"ok"`
	Text string `json:"text"`

	side bool // about committed work: not what opens an edge, if anything else does
	near bool // only the age or the origin of the text keeps it closed
}

func (r Reason) String() string {
	mark := "closed"
	if r.OK {
		mark = "open"
	}
	return fmt.Sprintf("%s -> %s: %s %s: %s", r.From, r.To, r.Rule, mark, r.Text)
}

// depth orders rules by how far an edge came before it closed.
func (r Rule) depth() int {
	switch r {
	case RuleActor:
		return 1
	case RuleGuard:
		return 2
	case RuleGate:
		return 3
	case RuleAfter:
		return 4
	case RuleWorkspace:
		return 5
	}
	return 0
}

func (d *decider) addReason(e *workflow.Edge, rule Rule, ok bool, text string) bool {
	d.reasons = append(d.reasons, Reason{From: d.fromState(), To: e.To, Line: e.Pos.Line, Rule: rule, OK: ok, Text: text})
	return ok
}

// fromState returns the task's state, as edges name it.
func (d *decider) fromState() string {
	if d.t.Seq == 0 {
		return workflow.New
	}
	return d.t.Status
}

// weighEdge reports whether e opens for actor. It weighs the actor, then the guard, then the gates. Each rule adds a
// reason; the first that closes the edge is the last.
func (d *decider) weighEdge(e *workflow.Edge, actor task.Actor) bool {
	return d.checkActor(e, actor) && d.checkGuard(e) && d.checkGates(e)
}

func (d *decider) checkActor(e *workflow.Edge, actor task.Actor) bool {
	switch {
	case actor == "" && len(e.By)+len(e.Confirm) > 0:
		return d.addReason(e, RuleActor, true, "anyone who may")
	case e.PermitsActor(actor):
		return d.addReason(e, RuleActor, true, string(actor))
	case e.AsksForConsent(actor):
		return d.addReason(e, RuleActor, true, string(actor)+", if a person agrees")
	}
	return d.addReason(e, RuleActor, false, fmt.Sprintf("%s may not: it takes %s", orAnyone(actor), ActorList(e)))
}

func (d *decider) checkGuard(e *workflow.Edge) bool {
	if e.When == nil {
		return true
	}
	ok, err := e.When.Holds(d.guardEnv())
	switch {
	case err != nil:
		return d.addReason(e, RuleGuard, false, err.Error())
	case ok:
		return d.addReason(e, RuleGuard, true, e.When.Source)
	}
	return d.addReason(e, RuleGuard, false, fmt.Sprintf("%s does not hold (%s)", e.When.Source, d.describeValues(e.When)))
}

// guardEnv returns the record as guards see it.
func (d *decider) guardEnv() workflow.Env {
	if d.env == nil {
		d.env = d.def.NewEnv()
		for i := range d.t.Counters {
			d.env[d.t.Counters[i].Name] = d.t.Counters[i].Value
		}
		d.env["return_to"] = d.t.ReturnTo
		d.env["children"] = len(d.sig.Children)
	}
	return d.env
}

func (d *decider) describeValues(g *workflow.Guard) string {
	var b strings.Builder
	for i, name := range g.Names {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s = %v", name, d.guardEnv()[name])
	}
	return b.String()
}

// checkGates weighs the evidence. The return of a waiting task to its previous state needs none.
func (d *decider) checkGates(e *workflow.Edge) bool {
	if d.gatesWaived(e) {
		return d.addReason(e, RuleGate, true, "none needed on the way back")
	}
	for _, i := range d.def.EdgeGates(e) {
		g := &d.def.Gates[i]
		if g.HandsOver() {
			continue
		}
		ok, why := d.checkGate(g)
		if !d.addReason(e, RuleGate, ok, why) {
			d.reasons[len(d.reasons)-1].near = d.stale
			return false
		}
	}
	return d.handsOver(e)
}

func (d *decider) gatesWaived(e *workflow.Edge) bool {
	if len(e.Gates) == 0 || d.t.ReturnTo == "" || e.To != d.t.ReturnTo {
		return false
	}
	s, ok := d.def.StateNamed(d.t.Status)
	return ok && s.Returns
}

// checkGate reports whether the evidence that g requires exists, and which line or fact shows it.
func (d *decider) checkGate(g *workflow.Gate) (bool, string) {
	d.stale = false
	switch {
	case len(g.Children) > 0:
		return d.checkChildren(g)
	case d.sig.Workspace != "": // an agent's changes there are not the task's work
		return false, d.sig.Workspace
	case g.File != "":
		return findEvidence(d.sig.Evidence, g.FactName(), "file "+g.File)
	case g.Fresh == workflow.FreshVisit && g.Evidence == workflow.Commits && d.t.EntryCommit != "" && d.sig.Commit == d.t.EntryCommit:
		return false, "nothing was committed since " + d.t.Status + " began: commit the work"
	case g.HandsOver() && g.Fresh != workflow.FreshVisit && !slices.ContainsFunc(d.sig.Evidence, func(e signal.Evidence) bool { return e.Name == g.Evidence }):
		return true, unknownHandover[g.Evidence]
	case g.Check != "":
		return findEvidence(d.sig.Evidence, g.FactName(), "check "+g.Check)
	case g.Evidence != "":
		return findEvidence(d.sig.Evidence, g.Evidence, g.Evidence)
	}
	if d.sig.Artifacts.Problem != "" {
		return false, "TASK.md cannot be read: " + d.sig.Artifacts.Problem
	}
	s, ok := taskfile.FindSection(d.sig.Artifacts.Sections, g.Section)
	if !ok {
		return false, fmt.Sprintf("TASK.md has no ## %s: write it, with %s", g.Section, describeNeed(g))
	}
	if ok, why := checkContent(g, &s); !ok {
		return false, why
	}
	if ok, why := d.checkFreshness(g, &s); !ok || g.Verdict == "" {
		return ok, why
	}
	return d.isOwnVerdict(g, &s)
}

// unknownHandover is the text for evidence that a signal lacks, as signals of old journals do.
var unknownHandover = map[string]string{
	workflow.Commits: workflow.Commits + ": nobody looked",
	workflow.Clean:   workflow.Clean + ": nobody looked",
}

func findEvidence(list []signal.Evidence, name, called string) (bool, string) {
	for _, e := range list {
		if e.Name == name {
			return e.Holds, called + ": " + e.Detail
		}
	}
	return false, called + ": nobody could tell"
}

// checkChildren reports whether every child of the task is as far as the gate requires.
func (d *decider) checkChildren(g *workflow.Gate) (bool, string) {
	far := 0
	for _, c := range d.sig.Children {
		if slices.Contains(g.Children, c.Status) {
			far++
		}
	}
	n := len(d.sig.Children)
	if n == 0 {
		return false, "the task has no children: create one with --parent"
	}
	return far == n, fmt.Sprintf("%d of %d children are %s", far, n, strings.Join(g.Children, " or "))
}

func checkContent(g *workflow.Gate, s *taskfile.Section) (bool, string) {
	if g.Verdict != "" {
		return checkVerdict(g, s)
	}
	if len(g.AnyOf) == 0 {
		if s.Size == 0 {
			return false, fmt.Sprintf("## %s (line %d) is empty: write what was done", s.Name, s.Line)
		}
		return true, ""
	}
	for _, label := range g.AnyOf {
		if s.HasLabel(label) {
			return true, ""
		}
	}
	return false, fmt.Sprintf("## %s (line %d) has nothing behind %s; add one such line", s.Name, s.Line, joinLabels(g.AnyOf))
}

func checkVerdict(g *workflow.Gate, s *taskfile.Section) (bool, string) {
	got, line, why := s.Verdict()
	if g.AnyWord {
		got, line, why = s.WordVerdict()
	}
	switch {
	case got == "":
		return false, fmt.Sprintf("## %s (line %d) has no verdict: %s", s.Name, s.Line, why)
	case got != g.Verdict:
		return false, "## " + s.Name + " says " + got + " on line " + strconv.Itoa(line) + ", and this needs " + g.Verdict
	}
	return true, ""
}

// checkFreshness prevents old text from opening a gate a second time.
func (d *decider) checkFreshness(g *workflow.Gate, s *taskfile.Section) (bool, string) {
	var since string
	switch {
	case g.Fresh == workflow.FreshUnused && task.SumOf(d.t.Opened, g.Section) == s.Digest:
		since = "it is the text that opened a gate before"
	case g.Fresh == workflow.FreshVisit && task.SumOf(d.t.Seen, g.Section) == s.Digest:
		since = "it has not changed since " + d.t.Status + " began"
	default:
		return true, g.SectionTitle()
	}
	d.stale = true
	return false, fmt.Sprintf("## %s (line %d) is stale: %s; rewrite it, or add a line \"Round: %d\" if the text would be the same",
		s.Name, s.Line, since, d.t.Visit)
}

func describeNeed(g *workflow.Gate) string {
	switch {
	case g.Verdict != "" && g.AnyWord:
		return g.Verdict + " in its first line"
	case g.Verdict != "":
		return "the first line \"Verdict: " + g.Verdict + "\""
	case len(g.AnyOf) > 0:
		return "a line " + joinLabels(g.AnyOf)
	}
	return "some text"
}

func joinLabels(list []string) string { return strings.Join(list, ": or ") + ":" }

func orAnyone(a task.Actor) string {
	if a == "" {
		return "anyone"
	}
	return string(a)
}

// ActorList names who may request an edge.
func ActorList(e *workflow.Edge) string {
	if len(e.By)+len(e.Confirm) == 0 {
		return "the engine itself"
	}
	words := make([]string, 0, len(e.By)+len(e.Confirm))
	for _, a := range e.By {
		words = append(words, string(a))
	}
	for _, a := range e.Confirm {
		words = append(words, string(a)+" (if a person agrees)")
	}
	return strings.Join(words, ", ")
}
