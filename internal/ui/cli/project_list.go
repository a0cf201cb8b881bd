package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"
)

func newProjectList(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the projects", Args: arguments(0, 0),
		RunE: withServer(deps, func(ctx context.Context, s session, _ []string) error {
			projects, err := s.Projects(ctx)
			if err != nil {
				return err
			}
			return s.show(map[string]any{"projects": projects}, func(w io.Writer) error {
				if len(projects) == 0 {
					_, err := fmt.Fprintln(w, "No projects. Add one with: orange project add")
					return err
				}
				rows := [][]string{{"NAME", "POOL", "WORKFLOW", "BRANCH", "PATH"}}
				for _, p := range projects {
					rows = append(rows, []string{
						cleanLine(p.Name), strconv.Itoa(p.PoolSize), orDash(p.Workflow), orDash(p.DefaultBranch), cleanLine(p.Path),
					})
				}
				return printTable(w, 0, rows)
			})
		}),
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return cleanLine(s)
}
