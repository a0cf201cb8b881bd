package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/journal"
	"orange/internal/core/workflow"
	"orange/internal/ui/client"
)

func newTaskWait(deps Deps) *cobra.Command {
	var want string
	var limit time.Duration
	cmd := &cobra.Command{
		Use: "wait <id> --for STATUS", Short: "Wait until a task reaches a state", Args: requireArguments(1, 1),
		Long: "Wait until a task is in a state, without asking again and again. A task that ends elsewhere, or is\n" +
			"deleted, ends the wait with exit code 1.",
		Example: "  orange task wait MFTsZyeO --for reviewing --timeout 30m",
	}
	cmd.Flags().StringVar(&want, "for", "", "state to wait for")
	cmd.Flags().DurationVar(&limit, "timeout", 0, "give up after this time (default: never)")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if want == "" {
			return usageError("give the state to wait for: --for")
		}
		if limit < 0 {
			return usageError("--timeout %s: give a positive time such as 10m", limit)
		}
		return nil
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		w := waiter{session: s, want: want, limit: limit}
		if err := w.waitForStatus(ctx, args[0]); err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("timed out: task %s is %s, not %s", shortID(w.id), w.status, want)
			}
			return err
		}
		return s.sayLine(map[string]string{"task": w.id, "status": want}, "%s is %s", shortID(w.id), want)
	})
	return cmd
}

// A waiter follows one task until it reaches a state.
type waiter struct {
	session
	want   string
	limit  time.Duration // how long to wait, 0 for ever
	id     string
	status string
	seq    int // the last entry that is reflected in status
}

// errReached ends the stream of events.
var errReached = errors.New("reached")

func (w *waiter) waitForStatus(ctx context.Context, id string) error {
	w.id = id
	v, err := w.ReadTask(ctx, id)
	if err != nil {
		return err
	}
	w.id, w.status = string(v.Task.ID), v.Task.Status
	if err := w.requireKnownState(ctx, v.Task.WorkflowHash); err != nil {
		return err
	}
	if w.limit > 0 { // begins when the state is known, so that the error can name it
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.limit)
		defer cancel()
	}
	watch := client.EventOptions{Task: w.id, Opened: func() error { return w.checkNow(ctx) }}
	err = w.FollowEvents(ctx, watch, func(e client.StreamEvent) error { return w.handleEntry(ctx, e.Entry) })
	if errors.Is(err, errReached) {
		return nil
	}
	return err
}

// requireKnownState returns an error for a state that the task's workflow does not have,
// because the task can never reach it. It returns nil if the workflow cannot be read.
func (w *waiter) requireKnownState(ctx context.Context, hash string) error {
	if def := w.readDefinition(ctx, hash); def != nil {
		return requireState(def, w.want)
	}
	return nil
}

// requireState returns an error if a workflow does not have a state.
func requireState(def *workflow.Definition, state string) error {
	if _, ok := def.StateNamed(state); ok {
		return nil
	}
	names := make([]string, len(def.States))
	for i := range def.States {
		names[i] = def.States[i].Name
	}
	return usageError("state %q is not known: workflow %s has %s", state, def.Name, strings.Join(names, ", "))
}

// checkNow reads the task when the stream opens, so that no change can be missed. It does
// nothing when the stream reopens, because the stream then sends what was missed.
func (w *waiter) checkNow(ctx context.Context) error {
	if w.seq > 0 {
		return nil
	}
	v, err := w.ReadTask(ctx, w.id)
	if err != nil {
		return err
	}
	w.seq = v.Task.Seq
	return w.judgeStatus(ctx, v.Task.Status)
}

func (w *waiter) handleEntry(ctx context.Context, e journal.Entry) error {
	switch {
	case e.Seq <= w.seq:
		return nil
	case e.Type == journal.TaskDeleted:
		return fmt.Errorf("task %s was deleted: it will not be %s", shortID(w.id), w.want)
	case e.To == "":
		return nil
	}
	w.seq = e.Seq
	return w.judgeStatus(ctx, e.To)
}

func (w *waiter) judgeStatus(ctx context.Context, status string) error {
	w.status = status
	if status == w.want {
		return errReached
	}
	x, err := w.ExplainTask(ctx, w.id)
	if err != nil {
		return err
	}
	if x.Kind == string(workflow.Terminal) && x.Status == status {
		return fmt.Errorf("task %s ended %s: it will not be %s", shortID(w.id), status, w.want)
	}
	return nil
}
