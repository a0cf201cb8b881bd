// Package restore restores a lost or damaged store. It takes the newest intact store, ends the agents that this store does
// not know, adds the tasks that it does not know, and pauses the tasks of which it has an earlier record. It can be
// repeated after it was interrupted at any point.
package restore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/adapter/git"
	"orange/internal/adapter/shim"
	"orange/internal/adapter/sqlite"
	"orange/internal/adapter/taskdir"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/host"
	"orange/internal/host/agents"
	"orange/internal/runtime/local"
	"orange/internal/server/anchors"
	"orange/internal/server/homestore"
	"orange/internal/ui/cli"
)

// PlaceStore makes sure that the store in place is the newest intact one. It moves a store that it replaces aside.
func PlaceStore(ctx context.Context, home string, report *cli.Restored, fault func(string)) error {
	path := sqlite.ResolvePath(homestore.Path(home))
	have, err := sqlite.InspectFile(ctx, path)
	intact := err == nil
	switch {
	case errors.Is(err, sqlite.ErrEmpty):
		report.Problem = "the store was missing or empty"
	case sqlite.IsDamaged(err):
		report.Problem = withoutAdvice(err)
	case err != nil: // the store may be intact
		return fmt.Errorf("restore the store: %w", err)
	}
	list, err := sqlite.ListBackups(homestore.BackupFolder(home))
	if err != nil {
		return err
	}
	aside := filepath.Join(filepath.Dir(path), "damaged-"+time.Now().UTC().Format("20060102T150405.000Z"))
	for _, b := range list {
		rows, err := sqlite.InspectFile(ctx, b.Path)
		if err != nil && !sqlite.IsDamaged(err) && !errors.Is(err, sqlite.ErrEmpty) {
			return fmt.Errorf("restore the store: %w", err)
		}
		if err != nil {
			report.Damaged = append(report.Damaged, withoutAdvice(err))
			continue
		}
		if intact && have >= rows {
			return nil
		}
		if intact {
			report.Problem = "the store was older than its newest backup"
		}
		report.Backup, report.BackupAt = b.Path, &b.At
		return replaceStore(path, b.Path, aside, report, fault)
	}
	if intact {
		return nil
	}
	report.Empty = true
	return replaceStore(path, "", aside, report, fault)
}

// withoutAdvice returns an error's text without the advice to restore the store.
func withoutAdvice(err error) string {
	text, _, _ := strings.Cut(err.Error(), "; run orange")
	return text
}

func replaceStore(path, backup, aside string, report *cli.Restored, fault func(string)) error {
	err := sqlite.ReplaceStore(path, backup, aside, fault)
	if _, there := os.Stat(aside); there == nil {
		report.Aside = aside
	}
	return err
}

// Parts are what a restore needs besides the store that is in place.
type Parts struct {
	Home  string
	Store *sqlite.Store
	Host  *host.Host
	Git   *git.Git
	// OpenRuntime opens the runtime that decides. The runtime performs no effects.
	OpenRuntime func() (*local.Runtime, error)
	AddProject  func(ctx context.Context, p task.Project) (task.Project, error)
	Fault       func(point string) // kills the process at a chosen point, for tests
}

// Run reconciles the restored store with the folders of tasks and attempts.
func Run(ctx context.Context, o Parts, report *cli.Restored) error {
	return (&restorer{Parts: o, report: report}).restoreAll(ctx)
}

type restorer struct {
	Parts
	runtime *local.Runtime
	report  *cli.Restored
	ahead   []homestore.AheadFolder
	gone    []task.Task // not over, and their folders are gone
}

func (r *restorer) restoreAll(ctx context.Context) (err error) {
	if err := r.findAhead(); err != nil {
		return err
	}
	if err := r.findGone(); err != nil {
		return err
	}
	if err := r.endAttempts(ctx); err != nil {
		return err
	}
	if r.runtime, err = r.OpenRuntime(); err != nil {
		return err
	}
	defer r.runtime.Close()
	if r.report.Backup != "" || len(r.ahead) > 0 || r.anchoredBeyond(ctx) {
		if err := r.Store.BeginSegment(journal.RestoreText(time.Now())); err != nil {
			return err
		}
	}
	r.addProjects(ctx)
	bound := r.readMarkers()
	for _, f := range r.ahead {
		if f.Known {
			if err := r.recoverTask(ctx, f, bound[f.ID]); err != nil {
				return err
			}
		}
	}
	if err := r.holdGone(ctx); err != nil {
		return err
	}
	return r.importAll(ctx, bound)
}

// anchoredBeyond reports whether a repository has an anchor of a row that the journal does not have.
func (r *restorer) anchoredBeyond(ctx context.Context) bool {
	id, err := r.Store.ID()
	if err != nil {
		return false
	}
	for _, p := range r.runtime.Projects() {
		if found, err := anchors.Compare(ctx, r.Store, r.Git, p, id); err != nil && found.Beyond != nil {
			return true
		}
	}
	return false
}

// findAhead finds the folders that show more entries than the store has. It moves a history with an impossible number
// aside; the next server writes it again.
func (r *restorer) findAhead() error {
	list, err := homestore.FoldersAhead(r.Store, r.Host.Folders.Dir)
	if err != nil {
		return err
	}
	for _, f := range list {
		h, err := r.Host.Folders.ReadHistory(f.Project, f.ID)
		if err != nil {
			return err
		}
		if len(h.Lines) == f.Last+1 {
			r.ahead = append(r.ahead, f)
			continue
		}
		path := filepath.Join(r.Host.Folders.Path(f.Project, f.ID), "history.jsonl")
		if err := os.Rename(path, path+".damaged"); err != nil {
			return fmt.Errorf("move %s aside: %w", path, err)
		}
		r.report.Problems = append(r.report.Problems, fmt.Sprintf("%s has a line with the impossible number %d: it is history.jsonl.damaged now", path, f.Last))
	}
	return nil
}

// endAttempts ends every running attempt that the store does not list, and those of tasks that the store does not know or
// has an earlier record of. The next server adopts the others.
func (r *restorer) endAttempts(ctx context.Context) error {
	for _, dir := range host.AttemptFolders(r.Home) {
		id := task.ID(filepath.Base(filepath.Dir(dir)))
		n, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || !id.IsValid() {
			continue
		}
		state, err := shim.Folder(dir).ReadState(shim.BootID())
		if err != nil {
			r.report.Problems = append(r.report.Problems, err.Error())
			continue
		}
		if state.Phase == shim.None || state.Phase == shim.Over {
			continue
		}
		t, _, err := r.Store.Task(id)
		if err != nil {
			return err
		}
		card, _ := r.Host.Agents.LoadCard(agents.Key{Task: id, Number: n}) // without a card the role stays empty
		said := cli.RestoredAttempt{Task: id, Number: n, Role: card.Role}
		_, listed := t.AttemptByNumber(n)
		if listed && !slices.ContainsFunc(r.ahead, func(f homestore.AheadFolder) bool { return f.ID == id }) {
			r.report.Alive = append(r.report.Alive, said)
			continue
		}
		r.Fault("restore.end")
		if t.ID = id; t.TmuxSession == "" {
			t.TmuxSession = r.shownField(id, "tmux_session")
		}
		if err := r.Host.Agents.EndAttempts(ctx, t, []int{n}); err != nil {
			return fmt.Errorf("end attempt %d of task %s: %w", n, id, err)
		}
		r.report.Ended = append(r.report.Ended, said)
	}
	return nil
}

// shownField returns a value from the frontmatter of a task in r.ahead, or "" if there is none.
func (r *restorer) shownField(id task.ID, key string) string {
	for _, f := range r.ahead {
		if f.ID != id {
			continue
		}
		doc, err := r.Host.Folders.ReadTaskFile(f.Project, id)
		if err != nil {
			return ""
		}
		v, _ := doc.Get(key)
		text, _ := v.(string)
		return text
	}
	return ""
}

// addProjects registers the unknown projects of unknown tasks. It finds their repositories through their worktrees.
func (r *restorer) addProjects(ctx context.Context) {
	for _, f := range r.ahead {
		if _, ok := r.runtime.Project(f.Project); ok || f.Known {
			continue
		}
		p, err := r.findProject(f.Project)
		if err == nil {
			p, err = r.AddProject(ctx, p)
		}
		if err == nil {
			r.report.Projects = append(r.report.Projects, p.Name+" at "+p.Path)
		}
	}
}

func (r *restorer) findProject(name string) (task.Project, error) {
	p := task.Project{Name: name, PoolSize: task.DefaultPoolSize}
	for _, dir := range homestore.GlobIn(r.Home, "workspaces/"+name+"--*") {
		if n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), name+"--")); err == nil {
			p.PoolSize = max(p.PoolSize, n)
		}
		if p.Path == "" {
			p.Path = repositoryOf(dir)
		}
	}
	if p.Path == "" {
		return p, fmt.Errorf("nothing shows where the repository of project %s is", name)
	}
	return p, nil
}

// repositoryOf returns the repository that a worktree belongs to, or "" if its link does not name one.
func repositoryOf(worktree string) string {
	link, err := os.ReadFile(filepath.Join(worktree, ".git"))
	if err != nil {
		return ""
	}
	path, found := strings.CutPrefix(strings.TrimSpace(string(link)), "gitdir: ")
	root, _, inside := strings.Cut(path, "/.git/worktrees/")
	if !found || !inside {
		return ""
	}
	return root
}

// readMarkers returns the workspace of each task, as the marker in the workspace names it.
func (r *restorer) readMarkers() map[task.ID]string {
	out := map[task.ID]string{}
	list, err := r.Host.ListWorkspaces(r.runtime.Projects(), nil)
	if err != nil {
		r.report.Problems = append(r.report.Problems, err.Error())
	}
	for _, w := range list {
		if w.Marker != "" {
			out[w.Marker] = w.Name
		}
	}
	return out
}

// recoverTask reconciles a task of which entries are lost.
func (r *restorer) recoverTask(ctx context.Context, f homestore.AheadFolder, workspace string) error {
	t, _, err := r.Store.Task(f.ID)
	if err != nil {
		return err
	}
	h, lost, err := r.findLost(f, t, workspace)
	if err != nil {
		return err
	}
	r.Fault("restore.hold")
	answer, err := r.runtime.Reconcile(ctx, f.ID, signal.Signal{Kind: signal.Restore, Actor: task.Human, Lost: &lost})
	if err != nil {
		return fmt.Errorf("pause task %s: %w", f.ID, err)
	}
	if answer.Decision.Refused != "" {
		r.report.Problems = append(r.report.Problems, fmt.Sprintf("task %s: %s", f.ID, answer.Decision.Refused))
		return nil
	}
	r.report.Held = append(r.report.Held, cli.RestoredTask{
		ID: f.ID, Project: f.Project, Branch: t.Branch, Status: t.Status, Shown: h.Status, Event: h.Last.String(), Workspace: answer.Task.Workspace, Over: !answer.Task.Paused,
	})
	return nil
}

// findLost returns the entries, attempts and workspace that the folders of a task show beyond its record.
func (r *restorer) findLost(f homestore.AheadFolder, t task.Task, workspace string) (taskdir.History, signal.Lost, error) {
	h, err := r.Host.Folders.ReadHistory(f.Project, f.ID)
	if err != nil {
		return h, signal.Lost{}, err
	}
	from := max(f.Seq, 1) // the first entry is that of the creation
	return h, signal.Lost{Events: h.Lines[min(from+1, len(h.Lines)):], Status: h.Status, AttemptCounts: r.countLostAttempts(&t, f.ID), Workspace: workspace}, nil
}

// countLostAttempts counts, for each role with attempts that have a folder and are not in the record, all attempts of the
// role.
func (r *restorer) countLostAttempts(t *task.Task, id task.ID) []task.AttemptTally {
	last := 0
	for _, dir := range homestore.GlobIn(r.Home, "attempts/"+string(id)+"/*") {
		if n, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			last = max(last, n)
		}
	}
	more := map[string]int{}
	for n := t.AttemptCount() + 1; n <= last; n++ {
		card, _ := r.Host.Agents.LoadCard(agents.Key{Task: id, Number: n}) // without a card the role is unknown
		more[card.Role]++
	}
	var out []task.AttemptTally
	for role, n := range more {
		out = append(out, task.AttemptTally{Role: role, Count: t.AttemptsOfRole(role) + n})
	}
	slices.SortFunc(out, func(a, b task.AttemptTally) int { return strings.Compare(a.Role, b.Role) })
	return out
}

// findGone finds tasks that somebody deleted after the store was copied. It does so even if this restore did not replace
// the store, because an earlier restore that was killed may have.
func (r *restorer) findGone() error {
	tasks, err := r.Store.UnsettledTasks()
	for _, t := range tasks {
		if _, err := os.Stat(r.Host.Folders.Path(t.Project, t.ID)); errors.Is(err, fs.ErrNotExist) && !t.Paused {
			r.gone = append(r.gone, t)
		}
	}
	return err
}

// holdGone pauses the tasks whose folder is gone.
func (r *restorer) holdGone(ctx context.Context) error {
	for _, t := range r.gone {
		r.Fault("restore.gone")
		_, err := r.runtime.Reconcile(ctx, t.ID, signal.Signal{Kind: signal.Pause, Actor: task.Human, PauseCause: task.PausedByRestore,
			Note: "the store was restored and the task's folder is gone: cancel the task if it was deleted"})
		if err != nil {
			return fmt.Errorf("pause task %s: %w", t.ID, err)
		}
		r.report.Held = append(r.report.Held, cli.RestoredTask{ID: t.ID, Project: t.Project, Branch: t.Branch, Status: t.Status, Event: "its folder is gone", Workspace: t.Workspace})
	}
	return nil
}

// importAll imports the tasks that only have folders, oldest first. It moves the folder of a task that cannot be imported
// aside, because the server would not start with it.
func (r *restorer) importAll(ctx context.Context, bound map[task.ID]string) error {
	type foundWorkflow struct {
		homestore.AheadFolder
		n        signal.New
		workflow string
		lost     signal.Lost
		h        taskdir.History
	}
	var list []foundWorkflow
	for _, f := range r.ahead {
		if f.Known {
			continue
		}
		h, lost, err := r.findLost(f, task.Task{}, bound[f.ID])
		if err != nil {
			return err
		}
		n, name := r.describeLost(f, h)
		n.Workspace = bound[f.ID]
		list = append(list, foundWorkflow{f, n, name, lost, h})
	}
	slices.SortStableFunc(list, func(a, b foundWorkflow) int { return a.n.CreatedAt.Compare(b.n.CreatedAt) })
	for _, f := range list {
		r.Fault("restore.import")
		answer, err := r.runtime.ImportLost(ctx, f.n, f.workflow, f.lost)
		var mistake *task.Mistake
		if errors.As(err, &mistake) && f.workflow != "" { // its workflow is gone, so use the default one
			answer, err = r.runtime.ImportLost(ctx, f.n, "", f.lost)
		}
		why := answer.Decision.Refused
		if errors.As(err, &mistake) {
			why, err = err.Error(), nil
		}
		if err != nil {
			return fmt.Errorf("import task %s: %w", f.ID, err)
		}
		if why != "" {
			if err := r.setAside(f.AheadFolder, why); err != nil {
				return err
			}
			continue
		}
		t := answer.Task
		r.report.Imported = append(r.report.Imported, cli.RestoredTask{
			ID: f.ID, Project: f.Project, Branch: t.Branch, Status: t.Status, Shown: f.h.Status, Event: f.h.Last.String(), Workspace: t.Workspace,
		})
	}
	return nil
}

// setAside moves the folder of a task that cannot be imported into lost-tasks.
func (r *restorer) setAside(f homestore.AheadFolder, why string) error {
	from, to := r.Host.Folders.Path(f.Project, f.ID), filepath.Join(r.Home, "lost-tasks", f.Project, string(f.ID))
	r.Fault("restore.lost")
	if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.Rename(from, to)); err != nil {
		return fmt.Errorf("move the folder of task %s aside: %w", f.ID, err)
	}
	r.report.Problems = append(r.report.Problems, fmt.Sprintf(
		"task %s cannot be imported (%s); its folder is %s now: once that is fixed, run orange stop, move the folder back to %s, and run orange doctor --restore again", f.ID, why, to, from))
	return nil
}

// describeLost returns a task as its folder shows it, and the name of its workflow.
func (r *restorer) describeLost(f homestore.AheadFolder, h taskdir.History) (signal.New, string) {
	text := func(key string) string { return r.shownField(f.ID, key) }
	c := h.Created
	n := signal.New{
		ID: f.ID, Project: f.Project, Branch: cmp.Or(text("branch"), c.Branch), Summary: cmp.Or(text("summary"), c.Summary), Status: cmp.Or(h.Status, text("status")),
		Harness: cmp.Or(text("harness"), r.runtime.Defaults().Harness), Effort: text("effort"), ReviewEffort: text("review_effort"),
		PRURL: text("pr_url"), PRState: text("pr_state"), TrackerRef: c.Tracker, Parent: c.Parent, Delivery: task.Delivery(c.Delivery), Base: c.Base,
	}
	n.ReviewHarness = cmp.Or(text("review_harness"), n.Harness)
	if at, err := time.Parse(time.RFC3339Nano, cmp.Or(text("created_at"), c.Timestamp)); err == nil {
		n.CreatedAt = at.UTC()
	}
	return n, text("workflow")
}
