package engine_test

import (
	"strings"
	"testing"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/narrate"
)

// Who hands over, what is missing, and what becomes of it.
func TestWorkIsHandedOverCommitted(t *testing.T) {
	const done, nothing = "## Handoff\nDONE: it\n", "## Handoff\nNOTHING: it works already\n"
	for name, tt := range map[string]struct {
		workflow, from, to string
		actor              task.Actor
		text               string
		without            []string
		exit               bool
		verdict            engine.Verdict
		says               string // in the refusal, the warning or the reason
	}{
		"committed":                {"orange", "working", "agent-review", "worker", done, nil, false, engine.Advance, ""},
		"no commits":               {"orange", "working", "agent-review", "worker", done, []string{"commits"}, false, engine.Refuse, "commits: supposed not to be there"},
		"uncommitted files":        {"orange", "working", "agent-review", "worker", done, []string{"clean"}, false, engine.Refuse, "clean: supposed not to be there"},
		"both are named":           {"orange", "working", "agent-review", "worker", done, []string{"clean", "commits"}, false, engine.Refuse, "commits: supposed not to be there; clean: supposed not"},
		"nothing to commit":        {"orange", "working", "agent-review", "worker", nothing, []string{"commits"}, false, engine.Advance, ""},
		"nothing, and files":       {"orange", "working", "agent-review", "worker", nothing, []string{"commits", "clean"}, false, engine.Refuse, "clean: "},
		"a person":                 {"orange", "working", "agent-review", task.Human, done, []string{"commits", "clean"}, false, engine.Advance, "its work is incomplete: commits: supposed not to be there; clean: "},
		"the fixer":                {"orange", "stuck", "reviewing", "fixer", done, []string{"clean"}, false, engine.Refuse, "clean: "},
		"the fixer, without files": {"orange", "stuck", "reviewing", "fixer", done, nil, false, engine.Stay, ""},
		"the reviewer":             {"orange", "agent-review", "reviewing", "reviewer", "## Review\nVerdict: PASS\n", []string{"commits", "clean"}, false, engine.Advance, ""},
		"at the end":               {"orange", "working", "", "", done, []string{"clean"}, true, engine.Stay, "clean: "},
		"at the end, nothing":      {"orange", "working", "", "", nothing, []string{"commits"}, true, engine.Stay, "commits: "},
		"no handoff at the end":    {"orange", "working", "", "", "", []string{"clean"}, true, engine.Crash, "no ## Handoff"},
		"the short form":           {"orange-direct", "working", "agent-review", "worker", done, []string{"clean"}, false, engine.Refuse, "clean: "},
		"the short form, fixer":    {"orange-direct", "stuck", "agent-review", "fixer", done, []string{"commits"}, false, engine.Refuse, "commits: "},
		"an end without a word":    {"linear-sdlc", "Started", "", "", "", []string{"commits"}, true, engine.Crash, "commits: "},
	} {
		t.Run(name, func(t *testing.T) {
			o := suppose(t, load(t, tt.workflow), tt.text, engine.Assumptions{From: tt.from, To: tt.to, Actor: tt.actor, Exit: tt.exit, Without: tt.without})
			said := o.Refused + o.Warning
			if tt.exit && len(o.Entries) > 0 {
				said = o.Entries[0].Reason
			}
			if o.Verdict != tt.verdict || !strings.Contains(said, tt.says) || tt.says == "" && said != "" && !tt.exit {
				t.Errorf("%s: %q", o.Verdict, said)
			}
		})
	}
}

func TestAnAgentIsAskedOnceToFinish(t *testing.T) {
	w := placed(t, "joan-board", "dev-implement")
	lacks := signal.Evidence{Name: workflow.Clean, Detail: "uncommitted in the worktree: a.txt"}
	ends := func() engine.Decision {
		a := w.own()
		return w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role, Report: word("success"), Evidence: []signal.Evidence{lacks}})
	}
	d := ends()
	asked := d.Entries[0]
	if tell := asked.Effects[len(asked.Effects)-1]; asked.Type != journal.AgentUndone || !tell.Start || tell.Message != workflow.MessageFinish || !strings.Contains(tell.Text, "a.txt") {
		t.Fatalf("%+v", asked)
	}
	w.perform()
	ends()
	if w.task.Status != "dev-implement" || !strings.Contains(w.task.WorkFailed, "a.txt") || w.task.CounterValue("crash_count")+w.task.CounterValue("no_answer") != 0 || len(w.task.Attempts) != 0 {
		t.Fatalf("held %q, %+v", w.task.WorkFailed, w.task.Counters)
	}
	it, ok := explain.InboxItem(w.def, w.task)
	if !ok || it.Kind != explain.ItemFailed || !strings.Contains(it.Text, "a.txt") || narrate.FormatCommand(it.Action) != "orange task respawn "+string(w.task.ID) {
		t.Errorf("%+v", it)
	}
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Respawn})
	w.perform()
	if ends(); w.task.WorkFailed != "" {
		t.Errorf("whom a person lets go on is not asked: %q", w.task.WorkFailed)
	}
}

// Workflows from before ask for commits and not for clean. What their journals say is
// decided the same again.
func TestWorkflowsFromBeforeAreDecidedAsBefore(t *testing.T) {
	text := strings.ReplaceAll(load(t, "linear-sdlc").Text, "[committed, clean]", "committed")
	old := parse(t, strings.Replace(text, "  clean: {evidence: clean}\n", "", 1))
	lacks := signal.Evidence{Name: workflow.Commits, Detail: "none"}
	w := placedIn(t, old, "Started")
	if d := w.ends(word("passed"), lacks); d.Entries[0].Type != journal.AgentSilent || w.task.CounterValue("no_answer") != 1 {
		t.Errorf("at its end: %+v", d.Entries)
	}
	w = placedIn(t, old, "Started")
	for n := range 2 {
		if w.tells(word("passed"), lacks); w.task.CounterValue("no_answer") != n+1 || w.task.Handover != nil {
			t.Errorf("word %d of a living agent: %+v", n+1, w.task)
		}
	}
	w = placed(t, "orange", "reviewing")
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbMerge})
	d := w.must(signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: w.task.Pending[0].ID, Error: "no", Final: true}})
	if e := d.Entries[0]; e.Type != journal.EffectGaveUp || e.GaveUp != nil {
		t.Errorf("a merge that failed: %+v", e)
	}
}

func TestABranchWithoutCommitsIsNotMerged(t *testing.T) {
	w := placed(t, "orange", "reviewing")
	empty := signal.Evidence{Name: workflow.Merged, Holds: true, Empty: true, Detail: "branch b has no commits: nothing was merged"}
	w.refused(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbMerge, Evidence: []signal.Evidence{empty}}, "has no commits: nothing was merged")
	lost := signal.Evidence{Name: workflow.Merged, Empty: true, Detail: "branch b has lost its commits"}
	w.refused(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbMerge, Evidence: []signal.Evidence{lost}}, "branch b has lost its commits")
	d := w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Complete, Evidence: []signal.Evidence{empty}})
	if w.task.Status != "done" || !strings.Contains(d.Entries[0].Reason, "nothing was merged") || w.task.Work != nil {
		t.Errorf("%s: %q, %+v", w.task.Status, d.Entries[0].Reason, w.task.Work)
	}
}

func TestCommitsThatAreLeftBehindAreNamed(t *testing.T) {
	left := signal.Evidence{Name: workflow.Merged, LeftBehind: []string{"1111111111111111", "2222222222222222"}}
	const want = "branch b no longer has commits of its handover: 111111111111, 222222222222"
	w := placed(t, "orange", "reviewing")
	w.task.Branch = "b"
	d := w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbMerge, Note: "good", Evidence: []signal.Evidence{left}})
	if d.Warning != want || d.Entries[0].Note != "good; "+want {
		t.Errorf("asked to merge: warned %q, noted %q", d.Warning, d.Entries[0].Note)
	}
	left.Holds = true
	d = w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.Complete, Evidence: []signal.Evidence{left}})
	if w.task.Status != "done" || d.Warning != want || d.Entries[0].Note != want {
		t.Errorf("%s: warned %q, noted %q", w.task.Status, d.Warning, d.Entries[0].Note)
	}
}

func TestTheRecordKnowsWhichCommitsWereMerged(t *testing.T) {
	w := placed(t, "orange", "reviewing")
	w.must(signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbMerge, Evidence: []signal.Evidence{{Name: workflow.Commits, Holds: true, Base: "a", Head: "b"}}})
	if got := w.task.Work; got == nil || *got != (task.Work{Base: "a", Head: "b"}) {
		t.Errorf("%+v", got)
	}
	w.must(signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: signal.PRMerged, Evidence: []signal.Evidence{{Name: workflow.Merged, Holds: true, Base: "a", Head: "c"}}})
	if got := w.task.Work; w.task.Status != "done" || got == nil || *got != (task.Work{Base: "a", Head: "c", Landed: true}) {
		t.Errorf("%s: %+v", w.task.Status, got)
	}
}
