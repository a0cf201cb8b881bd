package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/wire"
)

func newTaskFork(deps Deps) *cobra.Command {
	var f wire.ForkWish
	var id string
	var wait bool
	cmd := &cobra.Command{
		Use: "fork <id@seq>", Short: "Create a task that begins where another one stood at an entry of its history",
		Long: "Create a task that begins at the commit that another one had at an entry of its history, on a\n" +
			"branch of its own and with the text of the old one as its context. The old task stays as it is.",
		Example: "  orange task history MFTsZyeO --json\n" +
			"  orange task fork MFTsZyeO@7 --branch second-try",
		Args: arguments(1, 1),
	}
	cmd.Flags().StringVar(&f.Branch, "branch", "", "branch of the new task (default: named after the old one)")
	cmd.Flags().BoolVar(&wait, "no-spawn", false, "create it and do not start it")
	cmd.PreRunE = func(_ *cobra.Command, args []string) (err error) {
		id, f.Seq, err = entryOf(args[0])
		f.Spawn = !wait
		return err
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, _ []string) error {
		a, err := s.Fork(ctx, id, f)
		if err != nil {
			return err
		}
		if a.Warning != "" {
			fmt.Fprintln(s.Stderr, "orange: warning: "+cleanLine(a.Warning))
		}
		return s.show(a, func(w io.Writer) error {
			return printCreated(w, a.Task, "a fork of "+a.Task.ForkOf)
		})
	})
	return cmd
}

// entryOf reads ID@SEQ.
func entryOf(text string) (id string, seq int, err error) {
	id, number, _ := strings.Cut(text, "@")
	seq, err = strconv.Atoi(number)
	if err != nil || seq < 1 || id == "" {
		return "", 0, usageError("%q names no entry of a task: give ID@SEQ, with a seq of orange task history --json", text)
	}
	return id, seq, nil
}
