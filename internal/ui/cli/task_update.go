package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/signal"
	"orange/internal/wire"
)

// currentBranch stands for "--branch" without a name: no branch can be called so.
const currentBranch = " current"

// changes is what task update was asked to do.
type changes struct {
	branch, summary, status, note string
	given                         func(flag string) bool
}

func newTaskUpdate(deps Deps) *cobra.Command {
	var c changes
	cmd := &cobra.Command{
		Use: "update [id]", Short: "Change a task, by default the one of this workspace",
		Long: "Ask for another state of a task, or change its branch or summary. The workflow decides whether a\n" +
			"state may be gone to; what it refuses is refused with the rule that holds the way closed.",
		Example: "  orange task update --status agent-review\n" +
			"  orange task update MFTsZyeO --summary \"A better name\"\n" +
			"  orange task update --branch",
		Args: arguments(0, 1),
	}
	cmd.Flags().StringVar(&c.branch, "branch", "", "new branch; without a name, the one checked out in this folder")
	cmd.Flags().StringVar(&c.summary, "summary", "", "new summary")
	cmd.Flags().StringVar(&c.status, "status", "", "state to go to")
	cmd.Flags().StringVar(&c.note, "note", "", "why, in your words")
	cmd.Flags().Lookup("branch").NoOptDefVal = currentBranch
	codeFlag(cmd)
	c.given = cmd.Flags().Changed
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if !c.given("branch") && !c.given("summary") && !c.given("status") {
			return errors.New("nothing to change: give --branch, --summary, or --status")
		}
		for flag, value := range map[string]string{"summary": c.summary, "status": c.status} {
			if c.given(flag) && strings.TrimSpace(value) == "" {
				return usageError("--%s is empty: give one", flag)
			}
		}
		return nil
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		return s.update(ctx, args, c)
	})
	return cmd
}

func (s session) update(ctx context.Context, args []string, c changes) error {
	id, err := s.taskOf(ctx, args)
	if err != nil {
		return err
	}
	fields, err := s.fields(ctx, c)
	if err != nil {
		return err
	}
	var answer wire.Answer
	var said []string
	if len(fields) > 0 {
		if answer, err = s.signal(ctx, id, signal.Signal{Kind: signal.Update, Fields: fields, Note: c.note}); err != nil {
			return err
		}
		for _, f := range fields {
			said = append(said, f.Name+" updated")
		}
	}
	if c.given("status") {
		answer, err = s.signal(ctx, id, signal.Signal{Kind: signal.Request, To: c.status, Note: c.note})
		if err != nil {
			return partly(said, err)
		}
		said = append(said, moved(answer))
	}
	return s.show(answer, func(w io.Writer) error {
		for _, line := range said {
			fmt.Fprintln(w, cleanLine(line))
		}
		return nil
	})
}

// partly tells that something was done before the rest was refused.
func partly(said []string, err error) error {
	for i := len(said) - 1; i >= 0; i-- {
		err = fmt.Errorf("%s, but %w", said[i], err)
	}
	return err
}

func (s session) fields(ctx context.Context, c changes) ([]signal.Field, error) {
	var out []signal.Field
	if c.given("branch") {
		name := c.branch
		if name == currentBranch {
			var err error
			if name, err = output(ctx, s.Cwd, "git", "symbolic-ref", "--short", "HEAD"); err != nil {
				return nil, fmt.Errorf("%s has no branch checked out: give its name, --branch NAME", s.Cwd)
			}
		}
		out = append(out, signal.Field{Name: "branch", To: name})
	}
	if c.given("summary") {
		out = append(out, signal.Field{Name: "summary", To: c.summary})
	}
	return out, nil
}
