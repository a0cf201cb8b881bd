package linear

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

var (
	keyForm  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,15}-[0-9]{1,9}$`)
	uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
)

// Issue reads an issue of the team, by its key or its id, with all of its comments,
// links and pull requests.
func (t *Tracker) Issue(ctx context.Context, key string) (tracker.Issue, error) {
	if !keyForm.MatchString(key) && !uuidForm.MatchString(key) {
		return tracker.Issue{}, fmt.Errorf("issue %q is not written as in TEAM-12: %w", cut(line(key), 40), tracker.ErrNotFound)
	}
	var got issueAnswer
	if err := t.ask(ctx, issueQuery, issueVars{ID: key}, &got); err != nil {
		return tracker.Issue{}, ofIssue(err, key)
	}
	w := &got.Issue
	switch {
	case w.Trashed:
		return tracker.Issue{}, fmt.Errorf("issue %s is in the trash: %w", key, tracker.ErrNotFound)
	case t.team != "" && !strings.EqualFold(w.Team.Key, t.team):
		return tracker.Issue{}, fmt.Errorf("issue %s is %s of another team now: %w", key, line(w.Identifier), tracker.ErrNotFound)
	}
	if err := t.complete(ctx, w); err != nil {
		return tracker.Issue{}, ofIssue(err, key)
	}
	return t.whole(w), nil
}

// complete reads what did not fit on the first pages.
func (t *Tracker) complete(ctx context.Context, w *whole) (err error) {
	more := func(after string) moreVars { return moreVars{ID: w.ID, After: after} }
	if err := t.moreLabels(ctx, &w.brief); err != nil {
		return err
	}
	w.Comments.Nodes, err = rest(w.Comments, func(after string) (page[comment], error) {
		var got moreCommentsAnswer
		err := t.ask(ctx, moreCommentsQuery, more(after), &got)
		return got.Issue.Comments, err
	})
	if err != nil {
		return err
	}
	w.Children.Nodes, err = rest(w.Children, func(after string) (page[other], error) {
		var got moreChildrenAnswer
		err := t.ask(ctx, moreChildrenQuery, more(after), &got)
		return got.Issue.Children, err
	})
	if err != nil {
		return err
	}
	w.InverseRelations.Nodes, err = rest(w.InverseRelations, func(after string) (page[relation], error) {
		var got moreBlockersAnswer
		err := t.ask(ctx, moreBlockersQuery, more(after), &got)
		return got.Issue.InverseRelations, err
	})
	if err != nil {
		return err
	}
	w.Attachments.Nodes, err = rest(w.Attachments, func(after string) (page[attachment], error) {
		var got moreAttachmentsAnswer
		err := t.ask(ctx, moreAttachmentsQuery, more(after), &got)
		return got.Issue.Attachments, err
	})
	return err
}

func (t *Tracker) moreLabels(ctx context.Context, b *brief) (err error) {
	b.Labels.Nodes, err = rest(b.Labels, func(after string) (page[named], error) {
		var got moreLabelsAnswer
		err := t.ask(ctx, moreLabelsQuery, moreVars{ID: b.ID, After: after}, &got)
		return got.Issue.Labels, err
	})
	return err
}

func (t *Tracker) whole(w *whole) tracker.Issue {
	is := t.brief(&w.brief)
	is.Brief = false
	for _, child := range w.Children.Nodes {
		is.Children = append(is.Children, child.link())
	}
	for _, r := range w.InverseRelations.Nodes {
		if r.Type == "blocks" {
			is.BlockedBy = append(is.BlockedBy, r.Issue.link())
		}
	}
	slices.SortStableFunc(w.Comments.Nodes, func(a, b comment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	for _, c := range w.Comments.Nodes {
		is.Comments = append(is.Comments, c.comment(w.ID))
	}
	slices.SortStableFunc(w.Attachments.Nodes, func(a, b attachment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	is.PRs = pullRequests(w.Attachments.Nodes)
	return is
}

func (t *Tracker) brief(b *brief) tracker.Issue {
	is := tracker.Issue{
		Key: line(b.Identifier), ID: b.ID, URL: line(b.URL), Brief: true,
		Card: board.Card{
			Title: line(b.Title), Author: b.author(), Description: t.asWritten(b.ID, bound(b.Description)),
			Column: line(b.State.Name), Tags: []string{}, CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt,
		},
	}
	for _, l := range b.Labels.Nodes {
		is.Card.Tags = append(is.Card.Tags, line(l.Name))
	}
	if p := tracker.Priority(b.Priority); p >= tracker.Urgent && p <= tracker.Low {
		is.Priority = p
	}
	if b.Assignee != nil {
		is.Assignee = line(b.Assignee.DisplayName)
	}
	if b.Parent != nil {
		is.Parent = line(b.Parent.Identifier)
	}
	t.seen(is.ID, is.Key)
	return is
}

func (b *brief) author() string {
	name, _ := author(b.Creator, b.BotActor, b.ExternalUserCreator)
	return name
}

// author names who said something, and whether that was a program. Only an account of
// the workspace goes by its bare name: apps and people from outside choose theirs
// freely, and could choose one that is trusted.
func author(user *account, bot *named, outside *stranger) (name string, isBot bool) {
	switch {
	case user != nil && bot == nil && outside == nil:
		return tracker.AuthorName(user.DisplayName), user.App
	case outside != nil:
		return line(outside.DisplayName) + " (external)", true
	case bot != nil && bot.Name != "":
		return line(bot.Name) + " (app)", true
	case user != nil:
		return line(user.DisplayName) + " (app)", true
	}
	return "unknown (app)", true
}

func (c *comment) comment(issue string) tracker.Comment {
	name, bot := author(c.User, c.BotActor, c.ExternalUser)
	return tracker.Comment{ID: c.ID, Author: name, Bot: bot, At: c.CreatedAt, Text: marked(issue, c.ID, bound(c.Body))}
}

// link is what another issue shows. One that the token may not see is taken for one
// that is not done.
func (o *other) link() tracker.Link {
	if o == nil {
		return tracker.Link{Key: "an issue that is hidden"}
	}
	closed := o.State.Type == "completed" || o.State.Type == "canceled" || o.State.Type == "duplicate"
	return tracker.Link{Key: line(o.Identifier), Column: line(o.State.Name), Closed: closed}
}
