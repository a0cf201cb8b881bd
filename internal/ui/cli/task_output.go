package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"orange/internal/core/screen"
)

func newTaskOutput(deps Deps) *cobra.Command {
	var attempt int
	var role string
	cmd := &cobra.Command{
		Use: "output [id]", Short: "Print the last message of a task's agent, by default the newest one", Args: arguments(0, 1),
		Long: "Print what an agent said last, as it said it: no prompt, no call of a tool, no answer of one. It is an\n" +
			"error if the agent has said nothing. orange task log shows the whole conversation.",
		Example: "  orange task output MFTsZyeO\n" +
			"  orange task output MFTsZyeO --role reviewer",
	}
	f := cmd.Flags()
	f.IntVar(&attempt, "attempt", 0, "number of the attempt (default: the newest)")
	f.StringVar(&role, "role", "", "the newest attempt of this role")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if f.Changed("attempt") && attempt < 1 {
			return usageError("--attempt %d: give a positive integer", attempt)
		}
		return nil
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		id, err := s.taskOf(ctx, args)
		if err != nil {
			return err
		}
		m, err := s.Client.Said(ctx, id, attempt, role)
		switch {
		case err != nil:
			return err
		case m.Text == "":
			return fmt.Errorf("attempt %d of task %s has said nothing: see orange task log %s --attempt %d", m.Attempt, short(id), id, m.Attempt)
		case wantsJSON(s.cmd):
			return printJSON(s.Stdout, m)
		}
		_, err = fmt.Fprintln(s.Stdout, screen.Text(m.Text))
		return err
	})
	return cmd
}
