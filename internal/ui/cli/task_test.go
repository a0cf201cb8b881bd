package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/ui/cli"
	"orange/internal/wire"
)

// story is a command line and what comes of it.
type story struct {
	name    string
	args    string // words, or quoted by |
	prepare func(*env)
	code    int
	out     string   // part of standard output
	err     string   // part of standard error
	asked   []string // what the server was asked to change, if it matters
}

func (s story) words() []string {
	if strings.Contains(s.args, "|") {
		return strings.Split(s.args, "|")
	}
	return strings.Fields(s.args)
}

func tell(t *testing.T, stories []story) {
	t.Helper()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			w := newEnv(t)
			if s.prepare != nil {
				s.prepare(w)
			}
			if code := w.run(t, s.words()...); code != s.code {
				t.Errorf("exit code %d, want %d", code, s.code)
			}
			if !strings.Contains(w.out.String(), s.out) || !strings.Contains(w.err.String(), s.err) {
				t.Errorf("stdout %q\nstderr %q\nwant %q and %q", w.out.String(), w.err.String(), s.out, s.err)
			}
			if s.code == 0 && s.err == "" && w.err.Len() > 0 || strings.Count(w.err.String(), "\n") > 1 {
				t.Errorf("stderr %q", w.err.String())
			}
			if s.asked != nil {
				if diff := cmp.Diff(s.asked, w.asked); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func inAttempt(w *env) {
	w.Config.Role, w.Config.Task, w.Config.Attempt = "worker", idOne, 3
}

func request(rest string) string {
	return `POST /v1/tasks/` + idOne + `/signals {"kind":"request","at":"0001-01-01T00:00:00Z",` + rest + `}`
}

func TestTaskCreate(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	tell(t, []story{
		{name: "pending", args: "task|create|--no-spawn|--project|proj|feature-x|Implement feature X",
			out:   "Created task " + idTwo + " (proj/feature-x)\n",
			asked: []string{`POST /v1/tasks {"project":"proj","branch":"feature-x","summary":"Implement feature X","actor":"human"}`}},
		{name: "words of a summary", args: "task create --project proj b several words", out: "It waits for a free workspace.",
			asked: []string{`POST /v1/tasks {"project":"proj","branch":"b","summary":"several words","spawn":true,"actor":"human"}`}},
		{name: "after others", args: "task create --project proj b s --after " + idOne, asked: []string{`POST /v1/tasks {"project":"proj","branch":"b","summary":"s","spawn":true,"after":["` + idOne + `"],"actor":"human"}`}},
		{name: "after nobody", args: "task create --project proj b s --after nobody", code: 1, err: `"nobody" is no id, branch or summary of a task`},
		{name: "no branch", args: "task create --project proj", out: "(proj/orange-tasks/" + idTwo + ")"},
		{name: "invalid first status", args: "task create --project proj --status working b s", code: 1, err: "orange: task create: Invalid status"},
		{name: "invalid first status, as JSON", args: "task create --project proj --status working b s --json", code: 1, out: `"decision":{"verdict":"refuse","refused":"Invalid status`, err: "Invalid status"},
		{name: "project of the folder", args: "task create b s", prepare: func(w *env) { w.place = wire.Location{Project: "here", GitRoot: "/repo"} }, out: "(here/b)"},
		{name: "repository that is no project yet", args: "task create b s", prepare: func(w *env) { w.place.GitRoot = "/src/my repo" },
			out: "(my-repo/b)", err: "orange: added project my-repo (/src/my repo), 2 workspaces, workflow orange\n", asked: []string{
				`POST /v1/projects {"name":"my-repo","path":"/src/my repo","default_branch":"","pool_size":2}`,
				`POST /v1/tasks {"project":"my-repo","branch":"b","summary":"s","spawn":true,"actor":"human"}`}},
		{name: "no repository at all", args: "task create b s", code: 1, err: "/repo/sub is not a git repository: give --project"},
		{name: "an agent adds no project", args: "task create b s", prepare: func(w *env) { inAttempt(w); w.place.GitRoot = "/repo" }, code: 1, err: "an agent may not add one"},
		{name: "an agent asks as itself", args: "task create --project proj b s", prepare: inAttempt,
			asked: []string{`POST /v1/tasks {"project":"proj","branch":"b","summary":"s","spawn":true,"actor":"worker","attempt":3}`}},
		{name: "context from standard input", args: "task create --project proj --context - b s", prepare: func(w *env) { w.Stdin = strings.NewReader("why\n") },
			asked: []string{`POST /v1/tasks {"project":"proj","branch":"b","summary":"s","spawn":true,"context":"why\n","actor":"human"}`}},
		{name: "context as long as allowed", args: "task create --project proj --context - b s", prepare: func(w *env) { w.Stdin = strings.NewReader(big) }},
		{name: "context too long", args: "task create --project proj --context - b s", prepare: func(w *env) { w.Stdin = strings.NewReader(big + "x") }, code: 1, err: "the requirements are longer than 1 MB", asked: []string{}},
		{name: "context that is no text", args: "task create --project proj --context - b s", prepare: func(w *env) { w.Stdin = strings.NewReader("\xff") }, code: 1, err: "the requirements are not text: give UTF-8"},
		{name: "context file that is not there", args: "task create --project proj --context-file nope b s", code: 1, err: "read the requirements: "},
		{name: "requirements file that is not there", args: "task create --project proj --requirements-file nope b s", code: 1, err: "read the requirements: "},
		{name: "context twice", args: "task create --project proj --context-file a --context b b s", code: 2, err: "orange: task create: "},
		{name: "requirements in words", args: "task|create|--project|proj|-m|why|b|s",
			asked: []string{`POST /v1/tasks {"project":"proj","branch":"b","summary":"s","spawn":true,"context":"why","actor":"human"}`}},
		{name: "requirements twice", args: "task create --project proj --requirements a --context b b s", code: 2, err: "give --requirements or --context, not both"},
		{name: "nothing at all", args: "task create", code: 2, err: "no requirements: give a branch and a summary", asked: []string{}},
		{name: "nothing at all, as JSON", args: "task create --json", prepare: func(w *env) { w.IsTerminal = true }, code: 2, out: `{"error":"no requirements`, err: "no requirements", asked: []string{}},
		{name: "nothing at all, of an agent", args: "task create", prepare: func(w *env) { inAttempt(w); w.IsTerminal = true }, code: 2, err: "no requirements", asked: []string{}},
		{name: "nothing at all, in a terminal", args: "task create", prepare: func(w *env) {
			w.IsTerminal, w.place = true, wire.Location{Project: "here", GitRoot: "/repo"}
			w.Dashboard = func(_ context.Context, o cli.DashboardOptions) error {
				_, err := fmt.Fprintf(w.Stdout, "form %v of %s\n", o.Create, o.Project)
				return err
			}
		}, out: "form true of here\n"},
		{name: "as JSON", args: "task create --project proj b s --json", out: `{"task":{"id":"` + idTwo},
	})
}

func TestTaskUpdate(t *testing.T) {
	tell(t, []story{
		{name: "summary", args: "task|update|" + idOne + "|--summary|new words", out: "summary updated\n",
			asked: []string{`POST /v1/tasks/` + idOne + `/signals {"kind":"update","at":"0001-01-01T00:00:00Z","actor":"human","fields":[{"name":"summary","from":"","to":"new words"}]}`}},
		{name: "branch by name", args: "task update " + idOne + " --branch existing", out: "branch updated\n"},
		{name: "branch by name, joined", args: "task update --branch=existing " + idOne, out: "branch updated\n"},
		{name: "status", args: "task update " + idOne + " --status agent-review --note ready", out: "oneAAAAA working -> agent-review\n",
			asked: []string{request(`"actor":"human","to":"agent-review","note":"ready"`)}},
		{name: "an agent names no task", args: "task update --status agent-review", prepare: inAttempt, out: "oneAAAAA working -> agent-review",
			asked: []string{request(`"actor":"worker","attempt":3,"to":"agent-review"`)}},
		{name: "an agent may not change another task", args: "task update " + idTwo + " --status done", prepare: inAttempt, code: 1, err: "this is an attempt of task oneAAAAA: it may not change task twoBBBBB", asked: []string{}},
		{name: "in a workspace", args: "task update --status x", prepare: func(w *env) { w.place.Task = idOne }, out: "working -> x"},
		{name: "in no workspace", args: "task update --status x", code: 1, err: "give the id of a task"},
		{name: "nothing", args: "task update " + idOne, code: 1, err: "give --branch, --base, --summary, --after, --not-after, or --status"},
		{name: "refused", args: "task update " + idOne + " --status done", prepare: func(w *env) { w.refuse = "not in map: working -> done" }, code: 1, err: "orange: task update: not in map: working -> done\n"},
		{name: "refused, as JSON with the decision", args: "task update " + idOne + " --status done --json", prepare: func(w *env) { w.refuse = "not in map" }, code: 1,
			out: `"decision":{"verdict":"refuse","refused":"not in map","reasons":[],"entries":[]},"error":"not in map"}`, err: "not in map"},
		{name: "refused after a field was changed", args: "task update " + idOne + " --summary s --status done", prepare: func(w *env) { w.refuse = "no" }, code: 1, err: "summary updated, but no"},
		{name: "unknown task", args: "task update nope --summary s", code: 1, err: "not found"},
		{name: "too many arguments", args: "task update a b --status x", code: 2, err: "2 arguments do not fit: use orange task update [id]"},
	})
}

func TestTaskUpdateTakesTheBranchThatIsCheckedOut(t *testing.T) {
	w := newEnv(t)
	w.Cwd = t.TempDir()
	git := filepath.Join(w.Cwd, ".git")
	for _, dir := range []string{git, git + "/objects", git + "/refs"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(git+"/HEAD", []byte("ref: refs/heads/better/name\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := w.run(t, "task", "update", idOne, "--branch"); code != 0 || !strings.Contains(w.asked[0], `"to":"better/name"`) {
		t.Errorf("exit %d, asked %q, stderr %s", code, w.asked, w.err.String())
	}
	if code := w.run(t, "task", "update", idOne, "--branch", "--note", "n"); code != 0 {
		t.Errorf("with another flag behind it: exit %d, %s", code, w.err.String())
	}
	w.Cwd = "/"
	if code := w.run(t, "task", "update", idOne, "--branch"); code != 1 || !strings.Contains(w.err.String(), "has no branch checked out") {
		t.Errorf("outside a repository: exit %d, %s", code, w.err.String())
	}
}

func TestTaskVerbs(t *testing.T) {
	answer := func(path, text string) func(*env) { return func(w *env) { w.answers[path] = text } }
	explain := "/v1/tasks/" + idOne + "/explain"
	tell(t, []story{
		{name: "complete", args: "task complete " + idOne, out: "oneAAAAA working -> next", asked: []string{request(`"actor":"human","verb":"complete"`)}},
		{name: "complete inside an attempt", args: "task complete", prepare: inAttempt, asked: []string{request(`"actor":"worker","attempt":3,"verb":"complete"`)}},
		{name: "stuck", args: "task stuck " + idOne + " --note why", asked: []string{request(`"actor":"human","verb":"stuck","note":"why"`)}},
		{name: "request changes", args: "task request-changes " + idOne, asked: []string{request(`"actor":"human","verb":"request-changes"`)}},
		{name: "respawn", args: "task respawn " + idOne + " --note now", out: "oneAAAAA: the worker is started again, in working\n", asked: []string{request(`"actor":"human","verb":"respawn","note":"now"`)}},
		{name: "respawn of a task that is paused", args: "task respawn " + idOne, prepare: func(w *env) { w.store.Tasks[0].Paused = true }, out: "is started again, in working\n", err: "task oneAAAAA is paused: this waits for orange resume " + idOne},
		{name: "respawn as JSON", args: "task respawn " + idOne + " --json", out: `"started":[{"number":2,"role":"worker"`},
		{name: "respawn, refused", args: "task respawn " + idOne, prepare: func(w *env) { w.refuse = "done needs no agent" }, code: 1, err: "orange: task respawn: done needs no agent\n"},
		{name: "stop", args: "task|stop|" + idOne + "|-m|wrong way", asked: []string{request(`"actor":"human","verb":"stop","note":"wrong way"`)}},
		{name: "stop of a role", args: "task stop " + idOne + " --role reviewer", asked: []string{request(`"actor":"human","verb":"stop","role":"reviewer"`)}},
		{name: "stop, refused", args: "task stop " + idOne, prepare: func(w *env) { w.refuse = "no worker of the task lives" }, code: 1, err: "orange: task stop: no worker of the task lives\n"},
		{name: "stop nothing", args: "task stop", code: 2, err: "use orange task stop <id>"},
		{name: "reopen", args: "task reopen " + idOne, asked: []string{request(`"actor":"human","verb":"reopen"`)}},
		{name: "reopen nothing", args: "task reopen", code: 2, err: "use orange task reopen <id>"},
		{name: "cancel", args: "task cancel one --yes", asked: []string{request(`"actor":"human","verb":"cancel"`)}},
		{name: "cancel, nobody to ask", args: "task cancel one", code: 1, err: "add --yes", asked: []string{}},
		{name: "cancel, a person agrees", args: "task cancel one", prepare: func(w *env) { w.IsTerminal, w.Stdin = true, strings.NewReader("y\n") },
			err: "Cancel task oneAAAAA (proj/feature)? [y/N]", out: "working -> next"},
		{name: "cancel, a person does not", args: "task cancel one", prepare: func(w *env) { w.IsTerminal, w.Stdin = true, strings.NewReader("\n") }, code: 1, err: "not confirmed", asked: []string{}},
		{name: "cancel, the terminal is gone", args: "task cancel one", prepare: func(w *env) { w.IsTerminal = true }, code: 1, err: "not confirmed", asked: []string{}},
		{name: "delete", args: "task delete one --yes", out: "Deleted task " + idOne, asked: []string{`POST /v1/tasks/` + idOne + `/signals {"kind":"delete","at":"0001-01-01T00:00:00Z","actor":"human"}`}},
		{name: "delete, nobody to ask", args: "task delete one", code: 1, err: "add --yes"},
		{name: "spawn unknown", args: "task spawn nonexistent", code: 1, err: "not found"},
		{name: "spawn twice", args: "task spawn " + idOne, prepare: answer(explain, `{"task":"`+idOne+`","status":"working","kind":"agent"}`), code: 1, err: "task oneAAAAA is not pending: it is working"},
		{name: "spawn", args: "task spawn " + idOne, prepare: answer(explain, `{"task":"`+idOne+`","status":"pending","kind":"queued"}`),
			asked: []string{`POST /v1/tasks/` + idOne + `/signals {"kind":"ready","at":"0001-01-01T00:00:00Z","actor":"human"}`}},
		{name: "exit", args: "task exit " + idOne + " --role worker --attempt 2 --code 137", prepare: inAttempt, out: "oneAAAAA stays working",
			asked: []string{`POST /v1/tasks/` + idOne + `/signals {"kind":"exit","at":"0001-01-01T00:00:00Z","actor":"engine","attempt":2,"role":"worker","code":137}`}},
		{name: "exit of nobody", args: "task exit one", code: 2, err: "--role"},
		{name: "an id that is none", args: "task complete ../x", code: 1, err: `task not found: "../x"`},
	})
}

func TestTaskList(t *testing.T) {
	tell(t, []story{
		{name: "of the folder's project", args: "task list", prepare: func(w *env) { w.place.Project = "proj" }, asked: []string{"GET /v1/state/tasks?project=proj"}},
		{name: "outside any project", args: "task list", asked: []string{"GET /v1/state/tasks"}},
		{name: "chosen", args: "task list --project p --status working --closed", asked: []string{"GET /v1/state/tasks?all=1&project=p&status=working"}},
		{name: "of all projects", args: "task list --all", prepare: func(w *env) { w.place.Project = "p" }, asked: []string{"GET /v1/state/tasks"}},
		{name: "two meanings", args: "task list --all --project p", code: 2, err: "--all means all projects: give --all or --project, and --closed"},
		{name: "none", args: "task list", prepare: func(w *env) { w.store.Tasks = nil }, out: "No tasks."},
		{name: "none, as JSON", args: "task list --all --json", prepare: func(w *env) { w.store.Tasks = nil }, out: `{"tasks":[]}` + "\n"},
		{name: "missing task, as JSON", args: "task show nonexistent --json", code: 1, out: `{"error":"task not found: \"nonexistent\" is no id, branch or summary of a task: see orange task list"}`, err: "not found"},
	})
}

func TestTaskListAsText(t *testing.T) {
	w := newEnv(t)
	w.store.Tasks = append(w.store.Tasks,
		task.Task{ID: idTwo, Project: "proj", Branch: "b", Status: "agent-review", CurrentVisit: task.CurrentVisit{Since: now().Add(-50 * time.Hour)}, Waiting: task.Waiting{Attention: "x"}, Summary: "evil\x1b]0;title\x07 \u202etext\r\nmore"},
		task.Task{ID: "three", Project: "p", Branch: "a-very-long-branch-name-that-goes-on", Status: "planning", CurrentVisit: task.CurrentVisit{Crashed: "worker", Since: now()}, Agents: task.Agents{RespawnAt: now().Add(30 * time.Second)},
			Summary: strings.Repeat("long ", 20)})
	const want = `ID        STATUS        TASK                                    NOTE         AGE  SUMMARY
oneAAAAA  working       proj/feature                            worker       3m   Do it
twoBBBBB  agent-review  proj/b                                  attention    2d   evil text more
three     planning      p/a-very-long-branch-name-that-goes-on  back in 30s  0s   long long long long long long long long long long long long long long long long long long long long
`
	if code := w.run(t, "task", "list"); code != 0 {
		t.Fatal(code, w.err.String())
	}
	if diff := cmp.Diff(want, w.out.String()); diff != "" {
		t.Error(diff)
	}
	w.IsTerminal = true
	w.run(t, "task", "list")
	for line := range strings.Lines(w.out.String()) {
		if len(line) > 81 {
			t.Errorf("too wide for a terminal: %q", line)
		}
	}
}

func TestTaskShow(t *testing.T) {
	w := newEnv(t)
	w.store.Journals[idOne] = []journal.Entry{
		{Task: idOne, Seq: 1, At: now().Add(-2 * time.Hour), Type: journal.TaskCreated, Move: journal.Move{To: "planning"}, Creation: journal.Creation{New: &signal.New{ID: idOne, Project: "proj", Summary: "Do it"}}},
		{Task: idOne, Seq: 2, At: now().Add(-3 * time.Minute), Type: journal.StatusChanged, Move: journal.Move{From: "planning", To: "working"}, Reason: "plan is there", Actor: "worker"},
	}
	if code := w.run(t, "task", "show", "one"); code != 0 {
		t.Fatal(code, w.err.String())
	}
	const want = `Task      oneAAAAAAAAAAAAAAAAAA
Project   proj
Branch    feature
Summary   Do it
Status    working for 3m, since 2026-03-04 11:57:00
Workflow  orange
Harness   claude
Counters  review_round 1 (3 in all)
Agents    worker (attempt 1, at work, 1h)
Created   2h ago, 2026-03-04 10:00:00
Folder    /home/tasks/proj/one

## Plan

APPROACH: red

History
2026-03-04 10:00:00  task.created    project=proj  status=planning  summary=Do it
2026-03-04 11:57:00  status.changed  planning -> working  actor=worker
`
	if diff := cmp.Diff(want, w.out.String()); diff != "" {
		t.Error(diff)
	}
	if code := w.run(t, "task", "show", "one", "--json"); code != 0 {
		t.Fatal(code, w.err.String())
	}
	var got struct {
		Task    task.Task
		Body    string
		Dir     string
		History []map[string]any
	}
	if err := json.Unmarshal(w.out.Bytes(), &got); err != nil || got.Task.ID != idOne || got.Body == "" || got.Dir == "" || len(got.History) != 2 {
		t.Errorf("%v: %s", err, w.out.String())
	}
	if code := w.run(t, "task", "history", idOne, "--json"); code != 0 || !bytes.HasPrefix(w.out.Bytes(), []byte(`{"history":[{"type"`)) {
		t.Errorf("exit %d: %s", code, w.out.String())
	}
}

func TestTaskShowSaysHowAgentsAreDoing(t *testing.T) {
	w := newEnv(t)
	w.answers["/v1/tasks/"+idOne+"/journal"] = `{"entries":[]}`
	w.store.Tasks[0].Attempts = []task.Attempt{
		{Number: 1, Role: "worker", Running: true, Since: now().Add(-time.Hour), Condition: task.Condition{Name: task.WaitingInput, Detail: "which\x1b[2J one?"}},
		{Number: 2, Role: "reviewer", Since: now()},
		{Number: 3, Role: "fixer", Running: true, Ending: true, Since: now(), Condition: task.Condition{Name: task.Idle}},
	}
	w.store.Tasks[0].AttemptCounts = []task.AttemptTally{{Role: "worker", Count: 2}, {Role: "reviewer", Count: 1}}
	w.store.Tasks[0].Spent = task.Spend{Usage: task.Usage{InputTokens: 45_678, OutputTokens: 1_234, CachedTokens: 2_000_000, CostMicroUSD: 421_000}}
	w.store.Tasks[0].Delivery, w.store.Tasks[0].ForkOf = task.DeliverPush, idTwo+"@4"
	if code := w.run(t, "task", "show", "one"); code != 0 {
		t.Fatal(code, w.err.String())
	}
	for _, want := range []string{
		"Agents    worker (attempt 1, waits for input: which one?, 1h), reviewer (attempt 2, starting, 0s), fixer (attempt 3, ending, 0s)\n",
		"Spent     45k tokens in, 1.2k tokens out, 2.0M cached, $0.42, 3 attempts\n",
		"Delivery  push\n", "Fork of   " + idTwo + "@4\n",
	} {
		if !strings.Contains(w.out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, w.out.String())
		}
	}
}

func TestTaskExplain(t *testing.T) {
	w := newEnv(t)
	w.answers["/v1/tasks/"+idOne+"/explain"] = `{"task":"` + idOne + `","workflow":"orange","status":"working","kind":"agent","since":"2026-03-04T11:57:00Z","visit":2,
		"owner":"a person","why":"it needs attention: ` + strings.Repeat("many words ", 12) + `","cheapest":{"action":{"verb":"resume","task":"` + idOne + `"},"run":"orange resume ` + idOne + `","opens":"it goes on"},
		"edges":[{"to":"agent-review","as":"complete","on":"request, exit","by":"worker, human","line":61,"open":false,"closed":"gate: x",
			"reasons":[{"rule":"guard","ok":true,"text":"round < 2"},{"rule":"gate","ok":false,"text":"there is no ## Handoff\u001b[2J"}]},
			{"to":"cancelled","on":"request","by":"human","line":80,"open":true,"reasons":null}],
		"next":[{"what":"spawn_agent worker"},{"what":"end the worker","at":"2026-03-04T13:30:00Z"}]}`
	if code := w.run(t, "task", "explain", "one"); code != 0 {
		t.Fatal(code, w.err.String())
	}
	const want = `oneAAAAA is working for 3m, since 2026-03-04 11:57:00 (visit 2)

Who must act: a person
  it needs attention: many words many words many words many words many words
  many words many words many words many words many words many words many words
Run: orange resume oneAAAAAAAAAAAAAAAAAA
  then: it goes on

Ways out, by workflow orange
  closed  -> agent-review  (line 61)
          as complete, on request, exit, by worker, human
          guard holds: round < 2
          gate fails: there is no ## Handoff
  open    -> cancelled  (line 80)
          on request, by human

What the engine does next
  now: spawn_agent worker
  in 1h30m (2026-03-04 13:30:00): end the worker
`
	if diff := cmp.Diff(want, w.out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestTaskWait(t *testing.T) {
	entry := func(row int64, rest string) journal.Row {
		return journal.Row{ID: row, Entry: json.RawMessage(`{"task":"` + idOne + `",` + rest + `}`)}
	}
	explain := func(status, kind string) func(*env) {
		return func(w *env) {
			w.answers["/v1/tasks/"+idOne+"/explain"] = `{"status":"` + status + `","kind":"` + kind + `"}`
			w.store.Rows = []journal.Row{
				entry(8, `"seq":3,"type":"status.changed","to":"reviewing"`), // before the present: does not count
				entry(9, `"seq":5,"type":"effect.done"`),
				entry(10, `"seq":6,"type":"status.changed","to":"agent-review"`),
			}
		}
	}
	tell(t, []story{
		{name: "already there", args: "task wait one --for working", out: "oneAAAAA is working"},
		{name: "it comes", args: "task wait one --for agent-review", prepare: explain("working", "agent"), out: "oneAAAAA is agent-review"},
		{name: "it comes, as JSON", args: "task wait one --for agent-review --json", prepare: explain("working", "agent"), out: `{"status":"agent-review","task":"` + idOne + `"}`},
		{name: "it ended elsewhere", args: "task wait one --for reviewing", prepare: explain("agent-review", "terminal"), code: 1, err: "task oneAAAAA ended agent-review: it will not be reviewing"},
		{name: "it is over", args: "task wait one --for reviewing", prepare: explain("working", "terminal"), code: 1, err: "task oneAAAAA ended working"},
		{name: "it was deleted", args: "task wait one --for x", prepare: func(w *env) {
			explain("working", "agent")(w)
			w.store.Rows = []journal.Row{entry(9, `"seq":5,"type":"task.deleted"`)}
		}, code: 1, err: "was deleted"},
		{name: "the time is over", args: "task wait one --for done --timeout 1ms", prepare: func(w *env) {
			explain("working", "agent")(w)
			w.store.Rows = nil
		}, code: 1, err: "orange: task wait: timed out: task oneAAAAA is working, not done"},
		{name: "unknown task", args: "task wait nope --for done", code: 1, err: "not found"},
		{name: "for what", args: "task wait one", code: 2, err: "--for"},
	})
}
