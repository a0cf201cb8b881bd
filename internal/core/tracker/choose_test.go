package tracker_test

import (
	"testing"
	"time"

	"orange/internal/core/tracker"
)

func pr(number int, state string, created int) tracker.PR {
	return tracker.PR{Number: number, State: state, CreatedAt: time.Unix(int64(created), 0)}
}

func TestChoosePR(t *testing.T) {
	type prs = []tracker.PR
	tests := map[string]struct {
		linked, byBranch, byKey prs
		want                    int // 0: none
	}{
		"none":                          {},
		"open before merged and closed": {linked: prs{pr(1, "MERGED", 9), pr(2, "OPEN", 1), pr(3, "CLOSED", 8)}, want: 2},
		"merged before closed":          {linked: prs{pr(1, "CLOSED", 9), pr(2, "MERGED", 1)}, want: 2},
		"the newest of the open":        {linked: prs{pr(1, "OPEN", 1), pr(2, "OPEN", 3), pr(3, "OPEN", 2)}, want: 2},
		"of the same moment":            {linked: prs{pr(5, "OPEN", 1), pr(7, "OPEN", 1), pr(6, "OPEN", 1)}, want: 7},
		"the newest of the merged":      {linked: prs{pr(1, "MERGED", 1), pr(2, "MERGED", 3)}, want: 2},
		"a linked one before a branch":  {linked: prs{pr(1, "CLOSED", 1)}, byBranch: prs{pr(2, "OPEN", 2)}, want: 1},
		"by branch":                     {byBranch: prs{pr(2, "MERGED", 2)}, byKey: prs{pr(3, "OPEN", 3)}, want: 2},
		"by key":                        {byKey: prs{pr(3, "CLOSED", 3)}, want: 3},
		"an unknown state":              {linked: prs{pr(1, "", 1), pr(4, "LOCKED", 1)}, byKey: prs{pr(3, "OPEN", 3)}, want: 3},
		"another spelling":              {linked: prs{pr(1, "closed", 1), pr(2, "open", 1)}, want: 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := tracker.ChoosePR(tt.linked, tt.byBranch, tt.byKey)
			if got.Number != tt.want || ok != (tt.want != 0) {
				t.Errorf("ChoosePR = %d, %v, want %d", got.Number, ok, tt.want)
			}
		})
	}
}

func TestPRNumber(t *testing.T) {
	tests := map[string]struct {
		text string
		want int // 0: none
	}{
		"in words":         {"continues PR #316 of May", 316},
		"an address":       {"https://example.com/o/r/pull/7/files", 7},
		"one of a Gitea":   {"https://git.example/o/r/pulls/7", 7},
		"a number":         {"fixes #13.", 13},
		"the first":        {"#3, not PR #4", 3},
		"none":             {"no number 5 here, PR 6 neither", 0},
		"zero":             {"#0", 0},
		"too large a one":  {"#99999999999999999999, #8", 8},
		"nothing":          {"", 0},
		"a heading":        {"# 5 things", 0},
		"no pull of ours":  {"pull/request", 0},
		"negative is none": {"#-4", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := tracker.PRNumber(tt.text)
			if got != tt.want || ok != (tt.want != 0) {
				t.Errorf("PRNumber = %d, %v, want %d", got, ok, tt.want)
			}
		})
	}
}
