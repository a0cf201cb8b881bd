package harness

import (
	"testing"
	"time"
)

func TestLimitIn(t *testing.T) {
	tokyo := time.FixedZone("JST", 9*3600)
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 11, day, hour, minute, 0, 0, time.UTC) }
	for _, c := range []struct {
		name, text string
		now        time.Time
		until      time.Time
	}{
		{"claude, clock with zone", "You've hit your session limit · resets 3pm (Europe/Berlin)", noon, at(15, 14, 0)},
		{"claude, minutes", "You've hit your Opus limit · resets 3:30pm (UTC)", noon, at(15, 15, 30)},
		{"claude, another day", "You've hit your weekly limit · resets Nov 18, 3pm (America/New_York)", noon, at(18, 20, 0)},
		{"claude, another year", "You've hit your weekly limit · resets Jan 2, 2027, 9am (UTC)", time.Date(2026, 12, 30, 12, 0, 0, 0, time.UTC), time.Date(2027, 1, 2, 9, 0, 0, 0, time.UTC)},
		{"a date next year without its year", "weekly limit reached, resets Jan 2, 9am (UTC)", time.Date(2026, 12, 30, 12, 0, 0, 0, time.UTC), time.Date(2027, 1, 2, 9, 0, 0, 0, time.UTC)},
		{"claude, epoch", "Claude AI usage limit reached|1794747600", noon, at(15, 13, 0)},
		{"epoch in milliseconds", `{"error":"rate_limit","resets_at":1794747600000}`, noon, at(15, 13, 0)},
		{"claude, no time", "API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later.", noon, at(15, 13, 0)},
		{"codex, bent apostrophe", "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 8:06 PM.", noon, at(15, 20, 6)},
		{"codex, tomorrow morning", "You've hit your usage limit or try again at 8:06 AM.", noon, at(16, 8, 6)},
		{"codex, another day", "You've hit your usage limit. Try again at Nov 18th, 2026 8:06 AM.", noon, at(18, 8, 6)},
		{"codex, day first", "usage limit reached, resets 15:30 on 18 Nov", noon, at(18, 15, 30)},
		{"codex, span", "You've hit your usage limit. Try again in 2 days 3 hours 5 minutes.", noon, at(17, 15, 5)},
		{"openai payload", `{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_in_seconds":4000}}`, noon, noon.Add(4000 * time.Second)},
		{"pi", "429 You have hit your ChatGPT usage limit (plus plan). Try again in ~66 min.", noon, noon.Add(66 * time.Minute)},
		{"short span", "rate limit exceeded: retry in 2h 5m", noon, noon.Add(125 * time.Minute)},
		{"joined span", "Too Many Requests, wait 1h30m", noon, noon.Add(90 * time.Minute)},
		{"seconds", "HTTP 429: retry after 45 seconds", noon, noon.Add(45 * time.Second)},
		{"header", "429 Too Many Requests retry-after: 90", noon, noon.Add(90 * time.Second)},
		{"gemini, retry info", `status: RESOURCE_EXHAUSTED "retryDelay":"3605s"`, noon, noon.Add(3605 * time.Second)},
		{"gemini, zone by letters", "Usage limit reached for gemini-2.5-pro. Access resets at 7:05 AM PST.", noon, at(15, 15, 5)},
		{"gemini, no time", "[API Error: You have exhausted your daily quota on this model.]\nPlease wait and try again later.", noon, at(15, 13, 0)},
		{"ISO with zone", "quota exceeded until 2026-11-15T16:00:00+02:00", noon, at(15, 14, 0)},
		{"ISO without zone is local", "quota exceeded, resets at 2026-11-15 22:00", noon.In(tokyo), at(15, 13, 0)},
		{"24 hours clock is local", "usage limit reached, resets at 23:15", noon.In(tokyo), at(15, 14, 15)},
		{"offset", "usage limit reached, resets 18:00 UTC+5:30", noon, at(15, 12, 30)},
		{"tomorrow", "usage limit reached, try again tomorrow at 9am", noon, at(16, 9, 0)},
		{"a day of the week", "weekly limit reached, resets Monday at 9:00 AM", noon, at(16, 9, 0)},
		{"the day of the week it is", "weekly limit reached, resets Sunday 9am", noon, at(22, 9, 0)},
		{"the minute that is running", "usage limit reached, resets 12pm", noon.Add(30 * time.Second), noon.Add(time.Minute)},
		{"midnight", "usage limit reached, resets 12am", noon, at(16, 0, 0)},
		{"a moment that has passed", "usage limit reached|1794740000", noon, noon.Add(soon)},
		{"far too late", "usage limit reached, resets in 90 days", noon, noon.Add(longestLimit)},
		{"more than a number holds", "usage limit reached, resets in 999999999 weeks", noon, noon.Add(longestLimit)},
		{"no such hour", "usage limit reached, resets at 45pm", noon, at(15, 13, 0)},
		{"a bare number", "usage limit reached, try again in 5", noon, at(15, 13, 0)},
		{"an unknown zone is local", "usage limit reached, resets 1pm (Middle/Earth)", noon, at(15, 13, 0)},
		{"an unreachable zone name", "usage limit reached, resets 1pm (../../etc/passwd)", noon, at(15, 13, 0)},
		{"escape sequences", "\x1b[31mYou've hit\x1b[0m your limit · resets \x1b[1m1pm\x1b[0m (UTC)", noon, at(15, 13, 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			until, ok := limitIn(c.text, c.now)
			if !ok || !until.Equal(c.until) {
				t.Errorf("until %v (%v), want %v", until.UTC(), ok, c.until)
			}
		})
	}
}

func TestErrorsThatAreNoLimit(t *testing.T) {
	for _, text := range []string{
		"", "context limit reached", "prompt is too long: 429000 tokens", "connection refused", "Approaching usage limit · resets 3pm",
		"You've used 90% of your session limit", "exit status 1", "overloaded_error", "port 4290 is in use", "version 1.429.0",
	} {
		if until, ok := limitIn(text, noon); ok {
			t.Errorf("%q is taken for a limit until %v", text, until)
		}
	}
}

func FuzzLimitIn(f *testing.F) {
	for _, text := range []string{
		"You've hit your limit · resets Nov 18, 3pm (Europe/Berlin)", "usage limit reached|1794747600", "429 resets in 2h 5m and 3 days", "rate limit, resets 15:30 on 31 feb 0000",
		"rate limit until 2026-11-15T16:00:00.5+0200", "rate limit: wait 99999999w", "quota exceeded \x1b[3m resets_at=9999999999999", "rate limit resets 3pm UTC-99:99",
	} {
		f.Add(text, int64(1794744000))
	}
	f.Fuzz(func(t *testing.T, text string, seconds int64) {
		now := time.Unix(seconds%(1<<36), 0)
		until, ok := limitIn(text, now)
		if ok && (!until.After(now) || until.After(now.Add(longestLimit))) {
			t.Errorf("limit from %v until %v", now, until)
		}
		if !ok && !until.IsZero() {
			t.Errorf("no limit, but until %v", until)
		}
	})
}
