package trackers

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"orange/internal/core/board"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
)

const (
	defaultMax  = 3               // tasks at work at the same time
	dispatched  = "dispatch"      // holder of an issue while its task is made: one round of one server at a time
	leaseFor    = 2 * time.Minute // duration of that lease
	maxDetailed = 100             // issues that one round reads with all their parts
	maxFailed   = 3               // issues that may fail to be read before a round stops
)

// Dispatch polls a tracker and makes tasks of the next issues. If dry is set, it only returns what it would do.
func (o *Service) Dispatch(ctx context.Context, name string, dry bool) (tracker.Round, error) {
	out := tracker.Round{Tracker: name, Choices: []tracker.Choice{}}
	d, err := o.openTracker(name)
	if err != nil {
		return out, err
	}
	defer o.rounds.Lock(d.name)()
	if dry { // submit nothing
		out.Report = tracker.Report{Tracker: name, News: []string{}, Drift: []tracker.Drift{}}
		r, err := o.newRound(d)
		if err == nil {
			r.dry = true
			out.Choices, err = o.runRound(ctx, d, r)
		}
		return out, err
	}
	var problem error
	if out.Report, problem, err = o.syncTracker(ctx, d); err == nil {
		var r *round
		if r, err = o.newRound(d); err == nil {
			out.Choices, err = o.runRound(ctx, d, r)
		}
		out.Report.Drift = append(out.Report.Drift, o.refusedBy(name)...)
	}
	o.recordSync(ctx, name, cmp.Or(err, problem))
	return out, err
}

// A round is what one round of a tracker reads once.
type round struct {
	def   *workflow.Definition
	tasks []task.Task     // of all issues of the tracker, oldest first
	list  []tracker.Issue // issues in eligible columns, oldest first; nil until they are listed
	dry   bool            // store nothing and make no task
}

// newRound begins a round: it reads which workflow and which tasks the tracker has.
func (o *Service) newRound(d *connection) (r *round, err error) {
	r = &round{}
	if r.def, err = o.Tasks.ChooseWorkflow(d.cfg.Workflow, d.cfg.Project); err == nil {
		r.tasks, err = o.Store.TrackedTasks(d.cfg.IssueRef(""))
	}
	return r, err
}

// listIssues lists the issues that may be dispatched.
func (r *round) listIssues(ctx context.Context, d *connection) (err error) {
	if r.list, err = d.client.ListIssues(ctx, tracker.Query{Columns: eligibleColumns(&d.cfg, r.def)}); err != nil {
		return fmt.Errorf("list the issues: %w", err)
	}
	return nil
}

// listedIssue returns an issue that may be dispatched, nil if it is not listed.
func (r *round) listedIssue(key string) *tracker.Issue {
	for i := range r.list {
		if r.list[i].Key == key {
			return &r.list[i]
		}
	}
	return nil
}

// runRound runs one round of the dispatcher.
func (o *Service) runRound(ctx context.Context, d *connection, r *round) ([]tracker.Choice, error) {
	if err := requireEligibleColumn(ctx, d, r.def); err != nil {
		return nil, err
	}
	list, err := o.loadCandidates(ctx, d, r)
	if err != nil {
		return nil, err
	}
	choices := tracker.PickIssues(list, cmp.Or(d.cfg.Max, defaultMax)-o.countAtWork(r.tasks))
	for i := range choices {
		choices[i].Ref = d.cfg.IssueRef(choices[i].Key)
	}
	if r.dry {
		return choices, nil
	}
	var refused []tracker.Drift
	defer func() { o.setRefused(d.cfg.Name, refused) }()
	for i := range choices {
		c := &choices[i]
		if !c.Dispatch {
			continue
		}
		at := slices.IndexFunc(list, func(o tracker.Candidate) bool { return o.Issue.Key == c.Key })
		id, err := o.beginTask(ctx, d, r, &list[at].Issue)
		if err != nil {
			why := oneLine(err.Error())
			c.Dispatch, c.Reason = false, "no task could be created: "+why
			refused = append(refused, tracker.Drift{Ref: c.Ref, Have: list[at].Issue.Card.Column, ReadAt: list[at].Issue.ReadAt, Reason: why})
			continue
		}
		c.Task = string(id)
	}
	return choices, o.startReadyParents(ctx, d, r.tasks)
}

// startReadyParents starts parent tasks whose children exist by now, or that have no open child.
func (o *Service) startReadyParents(ctx context.Context, d *connection, tasks []task.Task) error {
	for i := range tasks {
		t := &tasks[i]
		def, err := o.Tasks.Definition(t)
		if err != nil || !neverBegan(def, t) || t.ID != taskID(d.client.salt, t.TrackerRef, tasks[:i]) {
			continue
		}
		key, _ := d.cfg.IssueKey(t.TrackerRef)
		is, _, err := o.Store.KeptIssue(d.cfg.Name, key)
		if err != nil {
			return err
		}
		parts := slices.ContainsFunc(tasks, func(c task.Task) bool { return c.Parent == t.ID && !c.Deleted })
		if !parts && hasOpen(is.Children) {
			continue
		}
		if _, err := o.Tasks.Submit(ctx, t.ID, signal.Signal{Kind: signal.Ready, Actor: task.Tracker}); err != nil {
			return err
		}
	}
	return nil
}

// neverBegan reports whether a task was created and never started.
func neverBegan(def *workflow.Definition, t *task.Task) bool {
	s, ok := def.StateNamed(t.Status)
	return ok && s.Kind == workflow.Queued && t.Visit == 1 && !t.Queued && !t.Paused && !t.Deleted
}

func hasOpen(links []tracker.Link) bool {
	return slices.ContainsFunc(links, func(l tracker.Link) bool { return !l.Closed })
}

// loadCandidates reads the issues that may be next, with all their parts, the most urgent first. An issue that could
// not be read is left out, because it may be on hold.
func (o *Service) loadCandidates(ctx context.Context, d *connection, r *round) ([]tracker.Candidate, error) {
	if r.list == nil {
		if err := r.listIssues(ctx, d); err != nil {
			return nil, err
		}
	}
	list := slices.Clone(r.list)
	slices.SortStableFunc(list, func(a, b tracker.Issue) int {
		return cmp.Compare(cmp.Or(a.Priority, tracker.Low+1), cmp.Or(b.Priority, tracker.Low+1))
	})
	var out []tracker.Candidate
	looked, failed := 0, 0
	for _, is := range list {
		c := tracker.Candidate{Issue: is, Priority: is.Priority}
		if !r.dry && !is.Brief {
			if err := o.keepListed(d, r, &is); err != nil {
				return nil, err
			}
		}
		var err error
		if c.Task, err = o.workedOn(r.tasks, &d.cfg, &is); err != nil {
			return nil, err
		}
		switch {
		case c.Task != "":
		case !is.Brief:
			o.weighCandidate(d, r.def, &c)
		case looked >= maxDetailed:
			c.Held = fmt.Sprintf("%d issues are read before it", maxDetailed)
		default:
			looked++
			err := o.readCandidate(ctx, d, r, &c)
			if errors.Is(err, tracker.ErrNotFound) {
				continue
			}
			if err != nil {
				if failed++; failed >= maxFailed {
					return nil, fmt.Errorf("read %s: %w", is.Key, err)
				}
				c.Held = "it cannot be read: " + oneLine(err.Error())
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// readCandidate reads an issue of which the list has only a part.
func (o *Service) readCandidate(ctx context.Context, d *connection, r *round, c *tracker.Candidate) error {
	whole, err := d.client.ReadIssue(ctx, c.Issue.Key)
	if err != nil {
		return err
	}
	if !r.dry {
		if _, err := o.Store.KeepIssue(d.cfg.Name, whole); err != nil {
			return err
		}
	}
	c.Issue = whole
	o.weighCandidate(d, r.def, c)
	return nil
}

// weighCandidate notes why an issue cannot be dispatched.
func (o *Service) weighCandidate(d *connection, def *workflow.Definition, c *tracker.Candidate) {
	orders := tracker.OrdersIn(c.Issue.Comments, d.cfg.AllowsAuthor)
	if orders.Hold != nil {
		c.Held = describeHold(orders.Hold)
	}
	c.Priority = c.Issue.Priority
	if orders.Priority != nil {
		c.Priority = orders.Priority.Priority
	}
	c.ForeignAuthor = len(d.cfg.Authors) > 0 && !d.cfg.AllowsAuthor(c.Issue.Card.Author)
	if !isEligible(&d.cfg, def, &c.Issue) {
		c.Held = "it was moved to " + c.Issue.Card.Column + " meanwhile"
	}
	for i := range def.Roles {
		if tag := def.Roles[i].Claim; tag != "" && slices.Contains(c.Issue.Card.Tags, tag) {
			c.Claimed = tag
		}
	}
}

// workedOn returns the task of an issue: the last one that was made, unless it is over and somebody sent the issue back
// since.
func (o *Service) workedOn(tasks []task.Task, cfg *tracker.Config, is *tracker.Issue) (string, error) {
	ref := cfg.IssueRef(is.Key)
	for i := len(tasks) - 1; i >= 0; i-- {
		t := &tasks[i]
		if t.TrackerRef != ref || t.Deleted {
			continue
		}
		if def, err := o.Tasks.Definition(t); err == nil && isOver(def, t) {
			if back, err := o.Store.HasActed(ref, sentBackKey(t.ID)); back || err != nil {
				return "", err
			}
		}
		return string(t.ID), nil
	}
	return "", nil
}

// sentBackKey returns the key which records that an issue was sent back after a task of it was over.
func sentBackKey(id task.ID) string { return "back/" + string(id) }

// noteReturn records that an issue returned to an eligible column although its last task is over.
func (o *Service) noteReturn(d *connection, r *round, is *tracker.Issue) error {
	id, err := o.workedOn(r.tasks, &d.cfg, is)
	if err != nil || id == "" || !isEligible(&d.cfg, r.def, is) {
		return err
	}
	was, ok, err := o.Store.KeptIssue(d.cfg.Name, is.Key)
	if err != nil || !ok || sameName(was.Card.Column, is.Card.Column) {
		return err
	}
	return o.Store.RecordAct(d.cfg.IssueRef(is.Key), sentBackKey(task.ID(id)))
}

// countAtWork counts the tasks that occupy an agent or wait for one.
func (o *Service) countAtWork(tasks []task.Task) (n int) {
	for i := range tasks {
		t := &tasks[i]
		def, err := o.Tasks.Definition(t)
		if err != nil || isOver(def, t) || t.Paused || t.WorkFailed != "" {
			continue
		}
		if s, ok := def.StateNamed(t.Status); ok && (s.Kind == workflow.Agent || s.Kind == workflow.Queued && t.Queued && len(task.UnmetOf(t.Predecessors)) == 0) {
			n++
		}
	}
	return n
}

// beginTask makes the task of an issue exactly once: the id follows from the issue, and a task that somebody made
// meanwhile counts as the issue's. The round then knows the tasks as they are.
func (o *Service) beginTask(ctx context.Context, d *connection, r *round, is *tracker.Issue) (task.ID, error) {
	ref, now := d.cfg.IssueRef(is.Key), o.Now()
	if ok, err := o.Store.TakeLease(ref, dispatched, now.Add(leaseFor), now); err != nil || !ok {
		return "", cmp.Or(err, errors.New("another process is creating one"))
	}
	defer o.Store.ReleaseLease(ref, dispatched) //nolint:errcheck // it expires
	tasks, err := o.Store.TrackedTasks(d.cfg.IssueRef(""))
	if err != nil {
		return "", err
	}
	r.tasks = tasks
	if id, err := o.workedOn(r.tasks, &d.cfg, is); err != nil || id != "" {
		return task.ID(id), err
	}
	made, err := o.createTask(ctx, d, r, is)
	if err == nil {
		r.tasks = append(r.tasks, made)
		return made.ID, nil
	}
	if tasks, wrong := o.Store.TrackedTasks(d.cfg.IssueRef("")); wrong == nil { // somebody may have made it meanwhile
		r.tasks = tasks
		if id, wrong := o.workedOn(r.tasks, &d.cfg, is); wrong == nil && id != "" {
			return task.ID(id), nil
		}
	}
	return "", err
}

// createTask creates the next task of an issue. A parent whose children are not created yet waits for them.
func (o *Service) createTask(ctx context.Context, d *connection, r *round, is *tracker.Issue) (task.Task, error) {
	ref := d.cfg.IssueRef(is.Key)
	p, ok := o.Tasks.Project(d.cfg.Project)
	if !ok {
		return task.Task{}, task.Mistakef("project %q is not registered: orange project add", d.cfg.Project)
	}
	waits := hasOpen(is.Children) && r.def.KnowsChildren()
	blockers := o.blockersOf(&d.cfg, r.tasks, is.BlockedBy)
	w := signal.NewTask{
		New: signal.New{
			ID: taskID(d.client.salt, ref, r.tasks), Project: p.Name, Summary: taskSummary(&is.Card), Harness: d.cfg.Harness, Branch: branchOf(is),
			TrackerRef: ref, Spawn: !waits, Parent: o.parentOf(r.tasks, &d.cfg, is.Parent), After: blockers,
		},
		Workflow: d.cfg.Workflow, Context: contextOf(&d.cfg, is), Actor: task.Tracker,
	}
	via := signal.Via{Kind: signal.ViaTracker, Tracker: d.cfg.Name, Account: is.Card.Author}.SanitizedCopy()
	w.Via = &via
	a, err := o.Tasks.Create(ctx, w)
	var mistake *task.Mistake
	if errors.As(err, &mistake) && w.Branch != "" { // a branch of this name may exist
		w.Branch = ""
		a, err = o.Tasks.Create(ctx, w)
	}
	if err == nil && a.Decision.Refused != "" {
		err = task.Mistakef("%s", a.Decision.Refused)
	}
	if err == nil {
		err = o.recordBlockers(&a.Task, blockers)
	}
	return a.Task, err
}

// taskID returns the id of the next task of an issue. It is the same at each call, so that no task is made twice. It
// differs between data folders, because it marks the processes of agents.
func taskID(salt, ref string, tasks []task.Task) task.ID {
	n := 0
	for i := range tasks {
		if tasks[i].TrackerRef == ref {
			n++
		}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "issue\x00%s\x00%s\x00%d", salt, ref, n))
	return task.NewID(sum[:])
}

// parentOf returns the task of a parent issue, or "" if none is open.
func (o *Service) parentOf(tasks []task.Task, cfg *tracker.Config, key string) task.ID {
	if key == "" {
		return ""
	}
	for i := len(tasks) - 1; i >= 0; i-- {
		t := &tasks[i]
		if t.TrackerRef != cfg.IssueRef(key) {
			continue
		}
		if def, err := o.Tasks.Definition(t); err == nil && !isOver(def, t) {
			return t.ID
		}
	}
	return ""
}

func taskSummary(c *board.Card) string {
	title := oneLine(c.Title)
	if title == "" {
		return "an issue without a title"
	}
	return title
}

// contextOf returns what an agent reads about the issue. The text is quoted, and only comments of trusted authors are
// included.
func contextOf(cfg *tracker.Config, is *tracker.Issue) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Issue %s of %s, written by %s:\n\n%s\n", is.Key, cfg.Name, cmp.Or(oneLine(is.Card.Author), "somebody"), strings.TrimSpace(is.Card.Description))
	for _, c := range is.Comments {
		if isForAgents(cfg, &c) {
			fmt.Fprintf(&b, "\n%s said on %s:\n\n%s\n", oneLine(c.Author), c.At.UTC().Format(time.DateOnly), strings.TrimSpace(c.Text))
		}
	}
	return clipText(b.String(), maxContext)
}

// isForAgents reports whether agents may read a comment: its author is trusted, and Orange did not write it, whatever
// account it used.
func isForAgents(cfg *tracker.Config, c *tracker.Comment) bool {
	return cfg.AllowsAuthor(c.Author) && !c.Bot && !strings.Contains(c.Text, tracker.Mark)
}

// maxContext bounds what an agent first reads about an issue, in bytes.
const maxContext = 256 << 10

// branchOf returns a branch name that people recognise, such as eng-12-fix-the-cart.
func branchOf(is *tracker.Issue) string {
	var b strings.Builder
	for _, r := range strings.ToLower(is.Key + " " + is.Card.Title) {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 48 {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}

func moveTo(column string) board.Change { return board.Change{Column: column} }

// oneLine returns somebody else's text as one bounded line.
func oneLine(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200]) + "..."
	}
	return text
}
