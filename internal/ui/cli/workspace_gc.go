package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/wire"
)

func newWorkspaceGC(deps Deps) *cobra.Command {
	how := wire.CleanWish{}
	older := days(14 * 24 * time.Hour)
	cmd := &cobra.Command{
		Use: "gc", Short: "Remove the workspaces that nobody needs; work in them is kept", Args: arguments(0, 0),
		Long: "Remove worktrees beyond the size of the pool, and those of projects that are gone. Work in them is\n" +
			"kept first, and files that git ignores are moved to a folder that is named; one that a task holds\n" +
			"stays. Such folders are deleted only with --purge.",
		Example: "  orange workspace gc --dry-run\n  orange workspace gc --purge --older 30d",
	}
	cmd.Flags().BoolVar(&how.DryRun, "dry-run", false, "only say what would be removed")
	cmd.Flags().BoolVar(&how.Purge, "purge", false, "also delete files that were set aside, for good")
	cmd.Flags().Var(&older, "older", "with --purge: those set aside so long ago, or longer, as in 14d or 36h")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		switch {
		case !how.Purge && cmd.Flags().Changed("older"):
			return usageError("--older says what --purge deletes: give both, or neither")
		case how.Purge:
			how.Older = time.Duration(older)
		}
		return nil
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, _ []string) error {
		c, err := s.CleanWorkspaces(ctx, how)
		if err != nil {
			return err
		}
		return s.show(c, func(w io.Writer) error {
			verb := "removed"
			if how.DryRun {
				verb = "would remove"
			}
			for _, r := range c.Removed {
				fmt.Fprintln(w, cleanLine(fmt.Sprintf("%s %s: %s", verb, r.Name, r.Why)))
			}
			for _, k := range c.Kept {
				fmt.Fprintln(w, cleanLine(fmt.Sprintf("kept %s: %s", k.Name, k.Why)))
			}
			if len(c.Removed)+len(c.Kept) == 0 {
				fmt.Fprintln(w, "Nothing to remove.")
			}
			return nil
		})
	})
	return cmd
}

// days is a flag's time that may be given in days.
type days time.Duration

// String implements pflag.Value.
func (d *days) String() string { return span(time.Duration(*d)) }

// Type implements pflag.Value.
func (d *days) Type() string { return "duration" }

// Set implements pflag.Value.
func (d *days) Set(text string) error {
	var whole time.Duration
	rest := text
	if number, after, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n > 100*365 {
			return fmt.Errorf("give a time such as 14d or 36h")
		}
		whole, rest = time.Duration(n)*24*time.Hour, after
	}
	if rest != "" || whole == 0 {
		part, err := time.ParseDuration(rest)
		if err != nil || part < 0 {
			return fmt.Errorf("give a time such as 14d or 36h")
		}
		whole += part
	}
	if whole <= 0 {
		return fmt.Errorf("give a positive time such as 14d or 36h")
	}
	*d = days(whole)
	return nil
}
