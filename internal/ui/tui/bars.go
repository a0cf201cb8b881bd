package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	charm "github.com/charmbracelet/x/ansi"

	"orange/internal/core/explain"
	"orange/internal/ui/client"
	"orange/internal/view/humanize"
	"orange/internal/view/overview"
)

// renderHeader renders what is shown, and the overall state.
func (m *model) renderHeader() string {
	scope := "all projects"
	if m.choice.Project != "" {
		scope = m.choice.Project
	}
	left := m.theme.Title.Render(" orange ")
	bits := []styledText{{scope, m.theme.Strong}}
	switch m.page {
	case pageInbox:
		bits = append(bits, m.inboxBits()...)
	case pageText:
		bits = []styledText{{m.reading.name, m.theme.Strong}, {"TASK.md", m.theme.Faint}}
	case pageBoard:
		bits = []styledText{{m.board.project, m.theme.Strong}, {"board", m.theme.Strong}, {humanize.Plural(len(m.board.data.Cards), "card"), m.theme.Faint}}
	case pageHelp:
		bits = []styledText{{"help", m.theme.Strong}}
	default:
		bits = append(bits, m.filterBits()...)
	}
	if n := m.state.CountWaiting(m.choice.Project); n > 0 && m.page == pageList {
		bits = append(bits, styledText{fmt.Sprintf("%d for you", n), m.theme.Warn})
	}
	end := ""
	for _, p := range m.linkBits() {
		end += "  " + p.style.Render(p.text)
	}
	room := m.width - charm.StringWidth(left) - charm.StringWidth(end) - 2
	mid := joinBits(bits, room)
	return left + mid + strings.Repeat(" ", max(0, room-charm.StringWidth(mid))) + end + "  "
}

// inboxBits returns what the inbox shows, and how much of it waits for a person.
func (m *model) inboxBits() []styledText {
	out := []styledText{{"inbox", m.theme.Strong}}
	if m.inbox.kind != "" {
		out = append(out, styledText{"only " + string(m.inbox.kind), m.theme.Accent})
	}
	waiting, backlog := explain.CountInbox(m.inbox.allItems(m))
	if backlog > 0 {
		out = append(out, styledText{fmt.Sprintf("%d in the backlog", backlog), m.theme.Faint})
	}
	if waiting > 0 {
		out = append(out, styledText{fmt.Sprintf("%d for you", waiting), m.theme.Warn})
	}
	return out
}

// joinBits returns as many bits as fit. The first and the last, which is how much waits for a person, are dropped last.
func joinBits(bits []styledText, room int) string {
	const between = " · "
	for len(bits) > 1 && widthOf(bits)+(len(bits)-1)*len([]rune(between)) > room {
		drop := max(1, len(bits)-2)
		bits = slices.Delete(slices.Clone(bits), drop, drop+1)
	}
	out := ""
	for i, p := range bits {
		if i > 0 {
			p.text = between + p.text
		}
		out += p.style.Render(p.text)
	}
	return clipLine(out, room)
}

// filterBits returns which tasks are shown, and how.
func (m *model) filterBits() []styledText {
	out := []styledText{{scopeWord(m.choice.Scope), m.theme.Text}, {humanize.Plural(m.listed, "task"), m.theme.Faint}}
	if len(m.marks) > 0 {
		out = append(out, styledText{fmt.Sprintf("%d selected", len(m.marks)), m.theme.Accent})
	}
	if text := m.choice.Filter.String(); text != "" && m.input == nil {
		out = append(out, styledText{"/" + clipLine(plainLine(text), 30), m.theme.Accent})
	}
	if used, all := m.poolUsage(); all > 0 {
		out = append(out, styledText{fmt.Sprintf("pool %d/%d", used, all), m.theme.Faint})
	}
	if m.choice.Sort != overview.ByCreation || m.choice.Reverse {
		arrow := "↓"
		if m.choice.Reverse {
			arrow = "↑"
		}
		out = append(out, styledText{"by " + string(m.choice.Sort) + arrow, m.theme.Faint})
	}
	return out
}

// scopeWord returns the word for the tasks of a scope.
func scopeWord(s overview.Scope) string {
	switch s {
	case overview.Active:
		return "open"
	case overview.Done:
		return "closed"
	}
	return string(s)
}

// poolUsage returns how many workspaces are in use, and how many there are.
func (m *model) poolUsage() (used, all int) {
	for i := range m.state.Projects {
		p := &m.state.Projects[i]
		if m.choice.Project == "" || m.choice.Project == p.Name {
			used += m.state.UsedWorkspaces(p.Name)
			all += p.Pool
		}
	}
	return used, all
}

// linkBits returns the state of the connection.
func (m *model) linkBits() []styledText {
	var out []styledText
	if m.state.Paused {
		out = append(out, styledText{"paused", m.theme.Warn})
	}
	switch {
	case m.waking:
		return append(out, styledText{"starting the server", m.theme.Warn})
	case client.IsAbsent(m.lost):
		return append(out, styledText{"no server: any key starts one", m.theme.Bad})
	case errors.Is(m.lost, errWoken):
		return append(out, styledText{"connecting", m.theme.Faint})
	case m.lost != nil:
		return append(out, styledText{"connection lost, trying again", m.theme.Bad})
	case !m.known:
		return append(out, styledText{"connecting", m.theme.Faint})
	}
	return append(out, styledText{"live", m.theme.Good})
}

// renderNote renders the search text, the result of the last request, or a note about the task under the cursor.
func (m *model) renderNote() string {
	width := m.width
	switch r := m.selectedRow(); {
	case m.input != nil:
		return m.renderInput()
	case m.note.text != "" && m.note.bad:
		return m.theme.Bad.Render(clipLine(" "+m.note.text, width))
	case m.note.text != "":
		return m.theme.Accent.Render(clipLine(" "+m.note.text, width))
	case r != nil && m.page == pageList && m.marks[r.ID].why != "":
		return m.theme.Bad.Render(clipLine(" "+r.Branch+": "+m.marks[r.ID].why, width))
	case r != nil && m.busy[r.ID] != "":
		return m.theme.Faint.Render(clipLine(" "+m.busy[r.ID]+" is under way ...", width))
	case m.busy[everything] != "":
		return m.theme.Faint.Render(clipLine(" "+m.busy[everything]+" is under way ...", width))
	case m.page == pageList && r != nil && m.layout.detail.height == 0:
		return m.theme.Faint.Render(clipLine(" "+r.Summary, width))
	}
	return ""
}

// renderFooter renders the available keys.
func (m *model) renderFooter() string {
	switch in := m.input; {
	case in == nil || m.dialog != nil:
	case in.why != "":
		return m.theme.Bad.Render(clipLine(" "+in.why, m.width))
	case len(in.options) > 0:
		return m.renderOptions(m.width)
	}
	some, fixed := m.footerHints()
	wide := func(h hint) int { return charm.StringWidth(h.key) + 1 + charm.StringWidth(h.word) + 2 }
	show := func(h hint) string { return m.theme.Key.Render(h.key) + " " + m.theme.Faint.Render(h.word) + "  " }
	room, left, right := m.width-1, " ", ""
	for i := len(fixed) - 1; i >= 0; i-- {
		if w := wide(fixed[i]); w <= room {
			right, room = show(fixed[i])+right, room-w
		}
	}
	for _, h := range some {
		if w := wide(h); w <= room {
			left, room = left+show(h), room-w
		}
	}
	return left + strings.Repeat(" ", max(0, room)) + right
}

// renderTabs renders the names of the tabs of the detail pane.
func (m *model) renderTabs() string {
	var out strings.Builder
	width := 0
	for t := range tabs {
		text := m.tabText(t)
		width += charm.StringWidth(text)
		switch {
		case t == m.detail.tab && m.focused:
			out.WriteString(m.theme.Strong.WithBackground(m.theme.Selected).Render(text))
		case t == m.detail.tab:
			out.WriteString(m.theme.Title.Render(text))
		default:
			out.WriteString(m.theme.Faint.Render(text))
		}
	}
	if rest := m.layout.tabs.width - width; rest > 0 {
		out.WriteString(m.theme.Border.Render(strings.Repeat("─", rest)))
	}
	return clipLine(out.String(), m.layout.tabs.width)
}

func (m *model) tabText(t tab) string {
	if m.layout.tabs.width < 78 {
		if t == m.detail.tab {
			return " " + t.String() + " "
		}
		return fmt.Sprintf(" %d ", t+1)
	}
	return fmt.Sprintf(" %d %s ", t+1, t)
}

// tabAt returns the tab at a column of their line.
func (m *model) tabAt(x int) (tab, bool) {
	for t := range tabs {
		if x -= charm.StringWidth(m.tabText(t)); x < 0 {
			return t, true
		}
	}
	return 0, false
}
