package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/runtime/local"
	"orange/internal/runtime/runtimetest"
	"orange/internal/view/narrate"
)

// phone shows codes to a person.
type phone struct {
	shown []local.Code
	head  string
	off   error
	lost  error
}

func (p *phone) CanShow(string) error { return p.off }

func (p *phone) Head(context.Context, task.Project, string) (string, error) { return p.head, nil }

func (p *phone) Show(_ context.Context, c local.Code) error {
	p.shown = append(p.shown, c)
	return p.lost
}

func (p *phone) Shares(_ context.Context, a, b task.Project) bool {
	return strings.HasPrefix(b.Path, a.Path)
}

func (p *phone) last() string { return p.shown[len(p.shown)-1].Code }

// confirmEnv is a runtime whose project asks for codes.
type confirmEnv struct {
	*local.Runtime
	t     *testing.T
	store *runtimetest.MemoryStore
	phone *phone
}

func newConfirmEnv(t *testing.T) *confirmEnv {
	t.Helper()
	p := task.Project{Name: "p", Path: "/p", PoolSize: 4, Workflow: "orange-direct"}
	p.Confirm.Merge = task.ConfirmCode
	d := &confirmEnv{t: t, store: runtimetest.NewMemoryStore(p), phone: &phone{head: "c0ffee"}}
	d.open()
	return d
}

func (d *confirmEnv) open() {
	d.t.Helper()
	none := library(func(string) (string, bool) { return "", false })
	rt, err := local.Open(local.RuntimeOptions{
		Store: d.store, Library: none, Performer: done{}, Log: slog.New(slog.DiscardHandler), Codes: d.phone,
	})
	if err != nil {
		d.t.Fatal(err)
	}
	d.Runtime = rt
}

// reviewing makes a task that waits for a person.
func (d *confirmEnv) reviewing(branch string) task.ID {
	d.t.Helper()
	a, err := d.Create(d.t.Context(), signal.NewTask{Actor: task.Human, New: signal.New{Project: "p", Branch: branch, Summary: "s", Status: "reviewing"}})
	if err != nil || a.Decision.Refused != "" {
		d.t.Fatal(err, a.Decision.Refused)
	}
	synctest.Wait()
	return a.Task.ID
}

func (d *confirmEnv) merge(id task.ID, code string) engine.Decision {
	d.t.Helper()
	return submit(d.t, d.Runtime, id, signal.Signal{Kind: signal.Request, Verb: engine.VerbMerge, Actor: task.Human, Confirm: code})
}

func wantRefused(t *testing.T, got engine.Decision, words string) {
	t.Helper()
	if got.Verdict != engine.Refuse || !strings.Contains(got.Refused, words) || len(got.Reasons) == 0 || got.Reasons[0].Rule != engine.RuleConfirm {
		t.Errorf("want a refusal for want of a code with %q, got %+v", words, got)
	}
}

func wantMerged(t *testing.T, got engine.Decision) {
	t.Helper()
	if got.Refused != "" || len(got.Entries) == 0 {
		t.Errorf("it was not merged: %+v", got)
	}
}

func TestAMergeNeedsTheCodeThatWasShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newConfirmEnv(t)
		defer d.Close()
		id := d.reviewing("b")
		wantRefused(t, d.merge(id, ""), "it was sent by notification")
		code := d.phone.last()
		if len(code) != 6 || d.phone.shown[0].Head != "c0ffee" || d.phone.shown[0].Task.ID != id {
			t.Errorf("shown: %+v", d.phone.shown[0])
		}
		wantRefused(t, d.merge(id, "x"+code[1:]), "the code is wrong: 4 tries are left")
		wantRefused(t, d.merge(id, ""), "a code was sent by notification")
		if len(d.phone.shown) != 1 {
			t.Errorf("%d codes were sent at once", len(d.phone.shown))
		}
		wantMerged(t, d.merge(id, " "+code+"\n"))
		synctest.Wait()
		entries, err := d.store.Journal(id, 0)
		if err != nil {
			t.Fatal(err)
		}
		refusals, err := d.store.Refusals(id)
		if err != nil || len(refusals) != 3 {
			t.Errorf("%d refusals are kept: %v", len(refusals), err)
		}
		text, _ := json.Marshal([]any{entries, refusals})
		if strings.Contains(string(text), code) {
			t.Errorf("the code is in the journal: %s", text)
		}
	})
}

func TestACodeIsForOneUseOneTaskOneCommitAndOneAction(t *testing.T) {
	for name, spoil := range map[string]func(d *confirmEnv, id task.ID, code string) task.ID{
		"used": func(d *confirmEnv, id task.ID, code string) task.ID {
			wantMerged(d.t, d.merge(id, code))
			synctest.Wait()
			return id
		},
		"old":             func(_ *confirmEnv, id task.ID, _ string) task.ID { time.Sleep(5 * time.Minute); return id },
		"another task":    func(d *confirmEnv, _ task.ID, _ string) task.ID { return d.reviewing("other") },
		"another head":    func(d *confirmEnv, id task.ID, _ string) task.ID { d.phone.head = "beef"; return id },
		"another server":  func(d *confirmEnv, id task.ID, _ string) task.ID { d.Close(); d.open(); return id },
		"for the project": func(d *confirmEnv, id task.ID, code string) task.ID { return id },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newConfirmEnv(t)
				defer func() { d.Close() }()
				id := d.reviewing("b")
				if name == "for the project" {
					if err := d.ConfirmProject(t.Context(), "p", "removal", "", ""); err == nil {
						t.Error("no code is asked for")
					}
				} else {
					wantRefused(t, d.merge(id, ""), "it was sent")
				}
				code := d.phone.last()
				wantRefused(t, d.merge(spoil(d, id, code), code), "this code confirms nothing here")
			})
		})
	}
}

func TestAfterFiveWrongCodesNoneIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newConfirmEnv(t)
		defer d.Close()
		id := d.reviewing("b")
		wantRefused(t, d.merge(id, ""), "it was sent")
		for range 4 {
			wantRefused(t, d.merge(id, "wrong"), "the code is wrong")
		}
		wantRefused(t, d.merge(id, "wrong"), "a wrong code was given 5 times")
		wantRefused(t, d.merge(id, d.phone.last()), "a wrong code was given 5 times")
		wantRefused(t, d.merge(d.reviewing("other"), ""), "a wrong code was given 5 times")
		time.Sleep(5 * time.Minute)
		wantRefused(t, d.merge(id, ""), "it was sent")
		wantMerged(t, d.merge(id, d.phone.last()))
	})
}

func TestACodeThatCannotBeShownConfirmsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newConfirmEnv(t)
		defer d.Close()
		id := d.reviewing("b")
		d.phone.lost = errors.New("webhook: it is gone")
		wantRefused(t, d.merge(id, ""), "the code could not be sent: webhook: it is gone")
		wantRefused(t, d.merge(id, d.phone.last()), "this code confirms nothing here")
		d.phone.off = errors.New("add ntfy")
		wantRefused(t, d.merge(id, ""), "add ntfy")
	})
}

func TestWhatNeedsACode(t *testing.T) {
	human := signal.Signal{Kind: signal.Request, Verb: engine.VerbMerge, Actor: task.Human}
	claimed, tracked := human, human
	claimed.Actor, claimed.Via = task.Tracker, &signal.Via{Kind: signal.ViaSocket}
	tracked.Actor, tracked.Via = task.Tracker, &signal.Via{Kind: signal.ViaTracker}
	for _, tt := range []struct {
		name string
		sig  signal.Signal
		want bool
	}{
		{"a merge", human, true},
		{"no merge", signal.Signal{Kind: signal.Request, Verb: "cancel", Actor: task.Human}, false},
		{"a pause", signal.Signal{Kind: signal.Pause, Actor: task.Human}, false},
		{"refused by the engine", claimed, false}, // a tracker may not ask for that
		{"a tracker", tracked, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newConfirmEnv(t)
				defer d.Close()
				submit(t, d.Runtime, d.reviewing("b"), tt.sig)
				if got := len(d.phone.shown) > 0; got != tt.want {
					t.Errorf("a code was sent: %v", got)
				}
			})
		})
	}
}

func TestAMoveOfAPersonThatMergesNeedsACode(t *testing.T) {
	const text = `name: t
version: 1
states:
  asked: {kind: human}
  landing: {kind: human, on_enter: [merge]}
  done: {kind: terminal}
gates:
  merged: {evidence: merged}
edges:
  - {from: new, to: asked, on: create, by: [human]}
  - {from: asked, to: landing, as: complete, by: [human, tracker]}
  - {from: landing, to: done, on: [request, {pr: merged}], as: complete, by: [human, engine, tracker], gate: merged}
`
	synctest.Test(t, func(t *testing.T) {
		p := task.Project{Name: "p", Path: "/p", PoolSize: 4, Workflow: "t"}
		p.Confirm.Merge = task.ConfirmCode
		show := &phone{}
		rt, err := local.Open(local.RuntimeOptions{
			Store: runtimetest.NewMemoryStore(p), Library: library(func(string) (string, bool) { return text, true }), Performer: done{},
			Log: slog.New(slog.DiscardHandler), Codes: show,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer rt.Close()
		a, err := rt.Create(t.Context(), signal.NewTask{Actor: task.Human, New: signal.New{Project: "p", Branch: "b", Summary: "s"}})
		if err != nil || a.Decision.Refused != "" {
			t.Fatal(err, a.Decision.Refused)
		}
		move := signal.Signal{Kind: signal.Request, To: "landing", Actor: task.Human}
		wantRefused(t, submit(t, rt, a.Task.ID, move), "before a person's move to landing")
		x, err := rt.Explain(t.Context(), a.Task.ID)
		if err != nil || !strings.Contains(x.Confirm, "needs a code") || !strings.Contains(narrate.DescribeExplanation(x, time.Now()), "Confirm: ") {
			t.Errorf("explain does not say it: %q, %v", x.Confirm, err)
		}
		byClient := move // a client of a person that speaks as a tracker
		byClient.Actor, byClient.Via = task.Tracker, &signal.Via{Kind: signal.ViaSocket}
		wantRefused(t, submit(t, rt, a.Task.ID, byClient), "a code was sent")
		move.Confirm = show.last()
		wantMerged(t, submit(t, rt, a.Task.ID, move))
	})
}

func TestACardThatLetsAMergeHappenNeedsACode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := task.Project{Name: "p", Path: "/p", PoolSize: 4, Workflow: "joan-board"}
		p.Confirm.Merge = task.ConfirmCode
		show := &phone{}
		none := library(func(string) (string, bool) { return "", false })
		rt, err := local.Open(local.RuntimeOptions{Store: runtimetest.NewMemoryStore(p), Library: none, Performer: done{}, Log: slog.New(slog.DiscardHandler), Codes: show})
		if err != nil {
			t.Fatal(err)
		}
		defer rt.Close()
		card := board.Card{Project: "p", Number: 3, Column: "Review", Tags: []string{"Review-Approved"}}
		if err := rt.ConfirmCard(t.Context(), card, "", ""); err != nil {
			t.Errorf("an agent's tag: %v", err)
		}
		card.Tags = append(card.Tags, "Ops-Ready")
		if err := rt.ConfirmCard(t.Context(), card, "", ""); err == nil || !strings.Contains(err.Error(), "change of card 3") {
			t.Errorf("a tag that lets it merge: %v", err)
		}
		if err := rt.ConfirmCard(t.Context(), card, "", show.last()); err != nil {
			t.Error(err)
		}
	})
}

// The effect names the commit that was confirmed: whatever the branch becomes, nothing else is merged.
func TestAMergeIsBoundToTheCommitThatWasConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newConfirmEnv(t)
		defer d.Close()
		id := d.reviewing("b")
		d.merge(id, "")
		got := d.merge(id, d.phone.last())
		wantMerged(t, got)
		if e := got.Entries[0].Effects[0]; e.Head != "c0ffee" {
			t.Errorf("%+v", e)
		}
		synctest.Wait()
		entries, err := d.store.Journal(id, 0)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := journal.Fold(task.Task{}, entries)
		if err != nil {
			t.Fatal(err)
		}
		def, err := d.Definition(&rec)
		if err != nil {
			t.Fatal(err)
		}
		again, err := engine.Redecide(def, entries)
		if err != nil {
			t.Fatal(err)
		}
		if first, n := again.FirstDivergence(); n > 0 {
			t.Errorf("%d decisions are not the same again, the first: %+v", n, first)
		}
	})
}

func TestAnotherProjectOfTheRepositoryIsNoWayRoundTheCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newConfirmEnv(t)
		defer d.Close()
		err := d.AddProject(task.Project{Name: "q", Path: "/p/worktree", PoolSize: 1})
		if err == nil || !strings.Contains(err.Error(), `belongs to the repository of project "p"`) {
			t.Errorf("%v", err)
		}
		if err := d.AddProject(task.Project{Name: "q", Path: "/q", PoolSize: 1}); err != nil {
			t.Error(err)
		}
	})
}

// Wrong codes are counted for the project, whatever they were given for.
func TestWrongCodesOfAllActionsCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newConfirmEnv(t)
		defer d.Close()
		one, other := d.reviewing("one"), d.reviewing("other")
		d.merge(one, "")
		d.merge(other, "")
		good := d.phone.last()
		for range 4 {
			d.merge(one, "xxxxxx")
		}
		time.Sleep(31 * time.Second)
		d.merge(one, "") // another code for the same action is no way to more tries
		wantRefused(t, d.merge(one, "xxxxxx"), "a wrong code was given 5 times")
		wantRefused(t, d.merge(other, good), "a wrong code was given 5 times")
	})
}

func TestProjectsKeepTheirOrderWhenOneChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newConfirmEnv(t)
		defer d.Close()
		if err := d.AddProject(task.Project{Name: "a", Path: "/a", PoolSize: 1}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			list := d.Projects()
			if list[0].Name != "a" {
				t.Errorf("%q is the first", list[0].Name)
			}
			if err := d.UpdateProject(list[0]); err != nil {
				t.Fatal(err)
			}
		}
	})
}
