package tui

import (
	tea "charm.land/bubbletea/v2"

	"orange/internal/view/overview"
)

// moveVertical moves the focused part by so many lines.
func (m *model) moveVertical(by int) tea.Cmd {
	switch {
	case m.page == pageInbox:
		m.inbox.moveCursor(m, by)
		return nil
	case m.page == pageBoard:
		return m.moveOnBoard(0, by)
	case m.focused:
		m.scrollDetail(by)
		return nil
	}
	return m.moveCursor(by)
}

// pageHeight returns how many lines a page has.
func (m *model) pageHeight() int {
	if m.page == pageList && m.focused {
		return max(1, m.contentHeight()-1)
	}
	return max(1, m.layout.list.height-1)
}

// showPage shows another page.
func (m *model) showPage(p page) tea.Cmd {
	m.page = p
	if p == pageInbox {
		m.inbox.keepCursor(m)
	}
	m.keepCursorVisible()
	m.detail.stop() // a hidden terminal is not watched
	if p == pageList && m.detail.tab == tabScreen && m.detail.task == m.chosen {
		return m.readTab()
	}
	return m.followCursor(p == pageList)
}

func (m *model) toggleInbox() tea.Cmd {
	if m.page == pageInbox {
		return m.showPage(pageList)
	}
	m.inbox.keepCursor(m)
	return m.showPage(pageInbox)
}

func (m *model) showHelp() tea.Cmd {
	m.help = 0
	m.reading.from = m.page
	return m.showPage(pageHelp)
}

func (m *model) toggleFocus() tea.Cmd {
	m.focused = !m.focused
	m.keepCursorVisible()
	return m.followCursor(!m.detail.data.ready)
}

// lowText is why the detail pane is not visible.
const lowText = "the window is too low for the pane: press Tab"

// tooLow reports whether only the list or only the pane fits, and the list is shown.
func (m *model) tooLow() bool {
	return m.page == pageList && !m.focused && m.width < wideEnough && m.height < tallEnough
}

func (m *model) toggleHidden() tea.Cmd {
	if m.tooLow() {
		m.showNote(lowText)
		return nil
	}
	m.hidden = !m.hidden
	m.focused = false
	m.keepCursorVisible()
	return m.followCursor(false)
}

// resizeList changes the list's share of the room.
func (m *model) resizeList(by int) tea.Cmd {
	if m.tooLow() {
		m.showNote(lowText)
	}
	m.split = max(20, min(85, m.split+by))
	m.keepCursorVisible()
	return m.followCursor(false)
}

// goBack undoes the last change that narrowed the view.
func (m *model) goBack() tea.Cmd {
	switch {
	case m.page == pageHelp && m.reading.from == pageText:
		m.reading.from = m.reading.before
		return m.showPage(pageText)
	case m.page == pageHelp, m.page == pageText:
		return m.showPage(m.reading.from)
	case m.page == pageInbox, m.page == pageBoard:
		return m.showPage(pageList)
	case len(m.marks) > 0:
		clear(m.marks)
		return nil
	case m.focused:
		return m.toggleFocus()
	case m.choice.Filter.String() != "":
		return m.applyFilter(func(c *overview.Choice) { c.Filter = overview.Filter{} })
	}
	return nil
}

// leaveOrQuit returns to the list, and from there quits.
func (m *model) leaveOrQuit() tea.Cmd {
	if m.page != pageList {
		return m.showPage(pageList)
	}
	return tea.Quit
}

// handleClick selects what is under the mouse.
func (m *model) handleClick(at tea.Mouse) tea.Cmd {
	if m.dialog != nil || at.Button != tea.MouseLeft {
		return nil
	}
	l := &m.layout
	switch {
	case m.page == pageInbox && l.list.containsPoint(at.X, at.Y):
		m.inbox.selectAt(m, at.Y-l.list.y)
	case m.page != pageList:
	case l.list.containsPoint(at.X, at.Y):
		m.focused = false
		switch n := m.top + at.Y - l.list.y; {
		case n >= len(m.lines):
		case m.lines[n].row == nil:
			return m.foldGroup(m.lines[n].group, !m.lines[n].folded)
		default:
			m.moveTo(n)
			return m.followCursor(false)
		}
	case l.tabs.containsPoint(at.X, at.Y):
		if t, ok := m.tabAt(at.X - l.tabs.x); ok {
			return m.showTab(t)
		}
	case l.detail.containsPoint(at.X, at.Y):
		m.focused = true
		m.keepCursorVisible()
	}
	return nil
}

// handleWheel scrolls what is under the mouse.
func (m *model) handleWheel(at tea.Mouse) tea.Cmd {
	by := 3
	if at.Button == tea.MouseWheelUp {
		by = -3
	}
	switch {
	case m.dialog != nil:
	case m.page == pageInbox, m.page == pageBoard:
		return m.moveVertical(by / 3)
	case m.page != pageList:
		m.scrollPage(by)
	case m.layout.detail.containsPoint(at.X, at.Y):
		m.scrollDetail(by)
	default:
		return m.moveCursor(by / 3)
	}
	return nil
}
