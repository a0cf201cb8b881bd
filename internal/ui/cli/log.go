package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// maxLogLine is the maximum length of a line of the log, in bytes; reading fails at a longer line.
const maxLogLine = 1 << 20

// A logFilter selects lines of the log.
type logFilter struct {
	level     slog.Level
	component string
	pattern   *regexp.Regexp
	lines     int
}

func newLogCommand(deps Deps) *cobra.Command {
	var level, pattern string
	var f logFilter
	cmd := &cobra.Command{
		Use: "log", Short: "Show the end of the server's log", Args: requireArguments(0, 0),
		Long: "Show the last lines of the server's log. No server is needed.",
		Example: "  orange log --level warn\n" +
			"  orange log --component trackers --grep timeout --lines 20",
	}
	cmd.Flags().StringVar(&level, "level", "debug", "least level to show: debug, info, warn or error")
	cmd.Flags().StringVar(&f.component, "component", "", "only lines of this part of the server")
	cmd.Flags().StringVar(&pattern, "grep", "", "only lines that match this regular expression")
	cmd.Flags().IntVar(&f.lines, "lines", 100, "how many lines at most")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := f.level.UnmarshalText([]byte(level)); err != nil {
			return usageError("level %q is not known: give debug, info, warn or error", level)
		}
		var err error
		if f.pattern, err = regexp.Compile(pattern); err != nil {
			return usageError("%w: give --grep a regular expression", err)
		}
		if f.lines < 1 {
			return usageError("%d lines: give a positive number", f.lines)
		}
		lines, err := f.readLines(filepath.Join(deps.Config.Home, "orange.log"))
		if err != nil {
			return err
		}
		return showResult(cmd, map[string]any{"lines": lines}, func(w io.Writer) error {
			for _, line := range lines {
				fmt.Fprintln(w, logText(deps.Now(), line))
			}
			return nil
		})
	}
	return cmd
}

// readLines returns the last lines of the log and its predecessor that match the filter.
func (f logFilter) readLines(path string) ([]json.RawMessage, error) {
	out := []json.RawMessage{}
	for _, name := range []string{path + ".1", path} {
		file, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the log: %w", err)
		}
		in := bufio.NewScanner(file)
		in.Buffer(nil, maxLogLine)
		for in.Scan() {
			if f.matchesLine(in.Bytes()) {
				out = append(out, slices.Clone(in.Bytes()))
			}
			if len(out) >= 2*f.lines { // bound the memory without copying at every line
				out = slices.Clone(out[len(out)-f.lines:])
			}
		}
		if err := errors.Join(in.Err(), file.Close()); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	return out[max(0, len(out)-f.lines):], nil
}

func (f logFilter) matchesLine(line []byte) bool {
	var l struct {
		Level     slog.Level `json:"level"`
		Component string     `json:"component"`
	}
	if !f.pattern.Match(line) || json.Unmarshal(line, &l) != nil {
		return false
	}
	return l.Level >= f.level && (f.component == "" || l.Component == f.component)
}

// logText formats a line: time, level, component, message, then the remaining fields unchanged.
func logText(now time.Time, line json.RawMessage) string {
	dec := json.NewDecoder(strings.NewReader(string(line)))
	_, _ = dec.Token()
	head := map[string]string{}
	var rest []string
	for dec.More() {
		key, err := dec.Token()
		var v any
		if err != nil || dec.Decode(&v) != nil {
			break
		}
		switch name := fmt.Sprint(key); name {
		case "time", "level", "msg", "component":
			head[name] = formatJSONValue(v)
		default:
			rest = append(rest, name+"="+formatJSONValue(v))
		}
	}
	at := head["time"]
	if t, err := time.Parse(time.RFC3339Nano, at); err == nil {
		at = formatClock(now, t)
	}
	text := fmt.Sprintf("%s %-5s %s: %s %s", at, head["level"], orDash(head["component"]), head["msg"], strings.Join(rest, " "))
	return cleanLine(text)
}
