package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"orange/internal/adapter/harness"
	"orange/internal/adapter/tmux"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/doctor"
	"orange/internal/host/agents"
)

// runChecks looks at what can be wrong with the data folder.
func (s *Server) runChecks(ctx context.Context) []doctor.Result {
	list := []doctor.Check{
		{Name: "store", Run: s.checkStore, Fix: "run orange stop, then orange doctor --restore"},
		{Name: "backups", Run: s.checkBackups, Fix: "do what it says; the server tries again within an hour and when it starts"},
		{Name: "journal", Run: s.checkJournal, Fix: "orange doctor --repair rebuilds the records from their journals; a journal that cannot be read needs orange doctor --restore"},
		{Name: "chain", Run: s.checkChain, Fix: "the journal was changed behind Orange's back: compare it with a backup or an export, and trust what happened before that row only"},
		{Name: "anchors", Run: s.checkAnchors, Fix: "a journal that was rewritten: compare it with a backup or an export, and trust what happened up to the last row that agrees only; an older store: put the newer one back, or run orange stop and orange doctor --restore; an anchor that cannot be written: do what it says, and it is tried again"},
		{Name: "workflows", Run: s.checkWorkflows, Fix: "restore the missing text with orange import of an export that has it"},
		{Name: "projects", Run: s.checkProjects, Fix: "put the repository back, or orange project remove it"},
		{Name: "git programs", Run: s.checkGitPrograms, Fix: "look at each, then remove it from the configuration of git, or run orange project update NAME --trust-git"},
		{Name: "trackers", Run: s.checkTrackers, Fix: "orange tracker test and orange tracker sync say more; orange tracker sync --fix puts issues back"},
		{Name: "notifications", Run: s.checkNotify, Fix: "orange notify list and orange notify test say more"},
		{Name: "attention", Run: s.checkAttention, Fix: "see orange task explain for each, then orange resume"},
	}
	if !s.cfg.Record {
		list = append(list,
			doctor.Check{Name: "agents", Run: s.checkAgents, Fix: "restart the server: orange stop, then any command"},
			doctor.Check{Name: "terminal", Run: s.checkTerminal, Fix: "install tmux 3.2 or newer, or set sessions to headless in config.json"},
			doctor.Check{Name: "workspaces", Run: s.checkWorkspaces, Fix: "see orange workspace list; orange workspace gc removes what is not needed"},
		)
	}
	return doctor.Run(ctx, list)
}

// checkAgents makes sure that every attempt that is not over is being watched. Only agents
// that have a process are alive.
func (s *Server) checkAgents(context.Context) (string, error) {
	tasks, err := s.store.UnsettledTasks()
	if err != nil {
		return "", err
	}
	alive, lost := 0, 0
	for i := range tasks {
		absent := s.host.Agents.AttemptsWithoutProcess(&tasks[i])
		for _, a := range tasks[i].Attempts {
			if !a.Running {
				continue
			}
			if !s.host.Agents.IsWatched(agents.Key{Task: tasks[i].ID, Number: a.Number}) {
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
	first, ok := harness.FirstInstalled(exec.LookPath)
	if !ok {
		first = "no coding agent is installed"
	}
	return fmt.Sprintf("%d alive, all watched; %s", alive, first), nil
}

func (s *Server) checkTerminal(ctx context.Context) (string, error) {
	if !s.host.HasTerminal() {
		return "agents run without one", nil
	}
	version, err := s.host.TerminalVersion(ctx)
	if err == nil && !tmux.IsSupported(version) {
		err = fmt.Errorf("tmux %s is too old", version)
	}
	return "tmux " + version + " at " + s.cfg.Terminal, err
}

func (s *Server) checkWorkspaces(ctx context.Context) (string, error) {
	list, err := s.workspaces().ListWorkspaces(ctx)
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
	return fmt.Sprintf("%d of %d are made, nothing is wrong with them", made, len(list)), nil
}

// changesWorkspace says whether a task is about to get its workspace or to give it back: the
// record and the workspace then differ for a moment.
func (s *Server) changesWorkspace(id task.ID) bool {
	t, ok, err := s.store.Task(id)
	return err == nil && ok && slices.ContainsFunc(t.Pending, func(e task.Effect) bool {
		return !e.GivenUp && (e.Do == workflow.AcquireWorkspace || e.Do == workflow.ReleaseWorkspace)
	})
}

// repairRecords writes the records anew from their journals.
func (s *Server) repairRecords(ctx context.Context) error {
	err := s.store.RepairRecords(ctx)
	s.runtime.ForgetRecords()
	return err
}

func (s *Server) checkStore(ctx context.Context) (string, error) {
	return "intact", s.store.CheckIntegrity(ctx)
}

func (s *Server) checkJournal(ctx context.Context) (string, error) {
	different, err := s.store.CompareRecords(ctx)
	if err == nil && len(different) > 0 {
		err = fmt.Errorf("%d records are not what their journals fold to: %s", len(different), strings.Join(different, "; "))
	}
	return "every record is what its journal folds to", err
}

// checkChain compares every row of the journal with its link.
func (s *Server) checkChain(ctx context.Context) (string, error) {
	chain, broken, err := s.store.VerifyChain(ctx)
	return fmt.Sprintf("%d rows are as they were written, the last link is %.16s", chain.Rows, chain.Head), errors.Join(broken, err)
}

func (s *Server) checkWorkflows(ctx context.Context) (string, error) {
	n := 0
	err := s.store.EachWorkflow(ctx, func(hash, name, file, text string) error {
		n++
		return checkPinned(hash, name, file, text)
	})
	return fmt.Sprintf("%d pinned texts read as they were", n), err
}

func (s *Server) checkProjects(ctx context.Context) (string, error) {
	list := s.runtime.Projects()
	for _, p := range list {
		if _, err := os.Stat(p.Path); errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("project %s: its repository %s is gone: if it was moved, run orange project update %s --path NEW", p.Name, p.Path, p.Name)
		}
		if _, err := s.git.FindRoot(ctx, p.Path); err != nil {
			return "", fmt.Errorf("project %s: %w", p.Name, err)
		}
	}
	return fmt.Sprintf("%d registered, all are repositories", len(list)), nil
}

func (s *Server) checkAttention(context.Context) (string, error) {
	tasks, err := s.store.UnsettledTasks()
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
	return "no task asks for it", nil
}

// checkPinned says whether a stored workflow text is still what tasks were pinned to.
func checkPinned(hash, name, file, text string) error {
	if workflow.HashOf(text) != hash {
		return fmt.Errorf("the text of workflow %s (%.12s) is damaged", name, hash)
	}
	if _, err := workflow.Parse(file, text); err != nil {
		return fmt.Errorf("workflow %s (%.12s): %w", name, hash, err)
	}
	return nil
}
