// Package hints says what a person should know about a task that was just created, and would otherwise find out later:
// where its work starts, how many agents it needs, and what this machine lacks. It changes nothing.
package hints

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"orange/internal/adapter/git"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/humanize"
)

// Hints inspects the projects and the machine of a server.
type Hints struct {
	Git        *git.Git
	Project    func(name string) (task.Project, bool)
	Definition func(t *task.Task) (*workflow.Definition, error)
	Tasks      func(task.Filter, func(fold []byte) error) error
	NoTmux     bool   // agents run without a terminal, because tmux is not installed
	Config     string // path of config.json
}

// ForNewTask returns one line for each fact about a task that a person asked for.
func (h Hints) ForNewTask(ctx context.Context, w *signal.NewTask, t *task.Task) []string {
	var out []string
	add := func(line string) {
		if line != "" {
			out = append(out, line)
		}
	}
	p, ok := h.Project(t.Project)
	if !ok {
		return nil
	}
	if w.BaseBranch == "" && t.Parent == "" {
		add(h.otherBase(ctx, p, t))
	}
	if t.Queued {
		add(h.fullPool(p))
	}
	add(h.fewestAgents(t))
	if h.NoTmux {
		add("tmux is not installed, so agents run without a terminal: install tmux to watch them and to answer them, or set \"sessions\": \"headless\" in " + h.Config)
	}
	if !h.Git.HasIdentity(ctx, p.Path) {
		add("git knows no author here, so the commits of agents will fail: run git config --global user.name \"YOUR NAME\" and git config --global user.email YOU@EXAMPLE.COM")
	}
	return out
}

// otherBase says where the work starts if another branch is checked out.
func (h Hints) otherBase(ctx context.Context, p task.Project, t *task.Task) string {
	here, err := h.Git.CurrentBranch(ctx, p.Path)
	if err != nil || here == t.BaseBranch || t.BaseBranch == "" {
		return ""
	}
	return fmt.Sprintf("the work starts at %s and lands there, although %s is checked out: for another base, --base %s, or orange project update %s --base %s for all tasks",
		t.BaseBranch, here, here, p.Name, here)
}

// fewestAgents says how many agents a task starts, if it is more than one.
func (h Hints) fewestAgents(t *task.Task) string {
	def, err := h.Definition(t)
	if err != nil {
		return ""
	}
	roles := def.FewestRoles(t.Status)
	if len(roles) < 2 {
		return ""
	}
	return fmt.Sprintf("workflow %s starts at least %d agents for it: %s", t.Workflow, len(roles), strings.Join(roles, ", "))
}

// fullPool says what holds the workspaces of a project that has none left, if people are waited for: a task keeps its
// workspace until it is over.
func (h Hints) fullPool(p task.Project) string {
	held, waiting := 0, []string{}
	err := h.Tasks(task.Filter{Project: p.Name}, func(fold []byte) error {
		var t task.Task
		if err := json.Unmarshal(fold, &t); err != nil || t.Workspace == "" {
			return err
		}
		held++
		if def, err := h.Definition(&t); err == nil {
			if st, ok := def.StateNamed(t.Status); ok && st.Kind == workflow.HumanDo {
				waiting = append(waiting, t.Branch)
			}
		}
		return nil
	})
	if err != nil || len(waiting) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of the %d workspaces of %s are held by work that waits for your review (%s): merge or cancel some of it, or run orange project update %s --pool-size %d",
		len(waiting), max(held, p.PoolSize), p.Name, humanize.FirstFew(waiting, 3), p.Name, p.PoolSize+2)
}
