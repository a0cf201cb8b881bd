package prose_test

import (
	"testing"
	"time"

	"orange/internal/core/prose"
)

func TestMoments(t *testing.T) {
	zone := time.FixedZone("there", 2*60*60)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, zone)
	tests := []struct{ name, got, want string }{
		{"never", prose.FormatAge(now, time.Time{}), "-"},
		{"long ago", prose.FormatAge(now, now.Add(-72*time.Hour)), "3d"},
		{"to come", prose.FormatAge(now, now.Add(time.Second)), "0s"},
		{"in the time zone of the reader", prose.FormatTime(now, now.UTC()), "2026-01-02 03:04:05"},
		{"at once", prose.DescribeUntil(now, time.Time{}), "now"},
		{"overdue", prose.DescribeUntil(now, now.Add(-time.Hour)), "now"},
		{"later", prose.DescribeUntil(now, now.Add(90*time.Minute)), "in 1h30m (2026-01-02 04:34:05)"},
		{"almost four hours", prose.DescribeUntil(now, now.Add(4*time.Hour-time.Second)), "in 4h (2026-01-02 07:04:04)"},
		{"soon", prose.DescribeUntil(now, now.Add(9*time.Second)), "in 9s (2026-01-02 03:04:14)"},
		{"a short id", prose.ShortID("abc"), "abc"},
		{"an id", prose.ShortID("abcdefghijkl"), "abcdefgh"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

func TestLongWords(t *testing.T) {
	tests := []struct{ name, got, want string }{
		{"wrapped", prose.Wrap("one two\nthree", "  ", 9), "  one two\n  three"},
		{"a word that is too long", prose.Wrap("extraordinary", "", 5), "extraordinary"},
		{"nothing", prose.Wrap(" \n", "  ", 9), ""},
		{"cut", prose.Cut("abcdef", 5), "ab..."},
		{"short enough", prose.Cut("abcde", 5), "abcde"},
		{"cut between characters", prose.Cut("üüü", 5), "ü..."},
		{"no room at all", prose.Cut("abcdef", 2), "..."},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}
