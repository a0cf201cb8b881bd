package linear

import (
	"encoding/json"
	"time"
)

// Responses to the requests, field by field as requested.

type whoamiAnswer struct {
	Viewer struct {
		DisplayName string `json:"displayName"`
	} `json:"viewer"`
}

type teamAnswer struct {
	Teams struct {
		Nodes []struct {
			Key      string `json:"key"`
			Projects struct {
				Nodes []named `json:"nodes"`
			} `json:"projects"`
		} `json:"nodes"`
	} `json:"teams"`
}

type statesAnswer struct {
	WorkflowStates issuePage[state] `json:"workflowStates"`
}

type labelsAnswer struct {
	IssueLabels issuePage[label] `json:"issueLabels"`
}

type namesAnswer struct {
	WorkflowStates struct {
		Nodes []identified `json:"nodes"`
	} `json:"workflowStates"`
	IssueLabels struct {
		Nodes []identified `json:"nodes"`
	} `json:"issueLabels"`
}

type issuesAnswer struct {
	Issues struct {
		Nodes    []whole `json:"nodes"`
		PageInfo struct {
			HasPreviousPage bool   `json:"hasPreviousPage"`
			StartCursor     string `json:"startCursor"`
		} `json:"pageInfo"`
	} `json:"issues"`
}

type issueAnswer struct {
	Issue whole `json:"issue"`
}

type moreLabelsAnswer struct {
	Issue struct {
		Labels issuePage[named] `json:"labels"`
	} `json:"issue"`
}

type moreCommentsAnswer struct {
	Issue struct {
		Comments issuePage[comment] `json:"comments"`
	} `json:"issue"`
}

type moreChildrenAnswer struct {
	Issue struct {
		Children issuePage[other] `json:"children"`
	} `json:"issue"`
}

type moreBlockersAnswer struct {
	Issue struct {
		InverseRelations issuePage[relation] `json:"inverseRelations"`
	} `json:"issue"`
}

type moreAttachmentsAnswer struct {
	Issue struct {
		Attachments issuePage[attachment] `json:"attachments"`
	} `json:"issue"`
}

type updateAnswer struct {
	IssueUpdate struct {
		Success bool   `json:"success"`
		Issue   *whole `json:"issue"`
	} `json:"issueUpdate"`
}

type commentAnswer struct {
	CommentCreate struct {
		Success bool `json:"success"`
		Comment struct {
			Issue *whole `json:"issue"`
		} `json:"comment"`
	} `json:"commentCreate"`
}

// An issuePage is a part of a list.
type issuePage[T any] struct {
	Nodes    []T `json:"nodes"`
	PageInfo struct {
		HasNextPage bool   `json:"hasNextPage"`
		EndCursor   string `json:"endCursor"`
	} `json:"pageInfo"`
}

type named struct {
	Name string `json:"name"`
}

type identified struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type state struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Position float64 `json:"position"`
}

type label struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	IsGroup bool   `json:"isGroup"`
	Team    *struct {
		Key string `json:"key"`
	} `json:"team"`
}

// A standing is the state of an issue.
type standing struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

type account struct {
	DisplayName string `json:"displayName"`
	App         bool   `json:"app"`
}

type externalUser struct {
	DisplayName string `json:"displayName"`
}

// other is another issue. It is nil if the token may not see it.
type other struct {
	Identifier string   `json:"identifier"`
	State      standing `json:"state"`
}

type brief struct {
	ID                  string           `json:"id"`
	Identifier          string           `json:"identifier"`
	URL                 string           `json:"url"`
	Title               string           `json:"title"`
	Description         string           `json:"description"`
	Priority            float64          `json:"priority"`
	CreatedAt           time.Time        `json:"createdAt"`
	UpdatedAt           time.Time        `json:"updatedAt"`
	State               standing         `json:"state"`
	Labels              issuePage[named] `json:"labels"`
	Creator             *account         `json:"creator"`
	BotActor            *named           `json:"botActor"`
	ExternalUserCreator *externalUser    `json:"externalUserCreator"`
	Assignee            *externalUser    `json:"assignee"`
	Parent              *struct {
		Identifier string `json:"identifier"`
	} `json:"parent"`
}

type whole struct {
	brief
	Trashed bool `json:"trashed"`
	Team    struct {
		Key string `json:"key"`
	} `json:"team"`
	Comments         issuePage[comment]    `json:"comments"`
	Children         issuePage[other]      `json:"children"`
	InverseRelations issuePage[relation]   `json:"inverseRelations"`
	Attachments      issuePage[attachment] `json:"attachments"`
}

// isComplete reports whether the first pages of all lists are all of them.
func (w *whole) isComplete() bool {
	return !w.Labels.PageInfo.HasNextPage && !w.Comments.PageInfo.HasNextPage && !w.Children.PageInfo.HasNextPage &&
		!w.InverseRelations.PageInfo.HasNextPage && !w.Attachments.PageInfo.HasNextPage
}

type comment struct {
	ID           string        `json:"id"`
	Body         string        `json:"body"`
	CreatedAt    time.Time     `json:"createdAt"`
	User         *account      `json:"user"`
	BotActor     *named        `json:"botActor"`
	ExternalUser *externalUser `json:"externalUser"`
}

type relation struct {
	Type  string `json:"type"`
	Issue *other `json:"issue"`
}

type attachment struct {
	URL       string          `json:"url"`
	Title     string          `json:"title"`
	Metadata  json.RawMessage `json:"metadata"`
	CreatedAt time.Time       `json:"createdAt"`
}
