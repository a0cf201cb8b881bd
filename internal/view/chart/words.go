package chart

import (
	"fmt"
	"math"
	"time"

	"orange/internal/core/simulate"
)

// FormatQuantity formats a figure in its unit. Counts are whole numbers, except for means.
func FormatQuantity(v float64, unit simulate.Unit, mean bool) string {
	switch unit {
	case simulate.Seconds:
		return FormatDuration(v)
	case simulate.Dollars:
		return fmt.Sprintf("$%.2f", v)
	case simulate.Tokens:
		return formatShort(v)
	}
	if mean {
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// FormatDuration formats seconds in the two largest units.
func FormatDuration(seconds float64) string {
	d := time.Duration(math.Round(seconds)) * time.Second
	hours, minutes := d/time.Hour, d%time.Hour/time.Minute
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", minutes, d%time.Minute/time.Second)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", hours, minutes)
	}
	return fmt.Sprintf("%dd%02dh", hours/24, hours%24)
}

// formatShort formats a number with three digits.
func formatShort(v float64) string {
	switch {
	case v >= 999.5e6:
		return fmt.Sprintf("%.3gG", v/1e9)
	case v >= 999.5e3:
		return fmt.Sprintf("%.3gM", v/1e6)
	case v >= 999.5:
		return fmt.Sprintf("%.3gk", v/1e3)
	}
	return fmt.Sprintf("%.0f", v)
}

// FormatPercent formats a fraction as a percentage.
func FormatPercent(v float64) string { return fmt.Sprintf("%.1f%%", 100*v) }

// FormatSigned formats a difference with its sign; one that rounds to zero has none.
func FormatSigned(v float64, write func(float64) string) string {
	text := write(math.Abs(v))
	switch {
	case text == write(0):
		return text
	case v < 0:
		return "-" + text
	}
	return "+" + text
}

// FormatGrouped formats a whole number with commas.
func FormatGrouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
