package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"orange/internal/adapter/sqlite"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

const (
	foldLives  = 1000
	foldRounds = 11
	minDecoded = 500_000
	minRows    = 50_000
)

// measureFolds measures how fast journals become records: from memory and from the store.
func measureFolds(r *report, dir string) error {
	def, err := defaultWorkflow()
	if err != nil {
		return err
	}
	store, err := sqlite.Open(filepath.Join(dir, "orange.db"))
	if err != nil {
		return err
	}
	defer store.Close()
	if err := populateStore(store, def, foldLives, func(l *life, _ int) { l.toEnd() }); err != nil {
		return err
	}
	var ids []task.ID
	all, err := decodeRows(store, &ids)
	if err != nil {
		return err
	}
	want := len(all)
	took, err := alternateRounds(foldRounds,
		timeCounted(want, func() (int, error) { return foldDecoded(all) }),
		timeCounted(want, func() (int, error) { return foldRows(store) }),
		timeCounted(want, func() (int, error) { return foldJournals(store, ids) }),
		timeCounted(want, func() (int, error) { return readRows(store) }))
	if err != nil {
		return err
	}
	rate := func(i int) float64 { return perSecond(want, took[i].best()) }
	r.addFigure(figure{
		Name: "fold of decoded entries", Measured: formatThousands(rate(0)) + "/s", Target: "at least " + formatThousands(minDecoded) + "/s", Met: rate(0) >= minDecoded,
		Note: fmt.Sprintf("best of %d rounds; %s entries of %s whole lives", foldRounds, formatThousands(float64(want)), formatThousands(foldLives)),
	})
	r.addFigure(figure{
		Name: "fold of stored rows", Measured: formatThousands(rate(1)) + "/s", Target: "at least " + formatThousands(minRows) + "/s", Met: rate(1) >= minRows,
		Note: fmt.Sprintf("best of %d rounds; %.1f times as long as only reading the rows (%s/s); task by task %s/s", foldRounds, medianRatio(took[1], took[3]), formatThousands(rate(3)), formatThousands(rate(2))),
	})
	return nil
}

// timeCounted returns a measurement that must process n entries.
func timeCounted(n int, do func() (int, error)) func() (time.Duration, error) {
	return timedCall(func() error {
		got, err := do()
		if err == nil && got != n {
			err = fmt.Errorf("%d entries instead of %d", got, n)
		}
		return err
	})
}

// populateStore writes n lives into an empty store, several hundred per transaction.
func populateStore(store *sqlite.Store, def *workflow.Definition, n int, play func(l *life, i int)) error {
	if err := store.SaveProject(task.Project{Name: project, Path: "/nowhere/" + project, DefaultBranch: "main", PoolSize: 2}); err != nil {
		return err
	}
	if err := store.SaveWorkflow(def.Hash, def.Name, def.File, def.Text); err != nil {
		return err
	}
	var batch []journal.Commit
	at := time.Now().UTC().Truncate(time.Microsecond).Add(-time.Hour)
	for i := range n {
		l := beginLife(def, i, at, false)
		if play(l, i); l.err != nil {
			return l.err
		}
		if batch = append(batch, l.toCommit()); len(batch) < 500 && i < n-1 {
			continue
		}
		if _, err := store.Commit(context.Background(), batch); err != nil {
			return err
		}
		batch = batch[:0]
	}
	return nil
}

func decodeRows(store *sqlite.Store, ids *[]task.ID) ([]journal.Entry, error) {
	var all []journal.Entry
	err := store.EachRow(context.Background(), func(row journal.Row) error {
		e, err := journal.Decode(row.Entry)
		if e.New != nil {
			*ids = append(*ids, e.Task)
		}
		all = append(all, e)
		return err
	})
	return all, err
}

func foldDecoded(all []journal.Entry) (int, error) {
	tasks := make(map[task.ID]*task.Task)
	for i := range all {
		if err := applyEntry(tasks, &all[i]); err != nil {
			return i, err
		}
	}
	return len(all), nil
}

func applyEntry(tasks map[task.ID]*task.Task, e *journal.Entry) error {
	t := tasks[e.Task]
	if t == nil {
		t = &task.Task{}
		tasks[e.Task] = t
	}
	return journal.Apply(t, e)
}

func foldRows(store *sqlite.Store) (n int, err error) {
	tasks := make(map[task.ID]*task.Task)
	err = store.EachRow(context.Background(), func(row journal.Row) error {
		e, err := journal.Decode(row.Entry)
		if err != nil {
			return err
		}
		n++
		return applyEntry(tasks, &e)
	})
	return n, err
}

func foldJournals(store *sqlite.Store, ids []task.ID) (n int, err error) {
	for _, id := range ids {
		entries, err := store.Journal(id, 0)
		if err != nil {
			return n, err
		}
		if _, err := journal.Fold(task.Task{}, entries); err != nil {
			return n, err
		}
		n += len(entries)
	}
	return n, nil
}

func readRows(store *sqlite.Store) (n int, err error) {
	err = store.EachRow(context.Background(), func(journal.Row) error {
		n++
		return nil
	})
	return n, err
}
