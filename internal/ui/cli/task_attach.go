package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"orange/internal/config"
)

func newTaskAttach(deps Deps) *cobra.Command {
	var role string
	var printed bool
	cmd := &cobra.Command{
		Use: "attach [id]", Short: "Go to the terminal of a task's agent", Args: arguments(0, 1),
		Long: "Go to the tmux window of the task's agent on this terminal. Leave it with the detach key of tmux;\n" +
			"the agent goes on. If it asks for something, answer it there.",
		Example: "  orange task attach MFTsZyeO\n" +
			"  orange task attach MFTsZyeO --role reviewer --print",
	}
	cmd.Flags().StringVar(&role, "role", "", "role of the agent (default: the one at work)")
	cmd.Flags().BoolVar(&printed, "print", false, "print the command that does it instead")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if !deps.IsTerminal && !printed && !wantsJSON(cmd) {
			return errors.New("this is no terminal to show an agent's on: see its output with orange task log, or add --print")
		}
		return nil
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		id, err := s.taskOf(ctx, args)
		if err != nil {
			return err
		}
		to, err := s.Attach(ctx, id, role)
		if err != nil {
			return err
		}
		if len(to.Argv) == 0 {
			return fmt.Errorf("the server names no command that shows task %s: see orange log", short(id))
		}
		if printed || wantsJSON(cmd) {
			return s.say(to, "env -u TMUX %s", quoted(to.Argv))
		}
		return s.Exec(to.Argv, outsideTmux(config.Environ()))
	})
	return cmd
}

// outsideTmux takes out of an environment what says that this runs inside tmux: it
// would keep another tmux from showing itself here.
func outsideTmux(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		return strings.HasPrefix(kv, "TMUX=") || strings.HasPrefix(kv, "TMUX_PANE=")
	})
}

// become replaces this program by another one.
func become(argv, env []string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("find %s: %w", argv[0], err)
	}
	return fmt.Errorf("run %s: %w", path, syscall.Exec(path, argv, env))
}

// quoted writes a command as a shell reads it.
func quoted(argv []string) string {
	out := make([]string, len(argv))
	for i, arg := range argv {
		out[i] = arg
		if arg == "" || strings.ContainsFunc(arg, special) {
			out[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// special says whether a shell may take a character for more than itself.
func special(r rune) bool {
	plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !plain && !strings.ContainsRune("@%+,-./:_", r)
}
