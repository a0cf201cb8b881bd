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

// a glance is one look at the issue of a task.
type issueUpdate struct {
	o    *Service
	d    *connection
	t    *task.Task
	def  *workflow.Definition
	is   *tracker.Issue
	was  *tracker.Issue // as it was kept, nil if it was not
	news []string
}

// newIssueUpdate is a look at an issue that was just read. The task is looked up after it, and what
// is kept after that: a move that is Orange's own is owed still, or kept by then.
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

// submitNews lets the task hear what is new: orders, moves, how the card looks, the pull
// request that is meant.
func (g *issueUpdate) submitNews(ctx context.Context) error {
	steps := []func(context.Context) error{g.applyOrders, g.reportMove, g.reportCard, g.recordLinkedPR, g.retryGivenUp}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// viaAccount says that an account of the tracker is behind a signal, "" if the tracker does not
// say which.
func (g *issueUpdate) viaAccount(account string) *signal.Via {
	v := signal.Via{Kind: signal.ViaTracker, Tracker: g.d.cfg.Name, Account: account}.SanitizedCopy()
	return &v
}

// submitSignal lets the task hear a signal, and says so.
func (g *issueUpdate) submitSignal(ctx context.Context, sig signal.Signal, what string) error {
	a, err := g.o.Tasks.Submit(ctx, g.t.ID, sig)
	if err != nil {
		return fmt.Errorf("tell task %s: %w", g.t.ID, err)
	}
	switch no := a.Decision.Refused; {
	case no != "":
		what += ", and that is refused: " + no
	case len(a.Decision.Entries) == 0: // nothing comes of it
		return nil
	default:
		*g.t = a.Task
	}
	g.news = append(g.news, g.t.TrackerRef+": "+what)
	return nil
}

// doOnce does something about an issue that must not be done again.
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

// applyOrders carries out what people ordered in comments.
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
			if !g.t.Paused { // it ended a hold that nobody saw, and ends no later one
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
			what := s.Author + " wants no QA"
			return g.submitSignal(ctx, signal.Signal{Kind: signal.Request, Verb: tracker.SkipQA, Actor: task.Tracker, Note: what, Via: g.viaAccount(s.Author)}, what)
		})
	}
	return nil
}

// lastResume is the latest end of a hold that somebody ordered whose words count, nil if
// nobody did.
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

// wasMoved says that somebody moved the issue since it was kept. What Orange itself has
// still to write, or may have written, is nobody's move.
func (g *issueUpdate) wasMoved() bool {
	have := g.is.Card.Column
	return g.def.Board == nil && g.was != nil && !sameName(g.was.Card.Column, have) && !owesMove(&g.d.cfg, g.t, have)
}

// reportMove takes a move that somebody made in the tracker for a request.
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

// reportCard shows a task that reads its card how that looks now.
func (g *issueUpdate) reportCard(ctx context.Context) error {
	face := g.is.Card.Snapshot()
	if !g.def.WatchesBoard(g.t.Status) || g.t.CardSnapshot != nil && g.t.CardSnapshot.SameAs(face) {
		return nil
	}
	return g.submitSignal(ctx, signal.Signal{Kind: signal.Tracker, Actor: task.Tracker, Word: signal.CardChanged, CardSnapshot: &face, Via: g.viaAccount("")}, "it looks different")
}

// recordLinkedPR notes which pull request of the issue is meant, for prompts and gates.
func (g *issueUpdate) recordLinkedPR(ctx context.Context) error {
	pr, ok := tracker.ChoosePR(g.is.PRs, nil, nil)
	if !ok || g.t.PRURL != "" || pr.URL == "" {
		return nil
	}
	return g.submitSignal(ctx, signal.Signal{Kind: signal.Update, Actor: task.Engine, Fields: []signal.Field{{Name: "pr_url", To: pr.URL}, {Name: "pr_state", To: pr.State}}}, "its pull request is "+pr.URL)
}

// How often what was given up gets another chance: after a look that went wrong, and
// else. A tracker may be read and not written, and a person is to see that.
const (
	chanceAfterTrouble = time.Hour
	chanceElse         = 6 * time.Hour
)

// retryGivenUp gives what was given up while the tracker was away another chance.
func (g *issueUpdate) retryGivenUp(ctx context.Context) error {
	owed := slices.ContainsFunc(g.t.Pending, func(e task.Effect) bool { return e.NonBlocking && e.GivenUp && e.Tries > 1 })
	if !owed {
		return nil
	}
	_, problem, err := g.o.Store.LastSync(g.d.cfg.Name) // of the look before this one
	if err != nil {
		return err
	}
	every := chanceElse
	if problem != "" {
		every = chanceAfterTrouble
	}
	return g.doOnce(fmt.Sprintf("reachable/%s/%s/%d", g.t.ID, every, g.o.Now().Unix()/int64(every.Seconds())), func() error {
		return g.submitSignal(ctx, signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: signal.Reachable}, "what was owed to it is tried again")
	})
}
