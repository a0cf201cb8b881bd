package linear

import "time"

// Variables of the requests. Pointers are optional.

type teamVars struct {
	Team    string `json:"team"`
	Project string `json:"project"`
}

type teamPageVars struct {
	Team  string  `json:"team"`
	After *string `json:"after,omitempty"`
}

type namesVars struct {
	States []string `json:"states"`
	Labels []string `json:"labels"`
}

type issuesVars struct {
	Filter filter  `json:"filter"`
	Last   int     `json:"last"`
	Before *string `json:"before,omitempty"`
}

type issueVars struct {
	ID string `json:"id"`
}

type moreVars struct {
	ID    string `json:"id"`
	After string `json:"after"`
}

type updateVars struct {
	ID    string      `json:"id"`
	Input updateInput `json:"input"`
}

type updateInput struct {
	StateID         string   `json:"stateId,omitempty"`
	AddedLabelIDs   []string `json:"addedLabelIds,omitempty"`
	RemovedLabelIDs []string `json:"removedLabelIds,omitempty"`
	Title           string   `json:"title,omitempty"`
	Description     *string  `json:"description,omitempty"`
}

type commentVars struct {
	Input commentInput `json:"input"`
}

type commentInput struct {
	ID      string `json:"id,omitempty"`
	IssueID string `json:"issueId"`
	Body    string `json:"body"`
}

// A filter selects issues.
type filter struct {
	Team      keyFilter    `json:"team"`
	Project   *nameFilter  `json:"project,omitempty"`
	State     *stateFilter `json:"state,omitempty"`
	UpdatedAt *dateFilter  `json:"updatedAt,omitempty"`
}

type keyFilter struct {
	Key textFilter `json:"key"`
}

type nameFilter struct {
	Name textFilter `json:"name"`
}

type stateFilter struct {
	Or []nameFilter `json:"or"`
}

type textFilter struct {
	Is string `json:"eqIgnoreCase"`
}

type dateFilter struct {
	After time.Time `json:"gt"`
}
