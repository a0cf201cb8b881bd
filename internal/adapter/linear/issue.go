package linear

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/lazy"
)

var (
	keyForm  = lazy.NewRegexp(`^[A-Za-z][A-Za-z0-9]{0,15}-[0-9]{1,9}$`)
	uuidForm = lazy.NewRegexp(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
)

// ReadIssue reads an issue of the team, by its key or its id, with all its comments, links and
// pull requests.
func (t *Tracker) ReadIssue(ctx context.Context, key string) (tracker.Issue, error) {
	if !keyForm.MatchString(key) && !uuidForm.MatchString(key) {
		return tracker.Issue{}, fmt.Errorf("issue %q is not written as in TEAM-12: %w", cutLine(oneLine(key), 40), tracker.ErrNotFound)
	}
	var got issueAnswer
	if err := t.sendQuery(ctx, issueQuery, issueVars{ID: key}, &got); err != nil {
		return tracker.Issue{}, ofIssue(err, key)
	}
	return t.completeIssue(ctx, key, &got.Issue)
}

// completeIssue reads the lists of an issue that did not fit, and converts it.
func (t *Tracker) completeIssue(ctx context.Context, key string, w *whole) (tracker.Issue, error) {
	switch {
	case w.Trashed:
		return tracker.Issue{}, fmt.Errorf("issue %s is in the trash: %w", key, tracker.ErrNotFound)
	case t.team != "" && !strings.EqualFold(w.Team.Key, t.team):
		return tracker.Issue{}, fmt.Errorf("issue %s is %s of another team now: %w", key, oneLine(w.Identifier), tracker.ErrNotFound)
	}
	if err := t.readRemainingPages(ctx, w); err != nil {
		return tracker.Issue{}, ofIssue(err, key)
	}
	return t.convertWhole(w), nil
}

// readRemainingPages reads what did not fit on the first pages.
func (t *Tracker) readRemainingPages(ctx context.Context, w *whole) (err error) {
	more := func(after string) moreVars { return moreVars{ID: w.ID, After: after} }
	if err := t.moreLabels(ctx, &w.brief); err != nil {
		return err
	}
	w.Comments.Nodes, err = readFollowingPages(w.Comments, func(after string) (issuePage[comment], error) {
		var got moreCommentsAnswer
		err := t.sendQuery(ctx, moreCommentsQuery, more(after), &got)
		return got.Issue.Comments, err
	})
	if err != nil {
		return err
	}
	w.Children.Nodes, err = readFollowingPages(w.Children, func(after string) (issuePage[other], error) {
		var got moreChildrenAnswer
		err := t.sendQuery(ctx, moreChildrenQuery, more(after), &got)
		return got.Issue.Children, err
	})
	if err != nil {
		return err
	}
	w.InverseRelations.Nodes, err = readFollowingPages(w.InverseRelations, func(after string) (issuePage[relation], error) {
		var got moreBlockersAnswer
		err := t.sendQuery(ctx, moreBlockersQuery, more(after), &got)
		return got.Issue.InverseRelations, err
	})
	if err != nil {
		return err
	}
	w.Attachments.Nodes, err = readFollowingPages(w.Attachments, func(after string) (issuePage[attachment], error) {
		var got moreAttachmentsAnswer
		err := t.sendQuery(ctx, moreAttachmentsQuery, more(after), &got)
		return got.Issue.Attachments, err
	})
	return err
}

func (t *Tracker) moreLabels(ctx context.Context, b *brief) (err error) {
	b.Labels.Nodes, err = readFollowingPages(b.Labels, func(after string) (issuePage[named], error) {
		var got moreLabelsAnswer
		err := t.sendQuery(ctx, moreLabelsQuery, moreVars{ID: b.ID, After: after}, &got)
		return got.Issue.Labels, err
	})
	return err
}

func (t *Tracker) convertWhole(w *whole) tracker.Issue {
	is := t.convertBrief(&w.brief)
	is.Brief = false
	for _, child := range w.Children.Nodes {
		is.Children = append(is.Children, child.convertLink())
	}
	for _, r := range w.InverseRelations.Nodes {
		if r.Type == "blocks" {
			is.BlockedBy = append(is.BlockedBy, r.Issue.convertLink())
		}
	}
	slices.SortStableFunc(w.Comments.Nodes, func(a, b comment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	for _, c := range w.Comments.Nodes {
		is.Comments = append(is.Comments, c.convertComment(w.ID))
	}
	slices.SortStableFunc(w.Attachments.Nodes, func(a, b attachment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	is.PRs = pullRequests(w.Attachments.Nodes)
	return is
}

func (t *Tracker) convertBrief(b *brief) tracker.Issue {
	is := tracker.Issue{
		Key: oneLine(b.Identifier), ID: b.ID, URL: oneLine(b.URL), Brief: true,
		Card: board.Card{
			Title: oneLine(b.Title), Author: b.authorName(), Description: t.asWritten(b.ID, boundText(b.Description)),
			Column: oneLine(b.State.Name), Tags: []string{}, CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt,
		},
	}
	for _, l := range b.Labels.Nodes {
		is.Card.Tags = append(is.Card.Tags, oneLine(l.Name))
	}
	if p := tracker.Priority(b.Priority); p >= tracker.Urgent && p <= tracker.Low {
		is.Priority = p
	}
	if b.Assignee != nil {
		is.Assignee = oneLine(b.Assignee.DisplayName)
	}
	if b.Parent != nil {
		is.Parent = oneLine(b.Parent.Identifier)
	}
	t.rememberKey(is.ID, is.Key)
	return is
}

func (b *brief) authorName() string {
	name, _ := nameAuthor(b.Creator, b.BotActor, b.ExternalUserCreator)
	return name
}

// nameAuthor returns the name of an author, and reports whether it is a program. Only accounts
// of the workspace get their bare name: apps and people from outside choose their names freely,
// and could choose a trusted one.
func nameAuthor(user *account, bot *named, outside *externalUser) (name string, isBot bool) {
	switch {
	case user != nil && bot == nil && outside == nil:
		return tracker.AuthorName(user.DisplayName), user.App
	case outside != nil:
		return oneLine(outside.DisplayName) + " (external)", true
	case bot != nil && bot.Name != "":
		return oneLine(bot.Name) + " (app)", true
	case user != nil:
		return oneLine(user.DisplayName) + " (app)", true
	}
	return "unknown (app)", true
}

func (c *comment) convertComment(issue string) tracker.Comment {
	name, bot := nameAuthor(c.User, c.BotActor, c.ExternalUser)
	return tracker.Comment{ID: c.ID, Author: name, Bot: bot, At: c.CreatedAt, Text: withMark(issue, c.ID, boundText(c.Body))}
}

// convertLink returns the link to another issue. An issue that the token may not see counts as
// not done.
func (o *other) convertLink() tracker.Link {
	if o == nil {
		return tracker.Link{Key: "a hidden issue"}
	}
	closed := o.State.Type == "completed" || o.State.Type == "canceled" || o.State.Type == "duplicate"
	return tracker.Link{Key: oneLine(o.Identifier), Column: oneLine(o.State.Name), Closed: closed}
}
