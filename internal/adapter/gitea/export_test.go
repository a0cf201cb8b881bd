package gitea

import "time"

// Hasten removes the pauses between checks.
func Hasten(f *Repository) {
	for i := range f.pauses {
		f.pauses[i] = time.Microsecond
	}
}

// Mentions returns the two ways of naming an issue.
func Mentions(text, key string) (inText, inBranch bool) {
	return mentionsIssue(text, key), branchMentions(text, key)
}
