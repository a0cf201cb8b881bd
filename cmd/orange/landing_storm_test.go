package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orange/internal/adapter/lock"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/testneeds"
	"orange/internal/wait"
)

// stormCheck is the check of the project. It fails if two parts are in one slot, which git cannot see, if a shared
// file lacks the line of a part, and if a conflict was committed as it is.
const stormCheck = `#!/bin/sh
set -eu
twice=$(ls | sed -n 's/^slot-\([0-9]*\)-.*/\1/p' | sort | uniq -d)
test -z "$twice" || { echo "two parts are in slot $twice"; exit 1; }
for part in part-*; do
	test -e "$part" || continue
	n=${part#part-}
	grep -qx "line of $n" shared-* || { echo "no shared file has the line of part $n"; exit 1; }
	ls slot-*-"$n" >/dev/null
done
! grep -q '^[<=>]\{7\}' shared-*
`

// stormWork is what an agent does: it commits a part, and later merges what others landed and resolves the conflicts.
// Every commit that it leaves is written down.
const stormWork = `#!/bin/sh
set -eu
n=$1 slot=$2 shared=$3 log=$4
if ! test -e part-$n; then
	echo $n >part-$n
	echo $n >slot-$slot-$n
	echo "line of $n" >>shared-$shared
	git add -A
	git commit -qm "part $n"
else
	git merge -q main || {
		for file in $(git diff --name-only --diff-filter=U); do sed -i '/^[<=>]\{7\}/d' $file; done
		git add -A
		git commit -q --no-edit
	}
	mine=$(ls | sed -n "s/^slot-\([0-9]*\)-$n\$/\1/p")
	if test $(ls slot-$mine-* | wc -l) -gt 1; then
		git mv slot-$mine-$n slot-$((1000 + n))-$n
		git commit -qm "another slot for part $n"
	fi
fi
git rev-parse HEAD >>$log
`

// Many tasks of one repository change the same files, and pairs of them fit together for git but not for the check.
// The server is killed again and again, and a person commits to main meanwhile. Each task lands or asks for a person,
// every commit that Orange made the tip of main passes the check, and no commit is lost.
func TestManyTasksLandInOneRepository(t *testing.T) {
	t.Parallel()
	seed, tasks, kills, commits := uint64(20), 6, 3, 3
	if n, ok := testneeds.SoakSeed(t); ok {
		seed, tasks, kills, commits = n, 20, 10, 8
	}
	random := rand.New(rand.NewPCG(seed, 0))
	s := openEnv(t, "headless", "--workflow", "solo", "--check", "tests=sh check.sh", "--pool-size", fmt.Sprint(tasks/2))
	work, written := s.write("work.sh", stormWork), filepath.Join(s.dir, "commits")
	s.write("shop/check.sh", stormCheck)
	for i := range 3 {
		s.write(fmt.Sprintf("shop/shared-%d", i), "begin\n")
	}
	s.git(s.repo, "add", ".")
	s.git(s.repo, "commit", "-qm", "what they share")
	for i := range tasks {
		s.create(fmt.Sprintf("part-%02d", i), fmt.Sprintf(`
worker:
  - {run: "sh %s %d %d %d %s", must: true}
  - run: orange task update --status reviewing
`, work, i+1, i/2, i%3, written))
	}

	person := s.actAsPerson(random, kills, commits)
	for _, one := range s.list() {
		if one.Status != "done" {
			t.Logf("%s did not land: %s, %s", one.Branch, one.Status, one.Attention)
			hasAll(t, "the inbox", s.orange("inbox"), one.Branch, "landing_round reached its bound")
		}
	}
	s.stormIsSound(person, written)
}

// actAsPerson merges whatever is ready, commits to main and kills the server, until every task has landed or is stuck.
// It returns the person's own commits.
func (s *env) actAsPerson(random *rand.Rand, kills, commits int) (own []string) {
	s.t.Helper()
	tried := map[task.ID]int{}
	wait.Until(s.t, "every task has landed or is stuck", func() bool {
		tasks, err := s.client.TaskList(s.t.Context(), task.Filter{All: true})
		if err != nil {
			s.run("task", "list") //nolint:errcheck // it starts the next server
			return false
		}
		settled := true
		for _, one := range tasks {
			settled = settled && len(one.Pending) == 0 && (one.Status == "done" || one.Status == "stuck" || tried[one.ID] > 8)
			if one.Status == "reviewing" && one.MergeEffect() == nil {
				tried[one.ID]++
				s.run("task", "merge", string(one.ID), "--no-wait") //nolint:errcheck // its server may be killed
			}
		}
		switch what := random.IntN(20); {
		case what < 2 && kills > 0:
			if pid := lock.ReadHolder(s.home).PID; pid > 0 {
				kills--
				syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // it may have been killed already
			}
		case what < 4 && commits > 0:
			if commit, ok := s.commitAsPerson(fmt.Sprintf("person-%d", commits)); ok {
				own = append(own, commit)
				commits--
			}
		}
		time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
		return settled && kills == 0 && commits == 0
	}, func() any { return s.orange("task", "list", "--all") }, func() any { return s.orange("land", "list") })
	return own
}

// commitAsPerson commits a file to main. It is not ok if git is busy there at this moment.
func (s *env) commitAsPerson(name string) (commit string, ok bool) {
	s.t.Helper()
	s.write("shop/"+name, "mine\n")
	if s.command("git", "add", name).Run() != nil || s.command("git", "commit", "-qm", name, "--", name).Run() != nil {
		return "", false
	}
	return s.git(s.repo, "log", "-1", "--format=%H", "--", name), true
}

// stormIsSound makes sure that main and all commits are as they must be.
func (s *env) stormIsSound(person []string, written string) {
	s.t.Helper()
	if status := s.git(s.repo, "status", "--porcelain"); status != "" {
		s.t.Errorf("the checkout has changes:\n%s", status)
	}
	s.git(s.repo, "fsck", "--strict", "--no-dangling")
	for _, commit := range person {
		s.git(s.repo, "merge-base", "--is-ancestor", commit, "main")
	}
	text, err := os.ReadFile(written)
	check(s.t, err)
	clone := filepath.Join(s.dir, "clone")
	s.git(s.dir, "clone", "-q", s.repo, clone)
	landed := 0
	for _, one := range s.list() {
		s.sound(one.ID)
		for _, e := range s.journal(one.ID) {
			commit, ok := journal.MergeOf(&e)
			if !ok {
				continue
			}
			landed++
			s.git(s.repo, "merge-base", "--is-ancestor", commit, "main")
			s.git(clone, "checkout", "-q", "--detach", commit)
			cmd := s.command("sh", "check.sh")
			cmd.Dir = clone
			if out, err := cmd.CombinedOutput(); err != nil {
				s.t.Errorf("%s was the tip of main for %s, and its check fails: %v\n%s", commit, one.Branch, err, out)
			}
		}
	}
	if landed == 0 {
		s.t.Error("nothing landed")
	}
	for _, commit := range strings.Fields(string(text)) {
		if refs := s.git(s.repo, "for-each-ref", "--contains", commit); refs == "" {
			s.t.Errorf("commit %s of an agent is lost", commit)
		}
	}
	s.t.Logf("%d landings, %d commits of a person, %d of agents", landed, len(person), len(strings.Fields(string(text))))
}
