package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/signal"
)

func newTaskRequestChanges(deps Deps) *cobra.Command {
	var message, note string
	cmd := &cobra.Command{
		Use: "request-changes <id> [message...]", Short: "Send reviewed work back to its worker, and say what is to change",
		Long: "Send work that waits for a decision back to its worker. What is to change is written into TASK.md\n" +
			"and told to the agent.",
		Example: "  orange task request-changes MFTsZyeO \"The form needs a label\"\n" +
			"  orange task request-changes MFTsZyeO -m - <remarks.txt",
		Args: arguments(1, -1),
	}
	cmd.Flags().StringVarP(&message, "message", "m", "", "what is to change; - reads it from standard input")
	cmd.Flags().StringVar(&note, "note", "", "the same as --message")
	_ = cmd.Flags().MarkHidden("note")
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		given := 0
		for _, text := range []string{message, note, strings.Join(args[1:], " ")} {
			if text != "" {
				given++
			}
		}
		if given > 1 {
			return usageError("give one message: behind the id or with --message, not both")
		}
		return nil
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		text, err := s.said(message + note + strings.Join(args[1:], " "))
		if err != nil {
			return err
		}
		return s.ask(ctx, args[0], signal.Signal{Kind: signal.Request, Verb: "request-changes", Note: text})
	})
	return cmd
}
