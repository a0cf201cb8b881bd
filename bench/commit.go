package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"orange/internal/adapter/sqlite"
	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/runtime/local"
)

const (
	// Many short rounds, because a flush of the disk takes between one and ten milliseconds.
	aloneRounds    = 241
	aloneTimes     = 20 // transitions per round; even, so that a round ends in its initial state
	togetherRounds = 21
	togetherTimes  = 10 // transitions per round of each submitter
	submitters     = 64
	minAlone       = 0.8
	minTogether    = 2.0
)

// measureCommits measures durable transitions: those of the runtime with one submitter and
// with many, and the same rows written by bare SQLite.
func measureCommits(r *report, dir string) error {
	def, err := defaultWorkflow()
	if err != nil {
		return err
	}
	plain, err := newBareSQLite(def, filepath.Join(dir, "bare.db"))
	if err != nil {
		return err
	}
	defer plain.close()
	rt, ids, stop, err := openRuntime(def, filepath.Join(dir, "orange.db"))
	if err != nil {
		return err
	}
	defer stop()
	one := timedCall(func() error { return flipTask(rt, ids[0], aloneTimes) })
	many := timedCall(func() error { return flipAllTasks(rt, ids) })
	if _, err := alternateRounds(2, plain.timeRound, one, many); err != nil { // warm up
		return err
	}
	alone, err := alternateRounds(aloneRounds, plain.timeRound, one)
	if err != nil {
		return err
	}
	together, err := alternateRounds(togetherRounds, plain.timeRound, many)
	if err != nil {
		return err
	}
	r.addFigure(aloneFigure(alone[0], alone[1]))
	r.addFigure(togetherFigure(together[0], together[1]))
	return nil
}

func aloneFigure(plain, one samples) figure {
	share := 1 / medianRatio(one, plain)
	return figure{
		Name: "durable transitions, one submitter", Measured: fmt.Sprintf("%.2f of bare SQLite", share),
		Target: fmt.Sprintf("at least %.1f", minAlone), Met: share >= minAlone,
		Note: fmt.Sprintf("%s/s, bare SQLite %s/s", formatThousands(perSecond(aloneTimes, one.median())), formatThousands(perSecond(aloneTimes, plain.median()))),
	}
}

func togetherFigure(plain, many samples) figure {
	const all = submitters * togetherTimes
	times := all / float64(aloneTimes) / medianRatio(many, plain)
	return figure{
		Name: fmt.Sprintf("durable transitions, %d submitters", submitters), Measured: fmt.Sprintf("%.1f times bare SQLite", times),
		Target: fmt.Sprintf("at least %.0f", minTogether), Met: times >= minTogether,
		Note: fmt.Sprintf("%s/s, bare SQLite with one submitter %s/s", formatThousands(perSecond(all, many.median())), formatThousands(perSecond(aloneTimes, plain.median()))),
	}
}

// noopPerformer performs nothing and returns immediately.
type noopPerformer struct{}

// Perform implements local.Performer.
func (noopPerformer) Perform(context.Context, task.Task, task.Effect) (local.EffectResult, error) {
	return local.EffectResult{}, nil
}

// openRuntime opens a runtime on a store whose tasks a person may pause and resume.
func openRuntime(def *workflow.Definition, path string) (*local.Runtime, []task.ID, func(), error) {
	store, err := sqlite.Open(path)
	if err != nil {
		return nil, nil, nil, err
	}
	ids, err := fillStore(store, def, submitters)
	if err != nil {
		store.Close()
		return nil, nil, nil, err
	}
	rt, err := local.Open(local.RuntimeOptions{Store: store, Performer: noopPerformer{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		store.Close()
		return nil, nil, nil, err
	}
	return rt, ids, func() { rt.Close(); store.Close() }, nil
}

// fillStore writes tasks in planning, each with a living worker, into an empty store.
func fillStore(store *sqlite.Store, def *workflow.Definition, n int) ([]task.ID, error) {
	p := task.Project{Name: project, Path: "/nowhere/" + project, DefaultBranch: "main", PoolSize: n}
	if err := store.SaveProject(p); err != nil {
		return nil, err
	}
	if err := store.SaveWorkflow(def.Hash, def.Name, def.File, def.Text); err != nil {
		return nil, err
	}
	var all []journal.Commit
	var ids []task.ID
	for i := range n {
		l := beginLife(def, i, time.Now().UTC().Truncate(time.Microsecond), false)
		l.free = project + "--" + strconv.Itoa(i+1)
		l.requestMove(task.Human, "planning") // starts a worker
		if l.err != nil {
			return nil, l.err
		}
		all = append(all, l.toCommit())
		ids = append(ids, l.task.ID)
	}
	_, err := store.Commit(context.Background(), all)
	return ids, err
}

// pauseOrResume returns the i-th signal of a person who pauses and resumes a task: one entry each, and no effect.
func pauseOrResume(i int) signal.Signal {
	return signal.Signal{Kind: [...]signal.Kind{signal.Pause, signal.Resume}[i%2], Actor: task.Human}
}

// flipTask pauses and resumes one task, n times in all.
func flipTask(rt *local.Runtime, id task.ID, n int) error {
	for i := range n {
		a, err := rt.Submit(context.Background(), id, pauseOrResume(i))
		if err != nil {
			return err
		}
		if err := oneEntry(a.Decision); err != nil {
			return err
		}
	}
	return nil
}

func oneEntry(d engine.Decision) error {
	if len(d.Entries) != 1 || len(d.Entries[0].Effects) != 0 {
		return fmt.Errorf("a transition makes %d entries, verdict %s: %s", len(d.Entries), d.Verdict, d.Refused)
	}
	return nil
}

// flipAllTasks pauses and resumes all tasks concurrently.
func flipAllTasks(rt *local.Runtime, ids []task.ID) error {
	errs := make(chan error, len(ids))
	var wait sync.WaitGroup
	for _, id := range ids {
		wait.Go(func() { errs <- flipTask(rt, id, togetherTimes) })
	}
	wait.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
