package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
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
			if err := replaceFile(path, func(w io.Writer) error { return s.Export(ctx, w) }); err != nil {
				return err
			}
			return s.say(map[string]string{"file": path}, "Exported to %s", path)
		}),
	}
}

// replaceFile writes a file beside path and puts it in its place when it is whole.
func replaceFile(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(f.Name())
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(f.Name(), path)
}
