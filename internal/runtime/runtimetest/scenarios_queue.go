package runtimetest

import (
	"errors"
	"fmt"
	"sync"
	"testing/synctest"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

func queueScenarios() []scenario {
	return []scenario{
		{"a queued task starts when a workspace is free", 1, false, queuedStarts},
		{"a larger pool lets queued tasks start, oldest first", 1, false, largerPool},
		{"a restart gives queued tasks their turn", 1, true, restartKicksQueue},
		{"a turn that cannot be stored comes again", 1, true, turnComesAgain},
		{"many tasks at once keep their journals and their workspaces", 200, false, manyAtOnce},
		{"of those who ask for the same move one wins", 1, false, oneWins},
	}
}

func queuedStarts(r *env) {
	first, second := r.createTask("a"), r.createTask("b")
	r.waitSettled(first)
	if got := r.storedTask(second); got.Status != "pending" || !got.Queued {
		r.t.Fatalf("the second task is %s, queued %v", got.Status, got.Queued)
	}
	r.moveTo(first, "cancelled")
	r.waitUntil("the second task starts", func() bool { return r.storedTask(second).Status == "planning" })
	if got := r.waitSettled(second); got.Workspace != "p--1" {
		r.t.Errorf("the second task is in %q", got.Workspace)
	}
	if got := r.waitSettled(first); got.Workspace != "" || len(got.Attempts) != 0 {
		r.t.Errorf("the first task keeps %q and %v", got.Workspace, got.Attempts)
	}
}

func largerPool(r *env) {
	ids := []task.ID{r.createTask("a"), r.createTask("b"), r.createTask("c")}
	r.waitSettled(ids[0])
	r.requireNoError(r.UpdateProject(testProject(2)))
	r.waitUntil("the second task starts", func() bool { return r.storedTask(ids[1]).Status == "planning" })
	r.waitSettled(ids[1])
	if got := r.storedTask(ids[2]); got.Status != "pending" || !got.Queued {
		r.t.Errorf("the third task is %s in %q", got.Status, got.Workspace)
	}
}

// The server stops while the workspace is being released, so that nothing gives the next task its turn.
func restartKicksQueue(r *env) {
	first, second := r.createTask("a"), r.createTask("b")
	synctest.Wait()
	goOn := make(chan struct{})
	r.performer.doBefore(func(_ task.Task, e task.Effect) error {
		if e.Do == "release_workspace" {
			<-goOn
		}
		return nil
	})
	r.moveTo(first, "cancelled")
	synctest.Wait()
	go r.Close()
	synctest.Wait()
	close(goOn)
	synctest.Wait()
	if got := r.storedTask(first); got.Workspace != "" {
		r.t.Fatalf("the first task keeps %q", got.Workspace)
	}
	if got := r.storedTask(second); !got.Queued {
		r.t.Fatalf("the second task is %s", got.Status)
	}
	r.openRuntime()
	synctest.Wait()
	if got := r.storedTask(second); got.Status != "planning" || got.Workspace != "p--1" || len(got.Pending) > 0 {
		r.t.Errorf("after the restart: %s in %q, pending %v", got.Status, got.Workspace, got.Pending)
	}
}

func turnComesAgain(r *env) {
	first, second := r.createTask("a"), r.createTask("b")
	synctest.Wait()
	r.store.beforeCommit(func(commits []journal.Commit) error {
		for _, c := range commits {
			if c.Task.ID == second {
				return errors.New("disk full: free some space")
			}
		}
		return nil
	})
	r.moveTo(first, "cancelled")
	r.passTime(time.Minute)
	if got := r.storedTask(second); !got.Queued {
		r.t.Fatalf("the second task is %s", got.Status)
	}
	r.store.beforeCommit(nil)
	r.passTime(16 * time.Second)
	if got := r.storedTask(second); got.Status != "planning" || len(got.Pending) > 0 {
		r.t.Errorf("the disk works again, and the task is %s in %q", got.Status, got.Workspace)
	}
}

func manyAtOnce(r *env) {
	ids := make([]task.ID, 24)
	var wait sync.WaitGroup
	for i := range ids {
		wait.Go(func() {
			a, err := r.Create(r.t.Context(), newTask(fmt.Sprintf("b%d", i)))
			if err != nil {
				r.t.Error(err)
			}
			ids[i] = a.Task.ID
		})
	}
	wait.Wait()
	seen := map[string]bool{}
	for _, id := range ids {
		got := r.waitSettled(id)
		folded, err := journal.Fold(task.Task{}, r.storedEntries(id))
		if err != nil || folded.Seq != got.Seq || got.Status != "planning" {
			r.t.Fatalf("task %s: %v, %s", id, err, got.Status)
		}
		if seen[got.Workspace] {
			r.t.Fatalf("workspace %s is bound twice", got.Workspace)
		}
		seen[got.Workspace] = true
	}
}

func oneWins(r *env) {
	id := r.createTask("a")
	r.waitSettled(id)
	r.appendBody(id, "## Plan\n\nAPPROACH: x\n")
	var wait sync.WaitGroup
	verdicts := make([]engine.Verdict, 8)
	for i := range verdicts {
		wait.Go(func() {
			a, err := r.sendSignalWith(r.t.Context(), id, signal.Signal{Kind: signal.Request, To: "working"})
			if err != nil {
				r.t.Error(err)
			}
			verdicts[i] = a.Decision.Verdict
		})
	}
	wait.Wait()
	won := 0
	for _, v := range verdicts {
		if v == engine.Advance {
			won++
		}
	}
	if won != 1 {
		r.t.Errorf("%d of %d won: %v", won, len(verdicts), verdicts)
	}
}
