package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"orange/internal/ui/client"
)

func newProjectUpdate(deps Deps) *cobra.Command {
	var size int
	var workflow string
	cmd := &cobra.Command{
		Use: "update [name]", Short: "Change a project, by default the one of this folder",
		Args: arguments(0, 1), ValidArgsFunction: completeProjects(deps),
	}
	cmd.Flags().IntVar(&size, "pool-size", 0, "how many workspaces it has")
	cmd.Flags().StringVar(&workflow, "workflow", "", "workflow that its new tasks follow")
	var change client.ProjectChange
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if cmd.Flags().Changed("pool-size") {
			change.PoolSize = &size
		}
		if cmd.Flags().Changed("workflow") {
			change.Workflow = &workflow
		}
		if change == (client.ProjectChange{}) {
			return errors.New("nothing to change: give --pool-size or --workflow")
		}
		return checkPoolSize(cmd, size)
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		name, err := "", error(nil)
		if len(args) > 0 {
			name = args[0]
		} else if name, err = s.projectHere(ctx); err != nil {
			return err
		}
		p, err := s.UpdateProject(ctx, name, change)
		if err != nil {
			return err
		}
		return s.say(map[string]any{"project": p}, "Updated project %s: %d workspaces, workflow %s", p.Name, p.PoolSize, orDash(p.Workflow))
	})
	return cmd
}
