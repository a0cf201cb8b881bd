package workflow

import (
	"cmp"
	"fmt"
	"orange/internal/view/humanize"
	"slices"
	"strings"
)

// The rules that Check applies to a workflow file. Their names are stable, because people use
// them in reviews and scripts.
const (
	RuleTerminalEdge   = "terminal-edge"   // an edge leaves a terminal state
	RuleOverlap        = "overlap"         // two edges can open for the same signal
	RuleExitUncovered  = "exit-uncovered"  // an agent can end in a way for which there is no edge
	RuleNoDeadline     = "no-deadline"     // an agent may take forever
	RuleIdleAboveWall  = "idle-above-wall" // the idle time can never pass
	RulePromptEdge     = "prompt-edge"     // a prompt asks for a move that its reader may not make
	RulePromptUnused   = "prompt-unused"   // no agent gets the prompt
	RuleNoEntry        = "no-entry"        // no task can begin
	RuleUnreachable    = "unreachable"     // no task reaches the state
	RuleDeadEnd        = "dead-end"        // no task that reaches the state ever ends
	RuleNobody         = "nobody"          // nobody may take the edge
	RuleCounterUnused  = "counter-unused"  // nothing uses the counter
	RuleCounterBound   = "counter-bound"   // a counter is set above its max
	RuleGateUnused     = "gate-unused"     // no edge has the gate
	RuleRoleUnused     = "role-unused"     // nothing starts the role
	RuleQueueExit      = "queue-exit"      // a queue that no task can leave
	RuleTriggerIgnored = "trigger-ignored" // the edge waits for something that cannot happen there
	RuleGuardNever     = "guard-never"     // the guard holds for no value
	RuleGateGiven      = "gate-given"      // a gate requires text that no agent writes as its work
	RuleOutcomeCode    = "outcome-code"    // no agent that is asked can report the code
	RuleCheckUncovered = "check-uncovered" // a check can end in a way for which there is no edge
	RuleCheckUnbounded = "check-unbounded" // checks can fail forever

	RuleLandingUncovered = "landing-uncovered" // a landing can end in a way for which there is no edge
	RuleLandingUnbounded = "landing-unbounded" // landings can fail forever
)

// The rules below give advice: the file works, but something in it is probably a mistake.
const (
	RuleGateUntold      = "gate-untold"      // a gate requires text that its author is not told to write
	RuleJudgesOwnWork   = "judges-own-work"  // the author of the work may give the verdict on it
	RuleTwoWriters      = "two-writers"      // two roles change the same worktree at the same time
	RuleAgentDecides    = "agent-decides"    // an agent may leave a state in which a person decides
	RuleTagKept         = "tag-kept"         // one tag of a person decides several times
	RuleRoleUnheard     = "role-unheard"     // no agent of the role lives where the edge begins
	RuleAgentUntold     = "agent-untold"     // a living agent does not learn why its turn has come
	RuleEventUnheard    = "event-unheard"    // the actor that reports the event may not take the edge
	RuleHarnessUnknown  = "harness-unknown"  // a role names an agent that Orange does not know
	RuleVariableUnknown = "variable-unknown" // a prompt uses a variable that the file does not declare
)

// A Level is the severity of a finding.
type Level string

// The levels of findings.
const (
	LevelError  Level = "error"  // no task may be created with the file
	LevelAdvice Level = "advice" // the file may be used
)

// A Finding is something in a workflow file that is valid but wrong. A file with findings can
// be read and drawn.
type Finding struct {
	File    string `json:"file"`
	Rule    string `json:"rule"`
	Level   Level  `json:"level"`
	Message string `json:"message"` // ends with what to do
	Pos     Pos    `json:"pos"`
}

func (f Finding) String() string {
	message := f.Message
	if f.Level == LevelAdvice {
		message = string(LevelAdvice) + ": " + message
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s", f.File, f.Pos.Line, f.Pos.Column, f.Rule, message)
}

// ErrorFindings returns the findings that prevent the creation of a task.
func ErrorFindings(found []Finding) []Finding {
	var out []Finding
	for _, f := range found {
		if f.Level == LevelError {
			out = append(out, f)
		}
	}
	return out
}

// Check applies every rule to a definition that Parse accepted. It returns findings in file
// order.
func (d *Definition) Check() []Finding {
	c := &checker{d: d, budget: maxEvaluations}
	c.checkStates()
	c.checkEdges()
	c.checkCheckStates()
	c.checkLandings()
	c.checkPaths()
	c.checkGuards()
	c.checkPrompts()
	c.checkUnused()
	c.checkGates()
	c.checkOutcomes()
	c.checkEvidence()
	c.checkActors()
	c.checkHarnesses()
	c.checkAgents()
	if d.unchecked != nil { // agents before and behind a check are beside each other
		u := &checker{d: d.unchecked, budget: maxEvaluations}
		u.checkAgents()
		for _, f := range u.found {
			if !slices.Contains(c.found, f) {
				c.found = append(c.found, f)
			}
		}
	}
	c.personTags()
	slices.SortStableFunc(c.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
	return c.found
}

// checker is one run of Check.
type checker struct {
	d      *Definition
	found  []Finding
	budget int                 // guard evaluations left
	told   map[string][]string // by role: the texts of its prompts
}

func (c *checker) reportError(rule string, pos Pos, format string, args ...any) {
	c.addFinding(LevelError, rule, pos, format, args...)
}

func (c *checker) addAdvice(rule string, pos Pos, format string, args ...any) {
	c.addFinding(LevelAdvice, rule, pos, format, args...)
}

func (c *checker) addFinding(level Level, rule string, pos Pos, format string, args ...any) {
	f := Finding{File: cmp.Or(pos.File, c.d.File), Rule: rule, Level: level, Pos: pos, Message: humanize.OneLine(fmt.Sprintf(format, args...))}
	if !slices.Contains(c.found, f) {
		c.found = append(c.found, f)
	}
}

// checkStates checks each state by itself.
func (c *checker) checkStates() {
	for i := range c.d.States {
		s := &c.d.States[i]
		if s.Kind == Agent && s.Wall == 0 {
			c.reportError(RuleNoDeadline, s.Pos, "state %s has an agent and no time limit: add deadline: {wall: 1h}", s.Name)
		}
		if s.Wall > 0 && s.Idle > s.Wall {
			c.reportError(RuleIdleAboveWall, s.Pos, "state %s: idle %s is longer than wall %s and never passes: make it shorter", s.Name, s.Idle, s.Wall)
		}
		if s.Kind == Queued && !c.d.hasTriggerFrom(s.Name, OnReady) {
			c.reportError(RuleQueueExit, s.Pos, "state %s is a queue and no edge from it has on: ready: add one, or choose another kind", s.Name)
		}
	}
}

// checkGates finds gates that require a section which agents only read: people, trackers and
// Orange itself write those.
func (c *checker) checkGates() {
	for i := range c.d.Gates {
		g := &c.d.Gates[i]
		for _, name := range givenSections {
			if strings.EqualFold(strings.Join(strings.Fields(g.Section), " "), name) {
				c.reportError(RuleGateGiven, g.Pos, "gate %s asks for ## %s, which tells agents something and is no work of theirs: name a section that the agent writes, such as Plan or Handoff", g.Name, g.Section)
			}
		}
	}
}

// checkEdges checks each edge by itself.
func (c *checker) checkEdges() {
	for i := range c.d.Edges {
		e := &c.d.Edges[i]
		for _, from := range e.From {
			c.checkLeaving(e, from)
		}
		c.checkRequesters(e)
		c.uselessTriggers(e)
		for _, op := range e.Count {
			if bound, ok := c.d.CounterNamed(op.Counter); ok && op.Value > bound.Max {
				c.reportError(RuleCounterBound, e.Pos, "edge %s: count %s: %d is above its max of %d: count less, or raise max", e.edgeTitle(), op.Counter, op.Value, bound.Max)
			}
		}
	}
}

func (c *checker) checkLeaving(e *Edge, from string) {
	s, ok := c.d.StateNamed(from)
	switch {
	case !ok:
	case s.Kind == Terminal:
		c.reportError(RuleTerminalEdge, e.Pos, "edge %s -> %s leaves a terminal state: drop it, or write reopen: %s on state %s", from, e.To, e.To, from)
	case !slices.ContainsFunc(e.On, func(t Trigger) bool { return happensIn(s.Kind, t.Kind) }):
		c.reportError(RuleTriggerIgnored, e.Pos, "edge %s -> %s waits for %s, which never happens in a state of kind %s: drop it, or change on:",
			from, e.To, e.describeTriggers(), s.Kind)
	}
}

// uselessTriggers finds triggers of an edge that never happen in any of its states.
func (c *checker) uselessTriggers(e *Edge) {
	happens := func(t Trigger) bool {
		return slices.ContainsFunc(e.From, func(from string) bool {
			s, ok := c.d.StateNamed(from)
			return !ok || happensIn(s.Kind, t.Kind)
		})
	}
	for _, t := range e.On {
		if !happens(t) && slices.ContainsFunc(e.On, happens) {
			c.addAdvice(RuleTriggerIgnored, e.Pos, "edge %s waits for %s too, which never happens there: drop it from on:", e.edgeTitle(), t.Kind)
		}
	}
}

// happensIn reports whether the engine ever looks for edges with such a trigger in a state of
// kind k.
func happensIn(k Kind, t TriggerKind) bool {
	switch t {
	case OnExit, OnCrashLimit:
		return k == Agent
	case OnReady:
		return k == Queued
	case OnCheck:
		return k == CheckDo
	}
	return true
}

// checkRequesters finds edges that must be requested and that nobody may request.
func (c *checker) checkRequesters(e *Edge) {
	asked := e.AnswersTo(OnRequest, "") || e.AnswersTo(OnCreate, "")
	switch {
	case asked && len(e.By)+len(e.Confirm) == 0:
		c.reportError(RuleNobody, e.Pos, "edge %s is on request and nobody may ask for it: add by:", e.edgeTitle())
	case asked && len(e.Confirm) > 0 && !e.PermitsActor("human"):
		c.reportError(RuleNobody, e.Pos, "edge %s needs a person's word (confirm:) and no person may take it: add human to by:", e.edgeTitle())
	}
}

// hasTriggerFrom reports whether an edge from state has a trigger of that kind.
func (d *Definition) hasTriggerFrom(state string, kind TriggerKind) bool {
	return slices.ContainsFunc(d.edgesFrom[state], func(i int) bool { return d.Edges[i].hasTrigger(kind) })
}

// hasTrigger reports whether the edge has a trigger of that kind.
func (e *Edge) hasTrigger(kind TriggerKind) bool {
	return slices.ContainsFunc(e.On, func(t Trigger) bool { return t.Kind == kind })
}

// edgeTitle returns the name of an edge for messages.
func (e *Edge) edgeTitle() string { return strings.Join(e.From, ", ") + " -> " + e.To }

// describeTriggers returns the triggers of the edge as a list for messages.
func (e *Edge) describeTriggers() string {
	words := make([]string, len(e.On))
	for i, t := range e.On {
		words[i] = t.String()
	}
	return strings.Join(words, ", ")
}

func (t Trigger) String() string {
	return strings.TrimSpace(string(t.Kind) + " " + t.Value)
}
