package mcpboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/tracker"
)

// ListIssues returns the issues of a query, oldest first. A board may list only a limited
// number; if requested issues may be missing, ListIssues returns an error.
func (t *Tracker) ListIssues(ctx context.Context, q tracker.Query) ([]tracker.Issue, error) {
	found, cut, err := t.listRecords(ctx)
	if err != nil {
		return nil, err
	}
	list, err := t.readListedIssues(ctx, found)
	if err != nil {
		return nil, err
	}
	var places []*tracker.Issue
	for i := range list {
		places = append(places, &list[i])
	}
	if err := t.nameColumns(ctx, places); err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(is tracker.Issue) bool { return !isWanted(is, q) })
	for _, is := range list {
		if cut[idOf(is)] {
			return nil, fmt.Errorf("the board at %s lists at most %d issues like %s at once and may have more: archive some, or use a smaller project", t.where, t.m.List.Full, is.Key)
		}
	}
	slices.SortStableFunc(list, oldestFirst)
	if q.Limit > 0 && len(list) > q.Limit {
		list = list[:q.Limit]
	}
	return list, nil
}

// isWanted reports whether a query selects an issue. An issue without a time may have changed.
func isWanted(is tracker.Issue, q tracker.Query) bool {
	changed := is.Card.UpdatedAt
	if !q.Since.IsZero() && !changed.IsZero() && !changed.After(q.Since) {
		return false
	}
	return len(q.Columns) == 0 || slices.ContainsFunc(q.Columns, func(c string) bool { return strings.EqualFold(c, is.Card.Column) })
}

// listRecords returns the records of all issues. From a board that lists only a limited number
// it requests parts. The ids in cut are those of parts that were full as well: there may be
// more of their kind.
func (t *Tracker) listRecords(ctx context.Context) (found []record, cut map[string]bool, err error) {
	op := t.m.List
	if found, err = t.callAndRead(ctx, op, nil); err != nil {
		return nil, nil, t.rejectForgedList(err)
	}
	cut = map[string]bool{}
	if op.Full == 0 || len(found) < op.Full {
		return found, cut, nil
	}
	have := map[string]bool{}
	for _, r := range found {
		have[r.firstValue("id", "key")] = true
		cut[r.firstValue("id", "key")] = len(op.By) == 0
	}
	for _, part := range op.By {
		more, err := t.callAndRead(ctx, op, map[string]any{"part": part})
		if err != nil {
			return nil, nil, t.rejectForgedList(err)
		}
		for _, r := range more {
			id := r.firstValue("id", "key")
			cut[id] = cut[id] || len(more) >= op.Full
			if !have[id] {
				have[id] = true
				found = append(found, r)
			}
		}
	}
	return found, cut, nil
}

// rejectForgedList returns the error for a list that contains forged lines.
func (t *Tracker) rejectForgedList(err error) error {
	if errors.Is(err, errForged) {
		return fmt.Errorf("the list of the board at %s has more lines than its count: the title of an issue is made to look like another issue", t.where)
	}
	return err
}

// readListedIssues reads the issues of a list, each separately if the list does not contain all
// their data.
func (t *Tracker) readListedIssues(ctx context.Context, found []record) ([]tracker.Issue, error) {
	list := []tracker.Issue{}
	for _, r := range found {
		is, err := t.listedIssue(ctx, r)
		if errors.Is(err, tracker.ErrNotFound) {
			continue // it is gone, or belongs to another project
		}
		if err != nil {
			return nil, err
		}
		is.Brief = t.m.Comments != nil
		list = append(list, is)
	}
	return list, nil
}

func (t *Tracker) listedIssue(ctx context.Context, r record) (tracker.Issue, error) {
	if t.m.List.Each {
		return t.readIssue(ctx, r.firstValue("id", "key"))
	}
	return t.issueFromRecord(r)
}
