package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func newWorkspaceGC(deps Deps) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: "gc", Short: "Remove the workspaces that nobody needs; work in them is kept", Args: arguments(0, 0),
		Long: "Remove worktrees beyond the size of the pool, and those of projects that are gone. Work in them is\n" +
			"kept first; one that a task holds stays.",
		Example: "  orange workspace gc --dry-run",
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be removed")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, _ []string) error {
		c, err := s.CleanWorkspaces(ctx, dry)
		if err != nil {
			return err
		}
		return s.show(c, func(w io.Writer) error {
			verb := "removed"
			if dry {
				verb = "would remove"
			}
			for _, r := range c.Removed {
				fmt.Fprintln(w, cleanLine(fmt.Sprintf("%s %s: %s", verb, r.Name, r.Why)))
			}
			for _, k := range c.Kept {
				fmt.Fprintln(w, cleanLine(fmt.Sprintf("kept %s: %s", k.Name, k.Why)))
			}
			if len(c.Removed)+len(c.Kept) == 0 {
				fmt.Fprintln(w, "Nothing to remove.")
			}
			return nil
		})
	})
	return cmd
}
