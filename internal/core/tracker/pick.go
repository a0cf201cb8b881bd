package tracker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Candidate is an issue that may be worked on, with what is known about it.
type Candidate struct {
	Issue         Issue
	Priority      Priority // the issue's own, unless a directive sets another
	Held          string   // who holds it back and why, "" if nobody does
	Task          string   // task that works on it, or did and left it in this column
	ForeignAuthor bool     // its author is not on the list of authors
	Claimed       string   // the tag that shows that somebody else works on it
}

// A Choice is the decision about a candidate in one round.
type Choice struct {
	Key      string   `json:"key"`
	Ref      string   `json:"ref"` // as tasks name it
	Title    string   `json:"title"`
	Column   string   `json:"column"`
	Priority Priority `json:"priority,omitempty"`
	Dispatch bool     `json:"dispatch"`
	Task     string   `json:"task,omitempty"`
	Reason   string   `json:"reason"` // why it is dispatched, or why not
}

// PickIssues returns which issues are dispatched in a round with free places, in order: the most urgent first, then the
// oldest; a parent before its children.
func PickIssues(list []Candidate, free int) []Choice {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.priorityRank(), b.priorityRank()), a.Issue.Card.CreatedAt.Compare(b.Issue.Card.CreatedAt), cmp.Compare(a.Issue.Key, b.Issue.Key))
	})
	list = parentsFirst(list)
	out, begun := make([]Choice, 0, len(list)), map[string]bool{}
	for i := range list {
		c := &list[i]
		choice := Choice{Key: c.Issue.Key, Title: c.Issue.Card.Title, Column: c.Issue.Card.Column, Priority: c.Priority, Task: c.Task, Reason: c.describeObstacle()}
		switch {
		case choice.Reason != "":
		case begun[c.Issue.Parent] && c.Issue.Parent != "":
			choice.Dispatch, choice.Reason = true, "it is a part of "+c.Issue.Parent // the parent would be done without it
			free--
		case free <= 0:
			choice.Reason = "the limit of tasks is reached (--max)"
		default:
			choice.Dispatch, choice.Reason = true, "it is next"
			free--
		}
		begun[c.Issue.Key] = choice.Dispatch
		out = append(out, choice)
	}
	return out
}

// priorityRank returns the sort key of a priority: the most urgent first, none last.
func (c *Candidate) priorityRank() Priority {
	if c.Priority == 0 {
		return Low + 1
	}
	return c.Priority
}

// describeObstacle returns what keeps an issue from being worked on, or "".
func (c *Candidate) describeObstacle() string {
	open := func(l Link) bool { return !l.Closed }
	switch {
	case c.Task != "":
		return "task " + c.Task + " works on it or has worked on it"
	case c.Held != "":
		return c.Held
	case c.ForeignAuthor:
		return fmt.Sprintf("its author %q is not allowed: orange tracker add --author", c.Issue.Card.Author)
	case c.Claimed != "":
		return "somebody has claimed it: it has the tag " + c.Claimed
	case slices.ContainsFunc(c.Issue.BlockedBy, open):
		return "blocked by " + strings.Join(openKeys(c.Issue.BlockedBy), ", ")
	}
	return ""
}

func openKeys(links []Link) (out []string) {
	for _, l := range links {
		if !l.Closed {
			out = append(out, l.Key)
		}
	}
	return out
}

// parentsFirst moves children behind their parents, where both are in the list. It leaves cycles unchanged.
func parentsFirst(list []Candidate) []Candidate {
	at := map[string]int{}
	for i := range list {
		at[list[i].Issue.Key] = i
	}
	out, done := make([]Candidate, 0, len(list)), map[string]bool{}
	var put func(i, depth int)
	put = func(i, depth int) {
		c := &list[i]
		if done[c.Issue.Key] {
			return
		}
		if p, ok := at[c.Issue.Parent]; ok && depth < len(list) {
			put(p, depth+1)
		}
		if !done[c.Issue.Key] {
			done[c.Issue.Key] = true
			out = append(out, *c)
		}
	}
	for i := range list {
		put(i, 0)
	}
	return out
}
