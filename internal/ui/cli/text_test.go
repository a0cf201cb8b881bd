package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAge(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for ago, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", 3 * time.Minute: "3m", 47 * time.Hour: "47h", 72 * time.Hour: "3d",
	} {
		if got := formatAge(now, now.Add(-ago)); got != want {
			t.Errorf("%s ago: got %s, want %s", ago, got, want)
		}
	}
	if got := formatAge(now, time.Time{}); got != "-" {
		t.Errorf("never: got %s", got)
	}
}

func TestTable(t *testing.T) {
	var out strings.Builder
	if err := printTable(&out, 16, [][]string{{"A", "LONG"}, {"über", "x and much more"}}); err != nil {
		t.Fatal(err)
	}
	const want = "A     LONG\nüber  x and m...\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestJoinBranch(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"with a name", "task update x --branch b --note n", "task update x --branch=b --note n"},
		{"alone at the end", "task update x --branch", "task update x --branch"},
		{"before a flag", "task update --branch --note n", "task update --branch --note n"},
		{"after the end of flags", "task create -- --branch b", "task create -- --branch b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(strings.Fields(tt.want), joinBranch(strings.Fields(tt.in))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
