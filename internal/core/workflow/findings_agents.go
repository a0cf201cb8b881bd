package workflow

import (
	"slices"
	"strings"

	"orange/internal/core/agent"
	"orange/internal/core/task"
)

// checkActors checks who may take an edge.
func (c *checker) checkActors() {
	for i := range c.d.Edges {
		e := &c.d.Edges[i]
		if e.hasTrigger(OnRequest) || e.onWord() {
			c.personsState(e)
		}
		c.checkEventActor(e)
		for _, role := range c.d.agentsOf(e) {
			if !slices.Contains(e.From, New) && !slices.ContainsFunc(e.From, func(from string) bool { return c.d.agentMayLive(from, role) }) {
				c.addAdvice(RuleRoleUnheard, e.Pos, "edge %s names the %s, and no agent of that role lives there, so its word is never heard: name another role, or drop it",
					e.edgeTitle(), role)
			}
		}
	}
}

// checkHarnesses finds agents of roles that Orange does not know. Whether they are installed is
// known only when a task is created.
func (c *checker) checkHarnesses() {
	for i := range c.d.Roles {
		role := &c.d.Roles[i]
		for _, choice := range role.Choices {
			name, _, _ := strings.Cut(choice.Harness, ":")
			known := append(agent.HarnessNames(), TaskHarness, ReviewHarness, agent.Script, strings.TrimSuffix(agent.CommandPrefix, ":"))
			if !slices.Contains(known, name) {
				c.addAdvice(RuleHarnessUnknown, role.Pos, "role %s names the harness %s, which is not known: use %s, %s or %s, command:PROGRAM or script:FILE%s",
					role.Name, choice.Harness, strings.Join(agent.HarnessNames(), ", "), TaskHarness, ReviewHarness, suggestSimilar(name, known))
			}
		}
	}
}

// checkEventActor requires that the actor that reports an event may take the edge: Orange itself for
// a child that moved and for its own merge, a tracker for everything else.
func (c *checker) checkEventActor(e *Edge) {
	for _, t := range e.On {
		if t.Kind != OnTracker || len(e.By) == 0 {
			continue
		}
		who, says := task.Tracker, "a tracker reports"
		switch t.Value {
		case "child":
			who, says = task.Engine, "Orange itself reports"
		case "pr:merged":
			who, says = task.Engine, "Orange itself reports when it has merged"
		}
		if !e.PermitsActor(who) {
			c.addAdvice(RuleEventUnheard, e.Pos, "edge %s waits for %s, which %s, and by: leaves %s out, so the edge stays closed to that: add %s to by:", e.edgeTitle(), t.Value, says, who, who)
		}
	}
}

// personsState finds edges by which an agent leaves a state in which a person decides.
func (c *checker) personsState(e *Edge) {
	for _, from := range e.From {
		s, ok := c.d.StateNamed(from)
		if !ok || s.Kind != HumanDo && s.Kind != Halt {
			continue
		}
		for _, role := range c.d.evidenceWriters(e, from) {
			if len(e.By)+len(e.Confirm) > 0 && !e.PermitsActor(task.Actor(role)) {
				continue // it asks, and a person agrees
			}
			c.addAdvice(RuleAgentDecides, e.Pos, "edge %s -> %s leaves a state of kind %s, in which a person decides, and the %s may take it alone: name the role in confirm: and human in by:",
				from, e.To, s.Kind, role)
		}
	}
}

// agentMayLive reports whether an agent of the role may live while a task is in the state.
func (d *Definition) agentMayLive(state, role string) bool {
	s, ok := d.StateNamed(state)
	if !ok {
		return false
	}
	if r, ok := d.RoleNamed(s.Role); s.Role == role || ok && r.StandsInFor == role {
		return true
	}
	return d.statesWithLiveAgent(role)[state]
}

// statesWithLiveAgent returns the states in which an agent of the role may live: where it is
// started, and where the task goes from there until something ends the agent.
func (d *Definition) statesWithLiveAgent(role string) map[string]bool {
	r, ok := d.RoleNamed(role)
	if !ok {
		return nil
	}
	var queue []string
	for i := range d.States {
		if s := &d.States[i]; s.Role == role || reachesRole(s.OnEnter, role) {
			queue = append(queue, s.Name)
		}
	}
	for i := range d.Edges {
		if reachesRole(d.Edges[i].Do, role) {
			queue = append(queue, d.Edges[i].To)
		}
	}
	return d.reachableStates(queue, func(from string) []string {
		s, ok := d.StateNamed(from)
		if !ok || s.Kind == Terminal || s.Role == role && r.Session != Persistent {
			return nil
		}
		var out []string
		for _, i := range d.edgesFrom[from] {
			if e := &d.Edges[i]; !endsRole(e.Do, role) && !d.IsTerminal(e.To) {
				out = append(out, e.To)
			}
		}
		return out
	})
}

// reachesRole reports whether an effect starts an agent of the role, or sends it a message.
func reachesRole(list []Effect, role string) bool {
	return slices.ContainsFunc(list, func(e Effect) bool {
		info, _ := EffectNamed(e.Name)
		return e.Role == role && (info.Spawns || info.Notifies)
	})
}

// notifiesRole reports whether an effect sends an agent of the role a message.
func notifiesRole(list []Effect, role string) bool {
	return slices.ContainsFunc(list, func(e Effect) bool {
		info, _ := EffectNamed(e.Name)
		return e.Role == role && info.Notifies
	})
}

// endsRole reports whether an effect ends the agents of the role.
func endsRole(list []Effect, role string) bool {
	return slices.ContainsFunc(list, func(e Effect) bool {
		info, _ := EffectNamed(e.Name)
		return info.Kills && (e.Role == "" || e.Role == role)
	})
}

// checkAgents checks what happens to agents that live at the same time.
func (c *checker) checkAgents() {
	for i := range c.d.Edges {
		e := &c.d.Edges[i]
		to, ok := c.d.StateNamed(e.To)
		role, hasRole := c.d.RoleNamed(to.Role)
		if !ok || !hasRole {
			continue
		}
		if to.Kind == Agent || to.Kind == Halt {
			c.twoWriters(e, to, role)
		}
		if to.Kind == Agent && role.Session == Persistent && !notifiesRole(slices.Concat(e.Do, to.OnEnter), role.Name) {
			c.checkTurnMessage(e, to, role)
		}
	}
}

// twoWriters finds a role with write access that may be in a turn while the agent of the next
// state, which also has write access, begins.
func (c *checker) twoWriters(e *Edge, to *State, next *Role) {
	clash := func(name string) bool {
		r, ok := c.d.RoleNamed(name)
		return ok && name != next.Name && r.Access == "full" && next.Access == "full" && !c.d.standIns(name, next.Name)
	}
	for i := range c.d.Roles {
		name := c.d.Roles[i].Name
		if !clash(name) || endsRole(e.Do, name) && !reachesRole(e.Do, name) {
			continue
		}
		if reachesRole(slices.Concat(e.Do, to.OnEnter), name) || slices.ContainsFunc(e.From, func(from string) bool { return c.inTurn(e, from, name) }) {
			c.addAdvice(RuleTwoWriters, e.Pos, "edge %s: the %s may still be in a turn when the %s begins in %s, and both have write access to one worktree: give one access: read-only or session: visit, let it stand in for the other, or end it with kill_agent",
				e.edgeTitle(), name, next.Name, to.Name)
		}
	}
}

// inTurn reports whether an agent of the role may be in the middle of a turn when the edge is
// taken, and stays alive.
func (c *checker) inTurn(e *Edge, from, role string) bool {
	s, ok := c.d.StateNamed(from)
	if !ok || !midTurn(e) {
		return false
	}
	r, _ := c.d.RoleNamed(role)
	if s.Role == role {
		return r.Session == Persistent && (s.Kind == Agent || s.Kind == Halt)
	}
	if reachesRole(s.OnEnter, role) {
		return true
	}
	return slices.ContainsFunc(c.d.Edges, func(in Edge) bool { return in.To == from && reachesRole(in.Do, role) })
}

// midTurn reports whether the edge can be taken while agents work. After the end of an agent,
// and after its report at the end of a turn, the agent is idle.
func midTurn(e *Edge) bool {
	return slices.ContainsFunc(e.On, func(t Trigger) bool {
		switch t.Kind {
		case OnRequest, OnTimer, OnTracker, OnBoard, OnReady:
			return true
		}
		return false
	})
}

// checkTurnMessage requires that a living agent learns why its turn has come.
func (c *checker) checkTurnMessage(e *Edge, to *State, role *Role) {
	lives := c.d.statesWithLiveAgent(role.Name)
	_, words := c.d.PromptNamed(MessageTurn)
	for _, from := range e.From {
		s, ok := c.d.StateNamed(from)
		switch {
		case !ok || !lives[from] || endsRole(e.Do, role.Name):
		case s.Role == role.Name && e.onWord() && !e.Hold && (len(e.By) == 0 || e.PermitsActor(task.Actor(role.Name))):
			c.addAdvice(RuleAgentUntold, e.Pos, "edge %s -> %s is taken when the %s has said how it went, and nothing tells it to go on in %s: add do: [{notify: {role: %s, prompt: NAME}}], or session: visit",
				from, to.Name, role.Name, to.Name, role.Name)
		case to.Prompt != "" || words:
		case role.ReworkPrompt != "" && !c.ownMove(e, s, role.Name):
			c.addAdvice(RuleAgentUntold, e.Pos, "edge %s -> %s brings the task back to the %s, whose agent lives on and is not told rework_prompt, which is for new agents: add do: [{notify: {role: %s, prompt: %s}}], a prompt on %s, or session: visit",
				from, to.Name, role.Name, role.Name, role.ReworkPrompt, to.Name)
		case c.canBeWordless(e, s, role.Name):
			c.addAdvice(RuleAgentUntold, e.Pos, "edge %s -> %s brings the task to the %s, whose agent lives on and is not told why: add do: [{notify: {role: %s, prompt: NAME}}], or a prompt on %s",
				from, to.Name, role.Name, role.Name, to.Name)
		}
	}
}

// ownMove reports whether only the role itself brings a task along the edge.
func (c *checker) ownMove(e *Edge, from *State, role string) bool {
	return !slices.ContainsFunc(e.On, func(t Trigger) bool {
		if t.Kind == OnRequest {
			return slices.ContainsFunc(e.By, func(a task.Actor) bool { return a != task.Actor(role) })
		}
		return !ofOwnAgent(t.Kind) || from.Role != role
	})
}

// canBeWordless reports whether an actor that adds no text can take the edge: another agent, or
// the engine. A person and a tracker can give a reason.
func (c *checker) canBeWordless(e *Edge, from *State, role string) bool {
	return slices.ContainsFunc(e.On, func(t Trigger) bool {
		if t.Kind == OnRequest {
			return slices.ContainsFunc(c.d.agentsOf(e), func(a string) bool { return a != role })
		}
		return t.Kind != OnCreate && t.Kind != OnReady && (!ofOwnAgent(t.Kind) || from.Role != role)
	})
}

// ofOwnAgent reports whether the trigger is an action of the state's agent.
func ofOwnAgent(k TriggerKind) bool {
	switch k {
	case OnExit, OnCrashLimit, OnSilence, OnOutcome, OnConsult, OnUnexpected:
		return true
	}
	return false
}
