package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"orange/internal/adapter/git"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/server/gittrust"
	"orange/internal/ui/cli"
)

// anchors writes the link of each row that records a merge into the repository that was merged
// in. It follows the journal, so that it does not matter whether a merge was made here or by a
// forge, nor when the server was killed.
type anchors struct {
	s     *Server
	fault func(point string)

	mu   sync.Mutex // held by whoever follows the journal
	row  int64      // up to which the journal was followed
	kept int64      // that the store remembers
	owed []owedAnchor
}

// owedAnchor is an anchor that is not in its repository yet.
type owedAnchor struct {
	journal.Anchor
	project string
	err     error // why not, nil before the first try
}

const (
	anchorRowKey  = "anchor.row"   // setting: row up to which all merges are anchored
	anchorLastKey = "anchor.last/" // setting of a project: row of its last anchor
	anchorBatch   = 256            // rows that are read at a time
	anchorKeep    = 4096           // rows without a merge after which the place in the journal is kept
)

// newAnchors builds what anchors merges, nil where nothing is done in repositories.
func (s *Server) newAnchors() *anchors {
	if s.cfg.Record {
		return nil
	}
	a := &anchors{s: s, fault: s.fault}
	if a.fault == nil {
		a.fault = func(string) {}
	}
	if err := a.loadFirstRow(); err != nil {
		s.log.Error("find the merges that are to be anchored", "component", "anchors", "error", err)
		return nil
	}
	return a
}

// followMerges anchors merges until ctx ends.
func (a *anchors) followMerges(ctx context.Context) {
	for ctx.Err() == nil {
		_, more, err := a.s.runtime.FollowJournal(a.currentRow(), "", 0) // before looking: what comes meanwhile is not missed
		if err == nil {
			err = a.catchUp(ctx, false)
		}
		if err != nil && ctx.Err() == nil {
			a.s.log.Error("follow the journal", "component", "anchors", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-more:
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.saveRow(); err != nil {
		a.s.log.Warn("keep which merges are anchored", "component", "anchors", "error", err)
	}
}

// loadFirstRow finds the place in the journal. Before the first server that anchors, no merge was
// recorded.
func (a *anchors) loadFirstRow() error {
	text, err := a.s.store.Setting(anchorRowKey)
	if err != nil {
		return err
	}
	if text != "" {
		a.row, err = strconv.ParseInt(text, 10, 64)
		a.kept = a.row
		return err
	}
	if a.row, err = a.s.store.LastRow(); err != nil {
		return err
	}
	a.kept = -1
	return a.saveRow()
}

func (a *anchors) currentRow() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.row
}

// catchUp follows the journal to its end and writes the anchors that are owed: if there is a
// new one, or if all are wanted, also those that failed before.
func (a *anchors) catchUp(ctx context.Context, all bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	found := 0
	for {
		rows, err := a.s.store.Rows(a.row, "", anchorBatch)
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
		a.writeOwed(ctx)
		return a.saveRow()
	}
	if a.row-a.kept >= anchorKeep {
		return a.saveRow()
	}
	return nil
}

func (a *anchors) hasUntried() bool {
	return slices.ContainsFunc(a.owed, func(o owedAnchor) bool { return o.err == nil })
}

// noteMerge finds out whether a row records a merge.
func (a *anchors) noteMerge(row journal.Row) bool {
	if !bytes.Contains(row.Entry, []byte(`"commit":"`)) && !bytes.Contains(row.Entry, []byte(signal.PRMerged)) {
		return false
	}
	e, err := journal.Decode(row.Entry)
	if err != nil {
		return false // the checks name it
	}
	commit, ok := journal.MergeOf(&e)
	if !ok {
		return false
	}
	t, known, err := a.s.store.Task(e.Task)
	if err != nil || !known {
		return false
	}
	a.owed = append(a.owed, owedAnchor{project: t.Project,
		Anchor: journal.Anchor{Row: row.ID, Task: e.Task, Seq: e.Seq, At: e.At, Commit: commit}})
	return true
}

// writeOwed tries to write every anchor that is owed.
func (a *anchors) writeOwed(ctx context.Context) {
	left := a.owed[:0]
	for _, o := range a.owed {
		p, ok := a.s.runtime.Project(o.project)
		if !ok {
			a.s.log.Warn("a merge is not anchored: its project is not registered any more", "component", "anchors", "project", o.project, "task", o.Task)
			continue
		}
		if o.err = a.writeAnchor(ctx, p, &o.Anchor); o.err != nil {
			if ctx.Err() == nil {
				a.s.log.Error("anchor a merge; it is tried again at the next one and when the server starts",
					"component", "anchors", "project", p.Name, "task", o.Task, "commit", o.Commit, "error", o.err)
			}
			left = append(left, o)
		}
	}
	a.owed = left
}

func (a *anchors) writeAnchor(ctx context.Context, p task.Project, to *journal.Anchor) error {
	var err error
	if to.Store, err = a.s.store.ID(); err != nil {
		return err
	}
	link, ok, err := a.s.store.RowLink(to.Row)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("row %d has no link: run orange doctor", to.Row)
	}
	to.Link = link
	a.fault("anchor.before")
	err = a.s.git.AddAnchor(ctx, p.Path, to.Store, to.CommitMessage(), to.At, func(texts []string) bool { return slices.Contains(texts, to.CommitMessage()) })
	if err != nil {
		return err
	}
	a.fault("anchor.after")
	return a.s.store.SetSetting(anchorLastKey+p.Name, strconv.FormatInt(to.Row, 10))
}

// saveRow remembers up to which row all merges are anchored.
func (a *anchors) saveRow() error {
	row := a.row
	for _, o := range a.owed {
		row = min(row, o.Row-1)
	}
	if row == a.kept {
		return nil
	}
	err := a.s.store.SetSetting(anchorRowKey, strconv.FormatInt(row, 10))
	if err == nil {
		a.kept = row
	}
	return err
}

// describeAnchored says how many merges are anchored, and where.
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

// checkAnchors compares the journal with its anchors in the repositories of all projects.
func (s *Server) checkAnchors(ctx context.Context) (string, error) {
	if s.anchors == nil {
		return "merges are only recorded, and none is anchored", nil
	}
	if err := s.anchors.catchUp(ctx, true); err != nil {
		return "", err
	}
	var wrong []string
	s.anchors.mu.Lock()
	for _, o := range s.anchors.owed {
		wrong = append(wrong, fmt.Sprintf("project %s: the merge of task %s as %.12s is not anchored: %v", o.project, o.Task, o.Commit, o.err))
	}
	s.anchors.mu.Unlock()
	id, err := s.store.ID()
	if err != nil {
		return "", err
	}
	agree, lost, in := 0, 0, 0
	for _, p := range s.runtime.Projects() {
		found, err := s.compareAnchors(ctx, p, id)
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

// compareAnchors compares the journal with its anchors in the repository of a project.
func (s *Server) compareAnchors(ctx context.Context, p task.Project, store string) (journal.Anchored, error) {
	list, err := readAnchors(ctx, s.git, p.Path, store)
	if err != nil {
		return journal.Anchored{}, err
	}
	restores, err := s.store.RestorePoints()
	if err != nil {
		return journal.Anchored{}, err
	}
	rows, err := s.store.LastRow()
	if err != nil {
		return journal.Anchored{}, err
	}
	var failed error
	found := journal.CompareAnchors(list, rows, func(row int64) (journal.Link, bool) {
		link, ok, err := s.store.RowLink(row)
		failed = errors.Join(failed, err)
		return link, ok
	}, restores)
	if err := errors.Join(failed, found.Err(rows)); err != nil {
		return found, err
	}
	return found, s.anchorsMissing(p, list, store)
}

// anchorsMissing says that a repository has lost anchors.
func (s *Server) anchorsMissing(p task.Project, list []journal.Anchor, store string) error {
	text, err := s.store.Setting(anchorLastKey + p.Name)
	if err != nil || text == "" {
		return err
	}
	last, err := strconv.ParseInt(text, 10, 64)
	if err != nil || slices.ContainsFunc(list, func(a journal.Anchor) bool { return a.Row >= last }) {
		return err
	}
	return fmt.Errorf("row %d was anchored, and %s in %s does not have it: fetch the ref from where you published it; the next merge begins it again",
		last, git.AnchorRef(store), p.Path)
}

// readAnchors reads the anchors of a store in a repository, oldest first.
func readAnchors(ctx context.Context, g *git.Git, root, store string) ([]journal.Anchor, error) {
	texts, err := g.AnchorTexts(ctx, root, store)
	if err != nil {
		return nil, err
	}
	var list []journal.Anchor
	for i, text := range texts {
		a, err := journal.ParseAnchor(text)
		if err == nil && a.Store != store {
			err = fmt.Errorf("it is of store %.40q", a.Store)
		}
		if err != nil {
			return nil, fmt.Errorf("commit %d of %s in %s: %w", i+1, git.AnchorRef(store), root, err)
		}
		list = append(list, a)
	}
	return list, nil
}

// NewRepository looks into git repositories for orange audit.
func NewRepository() cli.Repository { return repository{git.New().WithEnviron(gittrust.GitEnv)} }

type repository struct{ *git.Git }

// ReadAnchors implements cli.Repository.
func (r repository) ReadAnchors(ctx context.Context, root, store string) ([]journal.Anchor, error) {
	return readAnchors(ctx, r.Git, root, store)
}
