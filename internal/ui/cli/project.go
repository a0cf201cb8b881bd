package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/task"
)

func newProjectCommand(deps Deps) *cobra.Command {
	return group("project", "Register the repositories that tasks are about",
		newProjectAdd(deps), newProjectList(deps), newProjectUpdate(deps), newProjectRemove(deps))
}

// errNoProject is what a command says that runs in a folder of no project and names none.
var errNoProject = errors.New("this folder belongs to no project: name one, or run orange project add")

// projectOf is the project that is named, else the one of the folder the command runs
// in.
func (s session) projectOf(ctx context.Context, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	return s.projectHere(ctx)
}

// projectHere is the project of the folder the command runs in.
func (s session) projectHere(ctx context.Context) (string, error) {
	at, err := s.Where(ctx, s.Cwd)
	if err != nil {
		return "", err
	}
	if at.Project == "" {
		return "", errNoProject
	}
	return at.Project, nil
}

// newProject is what a repository is registered as unless flags say otherwise.
func (d Deps) newProject(root string) task.Project {
	p := task.Project{Name: projectName(root), Path: root, PoolSize: task.DefaultPoolSize, Workflow: d.Config.Workflow}
	if d.Config.PoolSize > 0 {
		p.PoolSize = d.Config.PoolSize
	}
	return p
}

// projectName makes a name of a folder's.
func projectName(root string) string {
	fit := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}
	name := strings.TrimLeft(strings.Map(fit, filepath.Base(root)), "-._")
	return name[:min(len(name), 64)]
}

func checkPoolSize(cmd *cobra.Command, n int) error {
	if cmd.Flags().Changed("pool-size") && n < 1 {
		return fmt.Errorf("pool size %d: give a positive integer", n)
	}
	return nil
}
