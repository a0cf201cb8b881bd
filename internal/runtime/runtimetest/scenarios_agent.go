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

func deadlineTwice(r *rig) {
	id := r.create("a")
	r.pass(30*time.Minute + time.Second)
	got := r.task(id)
	if got.Counter("crash_count") != 1 || got.RespawnAt.IsZero() {
		r.t.Fatalf("after the first deadline: %+v", got)
	}
	r.pass(time.Minute)
	got = r.task(id)
	if _, ok := got.Live("worker"); !ok {
		r.t.Fatal("no worker was started again")
	}
	r.pass(30 * time.Minute)
	got = r.task(id)
	if got.Status != "stuck" || got.Counter("crash_count") != 0 {
		r.t.Fatalf("status %s, crashes %d", got.Status, got.Counter("crash_count"))
	}
	if _, ok := got.Live("fixer"); !ok {
		r.t.Errorf("stuck has no fixer: %+v", got.Attempts)
	}
}

func reviewerEnds(r *rig) {
	id := r.review("a")
	got := r.task(id)
	worker, _ := got.Live("worker")
	first, _ := got.Live("reviewer")
	if a := r.exit(id, "reviewer"); a.Decision.Verdict != engine.Crash {
		r.t.Fatalf("%s: %v", a.Decision.Verdict, a.Decision.Reasons)
	}
	got = r.settled(id)
	same, _ := got.Live("worker")
	second, ok := got.Live("reviewer")
	if same != worker || !ok || second.Number == first.Number || !second.Running {
		r.t.Errorf("agents after the crash: %+v", got.Attempts)
	}
	if got.Counter("review_round") != 1 || got.Counter("crash_count") != 1 || got.Status != "agent-review" {
		r.t.Errorf("%s, counters %+v", got.Status, got.Counters)
	}
	r.write(id, "## Review\n\nVerdict: PASS\n")
	r.ends(id, "reviewer")
	if got := r.settled(id); got.Status != "reviewing" || len(got.Attempts) != 1 || got.Attempts[0].Role != "worker" {
		r.t.Errorf("after the verdict: %s, %+v", got.Status, got.Attempts)
	}
}

func workerEnds(r *rig) {
	id := r.review("a")
	if a := r.exit(id, "worker"); a.Decision.Verdict != engine.Stay || a.Task.Status != "agent-review" {
		r.t.Fatalf("%s, %s", a.Decision.Verdict, a.Task.Status)
	}
	r.write(id, "## Review\n\nVerdict: FAIL\n")
	r.ends(id, "reviewer")
	got := r.settled(id)
	last := slices.MaxFunc(r.stage.of(id), func(a, b Asked) int { return a.Effect.Attempt - b.Effect.Attempt })
	if got.Status != "working" || last.Effect.Do != "notify_worker" || !last.Effect.Start || last.Effect.Prompt != "worker-respawn" {
		r.t.Errorf("%s, last start %+v", got.Status, last.Effect)
	}
	if a, ok := got.Live("worker"); !ok || !a.Running {
		r.t.Errorf("no worker runs: %+v", got.Attempts)
	}
}

func killBeforeRelease(r *rig) {
	id := r.review("a")
	r.to(id, "cancelled")
	r.settled(id)
	if did := r.stage.did(id); !strings.HasSuffix(did, "kill_reviewer kill_session release_workspace spawn_next") {
		r.t.Errorf("did %q", did)
	}
	for _, a := range r.stage.of(id) {
		if a.Effect.Do == "release_workspace" && len(a.Task.Attempts) > 0 {
			r.t.Errorf("released while these lived: %+v", a.Task.Attempts)
		}
	}
	if n := r.count(id, journal.AgentExited); n != 2 {
		r.t.Errorf("%d ends are written down, want the worker's and the reviewer's", n)
	}
}

func releaseWaits(r *rig) {
	id, next := r.create("a"), r.create("b")
	r.settled(id)
	r.stage.dieSilently(true)
	r.to(id, "cancelled")
	r.until("the release is next", func() bool {
		p := r.task(id).Pending
		return len(p) > 0 && p[0].Do == "release_workspace"
	})
	if got := r.task(id); got.Workspace != "p--1" || strings.Contains(r.stage.did(id), "release") || !r.task(next).Queued {
		r.t.Fatalf("released under a living agent: did %q", r.stage.did(id))
	}
	if a := r.send(id, signal.Signal{Kind: signal.Request, Verb: "reopen"}); !strings.Contains(a.Decision.Refused, "clean-up") {
		r.t.Errorf("reopened during the clean-up: %+v", a.Decision)
	}
	r.must(id, signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: r.task(id).Attempts[0].Number})
	r.until("the next task starts", func() bool { return r.task(next).Status == "planning" })
	if got := r.settled(id); got.Workspace != "" {
		r.t.Errorf("it keeps %q", got.Workspace)
	}
}

func importRepaired(r *rig) {
	first := r.create("a")
	synctest.Wait()
	id := task.ID("importedimportedimpor")
	a, err := r.Import(r.t.Context(), signal.New{ID: id, Project: "p", Branch: "b", Summary: "s", Status: "agent-review"}, "", []byte("## Handoff\n\nDONE: x\n"), nil)
	if err != nil || a.Decision.Refused != "" {
		r.t.Fatal(err, a.Decision.Refused)
	}
	r.pass(59 * time.Minute)
	if got := r.task(id); got.Counter("crash_count") != 0 || len(r.stage.of(id)) > 0 {
		r.t.Fatalf("before the deadline: %+v", got)
	}
	r.pass(10 * time.Minute)
	got := r.task(id)
	if got.Status != "agent-review" || got.Counter("crash_count") != 1 || got.RespawnAt.IsZero() || len(r.stage.of(id)) > 0 {
		r.t.Fatalf("while no workspace is free: %+v", got)
	}
	r.must(first, signal.Signal{Kind: signal.Request, Verb: "cancel"})
	r.pass(time.Minute)
	got = r.task(id)
	if a, ok := got.Live("reviewer"); !ok || !a.Running || got.Workspace != "p--1" || len(got.Pending) > 0 {
		r.t.Errorf("when one is free: %+v", got)
	}
	if did := r.stage.did(id); did != "acquire_workspace spawn_reviewer" {
		r.t.Errorf("did %q", did)
	}
}

// The store fails for the news that a process is gone, and works again for the news
// that the order to end it was carried out.
func endNotForgotten(r *rig) {
	id, next := r.create("a"), r.create("b")
	synctest.Wait()
	failures := 0
	r.disk.do(func(commits []journal.Commit) error {
		for _, c := range commits {
			if c.Task.ID == id && c.Entries[0].Type == journal.AgentExited && failures == 0 {
				failures++
				return errors.New("disk full: free some space")
			}
		}
		return nil
	})
	r.to(id, "cancelled")
	r.pass(time.Minute)
	if got := r.task(id); failures != 1 || len(got.Attempts) > 0 || got.Workspace != "" || len(got.Pending) > 0 {
		r.t.Errorf("after %d failures: %+v", failures, got)
	}
	if got := r.task(next); got.Status != "planning" {
		r.t.Errorf("the next task is %s", got.Status)
	}
}
