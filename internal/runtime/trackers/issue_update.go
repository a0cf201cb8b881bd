package trackers

import (
	"context"
	"fmt"
	"slices"
	"time"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
)

// issueUpdate is one check of the issue of a task.
type issueUpdate struct {
	o    *Service
	d    *connection
	t    *task.Task
	def  *workflow.Definition
	is   *tracker.Issue
	was  *tracker.Issue // as it was stored; nil if it was not
	news []string
}

// newIssueUpdate returns the check of an issue that was just read. It reads the task after the issue, and the stored
// issue after the task, so that a move by Orange itself is still pending or already stored.
func (o *Service) newIssueUpdate(d *connection, id task.ID, is *tracker.Issue) (*issueUpdate, error) {
	t, ok, err := o.Store.Task(id)
	if err == nil && !ok {
		err = fmt.Errorf("%w: %s", task.ErrNotFound, id)
	}
	if err != nil {
		return nil, err
	}
	def, err := o.Tasks.Definition(&t)
	if err != nil {
		return nil, err
	}
	g := &issueUpdate{o: o, d: d, t: &t, def: def, is: is}
	was, ok, err := o.Store.KeptIssue(d.cfg.Name, is.Key)
	if ok {
		g.was = &was
	}
	return g, err
}

// submitChanges submits what changed to the task: orders, moves, the card, what blocks it, the linked pull request.
func (g *issueUpdate) submitChanges(ctx context.Context) error {
	steps := []func(context.Context) error{g.applyOrders, g.reportMove, g.reportCard, g.reportBlockers, g.recordLinkedPR, g.retryGivenUp}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// viaAccount returns the origin of a signal: an account of the tracker, or "" if the tracker does not report it.
func (g *issueUpdate) viaAccount(account string) *signal.Via {
	v := signal.Via{Kind: signal.ViaTracker, Tracker: g.d.cfg.Name, Account: account}.SanitizedCopy()
	return &v
}

// submitSignal submits a signal to the task, and adds the result to the report of this round.
func (g *issueUpdate) submitSignal(ctx context.Context, sig signal.Signal, what string) error {
	a, err := g.o.Tasks.Submit(ctx, g.t.ID, sig)
	if err != nil {
		return fmt.Errorf("notify task %s: %w", g.t.ID, err)
	}
	switch no := a.Decision.Refused; {
	case no != "":
		what += ", but the task refused it: " + no
	case len(a.Decision.Entries) == 0: // it changed nothing
		return nil
	default:
		*g.t = a.Task
	}
	g.news = append(g.news, g.t.TrackerRef+": "+what)
	return nil
}

// doOnce calls a function for an issue at most once for each key.
func (g *issueUpdate) doOnce(key string, do func() error) error {
	done, err := g.o.Store.HasActed(g.t.TrackerRef, key)
	if err != nil || done {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return g.o.Store.RecordAct(g.t.TrackerRef, key)
}

// applyOrders carries out the directives in comments.
func (g *issueUpdate) applyOrders(ctx context.Context) error {
	orders := tracker.OrdersIn(g.is.Comments, g.d.cfg.AllowsAuthor)
	if h := orders.Hold; h != nil && !g.t.Paused {
		err := g.doOnce("hold/"+h.Comment, func() error {
			return g.submitSignal(ctx, signal.Signal{Kind: signal.Pause, Actor: task.Tracker, Note: describeHold(h), Via: g.viaAccount(h.Author)}, describeHold(h))
		})
		if err != nil {
			return err
		}
	}
	if last := g.lastResume(); orders.Hold == nil && last != nil {
		err := g.doOnce("resume/"+last.Comment, func() error {
			if !g.t.Paused { // it ended a hold that was never seen, and must not end a later one
				return nil
			}
			what := "resumed by " + last.Author
			return g.submitSignal(ctx, signal.Signal{Kind: signal.Resume, Actor: task.Tracker, Note: what, Via: g.viaAccount(last.Author)}, what)
		})
		if err != nil {
			return err
		}
	}
	if s := orders.SkipQA; s != nil && acceptsVerb(g.def, g.t, tracker.SkipQA) {
		return g.doOnce(fmt.Sprintf("skip-qa/%s/%d", s.Comment, g.t.Visit), func() error {
			what := s.Author + " skips QA"
			return g.submitSignal(ctx, signal.Signal{Kind: signal.Request, Verb: tracker.SkipQA, Actor: task.Tracker, Note: what, Via: g.viaAccount(s.Author)}, what)
		})
	}
	return nil
}

// lastResume returns the latest directive of a trusted author that ends a hold, or nil if there is none.
func (g *issueUpdate) lastResume() (last *tracker.Directive) {
	for _, c := range g.is.Comments {
		if d, ok := tracker.ParseDirective(c); ok && d.Kind == tracker.Resume && g.d.cfg.AllowsAuthor(c.Author) && (last == nil || !d.At.Before(last.At)) {
			last = &d
		}
	}
	return last
}

func describeHold(h *tracker.Directive) string {
	text := "held by " + h.Author
	if h.Reason != "" {
		text += ": " + h.Reason
	}
	return text
}

// wasMoved reports whether somebody moved the issue since it was stored. A move that Orange itself has yet to write, or
// may have written, does not count.
func (g *issueUpdate) wasMoved() bool {
	have := g.is.Card.Column
	return g.def.Board == nil && g.was != nil && !sameName(g.was.Card.Column, have) && !hasPendingMove(&g.d.cfg, g.t, have)
}

// reportMove submits a move that somebody made in the tracker as a request.
func (g *issueUpdate) reportMove(ctx context.Context) error {
	if !g.wasMoved() {
		return nil
	}
	have := g.is.Card.Column
	if want := g.o.wantedColumn(&g.d.cfg, g.t); want == "" || sameName(want, have) {
		return nil
	}
	to, ok := leadsTo(&g.d.cfg, g.def, g.t, have)
	if !ok {
		g.news = append(g.news, fmt.Sprintf("%s: somebody moved it to %s; task %s stays %s", g.t.TrackerRef, have, g.t.ID, g.t.Status))
		return nil
	}
	note := "moved to " + have + " in " + g.d.cfg.Name
	return g.submitSignal(ctx, signal.Signal{Kind: signal.Request, To: to, Actor: task.Tracker, Note: note, Via: g.viaAccount("")}, note)
}

// reportCard submits the present card to a task that reads its card.
func (g *issueUpdate) reportCard(ctx context.Context) error {
	snapshot := g.is.Card.Snapshot()
	if !g.def.WatchesBoard(g.t.Status) || g.t.CardSnapshot != nil && g.t.CardSnapshot.SameAs(snapshot) {
		return nil
	}
	return g.submitSignal(ctx, signal.Signal{Kind: signal.Tracker, Actor: task.Tracker, Word: signal.CardChanged, CardSnapshot: &snapshot, Via: g.viaAccount("")}, "the card changed")
}

// recordLinkedPR records the pull request that the issue links, for prompts and gates.
func (g *issueUpdate) recordLinkedPR(ctx context.Context) error {
	pr, ok := tracker.ChoosePR(g.is.PRs, nil, nil)
	if !ok || g.t.PRURL != "" || pr.URL == "" {
		return nil
	}
	return g.submitSignal(ctx, signal.Signal{Kind: signal.Update, Actor: task.Engine, Fields: []signal.Field{{Name: "pr_url", To: pr.URL}, {Name: "pr_state", To: pr.State}}}, "its pull request is "+pr.URL)
}

// Intervals at which effects that were given up are retried: after a failed round, and otherwise. A tracker may be
// readable and not writable, and a person must be able to see that.
const (
	retryAfterFailure = time.Hour
	retryOtherwise    = 6 * time.Hour
)

// retryGivenUp retries effects that were given up while the tracker did not respond.
func (g *issueUpdate) retryGivenUp(ctx context.Context) error {
	gaveUp := slices.ContainsFunc(g.t.Pending, func(e task.Effect) bool { return e.NonBlocking && e.GivenUp && e.Tries > 1 })
	if !gaveUp {
		return nil
	}
	_, problem, err := g.o.Store.LastSync(g.d.cfg.Name) // of the previous round
	if err != nil {
		return err
	}
	every := retryOtherwise
	if problem != "" {
		every = retryAfterFailure
	}
	return g.doOnce(fmt.Sprintf("reachable/%s/%s/%d", g.t.ID, every, g.o.Now().Unix()/int64(every.Seconds())), func() error {
		return g.submitSignal(ctx, signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: signal.Reachable}, "pending writes are retried")
	})
}
