package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/ui/client"
	"orange/internal/view/narrate"
	"orange/internal/wire"
)

// How long to wait for an action, and then for the move that follows from it.
const (
	actionTimeout = 15 * time.Minute
	moveTimeout   = 2 * time.Second
)

// A personAction is an action that a person requests and that does not move the task by itself.
type personAction struct {
	verb  string
	arg   string
	moves bool // the task moves as a result
	done  func(task.Task) string
}

// personActionCommand returns a command that requests an action and reports its result.
func personActionCommand(deps Deps, d *personAction, cmd *cobra.Command) *cobra.Command {
	var leave bool
	cmd.Args = requireArguments(1, 1)
	cmd.Flags().BoolVar(&leave, "no-wait", false, "do not wait for how it goes")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		return s.requestAction(ctx, args[0], d, leave)
	})
	return cmd
}

// requestAction requests an action and reports its result. With leave it does not wait for the result.
func (s session) requestAction(ctx context.Context, id string, d *personAction, leave bool) error {
	a, err := s.sendSignal(ctx, id, signal.Signal{Kind: signal.Request, Verb: d.verb, Arg: d.arg})
	if err != nil {
		return err
	}
	asked := effectOf(a)
	switch {
	case asked == nil: // the workflow has a verb of that name, and the request used it
		return s.sayLine(a, "%s", describeAnswer(a))
	case leave:
		return s.sayLine(a, "%s: %s is asked for; see how it goes with orange task history %s", shortID(string(a.Task.ID)), d.verb, a.Task.ID)
	}
	return s.awaitAction(ctx, d, a, asked.ID)
}

// effectOf returns the effect that a person's request created, nil if there is none.
func effectOf(a wire.Answer) *task.Effect {
	for i := range a.Decision.Entries {
		for j := range a.Decision.Entries[i].Effects {
			if e := &a.Decision.Entries[i].Effects[j]; e.By == task.ByPerson {
				return e
			}
		}
	}
	return nil
}

// awaitAction waits until an action is done or given up, and prints the result.
func (s session) awaitAction(ctx context.Context, d *personAction, a wire.Answer, effect string) error {
	if why := describeHold(&a.Task); why != "" {
		fmt.Fprintln(s.Stderr, "orange: "+cleanLine(why))
	}
	ctx, cancel := context.WithTimeout(ctx, actionTimeout)
	defer cancel()
	w := &actionWait{session: s, action: d, id: string(a.Task.ID), effect: effect}
	if err := w.followEffect(ctx); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("timed out: %s is still running; see orange task history %s", d.verb, w.id)
		}
		if w.conflict {
			if x, why := s.ExplainTask(ctx, w.id); why == nil {
				return fmt.Errorf("%w; %s", err, s.afterConflict(ctx, w.id, x.Cheapest.Action))
			}
		}
		return err
	}
	v, err := s.ReadTask(ctx, w.id)
	if err != nil {
		return err
	}
	result := struct {
		Task   task.Task `json:"task"`
		Effect string    `json:"effect"`
		Tries  int       `json:"tries"`
	}{v.Task, effect, w.tries}
	if err := s.sayLine(result, "%s%s", d.done(v.Task), w.describeMove(ctx, v.Task.Status)); err != nil {
		return err
	}
	s.printSalvage(ctx, w.id, w.then)
	return nil
}

// afterConflict says how to resolve a conflict between a task's branch and its target: the
// worker resolves it if the work can be sent back, otherwise a person does.
func (s session) afterConflict(ctx context.Context, id string, cheapest explain.Action) string {
	if cheapest.Verb == engine.RequestChanges {
		return "send it back with " + narrate.FormatCommand(cheapest)
	}
	where := ""
	if list, err := s.ListWorkspaces(ctx); err == nil {
		for i := range list {
			if string(list[i].Task) == id {
				where = " " + list[i].Path
			}
		}
	}
	return fmt.Sprintf("do that in its workspace%s, then run orange task merge %s", where, id)
}

// releaseTimeout is how long a command waits for the release of a workspace, to report what
// was left in it.
const releaseTimeout = 10 * time.Second

// printSalvage prints where uncommitted work is kept if a move released the workspace.
func (s session) printSalvage(ctx context.Context, id string, effects []task.Effect) {
	at := slices.IndexFunc(effects, func(e task.Effect) bool { return e.Do == workflow.ReleaseWorkspace && e.Workspace != "" })
	if at < 0 || s.Config.Role != "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, releaseTimeout)
	defer cancel()
	var kept string
	err := s.FollowEvents(ctx, client.EventOptions{Task: id}, func(e client.StreamEvent) error {
		if r := e.Entry.Receipt; r != nil && r.Effect == effects[at].ID && (r.OK || r.Final) {
			kept = r.KeptWork()
			return errReached
		}
		return nil
	})
	if errors.Is(err, errReached) && kept != "" {
		fmt.Fprintln(s.Stderr, "orange: "+cleanLine(kept))
	}
}

// describeHold describes what prevents the effects of a task from running, "" if nothing does.
func describeHold(t *task.Task) string {
	switch {
	case t.Paused:
		return fmt.Sprintf("task %s is paused: this waits for orange resume %s", shortID(string(t.ID)), t.ID)
	case len(t.Pending) > 0 && t.Pending[0].GivenUp:
		return fmt.Sprintf("task %s needs attention first (%s): this waits for orange resume %s", shortID(string(t.ID)), t.Attention, t.ID)
	}
	return ""
}

// An actionWait follows a task until one of its effects is done or given up.
type actionWait struct {
	session
	action *personAction
	id     string
	effect string
	tries  int    // how often the effect was tried; 0 until it is done
	from   string // the state that the resulting move left
	to     string
	then   []task.Effect // the effects of that move
	late   *time.Timer   // ends the wait for that move

	conflict bool // the effect was given up because of a merge conflict
	asked    bool // the entry that requests the effect was read
}

func (w *actionWait) followEffect(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := w.FollowEvents(ctx, client.EventOptions{Task: w.id}, func(e client.StreamEvent) error { return w.applyEntry(e.Entry, cancel) })
	if w.late != nil {
		w.late.Stop()
	}
	if errors.Is(err, errReached) || w.tries > 0 && errors.Is(err, context.Canceled) && w.late != nil {
		return nil
	}
	return err
}

// applyEntry processes one entry. The move may come before or after the receipt.
func (w *actionWait) applyEntry(e journal.Entry, enough func()) error {
	switch {
	case e.Type == journal.TaskDeleted:
		return fmt.Errorf("task %s was deleted in the meantime", shortID(w.id))
	case w.asksForEffect(e):
		w.from, w.to, w.asked = "", "", true // ignore moves before the request
	case w.asked && e.Landing != nil:
		return w.applyLanding(e)
	case w.asked && e.Type == journal.LandingLeft:
		return errors.New("a person took the task out of the landing queue")
	case w.asked && w.tries == 0 && e.Receipt == nil && slices.Contains(e.Dropped, w.effect) && !followsMerge(e):
		return w.takenBack(e)
	case e.To != "" && e.Cause == string(signal.Tracker):
		w.from, w.to, w.then = e.From, e.To, e.Effects
	case e.Receipt != nil && e.Receipt.Effect == w.effect:
		if err := w.handleReceipt(e); err != nil {
			return err
		}
	case w.asked && w.tries == 0 && e.Type == journal.EffectGaveUp && len(e.Dropped) == 0: // an effect before it
		fmt.Fprintln(w.Stderr, "orange: "+cleanLine(fmt.Sprintf("%s: orange resume %s tries that again", e.Attention, w.id)))
	}
	switch {
	case w.tries == 0:
		return nil
	case !w.action.moves || w.to != "":
		return errReached
	case w.late == nil:
		w.late = time.AfterFunc(moveTimeout, enough)
	}
	return nil
}

// followsMerge reports whether a task moved because its work was merged. The receipt of the merge may come later.
func followsMerge(e journal.Entry) bool {
	return e.To != "" && e.Snapshot != nil && e.Snapshot.Word == signal.PRMerged
}

// takenBack says which entry dropped the effect before it was done.
func (w *actionWait) takenBack(e journal.Entry) error {
	if e.To == "" {
		return fmt.Errorf("it was taken back: see orange task history %s", w.id)
	}
	return fmt.Errorf("it was taken back: %s %s -> %s", shortID(w.id), e.From, e.To)
}

// applyLanding processes a step of a landing, or the end of one that brought nothing into its target.
func (w *actionWait) applyLanding(e journal.Entry) error {
	l := e.Landing
	switch {
	case l.Checked || l.Outcome == task.Landed:
		return nil
	case l.Outcome == "":
		fmt.Fprintln(w.Stderr, "orange: "+cleanLine(fmt.Sprintf("the checks run on the work merged with %s", l.Target)))
		return nil
	case e.To != "":
		files := ""
		if len(l.Files) > 0 {
			files = " in " + strings.Join(l.Files, ", ")
		}
		return fmt.Errorf("it did not land: %s%s; %s %s -> %s", l.Why, files, shortID(w.id), e.From, e.To)
	}
	w.conflict = l.Outcome == task.LandingConflict
	why := l.Why
	if e.Receipt != nil {
		why = e.Receipt.Error
	}
	return fmt.Errorf("it was given up: %s", why)
}

// asksForEffect reports whether the entry is the one that requests the effect.
func (w *actionWait) asksForEffect(e journal.Entry) bool {
	for i := range e.Effects {
		if e.Effects[i].ID == w.effect {
			return true
		}
	}
	return false
}

func (w *actionWait) handleReceipt(e journal.Entry) error {
	why := e.Receipt.Error
	switch e.Type {
	case journal.EffectFailed:
		fmt.Fprintln(w.Stderr, "orange: "+cleanLine(fmt.Sprintf("%s failed and is tried again in %s: %s", w.action.verb, formatSpan(e.RetryAt.Sub(e.At)), why)))
	case journal.EffectGaveUp:
		w.conflict = e.Receipt.Conflict != nil
		if e.Tries > 1 {
			return fmt.Errorf("it failed %d times and was given up: %s", e.Tries, why)
		}
		return fmt.Errorf("it was given up: %s", why)
	default:
		w.tries = max(e.Tries, 1)
	}
	return nil
}

// describeMove describes where the action moved its task, or why it did not.
func (w *actionWait) describeMove(ctx context.Context, status string) string {
	switch {
	case !w.action.moves:
		return ""
	case w.to == "":
		text := fmt.Sprintf("; %s stays %s", shortID(w.id), status)
		if x, err := w.ExplainTask(ctx, w.id); err == nil {
			text += describeClosedGate(x.Edges)
		}
		return text
	}
	return fmt.Sprintf("; %s %s -> %s", shortID(w.id), w.from, w.to)
}

// describeClosedGate describes the first gate that keeps a task in its state, "" if there is none.
func describeClosedGate(ways []explain.Way) string {
	for i := range ways {
		for _, r := range ways[i].Reasons {
			if !r.OK && r.Rule == engine.RuleGate {
				return fmt.Sprintf(", because it cannot go to %s: %s", r.To, r.Text)
			}
		}
	}
	return ""
}
