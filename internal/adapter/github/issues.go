package github

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	gh "github.com/google/go-github/v92/github"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

// List returns the issues of a query, oldest first, without comments, links and pull
// requests. GitHub's times are whole seconds, so that those which changed in the very
// second of q.Since are among them.
func (t *Tracker) List(ctx context.Context, q tracker.Query) ([]tracker.Issue, error) {
	w, err := t.known(ctx)
	if err != nil {
		return nil, err
	}
	found := map[int]tracker.Issue{}
	for _, search := range w.searches(q.Columns) {
		issues, err := t.search(ctx, search, q.Since)
		if err != nil {
			return nil, err
		}
		for _, is := range issues {
			if one := t.brief(is, w); len(q.Columns) == 0 || fold(q.Columns, one.Card.Column) {
				found[is.GetNumber()] = one
			}
		}
	}
	out := make([]tracker.Issue, 0, len(found))
	for _, is := range found {
		out = append(out, is)
	}
	slices.SortFunc(out, func(a, b tracker.Issue) int { return cmp.Compare(a.Card.Number, b.Card.Number) })
	if q.Limit > 0 && len(out) > q.Limit {
		out = out[:q.Limit]
	}
	return out, nil
}

// A search is one list that GitHub makes.
type search struct {
	state string
	label string
}

// searches are the lists in which the issues of some columns are: one for each label, and
// that of all open or closed ones if issues without a label may be meant.
func (w *words) searches(columns []string) []search {
	if len(columns) == 0 {
		return []search{{state: "all"}}
	}
	var out []search
	for _, column := range columns {
		for _, known := range w.columns {
			label := w.labels[known]
			switch {
			case !strings.EqualFold(known, column):
			case strings.Contains(label, ","): // GitHub would take it for two
				return []search{{state: "all"}}
			default:
				out = append(out, search{state: "all", label: label})
			}
		}
		if strings.EqualFold(column, w.first()) {
			out = append(out, search{state: "open"})
		}
		if strings.EqualFold(column, w.closedColumn(completed)) || strings.EqualFold(column, w.closedColumn(notPlanned)) {
			out = append(out, search{state: "closed"})
		}
	}
	slices.SortFunc(out, func(a, b search) int { return cmp.Or(cmp.Compare(a.state, b.state), cmp.Compare(a.label, b.label)) })
	return slices.Compact(out)
}

// search lists issues. A pull request is an issue to GitHub, and is left out.
func (t *Tracker) search(ctx context.Context, s search, since time.Time) ([]*gh.Issue, error) {
	opts := gh.IssueListByRepoOptions{State: s.state, Sort: "created", Direction: "asc"}
	if s.label != "" {
		opts.Labels = []string{s.label}
	}
	if !since.IsZero() {
		opts.Since = since.UTC().Truncate(time.Second)
	}
	issues, err := every(ctx, t.client, "list the issues", func(at place) ([]*gh.Issue, *gh.Response, error) {
		opts.ListOptions, opts.After = at.ListOptions, at.after
		return t.api.Issues.ListByRepo(ctx, t.owner, t.repo, &opts)
	})
	return slices.DeleteFunc(issues, func(is *gh.Issue) bool { return is.IsPullRequest() }), err
}

// Issue reads one issue whole.
func (t *Tracker) Issue(ctx context.Context, key string) (tracker.Issue, error) {
	w, err := t.known(ctx)
	if err != nil {
		return tracker.Issue{}, err
	}
	is, err := t.raw(ctx, key)
	if err != nil {
		return tracker.Issue{}, err
	}
	out := t.brief(is, w)
	out.Brief = false
	if err := t.links(ctx, is, w, &out); err != nil {
		return tracker.Issue{}, err
	}
	if out.PRs, err = t.linked(ctx, is.GetNumber()); err != nil {
		return tracker.Issue{}, err
	}
	out.Comments, err = t.comments(ctx, is)
	return out, err
}

// raw is an issue as GitHub shows it. One that was moved to another repository is not
// here any more.
func (t *Tracker) raw(ctx context.Context, key string) (*gh.Issue, error) {
	number, err := numberOf(key)
	if err != nil {
		return nil, err
	}
	var is *gh.Issue
	doing := "read issue " + key
	err = t.call(ctx, doing, func() (resp *gh.Response, err error) {
		is, resp, err = t.api.Issues.Get(ctx, t.owner, t.repo, number)
		return resp, err
	})
	if err != nil {
		return nil, notFound(err, doing)
	}
	if is == nil || is.IsPullRequest() || is.GetNumber() != number || !t.here(is.GetRepositoryURL()) {
		return nil, fmt.Errorf("%s: %w", doing, tracker.ErrNotFound)
	}
	return is, nil
}

// here says whether the address of a repository is that of this one, or none.
func (c *client) here(address string) bool {
	owner, repo, ok := ownerRepo(address)
	return !ok || strings.EqualFold(owner, c.owner) && strings.EqualFold(repo, c.repo)
}

// ownerRepo finds the repository in an address of the API.
func ownerRepo(address string) (owner, repo string, ok bool) {
	_, rest, ok := strings.Cut(address, "/repos/")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) < 2 {
		return "", "", false
	}
	return parts[0], parts[1], true
}

func numberOf(key string) (int, error) {
	digits := strings.TrimPrefix(key, "#")
	number, err := strconv.Atoi(digits)
	if err != nil || number < 1 || digits != strconv.Itoa(number) {
		return 0, fmt.Errorf("issue %q, whose key is no number: %w", short(key), tracker.ErrNotFound)
	}
	return number, nil
}

// brief is an issue as a list shows it.
func (t *Tracker) brief(is *gh.Issue, w *words) tracker.Issue {
	out := tracker.Issue{
		Key: strconv.Itoa(is.GetNumber()),
		URL: line(is.GetHTMLURL(), maxLine),
		Card: board.Card{
			Number: is.GetNumber(), Title: line(is.GetTitle(), maxLine), Author: login(is.User), Description: text(is.GetBody()),
			Column: w.column(is), Tags: []string{}, CreatedAt: is.GetCreatedAt().UTC(), UpdatedAt: is.GetUpdatedAt().UTC(),
		},
		Brief: true, ReadAt: t.now(),
	}
	for _, l := range is.Labels {
		name := l.GetName()
		_, column := columnOf(name)
		switch p := priorityOf(name); {
		case column:
		case p != 0 && (out.Priority == 0 || p < out.Priority):
			out.Priority = p
		case p == 0 && name != "":
			out.Card.Tags = append(out.Card.Tags, line(name, maxLine))
		}
	}
	if len(is.Assignees) > 0 {
		out.Assignee = login(is.Assignees[0])
	}
	return out
}

func (t *Tracker) comments(ctx context.Context, is *gh.Issue) ([]tracker.Comment, error) {
	if is.Comments != nil && *is.Comments == 0 {
		return nil, nil
	}
	number := is.GetNumber()
	said, err := every(ctx, t.client, fmt.Sprintf("read the comments of issue %d", number), func(at place) ([]*gh.IssueComment, *gh.Response, error) {
		return t.api.Issues.ListComments(ctx, t.owner, t.repo, number, &gh.IssueListCommentsOptions{ListOptions: at.ListOptions})
	})
	var out []tracker.Comment
	for _, c := range said {
		out = append(out, tracker.Comment{
			ID: strconv.FormatInt(c.GetID(), 10), Author: login(c.User), Bot: bot(c.User), At: c.GetCreatedAt().UTC(), Text: text(c.GetBody()),
		})
	}
	slices.SortStableFunc(out, func(a, b tracker.Comment) int { return a.At.Compare(b.At) })
	return out, err
}

// fold says whether a name is among others, in any case.
func fold(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}
