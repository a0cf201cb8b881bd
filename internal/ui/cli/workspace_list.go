package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func newWorkspaceList(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the workspaces of all projects", Args: arguments(0, 0),
		Long:    "List the worktrees of all projects: which task holds each, its branch, and whether it is clean.",
		Example: "  orange workspace list",
		RunE: withServer(deps, func(ctx context.Context, s session, _ []string) error {
			list, err := s.Workspaces(ctx)
			if err != nil {
				return err
			}
			return s.show(map[string]any{"workspaces": list}, func(w io.Writer) error {
				if len(list) == 0 {
					_, err := fmt.Fprintln(w, "No workspaces. Add a project with: orange project add")
					return err
				}
				rows := [][]string{{"WORKSPACE", "TASK", "BRANCH", "STATE", "PATH"}}
				for i := range list {
					ws := &list[i]
					rows = append(rows, []string{
						cleanLine(ws.Name), orDash(short(string(ws.Task))), orDash(ws.Branch), cleanLine(workspaceState(ws)), cleanLine(ws.Path),
					})
				}
				return printTable(w, 0, rows)
			})
		}),
	}
}
