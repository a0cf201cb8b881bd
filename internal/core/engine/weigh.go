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
	RuleWorkspace Rule = "workspace"
	RuleConfirm   Rule = "confirm" // of the runtime: a person must give a code back
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
	case RuleWorkspace:
		return 4
	}
	return 0
}

func (x *decider) note(e *workflow.Edge, rule Rule, ok bool, text string) bool {
	x.reasons = append(x.reasons, Reason{From: x.from(), To: e.To, Line: e.Pos.Line, Rule: rule, OK: ok, Text: text})
	return ok
}

// from is the state the task is in, as edges name it.
func (x *decider) from() string {
	if x.t.Seq == 0 {
		return workflow.New
	}
	return x.t.Status
}

// weigh says whether e opens to actor: first who asks, then the guard, then the
// gates. Each rule leaves a reason; the first that closes the edge ends it.
func (x *decider) weigh(e *workflow.Edge, actor task.Actor) bool {
	return x.permits(e, actor) && x.guard(e) && x.gates(e)
}

func (x *decider) permits(e *workflow.Edge, actor task.Actor) bool {
	switch {
	case actor == "" && len(e.By)+len(e.Confirm) > 0:
		return x.note(e, RuleActor, true, "anyone who may")
	case e.Permits(actor):
		return x.note(e, RuleActor, true, string(actor))
	case e.Asks(actor):
		return x.note(e, RuleActor, true, string(actor)+", if a person agrees")
	}
	return x.note(e, RuleActor, false, fmt.Sprintf("%s may not: it takes %s", orAnyone(actor), actorList(e)))
}

func (x *decider) guard(e *workflow.Edge) bool {
	if e.When == nil {
		return true
	}
	ok, err := e.When.Holds(x.environment())
	switch {
	case err != nil:
		return x.note(e, RuleGuard, false, err.Error())
	case ok:
		return x.note(e, RuleGuard, true, e.When.Source)
	}
	return x.note(e, RuleGuard, false, fmt.Sprintf("%s does not hold (%s)", e.When.Source, x.values(e.When)))
}

// environment is the record as guards see it.
func (x *decider) environment() workflow.Env {
	if x.env == nil {
		x.env = x.def.NewEnv()
		for i := range x.t.Counters {
			x.env[x.t.Counters[i].Name] = x.t.Counters[i].Value
		}
		x.env["return_to"] = x.t.ReturnTo
		x.env["children"] = len(x.sig.Children)
	}
	return x.env
}

func (x *decider) values(g *workflow.Guard) string {
	var b strings.Builder
	for i, name := range g.Names {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s = %v", name, x.environment()[name])
	}
	return b.String()
}

// gates weighs the evidence. Going back to where a waiting task came from needs none.
func (x *decider) gates(e *workflow.Edge) bool {
	if x.waived(e) {
		return x.note(e, RuleGate, true, "none needed on the way back")
	}
	for _, i := range x.def.EdgeGates(e) {
		g := &x.def.Gates[i]
		if g.HandsOver() {
			continue
		}
		ok, why := x.gate(g)
		if !x.note(e, RuleGate, ok, why) {
			x.reasons[len(x.reasons)-1].near = x.stale
			return false
		}
	}
	return x.handsOver(e)
}

func (x *decider) waived(e *workflow.Edge) bool {
	if len(e.Gates) == 0 || x.t.ReturnTo == "" || e.To != x.t.ReturnTo {
		return false
	}
	s, ok := x.def.State(x.t.Status)
	return ok && s.Returns
}

// gate says whether the evidence g asks for is there, and which line or fact says so.
func (x *decider) gate(g *workflow.Gate) (bool, string) {
	x.stale = false
	switch {
	case len(g.Children) > 0:
		return x.children(g)
	case x.sig.Workspace != "": // whatever an agent did there, it is not the task's work
		return false, x.sig.Workspace
	case g.File != "":
		return evidence(x.sig.Evidence, g.Fact(), "file "+g.File)
	case g.Fresh == workflow.FreshVisit && g.Evidence == workflow.Commits && x.t.Tip != "" && x.sig.Commit == x.t.Tip:
		return false, "nothing was committed since " + x.t.Status + " began: commit the work"
	case g.HandsOver() && g.Fresh != workflow.FreshVisit && !slices.ContainsFunc(x.sig.Evidence, func(e signal.Evidence) bool { return e.Name == g.Evidence }):
		return true, g.Evidence + ": nobody looked"
	case g.Evidence != "":
		return evidence(x.sig.Evidence, g.Evidence, g.Evidence)
	}
	if x.sig.Artifacts.Problem != "" {
		return false, "TASK.md cannot be read: " + x.sig.Artifacts.Problem
	}
	s, ok := taskfile.Find(x.sig.Artifacts.Sections, g.Section)
	if !ok {
		return false, fmt.Sprintf("TASK.md has no ## %s: write it, with %s", g.Section, wants(g))
	}
	if ok, why := content(g, &s); !ok {
		return false, why
	}
	if ok, why := x.fresh(g, &s); !ok || g.Verdict == "" {
		return ok, why
	}
	return x.own(g, &s)
}

func evidence(list []signal.Evidence, name, called string) (bool, string) {
	for _, e := range list {
		if e.Name == name {
			return e.Holds, called + ": " + e.Detail
		}
	}
	return false, called + ": nobody could tell"
}

// children says whether every child of the task is as far as the gate asks.
func (x *decider) children(g *workflow.Gate) (bool, string) {
	far := 0
	for _, c := range x.sig.Children {
		if slices.Contains(g.Children, c.Status) {
			far++
		}
	}
	n := len(x.sig.Children)
	if n == 0 {
		return false, "the task has no children: create one with --parent"
	}
	return far == n, fmt.Sprintf("%d of %d children are %s", far, n, strings.Join(g.Children, " or "))
}

func content(g *workflow.Gate, s *taskfile.Section) (bool, string) {
	if g.Verdict != "" {
		return verdict(g, s)
	}
	if len(g.AnyOf) == 0 {
		if s.Size == 0 {
			return false, fmt.Sprintf("## %s (line %d) is empty: write what was done", s.Name, s.Line)
		}
		return true, ""
	}
	for _, label := range g.AnyOf {
		if s.Has(label) {
			return true, ""
		}
	}
	return false, fmt.Sprintf("## %s (line %d) has nothing behind %s; add one such line", s.Name, s.Line, labels(g.AnyOf))
}

func verdict(g *workflow.Gate, s *taskfile.Section) (bool, string) {
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

// fresh keeps old text from opening a gate a second time.
func (x *decider) fresh(g *workflow.Gate, s *taskfile.Section) (bool, string) {
	var since string
	switch {
	case g.Fresh == workflow.FreshUnused && task.SumOf(x.t.Opened, g.Section) == s.Digest:
		since = "it is the text that opened a gate before"
	case g.Fresh == workflow.FreshVisit && task.SumOf(x.t.Seen, g.Section) == s.Digest:
		since = "it has not changed since " + x.t.Status + " began"
	default:
		return true, g.Title()
	}
	x.stale = true
	return false, fmt.Sprintf("## %s (line %d) is stale: %s; rewrite it, or add a line \"Round: %d\" if the text would be the same",
		s.Name, s.Line, since, x.t.Visit)
}

func wants(g *workflow.Gate) string {
	switch {
	case g.Verdict != "" && g.AnyWord:
		return g.Verdict + " in its first line"
	case g.Verdict != "":
		return "the first line \"Verdict: " + g.Verdict + "\""
	case len(g.AnyOf) > 0:
		return "a line " + labels(g.AnyOf)
	}
	return "some text"
}

func labels(list []string) string { return strings.Join(list, ": or ") + ":" }

func orAnyone(a task.Actor) string {
	if a == "" {
		return "anyone"
	}
	return string(a)
}

func actorList(e *workflow.Edge) string {
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
