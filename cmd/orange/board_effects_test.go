package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// short is a life with every effect on a card: read, claim, tag, comment, move, describe,
// release.
var short = "dev:\n  - commit: {file: a.txt, text: \"a\\n\", message: do it}\n" + result(true, "It is there",
	`{"add_tags": ["Dev-Complete"], "remove_tags": ["Planned"], "move_to_column": "Review", "add_comment": "Look at a.txt.", "update_description": "Done as planned."}`,
	`, "stage_context": {"from_stage": "dev", "to_stage": "reviewer", "key_decisions": ["One file"]}`)

// TestTheServerIsKilledAtEachEffectOnACard kills the server after every effect on a card,
// and before the first of each kind. Whatever was under way, the card ends the same.
func TestTheServerIsKilledAtEachEffectOnACard(t *testing.T) {
	t.Parallel()
	whole := openEnv(t, "headless", "--workflow", "joan-board")
	id := cardLife(whole)
	var effects []string
	for _, e := range whole.journal(id) {
		for _, x := range e.Effects {
			effects = append(effects, x.Do)
		}
	}
	kinds := map[string]bool{}
	for i, do := range effects {
		if info, _ := workflow.EffectNamed(do); !info.Card {
			continue
		}
		boundaries := map[string]int{"after": 2*i + 2}
		if !kinds[do] {
			boundaries["before"] = 2*i + 1
		}
		kinds[do] = true
		for side, at := range boundaries {
			t.Run(fmt.Sprintf("%s-%d-%s", side, i, do), func(t *testing.T) {
				t.Parallel()
				s := openEnv(t, "headless", "--workflow", "joan-board")
				first := s.crashingServer(at, "effect.")
				cardLife(s)
				if err := first.Wait(); !killed(err) {
					t.Errorf("the server was not killed: %v", err)
				}
			})
		}
	}
	for _, do := range []string{workflow.ReadCard, workflow.ClaimCard, workflow.TagCard, workflow.CommentCard, workflow.MoveCard, workflow.DescribeCard, workflow.ReleaseCard} {
		if !kinds[do] {
			t.Errorf("the life has no %s", do)
		}
	}
}

func killed(err error) bool {
	exit, ok := err.(*exec.ExitError)
	return ok && strings.Contains(exit.Error(), "killed")
}

// cardLife plays a short life and checks the final state of the card.
func cardLife(s *env) task.ID {
	s.t.Helper()
	file := s.write("scripts/short.yaml", short)
	// The server may die before it answers, or before it knows of the card.
	for range 5 {
		if _, _, err := s.run("board", "add", "--project", "shop", "Short", "--column", "Development", "--tag", "Planned", "--description", "Do it.", "--harness", "script:"+file); err == nil {
			break
		}
		if _, _, err := s.run("board", "show", "1", "--project", "shop"); err == nil {
			break
		}
	}
	var tasks []task.Task
	s.eventually("the task is there", func() bool { tasks = s.list(); return len(tasks) > 0 })
	id := tasks[0].ID
	s.waitsFor(id, "1", "Dev-Complete")
	s.insist("board", "tag", "1", "Ops-Ready", "--project", "shop")
	s.insist("board", "move", "1", "Deploy", "--project", "shop")
	s.rests(id, "done")

	card, comments := s.card("1")
	if len(tasks) != 1 || !slices.Equal(card.Tags, []string{"Dev-Complete"}) || card.Claim != nil || card.Column != "Deploy" || card.Description != "Done as planned." {
		s.t.Errorf("%d tasks, %+v", len(tasks), card)
	}
	if len(comments) != 2 {
		s.t.Errorf("%q", texts(comments))
	}
	s.saidOnce("1", "- Look at a.txt.", "- One file")
	s.wayIs(id, "board", "dev-implement", "board", "merging", "done")
	if n := len(s.entries(id, journal.AgentSpawned)); n != 1 {
		s.t.Errorf("%d agents", n)
	}
	if s.git(s.repo, "log", "--format=%s", "main") != "do it\nbegin" {
		s.t.Error("the work is not in the default branch, or twice")
	}
	s.changedOnce("1")
	s.sound(id)
	return id
}

// insist runs a command as its own advice says: once more if the server died before it
// answered.
func (s *env) insist(args ...string) {
	s.t.Helper()
	if _, said, err := s.run(args...); err != nil && !strings.Contains(said, "try again") {
		s.t.Fatalf("orange %q: %v\n%s", args, err, said)
	} else if err != nil {
		s.orange(args...)
	}
}

// changedOnce makes sure that nothing was done to a card twice.
func (s *env) changedOnce(number string) {
	s.t.Helper()
	out := s.orange("board", "history", number, "--project", "shop")
	for _, words := range []string{"tagged Claimed-Dev-1; claimed by", "released by", "tagged Dev-Complete; untagged Planned", "to Review", "described in 16 characters"} {
		if n := strings.Count(out, words); n != 1 {
			s.t.Errorf("%d times %q:\n%s", n, words, out)
		}
	}
}
