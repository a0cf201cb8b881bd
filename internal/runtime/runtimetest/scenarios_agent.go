package runtimetest

import (
	"errors"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

func agentScenarios() []scenario {
	return []scenario{
		{"a deadline ends the agent and a second one makes the task stuck", 1, true, deadlineTwice},
		{"a reviewer that ends beside a living worker is replaced", 1, false, reviewerEnds},
		{"a worker that ends during the review is started by the next message", 1, false, workerEnds},
		{"processes are confirmed gone before a workspace is released", 1, false, killBeforeRelease},
		{"a release waits while an attempt lives", 1, false, releaseWaits},
		{"an imported task without an agent is repaired by its deadline, and waits for a workspace", 1, true, importRepaired},
		{"an end that cannot be stored is not forgotten", 1, true, endNotForgotten},
	}
}

func deadlineTwice(r *env) {
	id := r.createTask("a")
	r.passTime(30*time.Minute + time.Second)
	got := r.storedTask(id)
	if got.CounterValue("crash_count") != 1 || got.RespawnAt.IsZero() {
		r.t.Fatalf("after the first deadline: %+v", got)
	}
	r.passTime(time.Minute)
	got = r.storedTask(id)
	if _, ok := got.LiveAttempt("worker"); !ok {
		r.t.Fatal("no worker was started again")
	}
	r.passTime(30 * time.Minute)
	got = r.storedTask(id)
	if got.Status != "stuck" || got.CounterValue("crash_count") != 0 {
		r.t.Fatalf("status %s, crashes %d", got.Status, got.CounterValue("crash_count"))
	}
	if _, ok := got.LiveAttempt("fixer"); !ok {
		r.t.Errorf("stuck has no fixer: %+v", got.Attempts)
	}
}

func reviewerEnds(r *env) {
	id := r.createInReview("a")
	got := r.storedTask(id)
	worker, _ := got.LiveAttempt("worker")
	first, _ := got.LiveAttempt("reviewer")
	if a := r.crashAgent(id, "reviewer"); a.Decision.Verdict != engine.Crash {
		r.t.Fatalf("%s: %v", a.Decision.Verdict, a.Decision.Reasons)
	}
	got = r.waitSettled(id)
	same, _ := got.LiveAttempt("worker")
	second, ok := got.LiveAttempt("reviewer")
	if same != worker || !ok || second.Number == first.Number || !second.Running {
		r.t.Errorf("agents after the crash: %+v", got.Attempts)
	}
	if got.CounterValue("review_round") != 1 || got.CounterValue("crash_count") != 1 || got.Status != "agent-review" {
		r.t.Errorf("%s, counters %+v", got.Status, got.Counters)
	}
	r.appendBody(id, "## Review\n\nVerdict: PASS\n")
	r.endAgent(id, "reviewer")
	if got := r.waitSettled(id); got.Status != "reviewing" || len(got.Attempts) != 1 || got.Attempts[0].Role != "worker" {
		r.t.Errorf("after the verdict: %s, %+v", got.Status, got.Attempts)
	}
}

func workerEnds(r *env) {
	id := r.createInReview("a")
	if a := r.crashAgent(id, "worker"); a.Decision.Verdict != engine.Stay || a.Task.Status != "agent-review" {
		r.t.Fatalf("%s, %s", a.Decision.Verdict, a.Task.Status)
	}
	r.appendBody(id, "## Review\n\nVerdict: FAIL\n")
	r.endAgent(id, "reviewer")
	got := r.waitSettled(id)
	last := slices.MaxFunc(r.performer.askedFor(id), func(a, b AskedEffect) int { return a.Effect.Attempt - b.Effect.Attempt })
	if got.Status != "working" || last.Effect.Do != "notify_worker" || !last.Effect.Start || last.Effect.Prompt != "worker-respawn" {
		r.t.Errorf("%s, last start %+v", got.Status, last.Effect)
	}
	if a, ok := got.LiveAttempt("worker"); !ok || !a.Running {
		r.t.Errorf("no worker runs: %+v", got.Attempts)
	}
}

func killBeforeRelease(r *env) {
	id := r.createInReview("a")
	r.moveTo(id, "cancelled")
	r.waitSettled(id)
	if did := r.performer.effectsDone(id); !strings.HasSuffix(did, "kill_reviewer kill_session release_workspace spawn_next") {
		r.t.Errorf("did %q", did)
	}
	for _, a := range r.performer.askedFor(id) {
		if a.Effect.Do == "release_workspace" && len(a.Task.Attempts) > 0 {
			r.t.Errorf("released while these lived: %+v", a.Task.Attempts)
		}
	}
	if n := r.countEntries(id, journal.AgentExited); n != 2 {
		r.t.Errorf("%d ends are written down, want the worker's and the reviewer's", n)
	}
}

func releaseWaits(r *env) {
	id, next := r.createTask("a"), r.createTask("b")
	r.waitSettled(id)
	r.performer.dieSilently(true)
	r.moveTo(id, "cancelled")
	r.waitUntil("the release is next", func() bool {
		p := r.storedTask(id).Pending
		return len(p) > 0 && p[0].Do == "release_workspace"
	})
	if got := r.storedTask(id); got.Workspace != "p--1" || strings.Contains(r.performer.effectsDone(id), "release") || !r.storedTask(next).Queued {
		r.t.Fatalf("released under a living agent: did %q", r.performer.effectsDone(id))
	}
	if a := r.sendSignal(id, signal.Signal{Kind: signal.Request, Verb: "reopen"}); !strings.Contains(a.Decision.Refused, "clean-up") {
		r.t.Errorf("reopened during the clean-up: %+v", a.Decision)
	}
	r.mustSend(id, signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: r.storedTask(id).Attempts[0].Number})
	r.waitUntil("the next task starts", func() bool { return r.storedTask(next).Status == "planning" })
	if got := r.waitSettled(id); got.Workspace != "" {
		r.t.Errorf("it keeps %q", got.Workspace)
	}
}

func importRepaired(r *env) {
	first := r.createTask("a")
	synctest.Wait()
	id := task.ID("importedimportedimpor")
	a, err := r.ImportTask(r.t.Context(), signal.New{ID: id, Project: "p", Branch: "b", Summary: "s", Status: "agent-review"}, "", []byte("## Handoff\n\nDONE: x\n"), nil)
	if err != nil || a.Decision.Refused != "" {
		r.t.Fatal(err, a.Decision.Refused)
	}
	r.passTime(59 * time.Minute)
	if got := r.storedTask(id); got.CounterValue("crash_count") != 0 || len(r.performer.askedFor(id)) > 0 {
		r.t.Fatalf("before the deadline: %+v", got)
	}
	r.passTime(10 * time.Minute)
	got := r.storedTask(id)
	if got.Status != "agent-review" || got.CounterValue("crash_count") != 1 || got.RespawnAt.IsZero() || len(r.performer.askedFor(id)) > 0 {
		r.t.Fatalf("while no workspace is free: %+v", got)
	}
	r.mustSend(first, signal.Signal{Kind: signal.Request, Verb: "cancel"})
	r.passTime(time.Minute)
	got = r.storedTask(id)
	if a, ok := got.LiveAttempt("reviewer"); !ok || !a.Running || got.Workspace != "p--1" || len(got.Pending) > 0 {
		r.t.Errorf("when one is free: %+v", got)
	}
	if did := r.performer.effectsDone(id); did != "acquire_workspace spawn_reviewer" {
		r.t.Errorf("did %q", did)
	}
}

// The store fails for the signal that a process is gone, and works again for the receipt of the order to end it.
func endNotForgotten(r *env) {
	id, next := r.createTask("a"), r.createTask("b")
	synctest.Wait()
	failures := 0
	r.store.beforeCommit(func(commits []journal.Commit) error {
		for _, c := range commits {
			if c.Task.ID == id && c.Entries[0].Type == journal.AgentExited && failures == 0 {
				failures++
				return errors.New("disk full: free some space")
			}
		}
		return nil
	})
	r.moveTo(id, "cancelled")
	r.passTime(time.Minute)
	if got := r.storedTask(id); failures != 1 || len(got.Attempts) > 0 || got.Workspace != "" || len(got.Pending) > 0 {
		r.t.Errorf("after %d failures: %+v", failures, got)
	}
	if got := r.storedTask(next); got.Status != "planning" {
		r.t.Errorf("the next task is %s", got.Status)
	}
}
