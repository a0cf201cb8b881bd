package cli

import (
	"context"

	"github.com/spf13/cobra"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
)

func newTaskCommand(deps Deps) *cobra.Command {
	return groupCommand("task", "Create, show and move tasks",
		newTaskCreate(deps), newTaskList(deps), newTaskShow(deps), newTaskUpdate(deps), newTaskSpawn(deps),
		newTaskComplete(deps), newTaskVerdict(deps), newTaskReport(deps), newTaskStuck(deps), newTaskRequestChanges(deps), newTaskAnswer(deps), newTaskSend(deps), newTaskEdit(deps), newTaskApprove(deps),
		newTaskMerge(deps), newTaskPush(deps), newTaskCreatePR(deps), newTaskCancel(deps), newTaskReopen(deps), newTaskRespawn(deps), newTaskStop(deps), newTaskCheck(deps), newTaskApproveChanges(deps),
		newTaskAttach(deps), newTaskAttempts(deps), newTaskCost(deps), newTaskLog(deps), newTaskOutput(deps), newTaskFork(deps),
		newTaskDiff(deps), newTaskPath(deps), newTaskOpen(deps), newTaskCheckout(deps), newTaskDelete(deps), newTaskHistory(deps), newTaskExplain(deps), newTaskReplay(deps), newTaskWait(deps), newTaskExit(deps))
}

// verbCommand turns cmd into a command that requests a verb of the workflow. The caller sets
// the name and the help of cmd.
func verbCommand(deps Deps, verb string, cmd *cobra.Command) *cobra.Command {
	note := noteFlag(cmd, "why, in your words")
	if verb == engine.Complete {
		codeFlag(cmd)
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		id, err := s.taskOf(ctx, args)
		if err != nil {
			return err
		}
		text, err := s.readPersonText(*note)
		if err != nil {
			return err
		}
		return s.sendAndReport(ctx, id, signal.Signal{Kind: signal.Request, Verb: verb, Note: text})
	})
	return cmd
}

// noteFlag adds the flag --note, -m, for a text that goes with a request. --message is the same, and not listed.
func noteFlag(cmd *cobra.Command, about string) *string {
	text := cmd.Flags().StringP("note", "m", "", about+"; - reads it from standard input")
	cmd.Flags().StringVar(text, "message", "", about)
	_ = cmd.Flags().MarkHidden("message")
	return text
}

// sendAndReport sends a signal and prints what it changed.
func (s session) sendAndReport(ctx context.Context, id string, sig signal.Signal) error {
	a, err := s.sendSignal(ctx, id, sig)
	if err != nil {
		return err
	}
	if err := s.sayLine(a, "%s", describeAnswer(a)); err != nil {
		return err
	}
	for i := range a.Decision.Entries {
		s.printSalvage(ctx, string(a.Task.ID), a.Decision.Entries[i].Effects)
	}
	return nil
}
