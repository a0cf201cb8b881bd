package trackers

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orange/internal/core/board"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
)

func sameName(a, b string) bool { return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b)) }

// columnsOf returns the columns of a tracker that a workflow needs.
func columnsOf(cfg *tracker.Config, def *workflow.Definition) (out []string) {
	if def.Board != nil {
		return def.Board.Vocabulary().Columns
	}
	for _, p := range def.Projections {
		if column := cfg.ColumnName(p.Status); !slices.Contains(out, column) {
			out = append(out, column)
		}
	}
	return out
}

// missingWords lists the names in a workflow that a tracker does not know.
func missingWords(cfg *tracker.Config, def *workflow.Definition, words board.Vocabulary) (out []string) {
	has := func(list []string, name string) bool {
		return slices.ContainsFunc(list, func(have string) bool { return sameName(have, name) })
	}
	for _, column := range slices.Concat(columnsOf(cfg, def), cfg.Eligible) {
		if text := fmt.Sprintf("column %q", column); !has(words.Columns, column) && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	if def.Board == nil {
		return out
	}
	for _, tag := range def.Board.Vocabulary().Tags {
		if !has(words.Tags, tag) {
			out = append(out, fmt.Sprintf("tag %q", tag))
		}
	}
	return out
}

// eligibleColumns returns the columns whose issues are dispatched: the configured ones, or else those of the states in
// which the workflow begins.
func eligibleColumns(cfg *tracker.Config, def *workflow.Definition) []string {
	if len(cfg.Eligible) > 0 {
		return cfg.Eligible
	}
	var out []string
	put := func(column string) {
		if column != "" && !slices.Contains(out, column) {
			out = append(out, column)
		}
	}
	for i := range def.Edges {
		for _, trigger := range def.Edges[i].On {
			switch {
			case trigger.Board != nil:
				for _, column := range trigger.Board.Columns {
					put(column)
				}
			case trigger.Kind == workflow.OnCreate && len(out) == 0 && def.Board == nil:
				put(cfg.ColumnName(def.ProjectedColumn(def.Edges[i].To)))
			}
		}
	}
	return out
}

func isEligible(cfg *tracker.Config, def *workflow.Definition, is *tracker.Issue) bool {
	return slices.ContainsFunc(eligibleColumns(cfg, def), func(column string) bool { return sameName(column, is.Card.Column) })
}

// requireEligibleColumn returns an error if the tracker has no eligible column, because then nothing would ever be
// dispatched, without a reason.
func requireEligibleColumn(ctx context.Context, d *connection, def *workflow.Definition) error {
	words, _, err := d.client.knownVocabulary(ctx)
	if err != nil {
		return err
	}
	missing := unknownColumns(&d.cfg, def, words)
	if len(missing) == 0 || len(missing) < len(eligibleColumns(&d.cfg, def)) {
		return nil
	}
	if words, err = d.client.ReadVocabulary(ctx); err != nil || len(unknownColumns(&d.cfg, def, words)) < len(missing) {
		return err
	}
	return task.Mistakef("%s has no column %s, and has %s: orange tracker add %s --eligible names another", d.cfg.Name, strings.Join(missing, ", "), strings.Join(words.Columns, ", "), d.cfg.Name)
}

// unknownColumns returns the eligible columns that the tracker does not have.
func unknownColumns(cfg *tracker.Config, def *workflow.Definition, words board.Vocabulary) (out []string) {
	for _, column := range eligibleColumns(cfg, def) {
		if !slices.ContainsFunc(words.Columns, func(have string) bool { return sameName(have, column) }) {
			out = append(out, strconv.Quote(column))
		}
	}
	return out
}

// hasPendingMove reports whether a task's issue is still to be moved to a column, or may have been: an effect that failed or
// was given up may have been performed.
func hasPendingMove(cfg *tracker.Config, t *task.Task, column string) bool {
	return slices.ContainsFunc(t.Pending, func(e task.Effect) bool {
		return e.Do == workflow.MoveCard && sameName(cfg.ColumnName(e.Arg), column)
	})
}

// willMove reports whether the move is still to come: no effect that it waits for was given up.
func willMove(t *task.Task) bool {
	stuck := map[bool]bool{} // non-blocking effects wait for each other, and so do the others
	for i := range t.Pending {
		switch e := &t.Pending[i]; {
		case e.GivenUp:
			stuck[e.NonBlocking] = true
		case e.Do == workflow.MoveCard && !stuck[e.NonBlocking]:
			return true
		}
	}
	return false
}

// isOver reports whether a task is deleted or in a terminal state.
func isOver(def *workflow.Definition, t *task.Task) bool {
	return t.Deleted || def.IsTerminal(t.Status)
}

// acceptsVerb reports whether a tracker may request a verb in the task's state.
func acceptsVerb(def *workflow.Definition, t *task.Task, verb string) bool {
	for _, i := range def.EdgesFrom(t.Status) {
		e := &def.Edges[i]
		if e.As == verb && e.AnswersTo(workflow.OnRequest, "") && slices.Contains(e.By, task.Tracker) {
			return true
		}
	}
	return false
}

// leadsTo returns the state that a tracker may request and that it would show in a column. A move against the rules
// needs an explicit request, not only a move.
func leadsTo(cfg *tracker.Config, def *workflow.Definition, t *task.Task, column string) (string, bool) {
	for _, i := range def.EdgesFrom(t.Status) {
		e := &def.Edges[i]
		shown := def.ProjectedColumn(e.To)
		if shown != "" && !e.Override && sameName(cfg.ColumnName(shown), column) && e.To != t.Status && e.AnswersTo(workflow.OnRequest, "") && slices.Contains(e.By, task.Tracker) {
			return e.To, true
		}
	}
	return "", false
}
