package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"orange/internal/adapter/sqlite"
	"orange/internal/core/board"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// result is how a worker of a board says how it went; more is in JSON and begins with a
// comma.
func result(success bool, summary, actions, more string) string {
	return fmt.Sprintf("  - say: |\n      {\"success\": %t, \"summary\": %q, \"worker_type\": \"{role}\", \"task_id\": \"{task}\", \"joan_actions\": %s%s}\n", success, summary, actions, more)
}

// demonstration is the life that scripts/demo-board.sh shows.
func demonstration() string {
	return "ba:\n" + result(true, "The requirements are complete",
		`{"add_tags": ["Ready"], "move_to_column": "Analyse", "add_comment": "ALS/1\nactor: ba\nintent: decision\naction: mark-ready\nsummary: Ready to be planned."}`,
		`, "stage_context": {"from_stage": "ba", "to_stage": "architect", "key_decisions": ["Sessions, no tokens"]}`) +
		"architect:\n  - usage: {input: 100, output: 10, cost: 0.01}\n" + result(true, "A plan with two steps",
		`{"add_tags": ["Plan-Pending-Approval"], "remove_tags": ["Ready"], "update_description": "Customers want to log in.\n\n## Plan\n- [ ] a form"}`, "") +
		"architect#2:\n" + result(true, "The plan is final",
		`{"add_tags": ["Planned"], "remove_tags": ["Plan-Pending-Approval"], "move_to_column": "Development"}`,
		`, "stage_context": {"from_stage": "architect", "to_stage": "dev", "key_decisions": ["The form goes to login.txt"]}`) +
		"architect#3:\n" + result(true, "Keep both", `{"add_comment": "Take the header from main."}`, "") +
		"dev:\n" + result(false, "The build server is down", `{"add_tags": ["Dev-Complete"]}`,
		`, "errors": ["cannot reach the build server"], "needs_human": "start the build server"`) +
		"dev#2:\n  - usage: {input: 1000, output: 100, cost: 0.1}\n  - commit: {file: login.txt, text: \"form\\n\", message: add the form}\n" + result(true, "The form is there",
		`{"add_tags": ["Dev-Complete", "Design-Complete", "Test-Complete"], "remove_tags": ["Planned"], "move_to_column": "Review"}`,
		`, "git_actions": {"commit_made": true, "files_changed": ["login.txt"]}, "stage_context": {"from_stage": "dev", "to_stage": "reviewer", "key_decisions": ["One file"]}`) +
		"reviewer:\n" + result(true, "Approved", `{"add_tags": ["Review-Approved", "Ops-Ready"]}`, "") +
		"ops:\n" + result(true, "A conflict that needs a decision", `{"add_tags": ["Invoke-Architect"]}`,
		`, "invoke_agent": {"agent_type": "architect", "mode": "advisory-conflict", "context": {"reason": "Both sides changed the header", "question": "Which header stays?"},
       "resume_as": {"agent_type": "ops", "mode": "merge-with-guidance"}}`) +
		"ops#2:\n" + result(true, "Ready to be merged",
		`{"remove_tags": ["Review-Approved", "Dev-Complete", "Design-Complete", "Test-Complete"], "move_to_column": "Deploy"}`, "")
}

// waitsFor waits until a card waits for a person and carries a tag.
func (s *env) waitsFor(id task.ID, number, tag string) {
	s.t.Helper()
	s.await(id, "the card waits with "+tag, func(t task.Task) bool {
		return t.Status == "board" && len(t.Pending) == 0 && t.CardSnapshot != nil && slices.Contains(t.CardSnapshot.Tags, tag)
	})
	if card, _ := s.card(number); !slices.Contains(card.Tags, tag) || card.Claim != nil {
		s.t.Errorf("%+v", card)
	}
}

// saidOnce makes sure that each of the words is in one comment of a card.
func (s *env) saidOnce(number string, words ...string) {
	s.t.Helper()
	_, comments := s.card(number)
	said := texts(comments)
	for _, w := range words {
		if n := len(slices.DeleteFunc(slices.Clone(said), func(text string) bool { return !strings.Contains(text, w) })); n != 1 {
			s.t.Errorf("%d comments say %q:\n%s", n, w, strings.Join(said, "\n--\n"))
		}
	}
}

func TestACardGoesOverTheBoard(t *testing.T) {
	everywhere(t, "joan-board", func(t *testing.T, s *env) {
		id := s.addCard("Login", demonstration(), "--description", "Customers want to log in.")
		s.waitsFor(id, "1", "Plan-Pending-Approval")
		item := s.wanted(id)
		if item.Kind != explain.ItemBoard {
			t.Errorf("the inbox says %+v", item)
		}
		hasAll(t, "the inbox", item.Text, "Plan-Approved", "Plan-Rejected")
		s.orange("board", "tag", "1", "Plan-Approved", "--project", "shop")
		s.waitsFor(id, "1", "Implementation-Failed")
		if card, _ := s.card("1"); slices.Contains(card.Tags, "Dev-Complete") || card.Column != "Development" {
			t.Errorf("a failed worker's wishes were done: %+v", card)
		}
		if item := s.wanted(id); item.Kind != explain.ItemAttention || !strings.Contains(item.Text, "start the build server") {
			t.Errorf("the inbox says %+v", item)
		}
		s.orange("board", "tag", "1", "--remove", "Implementation-Failed", "--project", "shop")
		s.waitsFor(id, "1", "Review-Approved")
		hasAll(t, "what the developer was told", s.prompt(id, 5), "The form goes to login.txt", "## Plan")
		s.orange("board", "tag", "1", "Ops-Ready", "--project", "shop")
		got := s.rests(id, "done")
		s.wayIs(id, "board", "ba-evaluate", "board", "architect-plan", "board", "architect-finalize", "board", "dev-implement", "board", "dev-implement",
			"board", "review", "board", "ops-merge", "consult-architect", "ops-guided", "board", "merging", "done")
		card, _ := s.card("1")
		if len(card.Tags) != 0 || card.Claim != nil || got.Workspace != "" || !strings.Contains(card.Description, "## Plan") {
			t.Errorf("%+v, %+v", card, got)
		}
		s.saidOnce("1", "Ready to be planned.", "- Sessions, no tokens", "A plan with two steps", "- error: cannot reach the build server",
			"summary: The form is there", "not done: tag Ops-Ready is not the reviewer's to set", "Take the header from main.")
		hasAll(t, "what the architect is asked", s.prompt(id, 8), "Both sides changed the header", "Which header stays?")
		hasAll(t, "what operations hear", s.prompt(id, 9), "Take the header from main.")
		hasAll(t, "the cost", s.orange("task", "cost", string(id)), "1100", "110", "$0.11")
		if s.git(s.repo, "log", "--format=%s", "-1", "main") != "add the form" {
			t.Error("the work is not in the default branch")
		}
		s.sound(id)
	})
}

func TestAWorkerGetsOnlyWhatItMayAskFor(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "joan-board")
	id := s.addCard("Login", "ba:\n"+result(true, "All of it",
		`{"add_tags": ["Ready", "Urgent", "Plan-Approved"], "remove_tags": ["Nope"], "move_to_column": "Somewhere", "update_description": "Mine now."}`, "")+
		"ba#2:\n"+result(true, "Once more", `{"move_to_column": "Done", "add_tags": ["Needs-Clarification"]}`, `, "git_actions": {"branch_created": "mine", "commit_made": true, "pr_created": {"number": 7, "url": "https://forge.example/pull/7", "title": "x"}}`)+
		"ba#3:\n  - idle:\n", "--description", "Customers want to log in.")
	s.await(id, "it rests with Ready", func(t task.Task) bool {
		return t.Status == "board" && len(t.Pending) == 0 && t.AttemptsOfRole("ba") == 1
	})
	card, _ := s.card("1")
	if !slices.Equal(card.Tags, []string{"Ready"}) || card.Column != "To Do" || card.Description != "Mine now." {
		t.Errorf("%+v", card)
	}
	s.saidOnce("1", `not done: tag "Urgent" is not known on this board`, "not done: tag Plan-Approved is not the ba's to set", `not done: tag "Nope" is not known on this board`,
		`not done: column "Somewhere" is not known on this board`)
	s.orange("board", "tag", "1", "--remove", "Ready", "--project", "shop")
	s.alive(id, 3)
	if card, _ := s.card("1"); card.Column != "To Do" || !slices.Equal(card.Tags, []string{"Needs-Clarification"}) {
		t.Errorf("%+v", card)
	}
	s.saidOnce("1", "not done: moving a card to Done is not the ba's to ask for", `it names branch "mine"`, "it claims a commit", "does not deliver work as pull requests")
	var rejected []string
	for _, e := range s.journal(id) {
		rejected = append(rejected, e.Rejected...)
	}
	if len(rejected) != 6 {
		t.Errorf("%q", rejected)
	}
	s.sound(id)
}

func TestResultsThatDoNotCountMoveNoCard(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "joan-board", "--pool-size", "4")
	say := func(worker, id, more string) string {
		return fmt.Sprintf("ba:\n  - say: |\n      {\"success\": true, \"summary\": \"x\", \"worker_type\": %q, \"task_id\": %q, \"joan_actions\": {\"add_tags\": [\"Ready\"]}%s}\nba#2:\n  - idle:\n", worker, id, more)
	}
	cases := []struct{ name, script, why string }{
		{"Foreign", say("ba", "0123456789abcdefghijk", ""), "0123456789abcdefghijk"},
		{"Architect", say("architect", "{task}", ""), "architect"},
		{"Nonce", say("ba", "{task}", `, "nonce": "deadbeef"`), "deadbeef"},
		{"Tags", strings.Replace(say("ba", "{task}", ""), `["Ready"]`, `"Ready"`, 1), "add_tags"},
	}
	for i, c := range cases {
		id := s.addCard(c.name, c.script)
		s.await(id, c.name+": the ba is asked", func(t task.Task) bool {
			a, ok := t.LiveAttempt("ba")
			return ok && a.Number == 2 && a.Running
		})
		s.wayIs(id, "board", "ba-evaluate")
		silent := s.entries(id, journal.AgentSilent)
		if len(silent) != 1 {
			t.Fatalf("%s: %q", c.name, s.history(id))
		}
		hasAll(t, c.name+": the reason", silent[0].Reason, c.why)
		hasAll(t, c.name+": explain", s.orange("task", "explain", string(id)), c.why)
		card, comments := s.card(strconv.Itoa(i + 1))
		if len(card.Tags) != 0 || len(comments) != 1 || !strings.Contains(comments[0].Text, "The status was NOT updated") {
			t.Errorf("%s: %+v, %q", c.name, card, texts(comments))
		}
	}
}

func TestWhatAPersonDoesMeanwhileCounts(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "joan-board")
	waits := "  - run: \"touch ../../../{role}-{attempt}; while ! test -e ../../../go-{attempt}; do sleep 0.02; done\"\n"
	id := s.addCard("Login", "architect:\n"+waits+result(true, "A plan",
		`{"add_tags": ["Plan-Pending-Approval"], "remove_tags": ["Ready"], "update_description": "The plan of the agent."}`, "")+
		"architect#2:\n"+result(true, "Another plan", `{"update_description": "A better plan."}`, "")+
		"architect#3:\n  - idle:\n", "--column", "Analyse", "--tag", "Ready", "--description", "Customers want to log in.")
	s.eventually("the architect is at work", func() bool { return s.has("architect-1") })
	s.orange("board", "describe", "1", "Customers want to log in, with a key.", "--project", "shop")
	s.orange("board", "tag", "1", "Plan-Rejected", "--project", "shop")
	if got := s.task(id); got.Status != "architect-plan" {
		t.Errorf("%+v", got)
	}
	s.write("go-1", "")
	// The rejection was on the card before the plan was: it counts as soon as the card is read.
	s.await(id, "the plan is made again", func(t task.Task) bool {
		return t.Status == "board" && t.AttemptsOfRole("architect") == 2 && len(t.Pending) == 0
	})
	s.wayIs(id, "board", "architect-plan", "board", "architect-revise", "board")
	notes := 0
	for _, e := range s.journal(id) {
		if e.Receipt != nil && strings.Contains(e.Receipt.Note, "somebody changed the description meanwhile") {
			notes++
		}
	}
	card, _ := s.card("1")
	if card.Description != "A better plan." || notes != 1 || !slices.Equal(card.Tags, []string{"Plan-Pending-Approval"}) {
		t.Errorf("%d notes, %+v", notes, card)
	}
	hasAll(t, "what the architect is told", s.prompt(id, 2), "Customers want to log in, with a key.")
	hasAll(t, "history", s.orange("task", "history", string(id)), "somebody changed the description meanwhile: it stays")
	s.sound(id)
}

func TestOneDeveloperAtATime(t *testing.T) {
	everywhere(t, "joan-board", func(t *testing.T, s *env) {
		s.orange("project", "update", "shop", "--pool-size", "3")
		script := "dev:\n  - run: \"mkdir ../../../alone && touch ../../../{task}\"\n    must: true\n  - run: \"while ! test -e ../../../go; do sleep 0.02; done\"\n" +
			"  - commit: {file: \"{task}.txt\", text: \"x\\n\", message: do it}\n  - run: \"rmdir ../../../alone\"\n    must: true\n" +
			result(true, "Done", `{"add_tags": ["Dev-Complete"], "remove_tags": ["Planned"], "move_to_column": "Review"}`, "") +
			"  - wait\n" // at a terminal it stays, and is ended
		var ids []task.ID
		for _, title := range []string{"One", "Two", "Three"} {
			ids = append(ids, s.addCard(title, script, "--column", "Development", "--tag", "Planned"))
		}
		s.eventually("the first is at work", func() bool { return s.has(string(ids[0])) })
		for _, id := range ids[1:] {
			got := s.await(id, "it waits for its turn", func(t task.Task) bool { return t.Queued && len(t.Pending) == 0 })
			if got.Status != "board" || len(got.Attempts) != 0 || s.wanted(id).Kind != "" {
				t.Errorf("%+v, %+v", got, s.wanted(id))
			}
		}
		s.killServer() // who works is known again, and who waits
		if got := s.task(ids[1]); got.Status != "board" {
			t.Errorf("%+v", got)
		}
		s.write("go", "")
		for i, id := range ids {
			s.waitsFor(id, strconv.Itoa(i+1), "Dev-Complete")
			s.wayIs(id, "board", "dev-implement", "board")
		}
		s.sound(ids...)
	})
}

func TestOneDeveloperAtATimeDespiteFailures(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "joan-board", "--pool-size", "3")
	done := result(true, "Done", `{"add_tags": ["Dev-Complete"], "remove_tags": ["Planned"], "move_to_column": "Review"}`, "")
	const commit = "  - commit: {file: a.txt, text: a, message: a}\n"
	first := s.addCard("First", "dev:\n  - run: \"touch ../../../begun; while ! test -e ../../../die; do sleep 0.02; done\"\n  - die: KILL\n"+
		"dev#2:\n"+result(true, "Which one?", `{}`, `, "invoke_agent": {"agent_type": "architect", "mode": "advise", "context": {"reason": "two ways"}, "resume_as": {"agent_type": "dev", "mode": "implement"}}`)+
		"dev#3:\n  - run: \"touch ../../../again; while ! test -e ../../../go; do sleep 0.02; done\"\n"+commit+done+
		"architect:\n  - run: \"touch ../../../asked; while ! test -e ../../../advice; do sleep 0.02; done\"\n"+result(true, "The first", `{}`, ""),
		"--column", "Development", "--tag", "Planned")
	s.eventually("the first is at work", func() bool { return s.has("begun") })
	second := s.addCard("Second", "dev:\n"+commit+done, "--column", "Development", "--tag", "Planned")
	s.await(second, "it waits for its turn", func(t task.Task) bool { return t.Queued && len(t.Pending) == 0 })
	stillWaits := func(when string) {
		t.Helper()
		s.orange("board", "comment", "2", "Now?", "--project", "shop") // a reader of the card finds the group taken
		if got := s.task(second); got.AttemptsOfRole("dev") != 0 {
			t.Errorf("%s a second developer was started", when)
		}
	}
	s.write("die", "")
	s.await(first, "the developer died", func(t task.Task) bool { return t.Crashed == "dev" && !t.RespawnAt.IsZero() })
	stillWaits("while the first was dead")
	s.orange("task", "respawn", string(first))
	s.eventually("the architect is asked", func() bool { return s.has("asked") })
	stillWaits("while the first waited for advice")
	s.write("advice", "")
	s.eventually("the first goes on", func() bool { return s.has("again") })
	stillWaits("while the first went on")
	s.write("go", "")
	s.waitsFor(first, "1", "Dev-Complete")
	s.waitsFor(second, "2", "Dev-Complete")
}

func TestNoCardStaysClaimed(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "joan-board")
	id := s.addCard("Login", "dev:\n  - die: KILL\ndev#3:\n  - idle:\n", "--column", "Development", "--tag", "Planned")
	s.await(id, "the developer died", func(t task.Task) bool { return t.Crashed == "dev" && len(t.Pending) == 0 })
	if card, _ := s.card("1"); card.Claim == nil || card.Claim.Owner != string(id) || !slices.Contains(card.Tags, "Claimed-Dev-1") {
		t.Errorf("%+v", card)
	}
	free := func() {
		t.Helper()
		if card, _ := s.card("1"); card.Claim != nil || !slices.Equal(card.Tags, []string{"Planned"}) {
			t.Errorf("%+v", card)
		}
	}
	s.orange("task", "respawn", string(id))
	s.rests(id, "halted")
	free()
	s.orange("task", "update", string(id), "--status", "board")
	agent := s.alive(id, 3).Child.PID
	if card, _ := s.card("1"); card.Claim == nil {
		t.Errorf("%+v", card)
	}
	s.orange("task", "cancel", string(id), "--yes")
	s.rests(id, "cancelled")
	free()
	if !gone(agent) {
		t.Error("the developer works on")
	}
}

func TestAPersonsActionBeforeACrashIsReported(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless", "--workflow", "joan-board")
	id := s.addCard("Login", "ba:\n  - idle:\n", "--tag", "Ready")
	s.await(id, "it rests", func(t task.Task) bool { return t.Status == "board" && t.CardSnapshot != nil && len(t.Pending) == 0 })
	s.orange("stop")
	// A server that is killed after the card was changed and before the task was notified
	// leaves this behind.
	store, err := sqlite.Open(filepath.Join(s.home, "orange.db"))
	check(t, err)
	_, _, err = store.ChangeCard("shop", 1, board.Change{Author: "human", RemoveTags: []string{"Ready"}}, time.Now())
	check(t, errors.Join(err, store.Close()))
	s.reaches(id, "ba-evaluate")
	s.sound(id)
}
