package workflow

import (
	"fmt"
	"slices"
	"time"

	"orange/internal/core/task"
)

// The deadlines of a step.
const (
	stepWall = 2 * time.Hour
	stepIdle = 20 * time.Minute
)

// The counters of a step workflow.
const (
	stepCrashes = "crash_count"
	stepSilence = "no_answer"
	stepCount   = "steps"
)

// outputHeader are the fields that the frontmatter of a required output must have.
var outputHeader = [...]string{"enhancement", "agent", "task_id", "timestamp", "status"}

// compiler turns a step workflow into the definition that it stands for.
type compiler struct {
	f     *stepFile
	d     *Definition
	r     *reader
	bound int
	ready map[int]string      // by step: the state in which it waits for a person to start it
	told  map[string][]string // by role: its prompts
	check string              // the state that runs checks before the work is complete, "" if no code completes it
}

func (f *stepFile) compileInto(d *Definition, r *reader) {
	c := &compiler{f: f, d: d, r: r, bound: f.stepBound(), ready: map[int]string{}, told: map[string][]string{}}
	d.Name, d.Version, d.Describe, d.steps = f.name, 1, f.describe, f.stateNames()
	c.compileCounters()
	c.compileGates()
	c.compileStates()
	c.compilePrompts()
	c.compileBegin()
	for i := range f.steps {
		c.compileCodes(i)
	}
	c.compileFailures()
	c.compileResume()
	c.compileCancel()
	c.compileChecks()
}

func (c *compiler) compileCounters() {
	add := func(n Counter) {
		n.Pos, n.placeholder = c.f.pos, "{"+n.Name+"}"
		c.d.Counters = append(c.d.Counters, n)
	}
	add(Counter{Name: stepCrashes, Max: 2, PerState: true, Crashes: true})
	add(Counter{Name: stepSilence, Max: 3, PerState: true, Silence: true})
	if c.bound > 0 {
		add(Counter{Name: stepCount, Max: c.bound})
	}
}

// compileGates adds gates for the file that a step has to write, and for commits at the end.
func (c *compiler) compileGates() {
	if c.completes() {
		c.d.Gates = append(c.d.Gates,
			Gate{Name: stepCommitted, Evidence: Commits, Pos: c.f.pos}, Gate{Name: stepClean, Evidence: Clean, Pos: c.f.pos})
	}
	for i := range c.f.steps {
		if s := &c.f.steps[i]; len(c.outputGates(s)) > 0 {
			c.d.Gates = append(c.d.Gates, Gate{
				Name: outputGate(s), File: "enhancements/{enhancement_name}/" + s.role + "/required_output/" + s.output,
				Header: slices.Clone(outputHeader[:]), Pos: s.outputPos,
			})
		}
	}
}

// The gates of the codes that complete the work: everything is committed.
const (
	stepCommitted = "committed"
	stepClean     = "clean"
)

func outputGate(s *step) string { return s.state + "-output" }

func (c *compiler) compileStates() {
	c.addState(State{Name: stepPending, Kind: Queued, Pos: c.f.pos})
	taken := append(c.f.stateNames(), New, stepPending, stepHalted, stepComplete, stepCancelled)
	for i := range c.f.steps {
		s := &c.f.steps[i]
		if pos, waits := c.waitsForPerson(i); waits {
			c.ready[i] = uniqueName(s.state+"-ready", taken)
			taken = append(taken, c.ready[i])
			c.addState(State{Name: c.ready[i], Kind: HumanDo, Pos: pos})
		}
		c.addState(State{
			Name: s.state, Kind: Agent, Role: s.role, Wall: stepWall, Idle: stepIdle,
			Model: s.model, Input: s.input, Output: s.output, Pos: s.pos,
		})
	}
	c.addState(State{Name: stepHalted, Kind: Halt, Returns: true, Pos: c.f.pos})
	c.addState(State{Name: stepComplete, Kind: Terminal, OnEnter: []Effect{{Name: Push}, {Name: CreatePR}}, Pos: c.f.pos})
	c.addState(State{Name: stepCancelled, Kind: Terminal, Reopen: stepPending, Pos: c.f.pos})
	if c.completes() {
		c.check = uniqueName("checking", taken)
		c.addState(State{Name: c.check, Kind: CheckDo, Idle: stepIdle, Pos: c.f.pos})
	}
}

// completes reports whether a code completes the work.
func (c *compiler) completes() bool {
	return slices.ContainsFunc(c.f.steps, func(s step) bool {
		return slices.ContainsFunc(s.codes, func(t transition) bool { return t.to < 0 && t.endKind() == endsComplete })
	})
}

// compileChecks adds the edges of the checks that Orange runs before the work is complete. A failed check leads where the
// code TESTS_FAILED leads, if that is a step and a counter bounds the way; otherwise the task halts. The edges come last, so
// that the others keep their numbers.
func (c *compiler) compileChecks() {
	if c.check == "" {
		return
	}
	from, pos := []string{c.check}, c.f.pos
	c.addEdge(Edge{From: from, To: stepComplete, On: []Trigger{{Kind: OnCheck, Value: task.CheckPassed}}, Describe: "every check passed", Pos: pos})
	failed := Edge{From: from, To: stepHalted, On: []Trigger{{Kind: OnCheck, Value: task.CheckFailed}}, Describe: "a check failed", Pos: pos}
	if to, ok := c.repairStep(); ok {
		back := failed
		back.To, back.Count, back.When = to, c.stepCounts(), c.newGuard(pos, "%s < %d", stepCount, c.bound)
		failed.When = c.newGuard(pos, "%s >= %d", stepCount, c.bound)
		c.addEdge(back)
	}
	c.addEdge(failed)
	c.addEdge(Edge{
		From: []string{stepHalted}, To: c.check, On: []Trigger{requestTrigger()}, As: "resume", By: []task.Actor{task.Human},
		When: c.newGuard(pos, "return_to == %q", c.check), Describe: "the checks run again", Pos: pos,
	})
	c.addEdge(Edge{
		From: from, To: stepComplete, On: []Trigger{requestTrigger()}, As: "accept", By: []task.Actor{task.Human},
		Override: true, Describe: "go on without the checks", Pos: pos,
	})
}

// repairStep returns the step that works on failed tests, if the file names one and bounds how often.
func (c *compiler) repairStep() (state string, ok bool) {
	for i := range c.f.steps {
		for _, t := range c.f.steps[i].codes {
			if t.code == "TESTS_FAILED" && t.to >= 0 && t.auto && c.bound > 0 {
				return c.f.steps[t.to].state, true
			}
		}
	}
	return "", false
}

func (c *compiler) addState(s State) {
	s.Respawn = RespawnAuto
	c.d.States = append(c.d.States, s)
}

// waitsForPerson reports whether some code leads to the step and lets a person start it.
func (c *compiler) waitsForPerson(step int) (Pos, bool) {
	for i := range c.f.steps {
		for _, t := range c.f.steps[i].codes {
			if t.to == step && !t.auto {
				return t.pos, true
			}
		}
	}
	return Pos{}, false
}

// addEdge adds an edge that shares no slices with another.
func (c *compiler) addEdge(e Edge) {
	e.From, e.By, e.Count = slices.Clone(e.From), slices.Clone(e.By), slices.Clone(e.Count)
	c.d.Edges = append(c.d.Edges, e)
}

func (c *compiler) newGuard(pos Pos, format string, args ...any) *Guard {
	g, err := compileGuard(fmt.Sprintf(format, args...), c.d.NewEnv(), pos)
	if err != nil {
		c.r.failAt(pos, "%s: shorten the names of the agents", err)
	}
	return g
}

func requestTrigger() Trigger { return Trigger{Kind: OnRequest} }

// compileBegin adds the edges by which a task comes to its first step.
func (c *compiler) compileBegin() {
	first := &c.f.steps[0]
	everybody := []task.Actor{task.Human, task.Engine, task.Tracker}
	c.addEdge(Edge{From: []string{New}, To: stepPending, On: []Trigger{{Kind: OnCreate}}, By: everybody, Pos: first.pos})
	c.addEdge(Edge{
		From: []string{stepPending}, To: first.state, On: []Trigger{requestTrigger(), {Kind: OnReady}}, As: "complete", By: everybody,
		Count: c.stepCounts(), Do: []Effect{{Name: AcquireWorkspace}}, Pos: first.pos,
	})
	for i := range c.f.steps {
		if from, ok := c.ready[i]; ok {
			c.addEdge(Edge{
				From: []string{from}, To: c.f.steps[i].state, On: []Trigger{requestTrigger()}, As: "complete",
				By: []task.Actor{task.Human}, Describe: "a person starts the step", Pos: c.f.steps[i].pos,
			})
		}
	}
}

func (c *compiler) stepCounts() []CountOp {
	if c.bound == 0 {
		return nil
	}
	return []CountOp{{Counter: stepCount, Add: true, Value: 1}}
}

// compileCodes adds the edges of the codes of a step.
func (c *compiler) compileCodes(i int) {
	s := &c.f.steps[i]
	for _, t := range s.codes {
		e := Edge{
			From: []string{s.state}, On: []Trigger{{Kind: OnOutcome, Value: t.code}}, By: []task.Actor{task.Actor(s.role)},
			Describe: t.describe, Pos: t.pos,
		}
		switch {
		case t.to >= 0:
			c.goOn(e, s, t)
		case t.endKind() == endsHalt:
			e.To = stepHalted
			c.addEdge(e)
		default:
			e.To, e.Gates = c.check, append(c.outputGates(s), stepCommitted, stepClean)
			c.addEdge(e)
		}
	}
}

// goOn adds the edge to the next step, and the edge that replaces it at the bound.
func (c *compiler) goOn(e Edge, s *step, t transition) {
	next := e
	next.To, next.Gates, next.Count = c.f.steps[t.to].state, c.outputGates(s), c.stepCounts()
	if !t.auto {
		next.To = c.ready[t.to]
	}
	if c.bound == 0 {
		c.addEdge(next)
		return
	}
	next.When = c.newGuard(t.pos, "%s < %d", stepCount, c.bound)
	c.addEdge(next)
	e.To, e.When, e.Describe = stepHalted, c.newGuard(t.pos, "%s >= %d", stepCount, c.bound), fmt.Sprintf("%d steps were taken: a person looks", c.bound)
	c.addEdge(e)
}

// outputGates returns the gate of the codes that continue or complete the work, if there is
// one.
func (c *compiler) outputGates(s *step) []string {
	goesOn := func(t transition) bool { return t.to >= 0 || t.endKind() == endsComplete }
	if s.output == "" || !slices.ContainsFunc(s.codes, goesOn) {
		return nil
	}
	return []string{outputGate(s)}
}

// compileFailures adds the edges that stop a step: an undeclared code, crashes, silence, a
// person.
func (c *compiler) compileFailures() {
	for _, role := range c.f.agentNames() {
		var from []string
		var pos Pos
		for i := len(c.f.steps) - 1; i >= 0; i-- {
			if s := &c.f.steps[i]; s.role == role {
				from, pos = slices.Insert(from, 0, s.state), s.pos
			}
		}
		c.addEdge(Edge{
			From: from, To: stepHalted, On: []Trigger{{Kind: OnUnexpected}}, By: []task.Actor{task.Actor(role)},
			Describe: "a code that the step does not declare", Pos: pos,
		})
	}
	all := c.f.stateNames()
	c.addEdge(Edge{From: all, To: stepHalted, On: []Trigger{{Kind: OnCrashLimit}}, Pos: c.f.pos})
	c.addEdge(Edge{From: all, To: stepHalted, On: []Trigger{{Kind: OnSilence}}, Pos: c.f.pos})
	c.addEdge(Edge{From: all, To: stepHalted, On: []Trigger{requestTrigger()}, As: "stuck", By: []task.Actor{task.Human}, Pos: c.f.pos})
}

// compileResume adds the edges by which a person continues a halted task: by verb where it
// stopped, by state anywhere, or to its end.
func (c *compiler) compileResume() {
	var resets []CountOp
	if c.bound > 0 {
		resets = []CountOp{{Counter: stepCount}}
	}
	for i := range c.f.steps {
		s := &c.f.steps[i]
		stopped := fmt.Sprintf("return_to == %q", s.state)
		if i == 0 {
			stopped = fmt.Sprintf("return_to in [%q, \"\"]", s.state)
		}
		e := Edge{From: []string{stepHalted}, To: s.state, On: []Trigger{requestTrigger()}, By: []task.Actor{task.Human}, Count: resets, Pos: s.pos}
		back := e
		back.As, back.When, back.Describe = "resume", c.newGuard(s.pos, "%s", stopped), "back to the step that stopped"
		c.addEdge(back)
		if len(c.f.steps) > 1 {
			e.When = c.newGuard(s.pos, "not (%s)", stopped)
			c.addEdge(e)
		}
	}
	c.addEdge(Edge{
		From: []string{stepHalted}, To: stepComplete, On: []Trigger{requestTrigger()}, As: "accept", By: []task.Actor{task.Human},
		Override: true, Describe: "a person takes the work as it is", Pos: c.f.pos,
	})
}

func (c *compiler) compileCancel() {
	by := []task.Actor{task.Human, task.Tracker}
	e := Edge{From: []string{stepPending}, To: stepCancelled, On: []Trigger{requestTrigger()}, As: VerbCancel, By: by, Pos: c.f.pos}
	c.addEdge(e)
	e.From = nil
	for i := range c.d.States {
		if s := &c.d.States[i]; s.Kind != Queued && s.Kind != Terminal {
			e.From = append(e.From, s.Name)
		}
	}
	e.Do = []Effect{{Name: KillSession}, {Name: ReleaseWorkspace}}
	c.addEdge(e)
}
