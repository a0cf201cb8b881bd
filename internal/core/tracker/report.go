package tracker

import "time"

// A Report is the result of polling a tracker.
type Report struct {
	Tracker string   `json:"tracker"`
	Issues  int      `json:"issues"` // that may be worked on
	Tasks   int      `json:"tasks"`  // that are open
	News    []string `json:"news"`   // what changed, and what was done about it
	Drift   []Drift  `json:"drift"`
	Problem string   `json:"problem,omitempty"`
}

// A Round is one run of the dispatcher.
type Round struct {
	Tracker string   `json:"tracker"`
	Choices []Choice `json:"choices"`
	Report  Report   `json:"report"`
	Problem string   `json:"problem,omitempty"`
}

// A Trial is the result of testing the connection to a tracker.
type Trial struct {
	Tracker string   `json:"tracker"`
	Account string   `json:"account"`
	Columns []string `json:"columns"`
	Tags    []string `json:"tags"`
	Missing []string `json:"missing"` // columns and tags of the workflow that it does not have
}

// A Reading describes how recent the stored data of a tracker is.
type Reading struct {
	Config  Config    `json:"config"`
	At      time.Time `json:"at,omitzero"` // when it was last polled
	Problem string    `json:"problem,omitempty"`
	Issues  int       `json:"issues"`
	Tasks   int       `json:"tasks"`
}

// A Standing is the issue of a task, as last read.
type IssueStatus struct {
	Ref    string    `json:"ref"`
	URL    string    `json:"url,omitempty"`
	Column string    `json:"column"`
	Want   string    `json:"want,omitempty"` // the column where it should be, if it is in another
	ReadAt time.Time `json:"read_at"`
}
