package engine

import (
	"slices"
	"strings"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/humanize"
)

// plan collects the effects of an entry in order, and tracks which attempts live.
type plan struct {
	d           *decider
	e           *journal.Entry
	counters    []task.Counter
	attempts    []task.Attempt // attempts after the effects so far
	unavailable bool           // a workspace is needed and none is free, or a serial group is busy
	busy        string         // the busy group
	waits       bool           // for tasks that must land before this one starts; then it is unavailable too
	tried       string         // agents that this start has tried, one per line
	instead     string         // what is wrong with the last of them
	said        string         // a person's text that goes with the move
}

func (d *decider) newPlan(e *journal.Entry) *plan {
	attempts := slices.DeleteFunc(slices.Clone(d.t.Attempts), func(a task.Attempt) bool {
		return slices.ContainsFunc(e.Ended, func(gone journal.Ended) bool { return gone.Number == a.Number })
	})
	d.planned = plan{d: d, e: e, attempts: attempts}
	return &d.planned
}

// dropGivenUp drops starts of agents that were given up: the new state requests its own. Everything else that was given
// up, above all the end of an agent, is still required and is tried again.
func (p *plan) dropGivenUp() {
	for i := range p.d.t.Pending {
		old := &p.d.t.Pending[i]
		if old.Do == workflow.MergeBranch && p.e.To != "" && !p.leadsToEnd() { // the task takes another way
			if !slices.Contains(p.e.Dropped, old.ID) {
				p.e.Dropped = append(p.e.Dropped, old.ID)
			}
			continue
		}
		if info, _ := workflow.EffectNamed(old.Do); old.GivenUp && (info.Spawns || info.Notifies) {
			p.e.Dropped = append(p.e.Dropped, old.ID)
			if a, ok := p.findAttempt(old.Attempt); ok && old.Start && !a.Running {
				p.e.Ended = append(p.e.Ended, journal.Ended{Number: a.Number, Role: a.Role, Code: -1})
				p.attempts = slices.DeleteFunc(p.attempts, func(b task.Attempt) bool { return b.Number == a.Number })
			}
		}
	}
}

// leadsToEnd reports whether the entry leads to the end of the task.
func (p *plan) leadsToEnd() bool {
	s, ok := p.d.def.StateNamed(p.e.To)
	return ok && s.Kind == workflow.Terminal
}

// dropWork drops the pending effects of a task that is over, so that nothing blocks its clean-up. An agent that is
// being started is ended with the others.
func (p *plan) dropWork() {
	for i := range p.d.t.Pending {
		old := &p.d.t.Pending[i]
		info, _ := workflow.EffectNamed(old.Do)
		switch {
		case old.NonBlocking: // the tracker still gets its updates
		case info.Kills, old.Do == workflow.ReleaseWorkspace, old.Do == workflow.DeleteRemoteBranch, old.Do == workflow.SpawnNext:
		case old.Do == workflow.MergeBranch && !old.GivenUp && (p.d.sig.Word == signal.PRMerged || p.d.sig.Rules < RulesOfLanding): // it brought the task here
		case slices.Contains(p.e.Dropped, old.ID):
		default:
			p.e.Dropped = append(p.e.Dropped, old.ID)
		}
	}
}

// notePartDone records whose part is done: the attempts whose own request moved the task to a state in which they do
// not work. Their end is not a crash.
func (p *plan) notePartDone(to *workflow.State) {
	for i := range p.attempts {
		a := &p.attempts[i]
		asked := (p.d.sig.Kind == signal.Request || p.d.sig.Kind == signal.Outcome) && p.d.sig.Attempt == a.Number
		if (a.Done || asked) && (to.Kind != workflow.Agent || to.Role != a.Role) {
			p.e.DoneAttempts = append(p.e.DoneAttempts, a.Number)
		}
	}
}

func (p *plan) findAttempt(number int) (task.Attempt, bool) {
	for _, a := range p.attempts {
		if a.Number == number {
			return a, true
		}
	}
	return task.Attempt{}, false
}

// endOldAgent ends the agent of the old state, unless it lives on or the edge ends it.
func (p *plan) endOldAgent(e *workflow.Edge) {
	s, ok := p.d.def.StateNamed(p.d.t.Status)
	if p.d.t.Seq > 0 {
		p.endCheck(e)
	}
	if !ok || s.Role == "" || s.Kind == workflow.CheckDo || p.d.t.Seq == 0 {
		return
	}
	role, _ := p.d.def.RoleNamed(s.Role)
	if role.Session == workflow.Persistent || !p.isLive(s.Role) || killsRole(e.Do, s.Role) {
		return
	}
	p.addEffect(workflow.Effect{Name: workflow.KillName(s.Role), Role: s.Role}, task.ByState)
}

func killsRole(list []workflow.Effect, role string) bool {
	return slices.ContainsFunc(list, func(e workflow.Effect) bool {
		info, _ := workflow.EffectNamed(e.Name)
		return info.Kills && (e.Role == "" || e.Role == role)
	})
}

func (p *plan) addEffects(list []workflow.Effect, by string) {
	for _, e := range list {
		p.addEffect(e, by)
	}
}

// enterState adds what the new state needs: an agent, its own effects, or the clean-up.
func (p *plan) enterState(s *workflow.State) {
	switch until := p.d.coolingUntil(s); {
	case s.Kind == workflow.CheckDo:
		p.beginChecks(s)
	case s.Role == "" || s.Kind != workflow.Agent && s.Kind != workflow.Halt:
	case !until.IsZero() && !p.isLive(s.Role) && p.d.personMoves() && p.d.sig.Rules >= 2:
		p.e.Reason = strings.TrimPrefix(p.e.Reason+"; a person's move ends the cooldown of "+humanize.FormatDuration(s.Cooldown)+" in "+s.Name, "; ")
		p.ensureAgent(s)
	case !until.IsZero() && !p.isLive(s.Role):
		p.e.RespawnAt = until
		p.e.Reason += "; the " + s.Role + " starts at " + until.UTC().Format("15:04") + ", because the work failed here lately"
	default:
		p.ensureAgent(s)
	}
	p.addEffects(s.OnEnter, task.ByState)
	p.showColumn(s)
	if p.d.def.WatchesBoard(s.Name) {
		p.onCard(workflow.Effect{Name: workflow.ReadCard}, task.ByState)
	}
	if s.Kind != workflow.Terminal {
		return
	}
	for _, name := range [...]string{workflow.KillSession, workflow.ReleaseWorkspace, workflow.SpawnNext} {
		if !slices.ContainsFunc(p.e.Effects, func(e task.Effect) bool { return e.Do == name }) {
			p.addEffect(workflow.Effect{Name: name}, task.ByState)
		}
	}
}

// ensureAgent starts the state's agent if none lives. A role that stands in for another is not started beside it: the
// other agent gets a message instead.
func (p *plan) ensureAgent(s *workflow.State) {
	if p.isLive(s.Role) {
		return
	}
	if s.Kind == workflow.CheckDo {
		p.beginChecks(s)
		return
	}
	role, _ := p.d.def.RoleNamed(s.Role)
	if role.StandsInFor != "" && p.isLive(role.StandsInFor) {
		p.addEffect(workflow.Effect{Name: workflow.NotifyName(role.StandsInFor), Role: role.StandsInFor, Message: role.Prompt}, task.ByState)
		return
	}
	p.addEffect(workflow.Effect{Name: workflow.SpawnName(s.Role), Role: s.Role}, task.ByState)
}

func (p *plan) isLive(role string) bool { return p.liveAttempt(role) != nil }

func (p *plan) liveAttempt(role string) *task.Attempt {
	for i := range p.attempts {
		if a := &p.attempts[i]; a.Role == role && !a.Ending {
			return a
		}
	}
	return nil
}

// addEffect appends one effect with its attempt, workspace and text resolved.
func (p *plan) addEffect(w workflow.Effect, by string) {
	info, _ := workflow.EffectNamed(w.Name)
	if info.Pushes && !p.deliveryPolicy().PushesBranch() || info.OpensPR && p.deliveryPolicy() != task.DeliverPR {
		return
	}
	if info.Card {
		p.onCard(w, by)
		return
	}
	starts := info.Spawns || info.Notifies
	if starts && !p.isLive(w.Role) && !p.checksCandidate() {
		p.needWorkspace()
	}
	e := task.Effect{
		ID: task.EffectID(p.e.Task, p.e.Seq, len(p.e.Effects)),
		Do: w.Name, By: by, Role: w.Role, Prompt: w.Message,
	}
	var later []task.Effect
	if w.Name == workflow.Land {
		e.Do = workflow.MergeBranch
	}
	switch {
	case info.Kills:
		p.endAttempts(w.Role)
	case starts:
		p.startAttempt(&e)
		if info.Notifies || w.Message != "" {
			e.Text = p.said
		}
		if e.Start {
			later = p.addUndelivered(&e)
		}
	case e.Do == workflow.MergeBranch:
		e.Arg, e.Head = workflow.MergeAuto, p.d.sig.Confirmed
	case w.Name == workflow.AcquireWorkspace:
		e.Workspace = p.bindWorkspace()
	case w.Name == workflow.ReleaseWorkspace:
		e.Workspace = p.boundWorkspace()
	}
	p.e.Effects = append(p.e.Effects, e)
	for _, message := range later {
		p.appendEffect(message)
	}
}

// checksCandidate reports whether the entry runs a check on a candidate, which has a worktree of its own.
func (p *plan) checksCandidate() bool {
	return p.e.CheckRun != nil && p.e.CheckRun.Place == task.PlaceLanding
}

// needWorkspace requests a workspace before the start of an agent that has none.
func (p *plan) needWorkspace() {
	if p.boundWorkspace() == "" && !p.unavailable {
		p.addEffect(workflow.Effect{Name: workflow.AcquireWorkspace}, task.ByState)
	}
}

func (p *plan) boundWorkspace() string {
	if p.e.BindWorkspace != "" {
		return p.e.BindWorkspace
	}
	return p.d.t.Workspace
}

func (p *plan) bindWorkspace() string {
	if have := p.boundWorkspace(); have != "" {
		return have
	}
	if p.d.mayNotStart() {
		p.unavailable, p.waits = true, true
		return ""
	}
	if len(p.d.sig.Free) == 0 {
		p.unavailable = true
		return ""
	}
	p.e.BindWorkspace = p.d.sig.Free[0]
	return p.e.BindWorkspace
}

// endAttempts marks the attempts of role, or all of them, as ordered to end.
func (p *plan) endAttempts(role string) {
	for i := range p.attempts {
		if a := &p.attempts[i]; (role == "" || a.Role == role) && !a.Ending {
			a.Ending = true
			p.e.Ending = append(p.e.Ending, a.Number)
		}
	}
}

// startAttempt assigns the role's attempt to the effect: the living one, or a new one. A new one needs its whole
// prompt, even where a living one would only get a message.
func (p *plan) startAttempt(e *task.Effect) {
	role, _ := p.d.def.RoleNamed(e.Role)
	e.Window = p.d.def.RenderCounters(role.Window, p.counterValue)
	if a := p.liveAttempt(e.Role); a != nil {
		e.Attempt = a.Number
		return
	}
	p.queueUp(role)
	a := task.Attempt{
		Number: p.d.t.AttemptCount() + len(p.e.Started) + 1, Role: e.Role,
		State: p.stateName(), Visit: p.visitNumber(), Since: p.e.At,
	}
	if choosesHarness(p.taskRecord(), role) {
		c, why, _ := p.d.chooseHarness(p.taskRecord(), role, p.tried)
		e.Choice, a.Harness, a.Why, a.Tried = &c, c.String(), why, p.tried
		if p.instead != "" {
			a.Why = p.instead
		}
	}
	e.Attempt, e.Start = a.Number, true
	e.Prompt, e.Message = p.choosePrompt(role), e.Prompt
	p.attempts = append(p.attempts, a)
	p.e.Started = append(p.e.Started, a)
}

// queueUp makes a task wait while another task's agent of the same serial group works. What follows from an agent's own
// end does not wait: the runtime reserves the group for the task until it leaves the states of its roles.
func (p *plan) queueUp(role *workflow.Role) {
	k := p.d.sig.Kind
	if role.Serial != "" && slices.Contains(p.d.sig.Busy, role.Serial) && (k == signal.Request || k == signal.Tracker || k == signal.Ready || k == signal.Create) {
		p.unavailable, p.busy = true, role.Serial
	}
}

// taskRecord returns the task with only the fields that select the agents of its roles.
func (p *plan) taskRecord() *task.Task {
	if n := p.e.New; n != nil && p.d.t.Seq == 0 {
		return RecordOf(n)
	}
	return p.d.t
}

func (p *plan) stateName() string {
	if p.e.To != "" {
		return p.e.To
	}
	return p.d.t.Status
}

func (p *plan) visitNumber() int {
	if p.e.To != "" {
		return p.d.t.Visit + 1
	}
	return p.d.t.Visit
}

// choosePrompt returns the prompt of a new agent: the state's prompt before the role's, the prompt for a replacement if
// an earlier agent did not finish, and the prompt for rework if the task comes back to the role.
func (p *plan) choosePrompt(role *workflow.Role) string {
	s, _ := p.d.def.StateNamed(p.stateName())
	again := p.d.t.AttemptsOfRole(role.Name) > 0 && role.Session == workflow.Persistent || p.e.To == "" && !coolsDown(s, p.d.t)
	candidates := []string{s.Prompt, role.Prompt}
	if s.Role != role.Name {
		candidates[0] = ""
	}
	switch {
	case p.e.To != "" && p.d.t.AttemptsOfRole(role.Name) > 0 && role.ReworkPrompt != "":
		candidates[1] = role.ReworkPrompt
	case again:
		candidates = []string{s.RespawnPrompt, candidates[0], role.RespawnPrompt, role.Prompt}
	}
	for _, c := range candidates {
		if c != "" {
			return c
		}
	}
	return ""
}

// counterValue returns a counter's value after this entry.
func (p *plan) counterValue(name string) int {
	for _, c := range p.counters {
		if c.Name == name {
			return c.Value
		}
	}
	return p.d.t.CounterValue(name)
}
