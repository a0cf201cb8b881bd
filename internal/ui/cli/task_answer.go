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
