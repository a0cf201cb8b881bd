package tracker

import "time"

// States of a pull request.
const (
	Open   = "OPEN"
	Merged = "MERGED"
	Closed = "CLOSED"
)

// A PR is a pull request of a forge. Its texts are untrusted.
type PR struct {
	Number    int       `json:"number"`
	URL       string    `json:"url"`
	State     string    `json:"state"` // Open, Merged or Closed
	Title     string    `json:"title,omitempty"`
	Author    string    `json:"author,omitempty"`
	Branch    string    `json:"branch,omitempty"` // its head
	Base      string    `json:"base,omitempty"`
	Head      string    `json:"head,omitempty"`      // commit
	Landed    string    `json:"landed,omitempty"`    // commit by which it was merged, "" if the forge does not report it
	Mergeable string    `json:"mergeable,omitempty"` // yes, no, or "" while unknown
	CreatedAt time.Time `json:"created_at,omitzero"`
	Checks    []Check   `json:"checks,omitempty"`  // of its head
	Reviews   []Review  `json:"reviews,omitempty"` // oldest first
}

// Results of a check.
const (
	CheckPending = "pending"
	CheckPassed  = "passed"
	CheckFailed  = "failed"
)

// A Check is the result of an automatic check of a commit.
type Check struct {
	Name  string `json:"name"`
	State string `json:"state"` // CheckPending, CheckPassed or CheckFailed
	URL   string `json:"url,omitempty"`
	Text  string `json:"text,omitempty"`
}

// Verdicts of a review.
const (
	Approved         = "approved"
	ChangesRequested = "changes-requested"
	Commented        = "commented"
)

// A Review is a person's review of a pull request.
type Review struct {
	ID      string    `json:"id"`
	Author  string    `json:"author"`
	Bot     bool      `json:"bot,omitempty"`
	Verdict string    `json:"verdict"` // Approved, ChangesRequested or Commented
	Commit  string    `json:"commit,omitempty"`
	At      time.Time `json:"at"`
	Text    string    `json:"text,omitempty"`
	Lines   []Remark  `json:"lines,omitempty"`
}

// A Remark is a review comment on one line.
type Remark struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

// A NewPR describes a pull request to open.
type NewPR struct {
	Branch string
	Base   string
	Title  string
	Body   string
}
