package agent

import "orange/internal/core/task"

// Files in the folder of an attempt that runs a check.
const (
	CheckOrdersFile = "check.json"
	CheckResultFile = "result.json"
)

// CheckOrders say which check to run, and where.
type CheckOrders struct {
	Check task.CheckDefinition `json:"check"`
	Dir   string               `json:"dir"`   // the worktree
	Place string               `json:"place"` // what kind of worktree it is
}
