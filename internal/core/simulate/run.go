package simulate

import (
	"fmt"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// taskRun is one simulated task. Times count from its creation.
type taskRun struct {
	plan *runPlan
	rand randomSource
	err  error

	t        task.Task
	at       int // index of the task's state
	now      time.Duration
	since    time.Duration // when the state was entered
	sections []taskfile.Section
	written  int // texts so far
	steps    int // decisions so far

	turn    agentTurn
	limited []time.Duration // by role: when its usage limit is reset

	effect   string // the effect in progress, and its try
	try      int
	effectAt time.Duration

	timer         engine.Timer
	timerAt       time.Duration // negative: none
	stale         bool          // timers may have changed
	spent         string        // a timer of spentIn that changed nothing
	spentIn       int
	unqueuedVisit int // visit in which the queue let the task continue

	person     bool // the task waits for a person
	personIn   int  // the visit
	personFrom time.Duration
	personAt   time.Duration

	// What the results consist of.
	worked, waited time.Duration
	tokens, cost   float64 // cost in micro-dollars
	waits, crashes int
	halted, over   bool
	inState        []time.Duration
}

// agentTurn is one piece of work of an agent.
type agentTurn struct {
	on       bool
	attempt  int
	visit    int
	from     time.Duration
	to       time.Duration
	restFrom time.Duration // a usage limit interrupts it between these
	restTo   time.Duration
	length   time.Duration // without the interruption, if it is completed
	tokens   float64
	ending   turnEnding
	check    string // outcome of a check, which runs instead of an agent; "" for none
}

// turnEnding is how a turn ends.
type turnEnding byte

const (
	turnFinishes turnEnding = iota
	turnFails
	turnCrashes
	turnEndsSilent
	turnAsks
	turnGivesUp
)

// eventKind is what happens next.
type eventKind byte

const (
	noEvent eventKind = iota
	effectEvent
	turnEndEvent
	timerEvent
	personEvent
)

func (r *taskRun) reset(rand randomSource) {
	p, limited, in, sections := r.plan, r.limited, r.inState, r.sections[:0]
	clear(limited)
	clear(in)
	*r = taskRun{plan: p, rand: rand, limited: limited, inState: in, sections: sections, timerAt: -1, stale: true, at: -1}
}

// playToEnd runs the task to a terminal state or to a limit.
func (r *taskRun) playToEnd() {
	sig := r.plan.create
	r.submitSignal(&sig)
	for r.err == nil && !r.over && r.steps < r.plan.maxSteps {
		r.startRequested()
		ev, at := r.nextEvent()
		if ev == noEvent || at > r.plan.maxTime {
			r.now = r.plan.maxTime
			break
		}
		r.now = max(r.now, at)
		switch ev {
		case effectEvent:
			r.performEffect()
		case turnEndEvent:
			r.endTurn()
		case timerEvent:
			r.fireTimer()
		case personEvent:
			r.answerAsPerson()
		}
	}
	r.closeAccounts()
}

// submitSignal lets the engine decide about a signal and folds the decision. It reports whether
// the signal was accepted.
func (r *taskRun) submitSignal(sig *signal.Signal) bool {
	r.steps++
	sig.At = r.plan.begin.Add(r.now)
	if sig.WeighsEvidence() {
		sig.Artifacts.Sections, sig.Free, sig.Rules = r.sections, r.plan.free, engine.Rules
		if r.plan.def.WaitsForChildren(r.t.Status) {
			sig.Children = r.plan.children
		}
	}
	d := engine.Decide(r.plan.def, &r.t, *sig)
	for i := range d.Entries {
		e := &d.Entries[i]
		if err := journal.Apply(&r.t, e); err != nil {
			r.err = fmt.Errorf("fold a simulated task: %w", err)
			return false
		}
		r.observeEntry(e)
	}
	return d.Verdict != engine.Refuse
}

// observeEntry counts what an entry changes.
func (r *taskRun) observeEntry(e *journal.Entry) {
	switch e.Type {
	case journal.EffectDone, journal.AgentSpawned, journal.EffectFailed:
	default:
		r.stale = true
	}
	if e.Type == journal.AgentCrashed {
		r.crashes++
	}
	for _, gone := range e.Ended {
		if r.turn.on && r.turn.attempt == gone.Number {
			r.stopTurn()
		}
	}
	if e.To == "" {
		return
	}
	r.stopTurn()
	if r.at >= 0 {
		r.inState[r.at] += r.now - r.since
	}
	r.at, r.since = r.plan.index[e.To], r.now
	switch r.plan.states[r.at].kind {
	case workflow.Halt:
		r.halted = true
	case workflow.Terminal:
		r.over = true
	}
}

// closeAccounts completes the totals of a run.
func (r *taskRun) closeAccounts() {
	r.stopTurn()
	if r.person {
		r.waited += r.now - r.personFrom
	}
	if r.at >= 0 {
		r.inState[r.at] += r.now - r.since
	}
}

// startRequested starts what the record requires.
func (r *taskRun) startRequested() {
	s := &r.plan.states[r.at]
	if s.kind == workflow.Queued && r.unqueuedVisit != r.t.Visit && len(r.t.Pending) == 0 {
		r.unqueuedVisit = r.t.Visit
		r.submitSignal(&signal.Signal{Kind: signal.Ready, Actor: task.Engine, Evidence: r.plan.evidence})
		if r.over {
			return
		}
		s = &r.plan.states[r.at]
	}
	if s.kind == workflow.CheckDo {
		r.endTurnsBesideCheck()
	}
	if e, ok := engine.NextEffect(&r.t); !ok {
		r.effect = ""
	} else if e.ID != r.effect || e.Tries != r.try {
		r.effect, r.try = e.ID, e.Tries
		r.effectAt = r.now + time.Duration(r.plan.effects.Duration)
		if !e.NotBefore.IsZero() {
			r.effectAt = max(r.effectAt, e.NotBefore.Sub(r.plan.begin))
		}
	}
	if s.kind == workflow.CheckDo {
		r.beginCheck()
	} else {
		r.beginTurn(s)
	}
	if r.stale {
		r.setTimer()
	}
	r.callPerson(s)
}

func (r *taskRun) nextEvent() (ev eventKind, at time.Duration) {
	consider := func(what eventKind, when time.Duration) {
		if ev == noEvent || when < at {
			ev, at = what, when
		}
	}
	if r.effect != "" {
		consider(effectEvent, r.effectAt)
	}
	if r.turn.on {
		consider(turnEndEvent, r.turn.to)
	}
	if r.timerAt >= 0 {
		consider(timerEvent, r.timerAt)
	}
	if r.person {
		consider(personEvent, r.personAt)
	}
	return ev, at
}

// performEffect ends one try of an effect. Agents that it ends are gone before it is done.
func (r *taskRun) performEffect() {
	e, ok := engine.NextEffect(&r.t)
	if !ok {
		return
	}
	receipt := signal.Receipt{Effect: e.ID, OK: true}
	if r.rand.drawChance(r.plan.effects.Fail) {
		receipt.OK, receipt.Error = false, "simulated"
	} else if info, _ := workflow.EffectNamed(e.Do); info.Kills {
		r.killAgents(&e)
	} else if a, ok := r.t.AttemptByNumber(e.Attempt); ok && info.Notifies && !e.Start && a.Condition.Name == task.Idle {
		r.noticeCondition(a.Number, task.Running) // it takes the message
	}
	r.effect = ""
	r.submitSignal(&signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &receipt})
}

func (r *taskRun) killAgents(e *task.Effect) {
	for i := 0; i < len(r.t.Attempts) && !r.over; {
		a := r.t.Attempts[i]
		if a.Ending && (e.Role == "" || e.Role == a.Role) || a.Number == e.Attempt {
			if r.exitAgent(a, 137) {
				continue // the list is shorter now
			}
		}
		i++
	}
}

func (r *taskRun) exitAgent(a task.Attempt, code int) bool {
	return r.submitSignal(&signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role, Code: code})
}

// setTimer finds the timer that is due first. A timer that changed nothing does not fire again
// in the same visit.
func (r *taskRun) setTimer() {
	r.stale, r.timerAt = false, -1
	for _, tm := range engine.Timers(r.plan.def, &r.t) {
		if tm.Name == engine.Idle { // it leads where the deadline does, only sooner
			continue
		}
		if tm.Visit == r.spentIn && tm.Name == r.spent {
			continue
		}
		if at := max(tm.At.Sub(r.plan.begin), r.now); r.timerAt < 0 || at < r.timerAt {
			r.timer, r.timerAt = tm, at
		}
	}
}

func (r *taskRun) fireTimer() {
	before := r.t.Seq
	r.submitSignal(&signal.Signal{Kind: signal.Timer, Actor: task.Engine, Timer: r.timer.Name, Visit: r.timer.Visit})
	if r.t.Seq == before {
		r.spent, r.spentIn, r.stale = r.timer.Name, r.timer.Visit, true
	}
}
