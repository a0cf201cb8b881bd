package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/view/narrate"
	"orange/internal/view/overview"
)

// inbox is the page of what waits for a person.
type inbox struct {
	at      int
	top     int
	chosen  task.ID
	kind    explain.ItemKind // only items of this kind, "" for all
	grouped bool             // items are grouped by kind
	backlog bool             // include the backlog
}

// allItems returns the items of the shown projects.
func (b *inbox) allItems(m *model) []explain.Item {
	all := m.state.InboxItems()
	if m.choice.Project == "" {
		return all
	}
	out := all[:0]
	for _, it := range all {
		if it.Project == m.choice.Project || it.Project == "" {
			out = append(out, it)
		}
	}
	return out
}

// listedItems returns the listed items. The backlog is listed if a person selects it.
func (b *inbox) listedItems(m *model) []explain.Item {
	all := b.allItems(m)
	out := all[:0]
	for _, it := range all {
		if b.kind == "" && (b.backlog || it.Kind.WaitsForPerson()) || it.Kind == b.kind {
			out = append(out, it)
		}
	}
	if b.grouped {
		return explain.GroupInbox(out)
	}
	return out
}

// showNextKind selects the next kind that has items, and after the last all kinds.
func (m *model) showNextKind() tea.Cmd {
	b := &m.inbox
	all := b.allItems(m)
	kinds := []explain.ItemKind{""}
	for _, kind := range explain.ItemKinds() {
		if kind == b.kind || slices.ContainsFunc(all, func(it explain.Item) bool { return it.Kind == kind }) {
			kinds = append(kinds, kind)
		}
	}
	b.kind = nextValue(kinds, b.kind)
	b.keepCursor(m)
	return nil
}

func (m *model) toggleGroups() tea.Cmd {
	m.inbox.grouped = !m.inbox.grouped
	m.inbox.keepCursor(m)
	return nil
}

func (m *model) toggleBacklog() tea.Cmd {
	m.inbox.backlog, m.inbox.kind = !m.inbox.backlog, ""
	m.inbox.keepCursor(m)
	return nil
}

// keepCursor keeps the cursor on its task.
func (b *inbox) keepCursor(m *model) {
	items := b.listedItems(m)
	for i := range items {
		if items[i].Task == b.chosen && b.chosen != "" {
			b.at = i
		}
	}
	b.moveTo(items, b.at)
}

func (b *inbox) moveTo(items []explain.Item, at int) {
	b.at, b.chosen = max(0, min(at, len(items)-1)), ""
	if len(items) > 0 {
		b.chosen = items[b.at].Task
	}
}

func (b *inbox) moveCursor(m *model, by int) { b.moveTo(b.listedItems(m), b.at+by) }

func (b *inbox) selectAt(m *model, y int) {
	if items := b.listedItems(m); y-1+b.top < len(items) && y > 0 {
		b.moveTo(items, y-1+b.top)
	}
}

func (b *inbox) selectedRow(m *model) *overview.Row {
	r := m.findRow(b.chosen)
	if r == nil {
		return nil
	}
	own := *r // the state is changed in place; a dialog keeps the row it was opened for
	return &own
}

// visibleRowCount returns how many items are visible.
func (b *inbox) visibleRowCount(m *model) int {
	return max(1, m.layout.list.height-1-inboxTextHeight(m.layout.list.height))
}

// inboxTextHeight returns how many lines describe the item under the cursor.
func inboxTextHeight(height int) int { return max(6, height*2/5) }

func (b *inbox) visibleItems(m *model) []explain.Item {
	items := b.listedItems(m)
	from := min(b.top, len(items))
	return items[from:min(len(items), from+b.visibleRowCount(m))]
}

// renderPage renders the page of the inbox.
func (b *inbox) renderPage(m *model, width, height int) []string {
	items := b.listedItems(m)
	_, backlog := explain.CountInbox(b.allItems(m))
	folded := ""
	if backlog > 0 && !b.backlog && b.kind == "" {
		folded = fmt.Sprintf("  %d in the backlog: b shows them", backlog)
	}
	if len(items) == 0 {
		out := []string{"", m.theme.Good.Render(clipLine("  Nothing waits for you.", width))}
		return append(out, "", m.theme.Faint.Render(clipLine(folded, width)))
	}
	if b.at >= len(items) {
		b.moveTo(items, b.at)
	}
	rows := b.visibleRowCount(m)
	b.top = max(0, min(max(b.top, b.at-rows+1), b.at))
	out := []string{m.theme.Faint.Render(fitWidth("  KIND        AGE   TASK                      WHAT", width))}
	for i := b.top; i < len(items) && i < b.top+rows; i++ {
		it := &items[i]
		kind := string(it.Kind)
		switch {
		case b.grouped && i > b.top && items[i-1].Kind == it.Kind:
			kind = ""
		case b.grouped:
			kind = fmt.Sprintf("%s %d", it.Kind, countKind(items, it.Kind))
		}
		out = append(out, m.inboxRow(it, kind, width, i == b.at))
	}
	if folded != "" && b.top+rows >= len(items) {
		out = append(out, m.theme.Faint.Render(clipLine(folded, width)))
	}
	more := b.renderItem(m, &items[b.at], width, max(inboxTextHeight(height), height-len(out)-1)) // a short list leaves more room
	for len(out) < height-max(inboxTextHeight(height), len(more)) {
		out = append(out, "")
	}
	return append(out, more...)
}

func countKind(items []explain.Item, kind explain.ItemKind) int {
	n := 0
	for i := range items {
		if items[i].Kind == kind {
			n++
		}
	}
	return n
}

func (m *model) inboxRow(it *explain.Item, word string, width int, selected bool) string {
	mark := "  "
	if selected {
		mark = "▸ "
	}
	wear := func(p styledText, w int) string {
		s := p.style
		if selected {
			s = s.WithBackground(m.theme.Selected)
		}
		return s.Render(fitWidth(p.text, max(0, w)))
	}
	name := it.Project + "/" + it.Branch
	switch {
	case it.Task == "" && it.Project == "":
		name = "everything"
	case it.Branch == "":
		name = it.Project
	}
	kind := styledText{mark + word, wantStyle(m, it.Kind)}
	if width < 50 {
		return wear(kind, min(13, width)) + wear(styledText{" " + name, m.theme.Text}, width-13)
	}
	return wear(kind, 13) + wear(styledText{" " + formatAge(m.now, it.Since), m.theme.Faint}, 6) +
		wear(styledText{" " + name, m.theme.Text}, 26) + wear(styledText{" " + it.Text, m.theme.Faint}, width-45)
}

// renderItem renders the details of the item under the cursor.
func (b *inbox) renderItem(m *model, it *explain.Item, width, height int) []string {
	out := []string{m.theme.Border.Render(strings.Repeat("─", width))}
	if it.Summary != "" {
		out = append(out, m.styledLine(m.theme.Strong, it.Summary, width)...)
	}
	text := it.Text
	if it.Frees > 0 {
		text = fmt.Sprintf("%s (%d tasks wait for its workspace)", text, it.Frees)
	}
	const help = 1 // line
	out = append(out, m.reasonLines(it.Reasons, text, width, height-len(out)-help)...)
	if it.Do != "" {
		out = append(out, m.styledLine(m.theme.Faint, it.Do, width)...)
	}
	return out
}

// reasonLines returns, in at most height lines, why a task waits: its text, and the reasons that the text does not
// contain. Of a message that is too long it shows the end, because that is where an agent asks.
func (m *model) reasonLines(list []explain.WaitReason, text string, width, height int) []string {
	var out []string
	if len(list) == 0 || strings.Contains(text, list[0].Text) {
		out = m.styledLines(m.theme.Text, text, width)
	} else {
		out = m.styledLine(m.theme.Text, text, width)
		for _, r := range list {
			out = append(out, m.styledLine(m.theme.Faint, plainLine(narrate.DescribeReason(r)), width)...)
			lines := m.theme.RenderMarkdown(r.Text, width)
			if r.Kind == explain.BecauseOfMessage {
				lines = lines[max(0, len(lines)-max(0, height-len(out))):]
			}
			out = append(out, lines...)
		}
	}
	return out[:max(0, min(len(out), height))]
}
