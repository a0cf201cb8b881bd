package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	charm "github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
)

// exitError is an error with an exit code of its own.
type exitError struct {
	code int
	told bool // the output has said it already
	err  error
}

func (f exitError) Error() string { return f.err.Error() }
func (f exitError) Unwrap() error { return f.err }

// usageError says that the command line cannot be understood.
func usageError(format string, args ...any) error {
	return exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// asUsageError turns an error of the flag parser into a usage error.
func asUsageError(cmd *cobra.Command, err error) error {
	return usageError("%w: see %s --help", err, cmd.CommandPath())
}

// wantsJSON says whether the command is to print JSON.
func wantsJSON(cmd *cobra.Command) bool {
	on, err := cmd.Flags().GetBool("json")
	return err == nil && on
}

// printJSON prints v on one line.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// showResult prints v as JSON if that is wanted, and calls text if not.
func showResult(cmd *cobra.Command, v any, text func(io.Writer) error) error {
	if wantsJSON(cmd) {
		return printJSON(cmd.OutOrStdout(), v)
	}
	return text(cmd.OutOrStdout())
}

// printTable prints rows in columns; the last column is cut so that a line is at most
// width wide, unless width is 0. Wide characters count as the two places they take.
func printTable(w io.Writer, width int, rows [][]string) error {
	var wide []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], charm.StringWidth(cell))
		}
	}
	out := bufio.NewWriter(w)
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			if i == len(row)-1 {
				line.WriteString(cell)
				break
			}
			line.WriteString(cell + strings.Repeat(" ", wide[i]-charm.StringWidth(cell)+2))
		}
		text := strings.TrimRight(line.String(), " ")
		if width > 0 {
			text = cutToWidth(text, width)
		}
		fmt.Fprintln(out, text)
	}
	return out.Flush()
}

// cutToWidth shortens s so that it is at most n wide on a terminal. Marks that take no place are
// bounded too.
func cutToWidth(s string, n int) string {
	const marks = 8 // for each place
	if runes := []rune(s); len(runes) > marks*n {
		s = string(runes[:marks*n])
	} else if charm.StringWidth(s) <= n {
		return s
	}
	return strings.TrimRight(charm.Truncate(s, n-3, ""), " ") + "..."
}

// lineWidth is how wide a table may be: it is cut for a person, never for a program.
func (d Deps) lineWidth() int {
	if d.IsTerminal {
		return 80
	}
	return 0
}

// What is from elsewhere is made safe for a terminal.
func cleanText(s string) string { return ansi.SafeText(s) }
func cleanLine(s string) string { return ansi.OneLine(s) }

// The words that every surface writes alike.
func formatAge(now, at time.Time) string   { return humanize.FormatAge(now, at) }
func formatSpan(d time.Duration) string    { return humanize.FormatDuration(d) }
func formatClock(now, at time.Time) string { return humanize.FormatTime(now, at) }
func shortID(id string) string             { return humanize.ShortID(id) }

// maxWords bounds what a person says to an agent, in bytes.
const maxWords = 64 << 10

// readPersonText is what a person says: the text itself, or standard input for "-".
func (d Deps) readPersonText(text string) (string, error) {
	from := io.Reader(strings.NewReader(text))
	if text == "-" {
		from = d.Stdin
	}
	all, err := io.ReadAll(io.LimitReader(from, maxWords+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the message: %w", err)
	case len(all) > maxWords:
		return "", errors.New("the message is longer than 64 KB: put it into a file of the repository and name that")
	case !utf8.Valid(all):
		return "", errors.New("the message is not text: give UTF-8")
	}
	return strings.TrimSpace(string(all)), nil
}
