package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

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
			text, err := readNote(deps, args, "an ALS/1 comment")
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

// openText opens the file that an argument names, "-" for standard input. What says what
// is expected in it.
func (d Deps) openText(file, what string) (io.ReadCloser, error) {
	if file == "-" {
		return io.NopCloser(d.Stdin), nil
	}
	at := file
	if !filepath.IsAbs(at) {
		at = filepath.Join(d.Cwd, at)
	}
	f, err := os.Open(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s: give the path of %s, or - for standard input", file, what)
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return f, nil
}

// readNote reads the file that the argument names, standard input if there is none.
func readNote(deps Deps, args []string, what string) (string, error) {
	in, err := deps.openText(slices.Concat(args, []string{"-"})[0], what)
	if err != nil {
		return "", err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxNote+1))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", what, err)
	}
	if len(text) > maxNote {
		return "", errors.New("the text is larger than 1 MiB: give a smaller one")
	}
	return string(text), nil
}
