package harness

import (
	"strconv"
	"time"
)

const (
	longestLimit = 8 * 24 * time.Hour // a weekly limit, and a day for time zones
	usualLimit   = time.Hour          // of a limit without an end time
	soon         = time.Minute        // of a limit whose end has just passed
)

// limitWords matches how agents and their providers report a used-up allowance. It applies to
// errors only, never to text that an agent writes.
var limitWords = lazyPattern(`(?i)` +
	`usage[ _]limit(?: has been)?[ _](?:reached|exceeded|hit)` +
	`|(?:hit|reached|exceeded?) your (?:[\w' -]{0,40} )?(?:limits?|quota)\b` +
	`|exhausted your [\w -]{0,40}quota` +
	`|(?:hour|session|daily|weekly|monthly|opus|sonnet|spend) limit (?:has been )?reached` +
	`|usage limit reached for` +
	`|rate[ _-]?limit` +
	`|too many requests` +
	`|resource[ _]exhausted` +
	`|insufficient[ _]quota` +
	`|quota (?:has been )?exceeded` +
	`|out of (?:extra usage|usage)\b` +
	`|(?:^|[^\d.])429(?:[^\d.]|$)`)

// limitIn reports whether an error is about a used-up allowance, and until when. The time is
// after now, and at most longestLimit after it.
func limitIn(text string, now time.Time) (until time.Time, ok bool) {
	text = straightenQuotes(stripControls(text, false))
	if !limitWords().MatchString(text) {
		return time.Time{}, false
	}
	return endOfLimit(text, now), true
}

// endOfLimit returns when a limit ends.
func endOfLimit(text string, now time.Time) time.Time {
	if at, ok := machineTime(text, now); ok {
		return clampLimit(at, now)
	}
	for _, found := range resetWords().FindAllStringIndex(text, 16) {
		rest := text[found[1]:]
		if at, ok := timeAt(rest[:min(len(rest), 80)], now); ok {
			return clampLimit(at, now)
		}
	}
	return now.Add(usualLimit)
}

// clampLimit moves a time into the range that a limit can have.
func clampLimit(at, now time.Time) time.Time {
	switch {
	case !at.After(now):
		return now.Add(soon)
	case at.After(now.Add(longestLimit)):
		return now.Add(longestLimit)
	}
	return at
}

var (
	epochField   = lazyPattern(`(?i)(?:\breset(?:s|_at|s_at|sat|_time|time)?\b["']?\s*[:=]\s*["']?|\|)(\d{10}|\d{13})(?:\D|$)`)
	secondsField = lazyPattern(`(?i)\b(?:resets?_in_seconds|reset_after_seconds|retry[_-]after(?:[_-]seconds)?|retry_?delay)\b["']?\s*[:=]\s*["']?(\d{1,9}(?:\.\d{1,9})?)s?(?:\W|$)`)
)

// machineTime finds a time in a machine-readable field.
func machineTime(text string, now time.Time) (time.Time, bool) {
	if m := epochField().FindStringSubmatch(text); m != nil {
		return parseEpoch(m[1]), true
	}
	if m := secondsField().FindStringSubmatch(text); m != nil {
		seconds, err := strconv.ParseFloat(m[1], 64)
		return addSpan(now, seconds, time.Second), err == nil
	}
	return time.Time{}, false
}

// parseEpoch parses seconds or milliseconds since 1970.
func parseEpoch(digits string) time.Time {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return time.Time{}
	}
	if len(digits) >= 13 {
		return time.UnixMilli(n)
	}
	return time.Unix(n, 0)
}

// addSpan adds a span of any length without overflow.
func addSpan(now time.Time, n float64, unit time.Duration) time.Time {
	if n*float64(unit) > float64(2*longestLimit) {
		return now.Add(2 * longestLimit)
	}
	return now.Add(time.Duration(n * float64(unit)))
}
