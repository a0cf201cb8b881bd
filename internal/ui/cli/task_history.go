package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/view/narrate"
)

func newTaskHistory(deps Deps) *cobra.Command {
	var refused bool
	cmd := &cobra.Command{
		Use: "history <id>", Short: "Show what happened to a task", Args: requireArguments(1, 1),
		Long: "Show what happened to a task, oldest first: every move with who requested it and why, agents that\n" +
			"came and went, effects. With --refused, what was asked for and not granted.",
		Example: "  orange task history MFTsZyeO\n" +
			"  orange task history MFTsZyeO --refused",
	}
	cmd.Flags().BoolVar(&refused, "refused", false, "show what was asked and refused instead")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		if refused {
			return s.showRefusals(ctx, args[0])
		}
		events, err := s.ReadHistory(ctx, args[0])
		if err != nil {
			return err
		}
		return s.showResult(map[string]any{"history": events}, func(w io.Writer) error {
			return printHistory(w, s.Deps, events)
		})
	})
	return cmd
}

// showRefusals prints the requests that were refused for a task, oldest first.
func (s session) showRefusals(ctx context.Context, id string) error {
	x, err := s.ExplainTask(ctx, id)
	if err != nil {
		return err
	}
	if x.Refusals == nil {
		x.Refusals = []journal.Refusal{}
	}
	return s.showResult(map[string]any{"refused": x.Refusals}, func(w io.Writer) error {
		if len(x.Refusals) == 0 {
			_, err := fmt.Fprintln(w, "Nothing was refused.")
			return err
		}
		rows := [][]string{}
		for _, r := range x.Refusals {
			rows = append(rows, []string{formatClock(s.Now(), r.At), cleanLine(narrate.DescribeRefusal(r))})
		}
		return printTable(w, s.lineWidth(), rows)
	})
}

func printHistory(w io.Writer, deps Deps, events []json.RawMessage) error {
	rows := [][]string{}
	for _, raw := range events {
		rows = append(rows, historyRow(deps.Now(), raw))
	}
	return printTable(w, deps.lineWidth(), rows)
}

// historyRow formats an event: when, what, from where to where, then the remaining fields.
func historyRow(now time.Time, raw json.RawMessage) []string {
	var e map[string]any
	if json.Unmarshal(raw, &e) != nil {
		return []string{"?", "?", cleanLine(string(raw))}
	}
	at, _ := e["timestamp"].(string)
	if when, err := time.Parse(time.RFC3339Nano, at); err == nil {
		at = formatClock(now, when)
	}
	kind, _ := e["type"].(string)
	var parts []string
	if from, to := formatJSONValue(e["from"]), formatJSONValue(e["to"]); to != "" {
		parts = append(parts, from+" -> "+to)
	}
	for _, key := range []string{"timestamp", "type", "from", "to", "seq", "task_id", "task"} {
		delete(e, key)
	}
	if why := formatJSONValue(e["reason"]); why != "" {
		parts = append(parts, why)
		delete(e, "reason")
	}
	if by := byText(e["actor"], e["via"]); by != "" {
		parts = append(parts, by)
		delete(e, "actor")
		delete(e, "via")
	}
	for _, key := range slices.Sorted(maps.Keys(e)) {
		if text := formatJSONValue(e[key]); text != "" {
			parts = append(parts, key+"="+text)
		}
	}
	return []string{cleanLine(at), cleanLine(kind), cleanLine(strings.Join(parts, "  "))}
}

// byText describes who did something and through what, "" if the latter is not known.
func byText(actor, via any) string {
	raw, err := json.Marshal(via)
	if err != nil || via == nil {
		return ""
	}
	var v signal.Via
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	name := formatJSONValue(actor)
	if name == string(task.Human) {
		name = "you"
	}
	return fmt.Sprintf("by %s (%s)", name, v)
}

// formatJSONValue formats a JSON value, "" if there is none.
func formatJSONValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case map[string]any, []any:
		text, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(text)
	}
	return fmt.Sprint(v)
}

func newTaskExplain(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "explain [id]", Short: "Explain why a task is where it is, and what moves it on",
		Example: "  orange task explain MFTsZyeO\n" +
			"  orange task explain --json",
		Long: "Show who must act and the cheapest way to continue, every way out with its rules,\n" +
			"what the engine does next, how the task came here, what it has cost and what was refused.",
		Args: requireArguments(0, 1),
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			id, err := s.taskOf(ctx, args)
			if err != nil {
				return err
			}
			x, err := s.ExplainTask(ctx, id)
			if err != nil {
				return err
			}
			return s.showResult(x, func(w io.Writer) error {
				_, err := io.WriteString(w, cleanText(narrate.DescribeExplanation(x, s.Now())))
				return err
			})
		}),
	}
}
