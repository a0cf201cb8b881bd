package server

import (
	"context"
	"errors"

	"orange/internal/adapter/git"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/runtime/agents"
	"orange/internal/server/measure"
	"orange/internal/view/overview"
)

// newMeasure builds what measures the work of tasks.
func (s *Server) newMeasure() *measure.Service {
	return measure.New(measure.Options{
		Store: s.store, Rows: s.runtime.FollowJournal, Measure: s.measureWork, Worktree: s.worktreeOf, Output: s.outputOf,
		Children: s.childrenOf, Absent: s.absentOf, Over: s.isOver, Reasons: s.waitReasons, Log: s.log,
	})
}

// measureWork counts what a task's branch has of its own, nil if it has no branch.
func (s *Server) measureWork(ctx context.Context, t *task.Task) (*overview.Work, error) {
	c, ok := s.taskComparison(t)
	if !ok {
		return nil, nil
	}
	stat, err := s.git.DiffStat(ctx, c)
	if err != nil {
		if errors.Is(err, git.ErrNoBranch) {
			err = nil
		}
		return nil, err
	}
	return &overview.Work{Commits: stat.Commits, Added: stat.Added, Deleted: stat.Deleted, Files: stat.Files}, nil
}

// taskComparison says what the work of a task is compared with, false if its project is not
// registered any more.
func (s *Server) taskComparison(t *task.Task) (git.Comparison, bool) {
	p, ok := s.runtime.Project(t.Project)
	c := git.Comparison{Root: p.Path, Worktree: s.worktreeOf(t), Branch: t.Branch, Default: p.DefaultBranch}
	if w := t.Work; w != nil && w.Landed { // it is all in the default branch: what it was is in the journal
		c.Base, c.Head = w.Base, w.Head
	}
	return c, ok && t.Branch != ""
}

// worktreeOf is where a task is worked on, "" for nowhere.
func (s *Server) worktreeOf(t *task.Task) string {
	if t.Workspace == "" || s.host == nil {
		return ""
	}
	return s.workspaceFolder(t.Workspace)
}

// outputOf is the file that an attempt's output goes to, "" if no agents run here.
func (s *Server) outputOf(id task.ID, attempt int) string {
	if s.host == nil {
		return ""
	}
	return s.host.agents.OutputFile(agents.Key{Task: id, Number: attempt})
}

// absentOf lists the attempts of a task that have no process, none if no agents run here.
func (s *Server) absentOf(t *task.Task) []int {
	if s.host == nil {
		return nil
	}
	return s.host.agents.AttemptsWithoutProcess(t)
}

// isOver says whether a task is in a state in which tasks end.
func (s *Server) isOver(t *task.Task) bool {
	def, err := s.runtime.Definition(t)
	if err != nil {
		return false
	}
	st, ok := def.StateNamed(t.Status)
	return ok && st.Kind == workflow.Terminal
}

// childrenOf are the parts of a task, where its state asks for them.
func (s *Server) childrenOf(t *task.Task) []signal.Child {
	def, err := s.runtime.Definition(t)
	if err != nil || !def.AsksForChildren(t.Status) {
		return nil
	}
	list, err := s.store.ChildTasks(t.ID)
	if err != nil {
		s.log.Warn("look up the children of a task", "component", "measure", "task", t.ID, "error", err)
	}
	return list
}
