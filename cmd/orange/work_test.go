package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/core/task"
)

func TestReviewsGoBackAndForth(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *env) {
		// Without a terminal a worker ends after its turn, and is started again with the message.
		id := s.create("feature", `
worker:
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - commit: {file: a.txt, text: "one\n", message: one}
  - section: {name: Handoff, text: "DONE: one"}
  - run: orange task update --status agent-review
  - wait:
  - commit: {file: a.txt, text: "two\n", message: two}
  - section: {name: Handoff, text: "DONE: two"}
  - run: orange task update --status agent-review
  - wait:
worker#2:
  - commit: {file: a.txt, text: "two\n", message: two}
  - section: {name: Handoff, text: "DONE: two"}
  - run: orange task update --status agent-review
reviewer:
  - section: {name: Review, text: "Verdict: FAIL\n\nnot two"}
  - run: orange task update --status working
reviewer#2:
  - section: {name: Review, text: "Verdict: PASS"}
  - run: orange task update --status reviewing
`)
		got := s.reaches(id, "reviewing")
		if got.CounterValue("review_round") != 2 || count(s.history(id), "agent.crashed") != 0 {
			t.Errorf("round %d: %q", got.CounterValue("review_round"), s.history(id))
		}
	})
}

func TestAPersonAsksForChangesAndAnswersQuestions(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	id := s.create("feature", `
worker:
  - section: {name: Questions, text: "Which colour?"}
  - run: orange task update --status clarification
  - wait:
  - run: "grep -q blue TASK.md && touch ../../../answered"
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - commit: {file: a.txt, text: "one\n", message: one}
  - section: {name: Handoff, text: "DONE: one"}
  - run: orange task update --status agent-review
  - wait:
  - run: "grep -q 'rounder corners' TASK.md && touch ../../../changed"
  - section: {name: Handoff, text: "DONE: rounder"}
  - run: orange task update --status agent-review
  - wait:
reviewer:
  - section: {name: Review, text: "Verdict: PASS\n\nsays attempt {attempt}"}
  - run: orange task update --status reviewing
`)
	s.reaches(id, "clarification")
	if inbox := s.orange("inbox"); !strings.Contains(inbox, "question") || !strings.Contains(inbox, "orange task answer "+string(id)) {
		t.Errorf("the inbox says %s", inbox)
	}
	s.orange("task", "answer", string(id), "blue, please")
	s.reaches(id, "reviewing")
	s.orange("task", "request-changes", string(id), "-m", "rounder corners")
	s.await(id, "the change is reviewed", func(t task.Task) bool { return t.Status == "reviewing" && t.Visit > 6 && len(t.Pending) == 0 })
	for _, name := range []string{"answered", "changed"} {
		if _, err := os.Stat(filepath.Join(s.dir, name)); err != nil {
			t.Errorf("the worker did not read it: %v", err)
		}
	}
	if a := s.task(id).Attempts; len(a) != 1 || a[0].Number != 1 {
		t.Errorf("the worker is not the one from the beginning: %+v", a)
	}
}

func TestConditionsAreSeenAndAreNoCrash(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux", "--pool-size", "3")
	asking := s.create("asking", `
worker:
  - ask: "May I run rm -r build?"
  - section: {name: Plan, text: "APPROACH: allowed"}
  - run: orange task update --status working
  - idle:
`)
	got := s.await(asking, "it waits for permission", func(t task.Task) bool {
		return len(t.Attempts) == 1 && t.Attempts[0].Condition.Name == task.WaitingPermission
	})
	if !strings.Contains(got.Attempts[0].Condition.Detail, "rm -r build") || got.Crashed != "" || got.Status != "planning" {
		t.Errorf("%+v", got)
	}
	if inbox := s.orange("inbox"); !strings.Contains(inbox, "permission") || !strings.Contains(inbox, "rm -r build") {
		t.Errorf("the inbox says %s", inbox)
	}
	if _, err := s.tmux("send-keys", "-t", "=shop/asking:=worker", "y", "Enter"); err != nil {
		t.Fatal(err)
	}
	s.await(asking, "it goes on", func(t task.Task) bool { return t.Status == "working" && t.Attempts[0].Condition.Name == task.Idle })

	limited := s.create("limited", `
worker:
  - limit: 2s
worker#2:
  - section: {name: Plan, text: "APPROACH: after the limit"}
  - run: orange task update --status working
  - idle:
`)
	got = s.await(limited, "it is limited", func(t task.Task) bool { return !t.RespawnAt.IsZero() })
	if got.Crashed != "" || got.CounterValue("crash_count") != 0 {
		t.Errorf("%+v", got)
	}
	s.killServer() // the timer is in the record
	s.reaches(limited, "working")
	if n := count(s.history(limited), "agent.limited"); n != 1 {
		t.Errorf("%q", s.history(limited))
	}
}

func TestAnAgentMayOnlyWhatItsRoleMay(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *env) {
		other := s.create("other", "worker:\n  - idle:\n")
		id := s.create("feature", fmt.Sprintf(`
worker:
  - run: "orange task update --status reviewing 2>../../../own"
  - run: "env -u ORANGE_TOKEN -u ORANGE_ROLE -u ORANGE_TASK -u ORANGE_ATTEMPT orange task cancel $ORANGE_TASK --yes 2>../../../bare"
  - run: "env -u ORANGE_TASK orange task update %s --summary stolen 2>../../../other"
  - run: "orange project update shop --pool-size 9 2>../../../project"
  - run: "orange stop 2>../../../stop"
  - run: "orange task create mine 'more work' --project shop --harness command:true 2>../../../create"
  - run: "echo $ORANGE_TOKEN >../../../token"
  - run: "touch ../../../asked"
  - idle:
`, other))
		s.eventually("it has asked for everything", func() bool { _, err := os.Stat(filepath.Join(s.dir, "asked")); return err == nil })
		for name, want := range map[string]string{
			"own": "planning", "bare": "human", "other": "may not change task", "project": "is a person's to ask for", "stop": "leave it to a person", "create": "worker may not",
		} {
			text, err := os.ReadFile(filepath.Join(s.dir, name))
			if err != nil || !strings.Contains(string(text), want) {
				t.Errorf("%s: %q, %v; want %q", name, text, err, want)
			}
		}
		if got := s.task(id); got.Status != "planning" {
			t.Errorf("%+v", got)
		}
		if got := s.task(other); got.Summary != "do it" {
			t.Errorf("%+v", got)
		}
		refused := s.orange("task", "history", string(id), "--refused")
		if !strings.Contains(refused, "reviewing") || !strings.Contains(refused, "cancel") || !strings.Contains(refused, "worker") {
			t.Errorf("it is not written down: %s", refused)
		}
		if text := s.orange("task", "history", string(other), "--refused"); !strings.Contains(text, "may not change task") {
			t.Errorf("it is not written down: %s", text)
		}
		token, err := os.ReadFile(filepath.Join(s.dir, "token"))
		check(t, err)
		s.orange("task", "cancel", string(id), "--yes")
		s.reaches(id, "cancelled")
		s.environ = append(s.environ, "ORANGE_TOKEN="+strings.TrimSpace(string(token)))
		s.refused("worker may not", "task", "reopen", string(id))
		s.environ = s.environ[:len(s.environ)-1]
	})
}

func TestNoSecretIsWrittenDown(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	s.orange("stop")
	s.environ = append(s.environ, "ANTHROPIC_API_KEY=planted-provider-key", "GITHUB_TOKEN=planted-forge-token", "LINEAR_API_KEY=planted-tracker-token")
	id := s.createWith("feature", "--harness", `command:sh -c 'env >"$ORANGE_PROMPT_FILE.env"; sleep 1000'`)
	s.alive(id, 1)
	var env []byte
	path := filepath.Join(string(s.folder(id, 1)), "prompt.md.env")
	s.eventually("the agent wrote its environment", func() bool { env, _ = os.ReadFile(path); return strings.Contains(string(env), "ORANGE_TOKEN=") })
	if !strings.Contains(string(env), "planted-provider-key") || strings.Contains(string(env), "planted-forge") || strings.Contains(string(env), "planted-tracker") {
		t.Errorf("the agent has\n%s", env)
	}
	_, token, _ := strings.Cut(string(env), "ORANGE_TOKEN=")
	token, _, _ = strings.Cut(token, "\n")
	check(t, os.Remove(path))
	check(t, filepath.WalkDir(s.home, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, secret := range []string{"planted-", token} {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s holds %s", path, secret)
			}
		}
		return err
	}))
}

func TestAPromptArrivesWhateverIsInIt(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *env) {
		var special strings.Builder
		for c := rune(1); c < 0x250; c++ {
			special.WriteRune(c)
		}
		words := "begins $(touch /tmp/never) `id` \"quoted\" 'single' \\ #{pane_id} #(date) %25 \u2028 🍊\n" + special.String()
		words += strings.Repeat("orange ", (100<<10-len(words))/7)
		s.write("shop/.orange/prompts/worker.md", words)
		id := s.createWith("feature", "--harness", `command:sh -c 'printf %s "$1" >"$ORANGE_PROMPT_FILE.got"; sleep 1000' sh {prompt}`)
		s.alive(id, 1)
		want, err := os.ReadFile(filepath.Join(string(s.folder(id, 1)), "prompt.md"))
		check(t, err)
		var got []byte
		s.eventually("the agent wrote what it was told", func() bool { // one that begins with a dash would be told to read the file
			got, _ = os.ReadFile(filepath.Join(string(s.folder(id, 1)), "prompt.md.got"))
			return len(got) >= len(want)
		})
		if string(got) != string(want) || len(want) < 100<<10 || !strings.Contains(string(want), strings.TrimSpace(words)[:200]) {
			t.Errorf("%d bytes of %d arrived as they were", len(got), len(want))
		}
	})
}

func TestBranchesOfAnyName(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux", "--pool-size", "8")
	s.refused("is not a name git accepts", "task", "create", "two..dots", "x", "--project", "shop", "--harness", "command:true")
	for _, branch := range []string{"a/b/c", "grün/🍊", "v1.2.3", "x#(touch${IFS}never)", "50%", "it's", `"q"`, "a$b;c&d"} {
		id := s.create(branch, strings.Replace(diligent, "{task}.txt", "x.txt", 1))
		got := s.reaches(id, "reviewing")
		if head := s.git(filepath.Join(s.home, "workspaces", got.Workspace), "symbolic-ref", "--short", "HEAD"); head != branch {
			t.Errorf("%s is checked out, not %s", head, branch)
		}
		argv := s.orange("task", "attach", string(id), "--print")
		if got.TmuxSession == "" || !strings.Contains(argv, s.cfg.Terminal) {
			t.Errorf("%s: session %q, attach %q", branch, got.TmuxSession, argv)
		}
		if _, err := s.tmux("has-session", "-t", "="+got.TmuxSession); err != nil {
			t.Errorf("%s: no session %s: %v", branch, got.TmuxSession, err)
		}
	}
	if _, err := os.Stat(filepath.Join(s.repo, "never")); err == nil {
		t.Error("a branch's name was executed")
	}
}

func TestARenamedBranchIsRenamedEverywhere(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	id := s.create("orange-tasks/x", `
worker:
  - run: "git branch -m better/name && orange task update --branch"
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - idle:
`)
	got := s.reaches(id, "working")
	if got.Branch != "better/name" || got.TmuxSession != "shop/better/name" {
		t.Errorf("%+v", got)
	}
	if _, err := s.tmux("has-session", "-t", "=shop/better/name"); err != nil {
		t.Error(err)
	}
	s.orange("task", "update", string(id), "--branch", "best")
	got = s.reaches(id, "working")
	if head := s.git(filepath.Join(s.home, "workspaces", got.Workspace), "symbolic-ref", "--short", "HEAD"); head != "best" || got.TmuxSession != "shop/best" {
		t.Errorf("%s, session %s", head, got.TmuxSession)
	}
}

func TestNothingIsLostWhenAWorkspaceIsGivenBack(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	s.write("shop/.gitignore", "*.cache\n")
	s.git(s.repo, "add", ".gitignore")
	s.git(s.repo, "commit", "-qm", "ignore")
	id := s.create("feature", `
worker:
  - run: "echo changed >README; echo new >untracked.txt; echo kept >build.cache"
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - idle:
`)
	workspace := filepath.Join(s.home, "workspaces", s.reaches(id, "working").Workspace)
	s.orange("task", "cancel", string(id), "--yes")
	s.reaches(id, "cancelled")
	var out struct {
		Salvages []struct{ Ref string } `json:"salvages"`
	}
	check(t, json.Unmarshal([]byte(s.orange("workspace", "salvage", "--json")), &out))
	if len(out.Salvages) != 1 {
		t.Fatalf("%+v", out)
	}
	for name, want := range map[string]string{"README": "changed", "untracked.txt": "new"} {
		if got := s.git(s.repo, "show", out.Salvages[0].Ref+":"+name); got != want {
			t.Errorf("%s was %q", name, got)
		}
	}
	if status := s.git(workspace, "status", "--porcelain"); status != "" {
		t.Errorf("the workspace is not clean: %s", status)
	}
	if text, err := os.ReadFile(filepath.Join(workspace, "build.cache")); err != nil || string(text) != "kept\n" {
		t.Errorf("an ignored file is gone: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(workspace, "TASK.md")); err == nil {
		t.Error("TASK.md is still there")
	}
}

func TestTheDefaultBranchMoved(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", diligent)
	s.reaches(id, "reviewing")
	s.write("shop/elsewhere.txt", "x\n")
	s.git(s.repo, "add", ".")
	s.git(s.repo, "commit", "-qm", "meanwhile")
	s.refused("or merge with --strategy auto", "task", "merge", string(id), "--strategy", "ff")
	if got := s.task(id); got.Status != "reviewing" || !strings.Contains(got.Attention, "merge failed") {
		t.Errorf("%+v", got)
	}
	hasAll(t, "the inbox", s.orange("inbox"), "orange task merge "+string(id))
	s.orange("task", "merge", string(id))
	s.reaches(id, "done")
	if parents := strings.Fields(s.git(s.repo, "log", "-1", "--format=%P")); len(parents) != 2 {
		t.Errorf("%q", parents)
	}
}

// withoutLandings gives the project a workflow that does not answer to the end of a landing.
func (s *env) withoutLandings(workflow string) {
	s.t.Helper()
	var kept []string
	for line := range strings.Lines(s.orange("workflow", "show", workflow)) {
		if !strings.Contains(line, "{landing: conflict}") && !strings.Contains(line, "landing_round") {
			kept = append(kept, line)
		}
	}
	text := strings.Replace(strings.Join(kept, ""), "name: "+workflow, "name: plain", 1)
	if head, rest, ok := strings.Cut(text, "  landing-failed: |\n"); ok {
		_, rest, _ = strings.Cut(rest, "  resumed: |\n")
		text = head + "  resumed: |\n" + rest
	}
	s.write("config/orange/workflows/plain.yaml", text)
	s.orange("project", "update", "shop", "--workflow", "plain")
}

func TestAConflictChangesNothing(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	s.withoutLandings("orange")
	id := s.create("feature", strings.Replace(diligent, "{task}.txt", "README", 1))
	s.reaches(id, "reviewing")
	s.write("shop/README", "other\n")
	s.git(s.repo, "commit", "-qam", "meanwhile")
	before := s.git(s.repo, "rev-parse", "HEAD")
	back := "orange task request-changes " + string(id) + " 'The branch conflicts with main. Run git rebase main, resolve the conflicts in README, and test again.'"
	s.refused("conflict, nothing was changed: rebase feature onto main and resolve: README; send it back with "+back, "task", "merge", string(id))
	hasAll(t, "the inbox", s.orange("inbox"), back)
	hasAll(t, "explain", s.orange("task", "explain", string(id)), back)
	if s.git(s.repo, "rev-parse", "HEAD") != before || s.git(s.repo, "status", "--porcelain") != "" {
		t.Error("the checkout was touched")
	}
}

// Where work cannot be sent back, a person resolves the conflict and merges again.
func TestAConflictIsResolvedByAPersonWhereWorkCannotBeSentBack(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	s.withoutLandings("orange-direct")
	_, short, _ := strings.Cut(strings.Replace(diligent, "{task}.txt", "README", 1), "update --status working\n")
	id := s.create("feature", "worker:\n"+short)
	at := filepath.Join(s.home, "workspaces", s.reaches(id, "reviewing").Workspace)
	s.write("shop/README", "other\n")
	s.git(s.repo, "commit", "-qam", "meanwhile")
	s.refused("rebase feature onto main and resolve: README; do that in its workspace "+at+", then run orange task merge "+string(id), "task", "merge", string(id))
	s.git(at, "rebase", "-q", "-X", "theirs", "main")
	s.orange("task", "merge", string(id))
	s.reaches(id, "done")
}

func TestFiftyTasksShareThreeWorkspaces(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--pool-size", "3")
	const tasks = 50
	for i := range tasks {
		s.create(fmt.Sprintf("feature-%d", i), `
worker:
  - section: {name: Plan, text: "APPROACH: x"}
  - run: orange task update --status working
  - exit: 0
`)
	}
	held := map[string]bool{}
	var done []task.ID
	for end := time.Now().Add(5 * time.Minute); len(done) < tasks && time.Now().Before(end); {
		bound := map[string]int{}
		for _, got := range s.list() {
			id := got.ID
			if got.Workspace != "" {
				bound[got.Workspace]++
				held[got.Workspace] = true
			}
			if got.Status == "working" || got.Status == "stuck" { // its part is done: make room
				s.orange("task", "cancel", string(id), "--yes")
			}
			if got.Status == "cancelled" && got.Workspace == "" && !slices.Contains(done, id) {
				done = append(done, id)
			}
		}
		for name, n := range bound {
			if n > 1 {
				t.Fatalf("%d tasks hold %s", n, name)
			}
		}
	}
	if len(done) != tasks || len(held) != 3 {
		t.Errorf("%d of %d tasks had their turn, in %d workspaces", len(done), tasks, len(held))
	}
}

func TestBudgetsStopAgents(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--max-task-cost", "0.05")
	id := s.create("feature", `
worker:
  - usage: {input: 1000, output: 200, cost: 0.06}
  - exit: 1
`)
	s.await(id, "it crashed", func(t task.Task) bool { return t.Crashed == "worker" && t.Spent.CostMicroUSD == 60000 })
	s.orange("task", "respawn", string(id))
	got := s.await(id, "the budget says no", func(t task.Task) bool { return t.Attention != "" })
	if !strings.Contains(got.Attention, "the task has cost $0.06 of $0.05") || count(s.history(id), "agent.spawned") != 1 {
		t.Errorf("%q, %q", got.Attention, s.history(id))
	}
	if inbox := s.orange("inbox"); !strings.Contains(inbox, "budget") {
		t.Errorf("the inbox says %s", inbox)
	}
}

func TestFinishedWorkIsPushed(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	remote := filepath.Join(s.dir, "remote.git")
	s.git(s.dir, "init", "-q", "--bare", "-b", "main", remote)
	s.git(s.repo, "remote", "add", "origin", remote)
	s.git(s.repo, "push", "-q", "origin", "main")
	s.orange("project", "update", "shop", "--delivery", "push", "--trust-git")
	id := s.create("feature", diligent)
	s.reaches(id, "reviewing")
	if got, want := s.git(remote, "rev-parse", "feature"), s.git(s.repo, "rev-parse", "feature"); got != want {
		t.Errorf("the remote has %s, not %s", got, want)
	}
	s.orange("task", "merge", string(id))
	s.reaches(id, "done")
	if got, want := s.git(remote, "rev-parse", "main"), s.git(s.repo, "rev-parse", "main"); got != want {
		t.Errorf("the remote's main is %s, not %s", got, want)
	}
	if out := s.git(remote, "for-each-ref", "refs/heads/feature"); out != "" {
		t.Errorf("the merged branch is still there: %s", out)
	}
}

func TestAForkBeginsWhereTheTaskStood(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--pool-size", "3")
	id := s.create("feature", diligent)
	s.reaches(id, "reviewing")
	at := 0
	for i, e := range s.journal(id) {
		if e.To == "agent-review" {
			at = i + 1
		}
	}
	var out struct {
		Task task.Task `json:"task"`
	}
	check(t, json.Unmarshal([]byte(s.orange("task", "fork", fmt.Sprintf("%s@%d", id, at), "--json")), &out))
	fork := s.reaches(out.Task.ID, "reviewing")
	if fork.ForkOf != fmt.Sprintf("%s@%d", id, at) || fork.Branch != "feature-fork-1" {
		t.Errorf("%+v", fork)
	}
	if base := s.git(s.repo, "merge-base", "feature", fork.Branch); base != s.git(s.repo, "rev-parse", "feature") {
		t.Errorf("the fork begins at %s", base)
	}
}

func TestAnEditorMayReplaceTASKmd(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	id := s.create("feature", `
worker:
  - run: "cat TASK.md >new.md; printf '\n## Plan\n\nAPPROACH: written elsewhere\n' >>new.md; mv new.md TASK.md"
  - run: orange task update --status working
  - idle:
`)
	got := s.reaches(id, "working")
	link := filepath.Join(s.home, "workspaces", got.Workspace, "TASK.md")
	if target, err := os.Readlink(link); err != nil || !strings.Contains(target, string(id)) {
		t.Errorf("the link is not healed: %q, %v", target, err)
	}
	if out := s.orange("task", "show", string(id)); !strings.Contains(out, "written elsewhere") {
		t.Errorf("the words are lost: %s", out)
	}
	s.orange("task", "cancel", string(id), "--yes")
	s.reaches(id, "cancelled")
	s.orange("task", "delete", string(id), "--yes")
	if _, err := os.Stat(filepath.Join(s.home, "attempts", string(id))); !os.IsNotExist(err) {
		t.Errorf("the attempts of a deleted task are left: %v", err)
	}
}
