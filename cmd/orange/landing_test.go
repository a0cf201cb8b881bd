package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// hands is a worker of solo that commits one file and hands over.
func hands(file, text string) string {
	return "worker:\n  - commit: {file: " + file + ", text: \"" + text + "\\n\", message: " + file + "}\n  - run: orange task update --status reviewing\n"
}

// Two tasks that were checked apart land together: each candidate is checked on what landed before it.
func TestTwoTasksLandOneAfterTheOther(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "solo", "--check", "tests=test $(ls *.part | wc -l) -lt 3")
	a, b, c := s.create("one", hands("a.part", "a")), s.create("two", hands("b.part", "b")), task.ID("")
	s.reaches(a, "reviewing")
	s.reaches(b, "reviewing")
	s.orange("land", "pause", "shop")
	s.orange("task", "merge", string(a), "--no-wait")
	s.orange("task", "merge", string(b), "--no-wait")
	hasAll(t, "the queue", s.orange("land", "list"), "shop/main", "held: orange land resume shop")
	hasAll(t, "the second", s.orange("task", "show", string(b)), "its work waits in the landing queue (number 2 of 2)")
	hasAll(t, "why it waits", s.orange("task", "explain", string(b)), "(number 2 of 2)")
	hasAll(t, "the list", s.orange("task", "list"), "landing, number 2")
	hasAll(t, "the inbox", s.orange("inbox"), "the work of 2 tasks waits to land, and the landing queues of shop are held", "orange land resume shop")
	if got := s.task(a); got.Landing != nil || got.MergeEffect() == nil {
		t.Fatalf("it lands although the queue is held: %+v", got.Landing)
	}
	s.orange("land", "resume", "shop")
	s.reaches(a, "done")
	s.reaches(b, "done")
	for _, id := range []task.ID{a, b} {
		built := s.entries(id, journal.LandingBuilt)
		if len(built) != 1 || built[0].Landing.Tree == "" {
			t.Fatalf("%s: %d candidates", id, len(built))
		}
		if r := s.task(id).CheckResults; len(r) != 2 || r[1].Place != task.PlaceLanding || r[1].Tree != built[0].Landing.Tree || r[1].Outcome != task.CheckPassed {
			t.Errorf("%+v", r)
		}
		s.sound(id)
	}
	if files := s.git(s.repo, "ls-files", "*.part"); files != "a.part\nb.part" || s.git(s.repo, "status", "--porcelain") != "" {
		t.Errorf("main has %q", files)
	}
	hasAll(t, "the queue", s.orange("land", "list"), "No work waits to be merged.")

	// A third part passes its check alone, and fails it together with the others.
	s.git(s.repo, "branch", "before", "main~2")
	c = s.create("three", "worker:\n  - run: git reset -q --hard before\n"+strings.TrimPrefix(hands("c.part", "c"), "worker:\n")+"worker#2:\n  - idle:\n")
	s.reaches(c, "reviewing")
	before := s.git(s.repo, "rev-parse", "main")
	if _, said, err := s.run("task", "merge", string(c)); err == nil || !strings.Contains(said, "it did not land: check tests failed") {
		t.Errorf("%v, %q", err, said)
	}
	s.reaches(c, "working")
	if s.git(s.repo, "rev-parse", "main") != before {
		t.Error("main moved")
	}
	hasAll(t, "TASK.md", s.taskText(c), "## Landing", "git merge main", "## Checks")
	hasAll(t, "the task that came back", s.orange("task", "show", string(c)), "did not land: check tests failed")
	hasAll(t, "the task that landed", s.orange("task", "show", string(b)), "landed in main as")
	s.sound(c)
	if n := strings.Count(s.git(s.repo, "worktree", "list"), "/landing/"); n != 1 {
		t.Errorf("%d landing worktrees", n)
	}
	hasAll(t, "gc", s.orange("workspace", "gc"), "removed shop--", "no task lands in it")
	if n := strings.Count(s.git(s.repo, "worktree", "list"), "/landing/"); n != 0 {
		t.Errorf("%d landing worktrees after gc", n)
	}
}

// A conflict goes to the worker with the files and the commands; it resolves the conflict, and the work lands. It does so
// too if the worker of before still lives: the end of that one, which does not know of the conflict, is no answer to it.
func TestAWorkerResolvesAConflict(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]string{"the worker ended": "", "the worker lives": `  - run: "until [ -e ../../../go ]; do sleep 0.05; done"` + "\n"} {
		t.Run(name, func(t *testing.T) {
			s := openEnv(t, "headless", "--workflow", "solo")
			id := s.create("feature", hands("README", "mine")+then+`worker#2:
  - run: "git merge -q main || true; echo both > README; git add -A; git commit -q --no-edit"
  - run: orange task update --status reviewing
`)
			if then == "" {
				s.rests(id, "reviewing")
			} else {
				s.reaches(id, "reviewing")
			}
			head := s.git(s.repo, "rev-parse", "feature")
			s.write("shop/README", "theirs\n")
			s.git(s.repo, "commit", "-qam", "meanwhile")
			s.refused("it did not land: branch feature conflicts with main in README", "task", "merge", string(id))
			s.write("go", "")
			s.await(id, "the worker has resolved it", func(t task.Task) bool { return t.Status == "reviewing" && t.CounterValue("landing_round") == 1 })
			text := s.prompt(id, 2)
			hasAll(t, "the prompt", text, "git merge main", "Files: README")
			if ref := s.task(id).Landing.Ref; ref == "" || s.git(s.repo, "rev-parse", ref) != head || !strings.Contains(text, ref) {
				t.Errorf("the work is kept at %q", ref)
			}
			s.orange("task", "merge", string(id))
			s.reaches(id, "done")
			if got := s.git(s.repo, "show", "main:README"); got != "both" {
				t.Errorf("README is %q", got)
			}
			s.await(id, "its workspace is free", func(t task.Task) bool { return t.Workspace == "" })
			if refs := s.git(s.repo, "for-each-ref", "refs/orange/landing"); refs != "" {
				t.Errorf("left: %s", refs)
			}
			s.sound(id)
		})
	}
}

// Changes of a person in the checkout of the target keep one task from landing, and only that one.
func TestChangesInTheWayOfOneTaskDoNotStopTheNext(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "solo")
	a, b := s.create("one", hands("README", "mine")), s.create("two", hands("b.txt", "b"))
	s.reaches(a, "reviewing")
	s.reaches(b, "reviewing")
	s.write("shop/README", "a person writes here\n")
	s.orange("land", "pause", "shop")
	s.orange("task", "merge", string(a), "--no-wait")
	s.orange("task", "merge", string(b), "--no-wait")
	s.orange("land", "resume", "shop")
	s.reaches(b, "done")
	got := s.await(a, "it waits for a person", func(t task.Task) bool { return t.Attention != "" })
	if got.Status != "reviewing" || got.Landing == nil || got.Landing.Outcome != task.LandingBlocked || strings.Join(got.Landing.Files, " ") != "README" {
		t.Errorf("%s: %+v", got.Status, got.Landing)
	}
	hasAll(t, "the inbox", s.orange("inbox"), "README")
	s.git(s.repo, "checkout", "-q", "--", "README")
	s.orange("task", "merge", string(a))
	s.reaches(a, "done")
	s.sound(a)
}

// Work that lands as one commit counts as merged, with and without checks, although the target has none of its commits.
func TestASquashCountsAsMerged(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"without checks": nil, "with a check": {"--check", "tests=test -e README"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openEnv(t, "headless", append([]string{"--workflow", "solo", "--land", "squash"}, flags...)...)
			id := s.create("feature", strings.Replace(hands("a.txt", "a"), "worker:\n", "worker:\n  - commit: {file: b.txt, text: \"b\\n\", message: b.txt}\n", 1))
			s.reaches(id, "reviewing")
			s.write("shop/README", "meanwhile\n")
			s.git(s.repo, "commit", "-qam", "meanwhile")
			head := s.git(s.repo, "rev-parse", "feature")
			s.orange("task", "merge", string(id))
			got := s.reaches(id, "done")
			if s.git(s.repo, "log", "--format=%s", "main") != "do it\nmeanwhile\nbegin" || s.git(s.repo, "rev-parse", "feature") != head {
				t.Errorf("main has\n%s", s.git(s.repo, "log", "main"))
			}
			if got.Work == nil || !got.Work.Landed || got.Landing == nil || got.Landing.Outcome != task.Landed || got.Landing.Head != head || got.Landing.Commit != s.git(s.repo, "rev-parse", "main") {
				t.Errorf("%+v, %+v", got.Work, got.Landing)
			}
			s.sound(id)

			// Git removes the commits of a branch that is deleted; what they changed stays visible.
			s.git(s.repo, "branch", "-D", "feature")
			for _, worktree := range append([]string{s.repo}, strings.Fields(s.git(s.repo, "worktree", "list", "--porcelain"))...) {
				if filepath.IsAbs(worktree) {
					s.git(worktree, "reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
					s.git(worktree, "update-ref", "-d", "ORIG_HEAD")
				}
			}
			s.git(s.repo, "gc", "-q", "--prune=now")
			if out, err := s.command("git", "-C", s.repo, "cat-file", "-e", head).CombinedOutput(); err == nil {
				t.Fatalf("git has kept %s: %s", head, out)
			}
			if now := s.landed(id); now != "a.txt b.txt" {
				t.Errorf("the diff names %q", now)
			}
			if stat := s.orange("task", "diff", string(id), "--stat"); !strings.Contains(stat, "2 files changed") {
				t.Errorf("the command shows %s", stat)
			}
		})
	}
}

// With delivery push the remote is the target. What a person pushes meanwhile starts the landing over; what the remote
// refuses is final.
func TestAPushIsTheSwap(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "solo", "--delivery", "push", "--check", "tests=sh ../../../meanwhile.sh")
	origin, person := filepath.Join(s.dir, "origin.git"), filepath.Join(s.dir, "person")
	s.git(s.dir, "init", "-q", "--bare", "-b", "main", origin)
	s.git(s.repo, "remote", "add", "origin", origin)
	s.git(s.repo, "push", "-q", "origin", "main")
	s.git(s.dir, "clone", "-q", origin, person)
	s.orange("project", "update", "shop", "--trust-git")
	s.write("meanwhile.sh", "exit 0\n")
	id := s.create("feature", hands("a.txt", "a"))
	s.reaches(id, "reviewing")
	// The check of the first candidate is when another person pushes.
	s.write("meanwhile.sh", "cd "+person+"\ntest -e theirs && exit 0\necho x > theirs; git add theirs; git -c user.name=p -c user.email=p@example.com commit -qm theirs && git push -q\n")
	hook := s.write("origin.git/hooks/pre-receive", "#!/bin/sh\ngrep -q main || exit 0\ntest -e "+s.dir+"/frozen || exit 0\necho 'the freeze ends on Monday' >&2\nexit 1\n")
	check(t, os.Chmod(hook, 0o755))
	s.orange("task", "merge", string(id))
	s.reaches(id, "done")
	if n := len(s.entries(id, journal.LandingMoved)); n != 1 {
		t.Errorf("it started over %d times", n)
	}
	for _, at := range []string{origin, s.repo} {
		if files := s.git(at, "ls-tree", "--name-only", "main"); files != "README\na.txt\ntheirs" {
			t.Errorf("main of %s has %q", at, files)
		}
	}
	s.sound(id)

	s.write("frozen", "")
	second := s.create("second", hands("b.txt", "b"))
	s.reaches(second, "reviewing")
	before := s.git(s.repo, "rev-parse", "main")
	if _, said, err := s.run("task", "merge", string(second)); err == nil || !strings.Contains(said, "origin does not accept the work in main: pre-receive hook declined: the freeze ends on Monday") {
		t.Errorf("%v, %q", err, said)
	}
	got := s.task(second)
	if got.Status != "reviewing" || got.Landing.Outcome != task.LandingBlocked || s.git(s.repo, "rev-parse", "main") != before || s.git(origin, "rev-parse", "main") != before {
		t.Errorf("%s, %+v", got.Status, got.Landing)
	}
	check(t, os.Remove(filepath.Join(s.dir, "frozen")))
	s.orange("task", "merge", string(second))
	s.reaches(second, "done")
}

// A server dies after the target moved and before it recorded that, and a person commits meanwhile. The next server finds the
// squash in the history and lands nothing twice.
func TestASquashIsNotRepeatedAfterACrash(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "solo", "--land", "squash")
	id := s.create("feature", hands("README", "mine"))
	s.reaches(id, "reviewing")
	server := s.crashingServer(2, "effect.after")   // the first effect builds the candidate, the second moves the target
	s.run("task", "merge", string(id), "--no-wait") //nolint:errcheck // the server dies
	server.Wait()                                   //nolint:errcheck // likewise
	if got := s.git(s.repo, "log", "-1", "--format=%s", "main"); got != "do it" {
		t.Fatalf("the target has not moved before the crash: %s", got)
	}
	s.write("shop/README", "and a person changes it again\n")
	s.git(s.repo, "commit", "-qam", "a person")
	got := s.reaches(id, "done")
	if log := s.git(s.repo, "log", "--format=%s", "main"); log != "a person\ndo it\nbegin" || !got.Work.Landed || got.Landing.Commit != s.git(s.repo, "rev-parse", "main~1") {
		t.Errorf("%q, %+v", log, got.Landing)
	}
	s.sound(id)
}

// A server dies after the remote took the squash and before it recorded that, and a person pulls, changes the same file and
// pushes. The next server finds the squash at the remote, and does not send the worker a conflict of the work with itself.
func TestAPushIsNotRepeatedAfterACrash(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "solo", "--delivery", "push", "--land", "squash")
	origin, person := filepath.Join(s.dir, "origin.git"), filepath.Join(s.dir, "person")
	s.git(s.dir, "init", "-q", "--bare", "-b", "main", origin)
	s.git(s.repo, "remote", "add", "origin", origin)
	s.git(s.repo, "push", "-q", "origin", "main")
	s.git(s.dir, "clone", "-q", origin, person)
	s.orange("project", "update", "shop", "--trust-git")
	id := s.create("feature", strings.Replace(hands("README", "mine"), "worker:\n", "worker:\n  - commit: {file: README, text: \"first\\n\", message: first}\n", 1))
	s.await(id, "its branch is pushed", func(t task.Task) bool { return t.Status == "reviewing" && len(t.Pending) == 0 })
	server := s.crashingServer(2, "effect.after")   // the first effect builds the candidate, the second pushes it
	s.run("task", "merge", string(id), "--no-wait") //nolint:errcheck // the server dies
	server.Wait()                                   //nolint:errcheck // likewise
	s.git(person, "pull", "-q")
	if got := s.git(person, "log", "-1", "--format=%s"); got != "do it" {
		t.Fatalf("the remote has not got it before the crash: %s", got)
	}
	s.write("person/README", "and a person changes it again\n")
	s.git(person, "-c", "user.name=p", "-c", "user.email=p@example.com", "commit", "-qam", "a person")
	s.git(person, "push", "-q")
	got := s.reaches(id, "done")
	if log := s.git(origin, "log", "--format=%s", "main"); log != "a person\ndo it\nbegin" || !got.Work.Landed || got.Landing.Commit != s.git(origin, "rev-parse", "main~1") {
		t.Errorf("%q, %+v", log, got.Landing)
	}
	if n := len(s.entries(id, journal.LandingMoved)); n != 0 || s.git(s.repo, "rev-parse", "main") != got.Landing.Commit {
		t.Errorf("it started over %d times, and main here is at %s", n, s.git(s.repo, "log", "-1", "--format=%s", "main"))
	}
	s.sound(id)
}

// A person squashed the work and committed upon that. The task lands as the person's squash, and its branch counts as merged.
func TestWorkThatAPersonSquashedHasLanded(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "solo", "--land", "squash")
	id := s.create("feature", hands("a.txt", "a"))
	s.reaches(id, "reviewing")
	s.git(s.repo, "merge", "-q", "--squash", "feature")
	s.git(s.repo, "commit", "-qm", "by hand")
	s.write("shop/README", "and a person goes on\n")
	s.git(s.repo, "commit", "-qam", "a person")
	s.orange("task", "merge", string(id))
	got := s.reaches(id, "done")
	if log := s.git(s.repo, "log", "--format=%s", "main"); log != "a person\nby hand\nbegin" || !got.Work.Landed || got.Landing.Commit != s.git(s.repo, "rev-parse", "main~1") || got.Landing.Tip != s.git(s.repo, "rev-parse", "main~2") {
		t.Errorf("%q, %+v", log, got.Landing)
	}
	s.sound(id)
}

// Work keeps its workspace until it has landed. If it is made to land after a task that needs the same workspace, a person
// is told, and the command that they are told helps.
func TestAPoolInADeadlockIsReported(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "solo", "--pool-size", "1")
	first := s.create("first", hands("a", "a"))
	s.reaches(first, "reviewing")
	second := s.create("second", hands("b", "b"))
	hasAll(t, "the inbox before", s.orange("inbox"), "first")
	s.orange("task", "update", string(first), "--after", string(second))
	const command = "orange project update shop --pool-size 2"
	hasAll(t, "the inbox", s.orange("inbox"), "every workspace of shop has work that waits to land after a task that waits for a workspace", command)
	s.orange(strings.Fields(command)[1:]...)
	s.reaches(second, "reviewing")
	s.orange("task", "merge", string(second))
	s.orange("task", "merge", string(first))
	if inbox := s.orange("inbox"); strings.Contains(inbox, "every workspace") {
		t.Errorf("the inbox still has it:\n%s", inbox)
	}
}

// A merge whose hook runs cannot be called back: Orange refuses to, and the work lands and finishes its task.
func TestAMergeThatRunsIsNotTakenBack(t *testing.T) {
	t.Parallel()
	for name, command := range map[string][]string{
		"the queue": {"land", "remove"}, "changes": {"task", "request-changes", "", "do it otherwise"}, "the task": {"task", "cancel", "--yes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openEnv(t, "headless", "--workflow", "solo")
			id := s.create("feature", hands("a.txt", "a"))
			s.rests(id, "reviewing")
			s.write("shop/other", "meanwhile\n")
			s.git(s.repo, "add", "other")
			s.git(s.repo, "commit", "-qm", "meanwhile") // so a merge commit is needed, and it runs a hook
			before := s.git(s.repo, "rev-parse", "main")
			hook := s.write("shop/.git/hooks/commit-msg", strings.ReplaceAll("#!/bin/sh\ntouch {dir}/ran\nuntil test -e {dir}/go; do sleep 0.02; done\n", "{dir}", s.dir))
			check(t, os.Chmod(hook, 0o755))
			s.orange("project", "update", "shop", "--trust-git")
			s.orange("task", "merge", "--no-wait", string(id))
			s.eventually("the hook runs", func() bool { return s.has("ran") })
			hasAll(t, "the queue", s.orange("land", "list"), "its work is being merged into main")
			hasAll(t, "why it waits", s.orange("task", "explain", string(id)), "its work is being merged into main")
			args := slices.Clone(command)
			if at := slices.Index(args, ""); at >= 0 {
				args[at] = string(id)
			} else {
				args = append(args, string(id))
			}
			s.refused("the work is being merged into main at this moment: wait for it (orange task history "+string(id)+"), then decide", args...)
			if got := s.task(id); got.Status != "reviewing" || s.git(s.repo, "rev-parse", "main") != before {
				t.Errorf("%s, main moved", got.Status)
			}
			s.write("go", "")
			if got := s.reaches(id, "done"); got.Attention != "" || s.git(s.repo, "show", "main:a.txt") != "a" {
				t.Errorf("%q", got.Attention)
			}
			s.sound(id)
		})
	}
}
