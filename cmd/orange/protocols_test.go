package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/task"
)

func TestAnIssueFromDispatchToDone(t *testing.T) {
	everywhere(t, "linear-sdlc", func(t *testing.T, s *env) {
		id := s.addCard("Login", `
development:
  - commit: {file: login.txt, text: "form\n", message: add the form}
  - usage: {input: 1000, output: 100, cost: 0.01}
  - say: The form is there.
qa:
  - usage: {input: 200, output: 20, cost: 0.002}
  - say: "I tried it.\n\n`+passed+`"
acceptance:
  - usage: {input: 30, output: 3, cache: 7, cost: 0.0003}
  - say: "Ship it.\n\n`+passed+`"
`)
		got := s.rests(id, "Accepted")
		s.wayIs(id, "Backlog", "Started", "Finished", "Delivered", "Merging", "Accepted")
		if got.Workspace != "" || got.TmuxSession != "" {
			t.Errorf("%+v", got)
		}
		if text, err := os.ReadFile(filepath.Join(s.repo, "login.txt")); err != nil || string(text) != "form\n" {
			t.Errorf("the work is not in the default branch: %q, %v", text, err)
		}
		_, comments := s.card("1")
		said := strings.Join(texts(comments), "\n--\n")
		hasAll(t, "the card", said, "development: The form is there.", "qa: I tried it.", "acceptance: Ship it.")
		if len(comments) != 3 {
			t.Errorf("%d comments:\n%s", len(comments), said)
		}
		hasAll(t, "the cost", s.orange("task", "cost", string(id)), "1230", "123", "$0.0123")
		s.sound(id)
	})
}

// Agents that repeat the text of an issue, markers and all, merge nothing.
func TestAgentsThatRepeatTheIssueMergeNothing(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "linear-sdlc")
	id := s.create("feature", `
development:
  - commit: {file: a.txt, text: "a\n", message: a}
qa:
  - say: "The issue ends like this:\n\n<!-- WORK_RESULT:passed -->"
qa#2:
  - idle:
`)
	got := s.await(id, "the qa gave no answer", func(t task.Task) bool { return t.CounterValue("no_answer") > 0 })
	if got.Status != "Finished" {
		t.Errorf("it is %s", got.Status)
	}
	silent := s.entries(id, journal.AgentSilent)
	if len(silent) == 0 || !strings.Contains(silent[0].Reason, "the mark is missing") {
		t.Errorf("%+v", silent)
	}
}

func TestAnAgentThatDoesNotSayHowItWentIsAsked(t *testing.T) {
	everywhere(t, "linear-sdlc", func(t *testing.T, s *env) {
		id := s.addCard("Login", `
development:
  - commit: {file: a.txt, text: "a\n", message: a}
qa:
  - say: It all looks fine to me.
qa#2:
  - run: "while ! test -e ../../../go; do sleep 0.02; done"
  - say: "`+passed+`"
acceptance:
  - idle:
`)
		s.await(id, "the qa is asked", func(t task.Task) bool {
			a, ok := t.LiveAttempt("qa")
			return ok && a.Number == 3 && a.Running
		})
		item := s.wanted(id)
		if item.Kind != explain.ItemNoAnswer || item.Status != "Finished" {
			t.Errorf("the inbox says %+v", item)
		}
		hasAll(t, "the inbox", item.Text, "the qa did not report its outcome")
		s.follows(item)
		words := s.prompt(id, 3)
		hasAll(t, "the question", words, "you did not say how it went so that it counts", "<!-- WORK_RESULT:passed nonce=")
		if strings.Contains(words, "# QA") || strings.Contains(words, "An earlier session of this work ended early") {
			t.Errorf("the work is asked for again: %s", words)
		}
		s.write("go", "")
		s.await(id, "the word counts", func(t task.Task) bool { return t.Status == "Delivered" && len(t.Pending) == 0 })
		_, comments := s.card("1")
		said := strings.Join(texts(comments), "\n--\n")
		hasAll(t, "the card", said, "no structured result marker was detected", "The status was NOT updated", "<!-- WORK_RESULT:passed -->", "<!-- WORK_RESULT:failed -->")
		if n := len(s.entries(id, journal.AgentSilent)); n != 1 {
			t.Errorf("%d ends without an answer: %q", n, s.history(id))
		}
		s.wayIs(id, "Backlog", "Started", "Finished", "Delivered")
		s.sound(id)
	})
}

func TestAnAgentThatNeverSaysHowItWentIsHalted(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "linear-sdlc")
	id := s.create("feature", `
development:
  - commit: {file: a.txt, text: "a\n", message: a}
qa:
  - say: I cannot decide.
qa#4:
  - run: "grep -q 'the blue one' TASK.md && touch ../../../read"
  - say: "`+passed+`"
acceptance:
  - say: "`+passed+`"
`)
	got := s.await(id, "the second try is over", func(t task.Task) bool { return t.CounterValue("no_answer") == 2 })
	if got.RespawnAt.IsZero() || got.Status != "Finished" || got.Crashed != "" {
		t.Errorf("%+v", got)
	}
	s.orange("task", "respawn", string(id)) // nobody waits for the third
	got = s.rests(id, "Halted")
	if got.ReturnTo != "Finished" || got.CounterValue("crash_count") != 0 {
		t.Errorf("%+v", got)
	}
	item := s.wanted(id)
	if item.Kind != explain.ItemStuck {
		t.Errorf("the inbox says %+v", item)
	}
	hasAll(t, "the inbox", item.Text, "qa")
	hasAll(t, "the inbox", item.Do, "orange task answer "+string(id))
	hasAll(t, "the third", s.prompt(id, 4), "An earlier session of this work ended early", "# QA: do it")
	s.orange("task", "answer", string(id), "the blue one")
	s.rests(id, "Accepted")
	if !s.has("read") {
		t.Error("the answer was not in TASK.md")
	}
	s.wayIs(id, "Backlog", "Started", "Finished", "Halted", "Finished", "Delivered", "Merging", "Accepted")
	s.sound(id)
}

func TestWorkThatFailedWaitsForAPerson(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "linear-sdlc")
	id := s.addCard("Login", `
development:
  - commit: {file: a.txt, text: "one\n", message: one}
development#2:
  - run: "grep -q 'rounder corners' TASK.md && touch ../../../read"
  - commit: {file: a.txt, text: "two\n", message: two}
qa:
  - say: "a.txt:1 is wrong.\n`+failed+`"
qa#3:
  - say: "`+passed+`"
acceptance:
  - say: "`+passed+`"
`)
	failedOnce := s.await(id, "it is held", func(t task.Task) bool { return t.WorkFailed != "" && len(t.Attempts) == 0 && len(t.Pending) == 0 })
	if failedOnce.Status != "Finished" || !failedOnce.RespawnAt.IsZero() || failedOnce.Crashed != "" {
		t.Errorf("%+v", failedOnce)
	}
	item := s.wanted(id)
	if item.Kind != explain.ItemFailed {
		t.Errorf("the inbox says %+v", item)
	}
	hasAll(t, "the inbox", item.Text, "qa says failed", "it is your turn", "send it back to the development", "orange task respawn "+string(id))
	_, comments := s.card("1")
	hasAll(t, "the card", strings.Join(texts(comments), "\n"), "qa: a.txt:1 is wrong.")

	s.orange("task", "respawn", string(id)) // the person does not believe it
	s.await(id, "it failed again", func(t task.Task) bool {
		return t.WorkFailed != "" && t.AttemptsOfRole("qa") == 2 && len(t.Pending) == 0
	})
	s.orange("task", "request-changes", string(id), "-m", "rounder corners")
	s.rests(id, "Accepted") // a person's word ends the cooldown
	if !s.has("read") {
		t.Error("what the person wants was not in TASK.md")
	}
	s.wayIs(id, "Backlog", "Started", "Finished", "Started", "Finished", "Delivered", "Merging", "Accepted")
	s.sound(id)
}

func TestTextThatDoesNotCountMovesNothing(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "linear-sdlc", "--pool-size", "6")
	cases := []struct{ name, say, why string }{
		{"fence", "```\n<!-- WORK_RESULT:passed nonce={nonce} -->\n```", "in a code fence"},
		{"quote", "> <!-- WORK_RESULT:passed -->", "in a block quote"},
		{"both", "<!-- WORK_RESULT:passed -->\n<!-- WORK_RESULT:failed -->", "keep one marker"},
		{"nonce", "<!-- WORK_RESULT:passed nonce=NONCE -->", "and the prompt gave"},
		{"block", "---\nagent: qa\ntask_id: {task}\nstatus: PASSED\n---", ""},
		{"json", `{"success": true, "summary": "x", "worker_type": "qa", "task_id": "{task}", "joan_actions": {}}`, ""},
	}
	ids := map[string]task.ID{}
	for _, c := range cases {
		ids[c.name] = s.create(c.name, `
development:
  - commit: {file: "`+c.name+`.txt", text: "a\n", message: a}
  - run: "sed -i s/NONCE/$ORANGE_NONCE/ ../../../scripts/`+c.name+`.yaml"
qa:
  - say: |
      `+strings.ReplaceAll(c.say, "\n", "\n      ")+`
qa#2:
  - idle:
`)
	}
	for _, c := range cases {
		id := ids[c.name]
		s.await(id, c.name+": the qa is asked", func(t task.Task) bool {
			a, ok := t.LiveAttempt("qa")
			return ok && a.Number == 3 && a.Running
		})
		s.wayIs(id, "Backlog", "Started", "Finished")
		silent := s.entries(id, journal.AgentSilent)
		if len(silent) != 1 || silent[0].LastReport == nil || silent[0].LastReport.Outcome == "passed" {
			t.Errorf("%s: %+v", c.name, silent)
			continue
		}
		hasAll(t, c.name+": the reason", silent[0].Reason, c.why)
		hasAll(t, c.name+": explain", s.orange("task", "explain", string(id)), c.why)
		hasAll(t, c.name+": history", s.orange("task", "history", string(id)), c.why)
	}
	s.sound()
}

func TestAGuessedReportDoesNotMerge(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "linear-sdlc")
	id := s.create("feature", `
development:
  - commit: {file: a.txt, text: "a\n", message: a}
qa:
  - say: "## QA Passed"
qa#2:
  - say: "`+passed+`"
acceptance:
  - say: "## Acceptance Complete"
acceptance#2:
  - idle:
`)
	s.await(id, "the acceptance is asked", func(t task.Task) bool { return t.Status == "Delivered" && t.AttemptsOfRole("acceptance") == 2 })
	s.wayIs(id, "Backlog", "Started", "Finished", "Delivered")
	said := s.entries(id, journal.AgentSilent)
	if len(said) != 2 {
		t.Fatalf("%+v", said)
	}
	for i, why := range []string{"the mark is missing", "not enough for a merge"} {
		if !strings.Contains(said[i].Reason, why) {
			t.Errorf("%q, want %q", said[i].Reason, why)
		}
	}
	if s.git(s.repo, "log", "--format=%s", "main") != "begin" {
		t.Error("it was merged")
	}
}

func TestAParentWaitsForItsChildren(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "linear-sdlc", "--pool-size", "3")
	parent := s.create("parent", `
qa-coordination:
  - run: "while ! test -e ../../../go; do sleep 0.02; done"
  - say: "`+passed+`"
acceptance-coordination:
  - say: "`+passed+`"
`, "--no-spawn")
	issue := `
development:
  - run: "while ! test -e ../../../{task}; do sleep 0.02; done"
  - commit: {file: "{task}.txt", text: "a\n", message: a}
qa:
  - say: "` + passed + `"
acceptance:
  - say: "` + passed + `"
`
	one := s.create("one", issue, "--parent", string(parent))
	two := s.create("two", issue, "--parent", string(parent))
	s.orange("task", "spawn", string(parent))
	s.rests(parent, "Coordinating")
	if item := s.wanted(parent); item.Kind != "" {
		t.Errorf("nobody is wanted: %+v", item)
	}
	s.refused("children", "task", "complete", string(parent))
	s.write(string(one), "")
	s.rests(one, "Accepted")
	if got := s.task(parent); got.Status != "Coordinating" || got.Parent != "" || s.task(one).Parent != parent {
		t.Errorf("%+v", got)
	}
	s.write(string(two), "")
	s.rests(two, "Accepted") // main has moved: it is merged with a commit of its own
	if got := s.task(parent); got.Status != "Finished-parent" {
		t.Errorf("%+v", got)
	}
	s.write("go", "")
	s.rests(parent, "Accepted")
	s.wayIs(parent, "Backlog", "Coordinating", "Finished-parent", "Delivered-parent", "Accepted")
	s.sound(parent, one, two)
}

func TestTheNextServerNotifiesAParent(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "linear-sdlc")
	parent := s.create("parent", "qa-coordination:\n  - idle:\n", "--no-spawn")
	child := s.create("child", "development:\n  - commit: {file: a.txt, text: \"a\\n\", message: a}\n  - run: \"touch ../../../done\"\n  - idle:\nqa:\n  - idle:\n", "--parent", string(parent))
	s.orange("task", "spawn", string(parent))
	s.rests(parent, "Coordinating")
	s.eventually("the child is worked on", func() bool { return s.has("done") })
	first := s.crashingServer(1, "commit.after")
	s.run("task", "complete", string(child)) //nolint:errcheck // the server dies before it answers
	if err := first.Wait(); !killed(err) {
		t.Errorf("the server was not killed: %v", err)
	}
	if got := s.task(child); got.Status != "Finished" {
		t.Errorf("%+v", got)
	}
	s.reaches(parent, "Finished-parent")
	s.reaches(child, "Finished")
	s.sound(parent)
}

// TestTheEndOfATurnIsEnough lets agents at a terminal say how it went and stay: they are
// ended, and what they said has moved the task.
func TestTheEndOfATurnIsEnough(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux", "--workflow", "linear-sdlc")
	id := s.addCard("Login", `
development:
  - commit: {file: a.txt, text: "a\n", message: a}
  - say: "Done.\n`+passed+`"
  - idle:
qa:
  - run: echo $PPID >../../../pid
  - say: Let me see.
  - wait:
  - say: "It works.\n`+passed+`"
  - wait:
acceptance:
  - say: "It is not what was asked for.\n`+failed+`"
  - idle:
`)
	s.await(id, "the qa ended its turn without a word about it", func(t task.Task) bool {
		a, ok := t.LiveAttempt("qa")
		return ok && a.Condition.Name == task.Idle
	})
	if got := s.task(id); got.Status != "Finished" || got.CounterValue("no_answer") != 0 {
		t.Errorf("%+v", got)
	}
	agent := s.alive(id, 2).Child.PID
	if _, err := s.tmux("send-keys", "-t", "=shop/"+s.task(id).Branch+":=qa-2", "Go on.", "Enter"); err != nil {
		t.Fatal(err)
	}
	got := s.rests(id, "Delivered")
	if !strings.Contains(got.WorkFailed, "failed") || !gone(agent) {
		t.Errorf("agent %d gone: %v; %+v", agent, gone(agent), got)
	}
	s.wayIs(id, "Backlog", "Started", "Finished", "Delivered")
	_, comments := s.card("1")
	if said := texts(comments); len(said) != 3 || !strings.HasPrefix(said[1], "qa: It works.") {
		t.Errorf("%q", said)
	}
	s.sound(id)
}
