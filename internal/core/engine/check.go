package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/humanize"
)

// VerbCheck is the verb by which a person asks for a check.
const VerbCheck = "check"

// The timers of checks.
const (
	CheckWait     = "check-wait"     // a check waits for the turn of an agent to end
	CheckDeadline = "check-deadline" // a check runs longer than it ends itself
)

// checkGrace is how much longer than its timeout a check may live before Orange ends it: the process that runs it
// enforces the timeout.
const checkGrace = 2 * time.Minute

// definitionFor returns the definition by which a signal is decided: without check states for a task that has no checks.
func definitionFor(def *workflow.Definition, t *task.Task, sig *signal.Signal) *workflow.Definition {
	switch {
	case sig.Unchecked:
		return def.ForTask(nil)
	case t.Seq == 0 && sig.New != nil:
		return def.ForTask(sig.New.Checks)
	}
	return def.ForTask(t.Checks)
}

// beginChecks plans the first check of a state, or the one that was interrupted.
func (p *plan) beginChecks(s *workflow.State) {
	list := p.d.def.StateChecks(s, p.checks())
	if len(list) == 0 {
		p.e.WorkFailed = "no check of " + s.Name + " is defined: cancel the task and create it again"
		return
	}
	run := task.CheckRun{Name: list[0].Name}
	if r := p.d.t.CheckRun; r != nil && p.e.To == "" && !r.ByHand {
		run.Name = r.Name
	}
	p.runCheck(run)
}

// checks returns the checks of the task.
func (p *plan) checks() task.Checks {
	if p.e.New != nil && p.d.t.Seq == 0 {
		return p.e.New.Checks
	}
	return p.d.t.Checks
}

// runCheck plans a run of a check. While an agent is in a turn the check waits: an agent that changes files beside it
// would make its result worthless.
func (p *plan) runCheck(run task.CheckRun) {
	run.Since = p.e.At
	p.e.CheckRun = &run
	if run.Place != task.PlaceLanding && p.busyAgent() != "" {
		return
	}
	p.addEffect(workflow.Effect{Name: workflow.RunCheck, Role: workflow.CheckRole}, task.ByState)
	if !p.unavailable {
		p.e.Effects[len(p.e.Effects)-1].Arg = run.Name
	}
}

// checkRuns reports whether a check of the task runs or is about to.
func (p *plan) checkRuns() bool {
	return p.isLive(workflow.CheckRole) && !p.d.def.DeclaresRole(workflow.CheckRole)
}

// endCheck ends the check of the state that the task leaves. If it was not started yet it is not started any more; it may
// run all the same, because the server died before it wrote that down. One order is enough to end every check. The order
// to end an overdue check names its attempt and, since version 3 of the rules, stays: its receipt comes after the end that
// it causes.
func (p *plan) endCheck(e *workflow.Edge) {
	runs, ordered := p.checkRuns(), false
	left := slices.ContainsFunc(p.attempts, func(a task.Attempt) bool { return a.Role == workflow.CheckRole })
	for i := range p.d.t.Pending {
		old := &p.d.t.Pending[i]
		info, _ := workflow.EffectNamed(old.Do)
		kills := info.Kills && old.Role == workflow.CheckRole && (old.Attempt == 0 || p.d.sig.Rules < RulesOfTurns) && !p.d.def.DeclaresRole(workflow.CheckRole)
		if ordered = ordered || kills && left; kills && !left || runs && old.Do == workflow.RunCheck && !slices.Contains(p.e.Dropped, old.ID) {
			p.e.Dropped = append(p.e.Dropped, old.ID)
		}
	}
	switch {
	case !runs || killsRole(e.Do, workflow.CheckRole):
	case ordered:
		p.endAttempts(workflow.CheckRole)
	default:
		p.addEffect(workflow.Effect{Name: workflow.KillName(workflow.CheckRole), Role: workflow.CheckRole}, task.ByState)
	}
}

// busyAgent returns the role of an agent that may be in a turn or is owed a message, or of an earlier check that is being
// ended, "" if there is none.
func (p *plan) busyAgent() string {
	for i := range p.attempts {
		a := &p.attempts[i]
		if a.Role == workflow.CheckRole && a.Ending || a.Role != workflow.CheckRole && !a.Ending && (a.Condition.InTurn() || p.owesMessage(a)) && p.reportsTurns(a) {
			return a.Role
		}
	}
	return ""
}

// RulesOfMessages is the version of the rules since which a check waits for an agent that is owed a message.
const RulesOfMessages = 4

// owesMessage reports whether a pending message will begin another turn of an agent.
func (p *plan) owesMessage(a *task.Attempt) bool {
	return p.d.sig.Rules >= RulesOfMessages && slices.ContainsFunc(slices.Concat(p.d.t.Pending, p.e.Effects), func(f task.Effect) bool {
		info, _ := workflow.EffectNamed(f.Do)
		return f.Attempt == a.Number && info.Notifies && !slices.Contains(p.e.Dropped, f.ID)
	})
}

// RulesOfTurns is the version of the rules since which a check does not wait for agents that report no turns.
const RulesOfTurns = 3

// reportsTurns reports whether the end of an agent's turn would be heard of. A command that a person named has no hooks: a
// check that waited for it would be held in every round. If it changes files meanwhile, the result does not count.
func (p *plan) reportsTurns(a *task.Attempt) bool {
	harness := a.Harness
	if role, ok := p.d.def.RoleNamed(a.Role); ok && harness == "" {
		harness = HarnessChoices(p.d.t, role)[0].Harness
	}
	return p.d.sig.Rules < RulesOfTurns || !strings.HasPrefix(harness, agent.CommandPrefix)
}

// startWaitingCheck starts the check that waits, if the agent that just rested or ended was the last one in a turn.
func (d *decider) startWaitingCheck(e *journal.Entry, resting task.Attempt) {
	if !checkWaits(d.t) {
		return
	}
	p := d.newPlan(e)
	for i := range p.attempts {
		if p.attempts[i].Number == resting.Number {
			p.attempts[i].Condition.Name = task.Idle
		}
	}
	if p.busyAgent() == "" {
		p.runCheck(*d.t.CheckRun)
	}
	if p.unavailable {
		e.Effects, e.Started, e.CheckRun = nil, nil, nil
	}
}

// checkWaits reports whether a check is wanted and nothing has started it yet.
func checkWaits(t *task.Task) bool {
	_, live := t.LiveAttempt(workflow.CheckRole)
	return t.CheckRun != nil && !live && t.WorkFailed == ""
}

// waitsForCheck reports whether an effect would start or tell an agent while a check runs. It is owed until the check
// has ended, or is being ended: the order to end an overdue check comes behind it.
func waitsForCheck(t *task.Task, p *task.Effect) bool {
	if t.CheckRun == nil || t.CheckRun.Place == task.PlaceLanding || p.Do == workflow.RunCheck {
		return false
	}
	info, _ := workflow.EffectNamed(p.Do)
	a, live := t.LiveAttempt(workflow.CheckRole)
	return live && a.Running && !a.Overdue && (info.Spawns || info.Notifies)
}

// checkTimers lists the timers of a check that waits or runs.
func checkTimers(s *workflow.State, t *task.Task) []Timer {
	if t.CheckRun == nil || t.Attention != "" {
		return nil
	}
	if checkWaits(t) {
		return []Timer{{Name: CheckWait, At: t.CheckRun.Since.Add(checkWaitLimit(s)), Visit: t.Visit, What: "ask for a person if the check " + t.CheckRun.Name + " still waits for an agent"}}
	}
	a, live := t.LiveAttempt(workflow.CheckRole)
	if !live || !a.Running || a.Overdue {
		return nil
	}
	limit := task.DefaultCheckTimeout
	if c, ok := t.Checks.Named(t.CheckRun.Name); ok {
		limit = c.Limit()
	}
	return []Timer{{Name: CheckDeadline, At: a.Since.Add(limit + checkGrace), Visit: t.Visit, What: "end the check " + t.CheckRun.Name}}
}

func checkWaitLimit(s *workflow.State) time.Duration {
	if s.Idle > 0 {
		return s.Idle
	}
	return workflow.CheckIdle
}

// holdWaitingCheck holds a task whose check waited too long for the turn of an agent to end.
func (d *decider) holdWaitingCheck(s *workflow.State) Verdict {
	e := d.newEntry(journal.CheckHeld)
	busy := d.newPlan(&e).busyAgent()
	return d.holdForCheck(e, fmt.Sprintf("check %s waited %s for the turn of the %s to end", d.t.CheckRun.Name, humanize.FormatDuration(checkWaitLimit(s)), busy))
}

// holdForCheck holds the task for a person, who can run the check again. By hand, the run only ends.
func (d *decider) holdForCheck(e journal.Entry, why string) Verdict {
	e.Role, e.Reason = workflow.CheckRole, why
	if run := d.t.CheckRun; !run.ByHand {
		kept := task.CheckRun{Name: run.Name, Since: run.Since}
		e.CheckRun, e.WorkFailed = &kept, why
	}
	d.newPlan(&e).writeCheck()
	return d.finishWith(e, Stay)
}

// endOverdueCheck ends a check whose own timeout did not end it.
func (d *decider) endOverdueCheck() Verdict {
	a, _ := d.t.LiveAttempt(workflow.CheckRole)
	return d.orderEnd(&workflow.State{Role: workflow.CheckRole}, a, "the check "+d.t.CheckRun.Name+" did not end at its timeout")
}

// requestCheck handles a person's request for a check. In a check state it runs the state's checks again; elsewhere the
// result is recorded and moves nothing.
func (d *decider) requestCheck() Verdict {
	s, ok := d.def.StateNamed(d.t.Status)
	_, known := d.t.Checks.Named(d.sig.Arg)
	_, live := d.t.LiveAttempt(workflow.CheckRole)
	switch {
	case d.sig.Actor != task.Human && d.sig.Actor != "":
		return d.refuse("only a person may ask for a check")
	case !ok || s.Kind == workflow.Terminal:
		return d.refuse("the task is over: it is %s", d.t.Status)
	case len(d.t.Checks) == 0:
		return d.refuse("the task has no checks: define them with orange project update %s --check NAME=COMMAND, for tasks that are created after that", d.t.Project)
	case d.def.DeclaresRole(workflow.CheckRole):
		return d.refuse("workflow %s has a role that is called %s: rename it to run checks", d.def.Name, workflow.CheckRole)
	case d.sig.Arg != "" && !known:
		return d.refuse("check %q is not known: the task has %s", d.sig.Arg, d.checkNames())
	case live || checkWaits(d.t):
		return d.refuse("check %s is in progress already: see orange task explain %s", d.t.CheckRun.Name, d.t.ID)
	case d.t.MergeEffect() != nil:
		return d.refuse("the task is in the landing queue, and its checks run on the merged work: see orange land list")
	case d.t.Workspace == "":
		return d.refuse("the task has no workspace yet, so there is nothing to check")
	case s.Kind != workflow.CheckDo && s.Kind != workflow.HumanDo && s.Kind != workflow.Halt && s.Kind != workflow.Waiting:
		return d.refuse("an agent works on the task in %s: ask for a check when it has handed over", d.t.Status)
	}
	e := d.newEntry(journal.CheckAsked)
	e.Reason = "a person asked for it"
	p := d.newPlan(&e)
	if s.Kind == workflow.CheckDo {
		p.beginChecks(s)
		return d.finishWith(e, Record)
	}
	name := d.sig.Arg
	if name == "" {
		name = d.t.Checks[0].Name
	}
	if busy := p.busyAgent(); busy != "" {
		return d.refuse("the %s is in a turn: ask for a check when its turn has ended", busy)
	}
	p.runCheck(task.CheckRun{Name: name, ByHand: true})
	return d.finishWith(e, Record)
}

// mayLeaveCheck keeps a task in a check state until the check has ended, unless the task is over: nobody judges work on
// which a check still runs.
func (d *decider) mayLeaveCheck(e *workflow.Edge) bool {
	s, ok := d.def.StateNamed(d.t.Status)
	_, live := d.t.LiveAttempt(workflow.CheckRole)
	if !ok || s.Kind != workflow.CheckDo || d.def.IsTerminal(e.To) || !live && !checkWaits(d.t) {
		return true
	}
	return d.addReason(e, RuleGate, false, fmt.Sprintf("check %s is in progress: wait until it has ended", d.t.CheckRun.Name))
}

func (d *decider) checkNames() string {
	names := make([]string, len(d.t.Checks))
	for i := range d.t.Checks {
		names[i] = d.t.Checks[i].Name
	}
	return strings.Join(names, ", ")
}

// decideOnCheck handles the end of a check: the next check of the state runs, the task takes the edge for the result, or
// it is held for a person. A run whose result does not count is repeated once.
func (d *decider) decideOnCheck(s *workflow.State, a task.Attempt, ended journal.Ended) Verdict {
	if a.Ending || s.Kind == workflow.Terminal || d.t.CheckRun == nil {
		return d.recordExit(ended, "as ordered")
	}
	if d.t.CheckRun.Place == task.PlaceLanding {
		return d.decideOnCandidateCheck(a, ended)
	}
	r := d.checkResult(a)
	e := d.checkEnded(r, ended)
	if d.t.CheckRun.ByHand || s.Kind != workflow.CheckDo {
		return d.finishWith(e, Record)
	}
	step, run, why := d.judgeCheck(r)
	switch step {
	case holdCheck:
		e.Type = journal.CheckHeld
		return d.holdForCheck(e, why)
	case failCheck:
		return d.concludeChecks(e, task.CheckFailed)
	case passCheck:
		return d.nextCheck(s, e)
	}
	d.newPlan(&e).runCheck(run)
	return d.finishWith(e, Stay)
}

// checkEnded returns the entry for the end of a check.
func (d *decider) checkEnded(r *task.CheckResult, ended journal.Ended) journal.Entry {
	e := d.newEntry(journal.CheckEnded)
	e.Ended, e.Role, e.From, e.Check, e.Reason = []journal.Ended{ended}, workflow.CheckRole, d.t.Status, r, r.Describe()
	return e
}

// A checkStep is what follows from the result of a check.
type checkStep int

const (
	repeatCheck checkStep = iota // it runs again
	holdCheck                    // a person must act
	failCheck
	passCheck
)

// judgeCheck returns what follows from the result of a check, in the workspace or on a candidate: the run that repeats it,
// or why the work does not go on. A run whose result does not count is repeated once; if it ended together with others, it is
// repeated without being counted.
func (d *decider) judgeCheck(r *task.CheckResult) (step checkStep, run task.CheckRun, why string) {
	run = *d.t.CheckRun
	definition, _ := d.t.Checks.Named(run.Name)
	switch {
	case r.Outcome == task.CheckMissing:
		return holdCheck, run, r.Describe()
	case r.Outcome == task.CheckBroken && d.sig.Mass != "":
	case r.Outcome == task.CheckBroken || r.Outcome == task.CheckInvalid:
		if run.Again++; run.Again > 1 {
			return holdCheck, run, r.Describe() + ", twice"
		}
	case r.Failed() && definition != nil && run.Tries < definition.Retries:
		run.Tries++
	case r.Failed():
		return failCheck, run, r.Describe()
	default:
		return passCheck, run, ""
	}
	return repeatCheck, run, ""
}

// writeCheck writes the result of the check that moves or holds the task into TASK.md.
func (p *plan) writeCheck() {
	if p.e.Check == nil {
		return
	}
	p.appendEffect(task.Effect{Do: workflow.WriteSection, By: task.ByState, Arg: "Checks", Text: strings.Join(p.e.Check.Lines(), "\n")})
}

// nextCheck runs the check after the one that passed, or takes the edge if it was the last.
func (d *decider) nextCheck(s *workflow.State, e journal.Entry) Verdict {
	next := d.checkAfter(d.def.StateChecks(s, d.t.Checks), d.t.CheckRun.Name)
	if next == "" {
		return d.concludeChecks(e, task.CheckPassed)
	}
	d.newPlan(&e).runCheck(task.CheckRun{Name: next})
	return d.finishWith(e, Stay)
}

// checkAfter returns the name of the check that follows another one, or "".
func (d *decider) checkAfter(list task.Checks, name string) string {
	at := slices.IndexFunc(list, func(c task.CheckDefinition) bool { return c.Name == name })
	if at < 0 || at+1 >= len(list) {
		return ""
	}
	return list[at+1].Name
}

// concludeChecks takes the edge for the result of the state's checks.
func (d *decider) concludeChecks(e journal.Entry, outcome string) Verdict {
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		edge := &d.def.Edges[i]
		if !edge.AnswersTo(workflow.OnCheck, outcome) || !d.checkGuard(edge) || !d.checkGates(edge) {
			continue
		}
		e.Type = journal.AutoAdvanced
		return d.takeEdgeWith(e, edge, Advance)
	}
	e.Type = journal.CheckHeld
	return d.holdForCheck(e, e.Reason+", and no edge answers to that")
}

// checkResult returns the result of the run that ended. A run that left none broke off, or was ended at its deadline.
func (d *decider) checkResult(a task.Attempt) *task.CheckResult {
	r := task.CheckResult{Name: d.t.CheckRun.Name, Outcome: task.CheckBroken, Code: d.sig.Code}
	if got := d.sig.Check; got != nil && got.Name == r.Name {
		r = *got
	} else if a.Overdue {
		r.Outcome, r.Detail = task.CheckTimeout, "it did not end at its timeout"
	} else if d.sig.Mass != "" {
		r.Detail = d.massReason()
	}
	r.Attempt, r.At = a.Number, d.sig.At
	if d.t.CheckRun.Place == task.PlaceLanding {
		r.Place = task.PlaceLanding
	}
	return &r
}
