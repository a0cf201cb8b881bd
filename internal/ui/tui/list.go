package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"orange/internal/view/overview"
)

// line is one line of the list: a task, or the head of a group.
type line struct {
	row   *overview.Row
	group string
	count int
}

// chooseLines selects the tasks that are shown, and keeps the cursor on its task.
func (m *model) chooseLines() {
	if m.page == pageInbox {
		m.inbox.keepCursor(m)
	}
	groups := overview.ChooseRows(m.state.Tasks, m.choice)
	m.lines = m.lines[:0]
	for g := range groups {
		group := &groups[g]
		if m.choice.Group != overview.NoGroups {
			m.lines = append(m.lines, line{group: group.Name, count: len(group.Rows)})
		}
		for i := range group.Rows {
			m.lines = append(m.lines, line{row: &group.Rows[i]})
		}
	}
	for i := range m.lines {
		if r := m.lines[i].row; r != nil && r.ID == m.chosen {
			m.cursor = i
			m.keepCursorVisible()
			return
		}
	}
	m.moveTo(m.cursor) // its task is no longer shown: select the one in its place
}

// selectedRow returns the task under the cursor, or nil.
func (m *model) selectedRow() *overview.Row {
	if m.page == pageInbox {
		return m.inbox.selectedRow(m)
	}
	if m.cursor < 0 || m.cursor >= len(m.lines) {
		return nil
	}
	return m.lines[m.cursor].row
}

// moveTo moves the cursor to a line, or to the next line with a task.
func (m *model) moveTo(at int) {
	at = max(0, min(at, len(m.lines)-1))
	m.cursor, m.chosen = at, ""
	isTask := func(l line) bool { return l.row != nil }
	if len(m.lines) > 0 && m.lines[at].row == nil {
		if n := slices.IndexFunc(m.lines[at:], isTask); n >= 0 {
			m.cursor = at + n
		}
	}
	if m.cursor < len(m.lines) && m.lines[m.cursor].row != nil {
		m.chosen = m.lines[m.cursor].row.ID
	}
	m.keepCursorVisible()
}

// moveCursor moves the cursor by so many tasks.
func (m *model) moveCursor(by int) tea.Cmd {
	at, dir := m.cursor, 1
	if by < 0 {
		dir, by = -1, -by
	}
	for next := at + dir; by > 0 && next >= 0 && next < len(m.lines); next += dir {
		if m.lines[next].row != nil {
			at = next
			by--
		}
	}
	m.moveTo(at)
	return m.followCursor(false)
}

// keepCursorVisible scrolls so that the cursor is visible.
func (m *model) keepCursorVisible() {
	m.layout = m.planLayout()
	height := m.layout.list.height
	if m.cursor < m.top {
		m.top = m.cursor
		if m.top > 0 && m.lines[m.top-1].row == nil {
			m.top-- // show the head of its group, too
		}
	}
	if m.cursor >= m.top+height {
		m.top = m.cursor - height + 1
	}
	m.top = max(0, min(m.top, len(m.lines)-height))
}

// applyFilter changes which tasks are shown, and how.
func (m *model) applyFilter(change func(*overview.Choice)) tea.Cmd {
	change(&m.choice)
	m.chooseLines()
	m.measureColumns()
	return m.followCursor(false)
}

// nextValue returns the value after now, cyclically.
func nextValue[T comparable](list []T, now T) T {
	return list[(slices.Index(list, now)+1)%len(list)]
}

// editSearch edits the search text.
func (m *model) editSearch(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "enter":
		m.finding = nil
	case "esc":
		m.finding = nil
		return m.applyFilter(func(c *overview.Choice) { c.Search = "" })
	case "up":
		return m.moveCursor(-1)
	case "down":
		return m.moveCursor(1)
	default:
		m.finding.editKey(k)
		return m.applySearch()
	}
	return nil
}

func (m *model) applySearch() tea.Cmd {
	return m.applyFilter(func(c *overview.Choice) { c.Search = m.finding.value() })
}

// toggleProject shows only the row's project, or all.
func (m *model) toggleProject(r *overview.Row) tea.Cmd {
	only := m.home
	if only == "" && r != nil {
		only = r.Project
	}
	if m.choice.Project != "" {
		only = ""
	}
	return m.applyFilter(func(c *overview.Choice) { c.Project = only })
}
