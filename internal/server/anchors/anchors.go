// Package anchors writes the link of each journal row that records a merge into the repository of that merge, and
// compares the journal with the anchors there.
package anchors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"

	"orange/internal/adapter/git"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// Journal holds the recorded merges, and the settings that say up to which row they are anchored.
type Journal interface {
	ID() (string, error) // of the store
	Setting(key string) (string, error)
	SetSetting(key, value string) error
	LastRow() (int64, error)
	Rows(after int64, id task.ID, limit int) ([]journal.Row, error)
	RowLink(row int64) (journal.Link, bool, error)
	RestorePoints() ([]journal.Restore, error)
	Task(id task.ID) (task.Task, bool, error)
}

// Sources are what Anchors needs.
type Sources struct {
	Journal  Journal
	Git      *git.Git
	Follow   func(after int64, id task.ID, limit int) ([]journal.Row, <-chan struct{}, error)
	Projects func() []task.Project
	Fault    func(point string) // kills the process at a chosen point, for tests; nil: never
	Log      *slog.Logger
}

// Anchors anchors merges. It follows the journal, so it does not matter whether a merge was made here or by a forge, or
// when the server was killed.
type Anchors struct {
	Sources

	mu      sync.Mutex // held while the journal is followed
	row     int64      // row up to which the journal was followed
	kept    int64      // row that is saved in the store
	missing []missingAnchor
}

// missingAnchor is an anchor that is not in its repository yet.
type missingAnchor struct {
	journal.Anchor
	project string
	err     error // why not, nil before the first try
}

const (
	anchorRowKey  = "anchor.row"   // setting: row up to which all merges are anchored
	anchorLastKey = "anchor.last/" // setting of a project: row of its last anchor
	anchorBatch   = 256            // rows to read at a time
	anchorKeep    = 4096           // rows without a merge after which the row is saved
)

// New returns Anchors that continue at the row up to which merges are anchored.
func New(o Sources) (*Anchors, error) {
	a := &Anchors{Sources: o}
	if a.Fault == nil {
		a.Fault = func(string) {}
	}
	if err := a.loadFirstRow(); err != nil {
		return nil, err
	}
	return a, nil
}

// FollowMerges anchors merges until ctx ends.
func (a *Anchors) FollowMerges(ctx context.Context) {
	for ctx.Err() == nil {
		_, more, err := a.Follow(a.currentRow(), "", 0) // before reading, so that no new row is missed
		if err == nil {
			err = a.catchUp(ctx, false)
		}
		if err != nil && ctx.Err() == nil {
			a.Log.Error("follow the journal", "component", "anchors", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-more:
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.saveRow(); err != nil {
		a.Log.Warn("save which merges are anchored", "component", "anchors", "error", err)
	}
}

// loadFirstRow reads the row up to which merges are anchored. If none is saved, it is the last row, because older
// versions did not record merges.
func (a *Anchors) loadFirstRow() error {
	text, err := a.Journal.Setting(anchorRowKey)
	if err != nil {
		return err
	}
	if text != "" {
		a.row, err = strconv.ParseInt(text, 10, 64)
		a.kept = a.row
		return err
	}
	if a.row, err = a.Journal.LastRow(); err != nil {
		return err
	}
	a.kept = -1
	return a.saveRow()
}

func (a *Anchors) currentRow() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.row
}

// catchUp follows the journal to its end and writes the missing anchors. It retries those that failed before only if
// there is a new one or all is set.
func (a *Anchors) catchUp(ctx context.Context, all bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	found := 0
	for {
		rows, err := a.Journal.Rows(a.row, "", anchorBatch)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if a.noteMerge(row) {
				found++
			}
			a.row = row.ID
		}
		if len(rows) < anchorBatch {
			break
		}
	}
	if found > 0 || all || a.hasUntried() {
		a.writeMissing(ctx)
		return a.saveRow()
	}
	if a.row-a.kept >= anchorKeep {
		return a.saveRow()
	}
	return nil
}

func (a *Anchors) hasUntried() bool {
	return slices.ContainsFunc(a.missing, func(o missingAnchor) bool { return o.err == nil })
}

// noteMerge reports whether a row records a merge, and adds its anchor to those that are missing.
func (a *Anchors) noteMerge(row journal.Row) bool {
	if !bytes.Contains(row.Entry, []byte(`"commit":"`)) && !bytes.Contains(row.Entry, []byte(signal.PRMerged)) {
		return false
	}
	e, err := journal.Decode(row.Entry)
	if err != nil {
		return false // orange doctor reports it
	}
	commit, ok := journal.MergeOf(&e)
	if !ok {
		return false
	}
	t, known, err := a.Journal.Task(e.Task)
	if err != nil || !known {
		return false
	}
	a.missing = append(a.missing, missingAnchor{project: t.Project,
		Anchor: journal.Anchor{Row: row.ID, Task: e.Task, Seq: e.Seq, At: e.At, Commit: commit}})
	return true
}

// writeMissing tries to write every missing anchor.
func (a *Anchors) writeMissing(ctx context.Context) {
	left := a.missing[:0]
	for _, o := range a.missing {
		p, ok := a.findProject(o.project)
		if !ok {
			a.Log.Warn("a merge is not anchored: its project is no longer registered", "component", "anchors", "project", o.project, "task", o.Task)
			continue
		}
		if o.err = a.writeAnchor(ctx, p, &o.Anchor); o.err != nil {
			if ctx.Err() == nil {
				a.Log.Error("anchor a merge; the server tries again at the next merge and when it starts",
					"component", "anchors", "project", p.Name, "task", o.Task, "commit", o.Commit, "error", o.err)
			}
			left = append(left, o)
		}
	}
	a.missing = left
}

func (a *Anchors) findProject(name string) (task.Project, bool) {
	for _, p := range a.Projects() {
		if p.Name == name {
			return p, true
		}
	}
	return task.Project{}, false
}

func (a *Anchors) writeAnchor(ctx context.Context, p task.Project, to *journal.Anchor) error {
	var err error
	if to.Store, err = a.Journal.ID(); err != nil {
		return err
	}
	link, ok, err := a.Journal.RowLink(to.Row)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("row %d has no link: run orange doctor", to.Row)
	}
	to.Link = link
	a.Fault("anchor.before")
	err = a.Git.AddAnchor(ctx, p.Path, to.Store, to.CommitMessage(), to.At, func(texts []string) bool { return slices.Contains(texts, to.CommitMessage()) })
	if err != nil {
		return err
	}
	a.Fault("anchor.after")
	return a.Journal.SetSetting(anchorLastKey+p.Name, strconv.FormatInt(to.Row, 10))
}

// saveRow saves the row up to which all merges are anchored.
func (a *Anchors) saveRow() error {
	row := a.row
	for _, o := range a.missing {
		row = min(row, o.Row-1)
	}
	if row == a.kept {
		return nil
	}
	err := a.Journal.SetSetting(anchorRowKey, strconv.FormatInt(row, 10))
	if err == nil {
		a.kept = row
	}
	return err
}

// describeAnchored returns how many merges are anchored, and where.
func describeAnchored(merges, repositories int) string {
	are, in := "merges are", "repositories"
	if merges == 1 {
		are = "merge is"
	}
	if repositories == 1 {
		in = "repository"
	}
	return fmt.Sprintf("%d %s anchored in %d %s", merges, are, repositories, in)
}

// Check compares the journal with its anchors in the repositories of all projects.
func (a *Anchors) Check(ctx context.Context) (string, error) {
	if err := a.catchUp(ctx, true); err != nil {
		return "", err
	}
	var wrong []string
	a.mu.Lock()
	for _, o := range a.missing {
		wrong = append(wrong, fmt.Sprintf("project %s: the merge of task %s as %.12s is not anchored: %v", o.project, o.Task, o.Commit, o.err))
	}
	a.mu.Unlock()
	id, err := a.Journal.ID()
	if err != nil {
		return "", err
	}
	agree, lost, in := 0, 0, 0
	for _, p := range a.Projects() {
		found, err := Compare(ctx, a.Journal, a.Git, p, id)
		agree, lost = agree+found.Agree, lost+found.Lost
		if found.Anchors > 0 {
			in++
		}
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("project %s: %v", p.Name, err))
		}
	}
	if len(wrong) > 0 {
		return "", errors.New(strings.Join(wrong, "; "))
	}
	detail := describeAnchored(agree, in) + ", at " + git.AnchorRef(id) + "; the journal agrees with them"
	if lost > 0 {
		detail += fmt.Sprintf(", but for %d of rows that were lost when the store was restored", lost)
	}
	return detail, nil
}

// Compare compares the journal of a store with its anchors in the repository of a project.
func Compare(ctx context.Context, j Journal, g *git.Git, p task.Project, store string) (journal.Anchored, error) {
	list, err := Read(ctx, g, p.Path, store)
	if err != nil {
		return journal.Anchored{}, err
	}
	restores, err := j.RestorePoints()
	if err != nil {
		return journal.Anchored{}, err
	}
	rows, err := j.LastRow()
	if err != nil {
		return journal.Anchored{}, err
	}
	var failed error
	found := journal.CompareAnchors(list, rows, func(row int64) (journal.Link, bool) {
		link, ok, err := j.RowLink(row)
		failed = errors.Join(failed, err)
		return link, ok
	}, restores)
	if err := errors.Join(failed, found.Err(rows)); err != nil {
		return found, err
	}
	return found, requireAnchors(j, p, list, store)
}

// requireAnchors returns an error if a repository has lost anchors.
func requireAnchors(j Journal, p task.Project, list []journal.Anchor, store string) error {
	text, err := j.Setting(anchorLastKey + p.Name)
	if err != nil || text == "" {
		return err
	}
	last, err := strconv.ParseInt(text, 10, 64)
	if err != nil || slices.ContainsFunc(list, func(a journal.Anchor) bool { return a.Row >= last }) {
		return err
	}
	return fmt.Errorf("row %d was anchored, but %s in %s does not have it: fetch the ref from where you published it; the next merge starts a new one",
		last, git.AnchorRef(store), p.Path)
}

// Read reads the anchors of a store in a repository, oldest first.
func Read(ctx context.Context, g *git.Git, root, store string) ([]journal.Anchor, error) {
	texts, err := g.AnchorTexts(ctx, root, store)
	if err != nil {
		return nil, err
	}
	var list []journal.Anchor
	for i, text := range texts {
		a, err := journal.ParseAnchor(text)
		if err == nil && a.Store != store {
			err = fmt.Errorf("the anchor belongs to store %.40q", a.Store)
		}
		if err != nil {
			return nil, fmt.Errorf("commit %d of %s in %s: %w", i+1, git.AnchorRef(store), root, err)
		}
		list = append(list, a)
	}
	return list, nil
}
