package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
)

func newTaskVerdict(deps Deps) *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use: "verdict PASS|FAIL [id]", Short: "State what a review found (for agents that review)", Args: arguments(1, 2),
		Long: "State the verdict of a review. It is written at the head of the section that the workflow's gate reads,\n" +
			"what the section says already stays below it, and the task takes the way on that the verdict opens: the\n" +
			"engine decides whether FAIL means rework or that the task is stuck. Only an agent of a role that may\n" +
			"give the verdict can state it.",
		Example: "  orange task verdict PASS -m \"reads well, tests cover it\"\n" +
			"  orange task verdict FAIL -m \"cart.go:42 loses the last item\"",
	}
	cmd.Flags().StringVarP(&note, "message", "m", "", "why, in your words; - for standard input")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		verdict := strings.ToUpper(args[0])
		if verdict != "PASS" && verdict != "FAIL" {
			return usageError("%q is no verdict: say PASS or FAIL", args[0])
		}
		return s.speak(ctx, args[1:], signal.Signal{Kind: signal.Request, Verb: engine.VerbVerdict, Arg: verdict}, note)
	})
	return cmd
}

// speak sends what an agent says about its task, with its words.
func (s session) speak(ctx context.Context, args []string, sig signal.Signal, note string) error {
	id, err := s.taskOf(ctx, args)
	if err != nil {
		return err
	}
	if sig.Note, err = s.said(note); err != nil {
		return err
	}
	if sig.Kind == signal.Outcome && sig.Note != "" {
		sig.Word, sig.Note = sig.Word+": "+sig.Note, ""
	}
	return s.ask(ctx, id, sig)
}
