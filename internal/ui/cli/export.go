package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"orange/internal/atomicfile"
	"orange/internal/wire"
)

func newExportCommand(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "export [file]", Short: "Export everything as JSON lines, to a file or to standard output", Args: requireArguments(0, 1),
		Long: "Write projects and tasks with their journals and texts as JSON lines, which orange import reads.\n" +
			"Attempts, boards and trackers are not in it.",
		Example: "  orange export backup.jsonl\n" +
			"  orange export | gzip >backup.jsonl.gz",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			if len(args) == 0 || args[0] == "-" {
				return s.ExportAll(ctx, s.Stdout)
			}
			path := args[0]
			if !filepath.IsAbs(path) {
				path = filepath.Join(s.Cwd, path)
			}
			if err := atomicfile.WriteFrom(path, 0o600, func(w io.Writer) error { return s.ExportAll(ctx, w) }); err != nil {
				return fmt.Errorf("write %s: %w", path, err)
			}
			return s.sayLine(map[string]string{"file": path}, "Exported to %s", path)
		}),
	}
}

func newImportCommand(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "import <path|->", Short: "Import an earlier data folder, or a file from orange export", Args: requireArguments(1, 1),
		Long: "Import the tasks of an earlier data folder, or everything that orange export wrote. What exists\n" +
			"already is skipped and reported; unfinished tasks continue here.",
		Example: "  orange import backup.jsonl\n" +
			"  gzip -dc backup.jsonl.gz | orange import -",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			if err := s.personOnly(); err != nil {
				return err
			}
			done, err := s.importFrom(ctx, args[0])
			if err != nil {
				return err
			}
			return s.showResult(done, func(w io.Writer) error {
				fmt.Fprintf(w, "Imported %d tasks and %d projects\n", done.Tasks, done.Projects)
				for _, what := range done.Skipped {
					fmt.Fprintln(w, "skipped "+cleanLine(what))
				}
				return nil
			})
		}),
	}
}

// importFrom imports a file, standard input for "-", or a folder. It sends the lines of a
// file; the server reads a folder itself.
func (s session) importFrom(ctx context.Context, path string) (wire.Imported, error) {
	if path == "-" {
		return s.ImportLines(ctx, s.Stdin)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Cwd, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return wire.Imported{}, fmt.Errorf("find what to import: %w", err)
	}
	if info.IsDir() {
		return s.ImportPath(ctx, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return wire.Imported{}, fmt.Errorf("read what to import: %w", err)
	}
	defer f.Close()
	return s.ImportLines(ctx, f)
}
