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

// Actions of people in their browsers.

// AddIssue creates an issue in the project Shop, and returns its key.
func (s *FakeServer) AddIssue(draft tracker.Issue) (key string, err error) {
	err = s.changeState(func(st *state) error {
		c := st.findColumn(cmp.Or(draft.Card.Column, st.States[0].Name))
		if c == nil {
			return fmt.Errorf("there is no column %q", draft.Card.Column)
		}
		st.Number++
		now := st.nextTime(s.opts.Now())
		i := &issue{
			ID: st.newID(), Number: st.Number, Title: draft.Card.Title, Description: s.storedText(draft.Card.Description),
			Author: st.ensureUser(cmp.Or(draft.Card.Author, "alice")).ID, State: c.ID, Been: []string{c.ID}, Project: st.Projects[0].ID,
			Labels: []string{}, Priority: int(draft.Priority), Created: now, Updated: now,
		}
		if draft.Assignee != "" {
			i.Assignee = st.ensureUser(draft.Assignee).ID
		}
		if err := st.relateIssue(i, draft); err != nil {
			return err
		}
		st.Issues = append(st.Issues, i)
		key = st.issueKey(i)
		s.recordChange("Issue", "create", i, nil)
		return nil
	})
	return key, err
}

func (st *state) relateIssue(i *issue, draft tracker.Issue) error {
	for _, name := range draft.Card.Tags {
		l := st.findLabel(name)
		if l == nil {
			return fmt.Errorf("there is no tag %q", name)
		}
		i.Labels = append(i.Labels, l.ID)
	}
	if draft.Parent != "" {
		p := st.findIssue(draft.Parent)
		if p == nil {
			return errNoIssue
		}
		i.Parent = p.ID
	}
	for _, by := range draft.BlockedBy {
		b := st.findIssue(by.Key)
		if b == nil {
			return errNoIssue
		}
		i.BlockedBy = append(i.BlockedBy, b.ID)
	}
	return nil
}

// MoveIssue moves an issue to another column.
func (s *FakeServer) MoveIssue(key, to string) error {
	return s.changeIssue(key, func(st *state, i *issue) error {
		c := st.findColumn(to)
		if c == nil {
			return fmt.Errorf("there is no column %q", to)
		}
		i.enterState(c.ID)
		s.recordChange("Issue", "update", i, nil)
		return nil
	})
}

// TagIssue adds and removes tags.
func (s *FakeServer) TagIssue(key string, add, remove []string) error {
	return s.changeIssue(key, func(st *state, i *issue) error {
		for _, name := range slices.Concat(add, remove) {
			if st.findLabel(name) == nil {
				return fmt.Errorf("there is no tag %q", name)
			}
		}
		for _, name := range remove {
			i.Labels = removeString(i.Labels, st.findLabel(name).ID)
		}
		for _, name := range add {
			i.Labels = append(removeString(i.Labels, st.findLabel(name).ID), st.findLabel(name).ID)
		}
		s.recordChange("Issue", "update", i, nil)
		return nil
	})
}

// CommentIssue comments on an issue.
func (s *FakeServer) CommentIssue(key, author, text string) error {
	return s.changeIssue(key, func(st *state, i *issue) error {
		if strings.TrimSpace(text) == "" {
			return errors.New("a comment says something")
		}
		s.addComment(i, &comment{ID: st.newID(), Body: s.storedText(text), Author: st.ensureUser(author).ID, Created: st.nextTime(s.opts.Now())})
		return nil
	})
}

// DescribeIssue replaces the description of an issue.
func (s *FakeServer) DescribeIssue(key, text string) error {
	return s.changeIssue(key, func(_ *state, i *issue) error {
		i.Description = s.storedText(text)
		s.recordChange("Issue", "update", i, nil)
		return nil
	})
}

// LinkPull attaches a pull request to an issue, like the forge's integration.
func (s *FakeServer) LinkPull(key string, pr tracker.PR) error {
	return s.changeIssue(key, func(st *state, i *issue) error {
		facts := map[string]any{}
		if pr.State != "" {
			facts = map[string]any{"number": pr.Number, "title": pr.Title, "branch": pr.Branch, "targetBranch": pr.Base, "status": strings.ToLower(pr.State)}
		}
		text, err := json.Marshal(facts)
		if err != nil {
			return err
		}
		a := &attachment{ID: st.newID(), URL: pr.URL, Title: pr.Title, Metadata: text, Created: st.nextTime(s.opts.Now())}
		if !pr.CreatedAt.IsZero() {
			a.Created = pr.CreatedAt
		}
		i.Attachments = append(i.Attachments, a)
		s.recordChange("Attachment", "create", i, a)
		return nil
	})
}

// TrashIssue moves an issue to the trash.
func (s *FakeServer) TrashIssue(key string) error {
	return s.changeIssue(key, func(_ *state, i *issue) error {
		i.Trashed = true
		s.recordChange("Issue", "remove", i, nil)
		return nil
	})
}

// RenameColumn renames a state. Linear sends no delivery for it.
func (s *FakeServer) RenameColumn(from, to string) error {
	return s.changeState(func(st *state) error {
		c := st.findColumn(from)
		if c == nil {
			return fmt.Errorf("there is no column %q", from)
		}
		c.Name = to
		return nil
	})
}

// AddTag adds a tag to the team.
func (s *FakeServer) AddTag(name string) error {
	return s.changeState(func(st *state) error {
		l := &teamLabel{ID: st.newID(), Name: name, Team: true}
		st.Labels = append(st.Labels, l)
		s.recordChange("IssueLabel", "create", nil, l)
		return nil
	})
}

// RenameTag renames a tag.
func (s *FakeServer) RenameTag(from, to string) error {
	return s.changeState(func(st *state) error {
		l := st.findLabel(from)
		if l == nil {
			return fmt.Errorf("there is no tag %q", from)
		}
		l.Name = to
		s.recordChange("IssueLabel", "update", nil, l)
		return nil
	})
}

// DeleteTag deletes a tag from all issues.
func (s *FakeServer) DeleteTag(name string) error {
	return s.changeState(func(st *state) error {
		l := st.findLabel(name)
		if l == nil {
			return fmt.Errorf("there is no tag %q", name)
		}
		st.Labels = slices.DeleteFunc(st.Labels, func(x *teamLabel) bool { return x == l })
		for _, i := range st.Issues {
			i.Labels = removeString(i.Labels, l.ID)
		}
		s.recordChange("IssueLabel", "remove", nil, l)
		return nil
	})
}

// AllIssues returns all issues with their comments, oldest first.
func (s *FakeServer) AllIssues() []tracker.Issue {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []tracker.Issue{}
	for _, i := range s.st.listedIssues(func(*issue) bool { return true }) {
		out = append(out, s.st.showIssue(i))
	}
	return out
}

// ReadIssue returns one issue.
func (s *FakeServer) ReadIssue(key string) (tracker.Issue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.st.findIssue(key); i != nil {
		return s.st.showIssue(i), nil
	}
	return tracker.Issue{}, errNoIssue
}

func (st *state) showIssue(i *issue) tracker.Issue {
	is := tracker.Issue{
		Key: st.issueKey(i), ID: i.ID, URL: st.issueURL(i), Priority: tracker.Priority(i.Priority),
		Card: board.Card{
			Title: i.Title, Author: st.ensureUser(i.Author).Name, Description: i.Description, Column: st.findColumn(i.State).Name,
			Tags: []string{}, CreatedAt: i.Created, UpdatedAt: i.Updated,
		},
	}
	for _, id := range i.Labels {
		is.Card.Tags = append(is.Card.Tags, st.findLabel(id).Name)
	}
	if i.Assignee != "" {
		is.Assignee = st.ensureUser(i.Assignee).Name
	}
	if p := st.findIssue(i.Parent); p != nil {
		is.Parent = st.issueKey(p)
	}
	for _, c := range st.listedIssues(func(c *issue) bool { return c.Parent == i.ID }) {
		is.Children = append(is.Children, st.issueLink(c))
	}
	for _, id := range i.BlockedBy {
		is.BlockedBy = append(is.BlockedBy, st.issueLink(st.findIssue(id)))
	}
	for _, c := range i.Comments {
		u := st.ensureUser(c.Author)
		is.Comments = append(is.Comments, tracker.Comment{ID: c.ID, Author: u.Name, Bot: u.App, At: c.Created, Text: c.Body})
	}
	return is
}

func (st *state) issueLink(i *issue) tracker.Link {
	c := st.findColumn(i.State)
	return tracker.Link{Key: st.issueKey(i), Column: c.Name, Closed: c.Type == "completed" || c.Type == "canceled"}
}
