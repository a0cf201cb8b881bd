package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	charm "github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
)

// An exitError is an error with its own exit code.
type exitError struct {
	code  int
	shown bool // the output already reports the error
	err   error
}

func (f exitError) Error() string { return f.err.Error() }
func (f exitError) Unwrap() error { return f.err }

// usageError returns an error for a command line that is not valid.
func usageError(format string, args ...any) error {
	return exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// valueForms says how to write the value of a flag, by its type.
var valueForms = map[string]string{"int": "a whole number", "duration": "a duration such as 90s, 20m or 2h", "bool": "true or false"}

// asUsageError turns an error of the flag parser into a usage error.
func asUsageError(cmd *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if form, ok := valueForms[invalid.GetFlag().Value.Type()]; ok {
			return usageError("--%s %s: give %s", invalid.GetFlag().Name, strconv.Quote(invalid.GetValue()), form)
		}
	}
	return usageError("%w: see %s --help", err, cmd.CommandPath())
}

// wantsJSON reports whether the command prints JSON.
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

// showResult prints v as JSON if the command prints JSON, and calls text otherwise.
func showResult(cmd *cobra.Command, v any, text func(io.Writer) error) error {
	if wantsJSON(cmd) {
		return printJSON(cmd.OutOrStdout(), v)
	}
	return text(cmd.OutOrStdout())
}

// printTable prints rows in columns. It cuts the last column so that a line is at most width
// wide, unless width is 0. A wide character counts as two columns.
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

// cutToWidth shortens s to at most n columns of a terminal. It also bounds characters that
// take no column, such as combining marks.
func cutToWidth(s string, n int) string {
	const marks = 8 // for each column
	if runes := []rune(s); len(runes) > marks*n {
		s = string(runes[:marks*n])
	} else if charm.StringWidth(s) <= n {
		return s
	}
	return strings.TrimRight(charm.Truncate(s, n-3, ""), " ") + "..."
}

// lineWidth returns the maximum width of a table: 80 on a terminal, 0 (no limit) otherwise.
func (d Deps) lineWidth() int {
	if d.IsTerminal {
		return 80
	}
	return 0
}

// cleanText and cleanLine make untrusted text safe for a terminal.
func cleanText(s string) string { return ansi.SafeText(s) }
func cleanLine(s string) string { return ansi.OneLine(s) }

// The formats that all user interfaces share.
func formatAge(now, at time.Time) string   { return humanize.FormatAge(now, at) }
func formatSpan(d time.Duration) string    { return humanize.FormatDuration(d) }
func formatClock(now, at time.Time) string { return humanize.FormatTime(now, at) }
func shortID(id string) string             { return humanize.ShortID(id) }

// maxWords is the maximum length of a person's message to an agent, in bytes.
const maxWords = 64 << 10

// readPersonText returns a person's message: text itself, or standard input if text is "-".
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
