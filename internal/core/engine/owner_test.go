package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// owned is what an explanation says of who must act, in one line.
func owned(w *world) string {
	x := explain.Task(w.def, w.task, signal.Signal{At: w.now, Free: w.free, Artifacts: signal.Artifacts{Sections: sectionsOf(w.t, w.body)}})
	return fmt.Sprintf("%s: %s: %s", x.Kind, x.Owner, x.Why)
}

func TestWhoMustActForEachKindOfState(t *testing.T) {
	working := func(t *testing.T) *world {
		w := begin(t, "orange", true)
		w.perform()
		return w
	}
	tests := []struct {
		name string
		play func(t *testing.T) *world
		want string
	}{
		{"created and not started", func(t *testing.T) *world { return begin(t, "orange", false) }, "queued: a person: it was created and not started"},
		{"queued", func(t *testing.T) *world {
			w := begin(t, "orange", false)
			w.free = nil
			w.to(task.Human, "planning")
			return w
		}, "queued: the engine: it waits for a free workspace of project p"},
		{"effects to be done", func(t *testing.T) *world { return begin(t, "orange", true) }, "agent: the engine: 2 effects are pending, acquire_workspace first"},
		{"an agent at work", working, "agent: worker: attempt 1 is at work"},
		{"an agent that died", func(t *testing.T) *world {
			w := working(t)
			w.end("worker")
			return w
		}, "agent: the engine: the worker died and will be started again"},
		{"an agent that is not replaced", func(t *testing.T) *world {
			w := beginWith(t, respawning("manual"))
			w.perform()
			w.end("worker")
			return w
		}, "agent: a person: the worker died, and Orange does not start it again"},
		{"no agent", func(t *testing.T) *world {
			w := &world{t: t, def: load(t, "orange"), now: start}
			w.must(signal.Signal{Kind: signal.Import, Actor: task.Human, New: newTask(func(n *signal.New) { n.Status = "agent-review" })})
			return w
		}, "agent: the engine: no reviewer lives; the deadline starts another one"},
		{"a question", func(t *testing.T) *world {
			w := working(t)
			w.to("worker", "clarification")
			return w
		}, "waiting: a person: a question waits for an answer"},
		{"a decision", func(t *testing.T) *world {
			w := underReview(t)
			w.body += "\n## Review\n\nVerdict: PASS\n"
			w.to("reviewer", "reviewing")
			w.perform()
			return w
		}, "human: a person: it waits for a person's decision"},
		{"stuck", stuckTask, "halt: a person: the work is stuck"},
		{"asked for", func(t *testing.T) *world {
			w := stuckTask(t)
			w.to("worker", "reviewing")
			return w
		}, "halt: a person: the worker asks for reviewing, and a person must approve it"},
		{"paused", func(t *testing.T) *world {
			w := working(t)
			w.must(signal.Signal{Kind: signal.Pause, Actor: task.Human})
			return w
		}, "agent: a person: the task is paused"},
		{"given up", func(t *testing.T) *world {
			w := begin(t, "orange", true)
			sig := receipt(w.task.Pending[0].ID, "no")
			sig.Result.Final = true
			w.must(sig)
			return w
		}, "agent: a person: it needs attention: acquire_workspace failed: no"},
		{"over", func(t *testing.T) *world {
			w := working(t)
			w.to(task.Human, "cancelled")
			w.perform()
			return w
		}, "terminal: nobody: the task is over"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := owned(tt.play(t)); got != tt.want {
				t.Errorf("%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestAStateTheWorkflowDoesNotHaveIsAPersonsAffair(t *testing.T) {
	def := load(t, "orange")
	x := explain.Task(def, task.Task{ID: "x", Status: "lost", Seq: 1}, signal.Signal{At: start})
	if x.Owner != "a person" || x.Why != `workflow orange has no state "lost"` {
		t.Errorf("%s: %s", x.Owner, x.Why)
	}
}

// ways writes the edges of an explanation down, one a line.
func ways(x explain.Explanation) string {
	var b strings.Builder
	for _, w := range x.Edges {
		mark := "open"
		if !w.Open {
			mark = "closed, " + w.Closed
		}
		fmt.Fprintf(&b, "%s as %q on %s by %s: %s\n", w.To, w.As, w.On, w.By, mark)
	}
	return b.String()
}

func TestEveryWayOutIsWeighedWithItsReason(t *testing.T) {
	const (
		review = "reviewing as \"complete\" on request, exit by reviewer: "
		cancel = "cancelled as \"cancel\" on request by human, tracker: open\n"
	)
	tests := []struct{ from, body, want string }{
		{"planning", "", "working as \"complete\" on request, exit by worker, human: closed, gate: TASK.md has no ## Plan: write it, with a line APPROACH: or TOUCHING:\n" +
			"clarification as \"clarify\" on request by worker, human: open\n" +
			"stuck as \"\" on crash-limit, no-answer-limit by the engine itself: closed, guard: crash_count is 0 and the limit is 2, no_answer is 0 and the limit is 2\n" + cancel},
		{"agent-review", "## Review\n\nVerdict: PASS\n", review + "open\n" +
			"working as \"complete\" on request, exit by reviewer: closed, gate: ## Review says PASS on line 3, and this needs FAIL\n" +
			"stuck as \"complete\" on request, exit by reviewer: closed, guard: review_round >= 2 does not hold (review_round = 0)\n" +
			"stuck as \"\" on crash-limit, no-answer-limit by the engine itself: closed, guard: crash_count is 0 and the limit is 2, no_answer is 0 and the limit is 2\n" + cancel},
		{"done", "", ""},
		{"cancelled", "", "pending as \"reopen\" on request by human: open\n"},
	}
	for _, tt := range tests {
		def := load(t, "orange")
		tk, sig, err := engine.Hypothetical(def, engine.Assumptions{From: tt.from, To: "pending", Sections: sectionsOf(t, tt.body)})
		if err != nil {
			t.Fatal(err)
		}
		if got := ways(explain.Task(def, tk, sig)); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.from, got, tt.want)
		}
	}
}

func TestTheNextStepsAreInTheOrderOfTheirTime(t *testing.T) {
	w := begin(t, "orange", true)
	w.must(receipt(w.task.Pending[0].ID, "not now"))
	x := explain.Task(w.def, w.task, signal.Signal{At: w.now})
	var got []string
	for _, s := range x.Next {
		got = append(got, s.What)
	}
	want := "acquire_workspace (try 2 of 6: not now); spawn_agent worker; end the worker of planning and judge what it left"
	if strings.Join(got, "; ") != want || !x.Next[0].At.Equal(w.now.Add(time.Second)) {
		t.Errorf("%s\n%+v", strings.Join(got, "; "), x.Next)
	}
	w.must(signal.Signal{Kind: signal.Pause, Actor: task.Human})
	if x := explain.Task(w.def, w.task, signal.Signal{At: w.now}); len(x.Next) != 0 {
		t.Errorf("a paused task goes on: %+v", x.Next)
	}
}
