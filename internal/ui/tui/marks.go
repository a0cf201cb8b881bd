package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/task"
	"orange/internal/view/humanize"
	"orange/internal/view/overview"
)

// mark means that a task is selected for an action on several tasks.
type mark struct {
	why string // why the last such action was refused, "" if none was
}

// toggleMark selects the task under the cursor, or takes it out, and goes on to the next.
func (m *model) toggleMark(r *overview.Row) tea.Cmd {
	if _, marked := m.marks[r.ID]; marked {
		delete(m.marks, r.ID)
	} else {
		m.marks[r.ID] = mark{}
	}
	return m.moveCursor(1)
}

// toggleAllMarks selects all listed tasks, or none if all are selected.
func (m *model) toggleAllMarks() tea.Cmd {
	all := len(m.marks) == m.listed
	clear(m.marks)
	if all {
		return nil
	}
	for _, g := range overview.ChooseRows(m.state.Tasks, m.choice) {
		for i := range g.Rows {
			m.marks[g.Rows[i].ID] = mark{}
		}
	}
	m.showNote("%s selected: Enter shows what can be done with all of them, Esc takes it back", humanize.Plural(len(m.marks), "task"))
	return nil
}

// forgetMarks takes tasks out of the selection that are no longer listed: nobody acts on what is not in sight. A filter
// that is being typed takes nothing out yet.
func (m *model) forgetMarks(groups []overview.Group) {
	if len(m.marks) == 0 || m.input != nil {
		return
	}
	kept := map[task.ID]mark{}
	for _, g := range groups {
		for i := range g.Rows {
			if mk, ok := m.marks[g.Rows[i].ID]; ok {
				kept[g.Rows[i].ID] = mk
			}
		}
	}
	m.marks = kept
}

// markedRows returns the selected tasks, in the order of the list.
func (m *model) markedRows() []overview.Row {
	var out []overview.Row
	for _, g := range overview.ChooseRows(m.state.Tasks, m.choice) {
		for i := range g.Rows {
			if _, ok := m.marks[g.Rows[i].ID]; ok {
				out = append(out, g.Rows[i])
			}
		}
	}
	return out
}

// targetRows returns the selected tasks or, if there are none, the one under the cursor.
func (m *model) targetRows() []overview.Row {
	if m.page == pageList && len(m.marks) > 0 {
		return m.markedRows()
	}
	if r := m.selectedRow(); r != nil {
		return []overview.Row{*r}
	}
	return nil
}

// runKeyOnMarks handles a key of a task while several are selected. It reports whether it did.
func (m *model) runKeyOnMarks(a *action) (tea.Cmd, bool) {
	switch {
	case m.page != pageList || len(m.marks) == 0 || !a.task || a.reads:
		return nil, false
	case a.bulk != nil:
		return m.startBulk(a.bulk(m.markedRows())), true
	case a.keys[0] == "enter":
		return m.chooseBulk(), true
	}
	m.showError("%s selected, and this key is for one task: press Enter for what can be done with all of them, or Esc", humanize.Plural(len(m.marks), "task"))
	return nil, true
}

// chooseBulk offers what can be done with the selected tasks.
func (m *model) chooseBulk() tea.Cmd {
	rows := m.markedRows()
	c := &chooser{head: fmt.Sprintf("What to do with %s?", humanize.Plural(len(rows), "task"))}
	for _, kind := range bulkKinds() {
		n := 0
		for i := range rows {
			if kind.unfit(&rows[i]) == "" {
				n++
			}
		}
		if n > 0 {
			c.addChoice(fmt.Sprintf("%s %d of them", kind.title, n), func(m *model) tea.Cmd { return m.startBulk(kind) })
		}
	}
	if len(c.do) == 0 {
		m.showError("nothing can be done with all of these tasks")
		return nil
	}
	m.dialog = c
	return nil
}
