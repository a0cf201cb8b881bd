package task

import (
	"fmt"
	"strconv"
)

// A Project is a repository whose tasks share a pool of workspaces.
type Project struct {
	Name          string `json:"name"`
	Path          string `json:"path"`
	DefaultBranch string `json:"default_branch"`
	PoolSize      int    `json:"pool_size"`
	Workflow      string `json:"workflow,omitempty"` // name of the workflow new tasks follow
}

// DefaultPoolSize is the number of workspaces of a project that names none.
const DefaultPoolSize = 2

// MaxPoolSize bounds a pool: each workspace is a checkout on disk.
const MaxPoolSize = 256

// Workspaces lists the names of the project's pool, in order.
func (p Project) Workspaces() []string {
	names := make([]string, p.PoolSize)
	for i := range names {
		names[i] = p.Name + "--" + strconv.Itoa(i+1)
	}
	return names
}

// Check says what is wrong with a project, nil if nothing is.
func (p Project) Check() error {
	switch {
	case !validName(p.Name):
		return fmt.Errorf("project name %q: use letters, digits, dot, dash and underscore, at most 64", p.Name)
	case p.PoolSize < 1 || p.PoolSize > MaxPoolSize:
		return fmt.Errorf("pool size %d: give a positive integer, at most %d", p.PoolSize, MaxPoolSize)
	}
	return nil
}

func validName(s string) bool {
	if s == "" || len(s) > 64 || s == "." || s == ".." {
		return false
	}
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '-' && c != '_' && c != '.') {
			return false
		}
	}
	return true
}

// A Filter chooses tasks. Its zero value chooses all that are not over.
type Filter struct {
	Project string // "" for every project
	Status  string // "" for every status
	All     bool   // those that are over, too
}
