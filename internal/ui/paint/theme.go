// Package paint turns what people look at into lines for a terminal: timelines, texts,
// explanations, graphs, screens and changes. Everything it is given is untrusted: what it
// returns holds no escape sequence but its own colours, and no line is wider than it was
// asked for. It asks nobody and knows no keys.
package paint

import (
	"image/color"

	"charm.land/lipgloss/v2"
)

// A Theme is how things look, by what they mean.
type Theme struct {
	Text, Faint, Strong, Title    lipgloss.Style
	Good, Warn, Bad, Busy, Accent lipgloss.Style
	Selected, Bar, Key, Border    lipgloss.Style

	color bool
	dark  bool
}

// NewTheme is the theme of a terminal. Without colour, things differ by weight and by
// their words alone.
func NewTheme(dark, colour bool) Theme {
	plain := lipgloss.NewStyle()
	t := Theme{
		Text: plain, Faint: plain.Faint(true), Strong: plain.Bold(true), Title: plain.Bold(true),
		Good: plain, Warn: plain.Bold(true), Bad: plain.Bold(true), Busy: plain, Accent: plain.Bold(true),
		Selected: plain.Reverse(true), Bar: plain.Reverse(true), Key: plain.Bold(true), Border: plain.Faint(true),
		color: colour, dark: dark,
	}
	if !colour {
		return t
	}
	pick := func(light, night string) color.Color {
		return lipgloss.LightDark(dark)(lipgloss.Color(light), lipgloss.Color(night))
	}
	t.Faint = plain.Foreground(pick("#666666", "#9a9a9a"))
	t.Title = plain.Bold(true).Foreground(pick("#b34700", "#ffa657"))
	t.Accent = plain.Foreground(pick("#b34700", "#ffa657"))
	t.Good = plain.Foreground(pick("#1a7f37", "#56d364"))
	t.Warn = plain.Foreground(pick("#9a6700", "#e3b341"))
	t.Bad = plain.Foreground(pick("#cf222e", "#ff7b72"))
	t.Busy = plain.Foreground(pick("#0969da", "#79c0ff"))
	t.Key = plain.Foreground(pick("#0969da", "#79c0ff"))
	t.Border = plain.Foreground(pick("#c8c8c8", "#4a4a4a"))
	t.Selected = plain.Background(pick("#e4e4e4", "#3a3a3a")).Foreground(pick("#1c1c1c", "#f0f0f0"))
	t.Bar = plain.Background(pick("#f2f2f2", "#262626")).Foreground(pick("#1c1c1c", "#f0f0f0"))
	return t
}
