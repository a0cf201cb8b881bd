package verify

import (
	"slices"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// judgeOutcome checks the engine's decision about a signal.
func (s *search) judgeOutcome(w *world, a *action, speaker task.Attempt, o *outcome) {
	if o.verdict == engine.Refuse {
		s.judgeRefusal(w, a, o)
		return
	}
	edge := s.takenEdge(o)
	if a.event == reportEnd && o.verdict == engine.Crash {
		s.judgeCrash(w, a, speaker, o)
	}
	if edge != nil {
		s.judgeFreshness(w, a, edge, o)
		s.judgeActor(a, speaker, edge, o)
		s.judgeOrigin(a, edge, o)
		s.judgeAuthor(a, edge, o)
	}
	s.judgeNotified(w, a, o)
	s.judgeCounters(w, o)
	s.judgeBranch(o)
}

// judgeRefusal checks that the engine accepts the end of an agent and a timer that is due.
func (s *search) judgeRefusal(w *world, a *action, o *outcome) {
	switch {
	case a.event == reportEnd:
		o.addProblem(Covered, w.t.Status, "in %s the end of an agent has no answer: %s", w.t.Status, o.refused)
	case a.kind == signal.Timer:
		o.addProblem(Covered, w.t.Status, "in %s a timer has no answer: %s", w.t.Status, o.refused)
	}
}

// judgeCrash checks that an agent that provides everything for a move, and ends without
// requesting it, does not count as crashed.
func (s *search) judgeCrash(w *world, a *action, gone task.Attempt, o *outcome) {
	if gone.Role != s.m.ownRole(w.t.Status) {
		return
	}
	for _, i := range s.m.def.EdgesFrom(w.t.Status) {
		e := &s.m.def.Edges[i]
		if e.AnswersTo(workflow.OnExit, "") || !e.PermitsActor(task.Actor(gone.Role)) || len(e.Gates) == 0 || s.waitsForWord(e) || !s.allNew(e, a.choice) || !s.guardHolds(e, &w.t, len(o.signal.Children)) {
			continue
		}
		o.addProblem(Covered, w.t.Status+" > "+e.To, "in %s an agent that leaves all that %s asks for, and ends, counts as crashed", w.t.Status, e.To)
	}
}

// waitsForWord reports whether nothing in TASK.md can replace the trigger of the edge:
// committed work alone does not tell the result.
func (s *search) waitsForWord(e *workflow.Edge) bool {
	return !e.AnswersTo(workflow.OnRequest, "") && !slices.ContainsFunc(s.m.def.EdgeGates(e), func(g int) bool { return s.m.def.Gates[g].Section != "" })
}

// allNew reports whether something new would open every gate of an edge.
func (s *search) allNew(e *workflow.Edge, choices []choice) bool {
	for _, g := range s.m.def.EdgeGates(e) {
		gate := &s.m.def.Gates[g]
		if gate.HandsOver() {
			if s.m.lacksCommits(choices) {
				return false
			}
			continue
		}
		c, ok := findChoice(choices, s.m.sectionIndex(gate.Section))
		if gate.Section == "" || !ok || c.age != isNew || c.doubt != certain || gate.Verdict != "" && gate.Verdict != c.meaning {
			return false
		}
	}
	return true
}

// judgeFreshness checks that no old version opens a gate. Old is a verdict from before the
// visit, and any other section whose text opened a gate before. The check uses what the search
// remembers, not what the file requires.
func (s *search) judgeFreshness(w *world, a *action, edge *workflow.Edge, o *outcome) {
	if o.waived || a.kind == signal.Create {
		return
	}
	for _, g := range s.m.def.EdgeGates(edge) {
		gate := &s.m.def.Gates[g]
		at := s.m.sectionIndex(gate.Section)
		c, ok := findChoice(a.choice, at)
		if gate.Section == "" || !ok {
			continue
		}
		x := &w.texts[at]
		stale := c.age == isUsed
		if s.m.sections[at].verdict {
			stale = c.age == isSeen || c.age == isUsed && x.used == x.seen
		}
		if stale {
			o.addProblem(Fresh, gate.Name, "gate %s is opened by an old ## %s", gate.Name, gate.Section)
		}
	}
}

// judgeActor checks that an edge is taken only by the actors it names, and never by an agent
// that was told to end.
func (s *search) judgeActor(a *action, speaker task.Attempt, edge *workflow.Edge, o *outcome) {
	if a.kind != signal.Request && a.kind != signal.Outcome {
		return
	}
	switch {
	case len(edge.By) > 0 && !edge.PermitsActor(a.who):
		o.addProblem(ActorSafe, edge.To, "%s takes the edge to %s, which is not theirs", a.who, edge.To)
	case a.actor >= 0 && speaker.Ending:
		o.addProblem(ActorSafe, edge.To, "a %s that was told to end takes the edge to %s", speaker.Role, edge.To)
	}
}

// judgeOrigin checks that no report of unknown origin leads to a merge.
func (s *search) judgeOrigin(a *action, edge *workflow.Edge, o *outcome) {
	if a.report == nil || !a.report.Unproven || a.kind == signal.Exit && edge.AnswersTo(workflow.OnExit, "") || !s.m.def.LeadsToMerge(edge) {
		return
	}
	o.addProblem(Proven, edge.To, "a report without the nonce of the prompt takes the edge to %s, and a merge can follow", edge.To)
}

// judgeNotified checks that a persistent agent that lives when the task comes to a state of its
// role, and did not bring it there itself, gets a message.
func (s *search) judgeNotified(w *world, a *action, o *outcome) {
	for i := range o.entries {
		e := &o.entries[i]
		to, ok := s.m.def.StateNamed(e.To)
		if !ok || to.Kind == workflow.Terminal {
			continue
		}
		role, ok := s.m.def.RoleNamed(to.Role)
		agent, lives := w.t.LiveAttempt(to.Role)
		if !ok || !lives || role.Session != workflow.Persistent || a.actor >= 0 && o.signal.Attempt == agent.Number && a.kind != signal.Exit {
			continue
		}
		told := slices.ContainsFunc(e.Effects, func(f task.Effect) bool {
			info, _ := workflow.EffectNamed(f.Do)
			return f.Attempt == agent.Number && (info.Notifies || info.Spawns)
		})
		if !told {
			o.addProblem(Told, e.To, "the task comes to %s while the %s lives, and nobody tells it", e.To, to.Role)
		}
	}
}

// judgeAuthor checks that a verdict opens a gate only if a role that may give it wrote it
// completely.
func (s *search) judgeAuthor(a *action, edge *workflow.Edge, o *outcome) {
	for _, g := range s.m.def.EdgeGates(edge) {
		gate := &s.m.def.Gates[g]
		c, ok := findChoice(a.choice, s.m.sectionIndex(gate.Section))
		switch {
		case gate.Verdict == "" || !ok:
		case c.doubt == foreign:
			o.addProblem(OwnWords, gate.Name, "gate %s is opened by a ## %s that was written by a role that may not use it", gate.Name, gate.Section)
		case c.doubt == broken:
			o.addProblem(OwnWords, gate.Name, "gate %s is opened by the ## %s of an agent that broke off", gate.Name, gate.Section)
		}
	}
}

// judgeCounters checks that counters stay within their bounds, and that an edge handles the
// crash limit.
func (s *search) judgeCounters(w *world, o *outcome) {
	for i := range w.t.Counters {
		c, max := &w.t.Counters[i], s.m.def.Counters[i].Max
		if c.Value > max {
			o.addProblem(Terminates, c.Name, "%s reaches %d and its bound is %d", c.Name, c.Value, max)
		}
	}
	c := s.m.def.CrashCounter()
	if own := s.m.ownRole(w.t.Status); own != "" && (c == nil && w.t.Crashed != "" || c != nil && w.t.CounterValue(c.Name) >= c.Max) {
		o.addProblem(Covered, w.t.Status, "the %s of %s crashes for the last time and no crash-limit edge answers", own, w.t.Status)
	}
	if c, own := s.m.def.SilenceCounter(), s.m.ownRole(w.t.Status); own != "" && c != nil && w.t.CounterValue(c.Name) >= c.Max {
		o.addProblem(Covered, w.t.Status, "the %s of %s gives no answer for the last time and no no-answer-limit edge answers", own, w.t.Status)
	}
}

// judgeBranch checks that a branch is deleted only when it is known to be merged.
func (s *search) judgeBranch(o *outcome) {
	for i := range o.entries {
		for _, e := range o.entries[i].Effects {
			if e.Do != "delete_remote_branch" {
				continue
			}
			merged := false
			for _, ev := range o.signal.Evidence {
				merged = merged || ev.Name == "merged" && ev.Holds
			}
			if !merged {
				o.addProblem(WorkSafe, e.Do, "the branch is deleted and nobody knows that it is merged")
			}
		}
	}
}

// stallReason returns why nothing moves the task on, or "" if something does.
func (s *search) stallReason(w *world) string {
	t := &w.t
	st, ok := s.m.def.StateNamed(t.Status)
	if !ok || st.Kind == workflow.Terminal && len(t.Pending) == 0 {
		return ""
	}
	if _, ok := engine.NextEffect(t); ok || t.Attention != "" || t.Asked != nil || t.Queued {
		return ""
	}
	if len(s.m.runningTimers(w)) > 0 || s.isEndPending(w) {
		return ""
	}
	switch st.Kind {
	case workflow.Queued:
		if s.personMay(w, func(e *workflow.Edge) bool { return e.AnswersTo(workflow.OnReady, "") }) {
			return ""
		}
		return "a task that was not started at once waits in " + t.Status + ", and no person may start it"
	case workflow.Waiting, workflow.HumanDo, workflow.Halt:
		if s.personMay(w, func(*workflow.Edge) bool { return true }) {
			return ""
		}
		return "a person owns " + t.Status + " and may take no edge"
	case workflow.Terminal:
		return "the clean-up of " + t.Status + " waits for an agent that nobody ends"
	}
	if engine.WaitsForAnswer(s.m.def, *t) {
		return ""
	}
	if t.WorkFailed != "" || t.Crashed != "" && st.Respawn == workflow.RespawnManual {
		return "" // a person must start the agent again
	}
	if _, live := t.LiveAttempt(st.Role); live {
		return "the " + st.Role + " of " + t.Status + " may hang forever: no deadline runs"
	}
	return t.Status + " has no " + st.Role + ", and nothing starts one"
}

// isEndPending reports whether the end of a process will still be reported.
func (s *search) isEndPending(w *world) bool {
	for i, p := range w.procs {
		if p == dead && s.m.isEndReported(w, i) {
			return true
		}
	}
	return false
}

// isUnstoppable reports whether no person can end the task from here.
func (s *search) isUnstoppable(w *world) bool {
	st, ok := s.m.def.StateNamed(w.t.Status)
	if !ok || st.Kind == workflow.Terminal {
		return false
	}
	return !s.personMay(w, func(e *workflow.Edge) bool {
		to, _ := s.m.def.StateNamed(e.To)
		return to.Kind == workflow.Terminal && len(e.Gates) == 0
	})
}

// personMay reports whether a person can take an edge for which wanted returns true, if
// necessary by writing what its gates require.
func (s *search) personMay(w *world, wanted func(*workflow.Edge) bool) bool {
	t := engine.AsPersonDecides(s.m.def, &w.t)
	for _, i := range s.m.def.EdgesFrom(w.t.Status) {
		e := &s.m.def.Edges[i]
		if !e.AnswersTo(workflow.OnRequest, "") || !e.PermitsActor(task.Human) || !wanted(e) {
			continue
		}
		for children := range s.m.def.MostChildren() + 1 { // a person may create some
			if s.guardHolds(e, t, children) {
				return true
			}
		}
	}
	return false
}

// guardHolds reports whether the guard of an edge holds for a task with this many children.
func (s *search) guardHolds(e *workflow.Edge, t *task.Task, children int) bool {
	if e.When == nil {
		return true
	}
	env := s.m.def.NewEnv()
	for _, c := range t.Counters {
		env[c.Name] = c.Value
	}
	env["return_to"], env["children"] = t.ReturnTo, children
	ok, err := e.When.Holds(env)
	return ok && err == nil
}

// unreportedRole returns the role of an agent whose end will never be reported, or "" if there is
// none.
func (s *search) unreportedRole(w *world) string {
	for i, p := range w.procs {
		if p == dead && !s.m.isEndReported(w, i) && w.t.Attempts[i].Role == s.m.ownRole(w.t.Status) {
			return w.t.Attempts[i].Role
		}
	}
	return ""
}
