package trackers_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
)

func TestWhatAnEffectDoesToAnIssue(t *testing.T) {
	fingerprint := board.Fingerprint("as it was")
	for name, tt := range map[string]struct {
		effect task.Effect
		note   string // part of it
		err    string
		holds  func(is *tracker.Issue) bool
	}{
		"a comment of a role": {effect: task.Effect{Do: workflow.CommentCard, Role: "qa", Text: "It holds."}, holds: func(is *tracker.Issue) bool {
			return len(is.Comments) == 1 && strings.HasPrefix(is.Comments[0].Text, "**qa**\n\nIt holds.\n\n"+tracker.Mark)
		}},
		"a comment of Orange's own": {effect: task.Effect{Do: workflow.CommentCard, Text: "Hello."}, holds: func(is *tracker.Issue) bool {
			return len(is.Comments) == 1 && strings.HasPrefix(is.Comments[0].Text, "Hello.\n\n"+tracker.Mark)
		}},
		"a tag":                      {effect: task.Effect{Do: workflow.TagCard, Tags: []string{"BUG"}}, holds: func(is *tracker.Issue) bool { return len(is.Card.Tags) == 1 && is.Card.Tags[0] == "bug" }},
		"a tag that is not known":    {effect: task.Effect{Do: workflow.TagCard, Tags: []string{"nope"}}, note: `tag "nope" is not known`, holds: func(is *tracker.Issue) bool { return len(is.Card.Tags) == 0 }},
		"a move":                     {effect: task.Effect{Do: workflow.MoveCard, Arg: "Finished", NonBlocking: true}, holds: func(is *tracker.Issue) bool { return is.Card.Column == "Finished" }},
		"a move to nowhere":          {effect: task.Effect{Do: workflow.MoveCard, Arg: "Nope", NonBlocking: true}, err: `orange tracker add lin --column "Nope"=... names another`, holds: func(is *tracker.Issue) bool { return is.Card.Column == "Started" }},
		"a worker's move to nowhere": {effect: task.Effect{Do: workflow.MoveCard, Arg: "Nope"}, note: `column "Nope" is not known`, holds: func(is *tracker.Issue) bool { return is.Card.Column == "Started" }},
		"a description":              {effect: task.Effect{Do: workflow.DescribeCard, Text: "New.", Arg: fingerprint}, holds: func(is *tracker.Issue) bool { return is.Card.Description == "New." }},
		"a description that was changed meanwhile": {effect: task.Effect{Do: workflow.DescribeCard, Text: "New.", Arg: board.Fingerprint("another")}, note: "somebody changed the description meanwhile: it stays",
			holds: func(is *tracker.Issue) bool { return is.Card.Description == "as it was" }},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, linear(), func(t *testing.T, r *env) {
				r.begun("ENG-1", "Started")
				r.hub.change("ENG-1", func(is *tracker.Issue) { is.Card.Description = "as it was" })
				tt.effect.ID = "x/1/0"
				for range 2 { // as if the first answer was lost
					note, err := r.service.ChangeCard(t.Context(), r.of("ENG-1"), tt.effect)
					if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) || !strings.Contains(note, tt.note) || (note == "") != (tt.note == "") {
						t.Fatalf("%q, %v", note, err)
					}
					var mistake *task.Mistake
					if err != nil && !errors.As(err, &mistake) {
						t.Errorf("%T", err)
					}
				}
				if is := r.hub.find("ENG-1"); !tt.holds(is) {
					t.Errorf("%+v", is)
				}
			})
		})
	}
}

// A person moves the issue, and the task continues before the issue is read again.
func TestAMoveIsNoticedBeforeOrangeMovesTheIssue(t *testing.T) {
	for name, tt := range map[string]struct {
		to             string
		status, column string
		note           string
	}{
		"where the task may go":    {to: "Canceled", status: "Canceled", column: "Canceled", note: "move_card Finished: somebody moved it to Canceled meanwhile"},
		"where the task cannot go": {to: "Icebox", status: "Finished", column: "Finished", note: "move_card Finished: somebody moved it to Icebox meanwhile"},
		"where the task is":        {to: "Finished", status: "Finished", column: "Finished", note: "move_card Finished"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, linear(), func(t *testing.T, r *env) {
				r.begun("ENG-1", "Started")
				r.hub.move("ENG-1", tt.to)
				r.passes("ENG-1")
				r.is("ENG-1", tt.status, tt.column)
				if got := r.of("ENG-1"); len(got.Pending) > 0 || got.Attention != "" {
					t.Errorf("owed %+v, attention %q", got.Pending, got.Attention)
				}
				if got := r.done("ENG-1", "move_card Finished"); len(got) != 1 || got[0] != tt.note {
					t.Errorf("%q", got)
				}
				if report := r.sync(); len(report.News)+len(report.Drift) > 0 {
					t.Errorf("%+v", report)
				}
				r.is("ENG-1", tt.status, tt.column)
			})
		})
	}
}

// Two moves are owed when the tracker comes back, and a person has moved the issue.
func TestAMoveIsNoticedBeforePendingWrites(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.hub.faults(readOnly, nil)
		r.passes("ENG-1")
		r.passes("ENG-1")
		r.hub.move("ENG-1", "Canceled")
		r.hub.asked("")
		r.hub.faults(nil, nil)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		r.is("ENG-1", "Canceled", "Canceled")
		if got := r.of("ENG-1"); len(got.Pending) > 0 {
			t.Errorf("owed %+v", got.Pending)
		}
	})
}

// A tracker that hides everything from us for a while says of every issue that it is gone.
func TestATrackerThatHidesItsIssuesIsNotBelieved(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Delivered")
		r.passes("ENG-1")
		r.hub.faults(func(string, string) error { return tracker.ErrNotFound }, nil)
		r.fact(workflow.Merged, true, "")
		r.submit("ENG-1", signal.Signal{Kind: signal.Request, Verb: "complete"})
		time.Sleep(time.Minute)
		r.hub.faults(nil, nil)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		r.is("ENG-1", "Accepted", "Accepted")
	})
}

// done returns the journal's words for what was done to the issue.
func (r *env) done(key, what string) (out []string) {
	r.t.Helper()
	entries, err := r.store.Journal(r.of(key).ID, 0)
	check(r.t, err)
	for _, e := range entries {
		if e.Type == journal.EffectDone && strings.HasPrefix(e.Reason, what) {
			out = append(out, e.Reason)
		}
	}
	return out
}

// readOnly returns the fault of a tracker that takes nothing.
func readOnly(op, _ string) error {
	if op == "write" {
		return errAway
	}
	return nil
}

// joan is a tracker whose cards the workflow reads.
func joan(r *env) {
	def, err := r.tasks.ChooseWorkflow("joan-board", "p")
	check(r.t, err)
	r.hub.columns = def.Board.Vocabulary().Columns
	r.hub.tags = def.Board.Vocabulary().Tags
}

func TestAWorkflowThatReadsItsCards(t *testing.T) {
	cfg := linear()
	cfg.Kind, cfg.Workflow = tracker.MCP, "joan-board"
	inBubble(t, cfg, func(t *testing.T, r *env) {
		joan(r)
		r.hub.file("1", func(is *tracker.Issue) { is.Card.Column = "Analyse"; is.Card.Tags = []string{"Needs-Clarification"} })
		if c := r.dispatch()["1"]; !c.Dispatch {
			t.Fatalf("%+v", c)
		}
		was := r.of("1")
		if was.CardSnapshot == nil || was.CardSnapshot.Column != "Analyse" || len(was.Attempts) > 0 {
			t.Fatalf("%s, %+v", was.Status, was.CardSnapshot)
		}
		if report := r.sync(); len(report.News)+len(report.Drift) > 0 {
			t.Errorf("nothing happened: %+v", report)
		}
		r.hub.change("1", func(is *tracker.Issue) { is.Card.Tags = append(is.Card.Tags, "Clarification-Answered") })
		if news := r.sync().News; !heard(news, "lin:1: the card changed") {
			t.Errorf("news: %q", news)
		}
		if got := r.of("1"); len(got.Attempts) != 1 || got.Attempts[0].Role != "ba" {
			t.Errorf("%s, %+v", got.Status, got.Attempts)
		}
		if got := r.sync(); heard(got.News, "moved") || len(got.Drift) > 0 {
			t.Errorf("%+v", got)
		}
		synctest.Wait()
	})
}

func TestAnIssueThatSomebodyClaimedIsNotTaken(t *testing.T) {
	cfg := linear()
	cfg.Kind, cfg.Workflow = tracker.MCP, "joan-board"
	inBubble(t, cfg, func(t *testing.T, r *env) {
		joan(r)
		r.hub.file("1", func(is *tracker.Issue) {
			is.Card.Column = "Development"
			is.Card.Tags = []string{"Planned", "Claimed-Dev-1"}
		})
		if c := r.dispatch()["1"]; c.Dispatch || c.Reason != "somebody has claimed it: it has the tag Claimed-Dev-1" {
			t.Errorf("%+v", c)
		}
	})
}

// The board of project p is not configured as a tracker: its cards are changed nevertheless.
func TestWhatEffectsDoToACardOfTheLocalBoard(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		check(t, r.store.SetBoard("p", board.Vocabulary{Columns: []string{"Analyse"}, Tags: []string{"Needs-Clarification"}}))
		_, err := r.store.AddCard(board.Card{Project: "p", Title: "Cart", Column: "Analyse", Tags: []string{"Needs-Clarification"}, Description: "Sell."}, time.Now())
		check(t, err)
		a, err := r.tasks.Create(t.Context(), signal.NewTask{Actor: task.Human, Workflow: "joan-board", New: signal.New{Project: "p", Branch: "b", Summary: "s", TrackerRef: "board:p/1"}})
		check(t, err)
		synctest.Wait()
		other, lost := a.Task, a.Task
		other.ID, lost.TrackerRef = "another", "board:p/9"
		for _, step := range []struct {
			t    task.Task
			e    task.Effect
			note string
			err  string
		}{
			{t: a.Task, e: task.Effect{ID: "1", Do: workflow.ClaimCard, Arg: "Claimed-Dev-1"}}, // a tag that only the workflow knows
			{t: other, e: task.Effect{ID: "2", Do: workflow.ClaimCard, Arg: "Claimed-Dev-1"}, err: "the card is claimed by " + string(a.Task.ID)},
			{t: a.Task, e: task.Effect{ID: "3", Do: workflow.CommentCard, Role: "ba", Text: "Done."}},
			{t: a.Task, e: task.Effect{ID: "3", Do: workflow.CommentCard, Role: "ba", Text: "Done."}},
			{t: a.Task, e: task.Effect{ID: "4", Do: workflow.TagCard, Tags: []string{"Nope"}}, note: `tag "Nope" is not known`},
			{t: a.Task, e: task.Effect{ID: "5", Do: workflow.MoveCard, Arg: "Review"}},
			{t: a.Task, e: task.Effect{ID: "6", Do: workflow.DescribeCard, Text: "Buy.", Arg: board.Fingerprint("Give away.")}, note: "somebody changed the description meanwhile"},
			{t: a.Task, e: task.Effect{ID: "7", Do: workflow.DescribeCard, Text: "Buy.", Arg: board.Fingerprint("Sell.")}},
			{t: a.Task, e: task.Effect{ID: "8", Do: workflow.TagCard, Tags: []string{"Ready"}}},
			{t: lost, e: task.Effect{ID: "9", Do: workflow.MoveCard, Arg: "Done"}, note: "card not found: p/9"},
		} {
			note, err := r.service.ChangeCard(t.Context(), step.t, step.e)
			if (err == nil) != (step.err == "") || err != nil && !strings.Contains(err.Error(), step.err) || (note == "") != (step.note == "") || !strings.Contains(note, step.note) {
				t.Errorf("%s %s: %q, %v", step.e.ID, step.e.Do, note, err)
			}
		}
		_, _, err = r.store.ChangeCard("p", 1, board.Change{RemoveTags: []string{"Ready"}}, time.Now())
		check(t, err)
		// An earlier try set the tag, and a person took it off: it stays off.
		if note, err := r.service.ChangeCard(t.Context(), a.Task, task.Effect{ID: "8", Do: workflow.TagCard, Tags: []string{"Ready"}}); note != "" || err != nil {
			t.Errorf("%q, %v", note, err)
		}
		got := r.service.CardForAgents(&a.Task)
		if got.Column != "Review" || got.Description != "Buy." || strings.Join(got.Tags, " ") != "Needs-Clarification Claimed-Dev-1" || got.Claim == nil || got.Claim.Owner != string(a.Task.ID) {
			t.Errorf("%+v, claim %+v", got.Card, got.Claim)
		}
		if len(got.Comments) != 1 || got.Comments[0].Author != "ba" || got.Comments[0].Text != "Done." {
			t.Errorf("%+v", got.Comments)
		}
		_, err = r.service.ChangeCard(t.Context(), a.Task, task.Effect{ID: "10", Do: workflow.ReleaseCard})
		check(t, err)
		if snap, err := r.service.ReadCard(t.Context(), a.Task); err != nil || strings.Join(snap.Tags, " ") != "Needs-Clarification" {
			t.Errorf("%+v, %v", snap, err)
		}
		if kept, err := r.store.KeptIssues(tracker.Board); err != nil || len(kept) > 0 {
			t.Errorf("%d cards are kept twice, %v", len(kept), err)
		}
	})
}
