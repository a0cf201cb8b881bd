package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/task"
	"orange/internal/view/overview"
)

// line is one line of the list: a task, or the head of a group.
type line struct {
	row    *overview.Row
	group  string
	count  int
	folded bool // the tasks of the group are not listed
}

// isStop reports whether the cursor can be on a line: a task, or a group that can be unfolded.
func (l line) isStop() bool { return l.row != nil || l.folded }

// foldKey identifies a group of one way of grouping.
type foldKey struct {
	by   overview.Grouping
	name string
}

// chooseLines selects the tasks that are shown, and keeps the cursor on its task or group.
func (m *model) chooseLines() {
	if m.page == pageInbox {
		m.inbox.keepCursor(m)
	}
	groups := overview.ChooseRows(m.state.Tasks, m.choice)
	m.forgetMarks(groups)
	m.lines, m.listed = m.lines[:0], 0
	for g := range groups {
		group := &groups[g]
		m.listed += len(group.Rows)
		if m.choice.Group != overview.NoGroups {
			folded := m.folded[foldKey{m.choice.Group, group.Name}]
			m.lines = append(m.lines, line{group: group.Name, count: len(group.Rows), folded: folded})
			if folded {
				continue
			}
		}
		for i := range group.Rows {
			m.lines = append(m.lines, line{row: &group.Rows[i], group: group.Name})
		}
	}
	for i := range m.lines {
		if l := &m.lines[i]; l.row != nil && l.row.ID == m.chosen || l.folded && m.chosen == "" && l.group == m.chosenGroup {
			m.cursor = i
			m.keepCursorVisible()
			return
		}
	}
	m.moveTo(m.cursor) // its task is no longer shown: select the one in its place
}

// selectedRow returns the task under the cursor, or nil.
func (m *model) selectedRow() *overview.Row {
	switch {
	case m.page == pageInbox:
		return m.inbox.selectedRow(m)
	case m.page == pageBoard:
		return m.board.selectedRow(m)
	case m.cursor < 0 || m.cursor >= len(m.lines):
		return nil
	}
	return m.lines[m.cursor].row
}

// moveTo moves the cursor to a line, or to the nearest line that it can be on.
func (m *model) moveTo(at int) {
	at = max(0, min(at, len(m.lines)-1))
	m.cursor, m.chosen, m.chosenGroup = at, "", ""
	if len(m.lines) > 0 && !m.lines[at].isStop() {
		if n := slices.IndexFunc(m.lines[at:], line.isStop); n >= 0 {
			m.cursor = at + n
		}
	}
	if m.cursor < len(m.lines) {
		if l := &m.lines[m.cursor]; l.row != nil {
			m.chosen = l.row.ID
		} else {
			m.chosenGroup = l.group
		}
	}
	m.keepCursorVisible()
}

// moveToTask moves the cursor to a task. It reports whether the task is listed.
func (m *model) moveToTask(id task.ID) bool {
	at := slices.IndexFunc(m.lines, func(l line) bool { return l.row != nil && l.row.ID == id })
	if at >= 0 {
		m.moveTo(at)
	}
	return at >= 0
}

// moveCursor moves the cursor by so many tasks.
func (m *model) moveCursor(by int) tea.Cmd {
	at, dir := m.cursor, 1
	if by < 0 {
		dir, by = -1, -by
	}
	for next := at + dir; by > 0 && next >= 0 && next < len(m.lines); next += dir {
		if m.lines[next].isStop() {
			at = next
			by--
		}
	}
	m.moveTo(at)
	return m.followCursor(false)
}

// setFolded folds or unfolds the group under the cursor.
func (m *model) setFolded(fold bool) tea.Cmd {
	switch {
	case m.choice.Group == overview.NoGroups:
		m.showNote("there are no groups: press g to group the tasks")
		return nil
	case m.cursor >= len(m.lines):
		return nil
	}
	return m.foldGroup(m.lines[m.cursor].group, fold)
}

// foldGroup folds or unfolds a group. The cursor goes to the group, or to its first task.
func (m *model) foldGroup(name string, fold bool) tea.Cmd {
	key := foldKey{m.choice.Group, name}
	if m.folded[key] == fold {
		return nil
	}
	m.folded[key] = fold
	if here := m.cursor < len(m.lines) && m.lines[m.cursor].group == name; here && fold {
		m.chosen, m.chosenGroup = "", name
	}
	head := slices.IndexFunc(m.lines, func(l line) bool { return l.row == nil && l.group == name })
	m.chooseLines()
	if !fold && m.chosen == "" {
		m.moveTo(head)
	}
	return m.followCursor(false)
}

// keepCursorVisible scrolls so that the cursor is visible.
func (m *model) keepCursorVisible() {
	m.layout = m.planLayout()
	height := m.layout.list.height
	if m.cursor < m.top {
		m.top = m.cursor
	}
	if m.cursor >= m.top+height {
		m.top = m.cursor - height + 1
	}
	if m.cursor == m.top && height > 1 && m.top > 0 && m.lines[m.top-1].row == nil {
		m.top-- // show the head of its group, too
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
