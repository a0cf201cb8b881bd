package local_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/runtime/local"
)

// merging is a task in review and a performer of merges that blocks until the test says how the merge went.
type merging struct {
	*env
	id      task.ID
	outcome chan func() (local.EffectResult, error)
}

// handedOver finds work that is not merged and that a person may give up.
type handedOver struct{}

// Probe implements local.EvidenceSource.
func (handedOver) Probe(_ context.Context, q local.Question) signal.Evidence {
	return signal.Evidence{Name: q.Name, Holds: q.Name != workflow.Merged, Detail: "as the test says"}
}

// newMerging returns a task whose merge was requested, and is performed unless the landing queue is held.
func newMerging(t *testing.T, p task.Project) *merging {
	t.Helper()
	p.Workflow = "solo"
	m := &merging{env: newEnv(t, p, func(o *local.RuntimeOptions) { o.EvidenceSource = handedOver{} }), outcome: make(chan func() (local.EffectResult, error))}
	m.answer = func(e task.Effect) (local.EffectResult, error) {
		if e.Do != workflow.MergeBranch {
			return local.EffectResult{}, nil
		}
		m.mu.Unlock()
		defer m.mu.Lock()
		return (<-m.outcome)()
	}
	m.id = m.begin(signal.New{Branch: "b"}).ID
	m.submit(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "reviewing"})
	m.submit(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbMerge})
	if m.merge() == nil {
		t.Fatalf("%+v", m.task(m.id))
	}
	return m
}

// merge returns the requested merge of the task, nil for none.
func (m *merging) merge() *task.Effect {
	m.t.Helper()
	t := m.task(m.id)
	return t.MergeEffect()
}

// submit submits a signal, and returns why it was refused.
func (m *merging) submit(sig signal.Signal) string {
	m.t.Helper()
	a, err := m.Submit(m.t.Context(), m.id, sig)
	if err != nil {
		m.t.Fatal(err)
	}
	synctest.Wait()
	return a.Decision.Refused
}

func (m *merging) asks(verb string) string {
	m.t.Helper()
	return m.submit(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: verb, Note: "no"})
}

// ends lets the merge end.
func (m *merging) ends(done local.EffectResult, err error) {
	m.outcome <- func() (local.EffectResult, error) { return done, err }
	synctest.Wait()
}

// landings returns the entries that say that the work was merged.
func (m *merging) landings() []journal.Entry {
	m.t.Helper()
	list, err := m.store.Journal(m.id, 0)
	if err != nil {
		m.t.Fatal(err)
	}
	return slices.DeleteFunc(list, func(e journal.Entry) bool { return e.Receipt == nil || e.Receipt.Commit == "" })
}

var landed = local.EffectResult{Landed: "0123456789abcdef"}

func TestAMergeIsNotTakenBackWhileItIsPerformed(t *testing.T) {
	for _, verb := range []string{engine.VerbUnland, engine.RequestChanges, "cancel"} {
		t.Run(verb, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMerging(t, task.Project{})
				const said = "the work is being merged into main at this moment"
				if got := m.asks(verb); !strings.HasPrefix(got, said) {
					t.Errorf("refused: %q", got)
				}
				for _, kind := range []signal.Kind{signal.Pause, signal.Resume} {
					if got := m.submit(signal.Signal{Kind: kind, Actor: task.Human}); got != "" {
						t.Errorf("%s is refused: %s", kind, got)
					}
				}
				if got := m.QueuePlace(m.id).Merging; got != "main" {
					t.Errorf("it is merged into %q", got)
				}
				m.ends(local.EffectResult{}, errors.New("the landing lock is held"))
				if got := m.QueuePlace(m.id).Merging; got != "" {
					t.Errorf("it waits, and is merged into %q", got)
				}
				if e := m.merge(); e == nil || e.Tries != 1 {
					t.Fatalf("it is not tried again: %+v", e)
				}
				if got := m.asks(verb); got != "" {
					t.Errorf("it waits for another try, and yet: %s", got)
				}
				if e := m.merge(); e != nil {
					t.Errorf("%+v", e)
				}
				m.pass(time.Hour)
				m.Close()
			})
		})
	}
}

func TestAMergeThatWaitsForItsTurnIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := task.Project{Policy: task.Policy{HoldLanding: true}}
		m := newMerging(t, p)
		if got := m.asks(engine.VerbUnland); got != "" || m.merge() != nil || m.count("merge") != 0 {
			t.Errorf("refused: %q, %+v", got, m.did)
		}
		m.Close()
	})
}

// A merge that a signal drops which nobody requests lands nevertheless, and the record says so.
func TestAMergeThatLandsTooLateIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMerging(t, task.Project{})
		closed := signal.Signal{Kind: signal.Tracker, Actor: task.Tracker, Word: signal.PRClosed}
		if got := m.submit(closed); got != "" {
			t.Fatal(got)
		}
		if got := m.task(m.id); got.Status != "cancelled" || m.merge() != nil {
			t.Fatalf("%s, %+v", got.Status, got.Pending)
		}
		m.ends(landed, nil)
		const said = "its branch was merged into main as 0123456 after the merge was taken back, and the task is cancelled: keep the work or revert it"
		if list, got := m.landings(), m.task(m.id); len(list) != 1 || list[0].Receipt.Commit != landed.Landed || got.Attention != said {
			t.Errorf("%+v, %q", list, got.Attention)
		}
		m.Close()
	})
}

// A workflow may go on after a merge. The move drops the merge before its receipt, and nobody has to know.
func TestAMergeThatMovesItsTaskToAnotherStateIsRecorded(t *testing.T) {
	const deploys = `
name: deploys
version: 1
describe: A branch is merged, then somebody deploys it.
gates:
  merged: {evidence: merged}
states:
  reviewing: {kind: human}
  deploying: {kind: human}
  done: {kind: terminal}
edges:
  - {from: new, to: reviewing, on: create, by: [human]}
  - {from: reviewing, to: deploying, on: [{pr: merged}], by: [engine, tracker]}
  - {from: reviewing, to: deploying, on: request, as: complete, by: [human], gate: merged}
  - {from: deploying, to: done, on: request, as: complete, by: [human]}
`
	synctest.Test(t, func(t *testing.T) {
		m := &merging{outcome: make(chan func() (local.EffectResult, error))}
		m.env = newEnv(t, task.Project{Workflow: "deploys"}, func(o *local.RuntimeOptions) {
			o.EvidenceSource = handedOver{}
			o.Library = library(func(name string) (string, bool) { return deploys, name == "deploys" })
		})
		m.answer = func(task.Effect) (local.EffectResult, error) {
			return local.EffectResult{Landed: landed.Landed, Event: signal.PRMerged}, nil
		}
		m.id = m.begin(signal.New{Branch: "b"}).ID
		if got := m.asks(engine.VerbMerge); got != "" {
			t.Fatal(got)
		}
		if list, got := m.landings(), m.task(m.id); len(list) != 1 || got.Status != "deploying" || got.Attention != "" || len(got.Pending) > 0 {
			t.Errorf("%+v, %s, %q", list, got.Status, got.Attention)
		}
		m.Close()
	})
}
