package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/config"
	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/ansi"
	"orange/internal/view/narrate"
	"orange/internal/wire"
)

func newTaskSpawn(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "spawn <id>", Short: "Start a task that has not been started", Args: requireArguments(1, 1),
		Long: "Start a task that was created with --no-spawn. It leaves its queue as soon as a workspace of the\n" +
			"project is free.",
		Example: "  orange task spawn MFTsZyeO",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			x, err := s.ExplainTask(ctx, args[0])
			if err != nil {
				return err
			}
			if x.Kind != string(workflow.Queued) {
				return fmt.Errorf("task %s is not pending: it is %s", shortID(string(x.Task)), x.Status)
			}
			return s.sendAndReport(ctx, string(x.Task), signal.Signal{Kind: signal.Ready})
		}),
	}
}

func newTaskRespawn(deps Deps) *cobra.Command {
	cmd := verbCommand(deps, engine.Respawn, &cobra.Command{
		Use: "respawn <id>", Short: "Start a new agent for a task whose agent ended or hangs", Args: requireArguments(1, 1),
		Long: "Start another agent now in place of one that died or did not report its result, without waiting for\n" +
			"Orange to do it. With --force a living agent, such as one that hangs, is ended first; this is not\n" +
			"counted as a crash. The new agent starts when the old one has ended, in the same worktree.",
		Example: "  orange task respawn MFTsZyeO\n" +
			"  orange task respawn MFTsZyeO --force",
	})
	force := cmd.Flags().Bool("force", false, "end the agent first if it lives")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		note, err := cmd.Flags().GetString("note")
		if err != nil {
			return err
		}
		sig := signal.Signal{Kind: signal.Request, Verb: engine.Respawn, Note: note}
		if *force {
			sig.Arg = engine.Force
		}
		a, err := s.sendSignal(ctx, args[0], sig)
		if err != nil {
			return err
		}
		if why := describeHold(&a.Task); why != "" {
			fmt.Fprintln(s.Stderr, "orange: "+cleanLine(why))
		}
		return s.sayLine(a, "%s", startedAgain(a))
	})
	return cmd
}

func newTaskStop(deps Deps) *cobra.Command {
	var role string
	cmd := &cobra.Command{
		Use: "stop <id>", Short: "Stop the agent of a task, and keep the task", Args: requireArguments(1, 1),
		Long: "End an agent that lives. The task stays in its state, with its worktree and its branch, and nothing\n" +
			"starts another agent until you do: orange task respawn. This is not counted as a crash. Messages that\n" +
			"the agent has not received go to the next one. To let the agent live and hold only the task, use orange\n" +
			"pause; to end the task, orange task cancel.",
		Example: "  orange task stop MFTsZyeO -m \"it works on the wrong form\"\n" +
			"  orange task stop MFTsZyeO --role reviewer",
	}
	cmd.Flags().StringVar(&role, "role", "", "role of the agent (default: the one at work, else the only one that lives)")
	note := noteFlag(cmd, "why, in your words")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		text, err := s.readPersonText(*note)
		if err != nil {
			return err
		}
		return s.sendAndReport(ctx, args[0], signal.Signal{Kind: signal.Request, Verb: engine.VerbStop, Role: role, Note: text})
	})
	return cmd
}

func newTaskCheck(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "check <id> [name]", Short: "Run a check of the project on a task's work", Args: requireArguments(1, 2),
		Long: "Run a command that the project's owner defined (orange project update --check) in the task's\n" +
			"workspace. In a check state the state's checks run again, and the task continues with their result;\n" +
			"where a person decides, the result is recorded and shown, and moves nothing.",
		Example: "  orange task check MFTsZyeO\n  orange task check MFTsZyeO tests",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			sig := signal.Signal{Kind: signal.Request, Verb: engine.VerbCheck}
			if len(args) > 1 {
				sig.Arg = args[1]
			}
			a, err := s.sendSignal(ctx, args[0], sig)
			if err != nil {
				return err
			}
			return s.sayLine(a, "%s: check %s is wanted: see orange task show %s", shortID(string(a.Task.ID)), a.Task.CheckRun.Name, shortID(string(a.Task.ID)))
		}),
	}
}

func newTaskApproveChanges(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "approve-changes <id>", Short: "Approve changes of paths that need a person", Args: requireArguments(1, 1),
		Long: "Approve what the branch of a task changes of the paths that the project's owner protected (orange\n" +
			"project update --unchanged). Orange merges such a branch only with an approval. It is for the content\n" +
			"as it is now: a file that changes again needs another one. Check it first: orange task diff.",
		Example: "  orange task approve-changes MFTsZyeO",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			a, err := s.sendSignal(ctx, args[0], signal.Signal{Kind: signal.Request, Verb: engine.VerbApproveChanges})
			if err != nil {
				return err
			}
			return s.sayLine(a, "%s: you approved the changes of %s", shortID(string(a.Task.ID)), cleanLine(strings.Join(task.PathsOf(a.Task.ApprovedChanges), ", ")))
		}),
	}
}

// startedAgain describes which agent an answer starts again, or else what the answer changed.
func startedAgain(a wire.Answer) string {
	for i := range a.Decision.Entries {
		e := &a.Decision.Entries[i]
		for _, n := range e.Started {
			if len(e.Ending) > 0 {
				return describeAnswer(a)
			}
			return fmt.Sprintf("%s: the %s is started again, in %s", shortID(string(a.Task.ID)), n.Role, a.Task.Status)
		}
	}
	return describeAnswer(a)
}

func newTaskAttempts(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "attempts [id]", Short: "List the agents that work or worked on a task", Args: requireArguments(0, 1),
		Long: "List every run of an agent for a task: its role, how it is doing or how it ended, and what it has\n" +
			"consumed.",
		Example: "  orange task attempts MFTsZyeO",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			id, err := s.taskOf(ctx, args)
			if err != nil {
				return err
			}
			list, err := s.ListAttempts(ctx, id)
			if err != nil {
				return err
			}
			return s.showResult(map[string]any{"attempts": list}, func(w io.Writer) error {
				if len(list) == 0 {
					_, err := fmt.Fprintln(w, "No agent has worked on it yet.")
					return err
				}
				rows := [][]string{{"NUMBER", "ROLE", "HARNESS", "CONDITION", "SINCE", "TOKENS", "COST", "WINDOW"}}
				for i := range list {
					rows = append(rows, attemptRow(s.Now(), &list[i]))
				}
				return printTable(w, 0, rows)
			})
		}),
	}
}

func attemptRow(now time.Time, a *wire.Attempt) []string {
	tokens, cost := "-", "-"
	if u := a.Usage; u != nil {
		tokens = formatRoughly(u.InputTokens + u.OutputTokens)
		if u.CostMicroUSD > 0 {
			cost = formatCents(u.CostMicroUSD)
		}
	}
	return []string{strconv.Itoa(a.Number), orDash(a.Role), orDash(a.Harness), cutToWidth(cleanLine(describeAttempt(now, a)), 60), formatAge(now, a.Since), tokens, cost, orDash(a.Window)}
}

// describeAttempt describes how a running attempt is doing, or how it ended.
func describeAttempt(now time.Time, a *wire.Attempt) string {
	switch {
	case a.Alive:
		return narrate.DescribeCondition(a.Condition, now)
	case a.Code == nil:
		return "lost"
	}
	return fmt.Sprintf("exit %d", *a.Code)
}

func newTaskAttach(deps Deps) *cobra.Command {
	var role string
	var printed bool
	cmd := &cobra.Command{
		Use: "attach [id]", Short: "Attach to the terminal of a task's agent", Args: requireArguments(0, 1),
		Long: "Go to the tmux window of the task's agent on this terminal. Ctrl-Q leaves it, also inside your own\n" +
			"tmux; the agent continues. If it asks for something, answer it there. Ctrl-b Ctrl-Q sends a Ctrl-Q to\n" +
			"the agent.",
		Example: "  orange task attach MFTsZyeO\n" +
			"  orange task attach MFTsZyeO --role reviewer --print",
	}
	cmd.Flags().StringVar(&role, "role", "", "role of the agent (default: the one at work)")
	cmd.Flags().BoolVar(&printed, "print", false, "print the command that does it instead")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if !deps.IsTerminal && !printed && !wantsJSON(cmd) {
			return errors.New("standard output is not a terminal: see the agent's output with orange task log, or add --print")
		}
		return nil
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		id, err := s.taskOf(ctx, args)
		if err != nil {
			return err
		}
		to, err := s.AttachCommand(ctx, id, role)
		if err != nil {
			return err
		}
		if len(to.Argv) == 0 {
			return fmt.Errorf("the server names no command that shows task %s: see orange log", shortID(id))
		}
		if printed || wantsJSON(cmd) {
			return s.sayLine(to, "env -u TMUX %s", shellQuote(to.Argv))
		}
		return s.Exec(to.Argv, outsideTmux(config.Environ()))
	})
	return cmd
}

// outsideTmux removes the variables that say that this program runs inside tmux. They would
// prevent another tmux from attaching to this terminal.
func outsideTmux(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		return strings.HasPrefix(kv, "TMUX=") || strings.HasPrefix(kv, "TMUX_PANE=")
	})
}

// execProgram replaces this program with another one.
func execProgram(argv, env []string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("find %s: %w", argv[0], err)
	}
	return fmt.Errorf("run %s: %w", path, syscall.Exec(path, argv, env))
}

// shellQuote quotes a command for a shell.
func shellQuote(argv []string) string {
	out := make([]string, len(argv))
	for i, arg := range argv {
		out[i] = arg
		if arg == "" || strings.ContainsFunc(arg, isShellSpecial) {
			out[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// isShellSpecial reports whether a character may have a special meaning in a shell.
func isShellSpecial(r rune) bool {
	plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !plain && !strings.ContainsRune("@%+,-./:_", r)
}

func newTaskOutput(deps Deps) *cobra.Command {
	var attempt int
	var role string
	cmd := &cobra.Command{
		Use: "output [id]", Short: "Print the last message of a task's newest agent", Args: requireArguments(0, 1),
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
		m, err := s.Client.LastMessage(ctx, id, attempt, role)
		switch {
		case err != nil:
			return err
		case m.Text == "":
			return fmt.Errorf("attempt %d of task %s has said nothing: see orange task log %s --attempt %d", m.Attempt, shortID(id), id, m.Attempt)
		case wantsJSON(s.cmd):
			return printJSON(s.Stdout, m)
		}
		_, err = fmt.Fprintln(s.Stdout, ansi.SafeText(m.Text))
		return err
	})
	return cmd
}

// newTaskExit returns the command that reports the end of an attempt in the engine's name. It
// reports what happened and requests nothing.
func newTaskExit(deps Deps) *cobra.Command {
	sig := signal.Signal{Kind: signal.Exit, Actor: task.Engine}
	cmd := &cobra.Command{
		Use: "exit <id> --role R", Short: "Report the end of an attempt", Args: requireArguments(1, 1), Hidden: true,
	}
	cmd.Flags().StringVar(&sig.Role, "role", "", "role of the attempt that ended")
	cmd.Flags().IntVar(&sig.Attempt, "attempt", 0, "number of the attempt (default: the role's living one)")
	cmd.Flags().IntVar(&sig.Code, "code", 0, "exit code of its process")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if sig.Role == "" {
			return usageError("give the role of the attempt that ended: --role")
		}
		return nil
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		a, err := s.Client.SendSignal(ctx, args[0], sig)
		if err != nil {
			return err
		}
		return s.sayLine(a, "%s", describeAnswer(a))
	})
	return cmd
}
