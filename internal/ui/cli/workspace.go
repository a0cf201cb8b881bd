package cli

import (
	"context"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/wire"
)

func newWorkspaceCommand(deps Deps) *cobra.Command {
	return groupCommand("workspace", "List, create and clean up the worktrees of tasks",
		newWorkspaceList(deps), newWorkspaceInit(deps), newWorkspaceGC(deps), newWorkspaceSalvage(deps))
}

// workspaceState describes the state of a workspace in a few words.
func workspaceState(w *wire.Workspace) string {
	switch {
	case w.Problem != "":
		return "problem: " + w.Problem
	case !w.Exists:
		return "not made yet"
	case w.Dirty:
		return "changed"
	}
	return "clean"
}

func newWorkspaceInit(deps Deps) *cobra.Command {
	var count int
	cmd := &cobra.Command{
		Use: "init [project]", Short: "Create workspaces before tasks need them, by default all of this folder's project",
		Long:    "Make worktrees of a project and run its set-up command in them, so that the first tasks need not wait.",
		Example: "  orange workspace init shop --count 2",
		Args:    requireArguments(0, 1),
	}
	cmd.Flags().IntVar(&count, "count", 0, "how many (default: the whole pool)")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if cmd.Flags().Changed("count") && count < 1 {
			return usageError("--count %d: give a positive integer", count)
		}
		return nil
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		project, err := s.projectOf(ctx, args)
		if err != nil {
			return err
		}
		list, err := s.InitWorkspaces(ctx, project, count)
		if err != nil {
			return err
		}
		return s.showResult(map[string]any{"workspaces": list}, func(w io.Writer) error {
			for i := range list {
				state := "ready"
				if !list[i].Exists || list[i].Problem != "" {
					state = workspaceState(&list[i])
				}
				fmt.Fprintln(w, cleanLine(fmt.Sprintf("%s (%s): %s", list[i].Name, list[i].Path, state)))
			}
			if len(list) == 0 {
				fmt.Fprintln(w, cleanLine(fmt.Sprintf("Project %s has all its workspaces.", project)))
			}
			return nil
		})
	})
	return cmd
}

func newWorkspaceList(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the workspaces of all projects", Args: requireArguments(0, 0),
		Long:    "List the worktrees of all projects: which task holds each, its branch, and whether it is clean.",
		Example: "  orange workspace list",
		RunE: withServer(deps, func(ctx context.Context, s session, _ []string) error {
			list, err := s.ListWorkspaces(ctx)
			if err != nil {
				return err
			}
			return s.showResult(map[string]any{"workspaces": list}, func(w io.Writer) error {
				if len(list) == 0 {
					_, err := fmt.Fprintln(w, "No workspaces. Add a project with: orange project add")
					return err
				}
				rows := [][]string{{"WORKSPACE", "TASK", "BRANCH", "STATE", "PATH"}}
				for i := range list {
					ws := &list[i]
					rows = append(rows, []string{
						cleanLine(ws.Name), orDash(shortID(string(ws.Task))), orDash(ws.Branch), cleanLine(workspaceState(ws)), cleanLine(ws.Path),
					})
				}
				return printTable(w, 0, rows)
			})
		}),
	}
}

func newWorkspaceGC(deps Deps) *cobra.Command {
	how := wire.CleanRequest{}
	older := days(14 * 24 * time.Hour)
	cmd := &cobra.Command{
		Use: "gc [folder...]", Short: "Remove unused workspaces; work in them is salvaged first", Args: requireArguments(0, -1),
		Long: "Remove worktrees beyond the size of the pool, and those of projects that are gone. Work in them is\n" +
			"kept first, and files that git ignores are moved to a folder that is named; one that a task holds\n" +
			"stays. Such folders are deleted only with --purge. Even then, whole workspaces and repositories that\n" +
			"were moved there because git could not save the work in them stay, unless you name the folder; then\n" +
			"only the named folders are deleted. Landing worktrees in which no task lands are removed too, and refs\n" +
			"of earlier landings whose commits are on a branch.",
		Example: "  orange workspace gc --dry-run\n  orange workspace gc --purge --older 30d\n" +
			"  orange workspace gc --purge ~/.local/share/orange/workspaces/.aside/shop--1/BZC2XHWT",
	}
	cmd.Flags().BoolVar(&how.DryRun, "dry-run", false, "only say what would be removed")
	cmd.Flags().BoolVar(&how.Purge, "purge", false, "also delete files that were set aside, for good")
	cmd.Flags().Var(&older, "older", "with --purge: those set aside so long ago, or longer, as in 14d or 36h")
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		switch {
		case !how.Purge && cmd.Flags().Changed("older"):
			return usageError("--older says what --purge deletes: give both, or neither")
		case !how.Purge && len(args) > 0:
			return usageError("a folder is named to be deleted: add --purge, or name none")
		case len(args) > 0 && cmd.Flags().Changed("older"):
			return usageError("a folder that is named is deleted whatever its age: leave out --older")
		case how.Purge && len(args) == 0:
			how.Older = time.Duration(older)
		}
		return nil
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		for _, folder := range args {
			if !filepath.IsAbs(folder) {
				folder = filepath.Join(s.Cwd, folder)
			}
			how.Folders = append(how.Folders, filepath.Clean(folder))
		}
		c, err := s.CleanWorkspaces(ctx, how)
		if err != nil {
			return err
		}
		return s.showResult(c, func(w io.Writer) error {
			verb := "removed"
			if how.DryRun {
				verb = "would remove"
			}
			for _, r := range c.Removed {
				fmt.Fprintln(w, cleanLine(fmt.Sprintf("%s %s: %s", verb, r.Name, r.Why)))
			}
			for _, k := range c.Kept {
				fmt.Fprintln(w, cleanLine(fmt.Sprintf("kept %s: %s", k.Name, k.Why)))
			}
			if len(c.Removed)+len(c.Kept) == 0 {
				fmt.Fprintln(w, "Nothing to remove.")
			}
			return nil
		})
	})
	return cmd
}

// days is the value of a flag for a duration that may be given in days.
type days time.Duration

// String implements pflag.Value.
func (d *days) String() string { return formatSpan(time.Duration(*d)) }

// Type implements pflag.Value.
func (d *days) Type() string { return "age" }

// Set implements pflag.Value.
func (d *days) Set(text string) error {
	var whole time.Duration
	rest := text
	if number, after, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n > 100*365 {
			return fmt.Errorf("give a time such as 14d or 36h")
		}
		whole, rest = time.Duration(n)*24*time.Hour, after
	}
	if rest != "" || whole == 0 {
		part, err := time.ParseDuration(rest)
		if err != nil || part < 0 {
			return fmt.Errorf("give a time such as 14d or 36h")
		}
		whole += part
	}
	if whole <= 0 {
		return fmt.Errorf("give a positive time such as 14d or 36h")
	}
	*d = days(whole)
	return nil
}

func newWorkspaceSalvage(deps Deps) *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use: "salvage", Short: "List salvaged work, with the command that restores it", Args: requireArguments(0, 0),
		Long: "List work that was not committed when a workspace was given back, and commits in its submodules that\n" +
			"no remote has. It is kept in the repository, and the commands that bring it back are printed with it,\n" +
			"in the order in which they are to be run. A submodule must be checked out there:\n" +
			"git submodule update --init.",
		Example: "  orange workspace salvage --project shop",
	}
	cmd.Flags().StringVar(&project, "project", "", "only work of this project")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, _ []string) error {
		list, err := s.ListSalvages(ctx, project)
		if err != nil {
			return err
		}
		return s.showResult(map[string]any{"salvages": list}, func(w io.Writer) error {
			if len(list) == 0 {
				_, err := fmt.Fprintln(w, "Nothing had to be kept.")
				return err
			}
			rows := [][]string{{"TASK", "PROJECT", "AGE", "FILES", "IN ITS REPOSITORY, RUN"}}
			for i := range list {
				v := &list[i]
				about := []string{orDash(shortID(string(v.Task))), orDash(v.Project), formatAge(s.Now(), v.At), fmt.Sprint(v.Files)}
				for _, command := range bringBack(v) {
					rows = append(rows, append(about, cleanLine(command)))
					about = []string{"", "", "", ""}
				}
			}
			return printTable(w, 0, rows)
		})
	})
	return cmd
}

// bringBack returns the commands that put salvaged work on a branch: first the commits of
// submodules, then the files, then what was staged.
func bringBack(v *wire.Salvage) (commands []string) {
	branch := "salvage-" + shortID(string(v.Task)) + "-" + path.Base(v.Ref)
	for i, sub := range v.Submodules {
		name := branch
		if i > 0 {
			name = fmt.Sprintf("%s-%d", branch, i+1)
		}
		// Without --git-dir, git would use the enclosing repository if the submodule is not
		// checked out.
		commands = append(commands, shellQuote([]string{"git", "-C", sub.Path, "--git-dir", ".git", "fetch", "--no-recurse-submodules", sub.Repository, sub.Ref + ":refs/heads/" + name}))
	}
	commands = append(commands, shellQuote([]string{"git", "switch", "-c", branch, v.Ref}))
	if v.Staged != "" {
		commands = append(commands, shellQuote([]string{"git", "restore", "--staged", "--source", v.Staged, "--", "."}))
	}
	return commands
}
