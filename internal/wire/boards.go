package wire

import (
	"orange/internal/core/board"
	"orange/internal/core/task"
)

// A Board is the board of a project.
type Board struct {
	Cards   []board.Card `json:"cards"` // by number
	Columns []string     `json:"columns"`
	Project string       `json:"project"`
	Tags    []string     `json:"tags"`
}

// A NewCard is a card that a person adds to a board.
type NewCard struct {
	Title       string   `json:"title"`
	Column      string   `json:"column,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Description string   `json:"description,omitempty"`
	NoTask      bool     `json:"no_task,omitempty"`  // the card gets no task
	Workflow    string   `json:"workflow,omitempty"` // of its task
	Branch      string   `json:"branch,omitempty"`   // of its task; "": the server chooses a name
	Harness     string   `json:"harness,omitempty"`  // of its task
	Code        string   `json:"code,omitempty"`     // from the notification, where merges are confirmed by codes
}

// An AddedCard is a card that was added to a board.
type AddedCard struct {
	Card    board.Card `json:"card"`
	Task    task.ID    `json:"task,omitempty"`    // that works on it
	Warning string     `json:"warning,omitempty"` // why there is no task although one was wanted
}

// A CardShown is a card with its comments.
type CardShown struct {
	Card     board.Card      `json:"card"`
	Comments []board.Comment `json:"comments"` // oldest first
}

// A ChangedCard is a card after a change.
type ChangedCard struct {
	Card    board.Card `json:"card"`
	Changed bool       `json:"changed"` // false: the change was made before
}

// A CardHistory is what happened to a card, oldest first.
type CardHistory struct {
	History []board.Event `json:"history"`
}
