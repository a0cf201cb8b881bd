package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/view/narrate"
)

// The test sends random signals to a random built-in workflow and checks after each of
// them what must always hold.
func TestWhateverHappensTheJournalHolds(t *testing.T) {
	defs := []*workflow.Definition{parse(t, talking), parse(t, respawning("auto")), parse(t, respawning("now"))}
	for _, name := range builtin.Names() {
		defs = append(defs, load(t, name), load(t, name)) // twice as often as the others
	}
	rapid.Check(t, func(rt *rapid.T) {
		def := rapid.SampledFrom(defs).Draw(rt, "workflow")
		p := &player{rt: rt, def: def, now: start, ids: map[string]bool{}}
		p.play(signal.Signal{Kind: signal.Create, Actor: task.Human, New: &signal.New{
			ID: "000000000000000000001", Project: "p", Branch: "b",
			Summary: rapid.SampledFrom([]string{"", "do it"}).Draw(rt, "summary"),
			Status:  rapid.SampledFrom([]string{"", "", "pending", "agent-review", "reviewing"}).Draw(rt, "status"),
			Spawn:   rapid.Bool().Draw(rt, "spawn"), TrackerRef: rapid.SampledFrom([]string{"", "board:p/1"}).Draw(rt, "card"),
			After: rapid.SampledFrom([][]task.ID{nil, nil, {otherID}, {otherID, thirdID}}).Draw(rt, "after"),
		}})
		for range rapid.IntRange(1, 40).Draw(rt, "signals") {
			p.play(p.nextSignal())
		}
		if a, b := asJSON(rt, p.log), asJSON(rt, p.kept); !bytes.Equal(a, b) {
			rt.Fatalf("an entry changed after it was written:\n%s\n%s", a, b)
		}
	})
}

type player struct {
	rt   *rapid.T
	def  *workflow.Definition
	task task.Task
	log  []journal.Entry
	kept []journal.Entry // log, as a store gives it back
	now  time.Time
	ids  map[string]bool
}

func (p *player) play(sig signal.Signal) {
	p.now = p.now.Add(time.Duration(rapid.IntRange(0, 20000).Draw(p.rt, "seconds")) * time.Second)
	sig.At = p.now
	sig.Artifacts.Sections = p.sections()
	sig.Free = rapid.SampledFrom([][]string{nil, {"p--1"}}).Draw(p.rt, "free")
	if rapid.IntRange(0, 19).Draw(p.rt, "unreadable") == 0 {
		sig.Artifacts = signal.Artifacts{Problem: "it is a folder"}
	}
	p.surroundings(&sig)
	engine.AddOrigin(p.def, &p.task, &sig)
	before, told := asJSON(p.rt, p.task), asJSON(p.rt, sig)
	d := engine.Decide(p.def, &p.task, sig)
	if !bytes.Equal(before, asJSON(p.rt, p.task)) {
		p.rt.Fatalf("deciding about %s changed the record it was given", sig.Kind)
	}
	if !bytes.Equal(told, asJSON(p.rt, sig)) {
		p.rt.Fatalf("deciding changed the signal it was given: %s", told)
	}
	p.sameAgain(d, sig)
	if d.Verdict == engine.Refuse && (len(d.Entries) > 0 || d.Refused == "") {
		p.rt.Fatalf("a refusal without a reason or with entries: %+v", d)
	}
	next, err := journal.Fold(p.task, d.Entries)
	if err != nil {
		p.rt.Fatal(err)
	}
	p.fromTheJournal(d)
	if !bytes.Equal(before, asJSON(p.rt, p.task)) {
		p.rt.Fatalf("folding what was decided about %s changed the record before", sig.Kind)
	}
	p.task = next
	p.log = append(p.log, d.Entries...)
	p.invariants(d)
}

// fromTheJournal decides again about the signal that its first entry records, on
// the record before: the journal keeps all that mattered.
func (p *player) fromTheJournal(d engine.Decision) {
	if len(d.Entries) == 0 {
		return
	}
	var kept []journal.Entry
	must(p.rt, json.Unmarshal(asJSON(p.rt, d.Entries), &kept))
	again := engine.Decide(p.def, &p.task, kept[0].Signal(p.task.Visit))
	if a, b := asJSON(p.rt, d.Entries), asJSON(p.rt, again.Entries); !bytes.Equal(a, b) {
		p.rt.Fatalf("the journal tells it otherwise (%s):\n%s\n%s", again.Refused, a, b)
	}
	for i := range kept {
		if kept[i].BeginsDecision() != (i == 0) {
			p.rt.Fatalf("entry %d of %d begins a decision: %v", i+1, len(kept), kept[i].BeginsDecision())
		}
	}
}

// sameAgain decides once more, from copies that went through JSON and a definition
// that was read again: neither memory nor map order may matter.
func (p *player) sameAgain(d engine.Decision, sig signal.Signal) {
	var sig2 signal.Signal
	var t2 task.Task
	must(p.rt, json.Unmarshal(asJSON(p.rt, sig), &sig2))
	must(p.rt, json.Unmarshal(asJSON(p.rt, p.task), &t2))
	again := engine.Decide(second.read(p.rt, p.def.File, p.def.Text), &t2, sig2)
	if a, b := asJSON(p.rt, d), asJSON(p.rt, again); !bytes.Equal(a, b) {
		p.rt.Fatalf("two decisions about the same:\n%s\n%s", a, b)
	}
}

func (p *player) invariants(d engine.Decision) {
	for _, e := range d.Entries {
		for _, f := range e.Effects {
			if p.ids[f.ID] {
				p.rt.Fatalf("effect id %s twice", f.ID)
			}
			p.ids[f.ID] = true
		}
	}
	var decoded []journal.Entry
	must(p.rt, json.Unmarshal(asJSON(p.rt, d.Entries), &decoded))
	p.kept = append(p.kept, decoded...)
	whole, err := journal.Fold(task.Task{}, p.kept)
	must(p.rt, err)
	if a, b := asJSON(p.rt, whole), asJSON(p.rt, p.task); !bytes.Equal(a, b) {
		p.rt.Fatalf("the journal folds to something else:\n%s\n%s", a, b)
	}
	folded, err := journal.Fold(task.Task{}, p.log)
	must(p.rt, err)
	if a, b := asJSON(p.rt, folded.Pending), asJSON(p.rt, p.task.Pending); !bytes.Equal(a, b) {
		p.rt.Fatalf("pending differs:\n%s\n%s", a, b)
	}
	p.oneAgentPerRole()
}

func (p *player) oneAgentPerRole() {
	if p.task.Seq == 0 {
		return
	}
	seen := map[string]bool{}
	for _, a := range p.task.Attempts {
		if !a.Ending && seen[a.Role] {
			p.rt.Fatalf("two live agents for %s: %+v", a.Role, p.task.Attempts)
		}
		seen[a.Role] = seen[a.Role] || !a.Ending
	}
	if _, ok := p.def.StateNamed(p.task.Status); !ok {
		p.rt.Fatalf("status %q is not in the workflow", p.task.Status)
	}
	if len(p.task.Attempts) > 0 && p.task.Workspace == "" {
		p.rt.Fatalf("an agent lives without a workspace: %+v", p.task)
	}
	x := explain.Task(p.def, p.task, signal.Signal{At: p.now})
	if x.Owner == "" || x.Why == "" {
		p.rt.Fatalf("nobody owns the task: %+v", x)
	}
	if it, ok := explain.InboxItem(p.def, p.task); ok && (it.Text == "" || narrate.FormatCommand(it.Action) == "" || it.Kind == "" || it.Since.IsZero()) {
		p.rt.Fatalf("a person is not told what to do: %+v", it)
	} else if looks := []explain.ItemKind{explain.ItemReview, explain.ItemBoard, explain.ItemStuck, explain.ItemBlocked}; ok && it.Verb == "" && !slices.Contains(looks, it.Kind) {
		p.rt.Fatalf("no surface can offer anything for %+v: add its kind to helps", it)
	}
}

func (p *player) sections() []taskfile.Section {
	var body string
	for _, name := range []string{"Plan", "Handoff", "Review"} {
		text := rapid.SampledFrom([]string{"", "Verdict: PASS", "Verdict: FAIL", "APPROACH: x", "DONE: y", "Verdict: FAIL\nagain"}).Draw(p.rt, name)
		if text != "" {
			body += fmt.Sprintf("## %s\n\n%s\n\n", name, text)
		}
	}
	doc, err := taskfile.Parse([]byte(body))
	must(p.rt, err)
	return doc.Sections()
}

func (p *player) anySignal() signal.Signal {
	actors, roles := []task.Actor{task.Human, task.Engine, task.Tracker, "nobody", ""}, []string{"nobody"}
	for i := range p.def.Roles {
		actors, roles = append(actors, task.Actor(p.def.Roles[i].Name)), append(roles, p.def.Roles[i].Name)
	}
	kinds := []signal.Kind{
		signal.Request, signal.Request, signal.Request, signal.Request, signal.Exit, signal.Exit, signal.Timer, signal.Notice, signal.Notice,
		signal.Effect, signal.Effect, signal.Effect, signal.Ready, signal.Tracker, signal.Outcome,
		signal.Update, signal.Pause, signal.Resume, signal.Tamper, signal.Delete, signal.Create, signal.Import, "junk",
	}
	sig := signal.Signal{
		Kind:    rapid.SampledFrom(kinds).Draw(p.rt, "kind"),
		Actor:   rapid.SampledFrom(actors).Draw(p.rt, "actor"),
		Attempt: rapid.IntRange(0, p.task.AttemptCount()+1).Draw(p.rt, "attempt"),
		Role:    rapid.SampledFrom(roles).Draw(p.rt, "role"),
		Word:    rapid.SampledFrom([]string{"pr:merged", "child", "OK", "BAD", "accepted", "X"}).Draw(p.rt, "word"),
		Visit:   p.task.Visit,
		Timer:   rapid.SampledFrom([]string{engine.Deadline, engine.Respawn, engine.Idle, engine.LimitEnd, "2h0m0s"}).Draw(p.rt, "timer"),
	}
	to := []string{"junk"}
	for _, s := range p.def.States {
		to = append(to, s.Name)
	}
	if rapid.Bool().Draw(p.rt, "by verb") {
		sig.Verb = rapid.SampledFrom([]string{"complete", "stuck", "cancel", "reopen", "clarify", "answer", "merge", "push", "create-pr", "respawn", "stop", "request-changes", "resume", "retest", "accept", "verdict", "report", "junk"}).Draw(p.rt, "verb")
		sig.Arg = rapid.SampledFrom([]string{"", "PASS", "FAIL"}).Draw(p.rt, "arg")
	} else {
		sig.To = rapid.SampledFrom(to).Draw(p.rt, "to")
	}
	sig.Fields = []signal.Field{{Name: rapid.SampledFrom([]string{"summary", "branch", "status"}).Draw(p.rt, "field"), To: "x"}}
	if sig.Kind == signal.Notice || sig.Kind == signal.Exit {
		sig.Condition = &task.Condition{
			Name:  rapid.SampledFrom([]string{task.Running, task.Idle, task.WaitingInput, task.WaitingPermission, task.Limited, "junk"}).Draw(p.rt, "condition"),
			Until: p.now.Add(time.Duration(rapid.IntRange(-1, 3).Draw(p.rt, "until")) * time.Hour),
		}
		sig.Usage = &task.Usage{InputTokens: int64(rapid.IntRange(0, 100).Draw(p.rt, "input"))}
	}
	p.words(&sig)
	sig.Note = rapid.SampledFrom([]string{"", "a word"}).Draw(p.rt, "note")
	if sig.Kind == signal.Effect {
		sig.Result = &signal.Receipt{Effect: p.effectID(), OK: rapid.Bool().Draw(p.rt, "ok"), Error: "no luck"}
	}
	return sig
}

func (p *player) effectID() string {
	if n := len(p.task.Pending); n > 0 && rapid.IntRange(0, 9).Draw(p.rt, "known") > 0 {
		return p.task.Pending[rapid.IntRange(0, n-1).Draw(p.rt, "effect")].ID
	}
	return "000000000000000000001/1/0"
}

func asJSON(t rapid.TB, v any) []byte {
	b, err := json.Marshal(v)
	must(t, err)
	return b
}

func must(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func FuzzSignal(f *testing.F) {
	def := load(f, "orange")
	created := engine.Decide(def, &task.Task{}, signal.Signal{Kind: signal.Create, At: start, Actor: task.Human, Free: []string{"p--1"}, New: &signal.New{
		ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "s", Spawn: true,
	}})
	t, err := journal.Fold(task.Task{}, created.Entries)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"kind":"request","at":"2026-01-02T03:04:05Z","to":"working","artifacts":{"sections":[{"name":"Plan","fields":[{"label":"APPROACH","text":"x"}]}]}}`))
	f.Add([]byte(`{"kind":"exit","at":"2026-01-02T03:04:05Z","attempt":1,"role":"worker"}`))
	f.Add([]byte(`{"kind":"effect","at":"2026-01-02T03:04:05Z","result":{"effect":"000000000000000000001/2/0","ok":true}}`))
	f.Fuzz(func(ft *testing.T, data []byte) {
		var sig signal.Signal
		if json.Unmarshal(data, &sig) != nil {
			return
		}
		d := engine.Decide(def, &t, sig)
		if _, err := journal.Fold(t, d.Entries); err != nil {
			ft.Fatal(err)
		}
		explain.Task(def, t, sig)
	})
}
