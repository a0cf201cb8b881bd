package cli

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"orange/internal/wire"
)

func newVersionCommand(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: requireArguments(0, 0), Annotations: map[string]string{needsNothing: "yes"},
		Long:    "Print the version of this program, and the commit that it was built from where that is known.",
		Example: "  orange version\n  orange version --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := programVersion{API: wire.Version, Commit: deps.Commit, Formats: deps.Formats, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Version: deps.Version}
			return showResult(cmd, v, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, describeVersion(deps))
				return err
			})
		},
	}
}

func describeVersion(deps Deps) string {
	if deps.Commit == "" {
		return "orange " + deps.Version
	}
	return fmt.Sprintf("orange %s (commit %s)", deps.Version, deps.Commit)
}

// warnOfOtherServer warns a person that the server has another version. It does not warn
// agents, because they cannot restart the server.
func warnOfOtherServer(deps Deps, server string) {
	if server != deps.Version && deps.Config.Token == "" {
		fmt.Fprintf(deps.Stderr, "orange: the server is version %s and this command is %s: run orange restart, and the server is of this version; agents keep running\n", //nolint:errcheck // there is nowhere to report it
			cleanLine(server), deps.Version)
	}
}
