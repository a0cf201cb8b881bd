package trackers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
	"orange/internal/view/humanize"
)

// requestChanges is the verb that sends finished work back.
const requestChanges = "request-changes"

// SyncForges checks the pull requests of all open tasks for which no tracker is polled.
func (o *Service) SyncForges(ctx context.Context) ([]string, error) {
	list, err := o.Store.Trackers()
	if err != nil {
		return nil, err
	}
	tasks, err := o.Store.DeliveredTasks()
	if err != nil {
		return nil, err
	}
	tasks = slices.DeleteFunc(tasks, func(t task.Task) bool {
		return slices.ContainsFunc(list, func(cfg tracker.Config) bool { _, ok := cfg.IssueKey(t.TrackerRef); return ok && isWatched(cfg) })
	})
	return o.checkForges(ctx, tasks)
}

// checkForges checks the pull requests of tasks for merges, closes, failed checks and reviews. An error with one does
// not keep others from being checked; a forge that fails often is skipped until the next time.
func (o *Service) checkForges(ctx context.Context, tasks []task.Task) (news []string, err error) {
	if o.Forge == nil {
		return nil, nil
	}
	opened, failed := map[string]Forge{}, map[string]int{}
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
		if forge == nil || failed[p.Name] >= maxUnanswered || ctx.Err() != nil {
			continue
		}
		g := pullRequestUpdate{o: o, forge: forge, project: p, t: t}
		if err := g.applyPullRequest(ctx); err != nil {
			broken = append(broken, err)
		}
		news = append(news, g.news...)
		if g.unanswered {
			failed[p.Name]++
		}
	}
	return news, errors.Join(broken...)
}

// maxUnanswered is how many pull requests a forge may fail to return in one round.
const maxUnanswered = 3

// allowsReviewer reports whether a reviewer is trusted: a tracker of the project names the account.
func (o *Service) allowsReviewer(project, author string) bool {
	list, err := o.Store.Trackers()
	return err == nil && slices.ContainsFunc(list, func(cfg tracker.Config) bool { return cfg.Project == project && cfg.AllowsAuthor(author) })
}

// pullRequestUpdate is one check of the pull request of a task.
type pullRequestUpdate struct {
	o          *Service
	forge      Forge
	project    task.Project
	t          *task.Task
	def        *workflow.Definition
	news       []string
	unanswered bool // the forge did not return it
}

func (g *pullRequestUpdate) applyPullRequest(ctx context.Context) (err error) {
	if g.def, err = g.o.Tasks.Definition(g.t); err != nil {
		return err
	}
	pr, ok, err := g.findPullRequest(ctx)
	if g.unanswered = err != nil; err != nil || !ok {
		return err
	}
	if err := g.recordPullRequest(ctx, &pr); err != nil {
		return err
	}
	own := pr.Branch == g.t.Branch // a pull request from another branch says nothing about the work
	if own && g.o.Seen != nil {
		g.o.Seen(g.t.ID, pr)
	}
	switch {
	case pr.State == tracker.Merged && own:
		return g.reportMerged(ctx, &pr)
	case pr.State == tracker.Closed && own:
		return g.reportClosed(ctx, &pr)
	case pr.State == tracker.Open:
		if own {
			if err := g.reportFailedChecks(ctx, &pr); err != nil {
				return err
			}
		}
		return g.reportReviews(ctx, &pr)
	}
	return nil
}

// findPullRequest returns the task's pull request, or else the one that mentions its issue.
func (g *pullRequestUpdate) findPullRequest(ctx context.Context) (tracker.PR, bool, error) {
	pr, ok, err := FindPR(ctx, g.forge, g.t.PRURL, g.t.Branch)
	if ok || err != nil || g.t.PRURL != "" {
		return pr, ok, err
	}
	_, key, ok := tracker.ParseRef(g.t.TrackerRef)
	if !ok || strings.HasPrefix(g.t.TrackerRef, tracker.Board+":") {
		return pr, false, nil
	}
	byKey, err := g.forge.ListMentioningPRs(ctx, key)
	if err != nil {
		return pr, false, err
	}
	if pr, ok = tracker.ChoosePR(nil, nil, byKey); !ok {
		return pr, false, nil
	}
	pr, err = g.forge.ReadPR(ctx, pr.Number)
	return pr, err == nil, err
}

// startTimeout bounds the search for a pull request, because an agent waits for it.
const startTimeout = 10 * time.Second

// PullRequest finds the present pull request of a task, and records it if it changed. If the forge does not respond,
// PullRequest returns the one in the record; if there is none and the task should have one, it returns an error.
func (o *Service) PullRequest(ctx context.Context, t task.Task) (url, state string, err error) {
	if t.Delivery != task.DeliverPR && t.PRURL == "" && t.TrackerRef == "" {
		return "", "", nil // the project does not use pull requests
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	err = errors.Join(o.findLinked(ctx, &t), o.findOwn(ctx, &t))
	if err != nil && (t.PRURL != "" || t.Delivery != task.DeliverPR) {
		o.logWarning("look for the pull request of a task", "task", t.ID, "error", err)
		err = nil
	}
	return t.PRURL, t.PRState, err
}

// findLinked records the pull request that is linked with the issue of a task without one.
func (o *Service) findLinked(ctx context.Context, t *task.Task) error {
	name, key, ok := tracker.ParseRef(t.TrackerRef)
	if !ok || t.PRURL != "" || name == tracker.Board {
		return nil
	}
	is, err := o.ReadIssue(ctx, name, key)
	if err != nil {
		return err
	}
	pr, ok := tracker.ChoosePR(is.PRs, nil, nil)
	if !ok || pr.URL == "" {
		return nil
	}
	g := pullRequestUpdate{o: o, t: t}
	return g.recordPullRequest(ctx, &pr)
}

// findOwn records the pull request of a task at the forge of its project.
func (o *Service) findOwn(ctx context.Context, t *task.Task) error {
	p, ok := o.Tasks.Project(t.Project)
	if !ok || o.Forge == nil {
		return nil
	}
	forge, err := o.Forge(ctx, p)
	if err != nil || forge == nil {
		return err
	}
	g := pullRequestUpdate{o: o, forge: forge, project: p, t: t}
	pr, ok, err := g.findPullRequest(ctx)
	if err != nil || !ok {
		return err
	}
	return g.recordPullRequest(ctx, &pr)
}

// FindPR finds the pull request of a task, or returns false if there is none. It is the one at url if that belongs to
// this repository, comes from branch and was not closed; or else the best one from branch; or else the one at url after
// all.
func FindPR(ctx context.Context, forge Forge, url, branch string) (tracker.PR, bool, error) {
	named, here, err := namedPR(ctx, forge, url)
	if err != nil || here && named.Branch == branch && named.State != tracker.Closed {
		return named, here, err
	}
	list, err := forge.ListBranchPRs(ctx, branch)
	if err != nil {
		return tracker.PR{}, false, err
	}
	pr, ok := tracker.ChoosePR(nil, list, nil)
	if !ok || here && pr.Number == named.Number {
		return named, here, nil
	}
	pr, err = forge.ReadPR(ctx, pr.Number)
	return pr, err == nil, err
}

// namedPR returns the pull request at an address, or false if it belongs to another repository.
func namedPR(ctx context.Context, forge Forge, url string) (tracker.PR, bool, error) {
	number, ok := tracker.PRNumber(url)
	if !ok {
		return tracker.PR{}, false, nil
	}
	pr, err := forge.ReadPR(ctx, number)
	switch {
	case errors.Is(err, tracker.ErrNotFound):
		return tracker.PR{}, false, nil
	case err != nil:
		return tracker.PR{}, false, err
	case !strings.EqualFold(pr.URL, url):
		return tracker.PR{}, false, nil
	}
	return pr, true, nil
}

// recordPullRequest records the URL and the state of the task's pull request.
func (g *pullRequestUpdate) recordPullRequest(ctx context.Context, pr *tracker.PR) error {
	var fields []signal.Field
	if g.t.PRURL != pr.URL {
		fields = append(fields, signal.Field{Name: "pr_url", From: g.t.PRURL, To: pr.URL})
	}
	if g.t.PRState != pr.State {
		fields = append(fields, signal.Field{Name: "pr_state", From: g.t.PRState, To: pr.State})
	}
	what := fmt.Sprintf("pull request %d is %s", pr.Number, strings.ToLower(pr.State))
	if ready := g.readyHead(ctx, pr); ready != g.t.PRReady {
		fields = append(fields, signal.Field{Name: "pr_ready", From: g.t.PRReady, To: ready})
		if ready != "" {
			what = fmt.Sprintf("pull request %d is green and approved", pr.Number)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	if g.t.PRState == tracker.Closed && pr.State == tracker.Open {
		if err := g.recordReopening(); err != nil {
			return err
		}
	}
	return g.submitOnce(ctx, "", signal.Signal{Kind: signal.Update, Actor: task.Engine, Fields: fields}, what)
}

// readyHead returns the head of a pull request that only waits to be merged: people approve it, nobody requests changes, and
// its required checks passed. It returns "" for any other. A forge that does not say what it requires is asked again in the
// next round.
func (g *pullRequestUpdate) readyHead(ctx context.Context, pr *tracker.PR) string {
	approved, against := pr.ApprovedBy()
	if g.forge == nil || pr.State != tracker.Open || pr.Branch != g.t.Branch || len(approved) == 0 || len(against) > 0 || pr.Mergeable == "no" {
		return ""
	}
	required, err := g.forge.RequiredChecks(ctx, pr.Base)
	if err != nil {
		g.o.logWarning("read which checks are required", "task", g.t.ID, "error", err)
		return g.t.PRReady
	}
	checks := tracker.RequiredChecks(pr.Checks, required)
	if len(checks) == 0 || len(tracker.ChecksIn(checks, tracker.CheckPassed)) < len(checks) {
		return ""
	}
	return pr.Head
}

// submitOnce submits a signal to the task; if key is not "", only once.
func (g *pullRequestUpdate) submitOnce(ctx context.Context, key string, sig signal.Signal, what string) error {
	if key == "" {
		return g.submitAs(ctx, nil, sig, what)
	}
	if done, err := g.o.Store.HasActed("task/"+string(g.t.ID), key); err != nil || done {
		return err
	}
	return g.submitAs(ctx, []string{key}, sig, what)
}

// submitAs submits a signal to the task, and marks keys as handled.
func (g *pullRequestUpdate) submitAs(ctx context.Context, keys []string, sig signal.Signal, what string) error {
	a, err := g.o.Tasks.Submit(ctx, g.t.ID, sig)
	if err != nil {
		return fmt.Errorf("notify task %s: %w", g.t.ID, err)
	}
	if no := a.Decision.Refused; no != "" {
		what += ", but the task refused it: " + no
	} else {
		*g.t = a.Task
	}
	return g.addReportLine(keys, what)
}

// addReportLine adds a line to the report of this round, and marks keys as handled.
func (g *pullRequestUpdate) addReportLine(keys []string, what string) error {
	g.news = append(g.news, fmt.Sprintf("task %s: %s", g.t.ID, what))
	for _, key := range keys {
		if err := g.o.Store.RecordAct("task/"+string(g.t.ID), key); err != nil {
			return err
		}
	}
	return nil
}

// reportClosed submits that the pull request was closed, once for each time it is closed.
func (g *pullRequestUpdate) reportClosed(ctx context.Context, pr *tracker.PR) error {
	n, err := g.countReopenings()
	if err != nil {
		return err
	}
	return g.submitOnce(ctx, fmt.Sprintf("closed/%s/%d", pr.Head, n), signal.Signal{Kind: signal.Tracker, Actor: task.Tracker, Word: signal.PRClosed, Arg: pr.Head, Via: g.viaAccount("")}, "its pull request was closed")
}

// countReopenings returns how often the pull request of the task was seen open after it had been closed.
func (g *pullRequestUpdate) countReopenings() (n int, err error) {
	for {
		seen, err := g.o.Store.HasActed("task/"+string(g.t.ID), fmt.Sprintf("reopened/%d", n+1))
		if err != nil || !seen {
			return n, err
		}
		n++
	}
}

func (g *pullRequestUpdate) recordReopening() error {
	n, err := g.countReopenings()
	if err != nil {
		return err
	}
	return g.o.Store.RecordAct("task/"+string(g.t.ID), fmt.Sprintf("reopened/%d", n+1))
}

// reportMerged submits that the work is in the default branch, after fetching it. It does so in every round until the
// task accepts it, because what is missing here may be present later. It reports a refusal once.
func (g *pullRequestUpdate) reportMerged(ctx context.Context, pr *tracker.PR) error {
	if isOver(g.def, g.t) || !waitsForMerge(g.def, g.t) {
		return nil
	}
	if g.o.Fetch != nil {
		if err := g.o.Fetch(ctx, g.project.ForTask(g.t)); err != nil {
			g.o.logWarning("fetch the merged branch", "project", g.project.Name, "error", err)
		}
	}
	const what = "its pull request was merged"
	a, err := g.o.Tasks.Submit(ctx, g.t.ID, signal.Signal{Kind: signal.Tracker, Actor: task.Tracker, Word: signal.PRMerged, Arg: pr.Head, Merged: pr.Landed, Via: g.viaAccount("")})
	if err != nil {
		return fmt.Errorf("notify task %s: %w", g.t.ID, err)
	}
	if a.Decision.Refused == "" && len(a.Decision.Entries) > 0 {
		*g.t = a.Task
		return g.addReportLine(nil, what)
	}
	key := fmt.Sprintf("merged/%s/%d", pr.Head, g.t.Visit)
	if said, err := g.o.Store.HasActed("task/"+string(g.t.ID), key); err != nil || said {
		return err
	}
	return g.addReportLine([]string{key}, fmt.Sprintf("%s, and it stays %s: %s", what, g.t.Status, describeRefusal(&a.Decision)))
}

// describeRefusal returns why a decision changed nothing.
func describeRefusal(d *engine.Decision) string {
	if d.Refused != "" {
		return d.Refused
	}
	var all []string
	for _, r := range d.Reasons {
		all = append(all, oneLine(r.Text))
	}
	return strings.Join(all, "; ")
}

func waitsForMerge(def *workflow.Definition, t *task.Task) bool {
	for _, i := range def.EdgesFrom(t.Status) {
		if def.Edges[i].AnswersTo(workflow.OnTracker, signal.PRMerged) {
			return true
		}
	}
	return false
}

// reportFailedChecks sends work back whose checks failed, once for each commit.
func (g *pullRequestUpdate) reportFailedChecks(ctx context.Context, pr *tracker.PR) error {
	var failed []string
	for _, c := range pr.Checks {
		switch c.State {
		case tracker.CheckPending:
			return nil // wait until all checks have ended
		case tracker.CheckFailed:
			failed = append(failed, strings.TrimSpace(fmt.Sprintf("- %s %s %s", oneLine(c.Name), oneLine(c.URL), oneLine(c.Text))))
		}
	}
	if len(failed) == 0 || !acceptsVerb(g.def, g.t, requestChanges) {
		return nil
	}
	note := fmt.Sprintf("Checks of %s failed at %.12s:\n\n%s", pr.URL, pr.Head, strings.Join(failed, "\n"))
	return g.submitOnce(ctx, "checks/"+pr.Head, g.sendBackSignal(note, ""), humanize.Plural(len(failed), "check")+" failed")
}

// reportReviews sends work back for which trusted reviewers request changes, with all new comments.
func (g *pullRequestUpdate) reportReviews(ctx context.Context, pr *tracker.PR) error {
	if !acceptsVerb(g.def, g.t, requestChanges) {
		return nil
	}
	var b strings.Builder
	var keys, authors []string
	for i := range pr.Reviews {
		r := &pr.Reviews[i]
		if !g.asksForChanges(r) || approvedSince(pr.Reviews[i+1:], r.Author) {
			continue
		}
		done, err := g.o.Store.HasActed("task/"+string(g.t.ID), "review/"+r.ID)
		if err != nil {
			return err
		}
		if !done {
			keys = append(keys, "review/"+r.ID)
			if !slices.Contains(authors, r.Author) {
				authors = append(authors, r.Author)
			}
			writeReview(&b, pr, r)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	what := "a review requests changes"
	if len(keys) > 1 {
		what = fmt.Sprintf("%d reviews request changes", len(keys))
	}
	return g.submitAs(ctx, keys, g.sendBackSignal(b.String(), strings.Join(authors, ", ")), what)
}

// asksForChanges reports whether a review requests changes and its author is trusted.
func (g *pullRequestUpdate) asksForChanges(r *tracker.Review) bool {
	wants := r.Verdict == tracker.ChangesRequested || r.Verdict == tracker.Commented && len(r.Lines) > 0
	return wants && !r.Bot && g.o.allowsReviewer(g.t.Project, r.Author)
}

// approvedSince reports whether the author of a review approved the work later.
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

// sendBackSignal returns the signal that sends finished work back with what is wrong, on behalf of the accounts that
// said so. A heading in the text is quoted when it is written into TASK.md.
func (g *pullRequestUpdate) sendBackSignal(note, accounts string) signal.Signal {
	return signal.Signal{Kind: signal.Request, Verb: requestChanges, Actor: task.Tracker, Note: clipText(note, maxNote), Via: g.viaAccount(accounts)}
}

// viaAccount returns the origin of a signal: an account of the forge, or "" if the forge does not report it.
func (g *pullRequestUpdate) viaAccount(account string) *signal.Via {
	v := signal.Via{Kind: signal.ViaTracker, Tracker: cmp.Or(g.project.Forge.Kind, task.ForgeGitHub), Account: account}.SanitizedCopy()
	return &v
}

// maxNote bounds a note to a task, in bytes.
const maxNote = 16 << 10

// clipText bounds somebody else's text, in bytes.
func clipText(text string, most int) string {
	if len(text) > most {
		text = text[:most] + "\n..."
	}
	return strings.ToValidUTF8(text, "")
}
