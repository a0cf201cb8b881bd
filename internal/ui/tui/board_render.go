package tui

import (
	"fmt"
	"slices"
	"strings"

	charm "github.com/charmbracelet/x/ansi"

	"orange/internal/core/board"
	"orange/internal/ui/tui/render"
	"orange/internal/view/humanize"
	"orange/internal/view/overview"
)

// Sizes of a board.
const (
	leastColumn = 18 // width of a column
	mostColumn  = 48
	lowBoard    = 14 // below this height only the columns are shown
	lowColumn   = 9  // below this height of a column a card has two lines
)

// renderPage renders the columns, and the card under the cursor below them.
func (b *boardView) renderPage(m *model, width, height int) []string {
	switch {
	case b.err != nil:
		return append([]string{""}, m.styledLine(m.theme.Bad, "  "+oneLine(b.err), width)...)
	case !b.ready:
		return []string{"", m.theme.Faint.Render("  ...")}
	case len(b.columns) == 0:
		return append([]string{""}, m.styledLine(m.theme.Faint, "  The board has no columns.", width)...)
	}
	below := 0
	if height >= lowBoard {
		below = max(6, height*2/5)
	}
	out := b.renderColumns(m, width, height-below)
	if below == 0 {
		return out
	}
	out = append(out, m.theme.Border.Render(strings.Repeat("─", width)))
	lines := b.cardLines(m, width)
	b.scroll = max(0, min(b.scroll, len(lines)-below+1))
	return append(out, visibleLines(lines, b.scroll, below-1, "")...)
}

// renderColumns renders as many columns as fit, among them the one under the cursor.
func (b *boardView) renderColumns(m *model, width, height int) []string {
	shown := max(1, min(len(b.columns), width/leastColumn))
	b.left = max(0, min(max(b.left, b.column-shown+1), b.column, len(b.columns)-shown))
	out := make([]string, max(0, height))
	for i, each := range b.columnWidths(shown, width) {
		lines := b.renderColumn(m, b.left+i, shown, each-1, height)
		for y := range out {
			text := ""
			if y < len(lines) {
				text = lines[y]
			}
			out[y] += fitWidth(text, each-1) + " "
		}
	}
	return out
}

// columnWidths divides a width among the shown columns: those without cards need only their names.
func (b *boardView) columnWidths(shown, width int) []int {
	out := make([]int, shown)
	even, rest, full := width/shown, width, 0
	for i := range out {
		c := &b.columns[b.left+i]
		if len(c.cards) > 0 {
			full++
			continue
		}
		out[i] = min(even, charm.StringWidth(plainLine(c.name))+6)
		rest -= out[i]
	}
	for i := range out {
		if out[i] == 0 {
			out[i] = min(mostColumn, rest/full)
		}
	}
	return out
}

// renderColumn renders a column in exactly a width.
func (b *boardView) renderColumn(m *model, at, shown, width, height int) []string {
	c := &b.columns[at]
	head, style := plainLine(c.name), m.theme.Faint
	if at == b.column {
		style = m.theme.Title
	}
	count := fmt.Sprintf(" %d", len(c.cards))
	more := ""
	if at == b.left && b.left > 0 {
		head = "‹ " + head
	}
	if at == b.left+shown-1 && at < len(b.columns)-1 {
		more = " ›"
	}
	out := []string{style.Render(clipLine(head, max(1, width-len(count)-len([]rune(more))))) + m.theme.Faint.Render(count+more)}
	cardHeight := 4
	if height < lowColumn {
		cardHeight = 2
	}
	room := max(1, (height-1)/cardHeight)
	if here := c.indexOf(b.number); here >= 0 {
		c.top = max(0, min(max(c.top, here-room+1), here))
	}
	c.top = max(0, min(c.top, len(c.cards)-room))
	for i := c.top; i < len(c.cards) && i < c.top+room; i++ {
		out = append(out, b.renderCard(m, &c.cards[i], width, cardHeight)...)
	}
	return out
}

// renderCard renders a card in so many lines: its title, what happens to it, its tags, and an empty one; or without the
// last two.
func (b *boardView) renderCard(m *model, card *board.Card, width, height int) []string {
	wear := func(s render.Style) render.Style {
		if card.Number == b.number {
			return s.WithBackground(m.theme.Selected)
		}
		return s
	}
	title := fmt.Sprintf("%d %s", card.Number, plainLine(card.Title))
	out := []string{wear(m.theme.Text).Render(fitWidth(title, width))}
	life := styledText{"no task", m.theme.Faint}
	if r := m.rowOfCard(card.Project, card.Number); r != nil {
		life = m.cardLife(r)
	}
	if m.busy[cardID(card.Project, card.Number)] != "" {
		life = styledText{"◌ ...", m.theme.Accent}
	}
	text := clipLine("  "+life.text, width)
	tags := ""
	for _, t := range card.Tags {
		tags += " #" + plainLine(t)
	}
	if height < 3 {
		rest := width - charm.StringWidth(text)
		return append(out, wear(life.style).Render(text)+wear(m.theme.Accent).Render(fitWidth(tags, rest)))
	}
	return append(out, wear(life.style).Render(fitWidth(text, width)), wear(m.theme.Accent).Render(fitWidth(" "+tags, width)), "")
}

// cardLife says what a task does, in a few words.
func (m *model) cardLife(r *overview.Row) styledText {
	icon := m.lifeIcon(r)
	if r.Wants.WaitsForPerson() {
		return styledText{icon.text + wantWord(r.Wants), wantStyle(m, r.Wants)}
	}
	return styledText{icon.text + r.Status, icon.style}
}

// cardLines renders the card under the cursor with its description and its comments.
func (b *boardView) cardLines(m *model, width int) []string {
	card := b.selectedCard()
	if card == nil {
		return m.styledLine(m.theme.Faint, "This column has no cards.", width)
	}
	out := m.styledLine(m.theme.Strong, fmt.Sprintf("%d %s", card.Number, plainLine(card.Title)), width)
	out = append(out, m.styledLine(m.theme.Faint, b.describeCard(m, card), width)...)
	if r := m.rowOfCard(card.Project, card.Number); r != nil && r.Text != "" {
		out = append(out, m.styledLines(wantStyle(m, r.Wants), r.Text, width)...)
	}
	if d := &b.card; d.number == card.Number {
		if d.err != nil {
			return append(out, m.styledLine(m.theme.Bad, oneLine(d.err), width)...)
		}
		if text := strings.TrimSpace(d.data.Card.Description); text != "" {
			out = append(append(out, ""), m.theme.RenderMarkdown(humanize.Prefix(text, maxBody), width)...)
		}
		for _, c := range slices.Backward(d.data.Comments) { // the newest first
			out = append(out, "")
			out = append(out, m.styledLine(m.theme.Accent, plainLine(c.Author)+", "+formatAge(m.now, c.At)+":", width)...)
			out = append(out, m.theme.RenderMarkdown(humanize.Prefix(c.Text, maxBody), width)...)
		}
	}
	return out
}

// describeCard returns the facts of a card.
func (b *boardView) describeCard(m *model, card *board.Card) string {
	words := []string{plainLine(card.Column)}
	for _, t := range card.Tags {
		words = append(words, "#"+plainLine(t))
	}
	if card.Claim.HoldsAt(m.now) {
		words = append(words, "claimed by "+plainLine(card.Claim.Owner)+", "+formatWhen(m.now, card.Claim.Until))
	}
	r := m.rowOfCard(card.Project, card.Number)
	if r == nil {
		return strings.Join(append(words, "no task works on it"), " · ")
	}
	return strings.Join(append(words, "task "+r.Branch+" is "+r.Status), " · ")
}
