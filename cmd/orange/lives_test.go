package main

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/task"
	"orange/internal/host/agents"
)

var updateLives = flag.Bool("update-lives", false, "write the expected prompts of the second workers")

// finding is what a reviewer finds in each of the lives.
const finding = "cart.go:14 loses the coupon"

// Each built-in workflow has a life in which one review or QA fails. The prompt of the worker after it is kept in testdata/lives,
// so that it can be read.
func TestTheSecondWorkerGetsTheFindings(t *testing.T) {
	t.Parallel()
	const (
		mend = "Let customers pay with a coupon.\n\n- The total is never negative.\n- A coupon counts once."
		work = "  - commit: {file: cart.txt, text: \"{attempt}\\n\", message: add the cart}\n  - section: {name: Handoff, text: \"DONE: the cart; make test: ok\"}\n"
		over = "  - run: orange task update --status agent-review\n"
		fail = "reviewer:\n  - run: orange task verdict FAIL -m \"" + finding + "\"\n"
	)
	for _, life := range []struct {
		workflow string
		script   string
		back     func(s *env, id task.ID) // a person sends it back, where one must
		role     string
		attempt  int
		starts   string // the first line of the prompt
	}{
		{"orange", "worker:\n  - section: {name: Plan, text: \"APPROACH: a file\"}\n  - run: orange task update --status working\n" + work + over + "  - wait:\nworker#2:\n  - idle:\n" + fail,
			nil, "worker", 3, "# Resuming: do it"},
		{"orange-direct", "worker:\n" + work + over + "worker#2:\n  - idle:\n" + fail, nil, "worker", 3, "# Resuming: do it"},
		{"linear-sdlc", "development:\n" + work + "development#2:\n  - idle:\nqa:\n  - say: \"" + finding + "\\n\\n<!-- WORK_RESULT:failed nonce={nonce} -->\"\n",
			func(s *env, id task.ID) {
				s.await(id, "the work failed", func(t task.Task) bool { return t.WorkFailed != "" && len(t.Pending) == 0 })
				s.orange("task", "request-changes", string(id), "-m", "mend what QA found")
			}, "development", 3, "# Rework: do it"},
		{"cmat-feature", steps(map[string]string{"tester": "  - say: \"" + finding + "\"\n" + block("TESTS_FAILED: one of three"), "implementer#2": "  - idle:\n"}),
			func(s *env, id task.ID) {
				s.rests(id, "halted")
				s.orange("task", "update", string(id), "--status", "implementer")
			}, "implementer", 5, "# Task: do it"},
	} {
		t.Run(life.workflow, func(t *testing.T) {
			t.Parallel()
			s := openEnv(t, "headless", "--workflow", life.workflow)
			id := s.create("feat/login", life.script, "--context", mend)
			if life.back != nil {
				life.back(s, id)
			}
			s.recorded(id, life.workflow, life.role, life.attempt, life.starts, "The total is never negative.", "> "+finding)
		})
	}
	t.Run("joan-board", func(t *testing.T) {
		t.Parallel()
		s := openEnv(t, "headless", "--workflow", "joan-board")
		id := s.addCard("do it", "ba:\n"+result(true, "Complete", `{"add_tags": ["Ready"], "move_to_column": "Analyse"}`, "")+
			"architect:\n"+result(true, "A plan", `{"add_tags": ["Plan-Pending-Approval"], "remove_tags": ["Ready"]}`, "")+
			"architect#2:\n"+result(true, "Final", `{"add_tags": ["Planned"], "remove_tags": ["Plan-Pending-Approval"], "move_to_column": "Development"}`, "")+
			"dev:\n"+work+result(true, "The cart", `{"add_tags": ["Dev-Complete", "Design-Complete", "Test-Complete"], "remove_tags": ["Planned"], "move_to_column": "Review"}`, "")+
			"dev#2:\n  - idle:\n"+
			"reviewer:\n"+result(true, "Not good", `{"add_tags": ["Rework-Requested", "Planned"], "remove_tags": ["Dev-Complete", "Design-Complete", "Test-Complete"], "move_to_column": "Development", "add_comment": "blocking: `+finding+`"}`, ""),
			"--description", mend)
		s.waitsFor(id, "1", "Plan-Pending-Approval")
		s.orange("board", "tag", "1", "Plan-Approved", "--project", "shop")
		s.recorded(id, "joan-board", "dev", 6, "# Development (rework): do it", "> - The total is never negative.", "> - blocking: "+finding)
	})
}

// recorded compares the prompt of an attempt with the recorded file.
func (s *env) recorded(id task.ID, workflow, role string, attempt int, starts string, words ...string) {
	s.t.Helper()
	s.await(id, "the second "+role+" runs", func(t task.Task) bool {
		return slices.ContainsFunc(t.Attempts, func(a task.Attempt) bool { return a.Number == attempt && a.Role == role && a.Running })
	})
	got := s.prompt(id, attempt)
	if !strings.HasPrefix(got, starts+"\n") {
		s.t.Errorf("it begins otherwise:\n%s", got)
	}
	for _, w := range words {
		if strings.Count(got, w) != 1 {
			s.t.Errorf("%q is there %d times in\n%s", w, strings.Count(got, w), got)
		}
	}
	key, err := agents.LoadKey(filepath.Join(s.home, "token.key"))
	check(s.t, err)
	nonce := agents.New(agents.AgentOptions{Key: key}).AttemptNonce
	pairs := []string{string(id), "0123456789abcdefghijk"}
	for n := 1; n <= attempt; n++ {
		pairs = append(pairs, nonce(agents.Key{Task: id, Number: n}), "1f0c22ab")
	}
	got = strings.NewReplacer(pairs...).Replace(got) + "\n"
	file := filepath.Join("testdata", "lives", workflow+".txt")
	if *updateLives {
		check(s.t, os.MkdirAll(filepath.Dir(file), 0o755))
		check(s.t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	check(s.t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		s.t.Errorf("%s: - want, + got (go test -update-lives writes it)\n%s", file, diff)
	}
}

// The agent that helps gets the reason why the task is stuck, in the words of its report: a new agent, or the worker that lives
// and stands in for it.
func TestTheFixerGetsTheNote(t *testing.T) {
	t.Parallel()
	const note = "orange task update --status stuck --note \"the registry is down\""
	s := openEnv(t, "headless", "--workflow", "orange-direct")
	id := s.create("feature", "worker:\n  - run: "+note+"\nfixer:\n  - idle:\n")
	s.await(id, "the fixer runs", func(t task.Task) bool {
		a, ok := t.LiveAttempt("fixer")
		return ok && a.Running
	})
	hasAll(t, "what the fixer is told", s.prompt(id, 2), "# Stuck: do it", "Why the task is at stuck.", "> Note of the worker: the registry is down")

	s = openEnv(t, "tmux")
	id = s.create("feature", "worker:\n  - section: {name: Plan, text: \"APPROACH: x\"}\n  - run: orange task update --status working\n  - run: "+note+"\n  - wait:\n  - idle:\n")
	s.reaches(id, "stuck")
	s.eventually("the worker that lives is told", func() bool {
		text, err := os.ReadFile(filepath.Join(string(s.folder(id, 1)), "output.log"))
		return err == nil && strings.Contains(string(text), "Note of the worker: the registry is down")
	})
}

// The forge is not polled here: QA gets the pull request as it is when QA starts.
func TestQAGetsThePresentPullRequest(t *testing.T) {
	t.Parallel()
	s, h := openHub(t, "--workflow", "linear-sdlc", "--pool-size", "3")
	id := s.create("feature", "development:\n  - commit: {file: a.txt, text: \"a\\n\", message: a}\nqa:\n  - run: \"while ! test -e ../../../go; do sleep 0.05; done\"\n  - exit: 1\nqa#2:\n  - idle:\n")
	s.await(id, "the QA runs", func(t task.Task) bool { a, ok := t.LiveAttempt("qa"); return ok && a.Running })
	got := s.task(id)
	hasAll(t, "the QA", s.prompt(id, 2), "The pull request is "+got.PRURL+" open.")
	h.ClosePull(t, pullOf(s, got))
	s.write("go", "")
	s.await(id, "the QA is gone", func(t task.Task) bool { _, ok := t.LiveAttempt("qa"); return !ok })
	s.orange("task", "respawn", string(id))
	s.await(id, "the second QA runs", func(t task.Task) bool { a, ok := t.LiveAttempt("qa"); return ok && a.Number == 3 && a.Running })
	hasAll(t, "the second QA", s.prompt(id, 3), "The pull request is "+got.PRURL+" closed.", "# QA: do it")

	bare := s.create("bare", "qa:\n  - idle:\n", "--status", "Finished")
	s.await(bare, "its QA runs", func(t task.Task) bool { a, ok := t.LiveAttempt("qa"); return ok && a.Running })
	hasAll(t, "a QA without one", s.prompt(bare, 1), "There is no pull request for branch bare", "report that the work failed, and explain that no pull request was found")
}
