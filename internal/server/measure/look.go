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
	"orange/internal/core/task"
	"orange/internal/outputlog"
	"orange/internal/view/overview"
)

// measureTasks measures queued tasks, one after another, until ctx ends.
func (s *Service) measureTasks(ctx context.Context) {
	for one := s.nextTask(ctx); one != nil; one = s.nextTask(ctx) {
		work, err := s.measureTask(ctx, one)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.Log.Debug("measure the work of a task", "component", "measure", "task", one.id, "error", err)
		}
		s.keepWork(one, work, err == nil)
	}
}

// nextTask waits for a task to be measured. It returns nil when ctx ends.
func (s *Service) nextTask(ctx context.Context) *measurement {
	for ctx.Err() == nil {
		s.mu.Lock()
		if len(s.queue) > 0 {
			one := s.queue[0]
			s.queue[0] = nil
			s.queue = s.queue[1:]
			one.phase = measuring
			if len(s.queue) > 0 {
				s.wakeWorker()
			}
			s.mu.Unlock()
			return one
		}
		s.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-s.work:
		}
	}
	return nil
}

// measureTask measures one task.
func (s *Service) measureTask(ctx context.Context, one *measurement) (*overview.Work, error) {
	t, ok, err := s.Store.Task(one.id)
	if err != nil || !ok || t.Deleted {
		return nil, err
	}
	s.updateWatches(one, &t) // before it is measured, so that no later change is missed
	return s.Measure(ctx, &t)
}

// keepWork stores the result of a measurement. If the measurement failed, the previous result stays.
func (s *Service) keepWork(one *measurement, work *overview.Work, measured bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[one.id] != one {
		return
	}
	if measured && !sameWork(one.work, work) {
		one.work = work
		s.markChanged(one)
	}
	if one.phase == again {
		s.enqueueTask(one)
		return
	}
	one.phase = fresh
}

func sameWork(a, b *overview.Work) bool { return a == b || a != nil && b != nil && *a == *b }

// followJournal follows the journal until ctx ends and marks tasks whose work may have changed.
func (s *Service) followJournal(ctx context.Context, after int64) {
	for {
		more, err := s.catchUp(&after)
		if err != nil {
			s.logWarning("follow the journal", err)
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

// catchUp reads the new rows of the journal and marks each task in them once.
func (s *Service) catchUp(after *int64) (<-chan struct{}, error) {
	const stride = 1000
	different := map[task.ID]bool{} // true: the task was deleted
	defer func() {
		for id, gone := range different {
			if gone {
				s.forgetTask(id)
			} else {
				s.markStale(id)
			}
		}
	}()
	for {
		rows, more, err := s.Rows(*after, "", stride)
		for _, row := range rows {
			*after = row.ID
			e, err := journal.Decode(row.Entry)
			if err != nil {
				return more, err
			}
			if mayChangeWork(&e) {
				different[e.Task] = e.Type == journal.TaskDeleted
			}
		}
		if err != nil || len(rows) < stride {
			return more, err
		}
	}
}

// mayChangeWork reports whether an entry may have changed the work of a task.
func mayChangeWork(e *journal.Entry) bool {
	switch e.Type {
	case journal.TaskCreated, journal.TaskUpdated, journal.TaskDeleted, journal.StatusChanged, journal.AutoAdvanced, journal.AgentSpawned, journal.AgentRespawn,
		journal.AgentExited, journal.AgentCrashed, journal.AgentLost, journal.AgentNotBegun, journal.AgentLimited, journal.AgentSilent, journal.WorkFailed, journal.EffectDone:
		return true
	case journal.AgentNotice:
		return e.Condition != nil && e.Condition.Name == task.Idle // its turn is over
	}
	return false
}

// updateWatches watches the worktree of a task and the output of its agents, and nothing else. It logs only the first
// failure; the journal is followed in any case.
func (s *Service) updateWatches(one *measurement, t *task.Task) {
	wanted := map[string]filewatch.Watch{}
	for _, w := range s.filesToWatch(t) {
		wanted[w.Folder] = w
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[t.ID] != one {
		return
	}
	one.stopUnwanted(wanted)
	for folder, w := range wanted {
		if one.watches[folder] != nil {
			continue
		}
		stop, err := s.Watcher.Add(w)
		switch {
		case err == nil:
			one.watches[folder] = stop
		case !s.watchFailed && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, filewatch.ErrClosed):
			s.watchFailed = true
			s.logWarning("files cannot be watched: some work is measured only when its task changes", err)
		}
	}
}

// stopUnwanted stops watching the folders that are not in wanted.
func (o *measurement) stopUnwanted(wanted map[string]filewatch.Watch) {
	for folder, stop := range o.watches {
		if _, ok := wanted[folder]; !ok {
			stop()
			delete(o.watches, folder)
		}
	}
}

// filesToWatch returns the watches that show changes of a task's work.
func (s *Service) filesToWatch(t *task.Task) []filewatch.Watch {
	var out []filewatch.Watch
	id := t.ID
	add := func(folder string, names []string, pause time.Duration, changed func()) {
		out = append(out, filewatch.Watch{Folder: folder, Names: names, Pause: pause, Changed: changed, Lost: func() { s.dropWatch(id, folder) }})
	}
	if dir := s.Worktree(t); dir != "" {
		if folder, names, err := git.FilesToWatch(dir); err == nil {
			add(folder, names, settling, func() { s.markStale(id) })
		}
	}
	for i := range t.Attempts {
		file := s.Output(id, t.Attempts[i].Number)
		if file == "" {
			break
		}
		add(filepath.Dir(file), []string{outputlog.NamePattern(file)}, outputInterval, func() { s.markOutput(id) })
	}
	return out
}

// dropWatch removes the watch of a folder that no longer exists. If the folder is made again, the next measurement watches
// it.
func (s *Service) dropWatch(id task.ID, folder string) {
	s.mu.Lock()
	if one := s.known[id]; one != nil {
		delete(one.watches, folder)
	}
	s.mu.Unlock()
	s.markStale(id)
}
