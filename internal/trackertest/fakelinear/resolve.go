package fakelinear

import (
	"encoding/json"
	"time"
)

// stamp is a moment as Linear writes it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func (s *Server) query(field string, args map[string]any) (any, *problem) {
	st := s.st
	switch field {
	case "viewer":
		return st.userNode(Me), nil
	case "teams":
		return connection("Team", []*node{st.teamNode()}, args)
	case "workflowStates":
		return connection("WorkflowState", list(st.States, st.stateNode), args)
	case "issueLabels":
		return connection("IssueLabel", list(st.Labels, st.labelNode), args)
	case "issues":
		return connection("Issue", list(st.listed(func(*issue) bool { return true }), st.issueNode), args)
	case "issue":
		name, _ := args["id"].(string)
		if i := st.issue(name); i != nil {
			return st.issueNode(i), nil
		}
		return nil, notFound("Issue", "")
	}
	return nil, unknown("Query", field)
}

// listed are issues that lists show.
func (st *state) listed(which func(*issue) bool) []*issue {
	var out []*issue
	for _, i := range st.Issues {
		if !i.Trashed && which(i) {
			out = append(out, i)
		}
	}
	return out
}

func (st *state) teamNode() *node {
	return &node{kind: "Team", get: func(field string, args map[string]any) (any, *problem) {
		switch field {
		case "id":
			return st.Team.ID, nil
		case "key":
			return st.Team.Key, nil
		case "name":
			return st.Team.Name, nil
		case "projects":
			return connection("Project", list(st.Projects, projectNode), args)
		}
		return nil, unknown("Team", field)
	}}
}

func projectNode(p project) *node {
	return object("Project", map[string]any{"id": p.ID, "name": p.Name})
}

func (st *state) stateNode(c column) *node {
	position := 0
	for i, other := range st.States {
		if other.ID == c.ID {
			position = i
		}
	}
	return object("WorkflowState", map[string]any{"id": c.ID, "name": c.Name, "type": c.Type, "position": position, "team": st.teamNode()})
}

func (st *state) labelNode(l *label) *node {
	fields := map[string]any{"id": l.ID, "name": l.Name, "isGroup": l.Group, "team": nil}
	if l.Team {
		fields["team"] = st.teamNode()
	}
	return object("IssueLabel", fields)
}

// userNode is the account of an id or a name, nil for "".
func (st *state) userNode(name string) any {
	for _, u := range st.Users {
		if name != "" && (u.ID == name || u.Name == name) {
			return object("User", map[string]any{"id": u.ID, "name": u.Name, "displayName": u.Name, "app": u.App})
		}
	}
	return nil
}

func (st *state) issueNode(i *issue) *node {
	return &node{kind: "Issue", get: func(field string, args map[string]any) (any, *problem) {
		if value, ok := st.issueValue(i, field); ok {
			return value, nil
		}
		return st.issueList(i, field, args)
	}}
}

func (st *state) issueValue(i *issue, field string) (any, bool) {
	switch field {
	case "id":
		return i.ID, true
	case "identifier":
		return st.key(i), true
	case "number":
		return i.Number, true
	case "url":
		return st.url(i), true
	case "title":
		return i.Title, true
	case "description":
		if i.Description == "" {
			return nil, true
		}
		return i.Description, true
	case "priority":
		return i.Priority, true
	case "createdAt":
		return stamp(i.Created), true
	case "updatedAt":
		return stamp(i.Updated), true
	case "trashed":
		if i.Trashed {
			return true, true
		}
		return nil, true
	case "labelIds":
		return i.Labels, true
	case "botActor", "externalUserCreator":
		return nil, true
	case "creator":
		return st.userNode(i.Author), true
	case "assignee":
		return st.userNode(i.Assignee), true
	case "team":
		return st.teamNode(), true
	}
	return st.issueRelated(i, field)
}

// issueRelated are single things that belong to an issue, nil where it has none.
func (st *state) issueRelated(i *issue, field string) (any, bool) {
	switch field {
	case "state":
		if c := st.column(i.State); c != nil {
			return st.stateNode(*c), true
		}
	case "project":
		for _, p := range st.Projects {
			if p.ID == i.Project {
				return projectNode(p), true
			}
		}
	case "parent":
		if p := st.issue(i.Parent); p != nil {
			return st.issueNode(p), true
		}
	default:
		return nil, false
	}
	return nil, true
}

func (st *state) issueList(i *issue, field string, args map[string]any) (any, *problem) {
	switch field {
	case "labels":
		var labels []*label
		for _, id := range i.Labels {
			if l := st.label(id); l != nil {
				labels = append(labels, l)
			}
		}
		return connection("IssueLabel", list(labels, st.labelNode), args)
	case "comments":
		return connection("Comment", list(i.Comments, func(c *comment) *node { return st.commentNode(i, c) }), args)
	case "children":
		return connection("Issue", list(st.listed(func(c *issue) bool { return c.Parent == i.ID }), st.issueNode), args)
	case "inverseRelations":
		return connection("IssueRelation", st.relations(func(_, blocked *issue) bool { return blocked == i }), args)
	case "relations":
		return connection("IssueRelation", st.relations(func(blocker, _ *issue) bool { return blocker == i }), args)
	case "attachments":
		return connection("Attachment", list(i.Attachments, func(a *attachment) *node { return st.attachmentNode(i, a) }), args)
	}
	return nil, unknown("Issue", field)
}

func (st *state) commentNode(i *issue, c *comment) *node {
	return object("Comment", map[string]any{
		"id": c.ID, "body": c.Body, "createdAt": stamp(c.Created), "updatedAt": stamp(c.Created),
		"user": st.userNode(c.Author), "botActor": nil, "externalUser": nil, "issue": st.issueNode(i),
	})
}

// relations are those between an issue that blocks and one that is blocked.
func (st *state) relations(which func(blocker, blocked *issue) bool) []*node {
	out := []*node{}
	for _, blocked := range st.Issues {
		for _, id := range blocked.BlockedBy {
			if blocker := st.issue(id); blocker != nil && which(blocker, blocked) {
				out = append(out, object("IssueRelation", map[string]any{
					"id": blocker.ID + "/" + blocked.ID, "type": "blocks",
					"issue": st.issueNode(blocker), "relatedIssue": st.issueNode(blocked),
				}))
			}
		}
	}
	return out
}

func (st *state) attachmentNode(i *issue, a *attachment) *node {
	return object("Attachment", map[string]any{
		"id": a.ID, "url": a.URL, "title": a.Title, "metadata": json.RawMessage(a.Metadata), "sourceType": "github",
		"createdAt": stamp(a.Created), "issue": st.issueNode(i),
	})
}
