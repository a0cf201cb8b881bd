package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/wire"
)

// currentBranch is the value of "--branch" without a name. No branch can have this name.
const currentBranch = " current"

// changes are the changes that task update requests.
type changes struct {
	branch, base, summary, status, note string
	after, notAfter                     []string
	given                               func(flag string) bool
}

func newTaskUpdate(deps Deps) *cobra.Command {
	var c changes
	cmd := &cobra.Command{
		Use: "update [id]", Short: "Change a task, by default the one of this workspace",
		Long: "Ask for another state of a task, or change its branch, base or summary. The workflow decides whether a\n" +
			"state may be gone to; what it refuses is refused with the rule that holds the way closed.\n" +
			"With --after, the task waits for others. One that has not started starts when they have landed; one at\n" +
			"work is merged when they have. --not-after ends that.",
		Example: "  orange task update --status agent-review\n" +
			"  orange task update MFTsZyeO --summary \"A better name\"\n" +
			"  orange task update --branch\n" +
			"  orange task update checkout --after login --not-after cart",
		Args: requireArguments(0, 1),
	}
	cmd.Flags().StringVar(&c.branch, "branch", "", "new branch; without a name, the one checked out in this folder")
	cmd.Flags().StringVar(&c.base, "base", "", "new base: the `branch` that the work is compared with and lands on")
	cmd.Flags().StringVar(&c.summary, "summary", "", "new summary")
	cmd.Flags().StringVar(&c.status, "status", "", "state to go to")
	cmd.Flags().StringSliceVar(&c.after, "after", nil, "`tasks` that must land before this one starts or is merged")
	cmd.Flags().StringSliceVar(&c.notAfter, "not-after", nil, "`tasks` that it no longer waits for")
	note := noteFlag(cmd, "why, in your words")
	cmd.Flags().Lookup("branch").NoOptDefVal = currentBranch
	codeFlag(cmd)
	c.given = cmd.Flags().Changed
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if !slices.ContainsFunc([]string{"branch", "base", "summary", "status", "after", "not-after"}, c.given) {
			return errors.New("nothing to change: give --branch, --base, --summary, --after, --not-after, or --status")
		}
		for flag, value := range map[string]string{"base": c.base, "summary": c.summary, "status": c.status} {
			if c.given(flag) && strings.TrimSpace(value) == "" {
				return usageError("--%s is empty: give one", flag)
			}
		}
		return nil
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		var err error
		if c.note, err = s.readPersonText(*note); err != nil {
			return err
		}
		return s.updateTask(ctx, args, c)
	})
	return cmd
}

func (s session) updateTask(ctx context.Context, args []string, c changes) error {
	id, err := s.taskOf(ctx, args)
	if err != nil {
		return err
	}
	fields, err := s.updatedFields(ctx, c)
	if err != nil {
		return err
	}
	var answer wire.Answer
	var said []string
	if len(fields) > 0 {
		if answer, err = s.sendSignal(ctx, id, signal.Signal{Kind: signal.Update, Fields: fields, Note: c.note}); err != nil {
			return err
		}
		said = describeUpdate(&answer, fields)
	}
	if c.given("status") {
		answer, err = s.sendSignal(ctx, id, signal.Signal{Kind: signal.Request, To: c.status, Note: c.note})
		if err != nil {
			return afterPartialSuccess(said, err)
		}
		said = append(said, describeAnswer(answer))
	}
	return s.showResult(answer, func(w io.Writer) error {
		for _, line := range said {
			fmt.Fprintln(w, cleanLine(line))
		}
		return nil
	})
}

// afterPartialSuccess adds to an error what was done before it occurred.
func afterPartialSuccess(said []string, err error) error {
	for i := len(said) - 1; i >= 0; i-- {
		err = fmt.Errorf("%s, but %w", said[i], err)
	}
	return err
}

func (s session) updatedFields(ctx context.Context, c changes) ([]signal.Field, error) {
	var out []signal.Field
	if c.given("branch") {
		name := c.branch
		if name == currentBranch {
			var err error
			if name, err = programOutput(ctx, s.Cwd, "git", "symbolic-ref", "--short", "HEAD"); err != nil {
				return nil, fmt.Errorf("%s has no branch checked out: give its name, --branch NAME", s.Cwd)
			}
		}
		out = append(out, signal.Field{Name: "branch", To: name})
	}
	if c.given("base") {
		out = append(out, signal.Field{Name: "base_branch", To: c.base})
	}
	if c.given("summary") {
		out = append(out, signal.Field{Name: "summary", To: c.summary})
	}
	for _, id := range asIDs(c.after) {
		out = append(out, signal.Field{Name: engine.FieldAddAfter, To: string(id)})
	}
	for _, id := range asIDs(c.notAfter) {
		out = append(out, signal.Field{Name: engine.FieldDropAfter, To: string(id)})
	}
	return out, nil
}

// describeUpdate says which fields were updated, and what the task waits for if that is one of them.
func describeUpdate(a *wire.Answer, fields []signal.Field) (out []string) {
	waits := false
	for _, f := range fields {
		if f.Name == engine.FieldAddAfter || f.Name == engine.FieldDropAfter {
			waits = true
			continue
		}
		out = append(out, f.Name+" updated")
	}
	if !waits {
		return out
	}
	if unmet := task.UnmetOf(a.Task.Predecessors); len(unmet) > 0 {
		return append(out, "it "+engine.DescribeUnmet(unmet))
	}
	return append(out, "it waits for no other task")
}

func newTaskVerdict(deps Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use: "verdict PASS|FAIL [id]", Short: "Report the verdict of a review (for agents that review)", Args: requireArguments(1, 2),
		Long: "State the verdict of a review. It is written at the head of the section that the workflow's gate reads,\n" +
			"what the section says already stays below it, and the task takes the way on that the verdict opens: the\n" +
			"engine decides whether FAIL means rework or that the task is stuck. Only an agent of a role that may\n" +
			"give the verdict can state it.",
		Example: "  orange task verdict PASS -m \"reads well, tests cover it\"\n" +
			"  orange task verdict FAIL -m \"cart.go:42 loses the last item\"",
	}
	note := noteFlag(cmd, "why, in your words")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		verdict := strings.ToUpper(args[0])
		if verdict != "PASS" && verdict != "FAIL" {
			return usageError("%q is not a verdict: give PASS or FAIL", args[0])
		}
		return s.sendReport(ctx, args[1:], signal.Signal{Kind: signal.Request, Verb: engine.VerbVerdict, Arg: verdict}, *note)
	})
	return cmd
}

// sendReport sends an agent's report about its task, with its note.
func (s session) sendReport(ctx context.Context, args []string, sig signal.Signal, note string) error {
	id, err := s.taskOf(ctx, args)
	if err != nil {
		return err
	}
	if sig.Note, err = s.readPersonText(note); err != nil {
		return err
	}
	if sig.Kind == signal.Outcome && sig.Note != "" {
		sig.Word, sig.Note = sig.Word+": "+sig.Note, ""
	}
	return s.sendAndReport(ctx, id, sig)
}

func newTaskReport(deps Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use: "report CODE [id]", Short: "Report the outcome of your work (for agents)", Args: requireArguments(1, 2),
		Long: "Report an outcome that the workflow answers to in the task's present state, as the agent that works there.\n" +
			"It counts as a report in the agent's last message does, and needs no nonce: the command proves who reports it.\n" +
			"A code that nothing answers to is refused, with those that are known.",
		Example: "  orange task report passed\n" +
			"  orange task report BLOCKED -m \"no access to the database\"",
	}
	note := noteFlag(cmd, "what goes with it, in your words")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		code := strings.TrimSpace(args[0])
		if code == "" || strings.Contains(code, ":") {
			return usageError("%q is not a code: give one word, and further text with --note", args[0])
		}
		return s.sendReport(ctx, args[1:], signal.Signal{Kind: signal.Outcome, Verb: engine.VerbReport, Word: code}, *note)
	})
	return cmd
}

func newTaskAnswer(deps Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use: "answer <id> <text...|->", Short: "Answer an agent's question so that it continues", Args: requireArguments(1, -1),
		Long: "Answer the question that a task waits with, or that its agent ended its turn with, or help a task that\n" +
			"is stuck. The answer is written into TASK.md and sent to the agent, and the task continues. An agent\n" +
			"that ended in the meantime is started again with it.",
		Example: "  orange task answer MFTsZyeO \"Take the blue one\"\n" +
			"  orange task answer MFTsZyeO - <answer.txt",
	}
	note := noteFlag(cmd, "the answer")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		text, err := s.readPersonText(*note + strings.Join(args[1:], " "))
		if err != nil {
			return err
		}
		if text == "" {
			return errors.New("the answer is empty: give some words")
		}
		return s.sendAndReport(ctx, args[0], signal.Signal{Kind: signal.Request, Verb: engine.VerbAnswer, Note: text})
	})
	return cmd
}

func newTaskSend(deps Deps) *cobra.Command {
	var role string
	cmd := &cobra.Command{
		Use: "send <id> <text...|->", Short: "Send a message to a task's living agent", Args: requireArguments(1, -1),
		Long: "Send a message to an agent that lives. The task stays where it is. The message is typed at the agent's\n" +
			"prompt, when it is ready for one; an agent without a terminal gets it when its turn ends, and an agent\n" +
			"that ends first is started again with it.",
		Example: "  orange task send MFTsZyeO \"Use the form of the sign-up page\"\n" +
			"  orange task send MFTsZyeO --role reviewer - <message.txt",
	}
	cmd.Flags().StringVar(&role, "role", "", "role of the agent (default: that of the state, else the only one that lives)")
	note := noteFlag(cmd, "the message")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		text, err := s.readPersonText(*note + strings.Join(args[1:], " "))
		if err != nil {
			return err
		}
		if text == "" {
			return errors.New("the message is empty: give some words")
		}
		return s.sendAndReport(ctx, args[0], signal.Signal{Kind: signal.Request, Verb: engine.VerbSend, Role: role, Note: text})
	})
	return cmd
}

func newTaskApprove(deps Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use: "approve <id>", Short: "Approve the move that an agent requested", Args: requireArguments(1, 1),
		Long:    "Grant a move that an agent asked for and that its workflow leaves to a person. Agents cannot.",
		Example: "  orange task approve MFTsZyeO --note \"seen and fine\"",
	}
	codeFlag(cmd)
	note := noteFlag(cmd, "why, in your words")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		v, err := s.ReadTask(ctx, args[0])
		if err != nil {
			return err
		}
		if v.Task.Asked == nil {
			return fmt.Errorf("nothing of task %s waits for approval: see orange inbox", shortID(string(v.Task.ID)))
		}
		text, err := s.readPersonText(*note)
		if err != nil {
			return err
		}
		return s.sendAndReport(ctx, string(v.Task.ID), signal.Signal{Kind: signal.Request, To: v.Task.Asked.To, Note: text})
	})
	return cmd
}

func newTaskRequestChanges(deps Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use: "request-changes <id> [message...]", Short: "Send work back to its agent with the changes you want",
		Long: "Send work that waits for a decision back to its worker. The changes that you want are written\n" +
			"into TASK.md and sent to the agent.",
		Example: "  orange task request-changes MFTsZyeO \"The form needs a label\"\n" +
			"  orange task request-changes MFTsZyeO -m - <remarks.txt",
		Args: requireArguments(1, -1),
	}
	note := noteFlag(cmd, "what is to change")
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		if *note != "" && len(args) > 1 {
			return usageError("give one message: behind the id or with --note, not both")
		}
		return nil
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		text, err := s.readPersonText(*note + strings.Join(args[1:], " "))
		if err != nil {
			return err
		}
		return s.sendAndReport(ctx, args[0], signal.Signal{Kind: signal.Request, Verb: "request-changes", Note: text})
	})
	return cmd
}

func newTaskComplete(deps Deps) *cobra.Command {
	return verbCommand(deps, "complete", &cobra.Command{
		Use: "complete [id]", Short: "Finish the current state of a task and move to the next", Args: requireArguments(0, 1),
		Long: "Request the edge that the workflow calls complete. Gates are checked as always, and what is missing\n" +
			"is reported. Agents use it when a stage is done, people to continue in their place.",
		Example: "  orange task complete\n" +
			"  orange task complete MFTsZyeO --note \"good enough\"",
	})
}

func newTaskStuck(deps Deps) *cobra.Command {
	return verbCommand(deps, "stuck", &cobra.Command{
		Use: "stuck [id]", Short: "Report that the work cannot continue without a person", Args: requireArguments(0, 1),
		Long:    "Report that the work cannot continue. The task waits in the inbox of a person, with your text.",
		Example: "  orange task stuck --note \"the schema is missing\"",
	})
}

func newTaskReopen(deps Deps) *cobra.Command {
	return verbCommand(deps, engine.Reopen, &cobra.Command{
		Use: "reopen <id>", Short: "Reopen a cancelled task", Args: requireArguments(1, 1),
		Long:    "Reopen a cancelled task in the state that its workflow names.",
		Example: "  orange task reopen MFTsZyeO",
	})
}

func newTaskCancel(deps Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use: "cancel <id>", Short: "End a task without a result", Args: requireArguments(1, 1),
		Long: "End a task without a result: its agents are ended and its workspace is given back. Work that was\n" +
			"not committed is kept (see orange workspace salvage). A cancelled task can be reopened.",
		Example: "  orange task cancel MFTsZyeO\n" +
			"  orange task cancel MFTsZyeO --yes --note \"not needed any more\"",
	}
	yes := cmd.Flags().BoolP("yes", "y", false, "do not ask")
	note := noteFlag(cmd, "why, in your words")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		v, err := s.ReadTask(ctx, args[0])
		if err != nil {
			return err
		}
		if err := s.askConfirmation(*yes, "Cancel task %s (%s/%s)?", shortID(string(v.Task.ID)), v.Task.Project, v.Task.Branch); err != nil {
			return err
		}
		text, err := s.readPersonText(*note)
		if err != nil {
			return err
		}
		return s.sendAndReport(ctx, string(v.Task.ID), signal.Signal{Kind: signal.Request, Verb: "cancel", Note: text})
	})
	return cmd
}

func newTaskDelete(deps Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete <id>", Short: "Delete a closed task", Args: requireArguments(1, 1),
		Long:    "Remove a task that is over, with its folder and the records of its attempts. Its branch is kept.",
		Example: "  orange task delete MFTsZyeO --yes",
	}
	yes := cmd.Flags().BoolP("yes", "y", false, "do not ask")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		v, err := s.ReadTask(ctx, args[0])
		if err != nil {
			return err
		}
		if err := s.askConfirmation(*yes, "Delete task %s (%s/%s)?", shortID(string(v.Task.ID)), v.Task.Project, v.Task.Branch); err != nil {
			return err
		}
		a, err := s.sendSignal(ctx, string(v.Task.ID), signal.Signal{Kind: signal.Delete})
		if err != nil {
			return err
		}
		return s.sayLine(a, "Deleted task %s", v.Task.ID)
	})
	return cmd
}
