package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"orange/internal/core/task"
	"orange/internal/wire"
)

func newProjectUpdate(deps Deps) *cobra.Command {
	var size int
	var workflow, path string
	var trustGit bool
	var change wire.ProjectChange
	cmd := &cobra.Command{
		Use: "update [name]", Short: "Change a project, by default the one of this folder",
		Long: "Change what belongs to a project. What no flag names stays as it is.",
		Example: "  orange project update shop --pool-size 3 --max-day-cost 20\n" +
			"  orange project update --workflow orange-direct\n" +
			"  orange project update shop --confirm merge=code   # a person's merge needs a code\n" +
			"  orange project update shop --path ~/src/shop   # the repository was moved there\n" +
			"  orange project update shop --trust-git         # after a look at what git would run",
		Args: arguments(0, 1),
	}
	cmd.Flags().IntVar(&size, "pool-size", 0, "how many workspaces it has")
	cmd.Flags().StringVar(&workflow, "workflow", "", "workflow that its new tasks follow")
	cmd.Flags().StringVar(&path, "path", "", "where its repository was moved to; the worktrees are repaired")
	cmd.Flags().BoolVar(&trustGit, "trust-git", false, "let git run the hooks, filters and helpers that its configuration names now")
	policy := newPolicyFlags(cmd)
	codeFlag(cmd)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if cmd.Flags().Changed("pool-size") {
			change.PoolSize = &size
		}
		if cmd.Flags().Changed("workflow") {
			change.Workflow = &workflow
		}
		if cmd.Flags().Changed("path") {
			full, err := filepath.Abs(path)
			if err != nil {
				return fmt.Errorf("find the folder %q: %w", path, err)
			}
			change.Path = &full
		}
		if trustGit {
			change.TrustGit = &trustGit
		}
		if err := policy.check(); err != nil {
			return err
		}
		policy.change(&change)
		if change == (wire.ProjectChange{}) && !policy.bounds() {
			return errors.New("nothing to change: give --pool-size or --workflow, or another flag of orange project update --help")
		}
		return checkPoolSize(cmd, size)
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		name, err := s.projectOf(ctx, args)
		if errors.Is(err, errNoProject) && change.Path != nil {
			return fmt.Errorf("this folder belongs to no project yet: name the one that was moved (orange project list), as in orange project update NAME --path %s", path)
		}
		if err != nil {
			return err
		}
		if policy.bounds() {
			p, err := s.project(ctx, name)
			if err != nil {
				return err
			}
			budget := policy.budget(p.Budget)
			change.Budget = &budget
		}
		change.Code = s.code()
		updated, err := s.UpdateProject(ctx, name, change)
		if err != nil {
			return err
		}
		p := updated.Project
		lines := []string{fmt.Sprintf("Updated project %s: %d workspaces, workflow %s%s", p.Name, p.PoolSize, orDash(p.Workflow), policyText(p.Policy))}
		if trustGit {
			lines = append(lines, gitProgramsText(updated.Git)...)
		}
		return s.sayLines(updated, lines...)
	})
	return cmd
}

// gitProgramsText lists the programs that git may run, with the files whose content is fixed.
func gitProgramsText(list []task.GitProgram) []string {
	if len(list) == 0 {
		return []string{"Git runs no hook, filter or helper for it"}
	}
	lines := []string{"Git runs these for it, as long as they stay as they are:"}
	for _, p := range list {
		line := "  " + string(p.Kind) + " " + p.Key
		if p.Command != "" {
			line += ": " + cut(cleanLine(p.Shown()), 200)
		}
		lines = append(lines, line)
		for _, f := range p.Files {
			lines = append(lines, "    "+f.Path+" "+f.SHA256[:min(12, len(f.SHA256))])
		}
	}
	return lines
}

// project finds a project by its name.
func (s session) project(ctx context.Context, name string) (task.Project, error) {
	all, err := s.Projects(ctx)
	if err != nil {
		return task.Project{}, err
	}
	for _, p := range all {
		if p.Name == name {
			return p, nil
		}
	}
	return task.Project{}, fmt.Errorf("project %q is not registered: see orange project list", name)
}
