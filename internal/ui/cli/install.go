package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func newInstallCommand(deps Deps) *cobra.Command {
	var harnesses []string
	var dry bool
	cmd := &cobra.Command{
		Use: "install", Short: "Install the skill that teaches your agents to use Orange", Args: requireArguments(0, 0),
		Long: "Put a file that teaches agents to use Orange where each of them looks for such files. It is replaced\n" +
			"if it is another version; a file of that name that is not Orange's is left alone.",
		Example: "  orange install --dry-run\n" +
			"  orange install --harness claude",
	}
	cmd.Flags().StringArrayVar(&harnesses, "harness", nil, "only this one; may be given several times (default: all that are found)")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be written")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := deps.personOnly(); err != nil {
			return err
		}
		if deps.Install == nil {
			return errors.New("this build has no skill to install")
		}
		list, err := deps.Install(cmd.Context(), harnesses, dry)
		if err != nil {
			return afterPartialSuccess(installedText(list), err)
		}
		if list == nil {
			list = []Installed{}
		}
		return showResult(cmd, map[string]any{"installed": list}, func(w io.Writer) error { return printInstalled(w, list) })
	}
	return cmd
}

func printInstalled(w io.Writer, list []Installed) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "No harness was found. Name one with: orange install --harness NAME")
		return err
	}
	rows := [][]string{{"HARNESS", "STATUS", "PATH"}}
	for _, i := range list {
		rows = append(rows, []string{cleanLine(i.Harness), orDash(i.Status), cleanLine(i.Path)})
	}
	return printTable(w, 0, rows)
}

// installedText describes what was done, for a message about an installation that failed midway.
func installedText(list []Installed) []string {
	var out []string
	for _, i := range list {
		out = append(out, i.Harness+" "+i.Status)
	}
	return out
}
