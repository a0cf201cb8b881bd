package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/task"
)

func newTaskList(deps Deps) *cobra.Command {
	var f task.Filter
	cmd := &cobra.Command{
		Use: "list", Short: "List tasks, by default those of this folder's project that are not over", Args: arguments(0, 0),
		Long: "List the tasks of this folder's project, or of all if it belongs to none, in order of creation. A\n" +
			"note says what is particular: paused, queued, crashed, or who is at work.",
		Example: "  orange task list\n" +
			"  orange task list --all --project shop\n" +
			"  orange task list --status reviewing --json",
	}
	cmd.Flags().StringVar(&f.Project, "project", "", "only tasks of this project")
	cmd.Flags().StringVar(&f.Status, "status", "", "only tasks in this state")
	cmd.Flags().BoolVar(&f.All, "all", false, "in every state, those that are over too")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, _ []string) error {
		if f.Project == "" {
			at, err := s.Where(ctx, s.Cwd)
			if err != nil {
				return err
			}
			f.Project = at.Project
		}
		if wantsJSON(cmd) {
			return s.Tasks(ctx, f, s.Stdout)
		}
		tasks, err := s.TaskList(ctx, f)
		if err != nil {
			return err
		}
		return printTasks(s.Stdout, s.Deps, tasks)
	})
	return cmd
}

func printTasks(w io.Writer, deps Deps, tasks []task.Task) error {
	if len(tasks) == 0 {
		_, err := fmt.Fprintln(w, "No tasks. Create one with: orange task create <branch> <summary>")
		return err
	}
	now := deps.Now()
	rows := [][]string{{"ID", "STATUS", "TASK", "NOTE", "AGE", "SUMMARY"}}
	for i := range tasks {
		t := &tasks[i]
		name := cleanLine(t.Project + "/" + t.Branch)
		if deps.IsTerminal {
			name = cut(name, 28)
		}
		rows = append(rows, []string{short(string(t.ID)), cleanLine(t.Status), name, note(now, t), age(now, t.Since), cleanLine(t.Summary)})
	}
	return printTable(w, deps.lineWidth(), rows)
}

// note says what is particular about a task: what holds it, else who is at work.
func note(now time.Time, t *task.Task) string {
	switch {
	case t.Deleted:
		return "deleted"
	case t.Paused:
		return "paused"
	case t.Attention != "":
		return "attention"
	case t.Asked != nil:
		return "asks " + cleanLine(t.Asked.To)
	case t.Held != "":
		return "failed"
	case t.Crashed != "" && t.RespawnAt.After(now):
		return "back in " + span(t.RespawnAt.Sub(now))
	case t.RespawnAt.After(now):
		return "starts in " + span(t.RespawnAt.Sub(now))
	case t.Crashed != "":
		return "crashed"
	case t.Queued:
		return "queued"
	}
	var roles []string
	for _, a := range t.Attempts {
		if !a.Ending {
			roles = append(roles, cleanLine(a.Role))
		}
	}
	if len(roles) == 0 {
		return "-"
	}
	return strings.Join(roles, ",")
}
