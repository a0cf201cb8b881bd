package mcpboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/tracker"
)

// ListIssues returns the issues that a query asks for, oldest first. A board may show only so
// many; that some of those that are asked for may be missing is an error.
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
			return nil, fmt.Errorf("the board at %s shows at most %d issues like %s at once and may have more: put some away, or use a smaller project", t.where, t.m.List.Full, is.Key)
		}
	}
	slices.SortStableFunc(list, oldestFirst)
	if q.Limit > 0 && len(list) > q.Limit {
		list = list[:q.Limit]
	}
	return list, nil
}

// isWanted says whether a query asks for an issue. One that shows no time may have changed.
func isWanted(is tracker.Issue, q tracker.Query) bool {
	changed := is.Card.UpdatedAt
	if !q.Since.IsZero() && !changed.IsZero() && !changed.After(q.Since) {
		return false
	}
	return len(q.Columns) == 0 || slices.ContainsFunc(q.Columns, func(c string) bool { return strings.EqualFold(c, is.Card.Column) })
}

// listRecords are the records of all issues. A board that shows only so many at once is asked
// for parts. The ids in cut are those of parts that were full, too: there may be more of
// their kind.
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

// rejectForgedList keeps a list with forged lines from being believed.
func (t *Tracker) rejectForgedList(err error) error {
	if errors.Is(err, errForged) {
		return fmt.Errorf("the list of the board at %s has more lines than it says: the title of an issue is written to look like another", t.where)
	}
	return err
}

// readListedIssues reads the issues of a list, each by itself if the list does not show it all.
func (t *Tracker) readListedIssues(ctx context.Context, found []record) ([]tracker.Issue, error) {
	list := []tracker.Issue{}
	for _, r := range found {
		is, err := t.listedIssue(ctx, r)
		if errors.Is(err, tracker.ErrNotFound) {
			continue // gone meanwhile, or another project's
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
