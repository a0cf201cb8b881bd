package tracker_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

// waits is an issue that was filed so many hours after midnight.
func waits(key string, p tracker.Priority, hour int, more func(*tracker.Candidate)) tracker.Candidate {
	c := tracker.Candidate{Priority: p, Issue: tracker.Issue{Key: key, Card: board.Card{Author: "alice", CreatedAt: time.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC)}}}
	if more != nil {
		more(&c)
	}
	return c
}

func TestPick(t *testing.T) {
	blocked := func(c *tracker.Candidate) {
		c.Issue.BlockedBy = []tracker.Link{{Key: "OLD", Closed: true}, {Key: "NEW"}}
	}
	list := []tracker.Candidate{
		waits("none", 0, 1, nil), waits("low", tracker.Low, 1, nil), waits("urgent", tracker.Urgent, 9, nil), waits("late", tracker.High, 8, nil), waits("early", tracker.High, 2, nil),
		waits("held", tracker.Urgent, 1, func(c *tracker.Candidate) { c.Held = "alice holds it" }),
		waits("blocked", tracker.Urgent, 1, blocked),
		waits("free", tracker.Low, 2, func(c *tracker.Candidate) {
			c.Issue.BlockedBy = []tracker.Link{{Key: "OLD", Closed: true}}
		}),
		waits("taken", tracker.Urgent, 1, func(c *tracker.Candidate) { c.Task = "T1" }),
		waits("odd", tracker.Urgent, 1, func(c *tracker.Candidate) { c.ForeignAuthor = true }),
		waits("claimed", tracker.Urgent, 1, func(c *tracker.Candidate) { c.Claimed = "Claimed-Dev-1" }),
		waits("child", tracker.Urgent, 1, func(c *tracker.Candidate) { c.Issue.Parent = "parent" }), waits("parent", tracker.Medium, 5, nil),
		waits("a", tracker.Low, 3, func(c *tracker.Candidate) { c.Issue.Parent = "b" }), waits("b", tracker.Low, 4, func(c *tracker.Candidate) { c.Issue.Parent = "a" }),
	}
	var order []string
	why := map[string]string{}
	for _, c := range tracker.PickIssues(list, 5) {
		if c.Dispatch {
			order = append(order, c.Key)
		} else {
			why[c.Key] = c.Reason
		}
	}
	if diff := cmp.Diff([]string{"parent", "child", "urgent", "early", "late"}, order); diff != "" {
		t.Error(diff)
	}
	want := map[string]string{
		"none": "the limit of tasks is reached (--max)", "low": "the limit of tasks is reached (--max)", "free": "the limit of tasks is reached (--max)", "a": "the limit of tasks is reached (--max)", "b": "the limit of tasks is reached (--max)",
		"held": "alice holds it", "blocked": "blocked by NEW", "taken": "task T1 works on it or has worked on it",
		"odd": `its author "alice" is not allowed: orange tracker add --author`, "claimed": "somebody has claimed it: it has the tag Claimed-Dev-1",
	}
	if diff := cmp.Diff(want, why); diff != "" {
		t.Error(diff)
	}
}
