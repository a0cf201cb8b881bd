package main

import (
	"slices"
	"testing"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/trackertest"
	"orange/internal/trackertest/fakejoan"
)

// openJoan opens a shop whose cards are on a board of Joan, with the columns and tags that
// the workflow joan-board knows.
func openJoan(t *testing.T, script string) (*env, *fakejoan.Fake) {
	t.Helper()
	f := fakejoan.New(t, fakejoan.FakeOptions{})
	text, _ := builtin.Text("joan-board")
	def, err := workflow.Parse("joan-board", text)
	check(t, err)
	words := def.Board.Vocabulary()
	for i, column := range words.Columns {
		f.RenameColumn(t, trackertest.Columns[i], column)
	}
	for _, tag := range words.Tags {
		f.AddTag(tag)
	}
	s := openEnv(t, "headless", "--workflow", "joan-board")
	s.addTracker("joan", script, "--kind", "mcp", "--mapping", "joan", "--url", f.URL(), "--scope", f.ProjectID(), "--author", "alice", "--token", "file:"+s.secret("joan.token", f.Secret()))
	hasAll(t, "the trial", s.orange("tracker", "test", "joan"), "Columns To Do, Analyse, Development, Review, Deploy, Done")
	return s, f
}

func TestACardOfJoanGoesOverTheBoard(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]trackertest.Fault{
		"without trouble": {},
		"broken":          {Kind: trackertest.Broken, Times: 2, Writes: true},
		"lost":            {Kind: trackertest.Lost, Times: 2, Writes: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, joan := openJoan(t, "dev:\n"+untilGo("go")+short[len("dev:\n"):])
			key := joan.AddIssue(t, filed("Short", "Development"))
			joan.TagIssue(t, key, []string{"Planned"}, nil)
			id := s.begin(key)
			s.eventually("the developer is at work", func() bool { return s.has("go-begun") })
			if card := joan.ReadIssue(t, key).Card; !slices.Contains(card.Tags, "Claimed-Dev-1") {
				t.Errorf("it is not claimed: %+v", card)
			}
			joan.InjectFault(f)
			s.write("go", "")
			s.await(id, "the card waits", func(t task.Task) bool {
				return t.Status == "board" && len(t.Pending) == 0 && t.CardSnapshot != nil && slices.Contains(t.CardSnapshot.Tags, "Dev-Complete")
			})
			card := joan.ReadIssue(t, key).Card
			if !slices.Equal(card.Tags, []string{"Dev-Complete"}) || card.Column != "Review" || card.Description != "Done as planned." {
				t.Errorf("%+v", card)
			}
			said(t, joan, key, "- Look at a.txt.", "- One file")
			joan.TagIssue(t, key, []string{"Ops-Ready"}, nil)
			joan.MoveIssue(t, key, "Deploy")
			s.orange("tracker", "sync", "joan")
			s.rests(id, "done")
			s.wayIs(id, "board", "dev-implement", "board", "merging", "done")
			if card := joan.ReadIssue(t, key).Card; !slices.Equal(card.Tags, []string{"Dev-Complete"}) || card.Column != "Deploy" {
				t.Errorf("%+v", card)
			}
			said(t, joan, key, "- Look at a.txt.", "- One file")
			if n := len(s.entries(id, journal.AgentSpawned)); n != 1 {
				t.Errorf("%d agents", n)
			}
			s.sound(id)
		})
	}
}
