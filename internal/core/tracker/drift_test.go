package tracker_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orange/internal/core/tracker"
)

func TestWhoseTextCounts(t *testing.T) {
	c := tracker.Config{Authors: []string{"alice", "Bob-1"}}
	for author, want := range map[string]bool{"alice": true, "ALICE": true, "bob-1": true, "mallory": false, "": false, "alice ": false, "alic": false} {
		if c.AllowsAuthor(author) != want {
			t.Errorf("%q: %v", author, !want)
		}
	}
	if nobody := (&tracker.Config{}); nobody.AllowsAuthor("alice") || nobody.AllowsAuthor("") {
		t.Error("without a list somebody's words count")
	}
}

func TestWhatTheTrackerCallsAColumn(t *testing.T) {
	c := tracker.Config{Columns: map[string]string{"Started": "In Progress"}}
	for name, want := range map[string]string{"Started": "In Progress", "Backlog": "Backlog", "": ""} {
		if got := c.ColumnName(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestIssuesAreNamedByTheirTracker(t *testing.T) {
	lin := tracker.Config{Name: "lin", Kind: tracker.Linear, Project: "shop"}
	here := tracker.Config{Name: "here", Kind: tracker.Board, Project: "shop"}
	for _, tt := range []struct {
		cfg      tracker.Config
		key, ref string
	}{{lin, "ENG-1", "lin:ENG-1"}, {here, "7", "board:shop/7"}} {
		if got := tt.cfg.IssueRef(tt.key); got != tt.ref {
			t.Errorf("%s: %s", tt.cfg.Name, got)
		}
		if got, ok := tt.cfg.IssueKey(tt.ref); got != tt.key || !ok {
			t.Errorf("%s: %q, %v", tt.ref, got, ok)
		}
	}
	for _, ref := range []string{"", "lin", "lin:", "linear:ENG-1", "board:shop/7", "xlin:ENG-1"} {
		if got, ok := lin.IssueKey(ref); ok {
			t.Errorf("%q is issue %q of lin", ref, got)
		}
	}
	for _, ref := range []string{"board:shop/", "board:shopping/7", "here:7"} {
		if got, ok := here.IssueKey(ref); ok {
			t.Errorf("%q is card %q of the board", ref, got)
		}
	}
}

// Whatever waits, a round takes no more than there is room for, no issue with an
// obstacle, and every issue has a reason.
func TestARoundIsFair(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, free := rapid.IntRange(0, 12).Draw(rt, "issues"), rapid.IntRange(-2, 6).Draw(rt, "free")
		var list []tracker.Candidate
		for i := range n {
			list = append(list, waits(fmt.Sprint(i), tracker.Priority(rapid.IntRange(0, 4).Draw(rt, "priority")), rapid.IntRange(0, 23).Draw(rt, "hour"), func(c *tracker.Candidate) {
				c.ForeignAuthor = rapid.IntRange(0, 5).Draw(rt, "stranger") == 0
				c.Held = rapid.SampledFrom([]string{"", "", "", "held by alice"}).Draw(rt, "held")
				c.Task = rapid.SampledFrom([]string{"", "", "", "T"}).Draw(rt, "task")
				c.Issue.Parent = rapid.SampledFrom([]string{"", "", "0", "1", "2", "gone"}).Draw(rt, "parent")
			}))
		}
		got := tracker.PickIssues(list, free)
		if diff := cmp.Diff(got, tracker.PickIssues(list, free)); diff != "" || len(got) != n {
			rt.Fatalf("%d of %d issues, the second time %s", len(got), n, diff)
		}
		at, taken := map[string]int{}, 0
		for i, c := range got {
			at[c.Key] = i
			if c.Reason == "" {
				rt.Fatalf("%s has no reason", c.Key)
			}
			if c.Dispatch && c.Reason == "it is next" {
				taken++
			}
		}
		if taken > max(free, 0) {
			rt.Fatalf("%d are taken, and there is room for %d", taken, free)
		}
		for i := range list {
			c := &list[i]
			choice := got[at[c.Issue.Key]]
			if choice.Dispatch && (c.ForeignAuthor || c.Held != "" || c.Task != "") {
				rt.Fatalf("%s is taken: %+v", c.Issue.Key, c)
			}
		}
	})
}

func TestWithoutRoomNothingBegins(t *testing.T) {
	for _, free := range []int{0, -3} {
		for _, c := range tracker.PickIssues([]tracker.Candidate{waits("whole", 0, 1, nil), waits("part", 0, 2, func(c *tracker.Candidate) { c.Issue.Parent = "whole" })}, free) {
			if c.Dispatch || c.Reason != "the limit of tasks is reached (--max)" {
				t.Errorf("%d places: %+v", free, c)
			}
		}
	}
}

func TestNamesThatOnlyLookLikeOthers(t *testing.T) {
	c := tracker.Config{Authors: []string{"Boss", "kim", ""}}
	for author, want := range map[string]bool{"boss": true, "BOSS": true, "Kim": true, "bo\u017fs": false, "\u212aim": false, "": false, "boss ": false, "carol": false} {
		if got := c.AllowsAuthor(author); got != want {
			t.Errorf("%q: %v", author, got)
		}
	}
	for name, want := range map[string]string{"alice": "alice", "Älice Ö.": "Älice Ö.", "ali\u200bce": "", "alice ": "", "ali\nce": "", "\xff": "", "": ""} {
		if got := tracker.AuthorName(name); got != want {
			t.Errorf("%q is %q", name, got)
		}
	}
}
