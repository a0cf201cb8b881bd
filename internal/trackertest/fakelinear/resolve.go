package fakelinear

import (
	"encoding/json"
	"time"
)

// formatTime returns a time as Linear writes it.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func (s *FakeServer) resolveQuery(field string, args map[string]any) (any, *problem) {
	st := s.st
	switch field {
	case "viewer":
		return st.userNode(Me), nil
	case "teams":
		return buildConnection("Team", []*node{st.teamNode()}, args)
	case "workflowStates":
		return buildConnection("WorkflowState", listNodes(st.States, st.stateNode), args)
	case "issueLabels":
		return buildConnection("IssueLabel", listNodes(st.Labels, st.labelNode), args)
	case "issues":
		return buildConnection("Issue", listNodes(st.listedIssues(func(*issue) bool { return true }), st.issueNode), args)
	case "issue":
		name, _ := args["id"].(string)
		if i := st.findIssue(name); i != nil {
			return st.issueNode(i), nil
		}
		return nil, notFound("Issue", "")
	}
	return nil, unknownField("Query", field)
}

// listedIssues returns the issues that lists contain.
func (st *state) listedIssues(which func(*issue) bool) []*issue {
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
			return buildConnection("Project", listNodes(st.Projects, projectNode), args)
		}
		return nil, unknownField("Team", field)
	}}
}

func projectNode(p project) *node {
	return objectNode("Project", map[string]any{"id": p.ID, "name": p.Name})
}

func (st *state) stateNode(c column) *node {
	position := 0
	for i, other := range st.States {
		if other.ID == c.ID {
			position = i
		}
	}
	return objectNode("WorkflowState", map[string]any{"id": c.ID, "name": c.Name, "type": c.Type, "position": position, "team": st.teamNode()})
}

func (st *state) labelNode(l *teamLabel) *node {
	fields := map[string]any{"id": l.ID, "name": l.Name, "isGroup": l.Group, "team": nil}
	if l.Team {
		fields["team"] = st.teamNode()
	}
	return objectNode("IssueLabel", fields)
}

// userNode returns the account with an id or a name, or nil for "".
func (st *state) userNode(name string) any {
	for _, u := range st.Users {
		if name != "" && (u.ID == name || u.Name == name) {
			return objectNode("User", map[string]any{"id": u.ID, "name": u.Name, "displayName": u.Name, "app": u.App})
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
		return st.issueKey(i), true
	case "number":
		return i.Number, true
	case "url":
		return st.issueURL(i), true
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
		return formatTime(i.Created), true
	case "updatedAt":
		return formatTime(i.Updated), true
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

// issueRelated returns a single related object of an issue, or nil if it has none.
func (st *state) issueRelated(i *issue, field string) (any, bool) {
	switch field {
	case "state":
		if c := st.findColumn(i.State); c != nil {
			return st.stateNode(*c), true
		}
	case "project":
		for _, p := range st.Projects {
			if p.ID == i.Project {
				return projectNode(p), true
			}
		}
	case "parent":
		if p := st.findIssue(i.Parent); p != nil {
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
		var labels []*teamLabel
		for _, id := range i.Labels {
			if l := st.findLabel(id); l != nil {
				labels = append(labels, l)
			}
		}
		return buildConnection("IssueLabel", listNodes(labels, st.labelNode), args)
	case "comments":
		return buildConnection("Comment", listNodes(i.Comments, func(c *comment) *node { return st.commentNode(i, c) }), args)
	case "children":
		return buildConnection("Issue", listNodes(st.listedIssues(func(c *issue) bool { return c.Parent == i.ID }), st.issueNode), args)
	case "inverseRelations":
		return buildConnection("IssueRelation", st.blockRelations(func(_, blocked *issue) bool { return blocked == i }), args)
	case "relations":
		return buildConnection("IssueRelation", st.blockRelations(func(blocker, _ *issue) bool { return blocker == i }), args)
	case "attachments":
		return buildConnection("Attachment", listNodes(i.Attachments, func(a *attachment) *node { return st.attachmentNode(i, a) }), args)
	}
	return nil, unknownField("Issue", field)
}

func (st *state) commentNode(i *issue, c *comment) *node {
	return objectNode("Comment", map[string]any{
		"id": c.ID, "body": c.Body, "createdAt": formatTime(c.Created), "updatedAt": formatTime(c.Created),
		"user": st.userNode(c.Author), "botActor": nil, "externalUser": nil, "issue": st.issueNode(i),
	})
}

// blockRelations returns the relations between a blocking and a blocked issue.
func (st *state) blockRelations(which func(blocker, blocked *issue) bool) []*node {
	out := []*node{}
	for _, blocked := range st.Issues {
		for _, id := range blocked.BlockedBy {
			if blocker := st.findIssue(id); blocker != nil && which(blocker, blocked) {
				out = append(out, objectNode("IssueRelation", map[string]any{
					"id": blocker.ID + "/" + blocked.ID, "type": "blocks",
					"issue": st.issueNode(blocker), "relatedIssue": st.issueNode(blocked),
				}))
			}
		}
	}
	return out
}

func (st *state) attachmentNode(i *issue, a *attachment) *node {
	return objectNode("Attachment", map[string]any{
		"id": a.ID, "url": a.URL, "title": a.Title, "metadata": json.RawMessage(a.Metadata), "sourceType": "github",
		"createdAt": formatTime(a.Created), "issue": st.issueNode(i),
	})
}
