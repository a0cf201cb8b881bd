package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func newProjectRemove(deps Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove <name>", Short: "Forget a project; its repository stays as it is",
		Long:    "Forget a project that has no task left to do. Its repository and its branches stay as they are.",
		Example: "  orange project remove shop",
		Args:    arguments(1, 1),
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			if err := s.RemoveProject(ctx, args[0], s.code()); err != nil {
				return err
			}
			return s.say(map[string]string{"removed": args[0]}, "Removed project %s", args[0])
		}),
	}
	codeFlag(cmd)
	return cmd
}
