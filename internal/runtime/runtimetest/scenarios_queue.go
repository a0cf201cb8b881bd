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

func queuedStarts(r *rig) {
	first, second := r.create("a"), r.create("b")
	r.settled(first)
	if got := r.task(second); got.Status != "pending" || !got.Queued {
		r.t.Fatalf("the second task is %s, queued %v", got.Status, got.Queued)
	}
	r.to(first, "cancelled")
	r.until("the second task starts", func() bool { return r.task(second).Status == "planning" })
	if got := r.settled(second); got.Workspace != "p--1" {
		r.t.Errorf("the second task is in %q", got.Workspace)
	}
	if got := r.settled(first); got.Workspace != "" || len(got.Attempts) != 0 {
		r.t.Errorf("the first task keeps %q and %v", got.Workspace, got.Attempts)
	}
}

func largerPool(r *rig) {
	ids := []task.ID{r.create("a"), r.create("b"), r.create("c")}
	r.settled(ids[0])
	r.check(r.UpdateProject(project(2)))
	r.until("the second task starts", func() bool { return r.task(ids[1]).Status == "planning" })
	r.settled(ids[1])
	if got := r.task(ids[2]); got.Status != "pending" || !got.Queued {
		r.t.Errorf("the third task is %s in %q", got.Status, got.Workspace)
	}
}

// The server is told to leave while the workspace is being released: nobody gives the
// next task its turn any more.
func restartKicksQueue(r *rig) {
	first, second := r.create("a"), r.create("b")
	synctest.Wait()
	goOn := make(chan struct{})
	r.stage.do(func(_ task.Task, e task.Effect) error {
		if e.Do == "release_workspace" {
			<-goOn
		}
		return nil
	})
	r.to(first, "cancelled")
	synctest.Wait()
	go r.Close()
	synctest.Wait()
	close(goOn)
	synctest.Wait()
	if got := r.task(first); got.Workspace != "" {
		r.t.Fatalf("the first task keeps %q", got.Workspace)
	}
	if got := r.task(second); !got.Queued {
		r.t.Fatalf("the second task is %s", got.Status)
	}
	r.start()
	synctest.Wait()
	if got := r.task(second); got.Status != "planning" || got.Workspace != "p--1" || len(got.Pending) > 0 {
		r.t.Errorf("after the restart: %s in %q, pending %v", got.Status, got.Workspace, got.Pending)
	}
}

func turnComesAgain(r *rig) {
	first, second := r.create("a"), r.create("b")
	synctest.Wait()
	r.disk.do(func(commits []journal.Commit) error {
		for _, c := range commits {
			if c.Task.ID == second {
				return errors.New("disk full: free some space")
			}
		}
		return nil
	})
	r.to(first, "cancelled")
	r.pass(time.Minute)
	if got := r.task(second); !got.Queued {
		r.t.Fatalf("the second task is %s", got.Status)
	}
	r.disk.do(nil)
	r.pass(16 * time.Second)
	if got := r.task(second); got.Status != "planning" || len(got.Pending) > 0 {
		r.t.Errorf("the disk works again, and the task is %s in %q", got.Status, got.Workspace)
	}
}

func manyAtOnce(r *rig) {
	ids := make([]task.ID, 24)
	var wait sync.WaitGroup
	for i := range ids {
		wait.Go(func() {
			a, err := r.Create(r.t.Context(), wish(fmt.Sprintf("b%d", i)))
			if err != nil {
				r.t.Error(err)
			}
			ids[i] = a.Task.ID
		})
	}
	wait.Wait()
	seen := map[string]bool{}
	for _, id := range ids {
		got := r.settled(id)
		folded, err := journal.Fold(task.Task{}, r.entries(id))
		if err != nil || folded.Seq != got.Seq || got.Status != "planning" {
			r.t.Fatalf("task %s: %v, %s", id, err, got.Status)
		}
		if seen[got.Workspace] {
			r.t.Fatalf("workspace %s is bound twice", got.Workspace)
		}
		seen[got.Workspace] = true
	}
}

func oneWins(r *rig) {
	id := r.create("a")
	r.settled(id)
	r.write(id, "## Plan\n\nAPPROACH: x\n")
	var wait sync.WaitGroup
	verdicts := make([]engine.Verdict, 8)
	for i := range verdicts {
		wait.Go(func() {
			a, err := r.sendWith(r.t.Context(), id, signal.Signal{Kind: signal.Request, To: "working"})
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
