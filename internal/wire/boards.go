package wire

import (
	"orange/internal/core/board"
	"orange/internal/core/task"
)

// A Board is the board of a project.
type Board struct {
	Cards   []board.Card `json:"cards"` // in the order of their numbers
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
	NoTask      bool     `json:"no_task,omitempty"`  // do not create a task for the card
	Workflow    string   `json:"workflow,omitempty"` // of its task
	Branch      string   `json:"branch,omitempty"`   // of its task; "" lets the server choose a name
	Harness     string   `json:"harness,omitempty"`  // of its task
	Code        string   `json:"code,omitempty"`     // from the notification, if merges are confirmed by codes
}

// An AddedCard is a card that was added to a board.
type AddedCard struct {
	Card    board.Card `json:"card"`
	Task    task.ID    `json:"task,omitempty"`    // the task that works on it
	Warning string     `json:"warning,omitempty"` // why no task was created although one was requested
}

// CardDetails is a card with its comments.
type CardDetails struct {
	Card     board.Card      `json:"card"`
	Comments []board.Comment `json:"comments"` // oldest first
}

// A ChangedCard is a card after a change.
type ChangedCard struct {
	Card    board.Card `json:"card"`
	Changed bool       `json:"changed"` // false if the change had been made before
}

// A CardHistory is what happened to a card, oldest first.
type CardHistory struct {
	History []board.Event `json:"history"`
}
