package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"orange/internal/core/overview"
)

// View implements tea.Model. It draws again only if something happened.
func (m *model) View() tea.View {
	if !m.stale || m.held {
		return m.shown
	}
	m.stale = false
	lines, cursor := m.frame()
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen, v.MouseMode = true, tea.MouseModeCellMotion
	v.WindowTitle = m.windowTitle()
	v.Cursor = cursor
	m.shown, m.drawn = v, time.Now()
	return v
}

func (m *model) windowTitle() string {
	if n := overview.Sum(m.state.Tasks).Wants; n > 0 {
		return fmt.Sprintf("orange (%d)", n)
	}
	return "orange"
}

// frame is every line of the screen.
func (m *model) frame() ([]string, *tea.Cursor) {
	if m.now.IsZero() {
		m.now = m.Now()
	}
	if m.width < 1 || m.height < 1 {
		return nil, nil
	}
	m.layout = m.plan()
	out := make([]string, m.height)
	put := func(a area, lines []string) {
		for i := 0; i < a.height && i < len(lines); i++ {
			out[a.y+i] = lines[i]
		}
	}
	put(m.layout.head, []string{m.headline()})
	put(m.layout.foot, []string{m.footline()})
	put(m.layout.note, []string{m.noteline()})
	switch m.page {
	case pageInbox:
		put(m.layout.list, m.inbox.draw(m, m.width, m.layout.list.height))
	case pageText:
		put(m.layout.list, window(m.readingLines(m.textWidth()), m.reading.scroll, m.layout.list.height, " "))
	case pageHelp:
		put(m.layout.list, window(m.helpLines(m.width-2), m.help, m.layout.list.height, " "))
	default:
		m.putList(out)
	}
	for i := range out {
		out[i] = clip(out[i], m.width)
	}
	return m.withDialog(out)
}

// putList draws the list and the detail pane.
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
	pane := append([]string{m.tabline()}, m.paneLines()...)
	for i := 0; i <= l.detail.height && l.tabs.y+i < len(out); i++ {
		text := ""
		if i < len(pane) {
			text = pane[i]
		}
		if l.beside {
			text = fit(out[l.tabs.y+i], l.list.width) + m.theme.Border.Render("│ ") + text
		}
		out[l.tabs.y+i] = text
	}
}

// listLines are the names of the columns and the lines in sight.
func (m *model) listLines() []string {
	l := &m.layout
	cols := m.columns(l.list.width)
	var out []string
	if l.names.height > 0 {
		out = append(out, m.names(cols))
	}
	if len(m.lines) == 0 {
		return append(out, m.empty(l.list.width)...)
	}
	for i := m.top; i < len(m.lines) && i < m.top+l.list.height; i++ {
		if r := m.lines[i].row; r != nil {
			out = append(out, m.tableRow(cols, r, i == m.cursor))
			continue
		}
		name := m.lines[i].group
		if name == "" {
			name = "-"
		}
		out = append(out, m.theme.Title.Render(clip(name, max(1, l.list.width-8)))+m.theme.Faint.Render(fmt.Sprintf(" %d", m.lines[i].count)))
	}
	return out
}

// empty says why there is nothing to see.
func (m *model) empty(width int) []string {
	text := "  No tasks yet. Press c to create one."
	switch {
	case !m.known:
		text = "  ..."
	case m.choice.Search != "":
		text = "  No task has these words. Press Esc to show all."
	case len(m.state.Projects) == 0:
		text = "  No projects yet. Go to a repository and say: orange project add"
	case len(m.state.Tasks) > 0:
		text = fmt.Sprintf("  No task is %s here. Press f for others, A for all projects, c to create one.", m.choice.Scope)
	}
	return []string{"", m.theme.Faint.Render(clip(text, width))}
}

// headline says what is shown, and how things are.
func (m *model) headline() string {
	sum := overview.Sum(m.state.Tasks)
	scope := "all projects"
	if m.choice.Project != "" {
		scope = m.choice.Project
	}
	left := m.theme.Title.Render(" orange ")
	bits := []piece{{scope, m.theme.Strong}}
	switch m.page {
	case pageInbox:
		bits = append(bits, piece{"inbox", m.theme.Strong})
	case pageText:
		bits = []piece{{m.reading.name, m.theme.Strong}, {"TASK.md", m.theme.Faint}}
	case pageHelp:
		bits = []piece{{"help", m.theme.Strong}}
	default:
		bits = append(bits, m.siftBits()...)
	}
	if sum.Wants > 0 && m.page == pageList {
		bits = append(bits, piece{fmt.Sprintf("%d for you", sum.Wants), m.theme.Warn})
	}
	right := m.linkBits()
	room := m.width - ansi.StringWidth(left)
	for _, p := range right {
		room -= ansi.StringWidth(p.text) + 2
	}
	mid := ""
	for i, p := range bits {
		text := p.text
		if i > 0 {
			text = " · " + text
		}
		if w := ansi.StringWidth(text); w <= room {
			mid += p.style.Render(text)
			room -= w
		}
	}
	end := ""
	for _, p := range right {
		end += p.style.Render(p.text) + "  "
	}
	return left + mid + strings.Repeat(" ", max(0, room)) + end
}

// siftBits say which tasks are shown, and how.
func (m *model) siftBits() []piece {
	out := []piece{{string(m.choice.Scope), m.theme.Text}}
	n := 0
	for i := range m.lines {
		if m.lines[i].row != nil {
			n++
		}
	}
	out = append(out, piece{plural(n, "task"), m.theme.Faint})
	if m.choice.Search != "" && m.finding == nil {
		out = append(out, piece{"/" + clip(m.choice.Search, 20), m.theme.Accent})
	}
	if used, all := m.pool(); all > 0 {
		out = append(out, piece{fmt.Sprintf("pool %d/%d", used, all), m.theme.Faint})
	}
	if m.choice.Sort != overview.ByCreation || m.choice.Reverse {
		arrow := "↓"
		if m.choice.Reverse {
			arrow = "↑"
		}
		out = append(out, piece{"by " + string(m.choice.Sort) + arrow, m.theme.Faint})
	}
	return out
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// pool is how many workspaces are taken, and how many there are.
func (m *model) pool() (used, all int) {
	for i := range m.state.Projects {
		p := &m.state.Projects[i]
		if m.choice.Project == "" || m.choice.Project == p.Name {
			used += m.state.Used(p.Name)
			all += p.Pool
		}
	}
	return used, all
}

// linkBits say how the connection is.
func (m *model) linkBits() []piece {
	var out []piece
	if m.state.Paused {
		out = append(out, piece{"paused", m.theme.Warn})
	}
	switch {
	case m.lost != nil:
		return append(out, piece{"connection lost, trying again", m.theme.Bad})
	case !m.known:
		return append(out, piece{"connecting", m.theme.Faint})
	}
	return append(out, piece{"live", m.theme.Good})
}

// noteline is what is searched for, how the last request went, or what is to be known of
// the task under the cursor.
func (m *model) noteline() string {
	width := m.width
	switch r := m.selected(); {
	case m.finding != nil:
		lines, _, _ := m.finding.render(max(1, width-4), 1)
		return m.theme.Accent.Render(" /") + m.theme.Text.Render(lines[len(lines)-1])
	case m.note.text != "" && m.note.bad:
		return m.theme.Bad.Render(clip(" "+m.note.text, width))
	case m.note.text != "":
		return m.theme.Accent.Render(clip(" "+m.note.text, width))
	case r != nil && m.busy[r.ID] != "":
		return m.theme.Faint.Render(clip(" "+m.busy[r.ID]+" is under way ...", width))
	case m.busy[everything] != "":
		return m.theme.Faint.Render(clip(" "+m.busy[everything]+" is under way ...", width))
	case m.page == pageList && r != nil && m.layout.detail.height == 0:
		return m.theme.Faint.Render(clip(" "+r.Summary, width))
	}
	return ""
}

// footline offers keys.
func (m *model) footline() string {
	some, fixed := m.hints()
	wide := func(h hint) int { return ansi.StringWidth(h.key) + 1 + ansi.StringWidth(h.word) + 2 }
	show := func(h hint) string { return m.theme.Key.Render(h.key) + " " + m.theme.Faint.Render(h.word) + "  " }
	room, left, right := m.width-1, " ", ""
	for i := len(fixed) - 1; i >= 0; i-- {
		if w := wide(fixed[i]); w <= room {
			right, room = show(fixed[i])+right, room-w
		}
	}
	for _, h := range some {
		if w := wide(h); w <= room+1 {
			left, room = left+show(h), room-w
		}
	}
	return left + strings.Repeat(" ", max(0, room)) + right
}

// tabline names the tabs of the detail pane.
func (m *model) tabline() string {
	var out strings.Builder
	width := 0
	for t := range tabs {
		text := m.tabText(t)
		width += ansi.StringWidth(text)
		switch {
		case t == m.detail.tab && m.focused:
			out.WriteString(m.theme.Selected.Bold(true).Render(text))
		case t == m.detail.tab:
			out.WriteString(m.theme.Accent.Bold(true).Render(text))
		default:
			out.WriteString(m.theme.Faint.Render(text))
		}
	}
	if rest := m.layout.tabs.width - width; rest > 0 {
		out.WriteString(m.theme.Border.Render(strings.Repeat("─", rest)))
	}
	return clip(out.String(), m.layout.tabs.width)
}

func (m *model) tabText(t tab) string {
	if m.layout.tabs.width < 66 {
		if t == m.detail.tab {
			return " " + t.String() + " "
		}
		return fmt.Sprintf(" %d ", t+1)
	}
	return fmt.Sprintf(" %d %s ", t+1, t)
}

// tabAt is the tab at a column of their line.
func (m *model) tabAt(x int) (tab, bool) {
	for t := range tabs {
		if x -= ansi.StringWidth(m.tabText(t)); x < 0 {
			return t, true
		}
	}
	return 0, false
}

// paneLines are the facts of the task and what the tab shows.
func (m *model) paneLines() []string {
	width := m.layout.detail.width
	r := m.selected()
	if r == nil {
		return nil
	}
	out := m.facts(r, width)
	height := m.contentHeight()
	lines := m.detailLines(width, height)
	d := &m.detail
	last := max(0, len(lines)-height)
	if d.end {
		d.scroll = last
	}
	d.scroll = max(0, min(d.scroll, last))
	return append(out, window(lines, d.scroll, height, "")...)
}

// window is a part of lines, each behind a margin.
func window(lines []string, from, height int, margin string) []string {
	from = max(0, min(from, len(lines)))
	part := lines[from:min(len(lines), from+max(0, height))]
	out := make([]string, len(part))
	for i, l := range part {
		out[i] = margin + l
	}
	return out
}

// withDialog lays the box of the dialog over the screen.
func (m *model) withDialog(out []string) ([]string, *tea.Cursor) {
	if m.finding != nil && m.dialog == nil && m.layout.note.height > 0 {
		_, x, _ := m.finding.render(max(1, m.width-4), 1)
		return out, tea.NewCursor(min(m.width-1, x+2), m.layout.note.y)
	}
	if m.dialog == nil {
		return out, nil
	}
	width := max(1, min(72, m.width-4))
	inner := max(1, width-4)
	room := max(1, m.height-4)
	lines, x, y := m.dialog.draw(m, inner, room)
	lines = lines[:min(len(lines), room)]
	box := m.box(m.dialog.title(), lines, width)
	left, top := max(0, (m.width-width)/2), max(0, (m.height-len(box))/2)
	for i, l := range box {
		if top+i >= len(out) {
			break
		}
		under := fit(ansi.Strip(out[top+i]), m.width)
		out[top+i] = clip(m.theme.Faint.Render(ansi.Cut(under, 0, left))+l+m.theme.Faint.Render(ansi.Cut(under, left+width, m.width)), m.width)
	}
	if x < 0 || top+1+y >= m.height {
		return out, nil
	}
	return out, tea.NewCursor(min(m.width-1, left+2+x), top+1+y)
}

// box draws a frame around lines.
func (m *model) box(title string, lines []string, width int) []string {
	edge := m.theme.Border.Render
	name := clip(" "+title+" ", max(0, width-4))
	rest := max(0, width-3-ansi.StringWidth(name))
	out := []string{edge("╭─") + m.theme.Title.Render(name) + edge(strings.Repeat("─", rest)+"╮")}
	for _, l := range lines {
		out = append(out, edge("│ ")+fit(l, max(0, width-4))+edge(" │"))
	}
	return append(out, edge("╰"+strings.Repeat("─", max(0, width-2))+"╯"))
}

// clip cuts a line that is too wide.
func clip(text string, width int) string {
	if width <= 0 {
		return ""
	}
	return ansi.Truncate(text, width, "…")
}

// say1 is a text on one line.
func (m *model) say1(style lipgloss.Style, text string, width int) []string {
	return []string{style.Render(clip(text, width))}
}

// sayAll is a text on as many lines as it takes, within reason.
func (m *model) sayAll(style lipgloss.Style, text string, width int) []string {
	const most = 4000
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	var out []string
	for l := range strings.SplitSeq(ansi.Wrap(text, max(1, width), ""), "\n") {
		out = append(out, style.Render(l))
	}
	return out
}

// fit is text in exactly so many columns: cut, or filled up.
func fit(text string, width int) string {
	if width <= 0 {
		return ""
	}
	text = clip(text, width)
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}
