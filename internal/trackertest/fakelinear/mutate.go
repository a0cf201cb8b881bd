package fakelinear

import (
	"regexp"
	"slices"
	"strings"
)

func (s *FakeServer) resolveMutation(field string, args map[string]any) (any, *problem) {
	in, _ := args["input"].(map[string]any)
	switch field {
	case "issueUpdate":
		id, _ := args["id"].(string)
		return s.issueUpdate(id, in)
	case "commentCreate":
		return s.commentCreate(in)
	}
	return nil, unknownField("Mutation", field)
}

// issueUpdate changes an issue: everything that is requested, or nothing.
func (s *FakeServer) issueUpdate(id string, in map[string]any) (any, *problem) {
	i := s.st.findIssue(id)
	if i == nil || i.Trashed {
		return nil, notFound("Issue", "")
	}
	next := *i
	next.Labels = slices.Clone(i.Labels)
	for _, name := range []string{"stateId", "addedLabelIds", "removedLabelIds", "title", "description"} {
		if value := in[name]; value != nil {
			if bad := s.setField(&next, name, value); bad != nil {
				return nil, bad
			}
		}
	}
	for name := range in {
		if !slices.Contains([]string{"stateId", "addedLabelIds", "removedLabelIds", "title", "description"}, name) {
			return nil, unknownField("IssueUpdateInput", name)
		}
	}
	*i = next
	i.Updated = s.st.nextTime(s.opts.Now())
	s.recordChange("Issue", "update", i, nil)
	return objectNode("IssuePayload", map[string]any{"success": true, "lastSyncId": s.st.Count, "issue": s.st.issueNode(i)}), nil
}

func (s *FakeServer) setField(i *issue, field string, value any) *problem {
	text, _ := value.(string)
	switch field {
	case "stateId":
		c := s.st.findColumn(text)
		if c == nil || c.ID != text {
			return notFound("WorkflowState", "")
		}
		i.enterState(c.ID)
	case "title":
		if strings.TrimSpace(text) == "" || len(text) > 512 {
			return wrongInput("title must be longer than or equal to 1 and shorter than or equal to 512 characters")
		}
		i.Title = text
	case "description":
		i.Description = s.storedText(text)
	default:
		return s.setLabels(i, field, listElements(value))
	}
	return nil
}

func (s *FakeServer) setLabels(i *issue, field string, ids []any) *problem {
	for _, v := range ids {
		id, _ := v.(string)
		l := s.st.findLabel(id)
		switch {
		case l == nil || l.ID != id:
			return notFound("IssueLabel", ": "+field+" contained an entry that could not be found.")
		case field == "removedLabelIds":
			i.Labels = removeString(i.Labels, id)
		case l.Group:
			return wrongInput("The label '" + l.Name + "' is a group and cannot be assigned to issues directly.")
		case !slices.Contains(i.Labels, id):
			i.Labels = append(i.Labels, id)
		}
	}
	return nil
}

var uuid4 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func (s *FakeServer) commentCreate(in map[string]any) (any, *problem) {
	for name := range in {
		if !slices.Contains([]string{"id", "issueId", "body"}, name) {
			return nil, unknownField("CommentCreateInput", name)
		}
	}
	name, _ := in["issueId"].(string)
	i := s.st.findIssue(name)
	if i == nil || i.Trashed {
		return nil, notFound("Issue", "")
	}
	body, _ := in["body"].(string)
	if body = s.storedText(body); strings.TrimSpace(body) == "" {
		return nil, wrongInput("body must not be empty")
	}
	id, given := in["id"].(string)
	switch {
	case !given:
		id = s.st.newID()
	case !uuid4.MatchString(id):
		return nil, wrongInput("id must be a UUID")
	case s.st.findComment(id) != nil:
		return nil, conflictProblem("Comment", id)
	}
	c := &comment{ID: id, Body: body, Author: s.st.ensureUser(Me).ID, Created: s.st.nextTime(s.opts.Now())}
	s.addComment(i, c)
	return objectNode("CommentPayload", map[string]any{"success": true, "lastSyncId": s.st.Count, "comment": s.st.commentNode(i, c)}), nil
}

func (s *FakeServer) addComment(i *issue, c *comment) {
	i.Comments = append(i.Comments, c)
	i.Updated = c.Created
	s.recordChange("Comment", "create", i, c)
}

func (st *state) findComment(id string) *comment {
	for _, i := range st.Issues {
		for _, c := range i.Comments {
			if c.ID == id {
				return c
			}
		}
	}
	return nil
}
