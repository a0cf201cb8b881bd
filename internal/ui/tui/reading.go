package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/task"
	"orange/internal/view/overview"
)

// reading is TASK.md on the whole screen.
type reading struct {
	task         task.ID
	name         string
	from, before page // where it was opened
	body         string
	err          error
	ready        bool
	lines        []string
	size         int
	scroll       int
}

type textMsg struct {
	id   task.ID
	body string
	err  error
}

// openText opens the text of a task.
func (m *model) openText(r *overview.Row) tea.Cmd {
	m.reading = reading{task: r.ID, name: r.Project + "/" + r.Branch, from: m.page, before: m.page}
	return tea.Batch(m.showPage(pageText), m.reading.loadBody(m))
}

func (v *reading) loadBody(m *model) tea.Cmd {
	ctx, api, id := m.ctx, m.API, v.task
	return func() tea.Msg {
		view, err := api.ReadTask(ctx, string(id))
		return textMsg{id, taskBody(view), err}
	}
}

func (v *reading) applyText(m *model, msg textMsg) {
	if msg.id == v.task {
		v.body, v.err, v.ready, v.lines = msg.body, msg.err, true, nil
		m.scrollPage(0)
	}
}

func (m *model) readingLines(width int) []string {
	v := &m.reading
	if v.lines == nil || v.size != width {
		v.size = width
		switch {
		case !v.ready:
			v.lines = []string{m.theme.Faint.Render("...")}
		case v.err != nil:
			v.lines = m.styledLines(m.theme.Bad, oneLine(v.err), width)
		case strings.TrimSpace(v.body) == "":
			v.lines = []string{m.theme.Faint.Render("TASK.md is empty")}
		default:
			v.lines = m.theme.RenderMarkdown(v.body, width)
		}
	}
	return v.lines
}

// scrollPage scrolls the page by so many lines.
func (m *model) scrollPage(by int) {
	at, lines := &m.reading.scroll, 0
	if m.page == pageHelp {
		at, lines = &m.help, len(m.helpLines(m.width))
	} else {
		lines = len(m.readingLines(m.textWidth()))
	}
	*at = max(0, min(*at+by, lines-m.layout.list.height))
}

// textWidth returns the width of texts: long lines are hard to read.
func (m *model) textWidth() int { return max(1, min(m.width-2, 110)) }

// helpLines returns the page of keys.
func (m *model) helpLines(width int) []string {
	var out []string
	for _, group := range []string{groupTask, groupList, groupInbox, groupPane, groupOther} {
		if len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, m.theme.Title.Render(clipLine(group, width)))
		for _, a := range allActions() {
			if a.group == group {
				shown := fmt.Sprintf("  %-8s", a.hint.key)
				out = append(out, m.theme.Key.Render(clipLine(shown, width))+m.theme.Text.Render(clipLine(a.help, width-len(shown))))
			}
		}
	}
	out = append(out, "", m.theme.Title.Render(clipLine("The mouse", width)))
	for _, l := range [][2]string{{"click", "select a task, turn to a tab, or give the keys to the pane"}, {"wheel", "move through the list, or scroll what is under it"}} {
		shown := fmt.Sprintf("  %-8s", l[0])
		out = append(out, m.theme.Key.Render(clipLine(shown, width))+m.theme.Text.Render(clipLine(l[1], width-len(shown))))
	}
	icons := "● an agent is alive (faint: idle)   ✗ it died   ○ there is none   ◌ a request is under way   [n] workspace"
	return append(out, "", m.theme.Faint.Render(clipLine(icons, width)))
}
