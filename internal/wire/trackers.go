package wire

import (
	"orange/internal/core/boardcheck"
	"orange/internal/core/tracker"
)

// A TrackerList is the list of trackers, each with its last reading.
type TrackerList struct {
	Trackers []tracker.Reading `json:"trackers"`
}

// A TrackerUpdate is the new configuration of a tracker.
type TrackerUpdate struct {
	Tracker tracker.Config `json:"tracker"`
}

// RemovedTracker names a tracker that was removed.
type RemovedTracker struct {
	Removed string `json:"removed"`
}

// An IssueList is issues as they were last read.
type IssueList struct {
	Issues []tracker.Issue `json:"issues"`
}

// A SyncRequest says how to read a tracker.
type SyncRequest struct {
	Fix bool `json:"fix"` // correct what drifted
}

// SyncReport is lines about what was found.
type SyncReport struct {
	News []string `json:"news"`
}

// A DispatchRequest says how to dispatch issues.
type DispatchRequest struct {
	Dry bool `json:"dry"` // only say what would be done
}

// A BoardCheckRequest says which board the doctor checks, and whether it fixes what it can.
type BoardCheckRequest struct {
	Project string `json:"project,omitempty"` // check the local board of this project
	Tracker string `json:"tracker,omitempty"` // or this tracker
	Key     string `json:"key,omitempty"`     // only this issue; "" for all
	Fix     bool   `json:"fix,omitempty"`
}

// BoardCheckResult is what the doctor found on a board.
type BoardCheckResult struct {
	Findings []boardcheck.Finding `json:"findings"`
}
