package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orange/internal/core/workflow"
	"orange/internal/doctor"
)

// checks looks at what can be wrong with the data folder.
func (s *server) checks(ctx context.Context) []doctor.Result {
	return doctor.Run(ctx, []doctor.Check{
		{Name: "store", Run: s.checkStore, Fix: "stop the server and restore orange.db from a copy, or orange export what can be read"},
		{Name: "journal", Run: s.checkJournal, Fix: "orange doctor --repair rebuilds the records from their journals; a journal that cannot be read needs a copy of orange.db"},
		{Name: "workflows", Run: s.checkWorkflows, Fix: "restore the missing text with orange import of an export that has it"},
		{Name: "projects", Run: s.checkProjects, Fix: "put the repository back, or orange project remove it"},
		{Name: "attention", Run: s.checkAttention, Fix: "see orange task explain for each, then orange resume"},
	})
}

// repair writes the records anew from their journals.
func (s *server) repair(ctx context.Context) error {
	err := s.store.Repair(ctx)
	s.runtime.Forget()
	return err
}

func (s *server) checkStore(ctx context.Context) (string, error) {
	return "intact", s.store.Integrity(ctx)
}

func (s *server) checkJournal(ctx context.Context) (string, error) {
	different, err := s.store.Rebuild(ctx)
	if err == nil && len(different) > 0 {
		err = fmt.Errorf("%d records are not what their journals fold to: %s", len(different), strings.Join(different, "; "))
	}
	return "every record is what its journal folds to", err
}

func (s *server) checkWorkflows(ctx context.Context) (string, error) {
	n := 0
	err := s.store.EachWorkflow(ctx, func(hash, name, file, text string) error {
		n++
		return checkPinned(hash, name, file, text)
	})
	return fmt.Sprintf("%d pinned texts read as they were", n), err
}

func (s *server) checkProjects(ctx context.Context) (string, error) {
	list := s.runtime.Projects()
	for _, p := range list {
		if _, err := s.git.Root(ctx, p.Path); err != nil {
			return "", fmt.Errorf("project %s: %w", p.Name, err)
		}
	}
	return fmt.Sprintf("%d registered, all are repositories", len(list)), nil
}

func (s *server) checkAttention(context.Context) (string, error) {
	tasks, err := s.store.Unsettled()
	if err != nil {
		return "", err
	}
	var waiting []string
	for _, t := range tasks {
		if t.Attention != "" {
			waiting = append(waiting, string(t.ID)+": "+t.Attention)
		}
	}
	if len(waiting) > 0 {
		return "", errors.New(strings.Join(waiting, "; "))
	}
	return "no task asks for it", nil
}

// checkPinned says whether a stored workflow text is still what tasks were pinned to.
func checkPinned(hash, name, file, text string) error {
	if workflow.HashOf(text) != hash {
		return fmt.Errorf("the text of workflow %s (%.12s) is damaged", name, hash)
	}
	if _, err := workflow.Parse(file, text); err != nil {
		return fmt.Errorf("workflow %s (%.12s): %w", name, hash, err)
	}
	return nil
}
