package task

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Project is a repository whose tasks share a pool of workspaces.
type Project struct {
	Name          string `json:"name"`
	Path          string `json:"path"`
	DefaultBranch string `json:"default_branch"`
	PoolSize      int    `json:"pool_size"`
	Workflow      string `json:"workflow,omitempty"` // name of the workflow of new tasks
	Policy
}

// ForTask returns the project as a task sees it: its default branch is the branch that the task starts from and lands on.
func (p Project) ForTask(t *Task) Project {
	p.DefaultBranch = cmp.Or(t.BaseBranch, p.DefaultBranch)
	return p
}

// A Policy holds what a person configured for a project's tasks.
type Policy struct {
	Delivery    Delivery `json:"delivery,omitempty"` // "" for local
	Setup       string   `json:"setup,omitempty"`    // shell command for a workspace when a task takes it
	Teardown    string   `json:"teardown,omitempty"` // likewise, before the workspace is released
	Budget      Budget   `json:"budget,omitzero"`
	Forge       Forge    `json:"forge,omitzero"`
	Confirm     Confirm  `json:"confirm,omitzero"`
	Vars        Vars     `json:"vars,omitempty"`        // for the prompts of its tasks
	Model       string   `json:"model,omitempty"`       // of the harness that tasks have if they name none
	AgentFlags  string   `json:"agent_flags,omitempty"` // likewise
	Permissions string   `json:"permissions,omitempty"` // what agents may do without asking; "" for all
	Checks      Checks   `json:"checks,omitempty"`      // commands that Orange runs on the work of its tasks

	Unchanged PathPatterns `json:"unchanged,omitempty"` // paths that its tasks may not change without a person

	HoldLanding bool   `json:"hold_landing,omitempty"` // finished work waits in the landing queues
	Land        string `json:"land,omitempty"`         // how work lands if nobody asks for a strategy; "" for LandAuto
	MergePR     string `json:"merge_pr,omitempty"`     // who merges pull requests: MergePRAuto, or "" for a person
	ReuseChecks bool   `json:"reuse_checks,omitempty"` // results of checks in a workspace count for a candidate with the same tree
}

// The ways in which work lands.
const (
	LandAuto   = "auto"   // a merge commit only if one is needed
	LandFF     = "ff"     // never a merge commit
	LandMerge  = "merge"  // always a merge commit
	LandRebase = "rebase" // the commits of the branch again, on the target
	LandSquash = "squash" // one commit with all changes of the branch
)

// LandStrategies lists the ways in which work lands.
var LandStrategies = []string{LandAuto, LandFF, LandMerge, LandRebase, LandSquash}

// MergePRAuto lets Orange merge pull requests.
const MergePRAuto = "auto"

// A Confirm lists the actions that need a person's confirmation.
type Confirm struct {
	Merge string `json:"merge,omitempty"` // ConfirmCode, or "" for no confirmation
}

// ConfirmCode requires a code that Orange sends by notification.
const ConfirmCode = "code"

// A Forge is where the pull requests of a project are. Empty fields follow from the project's remote. It holds no
// secret, only a reference to one.
type Forge struct {
	Kind  string `json:"kind,omitempty"`  // ForgeGitHub or ForgeGitea
	URL   string `json:"url,omitempty"`   // github: of the API; gitea: of the forge
	Scope string `json:"scope,omitempty"` // OWNER/REPO
	Token string `json:"token,omitempty"` // env:NAME, file:PATH, command:... or gh
}

// Kinds of forges.
const (
	ForgeGitHub = "github"
	ForgeGitea  = "gitea" // also Forgejo
)

// Delivery is how finished work leaves this machine.
type Delivery string

// The values of Delivery.
const (
	DeliverLocal Delivery = "local" // it stays; a person merges it
	DeliverPush  Delivery = "push"  // the branch is pushed
	DeliverPR    Delivery = "pr"    // the branch is pushed and a pull request is opened
)

// PushesBranch reports whether the branch is pushed to the remote.
func (d Delivery) PushesBranch() bool { return d == DeliverPush || d == DeliverPR }

// A Budget limits what agents may cost. Zero means no limit.
type Budget struct {
	TaskAttempts int   `json:"task_attempts,omitempty"`
	TaskMicros   int64 `json:"task_cost_micro_usd,omitempty"`
	DayAttempts  int   `json:"day_attempts,omitempty"` // of all tasks of the project, per day in UTC
	DayMicros    int64 `json:"day_cost_micro_usd,omitempty"`
}

// HasDailyLimit reports whether there is a limit per day.
func (b Budget) HasDailyLimit() bool { return b.DayAttempts > 0 || b.DayMicros > 0 }

// DefaultPoolSize is the pool size of a project that does not set one.
const DefaultPoolSize = 2

// MaxPoolSize limits the pool size: each workspace is a checkout on disk.
const MaxPoolSize = 256

// WorkspaceNames lists the names of the project's pool, in order.
func (p Project) WorkspaceNames() []string {
	names := make([]string, p.PoolSize)
	for i := range names {
		names[i] = p.Name + "--" + strconv.Itoa(i+1)
	}
	return names
}

// Check returns what is wrong with a project, or nil.
func (p Project) Check() error {
	switch {
	case !validName(p.Name):
		return fmt.Errorf("project name %q: use letters, digits, dot, dash and underscore, at most 64", p.Name)
	case p.PoolSize < 1 || p.PoolSize > MaxPoolSize:
		return fmt.Errorf("pool size %d: give a positive integer, at most %d", p.PoolSize, MaxPoolSize)
	}
	return p.Policy.validatePolicy()
}

func (p Policy) validatePolicy() error {
	b := p.Budget
	switch {
	case p.Delivery != "" && p.Delivery != DeliverLocal && !p.Delivery.PushesBranch():
		return fmt.Errorf("delivery %q: give local, push or pr", p.Delivery)
	case p.Forge.Kind != "" && p.Forge.Kind != ForgeGitHub && p.Forge.Kind != ForgeGitea:
		return fmt.Errorf("forge %q: give github or gitea", p.Forge.Kind)
	case p.Confirm.Merge != "" && p.Confirm.Merge != ConfirmCode:
		return fmt.Errorf("confirm merge=%q: give code or none", p.Confirm.Merge)
	case p.Land != "" && !slices.Contains(LandStrategies, p.Land):
		return fmt.Errorf("land %q: give %s", p.Land, strings.Join(LandStrategies, ", "))
	case p.MergePR != "" && p.MergePR != MergePRAuto:
		return fmt.Errorf("merge %q: give auto or person", p.MergePR)
	case p.Permissions != "" && p.Permissions != "skip" && p.Permissions != "edits" && p.Permissions != "ask":
		return fmt.Errorf("permissions %q: give skip, edits or ask", p.Permissions)
	case b.TaskAttempts < 0 || b.TaskMicros < 0 || b.DayAttempts < 0 || b.DayMicros < 0:
		return errors.New("a budget is not negative: give 0 for no bound")
	}
	if err := p.Checks.Validate(); err != nil {
		return err
	}
	if err := p.Unchanged.Validate(); err != nil {
		return err
	}
	return p.Vars.Check()
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

// A Filter selects tasks. Its zero value selects all that are not over.
type Filter struct {
	Project   string    // "" for every project
	Status    string    // "" for every status
	All       bool      // include those that are over
	OverSince time.Time // include those that came to their state then or later, unless it is zero
}
