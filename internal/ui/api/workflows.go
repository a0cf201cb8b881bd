package api

import (
	"context"
	"fmt"
	"net/http"

	"orange/internal/wire"
)

// Library lists all workflows.
type Library interface {
	ListWorkflows(ctx context.Context) ([]wire.WorkflowInfo, error)
}

func (s *Server) listWorkflows(r *http.Request) (wire.WorkflowList, error) {
	list, err := s.Library.ListWorkflows(r.Context())
	return wire.WorkflowList{Workflows: nonNil(list)}, err
}

func (s *Server) readWorkflow(r *http.Request) (wire.WorkflowText, error) {
	out := wire.WorkflowText{Hash: r.PathValue("hash")}
	var ok bool
	var err error
	if out.Name, out.File, out.Text, ok, err = s.Workflows.Workflow(out.Hash); err == nil && !ok {
		err = &notFoundError{fmt.Sprintf("no task is pinned to a workflow %.12q: give a whole workflow_hash", out.Hash)}
	}
	return out, err
}

// A notFoundError means that the requested object does not exist.
type notFoundError struct{ text string }

func (m *notFoundError) Error() string { return m.text }
