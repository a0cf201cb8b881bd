package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
)

func newTaskReport(deps Deps) *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use: "report CODE [id]", Short: "Report the outcome of your work (for agents)", Args: arguments(1, 2),
		Long: "Report an outcome that the workflow answers to in the task's present state, as the agent that works there.\n" +
			"It counts as a report in the agent's last message does, and needs no nonce: the command proves who says it.\n" +
			"A code that nothing answers to is refused, with those that are known.",
		Example: "  orange task report passed\n" +
			"  orange task report BLOCKED -m \"no access to the database\"",
	}
	cmd.Flags().StringVarP(&note, "message", "m", "", "what goes with it, in your words; - for standard input")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		code := strings.TrimSpace(args[0])
		if code == "" || strings.Contains(code, ":") {
			return usageError("%q is no code: give one word, and your words with --message", args[0])
		}
		return s.speak(ctx, args[1:], signal.Signal{Kind: signal.Outcome, Verb: engine.VerbReport, Word: code}, note)
	})
	return cmd
}
