package server

import (
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/server/measure"
)

// newMeasure returns the service that measures the work of tasks.
func (s *Server) newMeasure() *measure.Service {
	return measure.New(measure.MeasureOptions{
		Store: s.store, Rows: s.runtime.FollowJournal, Watcher: s.host.Watcher, Measure: s.host.MeasureWork, Worktree: s.host.WorktreeOf, Output: s.host.OutputFile,
		Children: s.childrenOf, Absent: s.host.AbsentAttempts, Over: s.isOver, Reasons: s.waitReasons, Log: s.log,
	})
}

// isOver reports whether a task is in a terminal state.
func (s *Server) isOver(t *task.Task) bool {
	def, err := s.runtime.Definition(t)
	if err != nil {
		return false
	}
	st, ok := def.StateNamed(t.Status)
	return ok && st.Kind == workflow.Terminal
}

// childrenOf returns the child tasks of a task, if its state depends on them.
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
