package track_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"orange/internal/core/board"
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
		"a move":                     {effect: task.Effect{Do: workflow.MoveCard, Arg: "Finished", Aside: true}, holds: func(is *tracker.Issue) bool { return is.Card.Column == "Finished" }},
		"a move to nowhere":          {effect: task.Effect{Do: workflow.MoveCard, Arg: "Nope", Aside: true}, err: `orange tracker add lin --column "Nope"=... names another`, holds: func(is *tracker.Issue) bool { return is.Card.Column == "Started" }},
		"a worker's move to nowhere": {effect: task.Effect{Do: workflow.MoveCard, Arg: "Nope"}, note: `column "Nope" is not known`, holds: func(is *tracker.Issue) bool { return is.Card.Column == "Started" }},
		"a description":              {effect: task.Effect{Do: workflow.DescribeCard, Text: "New.", Arg: fingerprint}, holds: func(is *tracker.Issue) bool { return is.Card.Description == "New." }},
		"a description that was changed meanwhile": {effect: task.Effect{Do: workflow.DescribeCard, Text: "New.", Arg: board.Fingerprint("another")}, note: "the description was changed meanwhile: it is left as it is",
			holds: func(is *tracker.Issue) bool { return is.Card.Description == "as it was" }},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, linear(), func(t *testing.T, r *rig) {
				r.begun("ENG-1", "Started")
				r.hub.change("ENG-1", func(is *tracker.Issue) { is.Card.Description = "as it was" })
				tt.effect.ID = "x/1/0"
				for range 2 { // as if the first answer was lost
					note, err := r.office.Change(t.Context(), r.of("ENG-1"), tt.effect)
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

// joan is a tracker whose cards the workflow reads.
func joan(r *rig) {
	def, err := r.tasks.Choose("joan-board", "p")
	check(r.t, err)
	r.hub.columns = def.Board.Vocabulary().Columns
	r.hub.tags = def.Board.Vocabulary().Tags
}

func TestAWorkflowThatReadsItsCards(t *testing.T) {
	cfg := linear()
	cfg.Kind, cfg.Workflow = tracker.MCP, "joan-board"
	inBubble(t, cfg, func(t *testing.T, r *rig) {
		joan(r)
		r.hub.file("1", func(is *tracker.Issue) { is.Card.Column = "Analyse"; is.Card.Tags = []string{"Needs-Clarification"} })
		if c := r.dispatch()["1"]; !c.Dispatch {
			t.Fatalf("%+v", c)
		}
		was := r.of("1")
		if was.Face == nil || was.Face.Column != "Analyse" || len(was.Attempts) > 0 {
			t.Fatalf("%s, %+v", was.Status, was.Face)
		}
		if report := r.sync(); len(report.News)+len(report.Drift) > 0 {
			t.Errorf("nothing happened: %+v", report)
		}
		r.hub.change("1", func(is *tracker.Issue) { is.Card.Tags = append(is.Card.Tags, "Clarification-Answered") })
		if news := r.sync().News; !heard(news, "lin:1: it looks different") {
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
	inBubble(t, cfg, func(t *testing.T, r *rig) {
		joan(r)
		r.hub.file("1", func(is *tracker.Issue) {
			is.Card.Column = "Development"
			is.Card.Tags = []string{"Planned", "Claimed-Dev-1"}
		})
		if c := r.dispatch()["1"]; c.Dispatch || c.Reason != "somebody works on it: it has the tag Claimed-Dev-1" {
			t.Errorf("%+v", c)
		}
	})
}
