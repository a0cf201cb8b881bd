package wire

import (
	"orange/internal/core/boardcheck"
	"orange/internal/core/tracker"
)

// A TrackerList is the list of trackers, each with its last reading.
type TrackerList struct {
	Trackers []tracker.Reading `json:"trackers"`
}

// A TrackerSet is the new configuration of a tracker.
type TrackerSet struct {
	Tracker tracker.Config `json:"tracker"`
}

// Removed names a tracker that was removed.
type Removed struct {
	Removed string `json:"removed"`
}

// An IssueList is issues as they were last read.
type IssueList struct {
	Issues []tracker.Issue `json:"issues"`
}

// A SyncWish says how to read a tracker.
type SyncWish struct {
	Fix bool `json:"fix"` // correct what drifted
}

// News is lines about what was found.
type News struct {
	News []string `json:"news"`
}

// A DispatchWish says how to dispatch issues.
type DispatchWish struct {
	Dry bool `json:"dry"` // only say what would be done
}

// An Examination says which board the doctor checks, and whether it fixes what it can.
type Examination struct {
	Project string `json:"project,omitempty"` // check the local board of this project
	Tracker string `json:"tracker,omitempty"` // or this tracker
	Key     string `json:"key,omitempty"`     // only this issue; "" for all
	Fix     bool   `json:"fix,omitempty"`
}

// Findings is what the doctor found on a board.
type Findings struct {
	Findings []boardcheck.Finding `json:"findings"`
}
