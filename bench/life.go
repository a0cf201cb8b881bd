package main

import (
	"fmt"
	"strconv"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

// project is the project of all tasks of the benchmark.
const project = "bench"

func defaultWorkflow() (*workflow.Definition, error) {
	text, ok := builtin.Text(builtin.Default)
	if !ok {
		return nil, fmt.Errorf("workflow %s is not built in", builtin.Default)
	}
	return workflow.Parse(builtin.Default+".yaml", text)
}

// life plays a task through its workflow: it decides and folds like the runtime, in memory, and reports every effect as
// done.
type life struct {
	def     *workflow.Definition
	task    task.Task
	entries []journal.Entry
	at      time.Time
	free    string // workspace it may take
	text    string // of TASK.md
	read    string // the text that the sections were read from
	parts   []taskfile.Section
	err     error // the first error
}

// beginLife creates the n-th task of a store.
func beginLife(def *workflow.Definition, n int, at time.Time, spawn bool) *life {
	l := &life{def: def, at: at, free: project + "--1"}
	id := task.NewID([]byte("orange benchmark task " + strconv.Itoa(n)))
	l.decideSignal(signal.Signal{Kind: signal.Create, Actor: task.Human, New: &signal.New{
		ID: id, Project: project, Branch: "feature/number-" + strconv.Itoa(n), Harness: "claude", ReviewHarness: "claude", Spawn: spawn,
		Summary: "Make the parser of number " + strconv.Itoa(n) + " say which line it does not understand, and why",
	}})
	return l
}

// decideSignal decides one signal and folds the entries.
func (l *life) decideSignal(sig signal.Signal) {
	if l.err != nil {
		return
	}
	l.at = l.at.Add(time.Second)
	sig.At, sig.Artifacts.Sections, sig.Free = l.at, l.currentSections(), []string{l.free}
	d := engine.Decide(l.def, &l.task, sig)
	if d.Refused != "" {
		l.err = fmt.Errorf("the story of a task was refused in %s: %s", l.task.Status, d.Refused)
		return
	}
	l.entries = append(l.entries, d.Entries...)
	l.task, l.err = journal.Fold(l.task, d.Entries)
}

func (l *life) currentSections() []taskfile.Section {
	if l.read != l.text {
		doc, err := taskfile.Parse([]byte(l.text))
		l.read, l.parts, l.err = l.text, doc.Sections(), err
	}
	return l.parts
}

// requestMove sends a request by an actor, and performs the resulting effects.
func (l *life) requestMove(actor task.Actor, to string, evidence ...signal.Evidence) {
	a, _ := l.task.LiveAttempt(string(actor))
	l.decideSignal(signal.Signal{Kind: signal.Request, Actor: actor, Attempt: a.Number, To: to, Evidence: evidence})
	l.performPending()
}

// performPending performs the pending effects.
func (l *life) performPending() {
	for l.err == nil {
		e, ok := engine.NextEffect(&l.task)
		if !ok {
			return
		}
		info, _ := workflow.EffectNamed(e.Do)
		for _, a := range l.task.Attempts {
			if info.Kills && a.Ending && (e.Role == "" || e.Role == a.Role) {
				l.decideSignal(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role})
			}
		}
		r := signal.Receipt{Effect: e.ID, OK: true}
		if e.Start {
			r.Session = l.task.Project + "/" + l.task.Branch
		}
		l.decideSignal(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &r})
	}
}

// toReview plays until a person has to act: a plan, a failed and a passed review.
func (l *life) toReview() {
	l.requestMove(task.Human, "planning")
	l.text = planText
	l.requestMove("worker", "working")
	l.playReview("1", "FAIL", "working")
	l.playReview("2", "PASS", "reviewing")
}

func (l *life) playReview(round, verdict, to string) {
	l.text = planText + handoffText + "REMAINING: nothing of round " + round + "\n"
	l.requestMove("worker", "agent-review")
	l.text += "\n## Review\n\nVerdict: " + verdict + "\n\nAn empty file needs a test, round " + round + ".\n"
	l.requestMove("reviewer", to)
}

// toEnd plays a whole life.
func (l *life) toEnd() {
	l.toReview()
	l.requestMove(task.Human, "done", signal.Evidence{Name: "merged", Holds: true, Detail: "the branch is in main"})
}

// toCommit returns the whole journal of the task, as a store keeps it.
func (l *life) toCommit() journal.Commit {
	s, ok := l.def.StateNamed(l.task.Status)
	c := journal.Commit{Task: l.task, Entries: l.entries, Over: ok && s.Kind == workflow.Terminal}
	for _, tm := range engine.Timers(l.def, &l.task) {
		if c.Due.IsZero() || tm.At.Before(c.Due) {
			c.Due = tm.At
		}
	}
	return c
}
