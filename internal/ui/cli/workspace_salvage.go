package cli

import (
	"context"
	"fmt"
	"io"
	"path"

	"github.com/spf13/cobra"

	"orange/internal/ui/client"
)

func newWorkspaceSalvage(deps Deps) *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use: "salvage", Short: "List work that was kept when its workspace was cleared, with the command that brings it back", Args: arguments(0, 0),
		Long: "List work that was not committed when a workspace was given back. It is kept in the repository, and\n" +
			"the command that brings it back is printed with it.",
		Example: "  orange workspace salvage --project shop",
	}
	cmd.Flags().StringVar(&project, "project", "", "only work of this project")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, _ []string) error {
		list, err := s.Salvages(ctx, project)
		if err != nil {
			return err
		}
		return s.show(map[string]any{"salvages": list}, func(w io.Writer) error {
			if len(list) == 0 {
				_, err := fmt.Fprintln(w, "Nothing had to be kept.")
				return err
			}
			rows := [][]string{{"TASK", "PROJECT", "AGE", "FILES", "IN ITS REPOSITORY, RUN"}}
			for i := range list {
				v := &list[i]
				rows = append(rows, []string{
					orDash(short(string(v.Task))), orDash(v.Project), age(s.Now(), v.At), fmt.Sprint(v.Files), cleanLine(bringBack(v)),
				})
			}
			return printTable(w, 0, rows)
		})
	})
	return cmd
}

// bringBack is the command that puts salvaged work on a branch.
func bringBack(v *client.Salvage) string {
	name := "salvage-" + short(string(v.Task)) + "-" + path.Base(v.Ref)
	return quoted([]string{"git", "switch", "-c", name, v.Ref})
}
