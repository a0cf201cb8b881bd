package trackers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
)

// patience bounds one change of an issue: agents may wait behind it.
const patience = time.Minute

// claimFor is how long a claim on an issue lasts. One that is still wanted is taken
// again by its owner; one whose owner is gone does not block the issue for ever.
const claimFor = 2 * time.Hour

// ChangeCard does to a task's issue what an effect asks for. What the tracker refuses cannot
// be done later either: it is left out, with a note; a column that it does not know is a
// mistake that a person must mend.
func (o *Service) ChangeCard(ctx context.Context, t task.Task, e task.Effect) (note string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	name, key, ok := tracker.ParseRef(t.TrackerRef)
	if !ok {
		return "", task.Mistakef("%q is not an issue of a tracker", t.TrackerRef)
	}
	list, err := o.Store.Trackers()
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(list, func(cfg tracker.Config) bool { return cfg.Name == name }) {
		return fmt.Sprintf("there is no tracker %q any more: it is left out", name), nil
	}
	d, err := o.openTracker(name)
	if err != nil {
		return "", err
	}
	c := changeOf(&d.cfg, &t, &e)
	if e.Do == workflow.ClaimCard || e.Do == workflow.ReleaseCard {
		if err := o.updateClaim(&t, &e); err != nil {
			return "", err
		}
	}
	if e.Do == workflow.DescribeCard && e.Arg != "" {
		is, err := d.client.ReadIssue(ctx, key)
		if err == nil && board.Fingerprint(is.Card.Description) != e.Arg && is.Card.Description != e.Text {
			return "the description was changed meanwhile: it is left as it is", nil
		}
	}
	if e.Do == workflow.MoveCard && e.NonBlocking {
		done := false
		if note, done, err = o.applyNewsFirst(ctx, d, t.ID, key, c.Column); done || err != nil {
			return o.resolveUndone(ctx, d, note, err)
		}
	}
	is, err := d.client.Apply(ctx, key, c)
	var no *board.Refusal
	switch {
	case errors.As(err, &no) && e.Do == workflow.MoveCard && e.NonBlocking:
		return "", task.Mistakef("%s: %v; orange tracker add %s --column %q=... names another", t.TrackerRef, err, name, e.Arg)
	case errors.As(err, &no):
		return err.Error(), nil
	case err != nil:
		return o.resolveUndone(ctx, d, note, err)
	}
	o.keepOwn(name, &is, c.Column)
	return note, nil
}

// resolveUndone is how a change ends that was not made. An issue that is gone needs none; but a
// tracker that shows us nothing at all says the same of every issue.
func (o *Service) resolveUndone(ctx context.Context, d *connection, note string, err error) (string, error) {
	if !errors.Is(err, tracker.ErrNotFound) {
		return note, err
	}
	if _, hidden := d.client.ReadVocabulary(ctx); hidden != nil {
		return "", fmt.Errorf("%w, and neither is the tracker: %w", err, hidden)
	}
	return err.Error(), nil
}

// applyNewsFirst lets a task hear that somebody moved its issue before Orange moves it on. It
// is done if the task is by now where the issue is, through that or anything else: a move
// that is owed later sees to it. Otherwise the issue is to follow its task.
func (o *Service) applyNewsFirst(ctx context.Context, d *connection, id task.ID, key, target string) (note string, done bool, err error) {
	is, err := d.client.ReadIssue(ctx, key)
	if err != nil {
		return "", false, err
	}
	have := is.Card.Column
	g, err := o.newIssueUpdate(d, id, &is)
	if err != nil || sameName(have, target) || g.def.Board != nil {
		return "", false, err
	}
	if g.wasMoved() {
		note = "somebody moved it to " + oneLine(have) + " meanwhile"
		o.Log.Info("a move that nobody asked for", "component", "track", "task", id, "issue", key, "column", oneLine(have))
		if err := g.reportMove(ctx); err != nil {
			return "", false, err
		}
		if _, err := o.Store.KeepIssue(d.cfg.Name, is); err != nil { // it is heard
			return "", false, err
		}
	}
	if sameName(o.wantedColumn(&d.cfg, g.t), have) && (note != "" || owesMove(&d.cfg, g.t, have)) {
		return cmp.Or(note, "the task is by now where its issue is"), true, nil
	}
	return note, false, nil
}

// ChangeIssue changes an issue that no task changes.
func (o *Service) ChangeIssue(ctx context.Context, name, key string, c board.Change) (tracker.Issue, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
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

// keepOwn keeps an issue that was just changed, and maybe moved to a column. That somebody
// else moved it meanwhile is for the next look at the tracker to find.
func (o *Service) keepOwn(name string, is *tracker.Issue, to string) {
	have, ok, err := o.Store.KeptIssue(name, is.Key)
	if err == nil && ok && !sameName(to, is.Card.Column) && !sameName(have.Card.Column, is.Card.Column) {
		return
	}
	if err == nil {
		_, err = o.Store.KeepIssue(name, *is)
	}
	if err != nil {
		o.logWarning("keep an issue", "tracker", name, "issue", is.Key, "error", err)
	}
}

// changeOf is what an effect means for an issue.
func changeOf(cfg *tracker.Config, t *task.Task, e *task.Effect) board.Change {
	c := board.Change{Key: e.ID, Author: "orange"}
	if e.Role != "" {
		c.Author = e.Role
	}
	switch e.Do {
	case workflow.TagCard:
		c.AddTags, c.RemoveTags = e.Tags, e.Untags
	case workflow.MoveCard:
		c.Column = cfg.ColumnName(e.Arg)
	case workflow.CommentCard:
		c.Comment = e.Text
		if e.Role != "" {
			c.Comment = "**" + e.Role + "**\n\n" + e.Text
		}
	case workflow.DescribeCard:
		c.Description = &e.Text
	case workflow.ClaimCard:
		if e.Arg != "" {
			c.AddTags = []string{e.Arg}
		}
	case workflow.ReleaseCard:
		if e.Arg != "" {
			c.RemoveTags = []string{e.Arg}
		}
	}
	return c
}

// updateClaim takes or gives back the lease that a claim is. It is between tasks of this data
// folder; that somebody else's tag is on the issue is for the workflow to look at.
func (o *Service) updateClaim(t *task.Task, e *task.Effect) error {
	if e.Do == workflow.ReleaseCard {
		return o.Store.ReleaseLease(t.TrackerRef, string(t.ID))
	}
	now := o.Now()
	ok, err := o.Store.TakeLease(t.TrackerRef, string(t.ID), now.Add(claimFor), now)
	if err == nil && !ok {
		err = errors.New("another task has claimed the issue: it is tried again")
	}
	return err
}

// ReadCard shows a task's issue as it is now.
func (o *Service) ReadCard(ctx context.Context, t task.Task) (*board.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	name, key, _ := tracker.ParseRef(t.TrackerRef)
	d, err := o.openTracker(name)
	if err != nil {
		return nil, err
	}
	is, err := d.client.ReadIssue(ctx, key)
	if err != nil {
		return nil, err
	}
	o.keepOwn(name, &is, is.Card.Column) // whoever moved it, the task sees it now
	face := is.Card.Snapshot()
	return &face, nil
}

// CardForAgents is a task's issue for its agents, as it was last read, with the words of those
// only whose words count.
func (o *Service) CardForAgents(t *task.Task) (board.Card, []board.Comment, bool) {
	name, key, ok := tracker.ParseRef(t.TrackerRef)
	if !ok {
		return board.Card{}, nil, false
	}
	cfg, err := o.Config(name)
	if err != nil {
		return board.Card{}, nil, false
	}
	is, ok, err := o.Store.KeptIssue(name, key)
	if err != nil || !ok {
		return board.Card{}, nil, false
	}
	var said []board.Comment
	for i, c := range is.Comments {
		if isForAgents(&cfg, &c) {
			said = append(said, board.Comment{Number: i + 1, Author: c.Author, At: c.At, Text: c.Text})
		}
	}
	return is.Card, said, true
}
