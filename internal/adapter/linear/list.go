package linear

import (
	"context"
	"slices"

	"orange/internal/core/tracker"
)

// perPage is how many issues one request lists.
const perPage = 20

// ListIssues returns issues of the team or the project, oldest first. It sends one request per twenty issues. An issue whose
// comments, links or attachments are too many for a list comes without them, as a brief one.
func (t *Tracker) ListIssues(ctx context.Context, q tracker.Query) ([]tracker.Issue, error) {
	vars := issuesVars{Filter: t.issueFilter(q), Last: perPage}
	out := []tracker.Issue{}
	for range maxPages {
		if q.Limit > 0 {
			vars.Last = min(perPage, q.Limit-len(out))
		}
		var got issuesAnswer
		if err := t.sendQuery(ctx, issuesQuery, vars, &got); err != nil {
			return nil, err
		}
		for _, w := range slices.Backward(got.Issues.Nodes) {
			if w.isComplete() {
				out = append(out, t.convertWhole(&w))
				continue
			}
			if err := t.moreLabels(ctx, &w.brief); err != nil {
				return nil, err
			}
			out = append(out, t.convertBrief(&w.brief))
		}
		cursor := got.Issues.PageInfo.StartCursor
		if !got.Issues.PageInfo.HasPreviousPage || cursor == "" || q.Limit > 0 && len(out) >= q.Limit {
			slices.SortStableFunc(out, func(a, b tracker.Issue) int { return a.Card.CreatedAt.Compare(b.Card.CreatedAt) })
			return out, nil
		}
		if vars.Before != nil && *vars.Before == cursor {
			break
		}
		vars.Before = &cursor
	}
	return nil, errEndless
}

func (t *Tracker) issueFilter(q tracker.Query) filter {
	f := filter{Team: keyFilter{textFilter{t.team}}}
	if t.project != "" {
		f.Project = &nameFilter{textFilter{t.project}}
	}
	if len(q.Columns) > 0 {
		f.State = &stateFilter{}
		for _, c := range q.Columns {
			f.State.Or = append(f.State.Or, nameFilter{textFilter{c}})
		}
	}
	if !q.Since.IsZero() {
		f.UpdatedAt = &dateFilter{After: q.Since.UTC()}
	}
	return f
}
