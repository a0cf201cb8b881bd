package fakelinear

import (
	"regexp"
	"slices"
	"strings"
)

func (s *Server) mutation(field string, args map[string]any) (any, *problem) {
	in, _ := args["input"].(map[string]any)
	switch field {
	case "issueUpdate":
		id, _ := args["id"].(string)
		return s.issueUpdate(id, in)
	case "commentCreate":
		return s.commentCreate(in)
	}
	return nil, unknown("Mutation", field)
}

// issueUpdate changes an issue, all that is asked for or nothing.
func (s *Server) issueUpdate(id string, in map[string]any) (any, *problem) {
	i := s.st.issue(id)
	if i == nil || i.Trashed {
		return nil, notFound("Issue", "")
	}
	next := *i
	next.Labels = slices.Clone(i.Labels)
	for _, name := range []string{"stateId", "addedLabelIds", "removedLabelIds", "title", "description"} {
		if value := in[name]; value != nil {
			if bad := s.set(&next, name, value); bad != nil {
				return nil, bad
			}
		}
	}
	for name := range in {
		if !slices.Contains([]string{"stateId", "addedLabelIds", "removedLabelIds", "title", "description"}, name) {
			return nil, unknown("IssueUpdateInput", name)
		}
	}
	*i = next
	i.Updated = s.st.tick(s.opts.Now())
	s.happened("Issue", "update", i, nil)
	return object("IssuePayload", map[string]any{"success": true, "lastSyncId": s.st.Count, "issue": s.st.issueNode(i)}), nil
}

func (s *Server) set(i *issue, field string, value any) *problem {
	text, _ := value.(string)
	switch field {
	case "stateId":
		c := s.st.column(text)
		if c == nil || c.ID != text {
			return notFound("WorkflowState", "")
		}
		i.enter(c.ID)
	case "title":
		if strings.TrimSpace(text) == "" || len(text) > 512 {
			return wrongInput("title must be longer than or equal to 1 and shorter than or equal to 512 characters")
		}
		i.Title = text
	case "description":
		i.Description = s.kept(text)
	default:
		return s.setLabels(i, field, elements(value))
	}
	return nil
}

func (s *Server) setLabels(i *issue, field string, ids []any) *problem {
	for _, v := range ids {
		id, _ := v.(string)
		l := s.st.label(id)
		switch {
		case l == nil || l.ID != id:
			return notFound("IssueLabel", ": "+field+" contained an entry that could not be found.")
		case field == "removedLabelIds":
			i.Labels = without(i.Labels, id)
		case l.Group:
			return wrongInput("The label '" + l.Name + "' is a group and cannot be assigned to issues directly.")
		case !slices.Contains(i.Labels, id):
			i.Labels = append(i.Labels, id)
		}
	}
	return nil
}

var uuid4 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func (s *Server) commentCreate(in map[string]any) (any, *problem) {
	for name := range in {
		if !slices.Contains([]string{"id", "issueId", "body"}, name) {
			return nil, unknown("CommentCreateInput", name)
		}
	}
	name, _ := in["issueId"].(string)
	i := s.st.issue(name)
	if i == nil || i.Trashed {
		return nil, notFound("Issue", "")
	}
	body, _ := in["body"].(string)
	if body = s.kept(body); strings.TrimSpace(body) == "" {
		return nil, wrongInput("body must not be empty")
	}
	id, given := in["id"].(string)
	switch {
	case !given:
		id = s.st.id()
	case !uuid4.MatchString(id):
		return nil, wrongInput("id must be a UUID")
	case s.st.comment(id) != nil:
		return nil, conflict("Comment", id)
	}
	c := &comment{ID: id, Body: body, Author: s.st.user(Me).ID, Created: s.st.tick(s.opts.Now())}
	s.said(i, c)
	return object("CommentPayload", map[string]any{"success": true, "lastSyncId": s.st.Count, "comment": s.st.commentNode(i, c)}), nil
}

func (s *Server) said(i *issue, c *comment) {
	i.Comments = append(i.Comments, c)
	i.Updated = c.Created
	s.happened("Comment", "create", i, c)
}

func (st *state) comment(id string) *comment {
	for _, i := range st.Issues {
		for _, c := range i.Comments {
			if c.ID == id {
				return c
			}
		}
	}
	return nil
}
