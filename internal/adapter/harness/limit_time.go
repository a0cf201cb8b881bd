package harness

import (
	"strconv"
	"strings"
	"time"
)

// resetWords precede the time at which a limit ends.
var resetWords = lazyPattern(`(?i)\b(?:resets?|renews?|try again|retry(?:ing)?|wait|available(?: again)?|until|lifted)\b`)

const (
	months     = `(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?`
	clockWords = `(\d{1,2})(?::(\d{2}))?(?::\d{2})?\s*([AaPp]\.?[Mm]\b\.?)?`
	zoneWords  = `(?:\s*\(?\s*((?:UTC|GMT)[+-]\d{1,2}(?::?\d{2})?|[A-Za-z]+(?:/[A-Za-z_+-]+)+|[A-Z]{1,5}\b)\s*\)?)?`
)

var (
	filler    = lazyPattern(`(?i)^(?:[\s:=~,·"'(-]|\b(?:at|on|in|after|about|around|approximately|again|is|will|be|by|access|later|today|for)\b)+`)
	isoTime   = lazyPattern(`^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?`)
	epochTime = lazyPattern(`^(\d{10}|\d{13})(?:\D|$)`)
	dateTime  = lazyPattern(`(?i)^(?:` + months + `\s+(\d{1,2})|(\d{1,2})\s+` + months + `)(?:st|nd|rd|th)?(?:,?\s+(\d{4}))?(?:,?\s+(?:at\s+)?(?-i:` + clockWords + zoneWords + `))?`)
	nextDay   = lazyPattern(`(?i)^(tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day)(?:,?\s+(?:at\s+)?(?-i:` + clockWords + zoneWords + `))?`)
	clockTime = lazyPattern(`^` + clockWords + zoneWords)
	spanPart  = lazyPattern(`(?i)^~?(\d{1,9}(?:\.\d{1,9})?)\s*(weeks?|w|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)(?:[^a-z]|$)`)
)

// timeAt parses the time at the beginning of a text, after filler words.
func timeAt(text string, now time.Time) (time.Time, bool) {
	text = filler().ReplaceAllLiteralString(text, "")
	if m := isoTime().FindString(text); m != "" {
		return readISO(m, now)
	}
	if m := epochTime().FindStringSubmatch(text); m != nil {
		return parseEpoch(m[1]), true
	}
	if m := dateTime().FindStringSubmatch(text); m != nil {
		return onDate(m, now)
	}
	if m := nextDay().FindStringSubmatch(text); m != nil {
		return onDay(m, now)
	}
	if at, ok := inSpan(text, now); ok {
		return at, true
	}
	if m := clockTime().FindStringSubmatch(text); m != nil {
		c, ok := readClock(m[1], m[2], m[3])
		if !ok || m[2] == "" && m[3] == "" {
			return time.Time{}, false // a bare number
		}
		loc := findZone(m[4], now)
		if date := dateTime().FindStringSubmatch(filler().ReplaceAllLiteralString(text[len(m[0]):], "")); date != nil {
			return c.onDate(date, now, loc), true
		}
		return c.nextTime(now, loc), true
	}
	return time.Time{}, false
}

func readISO(text string, now time.Time) (time.Time, bool) {
	text = strings.Replace(text, " ", "T", 1)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z0700"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// inSpan parses spans such as "2h 5m" or "3 days 2 hours and 5 minutes".
func inSpan(text string, now time.Time) (at time.Time, ok bool) {
	at = now
	for range 6 {
		m := spanPart().FindStringSubmatchIndex(text)
		if m == nil {
			break
		}
		n, err := strconv.ParseFloat(text[m[2]:m[3]], 64)
		if err != nil {
			break
		}
		at, ok = addSpan(at, n, unitOf(text[m[4]])), true
		text = strings.TrimPrefix(strings.TrimLeft(text[m[5]:], " ,"), "and ")
	}
	return at, ok
}

func unitOf(first byte) time.Duration {
	switch first | 0x20 {
	case 'w':
		return 7 * 24 * time.Hour
	case 'd':
		return 24 * time.Hour
	case 'h':
		return time.Hour
	case 'm':
		return time.Minute
	}
	return time.Second
}

// onDate parses a month and a day, with or without year, time and zone.
func onDate(m []string, now time.Time) (time.Time, bool) {
	c, ok := readClock(m[6], m[7], m[8])
	if m[6] != "" && (!ok || m[7] == "" && m[8] == "") {
		c, m[9] = clock{}, "" // a number that is not a time
	}
	return c.onDate(m, now, findZone(m[9], now)), true
}

// onDate returns the moment at which the clock shows this time on the date that was matched.
func (c clock) onDate(m []string, now time.Time, loc *time.Location) time.Time {
	name, day := m[1], m[2]
	if name == "" {
		name, day = m[4], m[3]
	}
	month := time.Month(strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", strings.ToLower(name))/3 + 1)
	year := atoiOrZero(m[5])
	if m[5] == "" {
		year = now.In(loc).Year()
	}
	at := time.Date(year, month, atoiOrZero(day), c.hour, c.minute, 0, 0, loc)
	if m[5] == "" && at.Before(now.AddDate(0, -6, 0)) {
		at = time.Date(year+1, month, atoiOrZero(day), c.hour, c.minute, 0, 0, loc)
	}
	return at
}

// onDay parses tomorrow or the name of a day.
func onDay(m []string, now time.Time) (time.Time, bool) {
	c, ok := readClock(m[2], m[3], m[4])
	if m[2] != "" && (!ok || m[3] == "" && m[4] == "") {
		c, m[5] = clock{}, ""
	}
	today := now.In(findZone(m[5], now))
	days := 1
	if name := strings.ToLower(m[1]); name != "tomorrow" {
		for !strings.EqualFold(today.AddDate(0, 0, days).Weekday().String(), name) {
			days++
		}
	}
	return time.Date(today.Year(), today.Month(), today.Day()+days, c.hour, c.minute, 0, 0, today.Location()), true
}

// clock is a time of day.
type clock struct{ hour, minute int }

func readClock(hour, minute, half string) (clock, bool) {
	c := clock{atoiOrZero(hour), atoiOrZero(minute)}
	if half != "" {
		if c.hour < 1 || c.hour > 12 {
			return clock{}, false
		}
		c.hour %= 12
		if half[0]|0x20 == 'p' {
			c.hour += 12
		}
	}
	return c, hour != "" && c.hour < 24 && c.minute < 60
}

// nextTime returns the next moment at which the clock shows this time. The present minute
// counts as the future, because agents leave out the seconds.
func (c clock) nextTime(now time.Time, loc *time.Location) time.Time {
	today := now.In(loc)
	at := time.Date(today.Year(), today.Month(), today.Day(), c.hour, c.minute, 0, 0, loc)
	switch {
	case !at.Before(now):
		return at
	case now.Sub(at) < time.Minute:
		return at.Add(time.Minute)
	}
	return time.Date(today.Year(), today.Month(), today.Day()+1, c.hour, c.minute, 0, 0, loc)
}

// findZone returns the time zone with a name. An unknown name gives the zone of the user,
// because the agent runs on the same machine.
func findZone(name string, now time.Time) *time.Location {
	if name == "" {
		return now.Location()
	}
	if offset, ok := utcOffset(name); ok {
		return time.FixedZone(name, offset)
	}
	hours := map[string]int{
		"UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "BST": 1, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3, "JST": 9, "KST": 9,
		"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "AEST": 10, "AEDT": 11,
	}
	if h, ok := hours[name]; ok {
		return time.FixedZone(name, h*3600)
	}
	if loc, err := time.LoadLocation(name); err == nil && strings.Contains(name, "/") {
		return loc
	}
	return now.Location()
}

// utcOffset parses UTC+2 or GMT-05:30.
func utcOffset(name string) (seconds int, ok bool) {
	if len(name) < 5 || name[:3] != "UTC" && name[:3] != "GMT" {
		return 0, false
	}
	digits := strings.ReplaceAll(name[4:], ":", "")
	hours, minutes := digits, ""
	if len(digits) > 2 {
		hours, minutes = digits[:len(digits)-2], digits[len(digits)-2:]
	}
	seconds = atoiOrZero(hours)*3600 + atoiOrZero(minutes)*60
	if name[3] == '-' {
		seconds = -seconds
	}
	return seconds, seconds > -86400 && seconds < 86400
}

func atoiOrZero(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
