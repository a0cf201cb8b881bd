package cli

import (
	"context"
	"fmt"
	"io"
	"path"

	"github.com/spf13/cobra"

	"orange/internal/wire"
)

func newWorkspaceSalvage(deps Deps) *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use: "salvage", Short: "List work that was kept when its workspace was cleared, with the command that brings it back", Args: arguments(0, 0),
		Long: "List work that was not committed when a workspace was given back, and commits in its submodules that\n" +
			"no remote has. It is kept in the repository, and the commands that bring it back are printed with it,\n" +
			"in the order in which they are to be run. A submodule must be checked out there:\n" +
			"git submodule update --init.",
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
				about := []string{orDash(short(string(v.Task))), orDash(v.Project), age(s.Now(), v.At), fmt.Sprint(v.Files)}
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

// bringBack are the commands that put salvaged work on a branch: that of submodules first,
// then the files, then what was staged.
func bringBack(v *wire.Salvage) (commands []string) {
	branch := "salvage-" + short(string(v.Task)) + "-" + path.Base(v.Ref)
	for i, sub := range v.Submodules {
		name := branch
		if i > 0 {
			name = fmt.Sprintf("%s-%d", branch, i+1)
		}
		// Without --git-dir git would take the repository around a submodule that is not
		// checked out.
		commands = append(commands, quoted([]string{"git", "-C", sub.Path, "--git-dir", ".git", "fetch", "--no-recurse-submodules", sub.Repository, sub.Ref + ":refs/heads/" + name}))
	}
	commands = append(commands, quoted([]string{"git", "switch", "-c", branch, v.Ref}))
	if v.Staged != "" {
		commands = append(commands, quoted([]string{"git", "restore", "--staged", "--source", v.Staged, "--", "."}))
	}
	return commands
}
