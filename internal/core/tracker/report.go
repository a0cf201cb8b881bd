package tracker

import "time"

// A Report is what a look at a tracker found.
type Report struct {
	Tracker string   `json:"tracker"`
	Issues  int      `json:"issues"` // that may be worked on
	Tasks   int      `json:"tasks"`  // that are open
	News    []string `json:"news"`   // what was heard, and what was done about it
	Drift   []Drift  `json:"drift"`
	Problem string   `json:"problem,omitempty"`
}

// A Round is one turn of the dispatcher.
type Round struct {
	Tracker string   `json:"tracker"`
	Choices []Choice `json:"choices"`
	Report  Report   `json:"report"`
	Problem string   `json:"problem,omitempty"`
}

// A Trial says whether a tracker can be worked with.
type Trial struct {
	Tracker string   `json:"tracker"`
	Account string   `json:"account"`
	Columns []string `json:"columns"`
	Tags    []string `json:"tags"`
	Missing []string `json:"missing"` // words of the workflow that it does not know
}

// A Reading is how fresh what is kept of a tracker is.
type Reading struct {
	Config  Config    `json:"config"`
	At      time.Time `json:"at,omitzero"` // when it was last looked at
	Problem string    `json:"problem,omitempty"`
	Issues  int       `json:"issues"`
	Tasks   int       `json:"tasks"`
}

// A Standing is the issue of a task, as it was last read.
type Standing struct {
	Ref    string    `json:"ref"`
	URL    string    `json:"url,omitempty"`
	Column string    `json:"column"`
	Want   string    `json:"want,omitempty"` // where it should be, if that is another column
	ReadAt time.Time `json:"read_at"`
}
