package engine_test

import (
	"slices"
	"strings"
	"testing"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

func messageTo(role, words string) signal.Signal {
	return signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbSend, Role: role, Note: words}
}

func TestAPersonSendsAMessageToALivingAgent(t *testing.T) {
	w := workingNow(t)
	visit := w.task.Visit
	d := w.must(messageTo("", "Use the blue one"))
	if d.Verdict != engine.Record || len(d.Entries) != 1 || d.Entries[0].Type != journal.AgentMessaged || d.Entries[0].Note != "Use the blue one" || d.Entries[0].Role != "worker" {
		t.Errorf("%s %+v", d.Verdict, d.Entries)
	}
	if p := w.task.Pending; len(p) != 1 || p[0].Do != workflow.NotifyName("worker") || p[0].Start || p[0].Text != "Use the blue one" || p[0].Attempt != 1 || p[0].Turn {
		t.Errorf("pending %+v", p)
	}
	if w.task.Status != "working" || w.task.Visit != visit {
		t.Errorf("the task moved to %s", w.task.Status)
	}
	w.perform()
	w.decidedAgain()
}

func TestAMessageThatReachesNobodyIsRefused(t *testing.T) {
	w := workingNow(t)
	w.refused(messageTo("reviewer", "hello"), "no reviewer of the task lives, and working needs none")
	w.refused(messageTo("painter", "hello"), `role "painter" is not known`)
	w.refused(messageTo("", ""), "the message is empty")
	w.refused(messageTo("", "\xff"), "give UTF-8")
	w.refused(messageTo("", strings.Repeat("x", 64<<10+1)), "the limit is 65536")
	own := messageTo("", "hello")
	own.Actor, own.Attempt = "worker", 1
	w.refused(own, "only a person may send a message to an agent")
	w.end("worker")
	w.refused(messageTo("", "hello"), "no worker of the task lives: start one with orange task respawn "+string(w.task.ID))
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "cancel"})
	w.perform()
	w.refused(messageTo("", "hello"), "the task is over")
}

func TestAMessageOutlivesTheAgentThatDidNotReceiveIt(t *testing.T) {
	w := workingNow(t)
	w.must(messageTo("worker", "Use the blue one"))
	w.end("worker")
	at := slices.IndexFunc(w.task.Pending, func(p task.Effect) bool { return p.Start })
	if at < 0 || w.task.Pending[at].Text != "Use the blue one" || w.task.Crashed != "" {
		t.Errorf("crashed %q, pending %+v", w.task.Crashed, w.task.Pending)
	}
	w.decidedAgain()
}

func TestAMessageBeginsNoNewRound(t *testing.T) {
	w := workingNow(t)
	before := slices.Clone(w.task.Counters)
	w.must(messageTo("", "hello"))
	if !slices.Equal(before, w.task.Counters) {
		t.Errorf("counters %+v, before %+v", w.task.Counters, before)
	}
}

func editTo(summary, requirements string) signal.Signal {
	sig := signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbEdit, Note: requirements}
	if summary != "" {
		sig.Fields = []signal.Field{{Name: "summary", To: summary}}
	}
	return sig
}

func TestAnEditChangesTheTaskAndNotifiesItsAgent(t *testing.T) {
	w := workingNow(t)
	d := w.must(editTo("do it better", "A form."))
	if len(d.Entries) != 1 || d.Entries[0].Type != journal.TaskUpdated || d.Entries[0].Role != "worker" || w.task.Summary != "do it better" || w.task.Status != "working" {
		t.Errorf("%+v", d.Entries)
	}
	if p := w.task.Pending; len(p) != 2 || p[0].Do != workflow.WriteSection || p[0].Arg != "Requirements" || p[0].Text != "A form." || p[1].Prompt != workflow.MessageEdited || p[1].Attempt != 1 {
		t.Errorf("pending %+v", p)
	}
	w.perform()
	if d := w.send(editTo("do it better", "")); d.Verdict != engine.Stay || len(d.Entries) > 0 {
		t.Errorf("%s %+v", d.Verdict, d.Entries)
	}
	own := editTo("mine", "")
	own.Actor, own.Attempt = "worker", 1
	w.refused(own, "only a person may edit a task")
	branch := editTo("", "")
	branch.Fields = []signal.Field{{Name: "branch", To: "other"}}
	w.refused(branch, "use orange task update")
	w.end("worker")
	if d := w.must(editTo("do it well", "")); d.Entries[0].Role != "" || len(d.Entries[0].Effects) > 0 {
		t.Errorf("nobody lives: %+v", d.Entries)
	}
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: "cancel"})
	w.perform()
	w.refused(editTo("too late", ""), "the task is over")
	w.decidedAgain()
}
