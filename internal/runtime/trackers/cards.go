package trackers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/prompt"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
	"orange/internal/transport"
)

// changeTimeout bounds one change of an issue, because agents may wait for it.
const changeTimeout = time.Minute

// claimFor is how long a claim on an issue lasts. Its owner renews it while it is needed; a claim whose owner is gone
// does not block the issue forever.
const claimFor = 2 * time.Hour

// ChangeCard performs an effect on a task's issue. A change that the tracker refuses can never be made, so it is left
// out with a note. An unknown column is a mistake that a person must fix.
func (o *Service) ChangeCard(ctx context.Context, t task.Task, e task.Effect) (note string, err error) {
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	name, _, ok := tracker.ParseRef(t.TrackerRef)
	if !ok {
		return "", task.Mistakef("%q is not an issue of a tracker", t.TrackerRef)
	}
	cfg, ok, err := o.configOf(t.TrackerRef)
	if err != nil {
		return "", err
	}
	if !ok {
		return fmt.Sprintf("tracker %q no longer exists: skipped", name), nil
	}
	d, err := o.openConnection(cfg)
	if err != nil {
		return "", err
	}
	note, err = o.changeIssue(ctx, d, &t, &e)
	var locked *transport.LockedOut
	if errors.As(err, &locked) && e.NonBlocking && e.Tries > 0 { // a person checks the secret; the rest follows when it works
		err = task.Mistakef("%v", err)
	}
	return note, err
}

func (o *Service) changeIssue(ctx context.Context, d *connection, t *task.Task, e *task.Effect) (note string, err error) {
	if err := o.declareColumns(d, t); err != nil {
		return "", err
	}
	key, _ := d.cfg.IssueKey(t.TrackerRef)
	c := changeOf(d, e)
	if e.Do == workflow.ClaimCard || e.Do == workflow.ReleaseCard {
		if err := o.updateClaim(d, t, e, &c); err != nil {
			return "", err
		}
	}
	is, err := d.client.ReadIssue(ctx, key)
	if err != nil {
		return o.resolveUndone(ctx, d, "", err)
	}
	if e.Do == workflow.DescribeCard {
		if e.Arg != "" && board.Fingerprint(is.Card.Description) != e.Arg && is.Card.Description != e.Text {
			return "somebody changed the description meanwhile: it stays", nil
		}
		was := is.Card.Description
		c.Was = &was
	}
	if e.Do == workflow.MoveCard && e.NonBlocking {
		done := false
		if note, done, err = o.applyChangesFirst(ctx, d, t.ID, &is, c.Column); done || err != nil {
			return o.resolveUndone(ctx, d, note, err)
		}
	}
	is, err = d.client.ChangeRead(ctx, is, c)
	var no *board.Refusal
	switch {
	case errors.As(err, &no) && e.Do == workflow.MoveCard && e.NonBlocking:
		return "", task.Mistakef("%s: %v; orange tracker add %s --column %q=... names another", t.TrackerRef, err, d.cfg.Name, e.Arg)
	case errors.As(err, &no) && c.Claim == nil: // the claim of another task ends, so try again
		return err.Error(), nil
	case err != nil:
		return o.resolveUndone(ctx, d, note, err)
	}
	o.keepOwn(d.cfg.Name, &is, c.Column)
	return note, nil
}

// declareColumns adds the columns and tags of a task's workflow to the local board, even if the workflow's file has
// changed.
func (o *Service) declareColumns(d *connection, t *task.Task) error {
	local, ok := d.backend.(LocalBoard)
	if !ok {
		return nil
	}
	def, err := o.Tasks.Definition(t)
	if err != nil {
		return err
	}
	v := board.Vocabulary{Columns: columnsOf(&d.cfg, def)}
	if def.Board != nil {
		v = def.Board.Vocabulary()
	}
	if len(v.Columns) == 0 {
		return nil
	}
	return local.LearnVocabulary(v)
}

// resolveUndone returns how a change ends that was not made. A missing issue needs no change, but a tracker that shows
// no issue at all reports every issue as missing.
func (o *Service) resolveUndone(ctx context.Context, d *connection, note string, err error) (string, error) {
	if !errors.Is(err, tracker.ErrNotFound) {
		return note, err
	}
	if _, hidden := d.client.ReadVocabulary(ctx); hidden != nil {
		return "", fmt.Errorf("%w, and neither is the tracker: %w", err, hidden)
	}
	return err.Error(), nil
}

// applyChangesFirst submits a move of the issue that somebody made before Orange moves it on. Done reports whether the
// task is now in the state of the issue's column, for whatever reason; a later pending move then updates the issue.
// Otherwise the issue must follow its task.
func (o *Service) applyChangesFirst(ctx context.Context, d *connection, id task.ID, is *tracker.Issue, target string) (note string, done bool, err error) {
	have := is.Card.Column
	g, err := o.newIssueUpdate(d, id, is)
	if err != nil || sameName(have, target) || g.def.Board != nil {
		return "", false, err
	}
	if g.wasMoved() {
		note = "somebody moved it to " + oneLine(have) + " meanwhile"
		o.Log.Info("somebody moved an issue in the tracker", "component", "trackers", "task", id, "issue", is.Key, "column", oneLine(have))
		if err := g.reportMove(ctx); err != nil {
			return "", false, err
		}
		if _, err := o.Store.KeepIssue(d.cfg.Name, *is); err != nil { // the move was submitted
			return "", false, err
		}
	}
	if sameName(o.wantedColumn(&d.cfg, g.t), have) && (note != "" || hasPendingMove(&d.cfg, g.t, have)) {
		return cmp.Or(note, "the task is already in the state of its issue"), true, nil
	}
	return note, false, nil
}

// ChangeIssue changes an issue on behalf of a person.
func (o *Service) ChangeIssue(ctx context.Context, name, key string, c board.Change) (tracker.Issue, error) {
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	d, err := o.openTracker(name)
	if err != nil {
		return tracker.Issue{}, err
	}
	is, err := d.client.Apply(ctx, key, c)
	if err == nil {
		o.keepOwn(name, &is, c.Column)
	}
	return is, err
}

// keepOwn stores an issue that was just changed, and possibly moved to a column. The next poll of the tracker finds a
// move that somebody else made meanwhile.
func (o *Service) keepOwn(name string, is *tracker.Issue, to string) {
	if name == tracker.Board { // it is not polled as a tracker
		return
	}
	var err error
	if !sameName(to, is.Card.Column) {
		have, ok, wrong := o.Store.KeptIssue(name, is.Key)
		if wrong == nil && ok && !sameName(have.Card.Column, is.Card.Column) {
			return
		}
		err = wrong
	}
	if err == nil {
		_, err = o.Store.KeepIssue(name, *is)
	}
	if err != nil {
		o.logWarning("store an issue", "tracker", name, "issue", is.Key, "error", err)
	}
}

// changeOf returns the change of an issue that an effect means, except for claims.
func changeOf(d *connection, e *task.Effect) board.Change {
	c := board.Change{Key: e.ID, Author: "orange"}
	if e.Role != "" {
		c.Author = e.Role
	}
	switch e.Do {
	case workflow.TagCard:
		c.AddTags, c.RemoveTags = e.Tags, e.Untags
	case workflow.MoveCard:
		c.Column = d.cfg.ColumnName(e.Arg)
	case workflow.CommentCard:
		c.Comment = e.Text
		if e.Role != "" && !d.client.isLocal() {
			c.Comment = "**" + e.Role + "**\n\n" + e.Text
		}
	case workflow.DescribeCard:
		c.Description = &e.Text
	}
	return c
}

// updateClaim takes or releases a claim. The local board stores it with the card. Elsewhere it is a lease between tasks
// of this data folder and a tag; the workflow must check for tags that somebody else set.
func (o *Service) updateClaim(d *connection, t *task.Task, e *task.Effect, c *board.Change) error {
	owner, now, release := string(t.ID), o.Now(), e.Do == workflow.ReleaseCard
	if d.client.isLocal() {
		if release {
			c.Release = owner
		} else {
			c.Claim = &board.Claim{Owner: owner, Tag: e.Arg, Until: now.Add(claimFor)}
		}
		return nil
	}
	var tags []string
	if e.Arg != "" {
		tags = []string{e.Arg}
	}
	if release {
		c.RemoveTags = tags
		return o.Store.ReleaseLease(t.TrackerRef, owner)
	}
	c.AddTags = tags
	ok, err := o.Store.TakeLease(t.TrackerRef, owner, now.Add(claimFor), now)
	if err == nil && !ok {
		err = errors.New("another task has claimed the issue: trying again")
	}
	return err
}

// ReadCard returns the present issue of a task.
func (o *Service) ReadCard(ctx context.Context, t task.Task) (*board.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	cfg, ok, err := o.configOf(t.TrackerRef)
	if err == nil && !ok {
		err = task.Mistakef("%q is an issue of no tracker: see orange tracker list", t.TrackerRef)
	}
	if err != nil {
		return nil, err
	}
	d, err := o.openConnection(cfg)
	if err != nil {
		return nil, err
	}
	key, _ := cfg.IssueKey(t.TrackerRef)
	is, err := d.client.ReadIssue(ctx, key)
	if err != nil {
		return nil, err
	}
	o.keepOwn(cfg.Name, &is, is.Card.Column) // the task receives this state, no matter who moved the issue
	snapshot := is.Card.Snapshot()
	return &snapshot, nil
}

// CardForAgents returns a task's issue for its agents, as it was last read, with the comments of trusted authors only.
// It returns nil if the task has no issue.
func (o *Service) CardForAgents(t *task.Task) *prompt.Card {
	cfg, ok, err := o.configOf(t.TrackerRef)
	if err != nil || !ok {
		return nil
	}
	key, _ := cfg.IssueKey(t.TrackerRef)
	is, ok, err := o.keptIssue(&cfg, key)
	if err != nil || !ok {
		return nil
	}
	out := &prompt.Card{Card: is.Card}
	for i, c := range is.Comments {
		if cfg.Kind == tracker.Board || isForAgents(&cfg, &c) {
			out.Comments = append(out.Comments, board.Comment{Number: i + 1, Author: c.Author, At: c.At, Text: c.Text})
		}
	}
	return out
}
