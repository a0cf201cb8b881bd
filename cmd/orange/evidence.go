package main

import (
	"context"
	"errors"
	"time"

	"orange/internal/adapter/git"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// prober looks evidence up in the project's repository.
type prober struct{ git *git.Git }

// Probe implements local.Prober.
func (p prober) Probe(ctx context.Context, name string, in task.Project, branch string) signal.Evidence {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	e := signal.Evidence{Name: name}
	var err error
	switch name {
	case "merged":
		e.Holds, e.Detail, err = p.git.Merged(ctx, in.Path, branch, in.DefaultBranch)
	case "commits":
		var n int
		n, e.Detail, err = p.git.Commits(ctx, in.Path, branch, in.DefaultBranch)
		e.Holds = n > 0
	default:
		err = errors.New("nothing here knows how to look it up")
	}
	if err != nil {
		e.Holds, e.Detail = false, err.Error()
	}
	return e
}
