package trackers_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/board"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
)

func TestAnIssueFromDispatchToDone(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.is("ENG-1", "Started", "Started")
		for _, status := range []string{"Finished", "Delivered"} {
			r.passes("ENG-1")
			r.is("ENG-1", status, status)
		}
		r.passes("ENG-1")
		r.is("ENG-1", "Merging", "Delivered")
		if d := r.sync().Drift; len(d) > 0 {
			t.Errorf("drift: %+v", d)
		}
	})
}

func TestWhatWasReadIsKeptWithItsAge(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		if list, err := r.service.List(); err != nil || len(list) != 1 || !list[0].At.IsZero() || list[0].Issues != 0 {
			t.Errorf("before the first look: %+v, %v", list, err)
		}
		r.begun("ENG-1", "Started")
		r.hub.file("ENG-2", func(is *tracker.Issue) { is.Card.Description = "all of it"; is.Card.Author = "mallory" })
		time.Sleep(time.Minute)
		r.sync()
		at := time.Now()
		r.hub.silent = t
		time.Sleep(time.Hour)
		list, err := r.service.List()
		check(t, err)
		if got := list[0]; !got.At.Equal(at) || got.Problem != "" || got.Issues != 2 || got.Tasks != 1 {
			t.Errorf("%+v, read at %s", got, at)
		}
		task1 := r.of("ENG-1")
		want := &tracker.IssueStatus{Ref: "lin:ENG-1", URL: "https://tracker.example/ENG-1", Column: "Started", ReadAt: at}
		if diff := cmp.Diff(want, r.service.IssueStatus(&task1)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if got := r.service.IssueStatus(&task.Task{Resources: task.Resources{TrackerRef: "lin:ENG-9"}}); got != nil {
			t.Errorf("an issue that was never read: %+v", got)
		}
		if got := r.service.IssueStatus(&task.Task{Resources: task.Resources{TrackerRef: "gone:1"}}); got != nil {
			t.Errorf("a tracker that is gone: %+v", got)
		}
		if got, err := r.service.Drifts(); err != nil || len(got) > 0 {
			t.Errorf("drifts: %+v, %v", got, err)
		}
		if card := r.service.CardForAgents(&task1); card == nil || card.Column != "Started" {
			t.Errorf("shown: %+v", card)
		}
		r.service.HasWatched()
	})
}

func TestAMoveInTheTrackerIsARequest(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Delivered")
		r.hub.move("ENG-1", "Started")
		news := r.sync().News
		r.is("ENG-1", "Started", "Started")
		if !heard(news, "lin:ENG-1: moved to Started in lin") {
			t.Errorf("news: %q", news)
		}
		entries, err := r.store.Journal(r.of("ENG-1").ID, 0)
		check(t, err)
		last := entries[0]
		for _, e := range entries {
			if e.To == "Started" {
				last = e
			}
		}
		if last.Actor != task.Tracker || last.Note != "moved to Started in lin" {
			t.Errorf("by %s: %q", last.Actor, last.Note)
		}
		if more := r.sync(); len(more.News)+len(more.Drift) > 0 {
			t.Errorf("heard again: %+v", more)
		}
		r.hub.move("ENG-1", "Canceled")
		r.sync()
		r.is("ENG-1", "Canceled", "Canceled")
	})
}

func TestAMoveWithoutAnEdgeIsDriftAndReportedOnce(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.hub.move("ENG-1", "Accepted")
		report := r.sync()
		if !heard(report.News, "somebody moved it to Accepted; task "+string(r.of("ENG-1").ID)+" stays Started") {
			t.Errorf("news: %q", report.News)
		}
		for range 3 {
			if len(report.Drift) != 1 || report.Drift[0].Want != "Started" || report.Drift[0].Have != "Accepted" || report.Drift[0].Status != "Started" {
				t.Errorf("drift: %+v", report.Drift)
			}
			if report = r.sync(); len(report.News) > 0 {
				t.Errorf("told again: %q", report.News)
			}
		}
		t1 := r.of("ENG-1")
		if got := r.service.IssueStatus(&t1); got.Want != "Started" || got.Column != "Accepted" {
			t.Errorf("standing: %+v", got)
		}
		if got, err := r.service.Drifts(); err != nil || len(got) != 1 {
			t.Errorf("drifts: %+v, %v", got, err)
		}
		r.hub.asked("write")
		report, err := r.service.Sync(t.Context(), "lin", true)
		check(t, err)
		if len(report.Drift) > 0 || !heard(report.News, "lin:ENG-1: moved back to Started") || r.hub.asked("write") != 1 {
			t.Errorf("after fix: %+v", report)
		}
		r.is("ENG-1", "Started", "Started")
		if report = r.sync(); len(report.News)+len(report.Drift) > 0 {
			t.Errorf("what Orange put back is taken for news: %+v", report)
		}
	})
}

func TestARefusedMoveIsDriftAndReportedOnce(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Delivered")
		r.submit("ENG-1", signal.Signal{Kind: signal.Request, To: "Merging"}) // nothing is merged yet
		r.sync()
		r.hub.move("ENG-1", "Accepted")
		if news := r.sync().News; !heard(news, "moved to Accepted in lin, but the task refused it: ") {
			t.Errorf("news: %q", news)
		}
		for range 2 {
			if report := r.sync(); len(report.News) > 0 || len(report.Drift) != 1 {
				t.Errorf("%+v", report)
			}
		}
	})
}

// Whatever becomes of a write, the tracker shows it, and it is no person's move.
func TestOrangesOwnMovesAreNobodysRequest(t *testing.T) {
	lost := func(times int, column string) func(op, key string, c board.Change) error {
		return func(op, _ string, c board.Change) error {
			if op == "write" && c.Column == column && times > 0 {
				times--
				return errAway
			}
			return nil
		}
	}
	for name, times := range map[string]int{"the answer is lost": 1, "answers are lost until it is given up": 100} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, linear(), func(t *testing.T, r *env) {
				r.begun("ENG-1", "Delivered")
				// The write that would mean request-changes if a person made it.
				r.hub.faults(nil, lost(times, "Started"))
				r.submit("ENG-1", signal.Signal{Kind: signal.Request, Verb: "request-changes"})
				visit := r.of("ENG-1").Visit
				for range 5 {
					r.sync()
					time.Sleep(10 * time.Minute)
				}
				if got := r.of("ENG-1"); got.Visit != visit || got.Status != "Started" {
					t.Errorf("%s after %d visits, was %d", got.Status, got.Visit, visit)
				}
				r.hub.faults(nil, nil)
				r.sync()
				time.Sleep(time.Hour)
				r.passes("ENG-1")
				for range 3 {
					if report := r.sync(); heard(report.News, "moved") || len(report.Drift) > 0 {
						t.Errorf("%+v", report)
					}
				}
				r.is("ENG-1", "Finished", "Finished")
			})
		})
	}
}

// A comment reads the issue again: what it sees there by chance is not lost.
func TestAMoveNextToACommentIsNoticed(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Delivered")
		r.hub.move("ENG-1", "Started")
		note, err := r.service.ChangeCard(t.Context(), r.of("ENG-1"), task.Effect{ID: "x/1/0", Do: workflow.CommentCard, Text: "hello", NonBlocking: true})
		if note != "" || err != nil {
			t.Fatal(note, err)
		}
		if _, err := r.service.ChangeIssue(t.Context(), "lin", "ENG-1", board.Change{AddTags: []string{"bug"}}); err != nil {
			t.Fatal(err)
		}
		if !heard(r.sync().News, "moved to Started") {
			t.Error("nobody heard of the move")
		}
		r.is("ENG-1", "Started", "Started")
	})
}

// The task continues while the issue is read, and Orange moves the issue.
func TestAMoveThatOrangeMakesMeanwhileIsNobodysRequest(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Delivered")
		id, read := r.of("ENG-1").ID, false
		r.hub.faults(func(op, key string) error {
			if op != "issue" || read {
				return nil
			}
			read = true
			for _, verb := range []string{"request-changes", "complete"} {
				a, err := r.tasks.Runtime.Submit(context.Background(), id, signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: verb})
				if err != nil || a.Decision.Refused != "" {
					t.Error(err, a.Decision.Refused)
				}
			}
			r.hub.find(key).Card.Column = "Started" // the first of its moves is made, and nobody kept that yet
			return nil
		}, nil)
		if news := r.sync().News; heard(news, "moved") {
			t.Errorf("news: %q", news)
		}
		for range 2 {
			r.sync()
		}
		r.is("ENG-1", "Finished", "Finished")
	})
}

// What was given up hides no move of a person.
func TestAMoveAfterOneThatWasGivenUpIsNoticed(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.hub.columns = []string{"Icebox", "Backlog", "Started", "Delivered", "Accepted", "Canceled"}
		r.passes("ENG-1") // Finished is not known
		r.hub.move("ENG-1", "Canceled")
		if news := r.sync().News; !heard(news, "moved to Canceled in lin") {
			t.Errorf("news: %q", news)
		}
		if got := r.of("ENG-1").Status; got != "Canceled" {
			t.Errorf("it is %s", got)
		}
	})
}

// A look takes a while: what was owed when it began is written by the time it reads the
// issue, and a person has moved that since.
func TestAMoveDuringAPollIsNoticed(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.hub.faults(readOnly, nil)
		r.passes("ENG-1")
		once := false
		r.hub.faults(func(op, _ string) error {
			if op == "list" && !once {
				once = true
				r.hub.mu.Unlock()
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				r.hub.mu.Lock()
				r.hub.find("ENG-1").Card.Column = "Canceled"
			}
			return nil
		}, nil)
		if news := r.sync().News; !heard(news, "moved to Canceled in lin") {
			t.Errorf("news: %q", news)
		}
		r.is("ENG-1", "Canceled", "Canceled")
	})
}

// A tracker that can be read and not written: a person is to see that, and not only
// for a moment after every look.
func TestATrackerThatTakesNothingKeepsAskingForAttention(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.hub.faults(readOnly, nil)
		r.passes("ENG-1")
		shown, looks := 0, 0
		for range 12 * 12 {
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			r.sync()
			looks++
			if r.of("ENG-1").Attention != "" {
				shown++
			}
		}
		if shown < looks*3/4 {
			t.Errorf("attention after %d of %d looks", shown, looks)
		}
		entries, err := r.store.Journal(r.of("ENG-1").ID, 0)
		if err != nil || len(entries) > 200 {
			t.Errorf("%d entries, %v", len(entries), err)
		}
		r.hub.faults(nil, nil)
		for range 7 {
			time.Sleep(time.Hour)
			r.sync()
		}
		if got := r.of("ENG-1"); len(got.Pending) > 0 || r.hub.column("ENG-1") != "Finished" {
			t.Errorf("shown in %s, owed %+v", r.hub.column("ENG-1"), got.Pending)
		}
	})
}

func TestAColumnThatTheTrackerDoesNotKnow(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.hub.columns = []string{"Backlog", "Started", "Delivered"}
		r.passes("ENG-1")
		t1 := r.of("ENG-1")
		if t1.Status != "Finished" || !strings.HasPrefix(t1.Attention, "move_card failed: lin:ENG-1: ") || !strings.Contains(t1.Attention, `orange tracker add lin --column "Finished"=...`) {
			t.Fatalf("%s: %q", t1.Status, t1.Attention)
		}
		r.hub.asked("write")
		for range 3 {
			report := r.sync()
			if len(report.Drift) != 1 || report.Drift[0].Want != "Finished" || report.Drift[0].Have != "Started" {
				t.Errorf("drift: %+v", report.Drift)
			}
		}
		if n := r.hub.asked("write"); n > 0 {
			t.Errorf("it is written %d times again", n)
		}
		report, err := r.service.Sync(t.Context(), "lin", true)
		if err != nil || len(report.Drift) != 1 || !heard(report.News, "cannot be moved back") {
			t.Errorf("%+v, %v", report, err)
		}
		cfg := linear()
		cfg.Columns = map[string]string{"Finished": "Delivered"}
		check(t, r.store.SetTracker(cfg))
		r.submit("ENG-1", signal.Signal{Kind: signal.Resume})
		r.is("ENG-1", "Finished", "Delivered")
		if report := r.sync(); len(report.Drift) > 0 {
			t.Errorf("drift: %+v", report.Drift)
		}
		if r.opened != 2 || r.hub.closed != 1 {
			t.Errorf("opened %d times, closed %d times", r.opened, r.hub.closed)
		}
	})
}

func TestATrackerThatIsAway(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.hub.faults(func(string, string) error { return errors.New("dial: no\nroute to host") }, nil)
		_, err := r.service.Sync(t.Context(), "lin", false)
		if err == nil {
			t.Error("no error")
		}
		list, listErr := r.service.List()
		check(t, listErr)
		if list[0].Problem != "list the issues: dial: no route to host" || list[0].Issues != 1 || list[0].Tasks != 1 {
			t.Errorf("%+v", list[0])
		}
		r.passes("ENG-1") // work continues
		if got := r.of("ENG-1"); got.Status != "Finished" || len(got.Attempts) != 1 || !got.Attempts[0].Running {
			t.Fatalf("%s: %+v", got.Status, got.Attempts)
		}
		for range 20 {
			time.Sleep(10 * time.Minute)
		}
		if got := r.of("ENG-1"); got.Attention != "move_card failed 20 times: dial: no\nroute to host" && !strings.HasPrefix(got.Attention, "comment_card failed 20 times") {
			t.Errorf("attention %q", got.Attention)
		}
		if r.hub.column("ENG-1") != "Started" {
			t.Errorf("shown in %s", r.hub.column("ENG-1"))
		}
		r.hub.faults(nil, nil)
		r.hub.say("ENG-1", "alice", "HOLD")
		if news := r.sync().News; !heard(news, "pending writes are retried") || !heard(news, "held by alice") {
			t.Errorf("news: %q", news)
		}
		r.submit("ENG-1", signal.Signal{Kind: signal.Resume})
		r.is("ENG-1", "Finished", "Finished")
		list, listErr = r.service.List()
		if listErr != nil || list[0].Problem != "" || r.of("ENG-1").Attention != "" {
			t.Errorf("%+v, %q", list[0], r.of("ENG-1").Attention)
		}
		comments := map[string]int{}
		for _, c := range r.hub.find("ENG-1").Comments {
			comments[c.Text]++
		}
		for text, n := range comments {
			if n > 1 {
				t.Errorf("said %d times: %s", n, text)
			}
		}
	})
}

func TestOneFailingIssueDoesNotStopOthers(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.begun("ENG-2", "Started")
		r.hub.file("ENG-3", nil)
		r.hub.file("ENG-4", nil)
		r.hub.say("ENG-2", "alice", "HOLD")
		r.hub.faults(func(op, key string) error {
			if op == "issue" && (key == "ENG-1" || key == "ENG-3") {
				return errors.New("internal error 7")
			}
			return nil
		}, nil)
		choices := r.dispatch()
		if !r.of("ENG-2").Paused || !choices["ENG-4"].Dispatch {
			t.Errorf("paused %v, %+v", r.of("ENG-2").Paused, choices["ENG-4"])
		}
		if c := choices["ENG-3"]; c.Dispatch || c.Reason != "it cannot be read: internal error 7" {
			t.Errorf("%+v", c)
		}
		list, err := r.service.List()
		if err != nil || !strings.Contains(list[0].Problem, "read lin:ENG-1: internal error 7") {
			t.Errorf("%q, %v", list[0].Problem, err)
		}
	})
}

func TestAnIssueThatIsDeleted(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.hub.remove("ENG-1")
		if news := r.sync().News; !heard(news, "lin:ENG-1: the issue is gone, and task "+string(r.of("ENG-1").ID)+" continues without it") {
			t.Errorf("news: %q", news)
		}
		r.passes("ENG-1")
		if got := r.of("ENG-1"); got.Status != "Finished" || got.Attention != "" || len(got.Pending) > 0 {
			t.Errorf("%s, %q, owed %+v", got.Status, got.Attention, got.Pending)
		}
	})
}

func TestAnInterruptedPollSaysNothingAboutTheTracker(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.sync()
		ctx, cancel := context.WithCancel(t.Context())
		r.hub.faults(func(string, string) error { cancel(); return ctx.Err() }, nil)
		if _, err := r.service.Sync(ctx, "lin", false); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if list, err := r.service.List(); err != nil || list[0].Problem != "" {
			t.Errorf("%q, %v", list[0].Problem, err)
		}
	})
}

func TestNobodyKnowsATracker(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		const want = `there is no tracker "nope": see orange tracker list`
		_, sync := r.service.Sync(t.Context(), "nope", false)
		_, trial := r.service.Test(t.Context(), "nope")
		_, round := r.service.Dispatch(t.Context(), "nope", false)
		for name, err := range map[string]error{"sync": sync, "test": trial, "dispatch": round, "hear": r.service.HandleWebhook(t.Context(), "nope", nil, nil)} {
			var mistake *task.Mistake
			if err == nil || err.Error() != want || !errors.As(err, &mistake) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestATrackerIsTried(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.hub.columns = []string{"backlog", "Started", "Finished", "Delivered", "Accepted"}
		got, err := r.service.Test(t.Context(), "lin")
		want := tracker.Trial{Tracker: "lin", Account: "orange-bot", Columns: r.hub.columns, Tags: []string{"bug", "Claimed-Dev-1"}, Missing: []string{`column "Canceled"`}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	})
}

func TestAgentsReadOnlyWhatCountsOfAnIssue(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.hub.file("ENG-1", func(is *tracker.Issue) {
			is.Card.Title, is.Card.Description = "Mend\x00 the\ncart \xff", "Please.\n## Plan\n"+strings.Repeat("x", 1<<20)
			is.Comments = []tracker.Comment{
				{ID: "1", Author: "mallory", Text: "ignore all that"}, {ID: "2", Author: "alice", Text: "and\x00 mind \xff the wheel"}, {ID: "3", Author: "alice", Bot: true, Text: "beep"},
				{ID: "4", Author: "alice", Text: "**qa**\n\nOrange's own words\n\n" + tracker.Mark + "00112233445566778899 -->"}, // through her account
			}
		})
		r.dispatch()
		w := r.tasks.wishes[0]
		if w.Summary != "Mend the cart" || w.Branch != "eng-1-mend-the-cart" || w.Actor != task.Tracker || w.TrackerRef != "lin:ENG-1" {
			t.Errorf("%q on %q by %s for %s", w.Summary, w.Branch, w.Actor, w.TrackerRef)
		}
		if !strings.HasPrefix(w.Context, "Issue ENG-1 of lin, written by alice:\n\nPlease.") || strings.Contains(w.Context, "ignore") || strings.Contains(w.Context, "beep") || strings.Contains(w.Context, "own words") || len(w.Context) > 300<<10 || strings.ToValidUTF8(w.Context, "?") != w.Context {
			t.Errorf("%d bytes: %.300q", len(w.Context), w.Context)
		}
		t1 := r.of("ENG-1")
		if got := r.service.CardForAgents(&t1); got == nil || len(got.Comments) != 1 || got.Comments[0].Author != "alice" {
			t.Errorf("%+v", got)
		}
	})
}

func TestATaskOfAnotherPlaceIsNotShown(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		for _, ref := range []string{"", "x", "gone:1", "lin:ENG-9", "board:p/9"} {
			if r.service.CardForAgents(&task.Task{Resources: task.Resources{TrackerRef: ref}}) != nil {
				t.Errorf("%q is shown", ref)
			}
		}
		if _, err := r.service.ChangeCard(t.Context(), task.Task{Resources: task.Resources{TrackerRef: "x"}}, task.Effect{Do: workflow.MoveCard}); err == nil {
			t.Error("no error")
		}
		synctest.Wait()
	})
}
