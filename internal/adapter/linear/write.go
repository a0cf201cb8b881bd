package linear

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

// WriteChange changes an issue in one request and comments on it in another.
func (t *Tracker) WriteChange(ctx context.Context, was tracker.Issue, c board.Change) error {
	if err := checkStorable(c); err != nil {
		return err
	}
	id := was.ID
	if id == "" {
		id = was.Key
	}
	in := updateInput{Title: c.Title, Description: c.Description}
	if err := t.resolveNames(ctx, c, &in); err != nil {
		return err
	}
	if in.StateID != "" || len(in.AddedLabelIDs)+len(in.RemovedLabelIDs) > 0 || in.Title != "" || in.Description != nil {
		if err := t.updateIssue(ctx, id, in); err != nil {
			return ofWrite(err, was.Key)
		}
	}
	if strings.TrimSpace(c.Comment) == "" {
		return nil
	}
	return ofWrite(t.addComment(ctx, id, c), was.Key)
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

func (t *Tracker) updateIssue(ctx context.Context, id string, in updateInput) error {
	var got updateAnswer
	if err := t.sendQuery(ctx, updateMutation, updateVars{ID: id, Input: in}, &got); err != nil {
		return err
	}
	if !got.IssueUpdate.Success {
		return errors.New("linear did not make the change, and does not say why: try again later")
	}
	if in.Description != nil && got.IssueUpdate.Issue != nil {
		t.rememberRewrite(id, *in.Description, boundText(got.IssueUpdate.Issue.Description))
	}
	return nil
}

func (t *Tracker) addComment(ctx context.Context, id string, c board.Change) error {
	in := commentInput{ID: commentID(id, markOf(c.Comment), c.Key), IssueID: id, Body: c.Comment}
	var got commentAnswer
	err := t.sendQuery(ctx, commentMutation, commentVars{Input: in}, &got)
	var no *refused
	switch {
	case errors.As(err, &no) && in.ID != "" && no.alreadyExists():
		return nil // an earlier try posted it, and the response was lost
	case err != nil:
		return err
	case !got.CommentCreate.Success:
		return errors.New("linear did not accept the comment, and does not say why: try again later")
	}
	return nil
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
