package local

import (
	"slices"
	"sync"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// landings are the landing queues: one for each project and target branch. A task is in a queue while its next effect is
// a merge. One task of a queue lands at a time, in the order in which the merges were requested. The queues follow from the
// records; they are built again when the server starts.
type landings struct {
	mu       sync.Mutex
	queues   map[landingKey]*landingQueue
	of       map[task.ID]landingKey
	performs map[task.ID]signal.Performing // merges whose effect has begun and whose receipt is not committed
}

type landingKey struct{ project, target string }

type landingQueue struct {
	waiting []task.LandingPlace // in order, with the one that lands
	lands   task.ID             // the task that lands, "" for none
}

func (l *landings) init() {
	l.queues, l.of, l.performs = map[landingKey]*landingQueue{}, map[task.ID]landingKey{}, map[task.ID]signal.Performing{}
}

// updateLanding brings the place of a task in its queue up to date. It returns the task whose turn has come, or "".
func (r *Runtime) updateLanding(t *task.Task) (next task.ID) {
	key, waits := r.landingOf(t)
	l := &r.landings
	l.mu.Lock()
	defer l.mu.Unlock()
	if old, ok := l.of[t.ID]; ok && (!waits || old != key) {
		next = l.removeTask(t.ID, old)
	}
	if !waits {
		return next
	}
	q := l.queues[key]
	if q == nil {
		q = &landingQueue{}
		l.queues[key] = q
	}
	place, _ := t.LandingPlace()
	q.waiting = append(q.without(t.ID), place)
	slices.SortFunc(q.waiting, task.LandingPlace.Compare)
	l.of[t.ID] = key
	return next
}

func (q *landingQueue) without(id task.ID) []task.LandingPlace {
	return slices.DeleteFunc(q.waiting, func(p task.LandingPlace) bool { return p.ID == id })
}

// removeTask takes a task out of a queue and returns the task whose turn has come, or "".
func (l *landings) removeTask(id task.ID, key landingKey) (next task.ID) {
	delete(l.of, id)
	q := l.queues[key]
	q.waiting = q.without(id)
	if q.lands == id {
		q.lands = ""
	}
	switch {
	case len(q.waiting) == 0:
		delete(l.queues, key)
	case q.lands == "":
		return q.waiting[0].ID
	}
	return ""
}

// landingOf returns the queue in which a task waits. A task whose merge waits for another effect, or for a person, is in
// no queue.
func (r *Runtime) landingOf(t *task.Task) (landingKey, bool) {
	if t.Deleted || t.Paused {
		return landingKey{}, false
	}
	e, ok := engine.NextEffect(t)
	waits := ok && e.Do == workflow.MergeBranch || t.Landing.InProgress() && t.MergeEffect() != nil
	if !waits {
		return landingKey{}, false
	}
	p, _ := r.pool.findProject(t.Project)
	return landingKey{t.Project, p.ForTask(t).DefaultBranch}, true
}

// mayLand reports whether it is a task's turn to land, and takes the turn if nobody has it.
func (r *Runtime) mayLand(t *task.Task) bool {
	r.updateLanding(t)
	l := &r.landings
	l.mu.Lock()
	defer l.mu.Unlock()
	key, ok := l.of[t.ID]
	if !ok {
		return false
	}
	q := l.queues[key]
	if p, _ := r.pool.findProject(t.Project); q.lands == "" && q.waiting[0].ID == t.ID && !p.HoldLanding {
		q.lands = t.ID
	}
	return q.lands == t.ID
}

// beginMerge marks a task's merge as performed, from now until endMerge, and returns the record as it is now. It marks nothing
// if the merge is not the task's next effect any more: a signal took it back since the caller read the record. The mark is
// set under the task's lock, so a decision is either before it, and the merge does not begin, or knows of it.
func (r *Runtime) beginMerge(id task.ID, effect string) (t task.Task, begun bool, err error) {
	defer r.locks.Lock(id)()
	t, ok, err := r.loadAndCache(id)
	if err != nil || !ok {
		return t, false, err
	}
	e, ok := engine.NextEffect(&t)
	if !ok || e.ID != effect || e.NotBefore.After(r.now()) {
		return t, false, nil
	}
	p, _ := r.pool.findProject(t.Project)
	l := &r.landings
	l.mu.Lock()
	defer l.mu.Unlock()
	l.performs[id] = signal.Performing{Effect: effect, Target: p.ForTask(&t).DefaultBranch}
	return t, true, nil
}

// endMerge removes the mark of a task's merge, if it has one for the effect.
func (l *landings) endMerge(id task.ID, effect string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.performs[id].Effect == effect {
		delete(l.performs, id)
	}
}

// performing returns the merge of a task that is being performed, nil for none.
func (l *landings) performing(id task.ID) *signal.Performing {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, ok := l.performs[id]
	if !ok {
		return nil
	}
	return &m
}

// firstOf returns the first task of each landing queue of a project.
func (l *landings) firstOf(project string) (out []task.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, q := range l.queues {
		if key.project == project {
			out = append(out, q.waiting[0].ID)
		}
	}
	return out
}

// QueuePlace returns the place of a task in its landing queue, the zero value if it is in none.
func (r *Runtime) QueuePlace(id task.ID) task.QueuePlace {
	l := &r.landings
	l.mu.Lock()
	defer l.mu.Unlock()
	key, ok := l.of[id]
	if !ok {
		return task.QueuePlace{}
	}
	q := l.queues[key]
	at := slices.IndexFunc(q.waiting, func(p task.LandingPlace) bool { return p.ID == id })
	return task.QueuePlace{Position: at + 1, Of: len(q.waiting), Merging: l.performs[id].Target}
}
