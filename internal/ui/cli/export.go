package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"orange/internal/atomicfile"
)

func newExportCommand(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "export [file]", Short: "Write everything as JSON lines, to a file or to standard output", Args: arguments(0, 1),
		Long: "Write projects and tasks with their journals and texts as JSON lines, which orange import reads.\n" +
			"Attempts, boards and trackers are not in it.",
		Example: "  orange export backup.jsonl\n" +
			"  orange export | gzip >backup.jsonl.gz",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			if len(args) == 0 || args[0] == "-" {
				return s.Export(ctx, s.Stdout)
			}
			path := args[0]
			if !filepath.IsAbs(path) {
				path = filepath.Join(s.Cwd, path)
			}
			if err := atomicfile.WriteFrom(path, 0o600, func(w io.Writer) error { return s.Export(ctx, w) }); err != nil {
				return fmt.Errorf("write %s: %w", path, err)
			}
			return s.say(map[string]string{"file": path}, "Exported to %s", path)
		}),
	}
}
