package cli_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/task"
	"orange/internal/wire"
)

const attemptsPath = "/v1/tasks/" + idOne + "/attempts"

func attemptsOf(t *testing.T, list ...wire.Attempt) string {
	t.Helper()
	return string(mustJSON(t, map[string]any{"attempts": list}))
}

func TestTaskAttempts(t *testing.T) {
	w := newEnv(t)
	zero, killed := 0, 137
	w.answers[attemptsPath] = attemptsOf(t,
		wire.Attempt{Number: 1, Role: "worker", Harness: "claude", Code: &killed, Since: now().Add(-3 * time.Hour)},
		wire.Attempt{Number: 2, Role: "worker", Harness: "claude", Code: &zero, Since: now().Add(-2 * time.Hour), Usage: &task.Usage{InputTokens: 90_000, OutputTokens: 12_345, CostMicroUSD: 1_234_567}},
		wire.Attempt{Number: 3, Role: "reviewer", Harness: "script:/x", Since: now().Add(-time.Hour), Usage: &task.Usage{OutputTokens: 7}},
		wire.Attempt{Number: 4, Role: "worker", Harness: "codex", Alive: true, Window: "worker", Since: now().Add(-time.Minute),
			Condition: task.Condition{Name: task.WaitingPermission, Detail: "may I \x1b[31mrun\x1b[0m this?"}, Usage: &task.Usage{InputTokens: 999, CostMicroUSD: 3}},
		wire.Attempt{Number: 5, Role: "reviewer", Harness: "codex", Alive: true, Window: "review-1",
			Condition: task.Condition{Name: task.Limited, Until: now().Add(time.Hour)}, Usage: &task.Usage{InputTokens: 1_234_000}},
		wire.Attempt{Number: 6, Role: "fixer", Harness: "pi", Alive: true})
	const want = `NUMBER  ROLE      HARNESS    CONDITION                                     SINCE  TOKENS  COST    WINDOW
1       worker    claude     exit 137                                      3h     -       -       -
2       worker    claude     exit 0                                        2h     102k    $1.23   -
3       reviewer  script:/x  lost                                          1h     7       -       -
4       worker    codex      asks for permission: may I run this?          1m     999     <$0.01  worker
5       reviewer  codex      at its usage limit until 2026-03-04 13:00:00  -      1.2M    -       review-1
6       fixer     pi         at work                                       -      -       -       -
`
	if code := w.run(t, "task", "attempts", idOne); code != 0 {
		t.Fatal(code, w.err.String())
	}
	if diff := cmp.Diff(want, w.out.String()); diff != "" {
		t.Error(diff)
	}
	if code := w.run(t, "task", "attempts", idOne, "--json"); code != 0 || !strings.HasPrefix(w.out.String(), `{"attempts":[{"number":1,"role":"worker"`) {
		t.Errorf("exit %d: %s", code, w.out.String())
	}
}

func TestTaskAttemptsElsewhere(t *testing.T) {
	none := func(w *env) { w.answers[attemptsPath] = `{"attempts":[]}` }
	tell(t, []story{
		{name: "none", args: "task attempts " + idOne, prepare: none, out: "No agent has worked on it yet.\n"},
		{name: "none, as JSON", args: "task attempts " + idOne + " --json", prepare: none, out: `{"attempts":[]}` + "\n"},
		{name: "of this workspace", args: "task attempts", prepare: func(w *env) { none(w); w.place.Task = idOne }, out: "No agent"},
		{name: "of an unknown task", args: "task attempts nope", code: 1, err: "not found"},
		{name: "a server without agents", args: "task attempts " + idOne, prepare: func(w *env) {
			w.api.Attempts = nil
		}, code: 1, err: "orange: task attempts: this server writes effects down and starts no agents (effects: record)\n"},
	})
}

func TestTaskAttach(t *testing.T) {
	const path = "/v1/tasks/" + idOne + "/attach"
	there := func(w *env) {
		w.IsTerminal = true
		w.answers[path] = `{"argv":["tmux","-L","orange","attach-session","-t","=proj/feature:worker"],"session":"proj/feature"}`
	}
	tell(t, []story{
		{name: "printed", args: "task attach --print " + idOne, prepare: func(w *env) { there(w); w.IsTerminal = false },
			out: "env -u TMUX tmux -L orange attach-session -t '=proj/feature:worker'\n"},
		{name: "as JSON", args: "task attach --json " + idOne, prepare: func(w *env) { there(w); w.IsTerminal = false }, out: `{"argv":["tmux","-L"`},
		{name: "no terminal here", args: "task attach " + idOne, code: 1, err: "standard output is not a terminal"},
		{name: "no terminal there", args: "task attach " + idOne, prepare: func(w *env) {
			there(w)
			w.fails[path] = task.Mistakef("the worker runs without a terminal: see orange task log")
		}, code: 1, err: "orange: task attach: the worker runs without a terminal: see orange task log\n"},
		{name: "a server that names no command", args: "task attach " + idOne, prepare: func(w *env) { there(w); w.answers[path] = `{"argv":[]}` }, code: 1, err: "names no command"},
		{name: "unknown task", args: "task attach nope", prepare: there, code: 1, err: "not found"},
		{name: "complete an id", args: "__complete|task|attach|", prepare: func(w *env) {
			w.store.Tasks = append(w.store.Tasks, task.Task{ID: idTwo})
		}, out: idOne + "\tworking proj/feature Do it\n:36\n", err: "Completion ended"},
	})
}

func TestTaskAttachTakesTheTerminalOver(t *testing.T) {
	w := newEnv(t)
	w.IsTerminal = true
	w.answers["/v1/tasks/"+idOne+"/attach"] = `{"argv":["tmux","attach","-t","x"]}`
	t.Setenv("TMUX", "/tmp/tmux-1/default,1,0")
	t.Setenv("TMUX_PANE", "%1")
	t.Setenv("KEPT", "yes")
	var argv, env []string
	w.Exec = func(a, e []string) error { argv, env = a, e; return errors.New("run tmux: no such file") }
	if code := w.run(t, "task", "attach", idOne, "--role", "worker"); code != 1 || w.err.String() != "orange: task attach: run tmux: no such file\n" {
		t.Errorf("exit %d, %q", code, w.err.String())
	}
	if strings.Join(argv, " ") != "tmux attach -t x" || !slices.Contains(env, "KEPT=yes") {
		t.Errorf("ran %q with %q", argv, env)
	}
	if slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "TMUX") }) {
		t.Errorf("still inside tmux: %q", env)
	}
	w.Exec = nil
	w.answers["/v1/tasks/"+idOne+"/attach"] = `{"argv":["/no/such/program"]}`
	if code := w.run(t, "task", "attach", idOne); code != 1 || !strings.Contains(w.err.String(), "find /no/such/program") {
		t.Errorf("exit %d, %q", code, w.err.String())
	}
}

// logged gives the task an attempt that is over and one that lives, with outputs.
func logged(t *testing.T, w *env) (older, newer string) {
	t.Helper()
	dir, code := t.TempDir(), 0
	older, newer = filepath.Join(dir, "1"), filepath.Join(dir, "2")
	write(t, older, "old one\nold two\n")
	write(t, newer, "one\r\n\x1b[31mtwo\x1b[0m\nthree: 10%\rthree: 90%")
	w.answers[attemptsPath] = attemptsOf(t,
		wire.Attempt{Number: 2, Role: "worker", Alive: true, Log: newer},
		wire.Attempt{Number: 1, Role: "reviewer", Code: &code, Log: older},
		wire.Attempt{Number: 3, Role: "gone", Code: &code, Log: filepath.Join(dir, "3")},
		wire.Attempt{Number: 4, Role: "new", Alive: true, Log: filepath.Join(dir, "4")})
	return older, newer
}

func write(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTaskLog(t *testing.T) {
	tests := []struct {
		name, args, want, err string
		code                  int
	}{
		{"of a role", "--role worker", "one\ntwo\nthree: 90%", "", 0},
		{"by number", "--attempt 1", "old one\nold two\n", "", 0},
		{"raw", "--attempt 2 --raw", "one\r\n\x1b[31mtwo\x1b[0m\nthree: 10%\rthree: 90%", "", 0},
		{"the last line, without an end", "--attempt 2 -n 1", "three: 90%", "", 0},
		{"the last lines, without an end", "--attempt 2 -n 2", "two\nthree: 90%", "", 0},
		{"the last line, with an end", "--attempt 1 -n 1", "old two\n", "", 0},
		{"more lines than there are", "--attempt 1 -n 9", "old one\nold two\n", "", 0},
		{"an attempt that is over, followed", "--attempt 1 -f -n 1", "old two\n", "", 0},
		{"an attempt that is over, followed, as JSON", "--attempt 1 -f --json", `{"line":"old one"}` + "\n" + `{"line":"old two"}` + "\n", "", 0},
		{"the newest, which has written nothing", "", "", "", 0},
		{"one that left nothing", "--role gone", "", "orange: task log: attempt 3 left no output", 1},
		{"a number that is not there", "--attempt 7 -f", "", "orange: task log: task oneAAAAA has no attempt with number 7: see orange task attempts", 1},
		{"a role that is not there", "--role x", "", "has no attempt of role x", 1},
		{"no attempt", "--attempt 0", "", "--attempt 0: give a positive integer", 2},
		{"no lines", "-n 0", "", "--lines 0: give a positive integer", 2},
	}
	w := newEnv(t)
	logged(t, w)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code := w.run(t, append([]string{"task", "log", idOne}, strings.Fields(tt.args)...)...)
			if diff := cmp.Diff(tt.want, w.out.String()); diff != "" || code != tt.code || !strings.Contains(w.err.String(), tt.err) {
				t.Errorf("exit %d\n%s%s", code, diff, w.err.String())
			}
		})
	}
}

func TestTaskLogAsJSON(t *testing.T) {
	w := newEnv(t)
	logged(t, w)
	if code := w.run(t, "task", "log", idOne, "--attempt", "2", "--json"); code != 0 {
		t.Fatal(code, w.err.String())
	}
	var got struct {
		Attempt wire.Attempt
		Lines   []string
	}
	if err := json.Unmarshal(w.out.Bytes(), &got); err != nil || got.Attempt.Role != "worker" {
		t.Fatalf("%v: %s", err, w.out.String())
	}
	if diff := cmp.Diff([]string{"one", "two", "three: 90%"}, got.Lines); diff != "" {
		t.Error(diff)
	}
}
