package task

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// A Landing is the way of a task's work into its target branch. Orange builds a candidate, the commit that the target is
// to move to, runs the checks of the task on it and then moves the target. The branch and the workspace of the task are
// not changed.
type Landing struct {
	Candidate `json:"candidate,omitzero"`
	Checked   bool      `json:"checked,omitempty"` // every check passed on the candidate
	Outcome   string    `json:"outcome,omitempty"` // how it ended, "" while it is in progress
	Why       string    `json:"why,omitempty"`     // with Outcome: the reason, in words
	Files     []string  `json:"files,omitempty"`   // with Outcome: the files that conflict or are in the way; safe to show
	Since     time.Time `json:"since"`             // when the candidate was built, or when the landing ended
}

// A Candidate is a commit that was built on the tip of a target branch and contains the work of a task.
type Candidate struct {
	Target string `json:"target"`           // the branch
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
		"    git merge "+l.Target)
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
	case t.Landing.InProgress() && t.Landing.Checked:
		return "its work is being merged into " + t.Landing.Target
	case t.Landing.InProgress() && t.CheckRun != nil:
		return fmt.Sprintf("check %s runs on its work merged with %s", t.CheckRun.Name, t.Landing.Target)
	case p != nil && p.Error != "":
		return "the merge is tried again: " + p.Error
	}
	return "its work waits in the landing queue"
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
