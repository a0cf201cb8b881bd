package linear

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

// names are the ids of the team's columns and tags by name. A tag may have several ids: two
// groups of labels may each contain a label of that name.
type names struct {
	states map[string]string
	labels map[string][]string
}

// ReadVocabulary returns the states of the team's issues, in the order of its boards, and the
// labels of the team and of the workspace.
func (t *Tracker) ReadVocabulary(ctx context.Context) (board.Vocabulary, error) {
	var v board.Vocabulary
	if err := t.checkScope(ctx); err != nil {
		return v, err
	}
	states, err := readAllPages(func(after *string) (issuePage[state], error) {
		var got statesAnswer
		err := t.sendQuery(ctx, statesQuery, teamPageVars{Team: t.team, After: after}, &got)
		return got.WorkflowStates, err
	})
	if err != nil {
		return v, err
	}
	labels, err := readAllPages(func(after *string) (issuePage[label], error) {
		var got labelsAnswer
		err := t.sendQuery(ctx, labelsQuery, teamPageVars{Team: t.team, After: after}, &got)
		return got.IssueLabels, err
	})
	if err != nil {
		return v, err
	}
	n := &names{states: map[string]string{}, labels: map[string][]string{}}
	v.Columns, v.Tags = n.addStates(states), n.addLabels(labels)
	t.mu.Lock()
	t.names = n
	t.mu.Unlock()
	return v, nil
}

// checkScope returns an error unless the team and the project exist: a mistyped name would look
// like a board without issues.
func (t *Tracker) checkScope(ctx context.Context) error {
	if t.team == "" {
		return board.Refusef("the tracker names no team: give TEAM or TEAM/Project as its scope, TEAM as in TEAM-12")
	}
	var got teamAnswer
	if err := t.sendQuery(ctx, teamQuery, teamVars{Team: t.team, Project: t.project}, &got); err != nil {
		return err
	}
	teams := got.Teams.Nodes
	if len(teams) == 0 {
		return board.Refusef("linear shows this token no team %q: give the prefix of its issues, as in TEAM-12, as the tracker's scope", cutLine(oneLine(t.team), 40))
	}
	if t.project != "" && len(teams[0].Projects.Nodes) == 0 {
		return board.Refusef("team %s has no project %q in linear: check the tracker's scope", oneLine(teams[0].Key), cutLine(oneLine(t.project), 80))
	}
	return nil
}

// phases are the types of states in the order in which Linear shows them.
var phases = []string{"triage", "backlog", "unstarted", "started", "completed", "canceled", "duplicate"}

func (n *names) addStates(states []state) []string {
	slices.SortStableFunc(states, func(a, b state) int {
		return cmp.Or(cmp.Compare(slices.Index(phases, a.Type), slices.Index(phases, b.Type)), cmp.Compare(a.Position, b.Position))
	})
	columns := []string{}
	for _, s := range states {
		name := oneLine(s.Name)
		if _, twice := n.states[name]; !twice {
			n.states[name] = s.ID
			columns = append(columns, name)
		}
	}
	return columns
}

// addLabels adds labels except groups, which an issue cannot have. The team's own labels come
// first and take precedence over others of the same name.
func (n *names) addLabels(labels []label) []string {
	slices.SortStableFunc(labels, func(a, b label) int {
		return cmp.Or(compareBool(a.Team == nil, b.Team == nil), cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)))
	})
	tags := []string{}
	for _, l := range labels {
		if l.IsGroup {
			continue
		}
		name := oneLine(l.Name)
		if _, twice := n.labels[name]; !twice {
			tags = append(tags, name)
		}
		n.labels[name] = append(n.labels[name], l.ID)
	}
	return tags
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// knownNames returns the ids from ReadVocabulary, which it calls if nobody has before.
func (t *Tracker) knownNames(ctx context.Context) (*names, error) {
	t.mu.Lock()
	have := t.names
	t.mu.Unlock()
	if have != nil {
		return have, nil
	}
	if _, err := t.ReadVocabulary(ctx); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.names, nil
}

// resolveNames adds the ids of a change's names to an update. Unknown names, and names that
// Linear has given to something else since, are tracker.ErrStale.
func (t *Tracker) resolveNames(ctx context.Context, c board.Change, to *updateInput) error {
	if c.Column == "" && len(c.AddTags)+len(c.RemoveTags) == 0 {
		return nil
	}
	n, err := t.knownNames(ctx)
	if err != nil {
		return err
	}
	want := map[string]string{} // name by id
	if c.Column != "" {
		id, ok := findByName(n.states, c.Column)
		if !ok {
			return staleError("column", c.Column)
		}
		to.StateID, want[id] = id, c.Column
	}
	for _, tag := range c.AddTags {
		ids, ok := findByName(n.labels, tag)
		if !ok {
			return staleError("tag", tag)
		}
		to.AddedLabelIDs, want[ids[0]] = append(to.AddedLabelIDs, ids[0]), tag
	}
	for _, tag := range c.RemoveTags {
		ids, ok := findByName(n.labels, tag)
		if !ok {
			return staleError("tag", tag)
		}
		for _, id := range ids {
			to.RemovedLabelIDs, want[id] = append(to.RemovedLabelIDs, id), tag
		}
	}
	return t.confirmNames(ctx, to, want)
}

func staleError(what, name string) error {
	return fmt.Errorf("%s %q: %w", what, cutLine(oneLine(name), board.MaxName), tracker.ErrStale)
}

func findByName[T any](known map[string]T, name string) (T, bool) {
	if id, ok := known[name]; ok {
		return id, true
	}
	for is, id := range known {
		if strings.EqualFold(is, name) {
			return id, true
		}
	}
	var none T
	return none, false
}

// unknownID is an id that does not exist: Linear must never get an empty list of ids.
const unknownID = "00000000-0000-4000-8000-000000000000"

// confirmNames checks that ids still have their names before anything is changed.
func (t *Tracker) confirmNames(ctx context.Context, to *updateInput, want map[string]string) error {
	vars := namesVars{States: []string{unknownID}, Labels: []string{unknownID}}
	if to.StateID != "" {
		vars.States = []string{to.StateID}
	}
	if ids := slices.Concat(to.AddedLabelIDs, to.RemovedLabelIDs); len(ids) > 0 {
		vars.Labels = ids
	}
	var got namesAnswer
	if err := t.sendQuery(ctx, namesQuery, vars, &got); err != nil {
		return err
	}
	is := map[string]string{}
	for _, n := range slices.Concat(got.WorkflowStates.Nodes, got.IssueLabels.Nodes) {
		is[n.ID] = oneLine(n.Name)
	}
	for id, name := range want {
		if !strings.EqualFold(is[id], name) {
			return staleError("name", name)
		}
	}
	return nil
}

// errEndless means that a list does not end.
var errEndless = errors.New("the list from linear does not end: try again later")

// maxPages limits every list.
const maxPages = 500

// readAllPages reads all pages of a list.
func readAllPages[T any](read func(after *string) (issuePage[T], error)) ([]T, error) {
	first, err := read(nil)
	if err != nil {
		return nil, err
	}
	return readFollowingPages(first, func(after string) (issuePage[T], error) { return read(&after) })
}

// readFollowingPages reads the pages after p.
func readFollowingPages[T any](p issuePage[T], read func(after string) (issuePage[T], error)) ([]T, error) {
	nodes := p.Nodes
	for range maxPages {
		cursor := p.PageInfo.EndCursor
		if !p.PageInfo.HasNextPage || cursor == "" {
			return nodes, nil
		}
		next, err := read(cursor)
		if err != nil {
			return nil, err
		}
		if next.PageInfo.EndCursor == cursor && next.PageInfo.HasNextPage {
			break
		}
		nodes = append(nodes, next.Nodes...)
		p = next
	}
	return nil, errEndless
}
