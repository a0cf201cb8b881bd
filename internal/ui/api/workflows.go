package api

import (
	"context"
	"fmt"
	"net/http"
)

// A WorkflowInfo is a workflow that tasks follow, or may follow.
type WorkflowInfo struct {
	Name   string `json:"name"`
	Hash   string `json:"hash"`
	Origin string `json:"origin"` // built-in, user, the name of a project, or pinned
	File   string `json:"file"`
	Tasks  int    `json:"tasks"` // that follow this very text and are not over
}

// Library knows all workflows.
type Library interface {
	Known(ctx context.Context) ([]WorkflowInfo, error)
}

// WorkflowList are the workflows that are known.
type WorkflowList struct {
	Workflows []WorkflowInfo `json:"workflows"`
}

func (s *Server) listWorkflows(r *http.Request) (WorkflowList, error) {
	list, err := s.Library.Known(r.Context())
	return WorkflowList{nonNil(list)}, err
}

// A WorkflowText is the text that tasks are pinned to by its hash.
type WorkflowText struct {
	File string `json:"file"`
	Hash string `json:"hash"`
	Name string `json:"name"`
	Text string `json:"text"`
}

func (s *Server) workflow(r *http.Request) (WorkflowText, error) {
	out := WorkflowText{Hash: r.PathValue("hash")}
	var ok bool
	var err error
	if out.Name, out.File, out.Text, ok, err = s.Workflows.Workflow(out.Hash); err == nil && !ok {
		err = &missing{fmt.Sprintf("no task is pinned to a workflow %.12q: give a whole workflow_hash", out.Hash)}
	}
	return out, err
}

// A missing says that there is no such thing.
type missing struct{ text string }

func (m *missing) Error() string { return m.text }
