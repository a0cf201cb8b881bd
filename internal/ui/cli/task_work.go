package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/config"
	"orange/internal/core/task"
	"orange/internal/ui/editor"
	"orange/internal/wire"
)

// taskWork is where the work of a task is.
type taskWork struct {
	task task.Task
	root string // the person's repository
	tree string // the worktree of the task, "" if it has none
}

// findWork returns where the work of a task is.
func (s session) findWork(ctx context.Context, args []string) (taskWork, error) {
	id, err := s.taskOf(ctx, args)
	if err != nil {
		return taskWork{}, err
	}
	v, err := s.ReadTask(ctx, id)
	if err != nil {
		return taskWork{}, err
	}
	w := taskWork{task: v.Task, tree: v.Worktree}
	projects, err := s.ListProjects(ctx)
	for _, p := range projects {
		if p.Name == v.Task.Project {
			w.root = p.Path
		}
	}
	if err == nil && w.root == "" {
		err = fmt.Errorf("project %s is not registered: orange project add", v.Task.Project)
	}
	return w, err
}

// requireTree returns the worktree, or an error that says where the work is instead.
func (w taskWork) requireTree() (string, error) {
	if w.tree == "" {
		return "", fmt.Errorf("task %s has no workspace while it is %s: its branch is %s of %s", shortID(string(w.task.ID)), w.task.Status, w.task.Branch, w.root)
	}
	return w.tree, nil
}

// head returns the revision at which the work of a task is.
func (w taskWork) head() string {
	if w.task.Work != nil && w.task.Work.Landed {
		return w.task.Work.Head
	}
	return "refs/heads/" + w.task.Branch
}

func newTaskDiff(deps Deps) *cobra.Command {
	var stat bool
	cmd := &cobra.Command{
		Use: "diff [id]", Short: "Show what a task's branch changes, as git diff does", Args: requireArguments(0, 1),
		Long: "Show what the branch of a task changes since it left its base, as git diff does, with git's colours and\n" +
			"pager. In the workspace of an unfinished task, changes that are not committed are included, and their\n" +
			"files are named first; a folder in its place that is not a worktree of the project is named and not\n" +
			"compared. After a merge it is what was merged.",
		Example: "  orange task diff fix-login\n" +
			"  orange task diff fix-login --stat",
	}
	cmd.Flags().BoolVar(&stat, "stat", false, "only count the changed lines of each file")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		w, err := s.findWork(ctx, args)
		if err != nil {
			return err
		}
		d, err := s.ReadDiff(ctx, string(w.task.ID))
		if err != nil {
			return err
		}
		if wantsJSON(cmd) {
			return printJSON(s.Stdout, d)
		}
		if names := uncommittedFiles(d); len(names) > 0 {
			fmt.Fprintln(s.Stderr, "orange: "+cleanLine("not committed yet: "+strings.Join(names, ", ")))
		}
		if notice := d.Notice(); notice != "" {
			fmt.Fprintln(s.Stderr, "orange: "+cleanLine(notice))
		}
		argv, env := w.diffCommand(d, stat)
		return s.Exec(argv, env)
	})
	return cmd
}

// diffCommand returns the command that shows the work of a task, and its environment. It runs in the folder that the
// server checked and compared, or else in the person's repository, and git finds no other repository from there. It
// runs no program that the repository names for diffs: an agent may have named it.
func (w taskWork) diffCommand(d wire.Diff, stat bool) (argv, env []string) {
	dir, to := d.Worktree, []string{d.Base}
	if dir == "" {
		dir, to = w.root, []string{d.Base, cmp.Or(d.Head, w.head())}
	}
	argv = []string{"git", "-C", dir, "-c", "core.fsmonitor=false", "diff", "--no-ext-diff", "--no-textconv"}
	if stat {
		argv = append(argv, "--stat")
	}
	return append(append(argv, to...), "--"), environIn(dir)
}

// environIn returns the environment of a git command for the repository of a folder and no other.
func environIn(dir string) []string {
	env := slices.DeleteFunc(config.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX",
			"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CEILING_DIRECTORIES":
			return true
		}
		return false
	})
	return append(env, "GIT_CEILING_DIRECTORIES="+filepath.Dir(filepath.Clean(dir)))
}

func uncommittedFiles(d wire.Diff) (out []string) {
	for i := range d.Files {
		if d.Files[i].Uncommitted {
			out = append(out, d.Files[i].Path)
		}
	}
	return out
}

func newTaskPath(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "path [id]", Short: "Print the worktree of a task", Args: requireArguments(0, 1),
		Long:    "Print the folder in which the agents of a task work.",
		Example: "  cd \"$(orange task path fix-login)\"",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			w, err := s.findWork(ctx, args)
			if err != nil {
				return err
			}
			tree, err := w.requireTree()
			if err != nil {
				return err
			}
			return s.sayLine(map[string]string{"task": string(w.task.ID), "path": tree}, "%s", tree)
		}),
	}
}

func newTaskOpen(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "open [id]", Short: "Open the worktree of a task in your editor", Args: requireArguments(0, 1),
		Long: "Open the folder in which the agents of a task work in the editor that VISUAL or EDITOR names. The\n" +
			"agents continue in the meantime.",
		Example: "  orange task open fix-login\n" +
			"  VISUAL=\"code --wait\" orange task open fix-login",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			if err := s.personOnly(); err != nil {
				return err
			}
			with, err := editor.Find(config.Environ(), "use cd \"$(orange task path ID)\"")
			if err != nil {
				return err
			}
			w, err := s.findWork(ctx, args)
			if err != nil {
				return err
			}
			tree, err := w.requireTree()
			if err != nil {
				return err
			}
			return s.Exec(editor.CommandLine(with, tree), config.Environ())
		}),
	}
}

func newTaskCheckout(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "checkout [id]", Short: "Check out the work of a task in your own repository", Args: requireArguments(0, 1),
		Long: "Check the last commit of a task's branch out in the repository of this folder. The branch itself stays\n" +
			"checked out in the task's workspace, so HEAD is detached. Changes of yours that are in the way are\n" +
			"not touched: the command is refused. It says how to go back.",
		Example: "  orange task checkout fix-login\n" +
			"  git switch main",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			if err := s.personOnly(); err != nil {
				return err
			}
			w, err := s.findWork(ctx, args)
			if err != nil {
				return err
			}
			return s.checkOut(ctx, w)
		}),
	}
}

func (s session) checkOut(ctx context.Context, w taskWork) error {
	at, err := s.FindPlace(ctx, s.Cwd)
	switch {
	case err != nil:
		return err
	case at.Task != "":
		return fmt.Errorf("%s is the workspace of task %s, in which agents work: go to your own repository, %s", s.Cwd, shortID(string(at.Task)), w.root)
	case at.Project != w.task.Project:
		return fmt.Errorf("%s is not in project %s of the task: go to %s", s.Cwd, w.task.Project, w.root)
	}
	commit, err := programOutput(ctx, s.Cwd, "git", "rev-parse", "--verify", "--quiet", w.head()+"^{commit}")
	if err != nil {
		return fmt.Errorf("branch %s has no commit in %s: see orange task show %s", w.task.Branch, s.Cwd, w.task.ID)
	}
	back, err := programOutput(ctx, s.Cwd, "git", "symbolic-ref", "--short", "-q", "HEAD")
	if err != nil {
		if back, err = programOutput(ctx, s.Cwd, "git", "rev-parse", "HEAD"); err != nil {
			return fmt.Errorf("find what is checked out in %s: %w", s.Cwd, err)
		}
		back = "--detach " + back
	}
	if _, err := programOutput(ctx, s.Cwd, "git", "-c", "advice.detachedHead=false", "checkout", "--quiet", "--detach", commit, "--"); err != nil {
		return fmt.Errorf("check %s out in %s: %s: commit or stash your changes first (git stash), then try again", w.task.Branch, s.Cwd, gitMessage(err))
	}
	lines := []string{
		fmt.Sprintf("%s (commit %.12s) of task %s is checked out here, detached", w.task.Branch, commit, shortID(string(w.task.ID))),
		"  go back with: git switch " + back,
	}
	if w.tree != "" {
		if d, err := s.ReadDiff(ctx, string(w.task.ID)); err == nil && len(uncommittedFiles(d)) > 0 {
			lines = append(lines, "  its workspace has changes that are not committed, and they are not here: orange task diff "+string(w.task.ID))
		}
	}
	return s.sayLines(map[string]string{"task": string(w.task.ID), "commit": commit, "back": "git switch " + back}, lines...)
}

// gitMessage returns what git said about a failure, on one line.
func gitMessage(err error) string {
	var failed *exec.ExitError
	if !errors.As(err, &failed) || len(failed.Stderr) == 0 {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(failed.Stderr)), "\n")
	kept := []string{}
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "Please ") && line != "Aborting" {
			kept = append(kept, strings.TrimPrefix(line, "error: "))
		}
	}
	return strings.Join(kept, " ")
}
