package paint

import (
	"time"

	"orange/internal/core/diff"
	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/screen"
	"orange/internal/core/workflow"
)

// Timeline is what happened to a task, the newest last.
func (t Theme) Timeline(entries []journal.Entry, now time.Time, width int) []string { return nil }

// Markdown is a text in Markdown, such as TASK.md.
func (t Theme) Markdown(text string, width int) []string { return nil }

// Explain says why a task is where it is.
func (t Theme) Explain(x engine.Explanation, now time.Time, width int) []string { return nil }

// Graph is a workflow, with the path that a task took and where it is.
func (t Theme) Graph(def *workflow.Definition, at string, entries []journal.Entry, width int) []string {
	return nil
}

// Screen is what a terminal shows: the lower part, if it is too tall.
func (t Theme) Screen(lines []screen.Line, width, height int) []string { return nil }

// Diff is what changed.
func (t Theme) Diff(files []diff.File, width int) []string { return nil }

// Fit is text in exactly so many columns: cut with an ellipsis, or filled up.
func Fit(text string, width int) string { return text }
