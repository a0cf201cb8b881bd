package simulate_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/simulate"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// pastTask is a task of earlier days, whose journal is kept.
type pastTask struct {
	t       *testing.T
	def     *workflow.Definition
	task    task.Task
	at      time.Time
	text    string
	entries []journal.Entry
}

func newPastTask(t *testing.T, def *workflow.Definition) *pastTask {
	p := &pastTask{t: t, def: def, at: time.Unix(1_800_000_000, 0).UTC()}
	p.tell(signal.Signal{Kind: signal.Create, Actor: task.Human, New: &signal.New{
		ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "s", Spawn: true,
	}})
	return p
}

// tell decides about a signal and does what follows from it, in no time.
func (p *pastTask) tell(sig signal.Signal) {
	p.t.Helper()
	p.decide(sig)
	for {
		e, ok := engine.NextEffect(&p.task)
		if !ok {
			return
		}
		info, _ := workflow.EffectNamed(e.Do)
		for _, a := range slices.Clone(p.task.Attempts) {
			if info.Kills && a.Ending {
				p.decide(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role, Code: 137})
			}
		}
		p.decide(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: e.ID, OK: true}})
	}
}

func (p *pastTask) decide(sig signal.Signal) {
	p.t.Helper()
	doc, err := taskfile.Parse([]byte(p.text))
	if err != nil {
		p.t.Fatal(err)
	}
	sig.At, sig.Free, sig.Artifacts.Sections = p.at, []string{"p--1"}, doc.Sections()
	sig.Evidence = []signal.Evidence{{Name: "merged", Holds: true}}
	d := engine.Decide(p.def, &p.task, sig)
	if d.Refused != "" {
		p.t.Fatal(d.Refused)
	}
	p.entries = append(p.entries, d.Entries...)
	if p.task, err = journal.Fold(p.task, d.Entries); err != nil {
		p.t.Fatal(err)
	}
}

// works lets the agent of a role work, write and ask.
func (p *pastTask) works(role string, took time.Duration, text, to string) {
	p.t.Helper()
	p.at, p.text = p.at.Add(took), text
	a, _ := p.task.LiveAttempt(role)
	p.tell(signal.Signal{Kind: signal.Request, Actor: task.Actor(role), Attempt: a.Number, To: to})
}

func (p *pastTask) dies(role string, took time.Duration, code int) {
	p.t.Helper()
	p.at = p.at.Add(took)
	a, _ := p.task.LiveAttempt(role)
	p.tell(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: role, Code: code})
}

func (p *pastTask) person(took time.Duration, verb string) {
	p.t.Helper()
	p.at = p.at.Add(took)
	p.tell(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: verb})
}

func TestLearnFromJournals(t *testing.T) {
	def := loadDefinition(t, "orange")
	plan, handoff := "## Plan\n\nAPPROACH: x\n", "\n## Handoff\n\nDONE: x\n"
	var journals [][]journal.Entry
	for i := range 6 {
		p := newPastTask(t, def)
		p.works("worker", time.Duration(i+1)*time.Minute, plan, "working")
		p.works("worker", time.Hour, plan+handoff, "agent-review")
		if i < 2 { // a crash, no answer
			p.dies("reviewer", time.Minute, 1-i)
		}
		if i < 3 {
			p.works("reviewer", 10*time.Minute, plan+handoff+"\n## Review\n\nVerdict: FAIL\n", "working")
			p.works("worker", 30*time.Minute, plan+handoff+"Round: 2\n", "agent-review")
		}
		p.works("reviewer", 10*time.Minute, plan+handoff+"\n## Review\n\nVerdict: PASS\n\nRound 2\n", "reviewing")
		if i == 5 {
			p.person(time.Hour, "cancel")
		} else {
			p.person(2*time.Hour, "complete")
		}
		journals = append(journals, p.entries)
	}
	journals = append(journals, []journal.Entry{{Seq: 7}}) // not a journal
	l := simulate.LearnProfile(def, simulate.DefaultProfile(def), journals)
	if l.Tasks != 6 {
		t.Errorf("learned from %d tasks", l.Tasks)
	}
	planning, review, human := l.Profile.States["planning"], l.Profile.States["agent-review"], l.Profile.Human
	got := []float64{
		time.Duration(planning.Duration.Median).Minutes(), time.Duration(planning.Duration.P95).Minutes(), planning.Crash,
		review.Crash, review.NoAnswer, review.Fail, review.Exit,
		time.Duration(human.Delay.Median).Hours(), human.Cancel, human.RequestChanges,
	}
	want := []float64{3, 6, 0, 1. / 11, 1. / 11, 3. / 9, 0, 2, 1. / 6, 0}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := simulate.Run(def, simulate.RunOptions{Profile: l.Profile}, 0, 50); err != nil {
		t.Error(err)
	}
}

func TestLearnKeepsWhatItHasTooFewSamplesFor(t *testing.T) {
	def := loadDefinition(t, "orange")
	base := simulate.DefaultProfile(def)
	p := newPastTask(t, def)
	p.works("worker", time.Minute, "## Plan\n\nAPPROACH: x\n", "working")
	l := simulate.LearnProfile(def, base, [][]journal.Entry{p.entries})
	if l.Profile.States["planning"] != base.States["planning"] || l.Profile.Human != base.Human {
		t.Error("one sample changed the profile")
	}
	said := strings.Join(l.Notes, "\n")
	for _, says := range []string{
		"planning: duration: 1 samples are too few, 5 are needed: median 3m45s stays", "working: crash: 0 samples are too few", "human: delay: 0 samples", "tokens, cost and usage limits are not in the journals",
	} {
		if !strings.Contains(said, says) {
			t.Errorf("it does not say %q:\n%s", says, said)
		}
	}
}
