package track

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
)

// requestChanges is the verb by which finished work is sent back.
const requestChanges = "request-changes"

// SyncForges looks at the pull requests of all open tasks that no tracker is looked at
// for.
func (o *Office) SyncForges(ctx context.Context) ([]string, error) {
	list, err := o.Store.Trackers()
	if err != nil {
		return nil, err
	}
	tasks, err := o.Store.Delivered()
	if err != nil {
		return nil, err
	}
	tasks = slices.DeleteFunc(tasks, func(t task.Task) bool {
		return slices.ContainsFunc(list, func(cfg tracker.Config) bool { _, ok := cfg.Key(t.TrackerRef); return ok && watched(cfg) })
	})
	return o.hearForges(ctx, tasks)
}

// hearForges looks at the pull requests of tasks: merged and closed ones, failed checks,
// reviews. A forge that does not answer does not keep others from being looked at.
func (o *Office) hearForges(ctx context.Context, tasks []task.Task) (news []string, err error) {
	if o.Forge == nil {
		return nil, nil
	}
	opened := map[string]Forge{}
	var broken []error
	for i := range tasks {
		t := &tasks[i]
		p, ok := o.Tasks.Project(t.Project)
		if !ok {
			continue
		}
		forge, known := opened[p.Name]
		if !known {
			if forge, err = o.Forge(ctx, p); err != nil {
				broken = append(broken, fmt.Errorf("project %s: %w", p.Name, err))
			}
			opened[p.Name] = forge
		}
		if forge == nil {
			continue
		}
		heard, err := o.hearPR(ctx, prGlance{o: o, forge: forge, project: p, t: t})
		news = append(news, heard...)
		if err != nil {
			broken = append(broken, err)
			opened[p.Name] = nil // it is asked again the next time
		}
	}
	return news, errors.Join(broken...)
}

// counts says whether the words of somebody who reviews count: a tracker of the project
// names them.
func (o *Office) counts(project, author string) bool {
	list, err := o.Store.Trackers()
	return err == nil && slices.ContainsFunc(list, func(cfg tracker.Config) bool { return cfg.Project == project && cfg.Allows(author) })
}

// a prGlance is one look at the pull request of a task.
type prGlance struct {
	o       *Office
	forge   Forge
	project task.Project
	t       *task.Task
	def     *workflow.Definition
	news    []string
}

func (o *Office) hearPR(ctx context.Context, g prGlance) ([]string, error) {
	var err error
	if g.def, err = o.Tasks.Definition(g.t); err != nil {
		return nil, err
	}
	pr, ok, err := g.find(ctx)
	if err != nil || !ok {
		return g.news, err
	}
	if err := g.know(ctx, &pr); err != nil {
		return g.news, err
	}
	own := pr.Branch == g.t.Branch // what others open says nothing about the work
	switch {
	case pr.State == tracker.Merged && own:
		err = g.merged(ctx, &pr)
	case pr.State == tracker.Closed && own:
		err = g.submit(ctx, "closed/"+pr.Head, signal.Signal{Kind: signal.Tracker, Actor: task.Tracker, Word: signal.PRClosed, Arg: pr.Head}, "its pull request was closed")
	case pr.State == tracker.Open:
		if own {
			err = g.checks(ctx, &pr)
		}
		if err == nil {
			err = g.reviews(ctx, &pr)
		}
	}
	return g.news, err
}

// find is the pull request that is meant: the one the task names, else the one of its
// branch, else the one that mentions its issue.
func (g *prGlance) find(ctx context.Context) (tracker.PR, bool, error) {
	if g.t.PRURL != "" {
		number, ok := tracker.PRNumber(g.t.PRURL)
		if !ok {
			return tracker.PR{}, false, nil
		}
		pr, err := g.forge.PR(ctx, number)
		if errors.Is(err, tracker.ErrNotFound) || err == nil && !strings.EqualFold(pr.URL, g.t.PRURL) {
			return pr, false, nil // it is of another repository
		}
		return pr, err == nil, err
	}
	byBranch, err := g.forge.PRs(ctx, g.t.Branch)
	if err != nil {
		return tracker.PR{}, false, err
	}
	var byKey []tracker.PR
	if _, key, ok := tracker.ParseRef(g.t.TrackerRef); ok && len(byBranch) == 0 && !strings.HasPrefix(g.t.TrackerRef, tracker.Board+":") {
		if byKey, err = g.forge.Mentioning(ctx, key); err != nil {
			return tracker.PR{}, false, err
		}
	}
	pr, ok := tracker.ChoosePR(nil, byBranch, byKey)
	if !ok {
		return pr, false, nil
	}
	pr, err = g.forge.PR(ctx, pr.Number)
	return pr, err == nil, err
}

// know writes down which pull request it is and how it stands.
func (g *prGlance) know(ctx context.Context, pr *tracker.PR) error {
	var fields []signal.Field
	if g.t.PRURL != pr.URL {
		fields = append(fields, signal.Field{Name: "pr_url", From: g.t.PRURL, To: pr.URL})
	}
	if g.t.PRState != pr.State {
		fields = append(fields, signal.Field{Name: "pr_state", From: g.t.PRState, To: pr.State})
	}
	if len(fields) == 0 {
		return nil
	}
	return g.submit(ctx, "", signal.Signal{Kind: signal.Update, Actor: task.Engine, Fields: fields}, fmt.Sprintf("pull request %d is %s", pr.Number, strings.ToLower(pr.State)))
}

// submit lets the task hear a signal; with a key only once.
func (g *prGlance) submit(ctx context.Context, key string, sig signal.Signal, what string) error {
	if key == "" {
		return g.submitAs(ctx, nil, sig, what)
	}
	if done, err := g.o.Store.Acted("task/"+string(g.t.ID), key); err != nil || done {
		return err
	}
	return g.submitAs(ctx, []string{key}, sig, what)
}

// submitAs lets the task hear a signal, and notes by keys what is heard with it.
func (g *prGlance) submitAs(ctx context.Context, keys []string, sig signal.Signal, what string) error {
	a, err := g.o.Tasks.Submit(ctx, g.t.ID, sig)
	if err != nil {
		return fmt.Errorf("tell task %s: %w", g.t.ID, err)
	}
	if no := a.Decision.Refused; no != "" {
		what += ", and that is refused: " + no
	} else {
		*g.t = a.Task
	}
	g.news = append(g.news, fmt.Sprintf("task %s: %s", g.t.ID, what))
	for _, key := range keys {
		if err := g.o.Store.SetActed("task/"+string(g.t.ID), key); err != nil {
			return err
		}
	}
	return nil
}

// merged lets the task hear that its work is in the default branch, here too.
func (g *prGlance) merged(ctx context.Context, pr *tracker.PR) error {
	if over(g.def, g.t) || !waitsForMerge(g.def, g.t) {
		return nil
	}
	if g.o.Fetch != nil {
		if err := g.o.Fetch(ctx, g.project); err != nil {
			g.o.warn("fetch what was merged", "project", g.project.Name, "error", err)
		}
	}
	return g.submit(ctx, fmt.Sprintf("merged/%s/%d", pr.Head, g.t.Visit), signal.Signal{Kind: signal.Tracker, Actor: task.Tracker, Word: signal.PRMerged, Arg: pr.Head}, "its pull request was merged")
}

func waitsForMerge(def *workflow.Definition, t *task.Task) bool {
	for _, i := range def.EdgesFrom(t.Status) {
		if def.Edges[i].Answers(workflow.OnTracker, signal.PRMerged) {
			return true
		}
	}
	return false
}

// checks sends work back whose checks failed, once for each commit.
func (g *prGlance) checks(ctx context.Context, pr *tracker.PR) error {
	var failed []string
	for _, c := range pr.Checks {
		switch c.State {
		case tracker.CheckPending:
			return nil // all of them are waited for
		case tracker.CheckFailed:
			failed = append(failed, strings.TrimSpace(fmt.Sprintf("- %s %s %s", oneLine(c.Name), oneLine(c.URL), oneLine(c.Text))))
		}
	}
	if len(failed) == 0 || !takes(g.def, g.t, requestChanges) {
		return nil
	}
	note := fmt.Sprintf("Checks of %s failed at %.12s:\n\n%s", pr.URL, pr.Head, strings.Join(failed, "\n"))
	return g.submit(ctx, "checks/"+pr.Head, g.back(note), fmt.Sprintf("%d checks failed", len(failed)))
}

// reviews sends work back that people whose words count want changed, with all that is
// new of it.
func (g *prGlance) reviews(ctx context.Context, pr *tracker.PR) error {
	if !takes(g.def, g.t, requestChanges) {
		return nil
	}
	var b strings.Builder
	var keys []string
	for i := range pr.Reviews {
		r := &pr.Reviews[i]
		if !g.wanted(r) || approvedSince(pr.Reviews[i+1:], r.Author) {
			continue
		}
		done, err := g.o.Store.Acted("task/"+string(g.t.ID), "review/"+r.ID)
		if err != nil {
			return err
		}
		if !done {
			keys = append(keys, "review/"+r.ID)
			writeReview(&b, pr, r)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	what := "a review wants changes"
	if len(keys) > 1 {
		what = fmt.Sprintf("%d reviews want changes", len(keys))
	}
	return g.submitAs(ctx, keys, g.back(b.String()), what)
}

// wanted says that a review asks for changes, and that its author's words count.
func (g *prGlance) wanted(r *tracker.Review) bool {
	wants := r.Verdict == tracker.ChangesRequested || r.Verdict == tracker.Commented && len(r.Lines) > 0
	return wants && !r.Bot && g.o.counts(g.t.Project, r.Author)
}

// approvedSince says that somebody took back what they wanted changed.
func approvedSince(later []tracker.Review, author string) bool {
	return slices.ContainsFunc(later, func(r tracker.Review) bool {
		return r.Verdict == tracker.Approved && strings.EqualFold(r.Author, author)
	})
}

func writeReview(b *strings.Builder, pr *tracker.PR, r *tracker.Review) {
	fmt.Fprintf(b, "%s reviewed %s:\n\n%s\n", oneLine(r.Author), pr.URL, strings.TrimSpace(r.Text))
	for _, l := range r.Lines {
		fmt.Fprintf(b, "\n- %s:%d: %s\n", oneLine(l.File), l.Line, strings.TrimSpace(l.Text))
	}
	b.WriteString("\n")
}

// back sends finished work back with what is wrong with it. A heading in it is quoted
// when it is written into TASK.md.
func (g *prGlance) back(note string) signal.Signal {
	return signal.Signal{Kind: signal.Request, Verb: requestChanges, Actor: task.Tracker, Note: clip(note, maxNote)}
}

// maxNote bounds what a task is told, in bytes.
const maxNote = 16 << 10

// clip bounds somebody else's text, in bytes.
func clip(text string, most int) string {
	if len(text) > most {
		text = text[:most] + "\n..."
	}
	return strings.ToValidUTF8(text, "")
}
