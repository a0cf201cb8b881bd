package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/wire"
)

// lived gives the fake server a task with a past: created, planned, at work.
func lived(t *testing.T, w *env) []journal.Entry {
	t.Helper()
	text, _ := builtin.Text("orange")
	def, err := workflow.Parse("orange.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := taskfile.Parse([]byte("## Plan\n\nAPPROACH: x\n"))
	if err != nil {
		t.Fatal(err)
	}
	var record task.Task
	var entries []journal.Entry
	for i, sig := range []signal.Signal{
		{Kind: signal.Create, Actor: task.Human, Free: []string{"p--1"}, New: &signal.New{ID: idOne, Project: "p", Branch: "b", Summary: "s", Spawn: true}},
		{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: idOne + "/2/0", OK: true}},
		{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: idOne + "/2/1", OK: true}},
		{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "working", Artifacts: signal.Artifacts{Sections: doc.Sections()}},
	} {
		sig.At, sig.Rules = now().Add(time.Duration(i-10)*time.Minute), engine.Rules
		d := engine.Decide(def, &record, sig)
		if d.Refused != "" {
			t.Fatal(d.Refused)
		}
		entries = append(entries, d.Entries...)
		if record, err = journal.Fold(record, d.Entries); err != nil {
			t.Fatal(err)
		}
	}
	w.store.Tasks = []task.Task{record}
	w.answers["/v1/tasks/"+idOne+"/chain"] = `{"rows":5,"head":"` + strings.Repeat("0", 64) + `"}`
	w.answers["/v1/workflows/"+def.Hash] = string(mustJSON(t, wire.WorkflowText{Hash: def.Hash, Name: def.Name, File: def.File, Text: def.Text}))
	w.journal(t, entries)
	return entries
}

func (w *env) journal(t *testing.T, entries []journal.Entry) {
	w.answers["/v1/tasks/"+idOne+"/journal"] = string(mustJSON(t, map[string]any{"entries": entries}))
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// expect runs a command and compares its exit code and part of what it prints.
func (w *env) expect(t *testing.T, code int, out string, args ...string) {
	t.Helper()
	got := w.run(t, args...)
	if text := w.out.String() + w.err.String(); got != code || !strings.Contains(text, out) {
		t.Errorf("%v: exit code %d, want %d\n%s\nwant %s", args, got, code, text, out)
	}
}

func TestTaskReplay(t *testing.T) {
	w := newEnv(t)
	entries := lived(t, w)
	w.expect(t, 0, "5 entries, 4 decisions: same record, same decisions\n", "task", "replay", idOne)
	w.expect(t, 0, `{"task":"`+idOne+`","same":true,"record":{"same":true},"workflow":"orange"`, "task", "replay", idOne, "--json")
	w.expect(t, 2, "--at and --against do not go together", "task", "replay", idOne, "--at", "1", "--against", "x")

	w.store.Tasks[0].Status = "done"
	w.expect(t, 1, "5 entries: the record is not what they fold to\n  status is stored as \"done\" and folds to \"working\"\n", "task", "replay", idOne)
	w.store.Tasks[0].Status = "working"

	entries[4].Reason = "forged"
	w.journal(t, entries)
	w.expect(t, 1, "1 of 4 decisions would be another now; the first:\n  #5    2026-03-04 11:53:00  request by worker\n        then   status.changed planning -> working", "task", "replay", idOne)
	if text := w.out.String(); !strings.Contains(text, "forged") || !strings.Contains(text, "## Plan") {
		t.Error(text)
	}

	entries[4].Seq = 7
	w.journal(t, entries)
	w.expect(t, 1, "entry 7 of task "+idOne+" does not follow entry 4", "task", "replay", idOne)
	w.journal(t, entries[:3])
	w.expect(t, 1, "the record is not what they fold to", "task", "replay", idOne)
}

// Nothing is folded of a journal that is not what was written.
func TestTaskReplayOfABrokenChain(t *testing.T) {
	w := newEnv(t)
	lived(t, w)
	w.answers["/v1/tasks/"+idOne+"/chain"] = `{"rows":2,"head":"` + strings.Repeat("0", 64) + `","broken":{"row":3,"task":"` + idOne + `","seq":3,"what":"its link is missing"}}`
	const words = "row 3 (entry 3 of task " + idOne + ") is not what was written: its link is missing; the rows before it (2) are"
	for _, more := range [][]string{nil, {"--at", "1"}, {"--against", "orange"}} {
		w.expect(t, 1, words, append([]string{"task", "replay", idOne}, more...)...)
		if w.out.Len() > 0 {
			t.Errorf("%v: %s", more, &w.out)
		}
	}
	w.expect(t, 1, `"same":false,"chain":{"rows":2,"head":"000`, "task", "replay", idOne, "--json")
}

func TestTaskReplayAt(t *testing.T) {
	w := newEnv(t)
	lived(t, w)
	w.expect(t, 0, "Status     planning for 0s, since 2026-03-04 11:50:00\n", "task", "replay", idOne, "--at", "2")
	if text := w.out.String(); strings.Contains(text, "working") || !strings.Contains(text, "auto.advanced") {
		t.Error(text)
	}
	w.expect(t, 0, `"status":"pending"`, "task", "replay", idOne, "--at", "1", "--json")
	w.expect(t, 2, "there is no entry 6: the journal has 1 to 5", "task", "replay", idOne, "--at", "6")
	w.expect(t, 2, "there is no entry 0", "task", "replay", idOne, "--at", "0")
}

func TestTaskReplayAgainst(t *testing.T) {
	w := newEnv(t)
	lived(t, w)
	w.Workflows = shelf{}
	text, _ := builtin.Text("orange")
	write := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	same := write("same.yaml", "# moved\n"+text)
	w.expect(t, 0, "4 decisions: all would be the same under "+same, "task", "replay", idOne, "--against", same)
	strict := write("strict.yaml", strings.Replace(text, "any_of: [APPROACH, TOUCHING]", "any_of: [RISKS]", 1))
	w.expect(t, 1, "would have gone another way at entry 5\n  #1    2026-03-04 11:50:00  create by human: begins as planning  (the same)\n"+
		"  #5    2026-03-04 11:53:00  request by worker\n        then   status.changed planning -> working (line ", "task", "replay", idOne, "--against", strict)
	if out := w.out.String(); !strings.Contains(out, "        now    refuse: planning -> working: gate: ## Plan (line 1) has nothing behind RISKS:") || !strings.Contains(out, "planning -> working: gate closed: ## Plan") {
		t.Error(out)
	}
	w.expect(t, 1, `"same":false`, "task", "replay", idOne, "--against", strict, "--json")
	w.expect(t, 2, "no such file", "task", "replay", idOne, "--against", "./nope.yaml")
}

func TestTaskHistoryRefused(t *testing.T) {
	refused := `[{"task":"` + idOne + `","at":"2026-03-04T11:59:00Z","actor":"worker","attempt":1,"kind":"request","asked":"done","why":"not in map\u001b[2J:\nno"}]`
	given := func(list string) func(*env) {
		return func(w *env) { w.answers["/v1/tasks/"+idOne+"/explain"] = `{"refusals":` + list + `}` }
	}
	tell(t, []story{
		{name: "some", args: "task history one --refused", prepare: given(refused), out: "2026-03-04 11:59:00  request done by worker (attempt 1): not in map: no\n"},
		{name: "none", args: "task history one --refused", prepare: given("[]"), out: "Nothing was refused."},
		{name: "as JSON", args: "task history one --refused --json", prepare: given(refused), out: `{"refused":[{"task":"` + idOne + `"`},
		{name: "none, as JSON", args: "task history one --refused --json", prepare: given("null"), out: `{"refused":[]}`},
	})
}
