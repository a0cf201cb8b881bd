package runtimetest

import (
	"errors"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

func effectScenarios() []scenario {
	return []scenario{
		{"effects run in order and leave receipts", 1, false, effectsInOrder},
		{"a failed effect is tried later and later and then asks for attention", 1, true, retryThenAttention},
		{"a restart drives the pending effect under the same id", 1, true, restartDrivesAgain},
		{"a second try may take its time", 1, true, slowRetry},
		{"everything paused starts nothing", 1, true, allPaused},
		{"one paused task starts nothing and the others go on", 2, true, onePaused},
		{"closing waits for running effects and loses no receipt", 1, false, closeWaits},
		{"after closing nothing is taken", 1, false, closedRefuses},
	}
}

func effectsInOrder(r *env) {
	id := r.createTask("a")
	got := r.waitSettled(id)
	if did := r.performer.effectsDone(id); did != "acquire_workspace spawn_agent" || got.Status != "planning" {
		r.t.Fatalf("did %q, status %s", did, got.Status)
	}
	if a, ok := got.LiveAttempt("worker"); !ok || !a.Running || got.TmuxSession != "p/a" {
		r.t.Errorf("the worker does not run: %+v, session %q", got.Attempts, got.TmuxSession)
	}
}

// failingEffect returns an effect that does not work.
func failingEffect(name string) func(task.Task, task.Effect) error {
	return func(_ task.Task, e task.Effect) error {
		if e.Do == name {
			return errors.New("no such program")
		}
		return nil
	}
}

func retryThenAttention(r *env) {
	r.performer.doBefore(failingEffect("spawn_agent"))
	id := r.createTask("a")
	r.passTime(time.Hour)
	got := r.storedTask(id)
	if !strings.Contains(got.Attention, "no such program") || got.Pending[0].Tries != engine.MaxTries {
		r.t.Fatalf("attention %q, pending %+v", got.Attention, got.Pending)
	}
	var gaps []time.Duration
	asked := r.performer.askedFor(id)
	for i := 2; i < len(asked); i++ {
		gaps = append(gaps, asked[i].At.Sub(asked[i-1].At)/time.Second)
	}
	if want := []time.Duration{1, 2, 4, 8, 16}; !slices.Equal(gaps, want) {
		r.t.Errorf("seconds between tries: %v", gaps)
	}
	r.performer.doBefore(nil)
	r.mustSend(id, signal.Signal{Kind: signal.Resume})
	synctest.Wait()
	if got := r.storedTask(id); got.Attention != "" || len(got.Pending) != 0 {
		r.t.Errorf("after resume: %q, %v", got.Attention, got.Pending)
	}
}

func restartDrivesAgain(r *env) {
	r.performer.doBefore(failingEffect("spawn_agent"))
	id := r.createTask("a")
	synctest.Wait()
	r.Close()
	r.performer.doBefore(nil)
	r.openRuntime()
	r.passTime(time.Minute)
	asked := r.performer.askedFor(id)
	if len(asked) != 3 || asked[1].Effect.ID != asked[2].Effect.ID {
		r.t.Errorf("effects tried: %+v", asked)
	}
	if got := r.storedTask(id); len(got.Pending) != 0 {
		r.t.Errorf("pending: %v", got.Pending)
	}
}

func slowRetry(r *env) {
	tries := 0
	r.performer.doBefore(func(_ task.Task, e task.Effect) error {
		if tries++; tries == 1 {
			return errors.New("not now")
		}
		time.Sleep(time.Minute)
		return nil
	})
	id := r.createTask("a")
	r.passTime(10 * time.Minute)
	if got := r.storedTask(id); len(got.Pending) != 0 || tries != 3 {
		r.t.Errorf("%d tries, pending %v", tries, got.Pending)
	}
}

func allPaused(r *env) {
	r.requireNoError(r.SetPaused(true))
	id := r.createTask("a")
	r.passTime(time.Hour)
	r.Close() // a pause outlives the server
	r.openRuntime()
	r.passTime(time.Hour)
	if did := r.performer.effectsDone(""); did != "" {
		r.t.Fatalf("did %q while paused", did)
	}
	r.requireNoError(r.SetPaused(false))
	synctest.Wait()
	if r.performer.effectsDone(id) == "" || r.storedTask(id).Status != "planning" {
		r.t.Errorf("did %q after resume", r.performer.effectsDone(id))
	}
}

func onePaused(r *env) {
	held, other := r.createTask("a"), r.createTask("b")
	synctest.Wait()
	r.mustSend(held, signal.Signal{Kind: signal.Pause})
	r.appendBody(held, "## Plan\n\nAPPROACH: x\n\n## Handoff\n\nDONE: x\n")
	r.moveTo(held, "working")
	r.moveTo(held, "agent-review")
	r.moveTo(other, "cancelled")
	before := r.performer.effectsDone(held)
	r.passTime(24 * time.Hour)
	got := r.storedTask(held)
	if r.performer.effectsDone(held) != before || got.Status != "agent-review" || len(got.Pending) != 1 {
		r.t.Fatalf("paused, and did %q; %s, pending %v", r.performer.effectsDone(held), got.Status, got.Pending)
	}
	if got := r.storedTask(other); got.Workspace != "" || len(got.Pending) != 0 {
		r.t.Errorf("the other task was held up: %+v", got)
	}
	r.mustSend(held, signal.Signal{Kind: signal.Resume})
	synctest.Wait()
	if got := r.storedTask(held); len(got.Pending) != 0 || !strings.HasSuffix(r.performer.effectsDone(held), "spawn_reviewer") {
		r.t.Errorf("after resume: did %q, pending %v", r.performer.effectsDone(held), got.Pending)
	}
	if a := r.sendSignal(held, signal.Signal{Kind: signal.Resume}); a.Decision.Verdict != engine.Refuse {
		r.t.Errorf("resumed twice: %+v", a.Decision)
	}
}

func closeWaits(r *env) {
	reached, goOn := make(chan struct{}), make(chan struct{})
	r.performer.doBefore(func(_ task.Task, e task.Effect) error {
		if e.Do == "spawn_agent" {
			close(reached)
			<-goOn
		}
		return nil
	})
	id := r.createTask("a")
	<-reached
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		r.Close()
	}()
	for { // until the runtime takes no more: closing has begun
		if _, err := r.Submit(r.t.Context(), id, signal.Signal{Kind: signal.Ready, Actor: task.Human}); errors.Is(err, task.ErrClosing) {
			break
		}
	}
	select {
	case <-closed:
		r.t.Error("closed while an effect runs")
	default:
	}
	close(goOn)
	<-closed
	got := r.storedTask(id)
	if a, ok := got.LiveAttempt("worker"); !ok || !a.Running || len(got.Pending) != 0 {
		r.t.Errorf("the receipt is lost: %+v", got)
	}
}

func closedRefuses(r *env) {
	id := r.createTask("a")
	r.waitSettled(id)
	r.Close()
	r.Close()
	_, submitted := r.Submit(r.t.Context(), id, signal.Signal{Kind: signal.Pause, Actor: task.Human})
	_, created := r.Create(r.t.Context(), newTask("b"))
	_, imported := r.ImportTask(r.t.Context(), newTask("c").New, "", nil, nil)
	for _, err := range []error{submitted, created, imported} {
		if !errors.Is(err, task.ErrClosing) {
			r.t.Errorf("after closing: %v", err)
		}
	}
}
