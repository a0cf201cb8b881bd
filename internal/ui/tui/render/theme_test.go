package render

import (
	"image/color"
	"math"
	"testing"

	"charm.land/lipgloss/v2"
)

// Backgrounds that terminals have, from those that are most often chosen.
var backgrounds = map[bool][]string{
	false: {"#ffffff", "#fafafa", "#fdf6e3"},
	true:  {"#000000", "#1e1e1e", "#002b36", "#282c34"},
}

func TestColoursCanBeRead(t *testing.T) {
	for dark, grounds := range backgrounds {
		theme := NewTheme(dark, true)
		for name, style := range map[string]Style{
			"faint": theme.Faint, "title": theme.Title, "accent": theme.Accent, "good": theme.Good, "warn": theme.Warn, "bad": theme.Bad,
			"busy": theme.Busy, "key": theme.Key,
		} {
			for _, ground := range grounds {
				if c := contrast(style.style.GetForeground(), lipgloss.Color(ground)); c < 4.5 {
					t.Errorf("%s on %s: %.1f, and 4.5 is what small text needs", name, ground, c)
				}
			}
		}
		if c := contrast(theme.Selected.style.GetForeground(), theme.Selected.style.GetBackground()); c < 7 {
			t.Errorf("what is selected, dark %v: %.1f", dark, c)
		}
	}
}

// contrast is that of the web's guidelines for accessible content, from 1 to 21.
func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	part := func(v uint32) float64 {
		s := float64(v) / 0xffff
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*part(r) + 0.7152*part(g) + 0.0722*part(b)
}

func TestWithoutColourThereIsNone(t *testing.T) {
	theme := NewTheme(true, false)
	for name, style := range map[string]Style{
		"faint": theme.Faint, "title": theme.Title, "accent": theme.Accent, "good": theme.Good, "warn": theme.Warn, "bad": theme.Bad,
		"busy": theme.Busy, "key": theme.Key, "selected": theme.Selected, "border": theme.Border,
	} {
		if wrong := sound([]string{style.Render("x")}, 1, false); wrong != "" {
			t.Errorf("%s: %s", name, wrong)
		}
	}
}
