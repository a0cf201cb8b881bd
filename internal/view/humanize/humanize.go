// Package humanize formats times, ids and long lines for people, the same on every surface. It knows nothing of tasks
// and does not make text safe: each surface does that itself.
package humanize

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// FormatAge returns how long ago at was.
func FormatAge(now, at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return FormatDuration(now.Sub(at))
}

// FormatDuration returns a duration in its largest unit.
func FormatDuration(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// FormatTime formats a moment in the time zone of now.
func FormatTime(now, at time.Time) string { return at.In(now.Location()).Format("2006-01-02 15:04:05") }

// DescribeUntil returns how far ahead a moment is, or "now" if it has passed or is zero.
func DescribeUntil(now, at time.Time) string {
	if at.IsZero() || !at.After(now) {
		return "now"
	}
	return "in " + formatAhead(at.Sub(now)) + " (" + FormatTime(now, at) + ")"
}

// formatAhead returns how long there is to wait, to the minute.
func formatAhead(d time.Duration) string {
	if d < time.Minute || d >= 48*time.Hour {
		return FormatDuration(d)
	}
	d = d.Round(time.Minute)
	h, m := d/time.Hour, d%time.Hour/time.Minute
	switch {
	case h == 0:
		return fmt.Sprintf("%dm", m)
	case m == 0:
		return fmt.Sprintf("%dh", h)
	}
	return fmt.Sprintf("%dh%dm", h, m)
}

// ShortID returns the part of an id that people read.
func ShortID(id string) string {
	if len(id) <= 8 {
		return id
	}
	return id[:8]
}

// Wrap breaks text into lines of at most width characters, each indented. It ignores line breaks in the text.
func Wrap(text, indent string, width int) string {
	var out strings.Builder
	at := 0
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case at == 0:
			out.WriteString(indent)
			at = len(indent)
		case at+1+n > width:
			out.WriteString("\n" + indent)
			at = len(indent)
		default:
			out.WriteByte(' ')
			at++
		}
		out.WriteString(word)
		at += n
	}
	return out.String()
}

// Cut shortens s to at most n bytes, between characters.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const more = "..."
	return Prefix(s, max(0, n-len(more))) + more
}

// OneLine replaces control characters and line separators by spaces.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}

// Plural counts things by a noun whose plural ends in s: 1 task, 2 tasks.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Prefix returns the beginning of s, at most n bytes, between characters. It adds no dots: use it
// for text that a program reads on, and Cut or Abridge for text that a person sees.
func Prefix(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Abridge cuts text to at most n bytes plus three dots, between characters.
func Abridge(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.TrimRight(Prefix(text, n), " \n") + "..."
}
