package trackers_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
)

// signed returns the header of a genuine delivery.
func signed(delivery string) http.Header {
	return http.Header{"Signature": {"secret"}, "Delivery": {delivery}}
}

func TestNewsSayWhereToLook(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Delivered")
		r.hub.move("ENG-1", "Started")
		r.hub.asked("")
		check(t, r.service.HandleWebhook(t.Context(), "lin", signed("d1"), []byte("ENG-1")))
		synctest.Wait()
		r.is("ENG-1", "Started", "Started")
		r.hub.silent = t
		for _, delivery := range []string{"d1", "d1", "another"} { // the same once more, under another name too
			check(t, r.service.HandleWebhook(t.Context(), "lin", signed(delivery), []byte("ENG-1")))
		}
		r.hub.silent = nil
		check(t, r.service.HandleWebhook(t.Context(), "lin", signed("d0"), []byte("ENG-1 "))) // an older one that comes late
		synctest.Wait()
		r.is("ENG-1", "Started", "Started")
		check(t, r.service.HandleWebhook(t.Context(), "lin", signed("d2"), []byte("ENG-9"))) // of an issue that is gone
		r.hub.file("ENG-2", nil)
		check(t, r.service.HandleWebhook(t.Context(), "lin", signed("d3"), []byte("ENG-2")))
		if _, ok, err := r.store.KeptIssue("lin", "ENG-2"); !ok || err != nil {
			t.Errorf("a new issue is not kept: %v", err)
		}
		if len(r.all("ENG-2")) > 0 {
			t.Error("it is dispatched although nobody wants that")
		}
	})
}

// An issue that comes in and is moved is listed, read before the move, and moved: nothing else is asked.
func TestAnIssueInAndOutIsReadOnce(t *testing.T) {
	cfg := linear()
	cfg.Auto = true
	inBubble(t, cfg, func(t *testing.T, r *env) {
		r.hub.whole = true
		_, err := r.service.Test(t.Context(), "lin") // the columns are known from now on
		check(t, err)
		r.hub.file("ENG-1", func(is *tracker.Issue) { is.Assignee = "" })
		r.hub.asked("")
		check(t, r.service.HandleWebhook(t.Context(), "lin", signed("d1"), []byte("ENG-1")))
		synctest.Wait()
		r.is("ENG-1", "Started", "Started")
		r.hub.mu.Lock()
		got := strings.Join(r.hub.calls, ", ")
		r.hub.mu.Unlock()
		// The task is made in the column in which the issue is: that takes one look and no write.
		if want := "list Backlog, issue ENG-1, issue ENG-1, write ENG-1"; got != want {
			t.Errorf("the tracker was asked %q, want %q", got, want)
		}
		if is, ok, err := r.store.KeptIssue("lin", "ENG-1"); err != nil || !ok || is.Card.Column != "Started" || is.Brief {
			t.Errorf("kept is %+v, %v", is, err)
		}
	})
}

// A webhook reads an issue while Orange moves it, and gets it as it was before: that is no move by somebody else.
func TestAReadingFromBeforeOurOwnMoveIsNoMove(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.hub.whole = true
		r.begun("ENG-1", "Started")
		slow := &slowTracker{fakeTracker: r.hub, moved: make(chan struct{})}
		r.service.Connect = func(tracker.Config) (trackers.Backend, error) { return slow, nil }
		cfg := linear()
		cfg.Max = 9
		check(t, r.store.SetTracker(cfg)) // connects again
		r.passes("ENG-1")                 // the issue is being moved now
		time.Sleep(time.Second / 2)
		done := make(chan error, 1)
		go func() { done <- r.service.HandleWebhook(t.Context(), "lin", signed("d1"), []byte("ENG-1")) }()
		time.Sleep(time.Second)
		synctest.Wait()
		close(slow.moved)
		check(t, <-done)
		synctest.Wait()
		r.is("ENG-1", "Finished", "Finished")
	})
}

// slowTracker takes a second for its first move. A read that begins meanwhile gets the issue as it was before, and its
// answer arrives when moved is closed.
type slowTracker struct {
	*fakeTracker
	writes atomic.Int32
	moved  chan struct{}
}

func (s *slowTracker) WriteChange(ctx context.Context, was tracker.Issue, c board.Change) (*tracker.Issue, error) {
	if c.Column != "" && s.writes.Add(1) == 1 {
		time.Sleep(time.Second)
		s.writes.Add(1)
	}
	return s.fakeTracker.WriteChange(ctx, was, c)
}

func (s *slowTracker) ReadIssue(ctx context.Context, key string) (tracker.Issue, error) {
	is, err := s.fakeTracker.ReadIssue(ctx, key)
	if s.writes.Load() == 1 {
		<-s.moved
	}
	return is, err
}

func TestNewsThatAreNotBelieved(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.hub.silent = t
		forged := signed("d1")
		forged.Set("Signature", "guess")
		if err := r.service.HandleWebhook(t.Context(), "lin", forged, []byte("ENG-1")); !errors.Is(err, tracker.ErrForged) {
			t.Error(err)
		}
		if err := r.service.HandleWebhook(t.Context(), "lin", signed(""), []byte("ENG-1")); err == nil {
			t.Error("news without a name")
		}
		if before, err := r.store.HasDelivery("lin", "d1", time.Now()); before || err != nil {
			t.Errorf("what is forged keeps the genuine one from being heard: %v", err)
		}
		r.service.Connect = func(tracker.Config) (trackers.Backend, error) { return deaf{r.hub}, nil }
		cfg := linear()
		cfg.Max = 9
		check(t, r.store.SetTracker(cfg))
		var mistake *task.Mistake
		if err := r.service.HandleWebhook(t.Context(), "lin", signed("d2"), nil); !errors.As(err, &mistake) || !strings.Contains(err.Error(), "sends no webhooks") {
			t.Error(err)
		}
	})
}

// deaf is a tracker that sends no news.
type deaf struct{ trackers.Backend }

func TestNewsThatCouldNotBeFollowedMayComeAgain(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Delivered")
		r.hub.move("ENG-1", "Started")
		r.hub.faults(func(string, string) error { return errAway }, nil)
		if err := r.service.HandleWebhook(t.Context(), "lin", signed("d1"), []byte("ENG-1")); !errors.Is(err, errAway) {
			t.Error(err)
		}
		r.hub.faults(nil, nil)
		r.service.Close()
		r.service = r.newOffice() // the server restarts
		check(t, r.service.HandleWebhook(t.Context(), "lin", signed("d1"), []byte("ENG-1")))
		synctest.Wait()
		r.is("ENG-1", "Started", "Started")
		r.hub.silent = t
		check(t, r.service.HandleWebhook(t.Context(), "lin", signed("d1"), []byte("ENG-1")))
	})
}

func TestNewsAreFollowedAlthoughWhoSentThemIsGone(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Delivered")
		r.hub.move("ENG-1", "Started")
		ctx, cancel := context.WithCancel(t.Context())
		r.hub.faults(func(string, string) error { cancel(); return nil }, nil)
		check(t, r.service.HandleWebhook(ctx, "lin", signed("d1"), []byte("ENG-1")))
		synctest.Wait()
		r.is("ENG-1", "Started", "Started")
	})
}

func TestNewsOfPullRequestsAndOfNewIssues(t *testing.T) {
	cfg := linear()
	cfg.Auto = true
	inBubble(t, cfg, func(t *testing.T, r *env) {
		r.begun("ENG-1", "Delivered")
		r.passes("ENG-1")
		r.pull("ENG-1", func(pr *tracker.PR) { pr.State = tracker.Merged })
		check(t, r.service.HandleWebhook(t.Context(), "lin", signed("d1"), []byte("#7")))
		synctest.Wait()
		r.is("ENG-1", "Accepted", "Accepted")
		r.hub.file("ENG-2", nil)
		var all sync.WaitGroup
		for _, name := range []string{"a", "b", "c", "d"} { // all in parallel
			all.Go(func() {
				if err := r.service.HandleWebhook(t.Context(), "lin", signed(name), []byte("ENG-2")); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		synctest.Wait()
		if n := len(r.all("ENG-2")); n != 1 {
			t.Errorf("%d tasks", n)
		}
	})
}

func TestWatching(t *testing.T) {
	cfg := linear()
	cfg.Every = time.Minute
	inBubble(t, cfg, func(t *testing.T, r *env) {
		ctx, cancel := context.WithCancel(t.Context())
		changed, ended := make(chan struct{}), make(chan struct{})
		go func() { r.service.WatchTrackers(ctx, changed); close(ended) }()
		synctest.Wait()
		if n := r.hub.asked("list"); n != 1 {
			t.Errorf("%d looks at once", n)
		}
		time.Sleep(5*time.Minute + time.Second)
		if n := r.hub.asked("list"); n != 5 {
			t.Errorf("%d looks in five minutes", n)
		}
		r.hub.file("ENG-1", nil)
		time.Sleep(2 * time.Minute)
		if len(r.all("ENG-1")) > 0 {
			t.Error("dispatched although nobody wants that")
		}
		cfg.Auto, cfg.Every = true, 0
		check(t, r.store.SetTracker(cfg))
		changed <- struct{}{}
		synctest.Wait()
		r.is("ENG-1", "Started", "Started")
		if !r.service.HasWatched() {
			t.Error("nobody watches")
		}
		check(t, r.store.RemoveTracker("lin"))
		changed <- struct{}{}
		synctest.Wait()
		r.hub.silent = t
		time.Sleep(time.Hour)
		r.hub.silent = nil
		if r.service.HasWatched() {
			t.Error("a tracker that is gone is watched")
		}
		cancel()
		<-ended
	})
}

func TestWatchingAfterAFailure(t *testing.T) {
	cfg := linear()
	cfg.Auto = true
	inBubble(t, cfg, func(t *testing.T, r *env) {
		r.hub.faults(func(string, string) error { return errAway }, nil)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { r.service.WatchTrackers(ctx, nil); close(ended) }()
		time.Sleep(3 * time.Minute)
		if list, err := r.service.List(); err != nil || list[0].Problem != errAway.Error() {
			t.Errorf("%q, %v", list[0].Problem, err)
		}
		r.hub.file("ENG-1", nil)
		r.hub.faults(nil, nil)
		time.Sleep(2 * time.Minute)
		r.is("ENG-1", "Started", "Started")
		// Pull requests of tasks without a tracker are looked at, too.
		r.fact("nothing-lost", true, "")
		a, err := r.tasks.Runtime.Create(t.Context(), signal.NewTask{Actor: task.Human, Workflow: "linear-sdlc", New: signal.New{Project: "p", Branch: "b", Summary: "s", PRURL: "https://forge.example/o/r/pull/8", PRState: tracker.Open}})
		check(t, err)
		r.forge.put(tracker.PR{Number: 8, State: tracker.Closed, Branch: "b", Head: "c1"})
		time.Sleep(3 * time.Minute)
		if got, _, err := r.store.Task(a.Task.ID); err != nil || got.Status != "Canceled" {
			t.Errorf("%s, %v", got.Status, err)
		}
		cancel()
		<-ended
	})
}
