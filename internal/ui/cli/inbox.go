package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/engine"
)

func newInboxCommand(deps Deps) *cobra.Command {
	var project string
	var follow, bell bool
	cmd := &cobra.Command{
		Use: "inbox", Short: "List what waits for a person, with the command that helps", Args: arguments(0, 0),
		Long: "List what waits for a person: what frees other tasks first, then what has waited longest. Each has the\n" +
			"command that helps below it. With --follow, what comes is printed as it comes, until Ctrl-C.",
		Example: "  orange inbox\n  orange inbox --follow --bell",
	}
	cmd.Flags().StringVar(&project, "project", "", "only what concerns this project")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on: print a line for each item as it comes, until Ctrl-C")
	cmd.Flags().BoolVar(&bell, "bell", false, "with --follow: ring the terminal when one comes")
	_ = cmd.RegisterFlagCompletionFunc("project", completeProjects(deps))
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, _ []string) error {
		switch {
		case follow:
			return s.followInbox(ctx, project, bell)
		case bell:
			return usageError("--bell rings when something comes: add --follow")
		}
		items, err := s.Inbox(ctx, project)
		if err != nil {
			return err
		}
		return s.show(map[string]any{"items": items}, func(w io.Writer) error { return printInbox(w, s.Deps, items) })
	})
	return cmd
}

// printInbox prints a line for each item, and below it the command that helps.
func printInbox(w io.Writer, deps Deps, items []engine.Item) error {
	if len(items) == 0 {
		_, err := fmt.Fprintln(w, "Nothing waits for you.")
		return err
	}
	rows := [][]string{{"KIND", "TASK", "BRANCH", "AGE", "WHAT"}}
	for i := range items {
		rows = append(rows, inboxRow(deps, &items[i]))
	}
	var table bytes.Buffer
	if err := printTable(&table, deps.lineWidth(), rows); err != nil {
		return err
	}
	at := -1 // the first line is the head
	for line := range strings.Lines(table.String()) {
		fmt.Fprint(w, line)
		if at >= 0 {
			printReasons(w, items[at].Reasons, line, reasonLines)
		}
		if at >= 0 && items[at].Do != "" {
			fmt.Fprintln(w, "  "+cleanLine(items[at].Do))
		}
		at++
	}
	return nil
}

// reasonLines is how many lines of a reason the inbox shows. orange task show has all.
const reasonLines = 5

// printReasons prints why a task waits, at most so many lines of each reason, 0 for all.
// What already stands in the text above is not repeated.
func printReasons(w io.Writer, list []engine.WaitReason, above string, most int) {
	for _, r := range list {
		text := strings.TrimSpace(cleanText(r.Text))
		if text == "" || strings.Contains(above, text) {
			continue
		}
		fmt.Fprintf(w, "  %s:\n", cleanLine(r.Heading()))
		lines := strings.Split(text, "\n")
		shown := lines
		if most > 0 {
			shown = lines[:min(len(lines), most)]
		}
		for _, line := range shown {
			fmt.Fprintln(w, strings.TrimRight("    "+line, " "))
		}
		if n := len(lines) - len(shown); n > 0 {
			fmt.Fprintf(w, "    (%d more)\n", n)
		}
	}
}

func inboxRow(deps Deps, it *engine.Item) []string {
	name, what := branchOf(it), cleanLine(it.Text)
	if deps.IsTerminal {
		name = cut(name, 28)
	}
	if it.Frees > 0 {
		what = fmt.Sprintf("[frees %d] %s", it.Frees, what)
	}
	return []string{orDash(string(it.Kind)), orDash(short(string(it.Task))), name, age(deps.Now(), it.Since), what}
}

// branchOf names the branch that an item is about, "-" if it is about everything.
func branchOf(it *engine.Item) string {
	if it.Project == "" && it.Branch == "" {
		return "-"
	}
	if it.Branch == "" {
		return cleanLine(it.Project)
	}
	return cleanLine(it.Project + "/" + it.Branch)
}
