package tui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	charm "github.com/charmbracelet/x/ansi"

	"orange/internal/ui/tui/render"
)

// View implements tea.Model. It renders again only if something happened.
func (m *model) View() tea.View {
	if !m.stale || m.held {
		return m.shown
	}
	m.stale = false
	lines, cursor := m.renderFrame()
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen, v.MouseMode = true, tea.MouseModeCellMotion
	v.WindowTitle = m.windowTitle()
	v.Cursor = cursor
	m.shown, m.drawn = v, time.Now()
	m.pace.speedUp(m.program) // also after a slow rendering
	return v
}

func (m *model) windowTitle() string {
	if n := m.state.CountWaiting(m.choice.Project); n > 0 {
		return fmt.Sprintf("orange (%d)", n)
	}
	return "orange"
}

// renderFrame returns every line of the screen.
func (m *model) renderFrame() ([]string, *tea.Cursor) {
	if m.now.IsZero() {
		m.now = m.Now()
	}
	if m.width < 1 || m.height < 1 {
		return nil, nil
	}
	m.layout = m.planLayout()
	out := make([]string, m.height)
	put := func(a area, lines []string) {
		for i := 0; i < a.height && i < len(lines); i++ {
			out[a.y+i] = lines[i]
		}
	}
	put(m.layout.head, []string{m.renderHeader()})
	put(m.layout.footer, []string{m.renderFooter()})
	put(m.layout.note, []string{m.renderNote()})
	switch m.page {
	case pageInbox:
		put(m.layout.list, m.inbox.renderPage(m, m.width, m.layout.list.height))
	case pageBoard:
		put(m.layout.list, m.board.renderPage(m, m.width, m.layout.list.height))
	case pageText:
		put(m.layout.list, visibleLines(m.readingLines(m.textWidth()), m.reading.scroll, m.layout.list.height, " "))
	case pageHelp:
		put(m.layout.list, visibleLines(m.helpLines(m.width-2), m.help, m.layout.list.height, " "))
	default:
		m.putList(out)
	}
	for i := range out {
		out[i] = clipLine(out[i], m.width)
	}
	return m.withDialog(out)
}

// putList renders the list and the detail pane.
func (m *model) putList(out []string) {
	l := &m.layout
	top := l.list.y - l.names.height
	for i, text := range m.listLines() {
		if i < l.names.height+l.list.height {
			out[top+i] = text
		}
	}
	if l.detail.height == 0 && l.tabs.height == 0 {
		return
	}
	pane := append([]string{m.renderTabs()}, m.paneLines()...)
	for i := 0; i <= l.detail.height && l.tabs.y+i < len(out); i++ {
		text := ""
		if i < len(pane) {
			text = pane[i]
		}
		if l.beside {
			text = fitWidth(out[l.tabs.y+i], l.list.width) + m.theme.Border.Render("│ ") + text
		}
		out[l.tabs.y+i] = text
	}
}

// listLines returns the names of the columns and the visible lines.
func (m *model) listLines() []string {
	l := &m.layout
	cols := m.fittingColumns(l.list.width)
	var out []string
	if l.names.height > 0 {
		out = append(out, m.renderColumnNames(cols))
	}
	if len(m.lines) == 0 {
		return append(out, m.emptyListLines(l.list.width)...)
	}
	for i := m.top; i < len(m.lines) && i < m.top+l.list.height; i++ {
		if r := m.lines[i].row; r != nil {
			out = append(out, m.tableRow(cols, r, i == m.cursor))
			continue
		}
		out = append(out, m.groupHead(&m.lines[i], l.list.width, i == m.cursor))
	}
	return out
}

// groupHead renders the head of a group: whether it is folded, its name, and how many tasks it has.
func (m *model) groupHead(l *line, width int, selected bool) string {
	sign := "▾ "
	if l.folded {
		sign = "▸ "
	}
	name, style := clipLine(sign+cmp.Or(l.group, "-"), max(1, width-8)), m.theme.Title
	count := fmt.Sprintf(" %d", l.count)
	if selected {
		return m.theme.Selected.Render(fitWidth(name+count, width))
	}
	return style.Render(name) + m.theme.Faint.Render(count)
}

// emptyListLines returns why the list is empty.
func (m *model) emptyListLines(width int) []string {
	text := "  No tasks yet. Press c to create one."
	switch {
	case !m.known:
		text = "  ..."
	case m.choice.Filter.String() != "":
		text = "  No task matches the filter. Press Esc to show all."
	case len(m.state.Projects) == 0:
		text = "  No projects yet. Go to a repository and say: orange project add"
	case len(m.state.Tasks) > 0:
		text = fmt.Sprintf("  No task is %s here. Press f for others, A for all projects, c to create one.", scopeWord(m.choice.Scope))
	}
	return []string{"", m.theme.Faint.Render(clipLine(text, width))}
}

// paneLines returns the facts of the task and the content of the tab.
func (m *model) paneLines() []string {
	width := m.layout.detail.width
	r := m.selectedRow()
	if r == nil {
		return nil
	}
	out := m.taskFacts(r, width)
	height := m.contentHeight()
	lines := m.detailLines(width, height)
	d := &m.detail
	last := max(0, len(lines)-height)
	m.seekState(lines, height)
	if d.end {
		d.scroll = last
	}
	d.scroll = max(0, min(d.scroll, last))
	return append(out, visibleLines(lines, d.scroll, height, "")...)
}

// visibleLines returns a part of lines, each after a margin.
func visibleLines(lines []string, from, height int, margin string) []string {
	from = max(0, min(from, len(lines)))
	part := lines[from:min(len(lines), from+max(0, height))]
	out := make([]string, len(part))
	for i, l := range part {
		out[i] = margin + l
	}
	return out
}

// withDialog draws the box of the dialog over the screen.
func (m *model) withDialog(out []string) ([]string, *tea.Cursor) {
	if m.input != nil && m.dialog == nil && m.layout.note.height > 0 {
		_, x, _ := m.input.renderWindow(max(1, m.width-4), 1)
		return out, tea.NewCursor(min(m.width-1, x+2), m.layout.note.y)
	}
	if m.dialog == nil {
		return out, nil
	}
	width := max(1, min(72, m.width-4))
	inner := max(1, width-4)
	room := max(1, m.height-4)
	lines, x, y := m.dialog.renderBody(m, inner, room)
	lines = lines[:min(len(lines), room)]
	box := m.renderBox(m.dialog.boxTitle(), lines, width)
	left, top := max(0, (m.width-width)/2), max(0, (m.height-len(box))/2)
	for i, l := range box {
		if top+i >= len(out) {
			break
		}
		under := fitWidth(charm.Strip(out[top+i]), m.width)
		out[top+i] = clipLine(m.theme.Faint.Render(charm.Cut(under, 0, left))+l+m.theme.Faint.Render(charm.Cut(under, left+width, m.width)), m.width)
	}
	if x < 0 || top+1+y >= m.height {
		return out, nil
	}
	return out, tea.NewCursor(min(m.width-1, left+2+x), top+1+y)
}

// renderBox draws a frame around lines.
func (m *model) renderBox(title string, lines []string, width int) []string {
	edge := m.theme.Border.Render
	name := clipLine(" "+title+" ", max(0, width-4))
	rest := max(0, width-3-charm.StringWidth(name))
	out := []string{edge("╭─") + m.theme.Title.Render(name) + edge(strings.Repeat("─", rest)+"╮")}
	for _, l := range lines {
		out = append(out, edge("│ ")+fitWidth(l, max(0, width-4))+edge(" │"))
	}
	return append(out, edge("╰"+strings.Repeat("─", max(0, width-2))+"╯"))
}

// clipLine cuts a line that is too wide.
func clipLine(text string, width int) string {
	if width <= 0 {
		return ""
	}
	return charm.Truncate(text, width, "…")
}

// styledLine returns a text on one line.
func (m *model) styledLine(style render.Style, text string, width int) []string {
	return []string{style.Render(clipLine(text, width))}
}

// styledLines returns a text on as many lines as it needs, within limits.
func (m *model) styledLines(style render.Style, text string, width int) []string {
	const most = 4000
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	var out []string
	for l := range strings.SplitSeq(charm.Wrap(text, max(1, width), ""), "\n") {
		out = append(out, style.Render(l))
	}
	return out
}

// fitWidth returns text in exactly width columns: cut, or padded.
func fitWidth(text string, width int) string {
	if width <= 0 {
		return ""
	}
	text = clipLine(text, width)
	return text + strings.Repeat(" ", max(0, width-charm.StringWidth(text)))
}
