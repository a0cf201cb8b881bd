package trackers_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/task"
	"orange/internal/core/tracker"
)

func TestPullRequestsThatWereReadAreReported(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		type sight struct {
			Task   task.ID
			State  string
			Checks []tracker.Check
		}
		var got []sight
		r.service.Seen = func(id task.ID, pr tracker.PR) { got = append(got, sight{id, pr.State, pr.Checks}) }
		r.begun("ENG-1", "Finished")
		r.sync()
		if len(got) > 0 {
			t.Errorf("there is no pull request yet: %+v", got)
		}
		// Anybody can open one that names the issue.
		r.forge.put(tracker.PR{Number: 9, State: tracker.Open, Title: "mine for ENG-1", Branch: "mallory/x", Head: "c9"})
		r.sync()
		if len(got) > 0 {
			t.Errorf("somebody else's is reported: %+v", got)
		}
		pending := []tracker.Check{{Name: "ci", State: tracker.CheckPending}}
		r.pull("ENG-1", func(pr *tracker.PR) { pr.Checks = pending })
		r.sync()
		r.pull("ENG-1", func(pr *tracker.PR) { pr.State = tracker.Closed })
		r.sync()
		id := r.of("ENG-1").ID
		if d := cmp.Diff([]sight{{id, tracker.Open, pending}, {id, tracker.Closed, nil}}, got); d != "" {
			t.Error(d)
		}
	})
}
