package cli

import (
	"github.com/spf13/cobra"

	"orange/internal/core/engine"
)

func newTaskRespawn(deps Deps) *cobra.Command {
	return verbCommand(deps, engine.Respawn, &cobra.Command{
		Use: "respawn <id>", Short: "Start the dead agent of a task's state again", Args: arguments(1, 1),
	})
}
