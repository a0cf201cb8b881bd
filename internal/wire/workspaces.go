package wire

import (
	"time"

	"orange/internal/core/task"
)

// A Workspace is a worktree of a project's pool.
type Workspace struct {
	Name    string  `json:"name"`
	Project string  `json:"project"`
	Path    string  `json:"path"`
	Task    task.ID `json:"task,omitempty"`
	Branch  string  `json:"branch,omitempty"`
	Exists  bool    `json:"exists"`
	Dirty   bool    `json:"dirty"`
	Problem string  `json:"problem,omitempty"`
}

// A WorkspaceList is a list of workspaces.
type WorkspaceList struct {
	Workspaces []Workspace `json:"workspaces"`
}

// A PoolRequest says which workspaces to prepare.
type PoolRequest struct {
	Project string `json:"project"`
	Count   int    `json:"count"` // 0 for the whole pool
}

// A CleanRequest says how to remove workspaces.
type CleanRequest struct {
	DryRun bool          `json:"dry_run"`         // only say what would be done
	Purge  bool          `json:"purge,omitempty"` // delete files that were set aside
	Older  time.Duration `json:"older,omitempty"` // with Purge: only files set aside at least this long ago

	// With Purge: these folders that were set aside and no others, of whatever age. Without a name, whole workspaces
	// and repositories that were set aside are kept.
	Folders []string `json:"folders,omitempty"`
}

// A CleanedWorkspace is a workspace, or a folder of files set aside from one, that was removed or kept, and the
// reason.
type CleanedWorkspace struct {
	Name string `json:"name"`
	Path string `json:"path,omitempty"`
	Why  string `json:"why"`
}

// A CleanResult says which unneeded workspaces were removed and which were kept.
type CleanResult struct {
	Kept    []CleanedWorkspace `json:"kept"`
	Removed []CleanedWorkspace `json:"removed"`
}

// A Salvage is work that was in a workspace when it was released.
type Salvage struct {
	Ref        string              `json:"ref"`
	Project    string              `json:"project"`
	Task       task.ID             `json:"task"`
	At         time.Time           `json:"at"`
	Commit     string              `json:"commit"`
	Files      int                 `json:"files"`
	Staged     string              `json:"staged,omitempty"` // commit of the staged content, if it differs from the files
	Submodules []SalvagedSubmodule `json:"submodules,omitempty"`
}

// A SalvagedSubmodule is work in a submodule that was kept with the rest.
type SalvagedSubmodule struct {
	Path       string `json:"path"`
	Repository string `json:"repository"` // the repository to fetch it from
	Ref        string `json:"ref"`        // its ref in that repository
}

// A SalvageList is a list of salvaged work.
type SalvageList struct {
	Salvages []Salvage `json:"salvages"`
}
