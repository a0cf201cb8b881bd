package track

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
)

// Sync reads what matters of a tracker, keeps it, and lets tasks hear what people did
// there. With fix it also puts issues that drifted back where their tasks are.
func (o *Office) Sync(ctx context.Context, name string, fix bool) (tracker.Report, error) {
	d, err := o.open(name)
	if err != nil {
		return tracker.Report{Tracker: name}, err
	}
	d.busy.Lock()
	defer d.busy.Unlock()
	r, trouble, err := o.sync(ctx, d)
	if err == nil && fix {
		o.putBack(ctx, d, &r)
	}
	o.synced(ctx, name, cmp.Or(err, trouble))
	return r, err
}

// synced keeps how it went. A look that was broken off here says nothing about the
// tracker.
func (o *Office) synced(ctx context.Context, name string, err error) {
	if err != nil && ctx.Err() != nil {
		return
	}
	at, problem := o.Now(), ""
	if err != nil {
		problem = oneLine(err.Error())
		o.warn("look at a tracker", "tracker", name, "error", problem)
		if at, _, err = o.Store.Synced(name); err != nil { // what is kept is as old as before
			o.warn("read when a tracker was looked at", "tracker", name, "error", err)
		}
	}
	if err := o.Store.SetSynced(name, at, problem); err != nil {
		o.warn("keep when a tracker was looked at", "tracker", name, "error", err)
	}
}

// sync looks at a tracker. An issue that is in trouble does not keep the others from
// being looked at.
func (o *Office) sync(ctx context.Context, d *opened) (r tracker.Report, trouble, err error) {
	r = tracker.Report{Tracker: d.cfg.Name, News: []string{}, Drift: []tracker.Drift{}}
	def, err := o.Tasks.Choose(d.cfg.Workflow, d.cfg.Project)
	if err == nil {
		err = knows(ctx, d, def)
	}
	if err != nil {
		return r, nil, err
	}
	tasks, err := o.openTasks(&d.cfg)
	if err != nil {
		return r, nil, err
	}
	if r.Issues, err = o.keepListed(ctx, d, tasks); err != nil {
		return r, nil, err
	}
	r.Tasks = len(tasks)
	if trouble, err = o.hearIssues(ctx, d, tasks, &r); err != nil {
		return r, nil, err
	}
	if err := o.settle(ctx, d, &r); err != nil {
		return r, trouble, err
	}
	if tasks, err = o.openTasks(&d.cfg); err != nil { // as the news left them
		return r, trouble, err
	}
	news, err := o.hearForges(ctx, tasks)
	r.News = append(r.News, news...)
	if err != nil {
		o.warn("look at the forge", "tracker", d.cfg.Name, "error", err)
		r.News = append(r.News, "the forge: "+oneLine(err.Error()))
	}
	if tasks, err = o.openTasks(&d.cfg); err != nil {
		return r, trouble, err
	}
	for i := range tasks {
		if drift, ok := o.drift(&d.cfg, &tasks[i]); ok {
			r.Drift = append(r.Drift, drift)
		}
	}
	return r, trouble, nil
}

// hearIssues looks at the issues of tasks. Trouble with some is told among the news; with
// many it is an error.
func (o *Office) hearIssues(ctx context.Context, d *opened, tasks []task.Task, r *tracker.Report) (trouble, err error) {
	failed := 0
	for i := range tasks {
		news, err := o.hearIssue(ctx, d, tasks[i])
		r.News = append(r.News, news...)
		if err == nil {
			continue
		}
		if failed++; failed >= maxFailed || ctx.Err() != nil {
			return nil, err
		}
		trouble = errors.Join(trouble, err)
		r.News = append(r.News, oneLine(err.Error()))
	}
	return trouble, nil
}

// keepListed keeps the issues that may be worked on, and says how many there are. Those
// of open tasks are read whole, by themselves.
func (o *Office) keepListed(ctx context.Context, d *opened, tasks []task.Task) (int, error) {
	def, err := o.Tasks.Choose(d.cfg.Workflow, d.cfg.Project)
	if err != nil {
		return 0, err
	}
	list, err := d.desk.List(ctx, tracker.Query{Columns: eligible(&d.cfg, def)})
	if err != nil {
		return 0, fmt.Errorf("list the issues: %w", err)
	}
	all, err := o.Store.Tracked(d.cfg.Ref(""))
	if err != nil {
		return 0, err
	}
	for i := range list {
		if hasTask(tasks, &d.cfg, list[i].Key) {
			continue
		}
		if err := o.noteReturn(d, def, all, &list[i]); err != nil {
			return 0, err
		}
		if _, err := o.Store.KeepIssue(d.cfg.Name, list[i]); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

func hasTask(tasks []task.Task, cfg *tracker.Config, key string) bool {
	return slices.ContainsFunc(tasks, func(t task.Task) bool { return t.TrackerRef == cfg.Ref(key) })
}

// openTasks are the tasks of a tracker's issues that are not over.
func (o *Office) openTasks(cfg *tracker.Config) ([]task.Task, error) {
	all, err := o.Store.Tracked(cfg.Ref(""))
	return slices.DeleteFunc(all, func(t task.Task) bool {
		def, err := o.Tasks.Definition(&t)
		return err == nil && over(def, &t)
	}), err
}

// hearIssue reads the issue of a task and lets the task hear what is new about it. What
// was read is kept last: a look that is broken off is had again.
func (o *Office) hearIssue(ctx context.Context, d *opened, t task.Task) ([]string, error) {
	key, _ := d.cfg.Key(t.TrackerRef)
	is, err := d.desk.Issue(ctx, key)
	if errors.Is(err, tracker.ErrNotFound) {
		return []string{fmt.Sprintf("%s: the issue is gone, and task %s goes on without it", t.TrackerRef, t.ID)}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", t.TrackerRef, err)
	}
	look, err := o.glance(d, t.ID, &is)
	if err != nil || over(look.def, look.t) {
		return nil, err
	}
	if look.was != nil && look.was.ReadAt.After(is.ReadAt) {
		return nil, nil // Orange itself was at it meanwhile: the next look tells
	}
	if err := look.tell(ctx); err != nil {
		return look.news, err
	}
	_, err = o.Store.KeepIssue(d.cfg.Name, is)
	return look.news, err
}

// a glance is one look at the issue of a task.
type glance struct {
	o    *Office
	d    *opened
	t    *task.Task
	def  *workflow.Definition
	is   *tracker.Issue
	was  *tracker.Issue // as it was kept, nil if it was not
	news []string
}

// glance is a look at an issue that was just read. The task is looked up after it, and what
// is kept after that: a move that is Orange's own is owed still, or kept by then.
func (o *Office) glance(d *opened, id task.ID, is *tracker.Issue) (*glance, error) {
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
	g := &glance{o: o, d: d, t: &t, def: def, is: is}
	was, ok, err := o.Store.KeptIssue(d.cfg.Name, is.Key)
	if ok {
		g.was = &was
	}
	return g, err
}

// tell lets the task hear what is new: orders, moves, how the card looks, the pull
// request that is meant.
func (g *glance) tell(ctx context.Context) error {
	steps := []func(context.Context) error{g.orders, g.moved, g.face, g.linked, g.reachable}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// submit lets the task hear a signal, and says so.
func (g *glance) submit(ctx context.Context, sig signal.Signal, what string) error {
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

// once does something about an issue that must not be done again.
func (g *glance) once(key string, do func() error) error {
	done, err := g.o.Store.Acted(g.t.TrackerRef, key)
	if err != nil || done {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return g.o.Store.SetActed(g.t.TrackerRef, key)
}

// orders carries out what people ordered in comments.
func (g *glance) orders(ctx context.Context) error {
	orders := tracker.OrdersIn(g.is.Comments, g.d.cfg.Allows)
	if h := orders.Hold; h != nil && !g.t.Paused {
		err := g.once("hold/"+h.Comment, func() error {
			return g.submit(ctx, signal.Signal{Kind: signal.Pause, Actor: task.Tracker, Note: holds(h)}, holds(h))
		})
		if err != nil {
			return err
		}
	}
	if last := g.lastResume(); orders.Hold == nil && last != nil {
		err := g.once("resume/"+last.Comment, func() error {
			if !g.t.Paused { // it ended a hold that nobody saw, and ends no later one
				return nil
			}
			what := "resumed by " + last.Author
			return g.submit(ctx, signal.Signal{Kind: signal.Resume, Actor: task.Tracker, Note: what}, what)
		})
		if err != nil {
			return err
		}
	}
	if s := orders.SkipQA; s != nil && takes(g.def, g.t, tracker.SkipQA) {
		return g.once(fmt.Sprintf("skip-qa/%s/%d", s.Comment, g.t.Visit), func() error {
			what := s.Author + " wants no QA"
			return g.submit(ctx, signal.Signal{Kind: signal.Request, Verb: tracker.SkipQA, Actor: task.Tracker, Note: what}, what)
		})
	}
	return nil
}

// lastResume is the latest end of a hold that somebody ordered whose words count, nil if
// nobody did.
func (g *glance) lastResume() (last *tracker.Directive) {
	for _, c := range g.is.Comments {
		if d, ok := tracker.ParseDirective(c); ok && d.Kind == tracker.Resume && g.d.cfg.Allows(c.Author) && (last == nil || !d.At.Before(last.At)) {
			last = &d
		}
	}
	return last
}

func holds(h *tracker.Directive) string {
	text := "held by " + h.Author
	if h.Reason != "" {
		text += ": " + h.Reason
	}
	return text
}

// elsewhere says that somebody moved the issue since it was kept. What Orange itself has
// still to write, or may have written, is nobody's move.
func (g *glance) elsewhere() bool {
	have := g.is.Card.Column
	return g.def.Board == nil && g.was != nil && !sameName(g.was.Card.Column, have) && !owes(&g.d.cfg, g.t, have)
}

// moved takes a move that somebody made in the tracker for a request.
func (g *glance) moved(ctx context.Context) error {
	if !g.elsewhere() {
		return nil
	}
	have := g.is.Card.Column
	if want := g.o.wants(&g.d.cfg, g.t); want == "" || sameName(want, have) {
		return nil
	}
	to, ok := leadsTo(&g.d.cfg, g.def, g.t, have)
	if !ok {
		g.news = append(g.news, fmt.Sprintf("%s: somebody moved it to %s; task %s stays %s", g.t.TrackerRef, have, g.t.ID, g.t.Status))
		return nil
	}
	note := "moved to " + have + " in " + g.d.cfg.Name
	return g.submit(ctx, signal.Signal{Kind: signal.Request, To: to, Actor: task.Tracker, Note: note}, note)
}

// face shows a task that reads its card how that looks now.
func (g *glance) face(ctx context.Context) error {
	face := g.is.Card.Face()
	if !g.def.WatchesBoard(g.t.Status) || g.t.Face != nil && g.t.Face.Is(face) {
		return nil
	}
	return g.submit(ctx, signal.Signal{Kind: signal.Tracker, Actor: task.Tracker, Word: signal.CardChanged, Face: &face}, "it looks different")
}

// linked notes which pull request of the issue is meant, for prompts and gates.
func (g *glance) linked(ctx context.Context) error {
	pr, ok := tracker.ChoosePR(g.is.PRs, nil, nil)
	if !ok || g.t.PRURL != "" || pr.URL == "" {
		return nil
	}
	return g.submit(ctx, signal.Signal{Kind: signal.Update, Actor: task.Engine, Fields: []signal.Field{{Name: "pr_url", To: pr.URL}, {Name: "pr_state", To: pr.State}}}, "its pull request is "+pr.URL)
}

// How often what was given up gets another chance: after a look that went wrong, and
// else. A tracker may be read and not written, and a person is to see that.
const (
	chanceAfterTrouble = time.Hour
	chanceElse         = 6 * time.Hour
)

// reachable gives what was given up while the tracker was away another chance.
func (g *glance) reachable(ctx context.Context) error {
	owed := slices.ContainsFunc(g.t.Pending, func(e task.Effect) bool { return e.Aside && e.GivenUp && e.Tries > 1 })
	if !owed {
		return nil
	}
	_, problem, err := g.o.Store.Synced(g.d.cfg.Name) // of the look before this one
	if err != nil {
		return err
	}
	every := chanceElse
	if problem != "" {
		every = chanceAfterTrouble
	}
	return g.once(fmt.Sprintf("reachable/%s/%s/%d", g.t.ID, every, g.o.Now().Unix()/int64(every.Seconds())), func() error {
		return g.submit(ctx, signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: signal.Reachable}, "what was owed to it is tried again")
	})
}

// settle does the same for tasks that are over: their issues are to show it.
func (o *Office) settle(ctx context.Context, d *opened, r *tracker.Report) error {
	tasks, err := o.Store.Tracked(d.cfg.Ref(""))
	if err != nil {
		return err
	}
	for i := range tasks {
		def, err := o.Tasks.Definition(&tasks[i])
		if err != nil || tasks[i].Deleted || !over(def, &tasks[i]) {
			continue
		}
		g := glance{o: o, d: d, t: &tasks[i]}
		err = g.reachable(ctx)
		r.News = append(r.News, g.news...)
		if err != nil {
			return err
		}
	}
	return nil
}

// putBack moves issues that drifted back where their tasks are.
func (o *Office) putBack(ctx context.Context, d *opened, r *tracker.Report) {
	left := r.Drift[:0]
	for _, drift := range r.Drift {
		key, _ := d.cfg.Key(drift.Ref)
		is, err := d.desk.Apply(ctx, key, moveTo(drift.Want))
		if err != nil {
			r.News = append(r.News, fmt.Sprintf("%s: cannot be put back: %v", drift.Ref, err))
			left = append(left, drift)
			continue
		}
		o.keepOwn(d.cfg.Name, &is, drift.Want)
		r.News = append(r.News, fmt.Sprintf("%s: put back to %s", drift.Ref, drift.Want))
	}
	r.Drift = left
}
