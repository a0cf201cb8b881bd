package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func newWorkspaceInit(deps Deps) *cobra.Command {
	var count int
	cmd := &cobra.Command{
		Use: "init [project]", Short: "Make workspaces before tasks need them, by default all of this folder's project",
		Long:    "Make worktrees of a project and run its set-up command in them, so that the first tasks need not wait.",
		Example: "  orange workspace init shop --count 2",
		Args:    arguments(0, 1),
	}
	cmd.Flags().IntVar(&count, "count", 0, "how many (default: the whole pool)")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if cmd.Flags().Changed("count") && count < 1 {
			return usageError("--count %d: give a positive integer", count)
		}
		return nil
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		project, err := s.projectOf(ctx, args)
		if err != nil {
			return err
		}
		list, err := s.InitWorkspaces(ctx, project, count)
		if err != nil {
			return err
		}
		return s.show(map[string]any{"workspaces": list}, func(w io.Writer) error {
			for i := range list {
				state := "ready"
				if !list[i].Exists || list[i].Problem != "" {
					state = workspaceState(&list[i])
				}
				fmt.Fprintln(w, cleanLine(fmt.Sprintf("%s (%s): %s", list[i].Name, list[i].Path, state)))
			}
			if len(list) == 0 {
				fmt.Fprintln(w, cleanLine(fmt.Sprintf("Project %s has all its workspaces.", project)))
			}
			return nil
		})
	})
	return cmd
}
