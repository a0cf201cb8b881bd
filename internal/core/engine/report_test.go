package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// placed is a task that rests in a state of a built-in workflow, with the agents there
// that would be. It is on card 1 of the board of p.
func placed(t *testing.T, name, state string) *world {
	t.Helper()
	return placedIn(t, load(t, name), state)
}

func placedIn(t *testing.T, def *workflow.Definition, state string) *world {
	t.Helper()
	tk, _, err := engine.Hypothetical(def, engine.Assumptions{From: state, To: state, At: start})
	if err != nil {
		t.Fatal(err)
	}
	tk.TrackerRef = "board:p/1"
	return &world{t: t, def: def, task: tk, now: start, free: []string{"p--1"}}
}

// own is the living attempt of the state's role.
func (w *world) own() task.Attempt {
	w.t.Helper()
	s, _ := w.def.StateNamed(w.task.Status)
	a, ok := w.task.LiveAttempt(s.Role)
	if !ok {
		w.t.Fatalf("nobody works in %s", w.task.Status)
	}
	return a
}

// ends is the end of the state's agent, with what it said last.
func (w *world) ends(r *signal.Report, evidence ...signal.Evidence) engine.Decision {
	w.t.Helper()
	a := w.own()
	return w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role, Report: r, Final: "my last words", Evidence: evidence})
}

// tells is what the state's agent says while it lives.
func (w *world) tells(r *signal.Report, evidence ...signal.Evidence) engine.Decision {
	w.t.Helper()
	a := w.own()
	return w.must(signal.Signal{Kind: signal.Outcome, Actor: task.Actor(a.Role), Attempt: a.Number, Report: r, Final: "my last words", Evidence: evidence})
}

// word is a report that says a code in the form that was asked for.
func word(code string) *signal.Report {
	return &signal.Report{Outcome: signal.Passed, Code: code, Detail: "all of it", Source: signal.FromMarker}
}

// unclear is a report in which nothing counts.
func unclear(r signal.Result) *signal.Report {
	return &signal.Report{Outcome: r, Diagnosis: "line 3: nothing that counts"}
}

// facts is the evidence of gates of a workflow: that of the named holds.
func facts(def *workflow.Definition, holds ...string) []signal.Evidence {
	var out []signal.Evidence
	for i := range def.Gates {
		g := &def.Gates[i]
		if name := g.FactName(); name != "" {
			out = append(out, signal.Evidence{Name: name, Holds: slices.Contains(holds, g.Name) || g.Evidence == workflow.Clean || g.HandsOver() && def.Name != "linear-sdlc", Detail: "looked up"})
		}
	}
	return out
}

func ofType(entries []journal.Entry, typ journal.Type) *journal.Entry {
	for i := range entries {
		if entries[i].Type == typ {
			return &entries[i]
		}
	}
	return nil
}

func why(d engine.Decision) string {
	var out []string
	for _, r := range d.Reasons {
		out = append(out, r.String())
	}
	return strings.Join(out, "\n")
}

func TestEveryCodeTakesItsEdge(t *testing.T) {
	type row struct {
		workflow, from, code, to string
		gate                     string // that is open
		counters                 map[string]int
		children                 []signal.Child
		returnTo                 string
	}
	accepted := []signal.Child{{ID: "c", Status: "Accepted"}}
	rows := []row{
		{workflow: "linear-sdlc", from: "Started", code: "passed", gate: "committed", to: "Finished"},
		{workflow: "linear-sdlc", from: "Started", code: "PASSED", gate: "committed", to: "Finished"},
		{workflow: "linear-sdlc", from: "Started", code: "passed", gate: "committed", to: "Halted", counters: map[string]int{"sessions": 6}},
		{workflow: "linear-sdlc", from: "Finished", code: "passed", to: "Delivered"},
		{workflow: "linear-sdlc", from: "Finished", code: "passed", to: "Halted", counters: map[string]int{"sessions": 6}},
		{workflow: "linear-sdlc", from: "Delivered", code: "passed", to: "Merging"},
		{workflow: "linear-sdlc", from: "Delivered", code: "passed", gate: "merged", to: "Accepted"},
		{workflow: "linear-sdlc", from: "Finished-parent", code: "passed", to: "Tested-parent"},
		{workflow: "linear-sdlc", from: "Delivered-parent", code: "passed", to: "Accepted", children: accepted},
		{workflow: "cmat-feature", from: "requirements-analyst", code: "READY_FOR_DEVELOPMENT", gate: "requirements-analyst-output", to: "architect"},
		{workflow: "cmat-feature", from: "architect", code: "READY_FOR_IMPLEMENTATION", gate: "architect-output", to: "implementer"},
		{workflow: "cmat-feature", from: "implementer", code: "READY_FOR_TESTING", gate: "implementer-output", to: "tester"},
		{workflow: "cmat-feature", from: "implementer", code: "ready_for_integration", gate: "implementer-output", to: "tester"},
		{workflow: "cmat-feature", from: "tester", code: "TESTING_COMPLETE", gate: "tester-output", to: "documenter"},
		{workflow: "cmat-feature", from: "documenter", code: "DOCUMENTATION_COMPLETE", gate: "documenter-output", to: "complete"},
		{workflow: "joan-board", from: "consult-architect", code: "failure", to: "halted"},
		{workflow: "joan-board", from: "architect-plan", code: "failure", to: "halted"},
		{workflow: "joan-board", from: "review", code: "failure", to: "halted"},
	}
	for step, codes := range map[string]string{
		"requirements-analyst": "BLOCKED NEEDS_CLARIFICATION", "architect": "BLOCKED NEEDS_CLARIFICATION NEEDS_RESEARCH",
		"implementer": "BLOCKED NEEDS_CLARIFICATION BUILD_FAILED TESTS_FAILED", "tester": "TESTS_FAILED BUILD_FAILED BLOCKED", "documenter": "BLOCKED NEEDS_CLARIFICATION",
	} {
		for code := range strings.FieldsSeq(codes) {
			rows = append(rows, row{workflow: "cmat-feature", from: step, code: code, to: "halted"})
		}
	}
	for _, state := range strings.Fields("ba-evaluate ba-reevaluate dev-implement dev-rework dev-conflict ops-merge ops-rework ops-guided") {
		rows = append(rows, row{workflow: "joan-board", from: state, code: "success", to: "board"}, row{workflow: "joan-board", from: state, code: "failure", to: "board"})
	}
	for _, state := range strings.Fields("architect-plan architect-finalize architect-revise review") {
		rows = append(rows, row{workflow: "joan-board", from: state, code: "success", to: "board"})
	}
	for from, to := range map[string]string{
		"dev-implement": "dev-implement", "dev-rework": "dev-rework", "dev-conflict": "dev-conflict", "review": "review",
		"ops-merge": "ops-merge", "ops-rework": "ops-rework", "ops-guided": "ops-guided", "board": "board",
	} {
		rows = append(rows, row{workflow: "joan-board", from: "consult-architect", code: "success", to: to, returnTo: from})
	}
	for _, r := range rows {
		for _, lives := range []bool{false, true} {
			name := r.workflow + "/" + r.from + " " + r.code + " " + r.returnTo + r.gate
			t.Run(name, func(t *testing.T) {
				w := placed(t, r.workflow, r.from)
				w.task.ReturnTo = r.returnTo
				for i := range w.task.Counters {
					w.task.Counters[i].Value = r.counters[w.task.Counters[i].Name]
				}
				a, said := w.own(), word(r.code)
				sig := signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role, Code: 1, Report: said, Evidence: facts(w.def, r.gate), Children: r.children}
				if lives {
					sig.Kind, sig.Actor, sig.Role, sig.Code = signal.Outcome, task.Actor(a.Role), "", 0
				}
				d := w.must(sig)
				want := engine.Advance
				if s, _ := w.def.StateNamed(r.to); s.Kind == workflow.Halt {
					want = engine.Halt
				}
				if d.Verdict != want || w.task.Status != r.to {
					t.Fatalf("%s to %s, want %s\n%s", d.Verdict, w.task.Status, r.to, why(d))
				}
				e := d.Entries[0]
				if len(d.Entries) != 1 || e.Type != journal.AutoAdvanced || e.Reason != a.Role+" says "+r.code+": all of it" || e.Snapshot.Report == nil {
					t.Errorf("%d entries, %+v", len(d.Entries), e)
				}
				if s := w.task.LastReport; s == nil || s.Role != a.Role || s.State != r.from || s.Attempt != a.Number || s.Code != r.code || s.Source != "marker" || s.Visit != 1 {
					t.Errorf("%+v", s)
				}
				old, there := w.task.AttemptByNumber(a.Number)
				if lives && (!there || !old.Ending) || !lives && there {
					t.Errorf("the agent that spoke: %+v, %v", old, there)
				}
				if c := w.def.CrashCounter(); w.task.CounterValue(c.Name) != 0 {
					t.Errorf("a word with exit code 1 is counted as a crash: %+v", w.task.Counters)
				}
			})
		}
	}
}

func TestAWordFromTheWrongMouthMovesNothing(t *testing.T) {
	another := task.Attempt{Number: 2, Role: "development", State: "Started", Visit: 1, Since: start, Running: true}
	tests := []struct {
		name   string
		change func(*task.Task)
		sig    signal.Signal
		exited string // why the end is written down; "" for a living agent
		reason string
	}{
		{"another role, living", nil, signal.Signal{Kind: signal.Outcome, Actor: "development", Attempt: 2}, "", "development may not: it takes qa"},
		{"another role, ended", nil, signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: "development", Attempt: 2}, "Finished goes on without it: Finished is the qa's", ""},
		{"another role in the name of the right one", nil, signal.Signal{Kind: signal.Outcome, Actor: "qa", Attempt: 2}, "", "attempt 2 is the development's, not the qa's"},
		{"the right role in the name of another", nil, signal.Signal{Kind: signal.Outcome, Actor: "development", Attempt: 1}, "", "development may not"},
		{"one told to end, living", func(t *task.Task) { t.Attempts[0].Ending = true }, signal.Signal{Kind: signal.Outcome, Actor: "qa", Attempt: 1}, "", "attempt 1 was told to end"},
		{"one told to end, ended", func(t *task.Task) { t.Attempts[0].Ending = true }, signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: "qa", Attempt: 1}, "as ordered", ""},
		{"one that is over", nil, signal.Signal{Kind: signal.Outcome, Actor: "qa", Attempt: 7}, "", "attempt 7 is over or never was"},
		{"nobody", nil, signal.Signal{Kind: signal.Outcome, Actor: "qa"}, "", "no qa of this task is alive"},
		{"a person", nil, signal.Signal{Kind: signal.Outcome, Actor: task.Human, Attempt: 1}, "", "human may not"},
	}
	for _, tt := range tests {
		for _, code := range []string{"passed", "failed"} {
			t.Run(tt.name+" "+code, func(t *testing.T) {
				w := placed(t, "linear-sdlc", "Finished")
				w.task.Attempts = append(w.task.Attempts, another)
				w.task.AttemptCounts = append(w.task.AttemptCounts, task.AttemptTally{Role: "development", Count: 1})
				if tt.change != nil {
					tt.change(&w.task)
				}
				tt.sig.Report = word(code)
				d := w.must(tt.sig)
				if d.Verdict != engine.Stay || w.task.Status != "Finished" || w.task.WorkFailed != "" || w.task.LastReport != nil {
					t.Fatalf("%s, %s, held %q, said %+v", d.Verdict, w.task.Status, w.task.WorkFailed, w.task.LastReport)
				}
				if tt.exited != "" && (len(d.Entries) != 1 || d.Entries[0].Reason != tt.exited || len(d.Entries[0].Effects) > 0) || tt.exited == "" && len(d.Entries) > 0 {
					t.Errorf("%+v", d.Entries)
				}
				if !strings.Contains(why(d), tt.reason) {
					t.Errorf("%q is not among\n%s", tt.reason, why(d))
				}
			})
		}
	}
	w := placed(t, "linear-sdlc", "Finished")
	w.refused(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: "qa", Attempt: 7, Report: word("passed")}, `no attempt 7 of "qa" is alive`)
}

func TestAnEndIsAnAnswerNoAnswerOrACrash(t *testing.T) {
	tests := []struct {
		name, workflow, state string
		report                *signal.Report
		code                  int
		gate                  string
		typ                   journal.Type
		to                    string // "" for where it was
		reason                string
	}{
		{"a word", "linear-sdlc", "Finished", word("passed"), 0, "", journal.AutoAdvanced, "Delivered", "qa says passed"},
		{"a word and a bad code", "linear-sdlc", "Finished", word("passed"), 9, "", journal.AutoAdvanced, "Delivered", "qa says passed"},
		{"nothing that counts", "linear-sdlc", "Finished", unclear(signal.Unknown), 0, "", journal.AgentSilent, "", "the qa ended (code 0); line 3: nothing that counts"},
		{"nothing that counts and a bad code", "linear-sdlc", "Finished", unclear(signal.Unknown), 1, "", journal.AgentCrashed, "", "the qa ended (code 1)"},
		{"contradicting words", "linear-sdlc", "Finished", unclear(signal.Ambiguous), 0, "", journal.AgentSilent, "", "nothing that counts"},
		{"contradicting words and a bad code", "linear-sdlc", "Finished", unclear(signal.Ambiguous), 1, "", journal.AgentSilent, "", "(code 1)"},
		{"no report at all", "linear-sdlc", "Finished", nil, 0, "", journal.AgentCrashed, "", "the qa ended (code 0)"},
		{"a code that linear-sdlc has not", "linear-sdlc", "Finished", word("SHRUG"), 0, "", journal.AgentSilent, "", "no edge from Finished answers to outcome SHRUG: declared are PASSED, FAILED"},
		{"passed without commits", "linear-sdlc", "Started", word("passed"), 0, "", journal.AgentUndone, "", "commits: looked up"},
		{"passed without commits and a bad code", "linear-sdlc", "Started", word("passed"), 1, "", journal.AgentUndone, "", "commits: looked up"},
		{"nothing, with commits", "linear-sdlc", "Started", unclear(signal.Unknown), 0, "committed", journal.AutoAdvanced, "Finished", "the development ended (code 0), and "},
		{"nothing, with commits and a bad code", "linear-sdlc", "Started", unclear(signal.Unknown), 1, "committed", journal.AutoAdvanced, "Finished", "the development ended (code 1), and "},
		{"no report, with commits", "linear-sdlc", "Started", nil, 0, "committed", journal.AutoAdvanced, "Finished", "the development ended (code 0), and "},
		{"nothing, without commits", "linear-sdlc", "Started", unclear(signal.Unknown), 0, "", journal.AgentSilent, "", "commits: looked up; line 3"},
		{"failed, with commits", "linear-sdlc", "Started", word("failed"), 0, "committed", journal.WorkFailed, "", "development says failed"},
		{"ready without the output", "cmat-feature", "architect", word("READY_FOR_IMPLEMENTATION"), 0, "", journal.AgentSilent, "", "file enhancements/{enhancement_name}/architect/required_output/implementation_plan.md: looked up"},
		{"ready with another step's output", "cmat-feature", "architect", word("READY_FOR_IMPLEMENTATION"), 0, "tester-output", journal.AgentSilent, "", "implementation_plan.md: looked up"},
		{"complete without the output", "cmat-feature", "documenter", word("DOCUMENTATION_COMPLETE"), 0, "", journal.AgentSilent, "", "documentation_summary.md: looked up"},
		{"blocked without the output", "cmat-feature", "documenter", word("BLOCKED"), 0, "", journal.AutoAdvanced, "halted", "documenter says BLOCKED"},
		{"a result that is none", "joan-board", "dev-implement", unclear(signal.Unknown), 0, "", journal.AgentSilent, "", "nothing that counts"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := placed(t, tt.workflow, tt.state)
			a := w.own()
			d := w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: a.Number, Role: a.Role, Code: tt.code, Report: tt.report, Evidence: facts(w.def, tt.gate)})
			if tt.to == "" {
				tt.to = tt.state
			}
			e := d.Entries[0]
			if len(d.Entries) != 1 || e.Type != tt.typ || w.task.Status != tt.to || !strings.Contains(e.Reason, tt.reason) {
				t.Fatalf("%s in %s: %q\n%s", e.Type, w.task.Status, e.Reason, why(d))
			}
			crashes, silences := 0, 0
			switch tt.typ {
			case journal.AgentCrashed:
				crashes = 1
			case journal.AgentSilent:
				silences = 1
			}
			if w.task.CounterValue("crash_count") != crashes || w.task.CounterValue("no_answer") != silences {
				t.Errorf("%+v", w.task.Counters)
			}
		})
	}
}

func TestASilentAgentIsAskedTriedAgainAndHalted(t *testing.T) {
	for _, result := range []signal.Result{signal.Unknown, signal.Ambiguous} {
		t.Run(string(result), func(t *testing.T) {
			w := placed(t, "linear-sdlc", "Finished")
			d := w.ends(unclear(result))
			if d.Verdict != engine.Stay || effects(d.Entries) != "comment_card spawn_agent:qa+" || !w.task.RespawnAt.IsZero() {
				t.Fatalf("%s: %s", d.Verdict, effects(d.Entries))
			}
			said, ask := d.Entries[0].Effects[0], d.Entries[0].Effects[1]
			for _, want := range []string{"no structured result marker was detected", "The status was NOT updated", "<!-- WORK_RESULT:passed -->", "<!-- WORK_RESULT:failed -->", "line 3: nothing that counts"} {
				if !strings.Contains(said.Text, want) {
					t.Errorf("the comment does not say %q:\n%s", want, said.Text)
				}
			}
			if ask.Message != workflow.MessageState || ask.Prompt != "again" || ask.Attempt != 2 {
				t.Errorf("%+v", ask)
			}
			if it, ok := explain.InboxItem(w.def, w.task); !ok || it.Kind != explain.ItemNoAnswer || !strings.Contains(it.Text, "line 3: nothing that counts") {
				t.Errorf("%+v, %v", it, ok)
			}
			w.perform()
			d = w.ends(unclear(result))
			if effects(d.Entries) != "" || w.task.RespawnAt.Sub(w.now) != 10*time.Second || w.task.CounterValue("no_answer") != 2 {
				t.Fatalf("%s, again at %s", effects(d.Entries), w.task.RespawnAt)
			}
			d = w.fires(engine.Respawn)
			if p := d.Entries[0].Effects[0]; effects(d.Entries) != "spawn_agent:qa+" || p.Message != "" || p.Prompt != "again" || strings.Contains(d.Entries[0].Reason, "died") {
				t.Fatalf("%s, %+v", d.Entries[0].Reason, p)
			}
			w.perform()
			d = w.ends(unclear(result))
			if d.Verdict != engine.Advance || w.task.Status != "Halted" || w.task.ReturnTo != "Finished" || len(d.Entries) != 2 {
				t.Fatalf("%s in %s: %+v", d.Verdict, w.task.Status, d.Entries)
			}
			if e := d.Entries[1]; !strings.HasPrefix(e.Reason, "no answer 3 of 3 in Finished: the qa ended (code 0)") {
				t.Errorf("%q", e.Reason)
			}
			if it, ok := explain.InboxItem(w.def, w.task); !ok || it.Kind != explain.ItemStuck || !strings.Contains(it.Text, "the qa cannot continue: ") {
				t.Errorf("%+v, %v", it, ok)
			}
			if w.task.CounterValue("no_answer") != 0 || w.task.CounterValue("crash_count") != 0 {
				t.Errorf("%+v", w.task.Counters)
			}
		})
	}
}
