package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"
)

func newTaskExplain(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "explain [id]", Short: "Say why a task is where it is, and what would move it",
		Example: "  orange task explain MFTsZyeO\n" +
			"  orange task explain --json",
		Long: "Say who must act and the cheapest way on, every way out with the rules weighed for it,\n" +
			"what the engine does next, how the task came here, what it has cost and what was refused.",
		Args: arguments(0, 1),
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			id, err := s.taskOf(ctx, args)
			if err != nil {
				return err
			}
			x, err := s.Explain(ctx, id)
			if err != nil {
				return err
			}
			return s.show(x, func(w io.Writer) error {
				_, err := io.WriteString(w, cleanText(x.Text(s.Now())))
				return err
			})
		}),
	}
}
