package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAReviewerPublishesNothing has a reviewer push to a remote with a pushurl, ask gh for
// more than reading, and look at the log of a task that is none of its business.
func TestAReviewerPublishesNothing(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	s.git(s.dir, "init", "-q", "--bare", "plain.git")
	s.git(s.dir, "init", "-q", "--bare", "away.git")
	s.git(s.repo, "remote", "add", "origin", filepath.Join(s.dir, "plain.git"))
	s.git(s.repo, "remote", "set-url", "--push", "origin", filepath.Join(s.dir, "away.git"))
	s.write("ask.sh", `try() { "$@" >>../../../heard 2>&1 && echo "done: $*" >>../../../heard; }
try git push origin HEAD:refs/heads/stolen
try git push --no-verify origin HEAD:refs/heads/stolen
try git push --no-verify "$1" HEAD:refs/heads/stolen
try gh pr review 1 --approve
try git fetch origin
try orange task log "$2"
try orange task attempts
`)
	other := s.create("other", "worker:\n  - idle:\n")
	id := s.create("feature", `
worker:
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - commit: {file: a.txt, text: "one\n", message: one}
  - section: {name: Handoff, text: "DONE: one"}
  - run: orange task update --status agent-review
reviewer:
  - run: "sh ../../../ask.sh `+filepath.Join(s.dir, "plain.git")+` `+string(other)+`; true"
  - section: {name: Review, text: "Verdict: PASS"}
  - run: orange task update --status reviewing
`)
	s.reaches(id, "reviewing")
	heard, err := os.ReadFile(filepath.Join(s.dir, "heard"))
	check(t, err)
	if strings.Count(string(heard), "done: ") != 2 || !strings.Contains(string(heard), "done: git fetch") || !strings.Contains(string(heard), "done: orange task attempts") ||
		!strings.Contains(string(heard), "it may look at the attempts of its own task, its parent and its children only") || strings.Count(string(heard), "a reviewer does not push or post") != 2 {
		t.Errorf("a reviewer did more than read: %s", heard)
	}
	for _, name := range []string{"plain.git", "away.git"} {
		if out := s.git(filepath.Join(s.dir, name), "for-each-ref"); out != "" {
			t.Errorf("%s: %s", name, out)
		}
	}
}
