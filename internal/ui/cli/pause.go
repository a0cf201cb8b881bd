package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"orange/internal/core/signal"
)

func newPauseCommand(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "pause [id]", Short: "Pause one task or all tasks: nothing new starts", Args: requireArguments(0, 1),
		Long: "Start nothing new and fire no timer, for one task or, without an id, for all. Agents that are at work\n" +
			"continue.",
		Example: "  orange pause MFTsZyeO\n" +
			"  orange pause",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			if len(args) > 0 {
				a, err := s.sendSignal(ctx, args[0], signal.Signal{Kind: signal.Pause})
				if err != nil {
					return err
				}
				return s.sayLine(a, "%s is paused", shortID(string(a.Task.ID)))
			}
			if err := s.personOnly(); err != nil {
				return err
			}
			if err := s.PauseAll(ctx); err != nil {
				return err
			}
			return s.sayLine(map[string]bool{"paused": true}, "Everything is paused. Continue with: orange resume")
		}),
	}
}

// personOnly returns an error if an agent runs the command. It protects what affects more
// than the agent's own task.
func (d Deps) personOnly() error {
	if d.Config.Role != "" {
		return errors.New("an agent may not do this: leave it to a person")
	}
	return nil
}

func newResumeCommand(deps Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use: "resume [id]", Short: "Resume after a pause, or retry failed effects", Args: requireArguments(0, 1),
		Long: "Resume what was paused, one task or, without an id, everything. What was given up after several\n" +
			"failures is tried again.",
		Example: "  orange resume MFTsZyeO\n" +
			"  orange resume",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			if len(args) > 0 {
				a, err := s.sendSignal(ctx, args[0], signal.Signal{Kind: signal.Resume})
				if err != nil {
					return err
				}
				return s.sayLine(a, "%s continues", shortID(string(a.Task.ID)))
			}
			if err := s.personOnly(); err != nil {
				return err
			}
			if err := s.ResumeAll(ctx); err != nil {
				return err
			}
			return s.sayLine(map[string]bool{"paused": false}, "Everything continues.")
		}),
	}
	codeFlag(cmd)
	return cmd
}
