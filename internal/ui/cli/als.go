package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"orange/internal/core/als"
)

func newALSCommand(deps Deps) *cobra.Command {
	return pure(&cobra.Command{
		Use: "als [FILE|-]", Short: "Read an ALS/1 comment and print it in its normal form", Args: arguments(0, 1),
		Long: "Read an ALS/1 comment from a file or from standard input and print it in its\n" +
			"normal form, or with --json as an object. The exit code is 1 if it is none.",
		Example: "  orange als comment.txt --json\n  printf 'ALS/1\\nactor: dev\\nintent: status\\n' | orange als",
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readNote(deps, args)
			if err != nil {
				return err
			}
			c, err := als.Parse(text)
			if err != nil {
				return err
			}
			return show(cmd, c, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, c)
				return err
			})
		},
	})
}

// maxNote is how much a note of an agent may hold.
const maxNote = 1 << 20

// readNote reads the file that the argument names, standard input if there is none.
func readNote(deps Deps, args []string) (string, error) {
	in := deps.Stdin
	if len(args) > 0 && args[0] != "-" {
		file := args[0]
		if !filepath.IsAbs(file) {
			file = filepath.Join(deps.Cwd, file)
		}
		f, err := os.Open(file)
		if err != nil {
			return "", fmt.Errorf("read the note: %w", err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxNote+1))
	if err != nil {
		return "", fmt.Errorf("read the note: %w", err)
	}
	if len(text) > maxNote {
		return "", errors.New("the text is larger than 1 MiB: give a smaller one")
	}
	return string(text), nil
}
