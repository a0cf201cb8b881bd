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

// set is the tags of a card: spelled as it has them, by what they are called in lower case.
type set map[string]string

func tagSet(tags []string) set {
	s := set{}
	for _, tag := range tags {
		s[strings.ToLower(strings.TrimSpace(tag))] = tag
	}
	return s
}

// has says whether all of the tags are there; claimed stands for any claim of a developer.
func (s set) has(tags ...string) bool {
	return !slices.ContainsFunc(tags, func(tag string) bool { return len(s.find(tag)) == 0 })
}

func (s set) any(tags ...string) bool { return len(s.find(tags...)) > 0 }

// find returns those of some tags that are there, as the card spells them, in order.
func (s set) find(tags ...string) []string {
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

// workflow returns the tags that mean something to the workflow, claims included.
func (s set) workflow() []string { return s.find(append(slices.Clone(workflowTags), claimed)...) }

// complete says that a developer is done.
func (s set) complete() bool {
	return s.has(devComplete, designComplete, testComplete) || s.has(reworkComplete)
}

// A pair is two tags that contradict each other, and which of them goes.
type pair struct{ a, b, remove string }

// pairs has the tag of the earlier step go where a later one was reached, and what would
// let a merge happen go where somebody wants more work.
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

// contradictions are the pairs that are on a card. A claim beside what an earlier round
// completed is none while that round is to be done again.
func (s set) contradictions() []pair {
	var out []pair
	for _, p := range pairs {
		again := s.any(reworkRequested, mergeConflict) && (p.b == devComplete || p.b == reworkComplete)
		if s.has(p.a, p.b) && !again {
			out = append(out, p)
		}
	}
	return out
}
