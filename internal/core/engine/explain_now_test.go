package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/explain"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/view/narrate"
)

func TestAnIdleAgentIsNotAtWork(t *testing.T) {
	w := begin(t, "orange", true)
	w.perform()
	if x := w.explain(); x.Why != "attempt 1 is at work" || x.Cheapest.Opens != "the worker, which is at work" {
		t.Errorf("at work: %s, %+v", x.Why, x.Cheapest)
	}
	w.notices(1, &task.Condition{Name: task.Idle}, nil)
	x := w.explain()
	if x.Owner != "worker" || x.Why != "attempt 1 is idle: its turn has ended" || x.Cheapest.Opens != "the worker, which is idle" || x.Cheapest.Until.IsZero() {
		t.Errorf("idle: %s, %s, %+v", x.Owner, x.Why, x.Cheapest)
	}
	if text := narrate.DescribeExplanation(x, w.now); !strings.Contains(text, "is idle") || strings.Contains(text, "is at work") {
		t.Error(text)
	}
}

func TestOnlyAgentsWithAProcessLive(t *testing.T) {
	w := begin(t, "orange", true)
	w.perform()
	past := explain.Past{Entries: stored(t, w.log)}
	x := explain.TaskWithPast(w.def, w.task, signal.Signal{At: w.now, Absent: []int{1}}, past)
	if x.Owner != "the engine" || x.Why != "attempt 1 of the worker has ended, and its end is being recorded" || x.Cost[0].Living != 0 {
		t.Errorf("gone: %s, %s, %+v", x.Owner, x.Why, x.Cost)
	}
	if narrate.FormatCommand(x.Cheapest.Action) != "" || x.Cheapest.Opens != "the end of attempt 1 to be recorded" {
		t.Errorf("%+v", x.Cheapest)
	}
	if g := explain.Summarize(w.def, w.task, signal.Signal{At: w.now, Absent: []int{1}}); g.Owner != "the engine" {
		t.Errorf("at a glance: %+v", g)
	}
	if x := w.explain(); x.Cost[0].Living != 1 {
		t.Errorf("without the knowledge of processes: %+v", x.Cost)
	}
	w.task.Attempts[0].Running = false
	if x := explain.TaskWithPast(w.def, w.task, signal.Signal{At: w.now, Absent: []int{1}}, past); x.Owner != "the engine" || x.Why != "attempt 1 of the worker is being started" {
		t.Errorf("starting: %s, %s", x.Owner, x.Why)
	}
}

func TestBoundsThatApply(t *testing.T) {
	bounds := func(w *world) string {
		var out []string
		for _, b := range w.explain().Bounds {
			out = append(out, narrate.DescribeBound(b))
		}
		return strings.Join(out, "\n")
	}
	w := story(t)
	if diff := cmp.Diff("review_round is 1 of 2: at 2 the way to working closes and the way to stuck opens\n"+
		"crash_count is 0 of 2 in this state: at 2 the task goes to stuck\nno_answer is 0 of 2 in this state: at 2 the task goes to stuck", bounds(w)); diff != "" {
		t.Error(diff)
	}
	if text := narrate.DescribeExplanation(w.explain(), w.now); !strings.Contains(text, "\nBounds\n  review_round is 1 of 2: at 2") {
		t.Error(text)
	}
	w.end("reviewer")
	if got := bounds(w); !strings.HasSuffix(got, "\ncrash_count is 1 of 2 in this state: at 2 the task goes to stuck\nno_answer is 0 of 2 in this state: at 2 the task goes to stuck") {
		t.Error(got)
	}
	w = begin(t, "orange", true)
	w.perform()
	w.send(signal.Signal{Kind: signal.Request, Actor: task.Human, To: "cancelled"})
	if got := bounds(w); got != "" {
		t.Errorf("of a task that is over: %s", got)
	}
	w = placed(t, "linear-sdlc", "Finished")
	if got := bounds(w); !strings.Contains(got, "no_answer is 0 of 3 in this state: at 3 the task goes to Halted") {
		t.Error(got)
	}
}

func TestTheNextDeadlineIsNamed(t *testing.T) {
	w := story(t)
	if text := narrate.DescribeExplanation(w.explain(), w.now); !strings.Contains(text, "\nDeadline: in 1h (2026-01-02 04:14:11): end the reviewer of agent-review and\n  judge what it left\n") {
		t.Error(text)
	}
	w = begin(t, "orange", true)
	w.perform()
	w.end("worker")
	if text := narrate.DescribeExplanation(w.explain(), w.now); !strings.Contains(text, "\nNext start: in 10s (") || !strings.Contains(text, "): start the worker again\n") {
		t.Error(text)
	}
	w = begin(t, "orange", true)
	w.perform()
	w.notices(1, &task.Condition{Name: task.Limited, Until: w.now.Add(time.Hour)}, nil)
	if text := narrate.DescribeExplanation(w.explain(), w.now); !strings.Contains(text, "): tell the worker that its limit is over\n") || !strings.Contains(text, "\nLimit: in ") {
		t.Error(text)
	}
}

func TestACooldownIsNamed(t *testing.T) {
	w := placed(t, "linear-sdlc", "Finished")
	w.ends(word("failed"))
	w.perform()
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Tracker, Verb: "request-changes"})
	w.perform()
	w.ends(word("passed"), facts(w.def, "committed")...)
	w.perform()
	x := w.explain()
	if x.Why != "the work failed in Finished, and the qa is started when the cooldown of 1h is over; a person's move, here or in the tracker, ends it, and so does orange task respawn "+string(w.task.ID) {
		t.Error(x.Why)
	}
	if text := narrate.DescribeExplanation(x, w.now); !strings.Contains(text, "\nCooldown: in ") || !strings.Contains(text, "start the qa, when the cooldown of 1h is over") {
		t.Error(text)
	}
}
