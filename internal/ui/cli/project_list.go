package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"orange/internal/core/task"
)

func newProjectList(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the projects", Args: arguments(0, 0),
		Long:    "List the projects with their pools, workflows and policies.",
		Example: "  orange project list --json",
		RunE: withServer(deps, func(ctx context.Context, s session, _ []string) error {
			projects, err := s.Projects(ctx)
			if err != nil {
				return err
			}
			return s.show(map[string]any{"projects": projects}, func(w io.Writer) error { return printProjects(w, projects) })
		}),
	}
}

// printProjects leaves out what no project has laid down.
func printProjects(w io.Writer, projects []task.Project) error {
	if len(projects) == 0 {
		_, err := fmt.Fprintln(w, "No projects. Add one with: orange project add")
		return err
	}
	delivers := slices.ContainsFunc(projects, func(p task.Project) bool { return p.Delivery != "" })
	bounded := slices.ContainsFunc(projects, func(p task.Project) bool { return p.Budget != (task.Budget{}) })
	confirmed := slices.ContainsFunc(projects, func(p task.Project) bool { return p.Confirm != (task.Confirm{}) })
	row := func(name, pool, workflow, branch, delivery, budget, confirm, path string) []string {
		out := []string{name, pool, workflow, branch}
		if delivers {
			out = append(out, delivery)
		}
		if bounded {
			out = append(out, budget)
		}
		if confirmed {
			out = append(out, confirm)
		}
		return append(out, path)
	}
	rows := [][]string{row("NAME", "POOL", "WORKFLOW", "BRANCH", "DELIVERY", "BUDGET", "CONFIRM", "PATH")}
	for _, p := range projects {
		rows = append(rows, row(cleanLine(p.Name), strconv.Itoa(p.PoolSize), orDash(p.Workflow), orDash(p.DefaultBranch),
			orDash(string(p.Delivery)), orDash(budgetText(p.Budget)), orDash(confirmText(p.Confirm)), cleanLine(p.Path)))
	}
	return printTable(w, 0, rows)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return cleanLine(s)
}
