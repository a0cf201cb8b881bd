package fakelinear

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

// What people do with their browsers.

// Add files an issue, in the project Shop, and returns its key.
func (s *Server) Add(draft tracker.Issue) (key string, err error) {
	err = s.change(func(st *state) error {
		c := st.column(cmp.Or(draft.Card.Column, st.States[0].Name))
		if c == nil {
			return fmt.Errorf("there is no column %q", draft.Card.Column)
		}
		st.Number++
		now := st.tick(s.opts.Now())
		i := &issue{
			ID: st.id(), Number: st.Number, Title: draft.Card.Title, Description: s.kept(draft.Card.Description),
			Author: st.user(cmp.Or(draft.Card.Author, "alice")).ID, State: c.ID, Been: []string{c.ID}, Project: st.Projects[0].ID,
			Labels: []string{}, Priority: int(draft.Priority), Created: now, Updated: now,
		}
		if draft.Assignee != "" {
			i.Assignee = st.user(draft.Assignee).ID
		}
		if err := st.relate(i, draft); err != nil {
			return err
		}
		st.Issues = append(st.Issues, i)
		key = st.key(i)
		s.happened("Issue", "create", i, nil)
		return nil
	})
	return key, err
}

func (st *state) relate(i *issue, draft tracker.Issue) error {
	for _, name := range draft.Card.Tags {
		l := st.label(name)
		if l == nil {
			return fmt.Errorf("there is no tag %q", name)
		}
		i.Labels = append(i.Labels, l.ID)
	}
	if draft.Parent != "" {
		p := st.issue(draft.Parent)
		if p == nil {
			return errNoIssue
		}
		i.Parent = p.ID
	}
	for _, by := range draft.BlockedBy {
		b := st.issue(by.Key)
		if b == nil {
			return errNoIssue
		}
		i.BlockedBy = append(i.BlockedBy, b.ID)
	}
	return nil
}

// Move puts an issue into another column.
func (s *Server) Move(key, to string) error {
	return s.with(key, func(st *state, i *issue) error {
		c := st.column(to)
		if c == nil {
			return fmt.Errorf("there is no column %q", to)
		}
		i.enter(c.ID)
		s.happened("Issue", "update", i, nil)
		return nil
	})
}

// Tag sets tags and takes others off.
func (s *Server) Tag(key string, add, remove []string) error {
	return s.with(key, func(st *state, i *issue) error {
		for _, name := range slices.Concat(add, remove) {
			if st.label(name) == nil {
				return fmt.Errorf("there is no tag %q", name)
			}
		}
		for _, name := range remove {
			i.Labels = without(i.Labels, st.label(name).ID)
		}
		for _, name := range add {
			i.Labels = append(without(i.Labels, st.label(name).ID), st.label(name).ID)
		}
		s.happened("Issue", "update", i, nil)
		return nil
	})
}

// Comment says something about an issue.
func (s *Server) Comment(key, author, text string) error {
	return s.with(key, func(st *state, i *issue) error {
		if strings.TrimSpace(text) == "" {
			return errors.New("a comment says something")
		}
		s.said(i, &comment{ID: st.id(), Body: s.kept(text), Author: st.user(author).ID, Created: st.tick(s.opts.Now())})
		return nil
	})
}

// Describe writes an issue's description anew.
func (s *Server) Describe(key, text string) error {
	return s.with(key, func(_ *state, i *issue) error {
		i.Description = s.kept(text)
		s.happened("Issue", "update", i, nil)
		return nil
	})
}

// Link attaches a pull request to an issue, as the forge's integration does.
func (s *Server) Link(key string, pr tracker.PR) error {
	return s.with(key, func(st *state, i *issue) error {
		facts := map[string]any{}
		if pr.State != "" {
			facts = map[string]any{"number": pr.Number, "title": pr.Title, "branch": pr.Branch, "targetBranch": pr.Base, "status": strings.ToLower(pr.State)}
		}
		text, err := json.Marshal(facts)
		if err != nil {
			return err
		}
		a := &attachment{ID: st.id(), URL: pr.URL, Title: pr.Title, Metadata: text, Created: st.tick(s.opts.Now())}
		if !pr.CreatedAt.IsZero() {
			a.Created = pr.CreatedAt
		}
		i.Attachments = append(i.Attachments, a)
		s.happened("Attachment", "create", i, a)
		return nil
	})
}

// Trash throws an issue away.
func (s *Server) Trash(key string) error {
	return s.with(key, func(_ *state, i *issue) error {
		i.Trashed = true
		s.happened("Issue", "remove", i, nil)
		return nil
	})
}

// RenameColumn gives a state another name. Linear sends no news of it.
func (s *Server) RenameColumn(from, to string) error {
	return s.change(func(st *state) error {
		c := st.column(from)
		if c == nil {
			return fmt.Errorf("there is no column %q", from)
		}
		c.Name = to
		return nil
	})
}

// AddTag makes a tag of the team.
func (s *Server) AddTag(name string) error {
	return s.change(func(st *state) error {
		l := &label{ID: st.id(), Name: name, Team: true}
		st.Labels = append(st.Labels, l)
		s.happened("IssueLabel", "create", nil, l)
		return nil
	})
}

// RenameTag gives a tag another name.
func (s *Server) RenameTag(from, to string) error {
	return s.change(func(st *state) error {
		l := st.label(from)
		if l == nil {
			return fmt.Errorf("there is no tag %q", from)
		}
		l.Name = to
		s.happened("IssueLabel", "update", nil, l)
		return nil
	})
}

// DeleteTag deletes a tag, which all issues lose.
func (s *Server) DeleteTag(name string) error {
	return s.change(func(st *state) error {
		l := st.label(name)
		if l == nil {
			return fmt.Errorf("there is no tag %q", name)
		}
		st.Labels = slices.DeleteFunc(st.Labels, func(x *label) bool { return x == l })
		for _, i := range st.Issues {
			i.Labels = without(i.Labels, l.ID)
		}
		s.happened("IssueLabel", "remove", nil, l)
		return nil
	})
}

// Issues are all issues as they are, comments included, oldest first.
func (s *Server) Issues() []tracker.Issue {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []tracker.Issue{}
	for _, i := range s.st.listed(func(*issue) bool { return true }) {
		out = append(out, s.st.show(i))
	}
	return out
}

// Real is one issue as it is.
func (s *Server) Real(key string) (tracker.Issue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.st.issue(key); i != nil {
		return s.st.show(i), nil
	}
	return tracker.Issue{}, errNoIssue
}

func (st *state) show(i *issue) tracker.Issue {
	is := tracker.Issue{
		Key: st.key(i), ID: i.ID, URL: st.url(i), Priority: tracker.Priority(i.Priority),
		Card: board.Card{
			Title: i.Title, Author: st.user(i.Author).Name, Description: i.Description, Column: st.column(i.State).Name,
			Tags: []string{}, CreatedAt: i.Created, UpdatedAt: i.Updated,
		},
	}
	for _, id := range i.Labels {
		is.Card.Tags = append(is.Card.Tags, st.label(id).Name)
	}
	if i.Assignee != "" {
		is.Assignee = st.user(i.Assignee).Name
	}
	if p := st.issue(i.Parent); p != nil {
		is.Parent = st.key(p)
	}
	for _, c := range st.listed(func(c *issue) bool { return c.Parent == i.ID }) {
		is.Children = append(is.Children, st.link(c))
	}
	for _, id := range i.BlockedBy {
		is.BlockedBy = append(is.BlockedBy, st.link(st.issue(id)))
	}
	for _, c := range i.Comments {
		u := st.user(c.Author)
		is.Comments = append(is.Comments, tracker.Comment{ID: c.ID, Author: u.Name, Bot: u.App, At: c.Created, Text: c.Body})
	}
	return is
}

func (st *state) link(i *issue) tracker.Link {
	c := st.column(i.State)
	return tracker.Link{Key: st.key(i), Column: c.Name, Closed: c.Type == "completed" || c.Type == "canceled"}
}
