package runtimetest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

func storeScenarios() []scenario {
	return []scenario{
		{"a store that fails changes nothing and frees the workspace", 1, false, storeFails},
		{"receipts that cannot be stored are tried again 15 s later", 1, true, receiptsAgain},
		{"one failing commit does not fail its neighbours", 3, true, failureIsIsolated},
		{"a request withdrawn before it is written changes nothing", 2, true, withdrawnCommit},
		{"who follows sees every row once and in order", 8, false, journalFollowed},
		{"an id is given once", 2, false, idOnce},
		{"of those who want the same branch one gets it", 4, false, branchOnce},
	}
}

var errDisk = errors.New("disk full: free some space")

func storeFails(r *env) {
	r.store.beforeCommit(func([]journal.Commit) error { return errDisk })
	w := newTask("a")
	w.ID = "abcdefghijklmnopqrstu"
	_, err := r.Create(r.t.Context(), w)
	if err == nil || !strings.Contains(err.Error(), "nothing was changed") || !errors.Is(err, errDisk) {
		r.t.Fatalf("Create on a full disk: %v", err)
	}
	if r.taskText(w.ID) != "" {
		r.t.Error("the folder of a task that never was is still there")
	}
	r.store.beforeCommit(nil)
	id := r.createTask("b")
	if got := r.waitSettled(id); got.Workspace != "p--1" {
		r.t.Error("the workspace of the failed task is not free")
	}
	r.store.beforeCommit(func([]journal.Commit) error { return errDisk })
	if _, err := r.sendSignalWith(r.t.Context(), id, signal.Signal{Kind: signal.Pause}); err == nil {
		r.t.Error("paused without a store")
	}
	r.store.beforeCommit(nil)
	if got := r.storedTask(id); got.Paused {
		r.t.Errorf("the store failed, and the record says %+v", got)
	}
	r.mustSend(id, signal.Signal{Kind: signal.Pause})
}

func receiptsAgain(r *env) {
	r.store.beforeCommit(func(commits []journal.Commit) error {
		if commits[0].Entries[0].Receipt != nil {
			return errDisk
		}
		return nil
	})
	id := r.createTask("a")
	r.passTime(46 * time.Second)
	asked := r.performer.askedFor(id)
	if len(asked) != 4 || r.storedTask(id).Pending[0].Tries != 0 {
		r.t.Fatalf("%d tries in 46 s: %+v", len(asked), r.storedTask(id).Pending)
	}
	for i := 1; i < len(asked); i++ {
		if gap := asked[i].At.Sub(asked[i-1].At); gap != 15*time.Second || asked[i].Effect.ID != asked[0].Effect.ID {
			r.t.Errorf("try %d of %s came %s later", i+1, asked[i].Effect.ID, gap)
		}
	}
	r.store.beforeCommit(nil)
	r.passTime(15 * time.Second)
	if got := r.storedTask(id); len(got.Pending) != 0 || got.Attention != "" {
		r.t.Errorf("the disk works again: pending %v, attention %q", got.Pending, got.Attention)
	}
}

// blockCommits makes the next commit wait until the returned function is called, so that later decisions share one
// write.
func (r *env) blockCommits(then func([]journal.Commit) error) (goOn func()) {
	gate := make(chan struct{})
	first := true
	r.store.beforeCommit(func(commits []journal.Commit) error {
		if first {
			first = false
			<-gate
			return nil
		}
		return then(commits)
	})
	return func() { close(gate) }
}

func failureIsIsolated(r *env) {
	ids := []task.ID{r.createTask("a"), r.createTask("b"), r.createTask("c")}
	synctest.Wait()
	batches := 0
	goOn := r.blockCommits(func(commits []journal.Commit) error {
		batches++
		for _, c := range commits {
			if c.Task.ID == ids[1] {
				return errDisk
			}
		}
		return nil
	})
	errs := make([]error, len(ids)+1)
	var wait sync.WaitGroup
	send := func(i int, id task.ID, kind signal.Kind) {
		wait.Go(func() { _, errs[i] = r.sendSignalWith(r.t.Context(), id, signal.Signal{Kind: kind}) })
		synctest.Wait()
	}
	send(3, ids[0], signal.Pause) // is being written while the others come
	send(1, ids[1], signal.Pause)
	send(2, ids[2], signal.Pause)
	goOn()
	wait.Wait()
	if errs[3] != nil || errs[1] == nil || errs[2] != nil || batches != 3 {
		r.t.Errorf("answers %v after %d writes", errs, batches)
	}
	if !r.storedTask(ids[0]).Paused || r.storedTask(ids[1]).Paused || !r.storedTask(ids[2]).Paused {
		r.t.Error("not exactly the failed one is unchanged")
	}
	r.store.beforeCommit(nil)
	r.mustSend(ids[1], signal.Signal{Kind: signal.Pause})
}

func withdrawnCommit(r *env) {
	first, second := r.createTask("a"), r.createTask("b")
	synctest.Wait()
	goOn := r.blockCommits(func([]journal.Commit) error { return nil })
	var wait sync.WaitGroup
	wait.Go(func() {
		if _, err := r.sendSignalWith(r.t.Context(), first, signal.Signal{Kind: signal.Pause}); err != nil {
			r.t.Error(err)
		}
	})
	synctest.Wait()
	ctx, cancel := context.WithCancel(r.t.Context())
	var withdrawn error
	wait.Go(func() { _, withdrawn = r.sendSignalWith(ctx, second, signal.Signal{Kind: signal.Pause}) })
	synctest.Wait()
	cancel()
	synctest.Wait()
	if !errors.Is(withdrawn, context.Canceled) {
		r.t.Errorf("the one who left: %v", withdrawn)
	}
	goOn()
	wait.Wait()
	if !r.storedTask(first).Paused || r.storedTask(second).Paused {
		r.t.Error("what was withdrawn was written, or the other was not")
	}
	r.mustSend(second, signal.Signal{Kind: signal.Pause})
}

func journalFollowed(r *env) {
	var wait sync.WaitGroup
	for _, branch := range []string{"a", "b", "c", "d"} {
		wait.Go(func() {
			a, err := r.Create(r.t.Context(), newTask(branch))
			for range 5 {
				_, err = r.sendSignalWith(r.t.Context(), a.Task.ID, signal.Signal{Kind: signal.Update, Fields: []signal.Field{{Name: "summary", To: r.summaryFor(a)}}})
			}
			if err != nil {
				r.t.Error(err)
			}
		})
	}
	var last int64
	seqs := map[task.ID]int{}
	for n := 0; n < 4*(2+2+1); { // created, started, two receipts, an update
		rows, more, err := r.FollowJournal(last, "", 3)
		r.requireNoError(err)
		for _, row := range rows {
			var e journal.Entry
			r.requireNoError(json.Unmarshal(row.Entry, &e))
			if row.ID != last+1 || e.Seq != seqs[e.Task]+1 {
				r.t.Fatalf("row %d after %d, entry %d after %d", row.ID, last, e.Seq, seqs[e.Task])
			}
			last, seqs[e.Task] = row.ID, e.Seq
			n++
		}
		if len(rows) == 0 {
			<-more
		}
	}
	wait.Wait()
}

// summaryFor returns a new one for the first update and the same for all others.
func (r *env) summaryFor(a engine.Answer) string { return "about " + a.Task.Branch }

func idOnce(r *env) {
	id := r.createTask("a")
	r.waitSettled(id)
	text := r.taskText(id)
	again := newTask("b")
	again.ID = id
	var mistake *task.Mistake
	if a, err := r.Create(r.t.Context(), again); !errors.As(err, &mistake) && a.Decision.Refused == "" {
		r.t.Errorf("created twice: %v, %+v", err, a.Decision)
	}
	if _, err := r.ImportTask(r.t.Context(), again.New, "", nil, nil); !errors.As(err, &mistake) {
		r.t.Errorf("imported over a task: %v", err)
	}
	if got := r.storedTask(id); got.Branch != "a" || r.taskText(id) != text {
		r.t.Errorf("the task was touched: %+v\n%s", got, r.taskText(id))
	}
}

func branchOnce(r *env) {
	ids := []task.ID{r.createTask("a"), r.createTask("b")}
	var wait sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		wait.Go(func() {
			if i < 4 {
				_, errs[i] = r.Create(r.t.Context(), newTask("same"))
				return
			}
			fields := []signal.Field{{Name: "branch", To: "other"}, {Name: "branch", To: "same"}, {Name: "branch", To: "same"}}
			_, errs[i] = r.sendSignalWith(r.t.Context(), ids[i-4], signal.Signal{Kind: signal.Update, Fields: fields})
		})
	}
	wait.Wait()
	won := 0
	for _, err := range errs {
		var mistake *task.Mistake
		switch {
		case err == nil:
			won++
		case !errors.As(err, &mistake) || !strings.Contains(err.Error(), "works on branch same already"):
			r.t.Error(err)
		}
	}
	if won != 1 {
		r.t.Errorf("%d of %d got the branch: %v", won, len(errs), errs)
	}
}
