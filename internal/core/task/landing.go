package task

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"time"
)

// A Landing is the way of a task's work into its target branch. Orange builds a candidate, the commit that the target is
// to move to, runs the checks of the task on it and then moves the target. The branch and the workspace of the task are
// not changed.
type Landing struct {
	Candidate `json:"candidate,omitzero"`
	Checked   bool      `json:"checked,omitempty"` // every check passed on the candidate
	Reuse     bool      `json:"reuse,omitempty"`   // results of checks in the workspace count if they are for the same tree
	Outcome   string    `json:"outcome,omitempty"` // how it ended, "" while it is in progress
	Why       string    `json:"why,omitempty"`     // with Outcome: the reason, in words
	Files     []string  `json:"files,omitempty"`   // with Outcome: the files that conflict or are in the way; safe to show
	Since     time.Time `json:"since"`             // when the candidate was built, or when the landing ended
}

// A Candidate is a commit that was built on the tip of a target branch and contains the work of a task.
type Candidate struct {
	Target string `json:"target"`           // the branch
	Remote string `json:"remote,omitempty"` // whose branch it is, "" for the branch here
	Tip    string `json:"tip,omitempty"`    // the commit of the target that the candidate was built on
	Head   string `json:"head,omitempty"`   // the commit of the task's branch
	Commit string `json:"commit,omitempty"` // the candidate
	Tree   string `json:"tree,omitempty"`   // its tree
	Ref    string `json:"ref,omitempty"`    // keeps Head, so that the work can be recovered

	StackBase string `json:"stack_base,omitempty"` // the commit after which the own work of a stacked task begins, if the target has not got it
}

// The outcomes of a landing.
const (
	Landed          = "landed"
	LandingConflict = "conflict" // the branch and the target changed the same lines
	LandingFailed   = "failed"   // a check failed on the candidate
	LandingBlocked  = "blocked"  // something that only a person can change is in the way
)

// TargetName returns the name by which git knows the target.
func (c *Candidate) TargetName() string { return path.Join(c.Remote, c.Target) }

// BringsHead reports whether the landing brought a commit, the last one of the task's branch, into the target, or is about
// to: the candidate that contains its changes is checked. After a squash or a rebase the history of the target does not have
// the commit itself.
func (l *Landing) BringsHead(head string) bool {
	return l != nil && head != "" && l.Head == head && l.Commit != "" && (l.Outcome == Landed || l.InProgress() && l.Checked)
}

// InProgress reports whether a candidate of the landing exists and has not landed.
func (l *Landing) InProgress() bool { return l != nil && l.Outcome == "" }

// Returned reports whether the last landing sent the work back.
func (l *Landing) Returned() bool {
	return l != nil && (l.Outcome == LandingConflict || l.Outcome == LandingFailed)
}

// Lines returns how the landing ended as lines of text, with the commands by which the work is brought up to date.
func (l *Landing) Lines() []string {
	out := []string{l.Why}
	if len(l.Files) > 0 {
		out = append(out, "", "Files: "+strings.Join(l.Files, ", "))
	}
	if !l.Returned() {
		return out
	}
	if l.StackBase != "" {
		out = append(out, "",
			"The branch began at work that landed as other commits. Move its own commits to the target, in its worktree:", "",
			"    git rebase --onto "+l.Target+" "+l.StackBase)
		if l.Outcome == LandingConflict {
			out = append(out, "    # resolve every conflict, then", "    git add -A && git rebase --continue")
		}
		return l.addKept(out)
	}
	out = append(out, "",
		"Bring the branch up to date in its worktree, without a rebase, because others have seen its commits:", "",
		"    git merge "+l.TargetName())
	if l.Outcome == LandingConflict {
		out = append(out, "    # resolve every conflict, then", "    git add -A && git commit --no-edit")
	}
	return l.addKept(out)
}

// addKept adds where the work is kept as it is now.
func (l *Landing) addKept(out []string) []string {
	if l.Ref != "" {
		out = append(out, "", fmt.Sprintf("The work as it is now is kept at %s: git reset --hard %s brings it back.", l.Ref, l.Ref))
	}
	return out
}

// DescribeLanding says how far the landing of a task is whose merge is requested.
func (t *Task) DescribeLanding() string {
	switch p := t.MergeEffect(); {
	case p != nil && p.Error != "" && !p.NotBefore.IsZero():
		return "the merge is tried again: " + p.Error
	case t.Landing.InProgress() && t.Landing.Checked:
		return "its work is being merged into " + t.Landing.Target
	case t.Landing.InProgress() && t.CheckRun != nil:
		return fmt.Sprintf("check %s runs on its work merged with %s", t.CheckRun.Name, t.Landing.Target)
	}
	return "its work waits in the landing queue"
}

// A QueuePlace is the place of a task in its landing queue, from 1, and how many tasks are in the queue.
type QueuePlace struct {
	Position int    `json:"position"`
	Of       int    `json:"of"`
	Merging  string `json:"merging,omitempty"` // the branch into which its work is being merged at this moment, "" while it waits
}

// DescribeLandingAt is DescribeLanding with the place of the task, if others are in the queue.
func (t *Task) DescribeLandingAt(at QueuePlace) string {
	text := t.DescribeLanding()
	if at.Merging != "" && (len(t.Checks) == 0 || t.Landing.InProgress()) { // otherwise the candidate is built
		text = "its work is being merged into " + at.Merging
	}
	if at.Of < 2 {
		return text
	}
	return fmt.Sprintf("%s (number %d of %d)", text, at.Position, at.Of)
}

// DescribeEnd says how the last landing ended, "" if it has not, or if there was none.
func (l *Landing) DescribeEnd() string {
	switch {
	case l == nil || l.Outcome == "":
		return ""
	case l.Outcome == Landed:
		return fmt.Sprintf("landed in %s as %.12s", l.TargetName(), l.Commit)
	}
	text := "did not land: " + l.Why
	if len(l.Files) > 0 && l.Outcome == LandingConflict {
		text += ": " + strings.Join(l.Files, ", ")
	}
	return text
}

// MergeEffect returns the pending request to land the task's work, or nil if there is none.
func (t *Task) MergeEffect() *Effect {
	for i := range t.Pending {
		if t.Pending[i].Do == MergeDo && !t.Pending[i].GivenUp {
			return &t.Pending[i]
		}
	}
	return nil
}

// MergeDo is the effect that lands the work of a task.
const MergeDo = "merge"

// A LandingPlace is the place of a task in a landing queue.
type LandingPlace struct {
	ID    ID
	Since time.Time // when its merge was requested
	Begun bool      // it has a candidate: it lands before the others
}

// LandingPlace returns the place of a task whose merge is requested.
func (t *Task) LandingPlace() (p LandingPlace, ok bool) {
	e := t.MergeEffect()
	if e == nil {
		return p, false
	}
	return LandingPlace{ID: t.ID, Since: e.Since, Begun: t.Landing.InProgress()}, true
}

// Compare returns a negative number if p lands before q.
func (p LandingPlace) Compare(q LandingPlace) int {
	switch {
	case p.Begun && !q.Begun:
		return -1
	case q.Begun && !p.Begun:
		return 1
	}
	return cmp.Or(p.Since.Compare(q.Since), strings.Compare(string(p.ID), string(q.ID)))
}
