package humanize_test

import (
	"testing"
	"time"

	"orange/internal/view/humanize"
)

func TestMoments(t *testing.T) {
	zone := time.FixedZone("there", 2*60*60)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, zone)
	tests := []struct{ name, got, want string }{
		{"never", humanize.FormatAge(now, time.Time{}), "-"},
		{"long ago", humanize.FormatAge(now, now.Add(-72*time.Hour)), "3d"},
		{"to come", humanize.FormatAge(now, now.Add(time.Second)), "0s"},
		{"in the time zone of the reader", humanize.FormatTime(now, now.UTC()), "2026-01-02 03:04:05"},
		{"at once", humanize.DescribeUntil(now, time.Time{}), "now"},
		{"overdue", humanize.DescribeUntil(now, now.Add(-time.Hour)), "now"},
		{"later", humanize.DescribeUntil(now, now.Add(90*time.Minute)), "in 1h30m (2026-01-02 04:34:05)"},
		{"almost four hours", humanize.DescribeUntil(now, now.Add(4*time.Hour-time.Second)), "in 4h (2026-01-02 07:04:04)"},
		{"soon", humanize.DescribeUntil(now, now.Add(9*time.Second)), "in 9s (2026-01-02 03:04:14)"},
		{"a short id", humanize.ShortID("abc"), "abc"},
		{"an id", humanize.ShortID("abcdefghijkl"), "abcdefgh"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

func TestLongTexts(t *testing.T) {
	tests := []struct{ name, got, want string }{
		{"wrapped", humanize.Wrap("one two\nthree", "  ", 9), "  one two\n  three"},
		{"a word that is too long", humanize.Wrap("extraordinary", "", 5), "extraordinary"},
		{"nothing", humanize.Wrap(" \n", "  ", 9), ""},
		{"cut", humanize.Cut("abcdef", 5), "ab..."},
		{"short enough", humanize.Cut("abcde", 5), "abcde"},
		{"cut between characters", humanize.Cut("üüü", 5), "ü..."},
		{"no room at all", humanize.Cut("abcdef", 2), "..."},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

func TestPrefixEndsBetweenCharacters(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"aüb", 2, "a"}, {"aüb", 3, "aü"}, {"ü", 1, ""}, {"ü", 0, ""}} {
		if got := humanize.Prefix(c.text, c.n); got != c.want {
			t.Errorf("Prefix(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}
