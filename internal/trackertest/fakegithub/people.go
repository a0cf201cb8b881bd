package fakegithub

import (
	"strconv"
	"strings"
	"testing"
)

// AdoptCommit makes a commit of a real repository the head of a branch, like a push.
func (s *FakeServer) AdoptCommit(branch, commit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.refs[branch]
	if before == commit {
		return
	}
	if before == "" {
		before = strings.Repeat("0", len(commit))
	}
	s.refs[branch] = commit
	s.queueDelivery("push", object{"ref": "refs/heads/" + branch, "before": before, "after": commit, "commits": []object{}})
	for _, is := range s.sortedItems() {
		if is.pull != nil && !is.closed && is.pull.branch == branch {
			is.pull.head, is.updated = commit, s.nextTime()
			s.queueDelivery("pull_request", object{"action": "synchronize", "number": is.number, "pull_request": s.pullObject(is)})
		}
	}
}

// RequireChecks protects the base branch: pull requests must pass these checks.
func (s *FakeServer) RequireChecks(_ testing.TB, names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.required = names
}

// RefuseMerges lets merges fail with GitHub's words for what it wants; "" accepts them again.
func (s *FakeServer) RefuseMerges(words string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusal = words
}

// ForbidMerging lets GitHub say that pull requests conflict with their base.
func (s *FakeServer) ForbidMerging(conflict bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conflict = conflict
}

// UseRepository lets GitHub do its work in a real repository: update merges the base into a branch and calls
// AdoptCommit later, and merge merges a branch into the base and returns the commit.
func (s *FakeServer) UseRepository(update func(branch, base string), merge func(branch, base string) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.update, s.merge = update, merge
}

// AcceptPull merges a pull request, like a person.
func (s *FakeServer) AcceptPull(t testing.TB, number int) {
	t.Helper()
	s.withItem(t, strconv.Itoa(number), func(is *item) { s.mergeItem(is) })
}

// PullBranches returns the branch of a pull request and the branch that it asks to merge into.
func (s *FakeServer) PullBranches(t testing.TB, number int) (branch, base string) {
	t.Helper()
	s.withItem(t, strconv.Itoa(number), func(is *item) { branch, base = is.pull.branch, is.pull.base })
	return branch, base
}

// CountPulls returns the number of pull requests that were ever opened.
func (s *FakeServer) CountPulls() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, is := range s.items {
		if is.pull != nil {
			n++
		}
	}
	return n
}
