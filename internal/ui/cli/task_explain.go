package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/engine"
)

func newTaskExplain(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "explain [id]", Short: "Say why a task is where it is, and what would move it",
		Args: arguments(0, 1), ValidArgsFunction: completeTasks(deps),
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			id, err := s.taskOf(ctx, args)
			if err != nil {
				return err
			}
			x, err := s.Explain(ctx, id)
			if err != nil {
				return err
			}
			return s.show(x, func(w io.Writer) error { return printExplanation(w, s.Now(), x) })
		}),
	}
}

func printExplanation(w io.Writer, now time.Time, x engine.Explanation) error {
	var out strings.Builder
	line := func(format string, args ...any) { out.WriteString(cleanText(fmt.Sprintf(format, args...)) + "\n") }
	line("%s is %s for %s, since %s (visit %d)", short(string(x.Task)), x.Status, age(now, x.Since), clock(now, x.Since), x.Visit)
	line("")
	line("Who must act: %s", x.Owner)
	line("%s", wrap(x.Why, "  ", 80))
	if x.Do != "" {
		line("Run: %s", x.Do)
	}
	if len(x.Edges) > 0 {
		line("")
		line("Ways out, by workflow %s", x.Workflow)
	}
	for i := range x.Edges {
		out.WriteString(cleanText(way(&x.Edges[i])))
	}
	line("")
	line("What the engine does next")
	for _, step := range x.Next {
		line("%s", wrap(when(now, step.At)+": "+step.What, "  ", 80))
	}
	if len(x.Next) == 0 {
		line("  nothing by itself")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// way shows an edge and every rule that was weighed for it.
func way(e *engine.Way) string {
	mark := "closed"
	if e.Open {
		mark = "open"
	}
	var out strings.Builder
	fmt.Fprintf(&out, "  %-6s  -> %s  (line %d)\n", mark, e.To, e.Line)
	how := "on " + e.On + ", by " + e.By
	if e.As != "" {
		how = "as " + e.As + ", " + how
	}
	out.WriteString(wrap(how, "          ", 80) + "\n")
	for _, r := range e.Reasons {
		verb := "holds"
		if !r.OK {
			verb = "fails"
		}
		out.WriteString(wrap(fmt.Sprintf("%s %s: %s", r.Rule, verb, r.Text), "          ", 80) + "\n")
	}
	return out.String()
}

func when(now, at time.Time) string {
	if at.IsZero() || !at.After(now) {
		return "now"
	}
	return "in " + span(at.Sub(now)) + " (" + clock(now, at) + ")"
}
