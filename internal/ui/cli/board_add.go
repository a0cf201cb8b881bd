package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/wire"
)

func newBoardAdd(deps Deps, f *boardFlags) *cobra.Command {
	var n wire.NewCard
	cmd := &cobra.Command{
		Use: "add <title...>", Short: "Put a card on the board, and start a task for it if the workflow has one", Args: arguments(1, -1),
		Long: "Put a card on the project's board. If the workflow works on cards, a task is created for it.",
		Example: "  orange board add \"Login form\" --tag Ready\n" +
			"  orange board add \"Only an idea\" --no-task --description -",
	}
	flags := cmd.Flags()
	flags.StringVar(&n.Column, "column", "", "column it begins in (default: the first)")
	flags.StringArrayVar(&n.Tags, "tag", nil, "tag of the card; may be given several times")
	flags.StringVar(&n.Description, "description", "", "what is to be done; - reads it from standard input")
	flags.StringVar(&n.Workflow, "workflow", "", "workflow of its task (default: the project's)")
	flags.StringVar(&n.Branch, "branch", "", "branch of its task (default: one of its own)")
	flags.StringVar(&n.Harness, "harness", "", "agent that works on it")
	flags.BoolVar(&n.NoTask, "no-task", false, "only put the card there")
	codeFlag(cmd)
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		n.Harness, err = deps.harness(n.Harness)
		return err
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		if s.Config.Role != "" {
			return errAgent
		}
		var err error
		if n.Description, err = s.description(n.Description); err != nil {
			return err
		}
		n.Title = strings.Join(args, " ")
		project := f.project
		if project == "" {
			if project, err = s.ensureProject(ctx); err != nil {
				return err
			}
		}
		n.Code = s.code()
		added, err := s.AddCard(ctx, project, n)
		if err != nil {
			return err
		}
		if added.Warning != "" {
			fmt.Fprintln(s.Stderr, "orange: warning: "+cleanLine(added.Warning))
		}
		return s.show(added, func(w io.Writer) error { return printAdded(w, added) })
	})
	return cmd
}

func printAdded(w io.Writer, added wire.AddedCard) error {
	_, err := fmt.Fprintln(w, cleanLine(fmt.Sprintf("Added card %s (%s): %s", placeOf(added.Card), added.Card.Column, added.Card.Title)))
	if err == nil && added.Task != "" {
		_, err = fmt.Fprintln(w, cleanLine(fmt.Sprintf("Created task %s for it", added.Task)))
	}
	return err
}
