package cli_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/task"
)

func inboxOf(t *testing.T, items ...explain.Item) string {
	t.Helper()
	return string(mustJSON(t, map[string]any{"items": items}))
}

func TestInboxAsText(t *testing.T) {
	w := newEnv(t)
	w.answers["/v1/inbox"] = inboxOf(t,
		explain.Item{Task: idOne, Project: "proj", Branch: "feature", Status: "reviewing", Kind: explain.ItemReview, Text: "the work waits for a decision",
			Do: "orange task merge " + idOne, Since: now().Add(-3 * time.Hour), Frees: 2},
		explain.Item{Task: idTwo, Project: "a-project", Branch: "with-a-branch-of-some-length", Status: "working", Kind: explain.ItemPermission,
			Text: "the worker asks for permission: may I run \x1b[31mrm -rf\x1b[0m\nin /tmp/some/folder/with/a/long/name?", Do: "orange task attach " + idTwo, Since: now().Add(-20 * time.Second)},
		explain.Item{Task: "three", Project: "p", Branch: "b", Kind: explain.ItemAttention, Text: "push failed: no route", Since: now().Add(-50 * time.Hour)})
	const want = `KIND        TASK      BRANCH                                  AGE  WHAT
review      oneAAAAA  proj/feature                            3h   [frees 2] the work waits for a decision
  orange task merge oneAAAAAAAAAAAAAAAAAA
attention   three     p/b                                     2d   push failed: no route
permission  twoBBBBB  a-project/with-a-branch-of-some-length  20s  the worker asks for permission: may I run rm -rf in /tmp/some/folder/with/a/long/name?
  orange task attach twoBBBBBBBBBBBBBBBBBB
`
	if code := w.run(t, "inbox"); code != 0 {
		t.Fatal(code, w.err.String())
	}
	if diff := cmp.Diff(want, w.out.String()); diff != "" {
		t.Error(diff)
	}
	w.IsTerminal = true
	const narrow = `KIND        TASK      BRANCH                        AGE  WHAT
review      oneAAAAA  proj/feature                  3h   [frees 2] the work w...
  orange task merge oneAAAAAAAAAAAAAAAAAA
attention   three     p/b                           2d   push failed: no route
permission  twoBBBBB  a-project/with-a-branch-o...  20s  the worker asks for...
  orange task attach twoBBBBBBBBBBBBBBBBBB
`
	w.run(t, "inbox")
	if diff := cmp.Diff(narrow, w.out.String()); diff != "" {
		t.Error(diff)
	}
}

// A question in prose keeps its lines, and loses what controls a terminal. Of a long message
// the end is shown.
func TestTheInboxShowsAQuestionInAMessage(t *testing.T) {
	w := newEnv(t)
	message := strings.Repeat("I read a file.\n", 20) + "\n- Shall it be \x1b[2J\x1b]0;owned\x07blue?\n- Or green?"
	w.answers["/v1/inbox"] = inboxOf(t, explain.Item{
		Task: idOne, Project: "proj", Branch: "feature", Kind: explain.ItemIdle, Text: "the worker asks something", Do: "orange task answer " + idOne + ` "..."`, Verb: engine.VerbAnswer, Since: now(),
		Reasons: []explain.WaitReason{{Kind: explain.BecauseOfMessage, By: "worker", Text: message}},
	})
	if code := w.run(t, "inbox"); code != 0 {
		t.Fatal(code, w.err.String())
	}
	_, got, _ := strings.Cut(w.out.String(), "the worker asks something\n")
	want := "  Last message (worker):\n    (11 before)\n" + strings.Repeat("    I read a file.\n", 9) + "\n    - Shall it be blue?\n    - Or green?\n  orange task answer " + idOne + " \"...\"\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestInbox(t *testing.T) {
	one := func(w *env) { w.answers["/v1/inbox"] = inboxOf(t, explain.Item{Task: idOne, Kind: explain.ItemStuck}) }
	tell(t, []story{
		{name: "empty", args: "inbox", prepare: func(w *env) { w.answers["/v1/inbox"] = `{"items":[]}` }, out: "Nothing waits for you.\n"},
		{name: "everything is paused", args: "inbox", prepare: func(w *env) {
			w.answers["/v1/inbox"] = inboxOf(t, explain.Item{Kind: explain.ItemPaused, Text: "everything is paused", Do: "orange resume", Since: now().Add(-time.Hour)})
		}, out: "KIND    TASK  BRANCH  AGE  WHAT\npaused  -     -       1h   everything is paused\n  orange resume\n"},
		{name: "empty, as JSON", args: "inbox --json", prepare: func(w *env) { w.answers["/v1/inbox"] = `{"items":[]}` }, out: `{"items":[]}` + "\n"},
		{name: "as JSON", args: "inbox --json", prepare: one, out: `{"items":[{"task":"` + idOne + `"`},
		{name: "of a project", args: "inbox --project p", prepare: func(w *env) {
			w.answers["/v1/inbox"] = inboxOf(t, explain.Item{Kind: explain.ItemStart, Project: "p"}, explain.Item{Kind: explain.ItemStuck, Project: "other"})
		}, out: "KIND   TASK  BRANCH  AGE  WHAT\nstart"},
		{name: "with an argument", args: "inbox x", code: 2, err: "use orange inbox"},
	})
}

func TestTextOfAPerson(t *testing.T) {
	long := strings.Repeat("x", 64<<10)
	stdin := func(text string) func(*env) { return func(w *env) { w.Stdin = strings.NewReader(text) } }
	changes := func(note string) []string {
		text, _ := json.Marshal(note)
		return []string{request(`"actor":"human","verb":"request-changes","note":` + string(text))}
	}
	tell(t, []story{
		{name: "changes in words", args: "task|request-changes|" + idOne + "|make it|blue", asked: changes("make it blue")},
		{name: "changes by flag", args: "task|request-changes|" + idOne + "|-m|make it blue", asked: changes("make it blue")},
		{name: "changes by the older flag", args: "task|request-changes|" + idOne + "|--note|make it blue", asked: changes("make it blue")},
		{name: "changes from standard input", args: "task request-changes " + idOne + " -m -", prepare: stdin("make\nit\nblue\n"), asked: changes("make\nit\nblue")},
		{name: "changes from standard input, as an argument", args: "task request-changes " + idOne + " -", prepare: stdin("blue"), asked: changes("blue")},
		{name: "changes as long as allowed", args: "task request-changes " + idOne + " -m -", prepare: stdin(long), asked: changes(long)},
		{name: "changes too long", args: "task request-changes " + idOne + " -m -", prepare: stdin(long + "x"), code: 1, err: "longer than 64 KB", asked: []string{}},
		{name: "changes that are no text", args: "task request-changes " + idOne + " -m -", prepare: stdin("\xff"), code: 1, err: "give UTF-8", asked: []string{}},
		{name: "changes twice", args: "task|request-changes|" + idOne + "|blue|-m|red", code: 2, err: "give one message"},
		{name: "changes of nothing", args: "task request-changes", code: 2, err: "use orange task request-changes <id> [message...]"},
		{name: "answer", args: "task|answer|" + idOne + "|yes,|do", out: "working -> next", asked: []string{request(`"actor":"human","verb":"answer","note":"yes, do"`)}},
		{name: "answer from standard input", args: "task answer " + idOne + " -", prepare: stdin("a\nb\n"), asked: []string{request(`"actor":"human","verb":"answer","note":"a\nb"`)}},
		{name: "answer with nothing", args: "task answer " + idOne + " -", prepare: stdin(" \n"), code: 1, err: "the answer is empty", asked: []string{}},
		{name: "answer without words", args: "task answer one", code: 1, err: "the answer is empty: give some words"},
		{name: "answer refused", args: "task answer one x", prepare: func(w *env) { w.refuse = "working waits for no answer" }, code: 1, err: "orange: task answer: working waits for no answer\n"},
		{name: "approve", args: "task approve one --note fine", prepare: func(w *env) { w.store.Tasks[0].Asked = &task.Asked{To: "reviewing", By: "fixer"} }, out: "working -> reviewing",
			asked: []string{request(`"actor":"human","to":"reviewing","note":"fine"`)}},
		{name: "approve, as JSON", args: "task approve one --json", prepare: func(w *env) { w.store.Tasks[0].Asked = &task.Asked{To: "reviewing"} }, out: `{"task":{"id":"` + idOne},
		{name: "approve nothing", args: "task approve one", code: 1, err: "orange: task approve: nothing of task oneAAAAA waits for approval: see orange inbox\n", asked: []string{}},
		{name: "approve an unknown task", args: "task approve nope", code: 1, err: "not found"},
	})
}
