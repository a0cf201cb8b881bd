package trackers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"orange/internal/core/task"
	"orange/internal/core/tracker"
)

// Sync reads the relevant issues of a tracker, stores them, and submits what people did there to the tasks. With fix it
// also moves issues that drifted back to the columns of their tasks.
func (o *Service) Sync(ctx context.Context, name string, fix bool) (tracker.Report, error) {
	d, err := o.openTracker(name)
	if err != nil {
		return tracker.Report{Tracker: name}, err
	}
	defer o.rounds.Lock(d.name)()
	r, problem, err := o.syncTracker(ctx, d)
	if err == nil && fix {
		o.putBack(ctx, d, &r)
	}
	o.recordSync(ctx, name, cmp.Or(err, problem))
	return r, err
}

// recordSync stores the result of a round. A round that was cancelled here says nothing about the tracker.
func (o *Service) recordSync(ctx context.Context, name string, err error) {
	if err != nil && ctx.Err() != nil {
		return
	}
	at, problem := o.Now(), ""
	if err != nil {
		problem = oneLine(err.Error())
		o.logWarning("read a tracker", "tracker", name, "error", problem)
		if at, _, err = o.Store.LastSync(name); err != nil { // the stored issues are as old as before
			o.logWarning("read when a tracker was last read", "tracker", name, "error", err)
		}
	}
	if err := o.Store.RecordSync(name, at, problem); err != nil {
		o.logWarning("store when a tracker was last read", "tracker", name, "error", err)
	}
}

// syncTracker runs one round. An error with one issue does not keep others from being read.
func (o *Service) syncTracker(ctx context.Context, d *connection) (r tracker.Report, problem, err error) {
	r = tracker.Report{Tracker: d.cfg.Name, News: []string{}, Drift: []tracker.Drift{}}
	rd, err := o.newRound(d)
	if err == nil {
		err = requireEligibleColumn(ctx, d, rd.def)
	}
	if err == nil {
		r.Issues, err = o.keepAllListed(ctx, d, rd)
	}
	if err != nil {
		return r, nil, err
	}
	tasks := o.withoutFinished(rd.tasks)
	r.Tasks = len(tasks)
	if problem, err = o.updateIssues(ctx, d, tasks, &r); err != nil {
		return r, nil, err
	}
	if err := o.updateFinished(ctx, d, &r); err != nil {
		return r, problem, err
	}
	if tasks, err = o.openTasks(&d.cfg); err != nil { // again, because the signals changed them
		return r, problem, err
	}
	news, err := o.checkForges(ctx, tasks)
	r.News = append(r.News, news...)
	if err != nil {
		o.logWarning("read the forge", "tracker", d.cfg.Name, "error", err)
		r.News = append(r.News, "the forge: "+oneLine(err.Error()))
	}
	if tasks, err = o.openTasks(&d.cfg); err != nil {
		return r, problem, err
	}
	for i := range tasks {
		if drift, ok := o.findDrift(&d.cfg, &tasks[i]); ok {
			r.Drift = append(r.Drift, drift)
		}
	}
	return r, problem, nil
}

// updateIssues reads the issues of tasks. Errors with a few of them are part of the report; many are an error.
func (o *Service) updateIssues(ctx context.Context, d *connection, tasks []task.Task, r *tracker.Report) (problem, err error) {
	failed := 0
	for i := range tasks {
		news, err := o.updateIssue(ctx, d, tasks[i])
		r.News = append(r.News, news...)
		if err == nil {
			continue
		}
		if failed++; failed >= maxFailed || ctx.Err() != nil {
			return nil, err
		}
		problem = errors.Join(problem, err)
		r.News = append(r.News, oneLine(err.Error()))
	}
	return problem, nil
}

// keepAllListed stores the issues that may be dispatched, and returns their number. The issues of open tasks are read
// separately, with all their parts.
func (o *Service) keepAllListed(ctx context.Context, d *connection, r *round) (int, error) {
	if err := r.listIssues(ctx, d); err != nil {
		return 0, err
	}
	for i := range r.list {
		if err := o.keepListed(d, r, &r.list[i]); err != nil {
			return 0, err
		}
	}
	return len(r.list), nil
}

// keepListed stores an issue unless it has an open task, and notes whether somebody sent it back.
func (o *Service) keepListed(d *connection, r *round, is *tracker.Issue) error {
	ref := d.cfg.IssueRef(is.Key)
	if slices.ContainsFunc(r.tasks, func(t task.Task) bool { return t.TrackerRef == ref && !o.isFinished(&t) }) {
		return nil
	}
	if err := o.noteReturn(d, r, is); err != nil {
		return err
	}
	_, err := o.Store.KeepIssue(d.cfg.Name, *is)
	return err
}

// openTasks returns the tasks of a tracker's issues that are not over.
func (o *Service) openTasks(cfg *tracker.Config) ([]task.Task, error) {
	all, err := o.Store.TrackedTasks(cfg.IssueRef(""))
	return o.withoutFinished(all), err
}

// withoutFinished returns the tasks that are not over.
func (o *Service) withoutFinished(tasks []task.Task) []task.Task {
	return slices.DeleteFunc(slices.Clone(tasks), func(t task.Task) bool { return o.isFinished(&t) })
}

// isFinished reports whether a task is over. A task whose workflow cannot be read is not.
func (o *Service) isFinished(t *task.Task) bool {
	def, err := o.Tasks.Definition(t)
	return err == nil && isOver(def, t)
}

// readsInARow bounds how often a round reads an issue that Orange itself keeps writing. After that the next round
// reports what changed.
const readsInARow = 3

// updateIssue reads the issue of a task and submits what changed. It stores the issue last, so that an interrupted
// check is repeated. If Orange wrote the issue while it was being read, what was read is too old and is read again.
func (o *Service) updateIssue(ctx context.Context, d *connection, t task.Task) ([]string, error) {
	for range readsInARow {
		news, stale, err := o.updateIssueOnce(ctx, d, t)
		if !stale || err != nil {
			return news, err
		}
	}
	return nil, nil
}

func (o *Service) updateIssueOnce(ctx context.Context, d *connection, t task.Task) (news []string, stale bool, err error) {
	key, _ := d.cfg.IssueKey(t.TrackerRef)
	is, err := d.client.ReadIssue(ctx, key)
	if errors.Is(err, tracker.ErrNotFound) {
		return []string{fmt.Sprintf("%s: the issue is gone, and task %s continues without it", t.TrackerRef, t.ID)}, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read %s: %w", t.TrackerRef, err)
	}
	update, err := o.newIssueUpdate(d, t.ID, &is)
	if err != nil || isOver(update.def, update.t) {
		return nil, false, err
	}
	if update.was != nil && update.was.ReadAt.After(is.ReadAt) {
		return nil, true, nil
	}
	if err := update.submitChanges(ctx); err != nil {
		return update.news, false, err
	}
	_, err = o.Store.KeepIssue(d.cfg.Name, is)
	return update.news, false, err
}

// updateFinished does the same for tasks that are over, because their issues must show it.
func (o *Service) updateFinished(ctx context.Context, d *connection, r *tracker.Report) error {
	tasks, err := o.Store.TrackedTasks(d.cfg.IssueRef(""))
	if err != nil {
		return err
	}
	for i := range tasks {
		def, err := o.Tasks.Definition(&tasks[i])
		if err != nil || tasks[i].Deleted || !isOver(def, &tasks[i]) {
			continue
		}
		g := issueUpdate{o: o, d: d, t: &tasks[i]}
		err = g.retryGivenUp(ctx)
		r.News = append(r.News, g.news...)
		if err != nil {
			return err
		}
	}
	return nil
}

// putBack moves issues that drifted back to the columns of their tasks.
func (o *Service) putBack(ctx context.Context, d *connection, r *tracker.Report) {
	left := r.Drift[:0]
	for _, drift := range r.Drift {
		if drift.Task == "" {
			left = append(left, drift)
			continue
		}
		key, _ := d.cfg.IssueKey(drift.Ref)
		is, err := d.client.Apply(ctx, key, moveTo(drift.Want))
		if err != nil {
			r.News = append(r.News, fmt.Sprintf("%s: cannot be moved back: %v", drift.Ref, err))
			left = append(left, drift)
			continue
		}
		o.keepOwn(d.cfg.Name, &is, drift.Want)
		r.News = append(r.News, fmt.Sprintf("%s: moved back to %s", drift.Ref, drift.Want))
	}
	r.Drift = left
}
