// Package health checks a data folder and the agents of this machine.
package health

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"orange/internal/adapter/git"
	"orange/internal/adapter/harness"
	"orange/internal/adapter/sqlite"
	"orange/internal/adapter/tmux"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/doctor"
	"orange/internal/host"
	"orange/internal/host/agents"
	"orange/internal/server/gittrust"
	"orange/internal/wire"
)

// A Check returns what it found, or an error that says what is wrong.
type Check = func(ctx context.Context) (string, error)

// Checks are the checks of a data folder and what they need.
type Checks struct {
	Store         *sqlite.Store
	Git           *git.Git
	Trust         *gittrust.Trust
	Host          *host.Host
	Projects      func() []task.Project
	FindProgram   func(harness string) (string, error)
	Workspaces    func(ctx context.Context) ([]wire.Workspace, error)
	Backups       Check
	Anchors       Check
	Trackers      Check
	Notifications Check
	Settings      Check
}

// Run runs all checks.
func (s Checks) Run(ctx context.Context) []doctor.Result {
	list := []doctor.Check{
		{Name: "store", Run: s.checkStore, Fix: "run orange stop, then orange doctor --restore"},
		{Name: "backups", Run: s.Backups, Fix: "fix the error; the server tries again within an hour and when it starts"},
		{Name: "journal", Run: s.checkJournal, Fix: "orange doctor --repair rebuilds the records from their journals; a journal that cannot be read needs orange doctor --restore"},
		{Name: "chain", Run: s.checkChain, Fix: "something other than Orange changed the journal: compare it with a backup or an export, and trust only what happened before that row"},
		{Name: "anchors", Run: s.Anchors, Fix: "if the journal was rewritten, compare it with a backup or an export, and trust only what happened up to the last row that agrees; if the store is older, put the newer one back, or run orange stop and orange doctor --restore; if an anchor cannot be written, fix the error, and the server tries again"},
		{Name: "workflows", Run: s.checkWorkflows, Fix: "import an export that has the missing text with orange import"},
		{Name: "projects", Run: s.checkProjects, Fix: "put the repository back, or orange project remove it"},
		{Name: "git programs", Run: s.checkGitPrograms, Fix: "check each, then remove it from the configuration of git, or run orange project update NAME --trust-git"},
		{Name: "trackers", Run: s.Trackers, Fix: "orange tracker test and orange tracker sync show details; orange tracker sync --fix moves issues back"},
		{Name: "notifications", Run: s.Notifications, Fix: "orange notify list and orange notify test show details"},
		{Name: "settings", Run: s.Settings, Fix: "edit config.json, which the server then reads; for what it reads only when it starts, run orange restart"},
		{Name: "attention", Run: s.checkAttention, Fix: "see orange task explain for each, then orange resume"},
	}
	if s.Host.Agents != nil {
		list = append(list,
			doctor.Check{Name: "agents", Run: s.checkAgents, Fix: "run orange restart"},
			doctor.Check{Name: "git identity", Run: s.checkIdentity, Fix: "run git config --global user.name \"YOUR NAME\" and git config --global user.email YOU@EXAMPLE.COM"},
			doctor.Check{Name: "terminal", Run: s.checkTerminal, Fix: "install tmux 3.2 or newer, or set sessions to headless in config.json"},
			doctor.Check{Name: "workspaces", Run: s.checkWorkspaces, Fix: "see orange workspace list; orange workspace gc removes what is not needed"},
		)
	}
	return doctor.Run(ctx, list)
}

// checkAgents checks that every attempt that is not over is being watched. Only agents that have a process count as
// alive.
func (s Checks) checkAgents(context.Context) (string, error) {
	tasks, err := s.Store.UnsettledTasks()
	if err != nil {
		return "", err
	}
	alive, lost := 0, 0
	for i := range tasks {
		absent := s.Host.Agents.AttemptsWithoutProcess(&tasks[i])
		for _, a := range tasks[i].Attempts {
			if !a.Running {
				continue
			}
			if !s.Host.Agents.IsWatched(agents.Key{Task: tasks[i].ID, Number: a.Number}) {
				lost++
			}
			if !slices.Contains(absent, a.Number) {
				alive++
			}
		}
	}
	if lost > 0 {
		return "", fmt.Errorf("%d attempts that are not over are not watched, and %d agents are alive", lost, alive)
	}
	first, ok := harness.FirstInstalled(s.FindProgram)
	if path, err := s.FindProgram(first); ok && err == nil {
		first += " at " + path
	}
	if !ok {
		first = "no coding agent is installed"
	}
	return fmt.Sprintf("%d alive, all watched; %s", alive, first), nil
}

// checkIdentity checks that agents can commit in every project.
func (s Checks) checkIdentity(ctx context.Context) (string, error) {
	var missing []string
	for _, p := range s.Projects() {
		if !s.Git.HasIdentity(ctx, p.Path) {
			missing = append(missing, p.Name)
		}
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("git knows no author in %s: commits of agents fail there", strings.Join(missing, ", "))
	}
	return "git knows the author of commits", nil
}

func (s Checks) checkTerminal(ctx context.Context) (string, error) {
	if !s.Host.HasTerminal() {
		return "agents run without one", nil
	}
	version, err := s.Host.TerminalVersion(ctx)
	if err == nil && !tmux.IsSupported(version) {
		err = fmt.Errorf("tmux %s is too old", version)
	}
	return "tmux " + version + " at " + s.Host.Terminal, err
}

func (s Checks) checkWorkspaces(ctx context.Context) (string, error) {
	list, err := s.Workspaces(ctx)
	if err != nil {
		return "", err
	}
	var wrong []string
	made := 0
	for _, w := range list {
		if w.Exists {
			made++
		}
		if w.Problem != "" && !s.changesWorkspace(w.Task) {
			wrong = append(wrong, w.Name+": "+w.Problem)
		}
	}
	if len(wrong) > 0 {
		return "", errors.New(strings.Join(wrong, "; "))
	}
	return fmt.Sprintf("%d of %d exist, and none has a problem", made, len(list)), nil
}

// changesWorkspace reports whether a task is about to get its workspace or to release it. The record and the workspace
// then differ for a moment.
func (s Checks) changesWorkspace(id task.ID) bool {
	t, ok, err := s.Store.Task(id)
	return err == nil && ok && slices.ContainsFunc(t.Pending, func(e task.Effect) bool {
		return !e.GivenUp && (e.Do == workflow.AcquireWorkspace || e.Do == workflow.ReleaseWorkspace)
	})
}

func (s Checks) checkStore(ctx context.Context) (string, error) {
	return "intact", s.Store.CheckIntegrity(ctx)
}

func (s Checks) checkJournal(ctx context.Context) (string, error) {
	different, err := s.Store.CompareRecords(ctx)
	if err == nil && len(different) > 0 {
		err = fmt.Errorf("%d records are not what their journals fold to: %s", len(different), strings.Join(different, "; "))
	}
	return "every record is what its journal folds to", err
}

// checkChain compares every row of the journal with its link.
func (s Checks) checkChain(ctx context.Context) (string, error) {
	chain, broken, err := s.Store.VerifyChain(ctx)
	return fmt.Sprintf("%d rows are as they were written, the last link is %.16s", chain.Rows, chain.Head), errors.Join(broken, err)
}

func (s Checks) checkWorkflows(ctx context.Context) (string, error) {
	n := 0
	err := s.Store.EachWorkflow(ctx, func(hash, name, file, text string) error {
		n++
		return checkPinned(hash, name, file, text)
	})
	return fmt.Sprintf("%d pinned texts read as they were", n), err
}

func (s Checks) checkProjects(ctx context.Context) (string, error) {
	list := s.Projects()
	for _, p := range list {
		if _, err := os.Stat(p.Path); errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("project %s: its repository %s is gone: if it was moved, run orange project update %s --path NEW", p.Name, p.Path, p.Name)
		}
		if _, err := s.Git.FindRoot(ctx, p.Path); err != nil {
			return "", fmt.Errorf("project %s: %w", p.Name, err)
		}
	}
	return fmt.Sprintf("%d registered, all are repositories", len(list)), nil
}

func (s Checks) checkAttention(context.Context) (string, error) {
	tasks, err := s.Store.UnsettledTasks()
	if err != nil {
		return "", err
	}
	var waiting []string
	for _, t := range tasks {
		if t.Attention != "" {
			waiting = append(waiting, string(t.ID)+": "+t.Attention)
		}
	}
	if len(waiting) > 0 {
		return "", errors.New(strings.Join(waiting, "; "))
	}
	return "no task needs it", nil
}

// checkPinned returns an error if a stored workflow text is no longer the one that tasks were pinned to.
func checkPinned(hash, name, file, text string) error {
	if workflow.HashOf(text) != hash {
		return fmt.Errorf("the text of workflow %s (%.12s) is damaged", name, hash)
	}
	if _, err := workflow.Parse(file, text); err != nil {
		return fmt.Errorf("workflow %s (%.12s): %w", name, hash, err)
	}
	return nil
}

// checkGitPrograms returns how many programs git may run, or an error that names those that it may not run.
func (s Checks) checkGitPrograms(ctx context.Context) (string, error) {
	trusted := 0
	var wrong []string
	for _, p := range s.Projects() {
		trusted += len(s.Trust.TrustedPrograms(p.Name))
		if text := s.Trust.CheckUntrusted(ctx, p); text != "" {
			wrong = append(wrong, "project "+p.Name+": "+text)
		}
	}
	if len(wrong) > 0 {
		return "", errors.New(strings.Join(wrong, "; "))
	}
	return fmt.Sprintf("%d trusted, and git names no others", trusted), nil
}
