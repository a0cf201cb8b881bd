package github

import (
	"context"
	"slices"
	"strings"

	gh "github.com/google/go-github/v92/github"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

const (
	columnPrefix   = "status:"
	priorityPrefix = "priority:"
)

// words are the labels of a repository, sorted by purpose.
type words struct {
	columns []string          // in the order of the labels
	labels  map[string]string // the label of a column
	tags    []string
}

// ReadVocabulary reads the labels of the repository: columns from "status:NAME", tags from the
// others. Priority labels are neither.
func (t *Tracker) ReadVocabulary(ctx context.Context) (board.Vocabulary, error) {
	labels, err := listAll(ctx, t.client, "read the labels", func(at pagePosition) ([]*gh.Label, *gh.Response, error) {
		return t.api.Issues.ListLabels(ctx, t.owner, t.repo, &at.ListOptions)
	})
	if err != nil {
		return board.Vocabulary{}, err
	}
	w := &words{columns: []string{}, tags: []string{}, labels: map[string]string{}}
	for _, l := range labels {
		w.addLabel(l.GetName())
	}
	t.mu.Lock()
	t.words = w
	t.mu.Unlock()
	return board.Vocabulary{Columns: slices.Clone(w.columns), Tags: slices.Clone(w.tags)}, nil
}

func (w *words) addLabel(label string) {
	if column, ok := columnOf(label); ok {
		if _, twice := w.labels[column]; !twice {
			w.columns = append(w.columns, column)
			w.labels[column] = label
		}
		return
	}
	if priorityOf(label) == 0 && label != "" {
		w.tags = append(w.tags, label)
	}
}

// knownWords returns the words as last read. It reads them if nobody has before.
func (t *Tracker) knownWords(ctx context.Context) (*words, error) {
	t.mu.Lock()
	w := t.words
	t.mu.Unlock()
	if w != nil {
		return w, nil
	}
	if _, err := t.ReadVocabulary(ctx); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.words, nil
}

// columnOf returns the column that a label stands for.
func columnOf(label string) (string, bool) {
	rest, ok := cutPrefixFold(label, columnPrefix)
	return rest, ok && rest != ""
}

// priorityOf returns the priority that a label stands for, or 0 if it is not a priority label.
func priorityOf(label string) tracker.Priority {
	rest, _ := cutPrefixFold(label, priorityPrefix)
	switch strings.ToLower(rest) {
	case "urgent":
		return tracker.Urgent
	case "high":
		return tracker.High
	case "medium":
		return tracker.Medium
	case "low":
		return tracker.Low
	}
	return 0
}

func cutPrefixFold(label, prefix string) (string, bool) {
	if len(label) < len(prefix) || !strings.EqualFold(label[:len(prefix)], prefix) {
		return "", false
	}
	return strings.TrimSpace(label[len(prefix):]), true
}

// Reasons with which GitHub closes an issue.
const (
	completed  = "completed"
	notPlanned = "not_planned"
)

// closeReason returns the reason with which the issues of a column are closed, or "" if they
// are open.
func closeReason(column string) string {
	switch strings.ToLower(column) {
	case "accepted", "done":
		return completed
	case "canceled", "cancelled":
		return notPlanned
	}
	return ""
}

// firstOpenColumn returns the column of open issues without a column label. GitHub's order of
// labels is arbitrary, so it is the first column that is not an end.
func (w *words) firstOpenColumn() string {
	for _, column := range w.columns {
		if closeReason(column) == "" {
			return column
		}
	}
	return ""
}

// closedColumn returns the column of closed issues without a column label. It is never a column
// in which there is work to do, even if the repository has no column for the end.
func (w *words) closedColumn(reason string) string {
	names := []string{"Done", "Accepted"}
	if reason != completed && reason != "" {
		names = []string{"Canceled", "Cancelled"}
	}
	for _, name := range names {
		for _, column := range w.columns {
			if strings.EqualFold(column, name) {
				return column
			}
		}
	}
	return names[0]
}

// issueColumn returns the column of an issue: that of its label. Of several labels, as between
// two requests of a move, the first in the order of the columns counts. A person who closes an
// issue by hand leaves its label, so for a closed issue a label counts only if its column is an
// end.
func (w *words) issueColumn(is *gh.Issue) string {
	closed := is.GetState() == "closed"
	switch labelled := w.labelledColumn(is); {
	case closed && closeReason(labelled) == "":
		return w.closedColumn(is.GetStateReason())
	case labelled == "":
		return w.firstOpenColumn()
	default:
		return labelled
	}
}

// labelledColumn returns the column that the labels of an issue name, or "" if they name none.
func (w *words) labelledColumn(is *gh.Issue) string {
	var here []string
	for _, l := range is.Labels {
		if column, ok := columnOf(l.GetName()); ok {
			here = append(here, column)
		}
	}
	for _, column := range w.columns {
		if slices.Contains(here, column) {
			return column
		}
	}
	if len(here) > 0 {
		return oneLine(here[0], maxLine)
	}
	return ""
}
