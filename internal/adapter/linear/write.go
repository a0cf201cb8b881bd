package linear

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

// WriteChange changes an issue in one request and comments on it in another. It returns the issue as the last of them
// returned it.
func (t *Tracker) WriteChange(ctx context.Context, was tracker.Issue, c board.Change) (after *tracker.Issue, err error) {
	if err := checkStorable(c); err != nil {
		return nil, err
	}
	id := was.ID
	if id == "" {
		id = was.Key
	}
	in := updateInput{Title: c.Title, Description: c.Description}
	if err := t.resolveNames(ctx, c, &in); err != nil {
		return nil, err
	}
	var changed *whole
	if in.StateID != "" || len(in.AddedLabelIDs)+len(in.RemovedLabelIDs) > 0 || in.Title != "" || in.Description != nil {
		if changed, err = t.updateIssue(ctx, id, in); err != nil {
			return nil, ofWrite(err, was.Key)
		}
	}
	if strings.TrimSpace(c.Comment) != "" {
		if changed, err = t.addComment(ctx, id, c); err != nil {
			return nil, ofWrite(err, was.Key)
		}
	}
	if changed == nil {
		return nil, nil
	}
	is, err := t.completeIssue(ctx, was.Key, changed)
	return &is, err
}

// checkStorable refuses text that Linear cannot store.
func checkStorable(c board.Change) error {
	texts := []string{c.Title, c.Comment}
	if c.Description != nil {
		texts = append(texts, *c.Description)
	}
	for _, text := range texts {
		if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
			return board.Refusef("linear stores no text with a zero character: remove it")
		}
	}
	return nil
}

// updateIssue changes an issue and returns it as it is then, nil if Linear does not return it.
func (t *Tracker) updateIssue(ctx context.Context, id string, in updateInput) (*whole, error) {
	var got updateAnswer
	if err := t.sendQuery(ctx, updateMutation, updateVars{ID: id, Input: in}, &got); err != nil {
		return nil, err
	}
	if !got.IssueUpdate.Success {
		return nil, errors.New("linear did not make the change, and does not say why: try again later")
	}
	if in.Description != nil && got.IssueUpdate.Issue != nil {
		t.rememberRewrite(id, *in.Description, boundText(got.IssueUpdate.Issue.Description))
	}
	return got.IssueUpdate.Issue, nil
}

// addComment comments on an issue and returns it as it is then, nil if Linear does not return it.
func (t *Tracker) addComment(ctx context.Context, id string, c board.Change) (*whole, error) {
	in := commentInput{ID: commentID(id, markOf(c.Comment), c.Key), IssueID: id, Body: c.Comment}
	var got commentAnswer
	err := t.sendQuery(ctx, commentMutation, commentVars{Input: in}, &got)
	var no *refused
	switch {
	case errors.As(err, &no) && in.ID != "" && no.alreadyExists():
		return nil, nil // an earlier try posted it, and the response was lost
	case err != nil:
		return nil, err
	case !got.CommentCreate.Success:
		return nil, errors.New("linear did not accept the comment, and does not say why: try again later")
	}
	return got.CommentCreate.Comment.Issue, nil
}

// A rewrite is a description as Orange wrote it, and as Linear stores it after normalizing the
// Markdown.
type rewrite struct{ written, kept string }

// rememberRewrite records how Linear stores a description.
func (t *Tracker) rememberRewrite(id, written, kept string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.texts, id)
	if written == kept {
		return
	}
	if len(t.texts) >= most/10 {
		clear(t.texts)
	}
	t.texts[id] = rewrite{written, kept}
}

// asWritten returns a description as Orange wrote it, if nobody has changed it since.
func (t *Tracker) asWritten(id, kept string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r, ok := t.texts[id]; ok && r.kept == kept {
		return r.written
	}
	return kept
}
