package simulate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// runPlan is a workflow and a profile, prepared for many runs. Runs only read it.
type runPlan struct {
	def      *workflow.Definition
	states   []statePlan // in the order of def
	index    map[string]int
	roles    map[string]int
	delay    logNormal
	person   Person
	effects  EffectBehavior
	checks   CheckBehavior
	create   signal.Signal
	evidence []signal.Evidence // everything that a gate may require
	children []signal.Child    // of a task that waits for some: as many as guards require, all far enough
	free     []string
	begin    time.Time
	digests  []string
	maxTime  time.Duration
	maxSteps int

	checkTime logNormal
}

// statePlan is what agents and people may do in a state.
type statePlan struct {
	kind     workflow.Kind
	role     string
	roleAt   int
	respawn  workflow.Respawn
	behavior StateBehavior
	duration logNormal
	wait     logNormal
	tokens   logNormal
	price    float64 // of a token, in micro-dollars

	expectsReport bool     // an end without a report counts as no answer
	passes        []wayOut // what an agent does whose work succeeded
	fails         []wayOut // what an agent does whose verdict is FAIL, or whose report stops the work; nil if it gives none
	questions     []wayOut // to a person, or to another role
	giveUps       []wayOut

	finishes []wayOut // what a person does, best first
	changes  []wayOut
	cancels  []wayOut
}

// wayOut is one way to leave a state, with the text that opens its gates.
type wayOut struct {
	kind     signal.Kind // request, outcome or tracker; "" for none
	to       string
	verb     string
	word     string
	exits    bool // the agent's end may have the same meaning
	report   *signal.Report
	sections []taskfile.Section
}

// The identity of simulated tasks. Runs are independent of each other.
const (
	simulatedID      = task.ID("SimulatedSimulatedSim")
	simulatedProject = "simulated"
)

func newRunPlan(def *workflow.Definition, o RunOptions, checks task.Checks) (*runPlan, error) {
	if o.Profile.States == nil {
		o.Profile = DefaultProfile(def)
	}
	if err := o.Profile.checkAgainst(def); err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	p := &runPlan{
		def: def, index: map[string]int{}, roles: map[string]int{},
		delay: o.Profile.Human.Delay.toLogNormal(), person: o.Profile.Human, effects: o.Profile.Effects,
		free: []string{simulatedProject + "--1"}, begin: time.Unix(0, 0).UTC(), maxTime: o.MaxTime, maxSteps: o.MaxDecisions,
	}
	if p.maxTime <= 0 {
		p.maxTime = 30 * 24 * time.Hour
	}
	if p.maxSteps <= 0 {
		p.maxSteps = 10_000
	}
	for i := range 64 {
		p.digests = append(p.digests, fmt.Sprintf("simulated-%d", i))
	}
	for i := range def.States {
		if name := def.States[i].Name; def.WatchesBoard(name) {
			return nil, fmt.Errorf("a task of workflow %s leaves %s by how its card looks, and what agents do to a card cannot be guessed: use orange workflow verify", def.Name, name)
		}
	}
	p.findEvidence()
	for range def.MostChildren() {
		p.children = append(p.children, signal.Child{ID: "c", Status: def.FarthestChildState()})
	}
	for i := range def.Roles {
		p.roles[def.Roles[i].Name] = i
	}
	for i := range def.States {
		p.index[def.States[i].Name] = i
		p.states = append(p.states, p.planState(&def.States[i], o.Profile.States[def.States[i].Name]))
	}
	if c := o.Profile.Checks; c != nil {
		p.checks, p.checkTime = *c, c.Duration.toLogNormal()
	}
	return p, p.planCreation(checks)
}

// findEvidence collects everything that gates require besides sections.
func (p *runPlan) findEvidence() {
	names := workflow.EvidenceVocabulary()
	for i := range p.def.Gates {
		if name := p.def.Gates[i].FactName(); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		p.evidence = append(p.evidence, signal.Evidence{Name: name, Holds: true, Detail: "simulated"})
	}
}

// planCreation finds how a task is created, and returns an error if none can be.
func (p *runPlan) planCreation(checks task.Checks) error {
	p.create = signal.Signal{
		Kind: signal.Create, At: p.begin, Actor: task.Human, Free: p.free, Evidence: p.evidence,
		New: &signal.New{ID: simulatedID, Project: simulatedProject, Branch: simulatedProject, Summary: simulatedProject, Spawn: true, Checks: checks},
	}
	if first := p.def.EdgesFrom(workflow.New); len(first) > 0 {
		if e := &p.def.Edges[first[0]]; !e.PermitsActor(task.Human) && len(e.By) > 0 {
			p.create.Actor = e.By[0]
		}
	}
	if d := engine.Decide(p.def, &task.Task{}, p.create); d.Refused != "" {
		return fmt.Errorf("no task of workflow %s can begin: %s", p.def.Name, d.Refused)
	}
	return nil
}

func (p *runPlan) planState(s *workflow.State, h StateBehavior) statePlan {
	out := statePlan{
		kind: s.Kind, role: s.Role, roleAt: -1, respawn: s.Respawn, behavior: h,
		duration: h.Duration.toLogNormal(), wait: h.LimitWait.toLogNormal(),
		tokens: newLogNormal(h.Tokens.Median, h.Tokens.P95), price: h.Cost * 1e6 / 1000,
	}
	if at, ok := p.roles[s.Role]; ok && s.Role != "" {
		out.roleAt = at
		out.expectsReport = p.def.Roles[at].Protocol != ""
	}
	for _, i := range p.def.EdgesFrom(s.Name) {
		e := &p.def.Edges[i]
		if s.Kind == workflow.Agent {
			p.agentWay(&out, s, e)
		}
		p.personWay(&out, e)
	}
	p.completeVerdicts(&out, s)
	out.orderFinishes()
	return out
}

// agentWay classifies an edge by its meaning for the state's agent.
func (p *runPlan) agentWay(s *statePlan, in *workflow.State, e *workflow.Edge) {
	role := task.Actor(s.role)
	w := wayOut{exits: e.AnswersTo(workflow.OnExit, ""), sections: p.gateSections(e, "")}
	reported, asked := triggerValue(e, workflow.OnOutcome), triggerValue(e, workflow.OnConsult)
	switch {
	case e.AnswersTo(workflow.OnRequest, "") && (e.PermitsActor(role) || e.AsksForConsent(role)):
		w.kind, w.verb = signal.Request, e.As
		if w.verb == "" {
			w.to = e.To
		}
	case reported != "" && (len(e.By) == 0 || e.PermitsActor(role)):
		w.kind, w.word, w.report = signal.Outcome, reported, &signal.Report{Outcome: signal.Passed, Code: reported, Source: signal.FromMarker}
	case asked != "" && (len(e.By) == 0 || e.PermitsActor(role)):
		w.kind, w.report = signal.Outcome, &signal.Report{Outcome: signal.Passed, Code: "success", Source: signal.FromJSON, Consult: &signal.Consult{Role: asked}}
	case !w.exits:
		return
	}
	to, _ := p.def.StateNamed(e.To)
	verdict := p.gateVerdict(e)
	switch {
	case to.Kind == workflow.Waiting, asked != "":
		s.questions = append(s.questions, w)
	case w.word != "" && s.hasWord(w.word): // guards and gates may lead it elsewhere, with the same meaning
	case to.Kind == workflow.Halt && len(e.Gates) == 0 && w.kind != signal.Outcome:
		s.giveUps = append(s.giveUps, w)
	case verdict == "FAIL", w.kind == signal.Outcome && verdict == "" && p.stopsWork(s, in, e):
		s.fails = append(s.fails, w)
	default:
		s.passes = append(s.passes, w)
	}
}

// hasWord reports whether an agent already has a way with that code.
func (s *statePlan) hasWord(word string) bool {
	known := func(w wayOut) bool { return w.word == word }
	return slices.ContainsFunc(s.passes, known) || slices.ContainsFunc(s.fails, known)
}

// stopsWork reports whether a code stops progress: it holds the work, halts it or sends it
// back. The first code that does none of these is the one for successful work.
func (p *runPlan) stopsWork(s *statePlan, in *workflow.State, e *workflow.Edge) bool {
	place := func(name string) int {
		return slices.IndexFunc(p.def.States, func(x workflow.State) bool { return x.Name == name })
	}
	to, _ := p.def.StateNamed(e.To)
	return e.Hold || to.Kind == workflow.Halt || len(s.passes) > 0 && place(e.To) <= place(in.Name)
}

// completeVerdicts lets an agent that may give one verdict give the other one too: it then
// ends, and the engine decides.
func (p *runPlan) completeVerdicts(out *statePlan, s *workflow.State) {
	if s.Kind != workflow.Agent {
		return
	}
	for _, i := range p.def.EdgesFrom(s.Name) {
		e := &p.def.Edges[i]
		switch p.gateVerdict(e) {
		case "PASS":
			if len(out.fails) == 0 {
				out.fails = []wayOut{{exits: true, sections: p.gateSections(e, "FAIL")}}
			}
		case "FAIL":
			if len(out.passes) == 0 {
				out.passes = []wayOut{{exits: true, sections: p.gateSections(e, "PASS")}}
			}
		}
	}
}

// eventReporter returns the actor that reports an event.
func eventReporter(event string) task.Actor {
	if event == engine.ChildMoved {
		return task.Engine
	}
	return task.Tracker
}

// personWay classifies an edge by its meaning for a person.
func (p *runPlan) personWay(s *statePlan, e *workflow.Edge) {
	w := wayOut{sections: p.gateSections(e, "")}
	event := triggerValue(e, workflow.OnTracker)
	switch {
	case e.AnswersTo(workflow.OnRequest, "") && e.PermitsActor(task.Human):
		w.kind, w.verb = signal.Request, e.As
		if w.verb == "" {
			w.to = e.To
		}
	case event != "" && (len(e.By) == 0 || e.PermitsActor(eventReporter(event))):
		w.kind, w.word = signal.Tracker, event
	default:
		return
	}
	to, _ := p.def.StateNamed(e.To)
	switch {
	case e.As == "cancel":
		s.cancels = append(s.cancels, w)
	case s.kind == workflow.HumanDo && to.Kind == workflow.Agent && e.As != "complete", e.As == "request-changes":
		s.changes = append(s.changes, w)
	default:
		s.finishes = append(s.finishes, w)
	}
}

// orderFinishes orders what a person does: resume where work halted, then complete, then file
// order.
func (s *statePlan) orderFinishes() {
	for _, verb := range []string{"complete", "resume"} {
		if verb == "resume" && s.kind != workflow.Halt {
			continue
		}
		for i := range s.finishes {
			if s.finishes[i].verb == verb {
				w := s.finishes[i]
				copy(s.finishes[1:i+1], s.finishes[:i])
				s.finishes[0] = w
				break
			}
		}
	}
}

func triggerValue(e *workflow.Edge, kind workflow.TriggerKind) string {
	for i := range e.On {
		if e.On[i].Kind == kind {
			return e.On[i].Value
		}
	}
	return ""
}

func (p *runPlan) gateVerdict(e *workflow.Edge) string {
	for _, i := range p.def.EdgeGates(e) {
		if v := p.def.Gates[i].Verdict; v != "" {
			return v
		}
	}
	return ""
}

// gateSections returns the sections that the edge's gates require, as TASK.md and its parser
// give them. A verdict that is not "" replaces the one that would open the edge.
func (p *runPlan) gateSections(e *workflow.Edge, verdict string) []taskfile.Section {
	var names []string
	bodies := map[string]string{}
	for _, i := range p.def.EdgeGates(e) {
		g := &p.def.Gates[i]
		if g.Section == "" {
			continue
		}
		if _, ok := bodies[g.Section]; !ok {
			names = append(names, g.Section)
		}
		switch {
		case g.Verdict != "" && verdict != "":
			bodies[g.Section] = "Verdict: " + verdict + "\n\n" + bodies[g.Section]
		case g.Verdict != "":
			bodies[g.Section] = "Verdict: " + g.Verdict + "\n\n" + bodies[g.Section]
		case len(g.AnyOf) > 0:
			bodies[g.Section] += strings.Join(g.AnyOf, ": simulated\n") + ": simulated\n"
		default:
			bodies[g.Section] += "simulated\n"
		}
	}
	var text strings.Builder
	for _, name := range names {
		fmt.Fprintf(&text, "## %s\n\n%s\n", name, bodies[name])
	}
	doc, err := taskfile.Parse([]byte(text.String()))
	if err != nil {
		return nil // no text can open the gate, and the runs show it
	}
	return doc.Sections()
}

// textDigest returns the digest of the n-th text that a run writes.
func (p *runPlan) textDigest(n int) string {
	if n < len(p.digests) {
		return p.digests[n]
	}
	return fmt.Sprintf("simulated-%d", n)
}
