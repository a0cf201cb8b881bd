package trackers

import (
	"context"
	"errors"
	"slices"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
)

// PriorityOf returns the priority of a task's issue as it was last read, or the one that a comment orders; 0 for none.
func (o *Service) PriorityOf(t *task.Task) int {
	if t.TrackerRef == "" {
		return 0
	}
	cfg, ok, err := o.configOf(t.TrackerRef)
	if err != nil || !ok || cfg.Kind == tracker.Board {
		return 0
	}
	key, _ := cfg.IssueKey(t.TrackerRef)
	is, ok, err := o.Store.KeptIssue(cfg.Name, key)
	if err != nil || !ok {
		return 0
	}
	if order := tracker.OrdersIn(is.Comments, cfg.AllowsAuthor).Priority; order != nil {
		return int(order.Priority)
	}
	return int(is.Priority)
}

// blockersOf returns the tasks of the issues that block one, where they may still land.
func (o *Service) blockersOf(cfg *tracker.Config, tasks []task.Task, links []tracker.Link) (out []task.ID) {
	for _, l := range links {
		if id, ok := o.blockerTask(cfg, tasks, l.Key); ok && !slices.Contains(out, id) && len(out) < task.MaxPredecessors {
			out = append(out, id)
		}
	}
	return out
}

// blockerTask returns the task of an issue, the last one that was made, if it may still land.
func (o *Service) blockerTask(cfg *tracker.Config, tasks []task.Task, key string) (task.ID, bool) {
	for i := len(tasks) - 1; i >= 0; i-- {
		t := &tasks[i]
		if t.TrackerRef != cfg.IssueRef(key) || t.Deleted {
			continue
		}
		def, err := o.Tasks.Definition(t)
		return t.ID, err == nil && engine.PredecessorStateOf(def, t) == task.PredecessorOpen
	}
	return "", false
}

// afterKey returns the key which records that a task was made to wait for another because the tracker says so.
func afterKey(id, other task.ID) string { return "after/" + string(id) + "/" + string(other) }

// recordBlockers notes the tasks that a new task is after, so that a person who removes one has removed it for good.
func (o *Service) recordBlockers(t *task.Task, blockers []task.ID) error {
	for _, id := range blockers {
		if err := o.Store.RecordAct(t.TrackerRef, afterKey(t.ID, id)); err != nil {
			return err
		}
	}
	return nil
}

// reportBlockers makes the task wait for the tasks of the issues that block its own, once for each, and no longer for those
// whose issues block it no more.
func (g *issueUpdate) reportBlockers(ctx context.Context) error {
	if g.is.Brief || len(g.is.BlockedBy) == 0 && (g.was == nil || len(g.was.BlockedBy) == 0) {
		return nil
	}
	tasks, err := g.o.Store.TrackedTasks(g.d.cfg.IssueRef(""))
	if err != nil {
		return err
	}
	for _, l := range g.is.BlockedBy {
		id, ok := g.o.blockerTask(&g.d.cfg, tasks, l.Key)
		if !ok || id == g.t.ID {
			continue
		}
		acted, err := g.o.Store.HasActed(g.t.TrackerRef, afterKey(g.t.ID, id))
		if err != nil {
			return err
		}
		again := g.was != nil && !g.was.Brief && !hasLink(g.was.BlockedBy, l.Key)
		if acted && !again {
			continue
		}
		if err := g.changeAfter(ctx, engine.FieldAddAfter, id, "blocked by "+l.Key); err != nil {
			return err
		}
		if err := g.o.recordBlockers(g.t, []task.ID{id}); err != nil {
			return err
		}
	}
	return g.dropBlockers(ctx, tasks)
}

// dropBlockers removes the dependencies on issues that blocked this one when it was last read and block it no more.
func (g *issueUpdate) dropBlockers(ctx context.Context, tasks []task.Task) error {
	if g.was == nil {
		return nil
	}
	for _, l := range g.was.BlockedBy {
		if hasLink(g.is.BlockedBy, l.Key) {
			continue
		}
		for i := range tasks {
			id := tasks[i].ID
			if tasks[i].TrackerRef != g.d.cfg.IssueRef(l.Key) || !slices.Contains(g.t.After, id) {
				continue
			}
			made, err := g.o.Store.HasActed(g.t.TrackerRef, afterKey(g.t.ID, id))
			if err == nil && made { // a dependency that a person made stays
				err = g.changeAfter(ctx, engine.FieldDropAfter, id, "no longer blocked by "+l.Key)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// changeAfter submits a change of what the task is after. What cannot be, such as a cycle, is part of the report.
func (g *issueUpdate) changeAfter(ctx context.Context, field string, id task.ID, what string) error {
	sig := signal.Signal{Kind: signal.Update, Actor: task.Tracker, Fields: []signal.Field{{Name: field, To: string(id)}}, Via: g.viaAccount("")}
	err := g.submitSignal(ctx, sig, what)
	var mistake *task.Mistake
	if errors.As(err, &mistake) {
		g.news = append(g.news, g.t.TrackerRef+": "+what+", but the task cannot wait for it: "+mistake.Error())
		return nil
	}
	return err
}

func hasLink(links []tracker.Link, key string) bool {
	return slices.ContainsFunc(links, func(l tracker.Link) bool { return l.Key == key })
}
