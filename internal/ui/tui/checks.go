package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/humanize"
	"orange/internal/view/overview"
)

// checkIcon returns a mark for how a check stands.
func (m *model) checkIcon(c *overview.CheckStatus) styledText {
	switch {
	case c.Passed():
		return styledText{"✓", m.theme.Good}
	case c.Failed():
		return styledText{"✗", m.theme.Bad}
	case c.InProgress():
		return styledText{"…", m.theme.Warn}
	}
	return styledText{"·", m.theme.Faint}
}

// checksCell returns the check that matters most, or that all passed.
func checksCell(m *model, r *overview.Row) []styledText {
	c := r.NotableCheck()
	switch {
	case c != nil:
		icon := m.checkIcon(c)
		return []styledText{icon, {" " + c.Name, icon.style}}
	case r.ChecksPassed():
		return []styledText{{"✓", m.theme.Good}}
	}
	return nil
}

// checkSummary returns the line with the checks of a task.
func (m *model) checkSummary(r *overview.Row, width int) []string {
	if len(r.Checks) == 0 {
		return nil
	}
	var words []string
	style := m.theme.Faint
	for i := range r.Checks {
		c := &r.Checks[i]
		icon := m.checkIcon(c)
		words = append(words, icon.text+" "+c.Name+" "+c.Describe(m.now))
		if c.Failed() || c.InProgress() {
			style = icon.style
		}
	}
	return m.styledLine(style, strings.Join(words, " · "), width)
}

// checkLines returns the checks of a task with the last lines of their output.
func (m *model) checkLines(t *task.Task, width int) []string {
	list := overview.ChecksOf(t)
	if len(list) == 0 {
		return m.styledLine(m.theme.Faint, "the task has no checks: orange project update "+t.Project+" --check NAME=COMMAND defines them for new tasks", width)
	}
	var out []string
	for i := range list {
		c := &list[i]
		icon := m.checkIcon(c)
		text := icon.text + " " + c.Name + " " + c.Describe(m.now)
		if c.Tree != "" {
			text += " (tree " + humanize.Prefix(c.Tree, 12) + ", " + humanize.FormatAge(m.now, c.Since) + " ago)"
		}
		out = append(out, m.styledLine(icon.style, text, width)...)
		if c.State == overview.CheckRunning {
			out = append(out, m.styledLine(m.theme.Faint, "  4 follows its output", width)...)
		}
		if r, ok := t.CheckResultOf(t.Checks[i].Name); ok && !c.InProgress() && r.Last != "" {
			out = append(out, m.outputLines(r.Last, width)...)
		}
		out = append(out, "")
	}
	return out
}

// outputLines returns untrusted output of a command, indented.
func (m *model) outputLines(text string, width int) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		out = append(out, m.styledLine(m.theme.Text, "  "+plainLine(line), width)...)
	}
	return out
}

// runChecks asks for a check: in a check state for all of the state, elsewhere for one.
func (m *model) runChecks(r *overview.Row) tea.Cmd {
	if len(r.Checks) == 0 {
		m.showError("%s has no checks: orange project update %s --check NAME=COMMAND defines them for new tasks", r.Branch, r.Project)
		return nil
	}
	ask := func(name string) tea.Cmd {
		return m.sendSignal(r, "a check of "+r.Branch, signal.Signal{Kind: signal.Request, Verb: engine.VerbCheck, Arg: name})
	}
	if r.Kind == workflow.CheckDo || len(r.Checks) == 1 {
		return ask("")
	}
	c := &chooser{head: "Run which check of " + r.Branch + "?"}
	for i := range r.Checks {
		c.addChoice(r.Checks[i].Name+" ("+r.Checks[i].Describe(m.now)+")", func(*model) tea.Cmd { return ask(r.Checks[i].Name) })
	}
	m.dialog = c
	return nil
}
