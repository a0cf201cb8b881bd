package measure

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"orange/internal/adapter/filewatch"
	"orange/internal/adapter/git"
	"orange/internal/core/journal"
	"orange/internal/core/overview"
	"orange/internal/core/task"
	"orange/internal/outputlog"
)

// look measures tasks, one after the other, until ctx ends.
func (v *Service) look(ctx context.Context) {
	for one := v.next(ctx); one != nil; one = v.next(ctx) {
		work, err := v.lookAt(ctx, one)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			v.Log.Debug("measure the work of a task", "component", "measure", "task", one.id, "error", err)
		}
		v.keep(one, work, err == nil)
	}
}

// next waits for a task to be measured. It returns nil when ctx ends.
func (v *Service) next(ctx context.Context) *measurement {
	for ctx.Err() == nil {
		v.mu.Lock()
		if len(v.queue) > 0 {
			one := v.queue[0]
			v.queue[0] = nil
			v.queue = v.queue[1:]
			one.phase = looking
			if len(v.queue) > 0 {
				v.wake()
			}
			v.mu.Unlock()
			return one
		}
		v.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-v.work:
		}
	}
	return nil
}

// lookAt measures one task.
func (v *Service) lookAt(ctx context.Context, one *measurement) (*overview.Work, error) {
	t, ok, err := v.Store.Task(one.id)
	if err != nil || !ok || t.Deleted {
		return nil, err
	}
	v.watch(one, &t) // before it is measured: what happens from now on is heard
	return v.Measure(ctx, &t)
}

// keep takes over what was measured. Where it could not be, what was known stays.
func (v *Service) keep(one *measurement, work *overview.Work, measured bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known[one.id] != one {
		return
	}
	if measured && !sameWork(one.work, work) {
		one.work = work
		v.changed(one)
	}
	if one.phase == again {
		v.ask(one)
		return
	}
	one.phase = fresh
}

func sameWork(a, b *overview.Work) bool { return a == b || a != nil && b != nil && *a == *b }

// follow listens to the journal: it says when the work of a task may have changed.
func (v *Service) follow(ctx context.Context, after int64) {
	for {
		more, err := v.catchUp(&after)
		if err != nil {
			v.warn("follow the journal", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-more:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(settling):
		}
	}
}

// catchUp reads what is new in the journal. However much it is, each task hears of it once.
func (v *Service) catchUp(after *int64) (<-chan struct{}, error) {
	const stride = 1000
	different := map[task.ID]bool{} // true: there is no such task any more
	defer func() {
		for id, gone := range different {
			if gone {
				v.forget(id)
			} else {
				v.touch(id)
			}
		}
	}()
	for {
		rows, more, err := v.Rows(*after, "", stride)
		for _, row := range rows {
			*after = row.ID
			e, err := journal.Decode(row.Entry)
			if err != nil {
				return more, err
			}
			if tellsOfWork(&e) {
				different[e.Task] = e.Type == journal.TaskDeleted
			}
		}
		if err != nil || len(rows) < stride {
			return more, err
		}
	}
}

// tellsOfWork says whether the work of a task may be different after an entry.
func tellsOfWork(e *journal.Entry) bool {
	switch e.Type {
	case journal.TaskCreated, journal.TaskUpdated, journal.TaskDeleted, journal.StatusChanged, journal.AutoAdvanced, journal.AgentSpawned, journal.AgentRespawn,
		journal.AgentExited, journal.AgentCrashed, journal.AgentLost, journal.AgentNotBegun, journal.AgentLimited, journal.AgentSilent, journal.WorkFailed, journal.EffectDone:
		return true
	case journal.AgentNotice:
		return e.Notice != nil && e.Notice.Name == task.Idle // its turn is over
	}
	return false
}

// watch sees to it that the worktree of a task and what its agents write are watched, and
// nothing else. What cannot be watched is said once; the journal is followed all the same.
func (v *Service) watch(one *measurement, t *task.Task) {
	wanted := map[string]filewatch.Watch{}
	for _, w := range v.signs(t) {
		wanted[w.Folder] = w
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known[t.ID] != one {
		return
	}
	one.unwatch(wanted)
	for folder, w := range wanted {
		if one.watches[folder] != nil {
			continue
		}
		stop, err := v.Watcher.Add(w)
		switch {
		case err == nil:
			one.watches[folder] = stop
		case !v.watchFailed && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, filewatch.ErrClosed):
			v.watchFailed = true
			v.warn("some work is looked at only when a task moves on: files cannot be watched", err)
		}
	}
}

// unwatch stops watching what is not wanted.
func (o *measurement) unwatch(wanted map[string]filewatch.Watch) {
	for folder, stop := range o.watches {
		if _, ok := wanted[folder]; !ok {
			stop()
			delete(o.watches, folder)
		}
	}
}

// signs are the files that tell of a task's work.
func (v *Service) signs(t *task.Task) []filewatch.Watch {
	var out []filewatch.Watch
	id := t.ID
	add := func(folder string, names []string, pause time.Duration, changed func()) {
		out = append(out, filewatch.Watch{Folder: folder, Names: names, Pause: pause, Changed: changed, Lost: func() { v.lost(id, folder) }})
	}
	if dir := v.Worktree(t); dir != "" {
		if folder, names, err := git.FilesToWatch(dir); err == nil {
			add(folder, names, settling, func() { v.touch(id) })
		}
	}
	for i := range t.Attempts {
		file := v.Output(id, t.Attempts[i].Number)
		if file == "" {
			break
		}
		add(filepath.Dir(file), []string{outputlog.NamePattern(file)}, outputInterval, func() { v.wrote(id) })
	}
	return out
}

// lost says that a folder is not there any more. If another takes its place it is watched
// from the next look on.
func (v *Service) lost(id task.ID, folder string) {
	v.mu.Lock()
	if one := v.known[id]; one != nil {
		delete(one.watches, folder)
	}
	v.mu.Unlock()
	v.touch(id)
}
