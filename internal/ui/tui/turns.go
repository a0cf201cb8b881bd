package tui

import (
	tea "charm.land/bubbletea/v2"

	"orange/internal/core/overview"
)

// vertical moves whatever has the keys by so many lines.
func (m *model) vertical(by int) tea.Cmd {
	switch {
	case m.page == pageInbox:
		m.inbox.step(m, by)
		return nil
	case m.focused:
		m.scrollDetail(by)
		return nil
	}
	return m.step(by)
}

// pageful is how many lines a page has.
func (m *model) pageful() int {
	if m.page == pageList && m.focused {
		return max(1, m.contentHeight()-1)
	}
	return max(1, m.layout.list.height-1)
}

// turnTo fills the screen with another page.
func (m *model) turnTo(p page) tea.Cmd {
	m.page = p
	if p == pageInbox {
		m.inbox.keep(m)
	}
	m.arrange()
	m.detail.stop() // what is not seen is not watched
	if p == pageList && m.detail.tab == tabScreen && m.detail.task == m.chosen {
		return m.read()
	}
	return m.follow(p == pageList)
}

func (m *model) turnInbox() tea.Cmd {
	if m.page == pageInbox {
		return m.turnTo(pageList)
	}
	m.inbox.keep(m)
	return m.turnTo(pageInbox)
}

func (m *model) turnHelp() tea.Cmd {
	m.help = 0
	m.reading.from = m.page
	return m.turnTo(pageHelp)
}

func (m *model) turnFocus() tea.Cmd {
	m.focused = !m.focused
	m.arrange()
	return m.follow(!m.detail.data.ready)
}

// lowText says why the detail pane is not to be seen.
const lowText = "the window is too low for the pane: press Tab"

// tooLow says that there is room for the list or for the pane, and the list has it.
func (m *model) tooLow() bool {
	return m.page == pageList && !m.focused && m.width < wideEnough && m.height < tallEnough
}

func (m *model) turnHidden() tea.Cmd {
	if m.tooLow() {
		m.say(lowText)
		return nil
	}
	m.hidden = !m.hidden
	m.focused = false
	m.arrange()
	return m.follow(false)
}

// resize gives the list more of the room, or less.
func (m *model) resize(by int) tea.Cmd {
	if m.tooLow() {
		m.say(lowText)
	}
	m.split = max(20, min(85, m.split+by))
	m.arrange()
	return m.follow(false)
}

// back undoes the last thing that narrowed the view.
func (m *model) back() tea.Cmd {
	switch {
	case m.page == pageHelp && m.reading.from == pageText:
		m.reading.from = m.reading.before
		return m.turnTo(pageText)
	case m.page == pageHelp, m.page == pageText:
		return m.turnTo(m.reading.from)
	case m.page == pageInbox:
		return m.turnTo(pageList)
	case m.focused:
		return m.turnFocus()
	case m.choice.Search != "":
		return m.sift(func(c *overview.Choice) { c.Search = "" })
	}
	return nil
}

// leave goes back to the list, and from there away.
func (m *model) leave() tea.Cmd {
	if m.page != pageList {
		return m.turnTo(pageList)
	}
	return tea.Quit
}

func (m *model) startFinding() tea.Cmd {
	f := newField(m.choice.Search, false)
	m.finding = &f
	return nil
}

// click selects what is under the mouse.
func (m *model) click(at tea.Mouse) tea.Cmd {
	if m.dialog != nil || at.Button != tea.MouseLeft {
		return nil
	}
	l := &m.layout
	switch {
	case m.page == pageInbox && l.list.holds(at.X, at.Y):
		m.inbox.click(m, at.Y-l.list.y)
	case m.page != pageList:
	case l.list.holds(at.X, at.Y):
		m.focused = false
		if n := m.top + at.Y - l.list.y; n < len(m.lines) && m.lines[n].row != nil {
			m.moveTo(n)
			return m.follow(false)
		}
	case l.tabs.holds(at.X, at.Y):
		if t, ok := m.tabAt(at.X - l.tabs.x); ok {
			return m.show(t)
		}
	case l.detail.holds(at.X, at.Y):
		m.focused = true
		m.arrange()
	}
	return nil
}

// wheel scrolls what is under the mouse.
func (m *model) wheel(at tea.Mouse) tea.Cmd {
	by := 3
	if at.Button == tea.MouseWheelUp {
		by = -3
	}
	switch {
	case m.dialog != nil:
	case m.page == pageInbox:
		m.inbox.step(m, by/3)
	case m.page != pageList:
		m.scrollPage(by)
	case m.layout.detail.holds(at.X, at.Y):
		m.scrollDetail(by)
	default:
		return m.step(by / 3)
	}
	return nil
}
