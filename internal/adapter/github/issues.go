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

// ListIssues returns the issues of a query, oldest first, without comments, links and pull
// requests. GitHub's times are whole seconds, so issues that changed in the same second as
// q.Since are included.
func (t *Tracker) ListIssues(ctx context.Context, q tracker.Query) ([]tracker.Issue, error) {
	w, err := t.knownWords(ctx)
	if err != nil {
		return nil, err
	}
	found := map[int]tracker.Issue{}
	for _, search := range w.columnSearches(q.Columns) {
		issues, err := t.searchIssues(ctx, search, q.Since)
		if err != nil {
			return nil, err
		}
		for _, is := range issues {
			if one := t.convertBrief(is, w); len(q.Columns) == 0 || containsFold(q.Columns, one.Card.Column) {
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

// A search is one list request.
type search struct {
	state string
	label string
}

// columnSearches returns the list requests that cover the issues of some columns: one for each
// label, and one for all open or closed issues if issues without a label are included.
func (w *words) columnSearches(columns []string) []search {
	if len(columns) == 0 {
		return []search{{state: "all"}}
	}
	var out []search
	for _, column := range columns {
		for _, known := range w.columns {
			label := w.labels[known]
			switch {
			case !strings.EqualFold(known, column):
			case strings.Contains(label, ","): // GitHub would take it for two labels
				return []search{{state: "all"}}
			default:
				out = append(out, search{state: "all", label: label})
			}
		}
		if strings.EqualFold(column, w.firstOpenColumn()) {
			out = append(out, search{state: "open"})
		}
		if strings.EqualFold(column, w.closedColumn(completed)) || strings.EqualFold(column, w.closedColumn(notPlanned)) {
			out = append(out, search{state: "closed"})
		}
	}
	slices.SortFunc(out, func(a, b search) int { return cmp.Or(cmp.Compare(a.state, b.state), cmp.Compare(a.label, b.label)) })
	return slices.Compact(out)
}

// searchIssues lists issues. GitHub lists pull requests as issues; searchIssues drops them.
func (t *Tracker) searchIssues(ctx context.Context, s search, since time.Time) ([]*gh.Issue, error) {
	opts := gh.IssueListByRepoOptions{State: s.state, Sort: "created", Direction: "asc"}
	if s.label != "" {
		opts.Labels = []string{s.label}
	}
	if !since.IsZero() {
		opts.Since = since.UTC().Truncate(time.Second)
	}
	issues, err := listAll(ctx, t.client, "list the issues", func(at pagePosition) ([]*gh.Issue, *gh.Response, error) {
		opts.ListOptions, opts.After = at.ListOptions, at.after
		return t.api.Issues.ListByRepo(ctx, t.owner, t.repo, &opts)
	})
	return slices.DeleteFunc(issues, func(is *gh.Issue) bool { return is.IsPullRequest() }), err
}

// ReadIssue reads one issue with all its details.
func (t *Tracker) ReadIssue(ctx context.Context, key string) (tracker.Issue, error) {
	w, err := t.knownWords(ctx)
	if err != nil {
		return tracker.Issue{}, err
	}
	is, err := t.readRawIssue(ctx, key)
	if err != nil {
		return tracker.Issue{}, err
	}
	out := t.convertBrief(is, w)
	out.Brief = false
	if err := t.readLinks(ctx, is, w, &out); err != nil {
		return tracker.Issue{}, err
	}
	if out.PRs, err = t.linkedPulls(ctx, is.GetNumber()); err != nil {
		return tracker.Issue{}, err
	}
	out.Comments, err = t.readComments(ctx, is)
	return out, err
}

// readRawIssue returns an issue as GitHub returns it. An issue that was moved to another
// repository counts as missing.
func (t *Tracker) readRawIssue(ctx context.Context, key string) (*gh.Issue, error) {
	number, err := numberOf(key)
	if err != nil {
		return nil, err
	}
	var is *gh.Issue
	doing := "read issue " + key
	err = t.callAPI(ctx, doing, func() (resp *gh.Response, err error) {
		is, resp, err = t.api.Issues.Get(ctx, t.owner, t.repo, number)
		return resp, err
	})
	if err != nil {
		return nil, notFound(err, doing)
	}
	if is == nil || is.IsPullRequest() || is.GetNumber() != number || !t.isThisRepository(is.GetRepositoryURL()) {
		return nil, fmt.Errorf("%s: %w", doing, tracker.ErrNotFound)
	}
	return is, nil
}

// isThisRepository reports whether address is empty or that of this repository.
func (c *client) isThisRepository(address string) bool {
	owner, repo, ok := ownerRepo(address)
	return !ok || strings.EqualFold(owner, c.owner) && strings.EqualFold(repo, c.repo)
}

// ownerRepo returns the repository in an address of the API.
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
		return 0, fmt.Errorf("issue %q, whose key is not a number: %w", shortText(key), tracker.ErrNotFound)
	}
	return number, nil
}

// convertBrief converts an issue of a list.
func (t *Tracker) convertBrief(is *gh.Issue, w *words) tracker.Issue {
	out := tracker.Issue{
		Key: strconv.Itoa(is.GetNumber()),
		URL: oneLine(is.GetHTMLURL(), maxLine),
		Card: board.Card{
			Number: is.GetNumber(), Title: oneLine(is.GetTitle(), maxLine), Author: loginName(is.User), Description: boundText(is.GetBody()),
			Column: w.issueColumn(is), Tags: []string{}, CreatedAt: is.GetCreatedAt().UTC(), UpdatedAt: is.GetUpdatedAt().UTC(),
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
			out.Card.Tags = append(out.Card.Tags, oneLine(name, maxLine))
		}
	}
	if len(is.Assignees) > 0 {
		out.Assignee = loginName(is.Assignees[0])
	}
	return out
}

func (t *Tracker) readComments(ctx context.Context, is *gh.Issue) ([]tracker.Comment, error) {
	if is.Comments != nil && *is.Comments == 0 {
		return nil, nil
	}
	number := is.GetNumber()
	said, err := listAll(ctx, t.client, fmt.Sprintf("read the comments of issue %d", number), func(at pagePosition) ([]*gh.IssueComment, *gh.Response, error) {
		return t.api.Issues.ListComments(ctx, t.owner, t.repo, number, &gh.IssueListCommentsOptions{ListOptions: at.ListOptions})
	})
	var out []tracker.Comment
	for _, c := range said {
		out = append(out, tracker.Comment{
			ID: strconv.FormatInt(c.GetID(), 10), Author: loginName(c.User), Bot: isBot(c.User), At: c.GetCreatedAt().UTC(), Text: boundText(c.GetBody()),
		})
	}
	slices.SortStableFunc(out, func(a, b tracker.Comment) int { return a.At.Compare(b.At) })
	return out, err
}

// containsFold reports whether names contains name, ignoring case.
func containsFold(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}
