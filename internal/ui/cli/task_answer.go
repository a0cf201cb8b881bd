package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
)

func newTaskAnswer(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "answer <id> <text...|->", Short: "Answer what an agent asked, and let it go on", Args: arguments(2, -1),
		Long: "Answer the question that a task waits with, or that its agent ended its turn with, or help a task that\n" +
			"is stuck. The words are written into TASK.md and told to the agent, and the task goes on. An agent\n" +
			"that ended meanwhile is started again with them.",
		Example: "  orange task answer MFTsZyeO \"Take the blue one\"\n" +
			"  orange task answer MFTsZyeO - <answer.txt",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			text, err := s.said(strings.Join(args[1:], " "))
			if err != nil {
				return err
			}
			if text == "" {
				return errors.New("the answer is empty: give some words")
			}
			return s.ask(ctx, args[0], signal.Signal{Kind: signal.Request, Verb: engine.VerbAnswer, Note: text})
		}),
	}
}
