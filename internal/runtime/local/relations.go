package local

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"orange/internal/core/board"
	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// Relations finds the tasks that belong together.
type Relations interface {
	ChildTasks(parent task.ID) ([]signal.Child, error)
	OnCard(ref string) ([]task.ID, error) // tasks of a card that are not over
}

// loadChildren looks up the children of a task, if a decision may need them.
func (r *Runtime) loadChildren(def *workflow.Definition, t *task.Task) ([]signal.Child, error) {
	if r.Relations == nil || !def.AsksForChildren(t.Status) {
		return nil, nil
	}
	list, err := r.Relations.ChildTasks(t.ID)
	if err != nil {
		err = fmt.Errorf("look up the children of task %s: %w", t.ID, err)
	}
	return list, err
}

// notifyParent notifies a parent, in the background, that a child changed state or was deleted, and a task that begins
// to wait for its children, how far they are.
func (r *Runtime) notifyParent(def *workflow.Definition, was, t *task.Task) {
	if was.Status == t.Status && was.Deleted == t.Deleted {
		return
	}
	var notified []task.ID
	if t.Parent != "" {
		notified = append(notified, t.Parent)
	}
	if def.WaitsForChildren(t.Status) {
		notified = append(notified, t.ID)
	}
	if len(notified) == 0 || r.admitCaller() != nil {
		return
	}
	go func() {
		defer r.wait.Done()
		for _, id := range notified {
			r.reportChildMoved(id)
		}
	}()
}

func (r *Runtime) reportChildMoved(parent task.ID) {
	r.submitOwnSignal(parent, signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: engine.ChildMoved}) //nolint:errcheck // logged; the next move of a child, or the next server, submits it again
}

// CardChanged submits a card that a person changed to its tasks. Via is the origin of the change, or nil if it is
// unknown.
func (r *Runtime) CardChanged(card board.Card, via *signal.Via) {
	if r.Relations == nil || r.admitCaller() != nil {
		return
	}
	defer r.wait.Done()
	ids, err := r.Relations.OnCard(board.Ref(card.Project, card.Number))
	if err != nil {
		r.Log.Error("look up the tasks of a card", "component", "local", "project", card.Project, "card", card.Number, "error", err)
	}
	for _, id := range ids {
		t, ok, err := r.loadRecord(id)
		if err != nil {
			r.Log.Error("read a task of a card", "component", "local", "task", id, "error", err)
		}
		if err == nil && ok && r.watchesCard(&t) {
			r.reportCard(id, card.Snapshot(), via)
		}
	}
}

// watchesCard reports whether a task waits for its card. A task that does not reads the card when it waits for it
// again; until then it uses the card that its agent was shown.
func (r *Runtime) watchesCard(t *task.Task) bool {
	def, err := r.pinnedDefinition(t)
	return err == nil && def.WatchesBoard(t.Status)
}

func (r *Runtime) reportCard(id task.ID, card board.Snapshot, via *signal.Via) {
	r.submitOwnSignal(id, signal.Signal{Kind: signal.Tracker, Actor: task.Human, Word: signal.CardChanged, CardSnapshot: &card, Via: via}) //nolint:errcheck // logged; the card is read again when the task comes back to the board, or by the next server
}

// CatchUp submits to tasks, in the background, what became of their cards and children while no server ran, because a
// server may end between a change and its signal. Waiting returns the tasks to notify, and readCard reads the card of one.
func (r *Runtime) CatchUp(waiting func() ([]task.Task, error), readCard func(t *task.Task, submit func(board.Snapshot))) {
	if r.admitCaller() != nil {
		return
	}
	go func() {
		defer r.wait.Done()
		tasks, err := waiting()
		if err != nil {
			r.Log.Error("find changes that tasks did not receive", "component", "local", "error", err)
		}
		for i := range tasks {
			t := &tasks[i]
			if r.ctx.Err() != nil {
				return
			}
			if def, err := r.pinnedDefinition(t); err == nil && def.WaitsForChildren(t.Status) {
				r.reportChildMoved(t.ID)
			}
			if t.TrackerRef != "" && r.watchesCard(t) {
				readCard(t, func(card board.Snapshot) { r.reportCard(t.ID, card, nil) })
			}
		}
	}()
}

// parentOf returns an error if the parent does not exist or is over. A child has the base and the permissions of its parent, and with the same
// harness its model and flags.
func (r *Runtime) parentOf(n *signal.New) error {
	if n.Parent == "" {
		return nil
	}
	p, ok, err := r.loadRecord(n.Parent)
	switch {
	case err != nil:
		return err
	case !ok || p.Deleted:
		return task.Mistakef("there is no task %s to be the parent: see orange task list", n.Parent)
	case p.Project != n.Project:
		return task.Mistakef("task %s is of project %s: a child is of the same project as its parent", n.Parent, p.Project)
	}
	def, err := r.pinnedDefinition(&p)
	if err != nil {
		return err
	}
	if isOver(def, &p) {
		return task.Mistakef("task %s is over, it is %s: name a parent that is still open", n.Parent, p.Status)
	}
	n.BaseBranch, n.Permissions = cmp.Or(n.BaseBranch, p.BaseBranch), cmp.Or(n.Permissions, p.Permissions)
	if n.Harness == p.Harness {
		n.Model, n.AgentFlags = cmp.Or(n.Model, p.Model), cmp.Or(n.AgentFlags, p.AgentFlags)
	}
	return nil
}

// serialGroups knows which tasks work in each serial group of each project. The pool's lock guards it.
type serialGroups map[serialMember]struct{}

type serialMember struct {
	project, group string
	id             task.ID
}

// busyGroups lists the groups of a project in which another task works.
func (s serialGroups) busyGroups(project string, id task.ID) []string {
	var out []string
	for k := range s {
		if k.project == project && k.id != id && !slices.Contains(out, k.group) {
			out = append(out, k.group)
		}
	}
	slices.Sort(out)
	return out
}

// joinGroup records that a task works in the group of a role, if it has one.
func (s serialGroups) joinGroup(def *workflow.Definition, project, role string, id task.ID) {
	if r, ok := def.RoleNamed(role); ok && r.Serial != "" {
		s[serialMember{project, r.Serial, id}] = struct{}{}
	}
}

// updateGroups records in which groups a task works, and reports whether it left one.
func (s serialGroups) updateGroups(def *workflow.Definition, t *task.Task) (left bool) {
	now := worksIn(def, t)
	for k := range s {
		if _, still := now[k]; k.id == t.ID && !still {
			delete(s, k)
			left = true
		}
	}
	maps.Copy(s, now)
	return left
}

// worksIn returns the groups that a task works in: those of its agents, of an agent that is to be restarted, and of one
// that waits for advice.
func worksIn(def *workflow.Definition, t *task.Task) serialGroups {
	out := serialGroups{}
	for _, a := range t.Attempts {
		out.joinGroup(def, t.Project, a.Role, t.ID)
	}
	state, ok := def.StateNamed(t.Status)
	if !ok || state.Kind != workflow.Agent {
		return out
	}
	if !t.RespawnAt.IsZero() {
		out.joinGroup(def, t.Project, state.Role, t.ID)
	}
	if back, ok := def.StateNamed(t.ReturnTo); ok && (len(t.Attempts) > 0 || !t.RespawnAt.IsZero()) {
		out.joinGroup(def, t.Project, back.Role, t.ID)
	}
	return out
}
