package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"orange/internal/wire"
)

func newProjectAdd(deps Deps) *cobra.Command {
	var name, workflow string
	var size int
	cmd := &cobra.Command{
		Use: "add [path]", Short: "Register a repository, by default the one of this folder",
		Long: "Register a repository as a project: its tasks get worktrees of it. Its path, a pool of workspaces\n" +
			"and how finished work leaves this machine belong to it.",
		Example: "  orange project add\n" +
			"  orange project add ~/src/shop --pool-size 4 --delivery pr --setup \"npm ci\"",
		Args: arguments(0, 1),
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the project (default: that of its folder)")
	cmd.Flags().IntVar(&size, "pool-size", 0, "how many workspaces it has (default 2)")
	cmd.Flags().StringVar(&workflow, "workflow", "", "workflow that its tasks follow")
	policy := newPolicyFlags(cmd)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if err := policy.check(); err != nil {
			return err
		}
		return checkPoolSize(cmd, size)
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		path := s.Cwd
		if len(args) > 0 {
			path = args[0]
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.Cwd, path)
		}
		at, err := s.Where(ctx, path)
		if err != nil {
			return err
		}
		if at.GitRoot == "" {
			return fmt.Errorf("%s is not a git repository: run git init there, or give another path", path)
		}
		if err := s.otherWorkflow(ctx, at, workflow); err != nil {
			return err
		}
		p := s.newProject(at.GitRoot)
		p.Policy = policy.policy()
		if name != "" {
			p.Name = name
		}
		if size > 0 {
			p.PoolSize = size
		}
		if workflow != "" {
			p.Workflow = workflow
		}
		added, err := s.AddProject(ctx, p)
		if err != nil {
			return err
		}
		p = added.Project
		lines := []string{fmt.Sprintf("Added project %s (%s), %d workspaces%s", p.Name, p.Path, p.PoolSize, policyText(p.Policy))}
		if len(added.Git) > 0 {
			lines = append(lines, gitProgramsText(added.Git)...)
		}
		return s.sayLines(added, lines...)
	})
	return cmd
}

// otherWorkflow refuses to register a repository again only to give it another workflow.
func (s session) otherWorkflow(ctx context.Context, at wire.Place, workflow string) error {
	if workflow == "" || at.Project == "" {
		return nil
	}
	have, err := s.project(ctx, at.Project)
	if err != nil || have.Path != at.GitRoot {
		return nil // whatever else is wrong is said when it is added
	}
	return fmt.Errorf("%s is registered already: use orange project update %s --workflow %s", have.Path, have.Name, workflow)
}
