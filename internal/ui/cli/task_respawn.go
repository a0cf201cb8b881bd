package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/wire"
)

func newTaskRespawn(deps Deps) *cobra.Command {
	cmd := verbCommand(deps, engine.Respawn, &cobra.Command{
		Use: "respawn <id>", Short: "Start the dead agent of a task's state again", Args: arguments(1, 1),
		Long: "Start another agent at once in place of one that died or did not say how it went, without\n" +
			"waiting for Orange to do it.",
		Example: "  orange task respawn MFTsZyeO",
	})
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		note, err := cmd.Flags().GetString("note")
		if err != nil {
			return err
		}
		a, err := s.signal(ctx, args[0], signal.Signal{Kind: signal.Request, Verb: engine.Respawn, Note: note})
		if err != nil {
			return err
		}
		if why := held(&a.Task); why != "" {
			fmt.Fprintln(s.Stderr, "orange: "+cleanLine(why))
		}
		return s.say(a, "%s", startedAgain(a))
	})
	return cmd
}

// startedAgain says which agent an answer starts, if it does.
func startedAgain(a wire.Answer) string {
	for i := range a.Decision.Entries {
		for _, n := range a.Decision.Entries[i].Started {
			return fmt.Sprintf("%s: the %s is started again, in %s", short(string(a.Task.ID)), n.Role, a.Task.Status)
		}
	}
	return moved(a)
}
