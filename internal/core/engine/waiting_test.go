package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/view/narrate"
)

// reasons are why the world's task waits.
func (w *world) reasons(output string) []explain.WaitReason {
	w.t.Helper()
	doc, err := taskfile.Parse([]byte(w.body))
	if err != nil {
		w.t.Fatal(err)
	}
	return explain.WaitReasons(w.def, w.task, explain.Records{
		Entries: stored(w.t, w.log), Sections: doc.Sections(), Output: func(int) string { return output },
	})
}

// inWorking is a task whose worker is at work.
func inWorking(t *testing.T) *world {
	t.Helper()
	w := begin(t, "orange", true)
	w.perform()
	w.body = "## Plan\n\nAPPROACH: x\n"
	w.to("worker", "working")
	return w
}

func TestWhyATaskWaits(t *testing.T) {
	handedOver := func(w *world) {
		w.body += fmt.Sprintf("\n## Handoff\n\nDONE: %d\n", w.task.Visit)
		sig := w.asks("worker", "agent-review")
		sig.Evidence = []signal.Evidence{{Name: "commits", Holds: true}, {Name: "clean", Holds: true}}
		w.must(sig)
		w.perform()
	}
	failReview := func(w *world, text string) {
		handedOver(w)
		w.body += "\n## Review\n\nVerdict: FAIL\n\n" + text + "\n"
		w.must(signal.Signal{Kind: signal.Request, Actor: "reviewer", Attempt: w.own().Number, Verb: "complete"})
		w.perform()
	}
	tests := map[string]struct {
		do   func(w *world)
		want []explain.WaitReason
		text string // of the item
	}{
		"an agent says why it is stuck": {
			do: func(w *world) {
				sig := w.asks("worker", "stuck")
				sig.Note = "The database is gone:\n\n- no host\n- no password"
				w.must(sig)
			},
			want: []explain.WaitReason{{Kind: explain.BecauseOfNote, By: "worker", Text: "The database is gone:\n\n- no host\n- no password"}},
			text: "the work needs help: The database is gone: - no host - no password",
		},
		"a person says why it is stuck": {
			do: func(w *world) {
				w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "stuck", Note: "wait for the audit"})
			},
			want: []explain.WaitReason{{Kind: explain.BecauseOfNote, By: "human", Text: "wait for the audit"}},
			text: "the work needs help: wait for the audit",
		},
		"its questions, as a list": {
			do: func(w *world) {
				w.to("worker", "clarification")
				w.body += "\n## Questions\n\n1. Which colour?\n2. Which size?\n"
			},
			want: []explain.WaitReason{{Kind: explain.BecauseOfQuestions, Text: "1. Which colour?\n2. Which size?"}},
			text: "1. Which colour? 2. Which size?",
		},
		"its agents died": {
			do: func(w *world) {
				w.perform()
				w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: "worker", Code: 137, Last: "reading\nout of memory"})
				w.fires(engine.Respawn)
				w.perform()
				w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: "worker", Code: 137, Last: "reading\nout of memory"})
			},
			want: []explain.WaitReason{{Kind: explain.BecauseOfCrash, By: "worker", Text: "    reading\n    out of memory\n\nreading out of memory; the worker ended (code 137, SIGKILL): TASK.md has no ## Handoff: write it, with a line DONE: or REMAINING: or DECISIONS: or UNCERTAIN: or NOTHING:"}},
			text: "the work needs help: crash 2 of 2 in working: reading out of memory; the worker ended (code 137): TASK.md has no ## Handoff: write it, with a line DONE: or REMAINING: or DECISIONS: or UNCERTAIN: or NOTHING:",
		},
		"its review failed twice": {
			do: func(w *world) {
				failReview(w, "- the first")
				failReview(w, "- a test is missing\n- a name is wrong")
			},
			want: []explain.WaitReason{{Kind: explain.BecauseOfVerdict, By: "reviewer", Text: "Verdict: FAIL\n\n- a test is missing\n- a name is wrong"}},
			text: "the work needs help: ## Review: Verdict: FAIL - a test is missing - a name is wrong",
		},
		"it asks for more than it may": {
			do: func(w *world) {
				w.to("worker", "stuck")
				w.perform()
				sig := w.asks("worker", "reviewing")
				sig.Note = "it is mended"
				w.must(sig)
			},
			want: []explain.WaitReason{{Kind: explain.BecauseOfNote, By: "worker", Text: "it is mended"}},
			text: "the worker asks for reviewing: it is mended",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := inWorking(t)
			tt.do(w)
			got := w.reasons("reading\x1b[2K\nout of memory\n")
			for i := range got {
				got[i].Text = strings.ReplaceAll(got[i].Text, "\x1b[2K", "")
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			it, ok := explain.InboxItem(w.def, w.task)
			it.SetReasons(got)
			if !ok || it.Text != tt.text {
				t.Errorf("the item says %q", it.Text)
			}
			if text := narrate.DescribeExplanation(w.explain(), w.now); !strings.Contains(text, strings.SplitN(tt.want[0].Text, "\n", 2)[0]) {
				t.Errorf("the explanation does not say it:\n%s", text)
			}
		})
	}
}

func TestATaskThatWaitsForNobodyHasNoReason(t *testing.T) {
	w := inWorking(t)
	if got := w.reasons(""); got != nil {
		t.Errorf("at work: %+v", got)
	}
	w = begin(t, "orange", false)
	if got := w.reasons(""); got != nil {
		t.Errorf("not started: %+v", got)
	}
	w = inWorking(t)
	sig := w.asks("worker", "stuck")
	sig.Note = "help"
	w.must(sig)
	w.perform()
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "resume"})
	if got := w.reasons(""); got != nil {
		t.Errorf("resumed: %+v", got)
	}
}

func TestAReasonIsBounded(t *testing.T) {
	w := inWorking(t)
	sig := w.asks("worker", "stuck")
	sig.Note = strings.Repeat("é", 10_000)
	w.must(sig)
	got := w.reasons("")
	if len(got) != 1 || len(got[0].Text) > 4100 || !strings.HasSuffix(got[0].Text, "é...") {
		t.Errorf("%d reasons, %d bytes", len(got), len(got[0].Text))
	}
}
