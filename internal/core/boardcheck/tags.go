package boardcheck

import (
	"slices"
	"strings"
)

// Columns of the workflow.
const (
	toDo        = "To Do"
	analyse     = "Analyse"
	development = "Development"
	review      = "Review"
	deploy      = "Deploy"
	done        = "Done"
)

// Tags of the workflow.
const (
	needsClarification    = "Needs-Clarification"
	clarificationAnswered = "Clarification-Answered"
	ready                 = "Ready"
	planPending           = "Plan-Pending-Approval"
	planApproved          = "Plan-Approved"
	planRejected          = "Plan-Rejected"
	planned               = "Planned"
	devComplete           = "Dev-Complete"
	designComplete        = "Design-Complete"
	testComplete          = "Test-Complete"
	reviewInProgress      = "Review-In-Progress"
	reviewApproved        = "Review-Approved"
	reworkRequested       = "Rework-Requested"
	reworkComplete        = "Rework-Complete"
	mergeConflict         = "Merge-Conflict"
	implementationFailed  = "Implementation-Failed"
	branchSetupFailed     = "Branch-Setup-Failed"
	opsReady              = "Ops-Ready"
	invokeArchitect       = "Invoke-Architect"
	assistComplete        = "Architect-Assist-Complete"
)

// claimed begins the tags by which developers claim a card: Claimed-Dev-1.
const claimed = "Claimed-"

var workflowTags = []string{
	needsClarification, clarificationAnswered, ready, planPending, planApproved, planRejected, planned,
	devComplete, designComplete, testComplete, reviewInProgress, reviewApproved, reworkRequested, reworkComplete,
	mergeConflict, implementationFailed, branchSetupFailed, opsReady, invokeArchitect, assistComplete,
}

// tagSpellings maps the lower-case names of a card's tags to their spelling on the card.
type tagSpellings map[string]string

func tagSet(tags []string) tagSpellings {
	s := tagSpellings{}
	for _, tag := range tags {
		s[strings.ToLower(strings.TrimSpace(tag))] = tag
	}
	return s
}

// hasAll reports whether all of the tags are there; claimed stands for any claim of a developer.
func (s tagSpellings) hasAll(tags ...string) bool {
	return !slices.ContainsFunc(tags, func(tag string) bool { return len(s.findTags(tag)) == 0 })
}

func (s tagSpellings) hasAny(tags ...string) bool { return len(s.findTags(tags...)) > 0 }

// findTags returns those of the tags that are there, as the card spells them, in order.
func (s tagSpellings) findTags(tags ...string) []string {
	var out []string
	for _, tag := range tags {
		tag = strings.ToLower(tag)
		for name, spelled := range s {
			if name == tag || tag == strings.ToLower(claimed) && strings.HasPrefix(name, tag) {
				out = append(out, spelled)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// workflowTags returns the tags that the workflow uses, claims included.
func (s tagSpellings) workflowTags() []string {
	return s.findTags(append(slices.Clone(workflowTags), claimed)...)
}

// isComplete reports whether a developer is done.
func (s tagSpellings) isComplete() bool {
	return s.hasAll(devComplete, designComplete, testComplete) || s.hasAll(reworkComplete)
}

// A pair is two tags that contradict each other, and which of them to remove.
type pair struct{ a, b, remove string }

// pairs removes the tag of the earlier step where a later one was reached, and the tag that would permit a merge where
// somebody wants more work.
var pairs = []pair{
	{ready, planPending, ready},
	{ready, planApproved, ready},
	{ready, planRejected, ready},
	{planPending, planned, planPending},
	{planApproved, planRejected, planRejected},
	{claimed, implementationFailed, claimed},
	{claimed, branchSetupFailed, claimed},
	{claimed, devComplete, claimed},
	{claimed, reworkComplete, claimed},
	{reviewInProgress, reviewApproved, reviewInProgress},
	{reviewInProgress, reworkRequested, reviewInProgress},
	{reviewApproved, reworkRequested, reviewApproved},
	{opsReady, reworkRequested, opsReady},
	{invokeArchitect, assistComplete, invokeArchitect},
}

// contradictingPairs returns the pairs on a card. A claim together with the completion of an earlier round is not one
// while that round is repeated.
func (s tagSpellings) contradictingPairs() []pair {
	var out []pair
	for _, p := range pairs {
		again := s.hasAny(reworkRequested, mergeConflict) && (p.b == devComplete || p.b == reworkComplete)
		if s.hasAll(p.a, p.b) && !again {
			out = append(out, p)
		}
	}
	return out
}
