package trackers

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
)

// An IssueReader is a forge that also reads issues.
type IssueReader interface {
	ReadIssue(ctx context.Context, key string) (tracker.Issue, error)
	// HasRepository reports whether the forge is the repository OWNER/REPO on a host.
	HasRepository(host, scope string) bool
}

// CreateFromIssue creates the task that a person wants for the issue that w names. The issue is read from the project's
// tracker that has it, which is then linked with the task, or else from the project's forge. Its text becomes context.
func (o *Service) CreateFromIssue(ctx context.Context, w signal.NewTask) (engine.Answer, error) {
	at, ok := tracker.ParseIssueAddress(w.Issue)
	if !ok {
		return engine.Answer{}, task.Mistakef("%q is not the address of an issue: give https://HOST/OWNER/REPO/issues/NUMBER or https://linear.app/WORKSPACE/issue/KEY", oneLine(w.Issue))
	}
	p, ok := o.Tasks.Project(w.Project)
	if !ok {
		return engine.Answer{}, task.Mistakef("project %q is not registered: orange project add", w.Project)
	}
	list, err := o.Store.Trackers()
	if err != nil {
		return engine.Answer{}, err
	}
	other := ""
	for _, cfg := range list {
		switch {
		case !cfg.HasIssue(at):
		case cfg.Project == p.Name:
			return o.createLinked(ctx, cfg, at.Key, w)
		default:
			other = cfg.Project
		}
	}
	if other != "" {
		return engine.Answer{}, task.Mistakef("the issues of %s belong to project %s: run it in that repository", at.Scope, other)
	}
	return o.createFromForge(ctx, p, at, w)
}

// createLinked creates the task of an issue of a tracker, unless the issue has one. It takes the issue's lease, so that
// no dispatcher makes another.
func (o *Service) createLinked(ctx context.Context, cfg tracker.Config, key string, w signal.NewTask) (engine.Answer, error) {
	d, err := o.openConnection(cfg)
	if err != nil {
		return engine.Answer{}, err
	}
	is, err := d.client.ReadIssue(ctx, key)
	if err != nil {
		return engine.Answer{}, readMistake(key, cfg.Name, err)
	}
	ref, now := cfg.IssueRef(is.Key), o.Now()
	if ok, err := o.Store.TakeLease(ref, dispatched, now.Add(leaseFor), now); err != nil || !ok {
		return engine.Answer{}, cmp.Or(err, task.Mistakef("a task is being created for %s: see orange task list", is.Key))
	}
	defer o.Store.ReleaseLease(ref, dispatched) //nolint:errcheck // it expires
	tasks, err := o.Store.TrackedTasks(cfg.IssueRef(""))
	if err != nil {
		return engine.Answer{}, err
	}
	if id, err := o.workedOn(tasks, &cfg, &is); err != nil || id != "" {
		return engine.Answer{}, cmp.Or(err, task.Mistakef("issue %s has a task: orange run --follow %s", is.Key, id))
	}
	if _, err := o.Store.KeepIssue(cfg.Name, is); err != nil {
		return engine.Answer{}, err
	}
	w.ID, w.TrackerRef = taskID(d.client.salt, ref, tasks), ref
	blockers := o.blockersOf(&cfg, tasks, is.BlockedBy)
	for _, id := range blockers {
		if !slices.Contains(w.After, id) {
			w.After = append(w.After, id)
		}
	}
	a, err := o.createDescribed(ctx, w, &cfg, &is)
	if err == nil && a.Decision.Refused == "" {
		err = o.recordBlockers(&a.Task, blockers)
	}
	return a, err
}

// createFromForge creates a task from an issue of the project's forge. Nothing follows the issue afterwards.
func (o *Service) createFromForge(ctx context.Context, p task.Project, at tracker.IssueAddress, w signal.NewTask) (engine.Answer, error) {
	var reader IssueReader
	if forge, err := o.Forge(ctx, p); err != nil {
		return engine.Answer{}, err
	} else if have, ok := forge.(IssueReader); ok && !at.Team && have.HasRepository(at.Host, at.Scope) {
		reader = have
	}
	if reader == nil {
		kind := tracker.GitHub
		if at.Team {
			kind = tracker.Linear
		}
		return engine.Answer{}, task.Mistakef("no tracker or forge of project %s has the issues of %s on %s: add one with orange tracker add NAME --kind %s --scope %s, or for Gitea set --forge gitea with orange project update", p.Name, at.Scope, at.Host, kind, at.Scope)
	}
	is, err := reader.ReadIssue(ctx, at.Key)
	if err != nil {
		return engine.Answer{}, readMistake(at.Key, at.Scope, err)
	}
	return o.createDescribed(ctx, w, &tracker.Config{Name: at.Scope}, &is)
}

// createDescribed creates a task with the text of an issue as context. A branch of its name may exist.
func (o *Service) createDescribed(ctx context.Context, w signal.NewTask, cfg *tracker.Config, is *tracker.Issue) (engine.Answer, error) {
	w.Context = strings.TrimSpace(contextOf(cfg, is) + "\n" + oneLine(w.Issue))
	if strings.TrimSpace(w.Summary) == "" {
		w.Summary = taskSummary(&is.Card)
	}
	own := w.Branch == ""
	if own {
		w.Branch = branchOf(is)
	}
	a, err := o.Tasks.Create(ctx, w)
	var mistake *task.Mistake
	if own && errors.As(err, &mistake) {
		w.Branch = ""
		a, err = o.Tasks.Create(ctx, w)
	}
	return a, err
}

// readMistake says why an issue cannot be read. The cause is not a failure of the server.
func readMistake(key, where string, err error) error {
	return task.Mistakef("read issue %s of %s: %s", key, where, oneLine(err.Error()))
}
