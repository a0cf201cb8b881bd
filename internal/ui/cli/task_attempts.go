package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/task"
	"orange/internal/wire"
)

func newTaskAttempts(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "attempts [id]", Short: "List the agents that work or worked on a task", Args: arguments(0, 1),
		Long: "List every run of an agent for a task: its role, how it is doing or how it ended, and what it has\n" +
			"consumed.",
		Example: "  orange task attempts MFTsZyeO",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			id, err := s.taskOf(ctx, args)
			if err != nil {
				return err
			}
			list, err := s.Attempts(ctx, id)
			if err != nil {
				return err
			}
			return s.show(map[string]any{"attempts": list}, func(w io.Writer) error {
				if len(list) == 0 {
					_, err := fmt.Fprintln(w, "No agent has worked on it yet.")
					return err
				}
				rows := [][]string{{"NUMBER", "ROLE", "HARNESS", "CONDITION", "SINCE", "TOKENS", "COST", "WINDOW"}}
				for i := range list {
					rows = append(rows, attemptRow(s.Now(), &list[i]))
				}
				return printTable(w, 0, rows)
			})
		}),
	}
}

func attemptRow(now time.Time, a *wire.Attempt) []string {
	tokens, cost := "-", "-"
	if u := a.Usage; u != nil {
		tokens = roughly(u.Input + u.Output)
		if u.Micros > 0 {
			cost = spending(u.Micros)
		}
	}
	return []string{strconv.Itoa(a.Number), orDash(a.Role), orDash(a.Harness), cut(cleanLine(how(now, a)), 60), age(now, a.Since), tokens, cost, orDash(a.Window)}
}

// how is an attempt doing, or how did it end.
func how(now time.Time, a *wire.Attempt) string {
	switch {
	case a.Alive:
		return condition(now, a.Condition)
	case a.Code == nil:
		return "lost"
	}
	return fmt.Sprintf("exit %d", *a.Code)
}

// condition says how a living attempt is doing. Its own words may be in it.
func condition(now time.Time, c task.Condition) string {
	text := c.Name
	if text == "" {
		text = task.Running
	}
	if !c.Until.IsZero() {
		text += " until " + clock(now, c.Until)
	}
	if c.Detail != "" {
		text += ": " + c.Detail
	}
	return text
}
