package trackers_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
)

// blocks makes issues block another one, and nobody else.
func (r *env) blocks(key string, blockers ...string) {
	r.hub.change(key, func(is *tracker.Issue) {
		is.BlockedBy = nil
		for _, b := range blockers {
			is.BlockedBy = append(is.BlockedBy, tracker.Link{Key: b})
		}
	})
	time.Sleep(time.Minute)
}

func (r *env) isAfter(key string, others ...string) {
	r.t.Helper()
	var want []task.ID
	for _, other := range others {
		want = append(want, r.of(other).ID)
	}
	if got := r.of(key).After; !slices.Equal(got, want) {
		r.t.Errorf("%s is after %v, want %v", key, got, want)
	}
}

func TestAnIssueThatIsBlockedLaterWaitsForItsBlocker(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.begun("ENG-2", "Started")
		r.blocks("ENG-2", "ENG-1", "ELSEWHERE-7")
		if news := strings.Join(r.sync().News, "\n"); !strings.Contains(news, "lin:ENG-2: blocked by ENG-1") {
			t.Errorf("%s", news)
		}
		r.isAfter("ENG-2", "ENG-1")
		r.blocks("ENG-1", "ENG-2")
		if news := strings.Join(r.sync().News, "\n"); !strings.Contains(news, "lin:ENG-1: blocked by ENG-2, but the task cannot wait for it: that would be a cycle") {
			t.Errorf("%s", news)
		}
		r.isAfter("ENG-1")

		drop := signal.Signal{Kind: signal.Update, Fields: []signal.Field{{Name: engine.FieldDropAfter, To: string(r.of("ENG-1").ID)}}}
		r.submit("ENG-2", drop) // what a person removed is not made again
		r.sync()
		r.isAfter("ENG-2")
		r.blocks("ENG-2")
		r.sync()
		r.blocks("ENG-2", "ENG-1") // until somebody says so again
		r.blocks("ENG-1")
		r.sync()
		r.isAfter("ENG-2", "ENG-1")
		r.blocks("ENG-2")
		r.sync()
		r.isAfter("ENG-2")
	})
}

func TestATaskForABlockedIssueIsAfterTheTaskOfItsBlocker(t *testing.T) {
	cfg := linear()
	cfg.Scope = "ENG"
	inBubble(t, cfg, func(t *testing.T, r *env) {
		r.begun("ENG-1", "Started")
		r.hub.file("ENG-2", nil)
		r.blocks("ENG-2", "ENG-1")
		if keys, waits := r.begins(false); len(keys) > 0 || waits["ENG-2"] != "blocked by ENG-1" {
			t.Errorf("%v, %v", keys, waits)
		}
		w := wishFor("https://linear.app/acme/issue/ENG-2/x")
		w.Spawn = true
		a, err := r.service.CreateFromIssue(t.Context(), w)
		check(t, err)
		synctest.Wait()
		r.isAfter("ENG-2", "ENG-1")
		if !a.Task.Queued || len(a.Task.Attempts) > 0 {
			t.Errorf("it does not wait: %+v", a.Task)
		}
		r.submit("ENG-1", signal.Signal{Kind: signal.Request, Verb: "cancel"})
		if got := r.of("ENG-2"); len(task.DroppedOf(got.Predecessors)) != 1 {
			t.Errorf("%+v", got.Predecessors)
		}
	})
}

func TestTheQueueKnowsThePriorityOfAnIssue(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		r.hub.file("ENG-1", func(is *tracker.Issue) { is.Priority = tracker.Low })
		r.hub.file("ENG-2", func(is *tracker.Issue) { is.Priority = tracker.Low })
		r.hub.say("ENG-2", "alice", "PRIORITY URGENT")
		r.dispatch()
		r.sync()
		for ref, want := range map[string]tracker.Priority{"lin:ENG-1": tracker.Low, "lin:ENG-2": tracker.Urgent, "lin:ENG-9": 0, "": 0, "board:p/1": 0} {
			if got := r.service.PriorityOf(&task.Task{Resources: task.Resources{TrackerRef: ref}}); got != int(want) {
				t.Errorf("%q has priority %d", ref, got)
			}
		}
	})
}
