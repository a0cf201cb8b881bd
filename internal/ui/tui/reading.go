package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	charm "github.com/charmbracelet/x/ansi"

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
		at, lines = &m.help, len(m.helpLines(m.width-2))
	} else {
		lines = len(m.readingLines(m.textWidth()))
	}
	*at = max(0, min(*at+by, lines-m.layout.list.height))
}

// textWidth returns the width of texts: long lines are hard to read.
func (m *model) textWidth() int { return max(1, min(m.width-2, 110)) }

// helpLines returns the page of keys, filters and commands.
func (m *model) helpLines(width int) []string {
	var out []string
	head := func(text string) {
		if len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, m.theme.Title.Render(clipLine(text, width)))
	}
	add := func(keyWidth int, key, help string) { out = append(out, m.helpEntry(key, help, keyWidth, width)...) }
	for _, group := range []string{groupTask, groupList, groupInbox, groupBoard, groupPane, groupOther} {
		head(group)
		for _, a := range allActions() {
			if a.group == group {
				add(8, a.hint.key, a.help)
			}
		}
	}
	head("Filters: / and :filter")
	add(11, "words", "all of them must be in the task; srch finds search, and the first letters of several words find them, too")
	for _, k := range overview.FilterKeys() {
		text := k.Help
		if len(k.Values) > 0 {
			text += ": " + joinOr(k.Values)
		}
		add(11, k.Name+":", text)
	}
	add(11, "a,b", "commas mean or, spaces mean and, as in state:reviewing,stuck is:alive colour")
	head("Commands: :")
	for _, c := range allCommands() {
		add(26, strings.TrimSpace(":"+c.names[0]+" "+c.args), c.help)
	}
	head("The mouse")
	add(8, "click", "select a task, fold a group, turn to a tab, or give the keys to the pane")
	add(8, "wheel", "move through the list, or scroll what is under it")
	head("The signs")
	return append(out, m.styledLines(m.theme.Text, "  ● an agent is alive (faint: idle)   ✗ it died   ○ there is none   ◌ a request is under way   ✔ selected   ! refused   [n] workspace", width)...)
}

// helpEntry renders a key, or what is typed, and what it does.
func (m *model) helpEntry(key, help string, keyWidth, width int) []string {
	keyWidth = 2 + max(keyWidth, charm.StringWidth(key)+1)
	lines := m.styledLines(m.theme.Text, help, max(1, width-keyWidth))
	for i := range lines {
		shown := ""
		if i == 0 {
			shown = "  " + key
		}
		lines[i] = m.theme.Key.Render(fitWidth(shown, keyWidth)) + lines[i]
	}
	return lines
}
