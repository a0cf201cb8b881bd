package wire

import (
	"reflect"

	"orange/internal/core/task"
)

// A ProjectChange says which values of a project change; nil leaves a value as it is.
type ProjectChange struct {
	Path        *string        `json:"moved_to,omitempty"`       // new path of a repository that was moved
	Base        *string        `json:"default_branch,omitempty"` // branch that new tasks start from and land on
	Model       *string        `json:"model,omitempty"`
	AgentFlags  *string        `json:"agent_flags,omitempty"`
	Permissions *string        `json:"permissions,omitempty"`
	PoolSize    *int           `json:"pool_size,omitempty"`
	Workflow    *string        `json:"workflow,omitempty"`
	Delivery    *task.Delivery `json:"delivery,omitempty"`
	Setup       *string        `json:"setup,omitempty"`
	Teardown    *string        `json:"teardown,omitempty"`
	Budget      *task.Budget   `json:"budget,omitempty"` // the whole budget: limits that it leaves out are removed
	Forge       *task.Forge    `json:"forge,omitempty"`
	TrustGit    *bool          `json:"trust_git,omitempty"` // trust the programs that git's configuration names now
	Confirm     *task.Confirm  `json:"confirm,omitempty"`
	Vars        *task.Vars     `json:"vars,omitempty"`         // variables to set; an empty text removes one
	Code        string         `json:"code,omitempty"`         // from the notification, to turn off confirmation by codes
	HoldLanding *bool          `json:"hold_landing,omitempty"` // whether finished work waits in the landing queues
	Land        *string        `json:"land,omitempty"`         // how work lands: auto, ff, merge, rebase or squash
	MergePR     *string        `json:"merge_pr,omitempty"`     // auto: Orange merges pull requests; "": a person does
	ReuseChecks *bool          `json:"reuse_checks,omitempty"` // whether results of checks in a workspace count for a candidate with the same tree
	Unchanged   []string       `json:"unchanged,omitempty"`    // patterns of paths that tasks may not change without a person; !PATTERN removes one
	Checks      []string       `json:"checks,omitempty"`       // NAME=COMMAND sets a check, NAME= removes one, NAME.KEY=VALUE sets its timeout, retries, env, folder or setup
}

// A ProjectList is the list of projects.
type ProjectList struct {
	Projects []task.Project `json:"projects"`
}

// ProjectDetails is one project.
type ProjectDetails struct {
	Project task.Project      `json:"project"`
	Git     []task.GitProgram `json:"git_programs,omitempty"` // the programs that git may run from now on, if the request decided that
}

// A Location is what a folder belongs to. A field is empty if the folder belongs to nothing of that kind.
type Location struct {
	Project string  `json:"project"`
	Task    task.ID `json:"task"`
	GitRoot string  `json:"git_root"`

	Worktree bool `json:"worktree,omitempty"` // a worktree of the project's repository that is not one of Orange
}

// IsEmpty reports whether nothing is to change.
func (c *ProjectChange) IsEmpty() bool { return reflect.ValueOf(*c).IsZero() }
