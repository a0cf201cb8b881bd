package cli

import (
	"time"

	"orange/internal/core/prose"
	"orange/internal/core/screen"
)

// What is from elsewhere is made safe for a terminal.
func cleanText(s string) string { return screen.Text(s) }
func cleanLine(s string) string { return screen.OneLine(s) }

// The words that every surface writes alike.
func age(now, at time.Time) string   { return prose.Age(now, at) }
func span(d time.Duration) string    { return prose.Span(d) }
func clock(now, at time.Time) string { return prose.Clock(now, at) }
func short(id string) string         { return prose.Short(id) }
