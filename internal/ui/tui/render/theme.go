// Package render renders lines for a terminal: timelines, texts, explanations, graphs, screens and diffs. All its input
// is untrusted: the output contains no escape sequences but its own colours, and no line is wider than requested. It
// does no I/O and handles no keys.
package render

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
)

// A Theme maps meanings to styles.
type Theme struct {
	Text, Faint, Strong, Title    Style
	Good, Warn, Bad, Busy, Accent Style
	Selected, Key, Border         Style

	color bool
	dark  bool
}

// NewTheme returns the theme of a terminal. Without colour, only weight and text make a difference.
func NewTheme(dark, colour bool) Theme {
	plain := lipgloss.NewStyle()
	none, faint, bold, reverse := styleOf(plain), styleOf(plain.Faint(true)), styleOf(plain.Bold(true)), styleOf(plain.Reverse(true))
	t := Theme{
		Text: none, Faint: faint, Strong: bold, Title: bold, Good: none, Warn: bold, Bad: bold, Busy: none, Accent: bold,
		Selected: reverse, Key: bold, Border: faint, color: colour, dark: dark,
	}
	if !colour {
		return t
	}
	pick := func(light, night string) color.Color {
		return lipgloss.LightDark(dark)(lipgloss.Color(light), lipgloss.Color(night))
	}
	t.Faint = styleOf(plain.Foreground(pick("#666666", "#9a9a9a")))
	t.Title = styleOf(plain.Bold(true).Foreground(pick("#b34700", "#ffa657")))
	t.Accent = styleOf(plain.Foreground(pick("#b34700", "#ffa657")))
	t.Good = styleOf(plain.Foreground(pick("#1a7f37", "#56d364")))
	t.Warn = styleOf(plain.Foreground(pick("#9a6700", "#e3b341")))
	t.Bad = styleOf(plain.Foreground(pick("#cf222e", "#ff7b72")))
	t.Busy = styleOf(plain.Foreground(pick("#0969da", "#79c0ff")))
	t.Key = styleOf(plain.Foreground(pick("#0969da", "#79c0ff")))
	t.Border = styleOf(plain.Foreground(pick("#c8c8c8", "#4a4a4a")))
	t.Selected = styleOf(plain.Background(pick("#e4e4e4", "#3a3a3a")).Foreground(pick("#1c1c1c", "#f0f0f0")))
	return t
}

// A Style is the style of a piece of one line. Its escape sequences are computed once: a screen has hundreds of pieces.
type Style struct {
	style         lipgloss.Style
	before, after string
}

func styleOf(style lipgloss.Style) Style {
	before, after, _ := strings.Cut(style.Render("x"), "x")
	return Style{style, before, after}
}

// Render returns text in this style.
func (s Style) Render(text string) string {
	if text == "" {
		return ""
	}
	return s.before + text + s.after
}

// WithBackground returns the style on the background of another.
func (s Style) WithBackground(background Style) Style {
	return styleOf(s.style.Inherit(background.style))
}
