package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	gh "github.com/google/go-github/v92/github"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

// WriteChange changes an issue. It adds and removes labels one by one, so that labels that
// someone else sets at the same time stay. GitHub would create a label that does not exist, so
// WriteChange looks up each one first.
func (t *Tracker) WriteChange(ctx context.Context, was tracker.Issue, c board.Change) (*tracker.Issue, error) {
	number, err := numberOf(was.Key)
	if err != nil {
		return nil, err
	}
	if err := checkWritable(c); err != nil {
		return nil, err
	}
	w, err := t.knownWords(ctx)
	if err != nil {
		return nil, err
	}
	e := &edit{Tracker: t, ctx: ctx, number: number}
	for _, tag := range c.AddTags {
		e.requireLabel(tag, slices.Contains(w.tags, tag))
	}
	label, column := w.labels[c.Column]
	if c.Column != "" {
		e.requireLabel(label, column)
	}
	e.addLabels(c.AddTags)
	for _, tag := range c.RemoveTags {
		e.removeLabel(tag)
	}
	if c.Column != "" {
		e.moveIssue(w, c.Column, label)
	}
	if c.Title != "" || c.Description != nil {
		req := gh.UpdateIssueRequest{Body: c.Description}
		if c.Title != "" {
			req.Title = &c.Title
		}
		e.updateIssue(req)
	}
	if strings.TrimSpace(c.Comment) != "" {
		e.addComment(c.Comment)
	}
	return nil, e.err
}

// maxBodyText is the length limit of a description or a comment on GitHub, in characters.
const maxBodyText = 65536

// checkWritable refuses what GitHub would refuse, before anything is done.
func checkWritable(c board.Change) error {
	texts := map[string]string{"title": c.Title, "comment": c.Comment}
	if c.Description != nil {
		texts["description"] = *c.Description
	}
	for what, text := range texts {
		switch {
		case strings.ContainsRune(text, 0):
			return board.Refusef("the %s contains a zero character, which github does not accept: remove it", what)
		case utf8.RuneCountInString(text) > maxBodyText:
			return board.Refusef("the %s has more than %d characters, which github does not accept: put it into a file of the repository and refer to that", what, maxBodyText)
		}
	}
	return nil
}

// An edit is a change in progress: after an error it does nothing more.
type edit struct {
	*Tracker
	ctx    context.Context
	number int
	err    error
}

func (e *edit) runRequest(doing string, request func() (*gh.Response, error)) {
	if e.err == nil {
		e.err = asRefusal(notFound(e.callAPI(e.ctx, doing, request), doing))
	}
}

// requireLabel sets e.err if a label no longer exists.
func (e *edit) requireLabel(label string, known bool) {
	if e.err != nil {
		return
	}
	if !known {
		e.err = fmt.Errorf("label %q: %w", shortText(label), tracker.ErrStale)
		return
	}
	doing := fmt.Sprintf("look up label %q", shortText(label))
	e.err = e.callAPI(e.ctx, doing, func() (*gh.Response, error) {
		_, resp, err := e.api.Issues.GetLabel(e.ctx, e.owner, e.repo, url.PathEscape(label))
		return resp, err
	})
	if isMissing(e.err) {
		e.err = fmt.Errorf("%s: %w", doing, tracker.ErrStale)
	}
}

func (e *edit) addLabels(labels []string) {
	if len(labels) == 0 {
		return
	}
	e.runRequest(fmt.Sprintf("label issue %d", e.number), func() (*gh.Response, error) {
		body := struct {
			Labels []string `json:"labels"`
		}{labels}
		req, err := e.api.NewRequest(e.ctx, http.MethodPost, fmt.Sprintf("repos/%s/%s/issues/%d/labels", e.owner, e.repo, e.number), body)
		if err != nil {
			return nil, err
		}
		return e.api.Do(req, nil)
	})
}

// removeLabel removes a label. A label that the issue does not have is not an error.
func (e *edit) removeLabel(label string) {
	if e.err != nil {
		return
	}
	err := e.callAPI(e.ctx, fmt.Sprintf("take label %q off issue %d", shortText(label), e.number), func() (*gh.Response, error) {
		return e.api.Issues.RemoveLabelForIssue(e.ctx, e.owner, e.repo, e.number, url.PathEscape(label))
	})
	if !isMissing(err) {
		e.err = asRefusal(err)
	}
}

// canReopen reports whether a closed issue may be reopened: its label must be that of an end.
// With another label, a person closed the issue, and that must be handled first.
func canReopen(w *words, is *gh.Issue) bool { return closeReason(w.labelledColumn(is)) != "" }

// moveIssue opens or closes an issue, adds the new label and removes the others. In this order
// an issue is never without a column, where it could be found as new, and an interrupted move
// can be repeated.
func (e *edit) moveIssue(w *words, column, label string) {
	if e.err != nil {
		return
	}
	var is *gh.Issue
	if is, e.err = e.readRawIssue(e.ctx, fmt.Sprint(e.number)); e.err != nil {
		return
	}
	switch reason := closeReason(column); {
	case reason != "" && is.GetState() != "closed":
		e.updateIssue(gh.UpdateIssueRequest{State: new("closed"), StateReason: &reason})
	case reason == "" && is.GetState() == "closed" && !canReopen(w, is):
		e.err = board.Refusef("issue %d was closed on github: reopen it there if it should move to %s", e.number, shortText(column))
		return
	case reason == "" && is.GetState() == "closed":
		e.updateIssue(gh.UpdateIssueRequest{State: new("open"), StateReason: new("reopened")})
	}
	var others []string
	there := false
	for _, l := range is.Labels {
		switch _, other := columnOf(l.GetName()); {
		case l.GetName() == label:
			there = true
		case other:
			others = append(others, l.GetName())
		}
	}
	if !there {
		e.addLabels([]string{label})
	}
	for _, other := range others {
		e.removeLabel(other)
	}
}

func (e *edit) updateIssue(req gh.UpdateIssueRequest) {
	e.runRequest(fmt.Sprintf("change issue %d", e.number), func() (*gh.Response, error) {
		_, resp, err := e.api.Issues.Update(e.ctx, e.owner, e.repo, e.number, req)
		return resp, err
	})
}

func (e *edit) addComment(text string) {
	e.runRequest(fmt.Sprintf("comment on issue %d", e.number), func() (*gh.Response, error) {
		_, resp, err := e.api.Issues.CreateComment(e.ctx, e.owner, e.repo, e.number, gh.IssueCommentRequest{Body: text})
		return resp, err
	})
}
