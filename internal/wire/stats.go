package wire

import (
	"time"

	"orange/internal/core/stats"
)

// A StatsQuery selects tasks and what they are grouped by.
type StatsQuery struct {
	By      stats.By
	Project string    // "" for all
	Since   time.Time // only tasks that were created at this time or later; zero for all
}

// Stats are the figures of tasks, by group and in total.
type Stats struct {
	At      time.Time     `json:"at"` // until then the time of open tasks counts
	By      stats.By      `json:"by"`
	Project string        `json:"project,omitempty"`
	Since   time.Time     `json:"since,omitzero"`
	Groups  []stats.Group `json:"groups"`
	Total   stats.Group   `json:"total"`

	Checks []stats.CheckGroup `json:"checks"` // runs of the tasks' checks, by name
}
