package cli_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/task"
	"orange/internal/ui/cli"
	"orange/internal/ui/client"
)

func TestProject(t *testing.T) {
	inRepo := func(w *env) { w.place.GitRoot = "/src/my-repo" }
	patch := func(w *env) {
		w.answers["/v1/projects/p"] = `{"project":{"name":"p","path":"/p","pool_size":5}}`
		w.place.Project = "p"
	}
	tell(t, []story{
		{name: "add this one", args: "project add", prepare: inRepo, out: "Added project my-repo (/src/my-repo), 2 workspaces",
			asked: []string{`POST /v1/projects {"name":"my-repo","path":"/src/my-repo","default_branch":"","pool_size":2}`}},
		{name: "add with everything", args: "project add ../x --name n --pool-size 3 --workflow w", prepare: inRepo,
			asked: []string{`POST /v1/projects {"name":"n","path":"/src/my-repo","default_branch":"","pool_size":3,"workflow":"w"}`}},
		{name: "defaults from the configuration", args: "project add", prepare: func(w *env) { inRepo(w); w.Config.PoolSize, w.Config.Workflow = 7, "mine" },
			asked: []string{`POST /v1/projects {"name":"my-repo","path":"/src/my-repo","default_branch":"","pool_size":7,"workflow":"mine"}`}},
		{name: "duplicate name", args: "project add --name same", prepare: func(w *env) { inRepo(w); w.projects = []task.Project{{Name: "same"}} }, code: 1, err: "orange: project add: project same already exists\n"},
		{name: "there already, for another workflow", args: "project add --workflow w", prepare: func(w *env) {
			inRepo(w)
			w.place.Project, w.projects = "same", []task.Project{{Name: "same", Path: w.place.GitRoot}}
		}, code: 1, err: "orange: project add: /src/my-repo is registered already: use orange project update same --workflow w\n", asked: []string{}},
		{name: "within another project", args: "project add --workflow w", prepare: func(w *env) {
			inRepo(w)
			w.place.Project, w.projects = "outer", []task.Project{{Name: "outer", Path: "/src"}}
		}, out: "Added project my-repo"},
		{name: "no repository", args: "project add /dir", code: 1, err: "/dir is not a git repository"},
		{name: "pool of nothing", args: "project add --pool-size 0", prepare: inRepo, code: 1, err: "positive integer"},
		{name: "pool of words", args: "project add --pool-size many", code: 2, err: "orange: project add: "},
		{name: "list", args: "project list", prepare: func(w *env) {
			w.projects = []task.Project{{Name: "a", Path: "/a", PoolSize: 2, DefaultBranch: "main"}}
		},
			out: "NAME  POOL  WORKFLOW  BASE  PATH\na     2     -         main  /a\n"},
		{name: "list none", args: "project list", out: "No projects."},
		{name: "list as JSON", args: "project list --json", prepare: func(w *env) { w.projects = []task.Project{} }, out: `{"projects":[]}`},
		{name: "update", args: "project update p --pool-size 5", prepare: patch, out: "5 workspaces", asked: []string{`PATCH /v1/projects/p {"pool_size":5}`}},
		{name: "update this one", args: "project update --workflow w", prepare: patch, asked: []string{`PATCH /v1/projects/p {"workflow":"w"}`}},
		{name: "update outside any", args: "project update --workflow w", code: 1, err: "belongs to no project"},
		{name: "update nothing", args: "project update p", code: 1, err: "give --pool-size or --workflow"},
		{name: "update unknown", args: "project update nope --pool-size 5", code: 1, err: "not found"},
		{name: "update to nothing", args: "project update p --pool-size 0", prepare: patch, code: 1, err: "positive integer", asked: []string{}},
		{name: "update to an empty command", args: "project|update|p|--setup|", prepare: patch, asked: []string{`PATCH /v1/projects/p {"setup":""}`}},
		{name: "remove", args: "project remove p", prepare: patch, out: "Removed project p", asked: []string{"DELETE /v1/projects/p"}},
	})
}

func TestPolicyOfAProject(t *testing.T) {
	inRepo := func(w *env) { w.place.GitRoot = "/src/r" }
	bounded := task.Project{Name: "p", Path: "/p", PoolSize: 2, DefaultBranch: "main", Policy: task.Policy{
		Delivery: task.DeliverPR, Budget: task.Budget{TaskMicros: 5_000_000, TaskAttempts: 4, DayMicros: 1_500, DayAttempts: 9}}}
	known := func(w *env) {
		w.projects = []task.Project{{Name: "other", Path: "/o", PoolSize: 1}, bounded}
		w.answers["/v1/projects/p"] = string(mustJSON(t, map[string]any{"project": bounded}))
	}
	tell(t, []story{
		{name: "add", args: "project|add|--delivery|pr|--setup|npm ci|--teardown|make clean|--max-task-cost|5.00|--max-task-attempts|4|--max-day-cost|0.0015|--max-day-attempts|9", prepare: inRepo,
			out: "Added project r (/src/r), 2 workspaces, delivery pr, at most $5.00 a task, 4 attempts a task, $0.0015 a day, 9 attempts a day\n",
			asked: []string{`POST /v1/projects {"name":"r","path":"/src/r","default_branch":"","pool_size":2,"delivery":"pr","setup":"npm ci","teardown":"make clean",` +
				`"budget":{"task_attempts":4,"task_cost_micro_usd":5000000,"day_attempts":9,"day_cost_micro_usd":1500}}`}},
		{name: "add, odd delivery", args: "project add --delivery pigeon", prepare: inRepo, code: 2, err: `delivery "pigeon" is not known: give local, push or pr`, asked: []string{}},
		{name: "add, odd cost", args: "project add --max-task-cost lots", code: 2, err: "give dollars, such as 5 or 2.50"},
		{name: "add, too fine a cost", args: "project add --max-day-cost 0.0000001", code: 2, err: "give at most 6 decimals"},
		{name: "add, a cost below nothing", args: "project add --max-day-cost=-1", code: 2, err: "give dollars"},
		{name: "add, attempts below nothing", args: "project add --max-task-attempts -1", code: 2, err: "--max-task-attempts -1: give a positive integer, or 0 for no bound"},
		{name: "update one bound and keep the others", args: "project update p --max-task-cost 7.5", prepare: known, out: "Updated project p: 2 workspaces, base main, delivery pr, at most $5.00 a task",
			asked: []string{`PATCH /v1/projects/p {"budget":{"task_attempts":4,"task_cost_micro_usd":7500000,"day_attempts":9,"day_cost_micro_usd":1500}}`}},
		{name: "take bounds away", args: "project update p --max-task-cost 0 --max-task-attempts 0 --max-day-cost 0 --max-day-attempts 0", prepare: known,
			asked: []string{`PATCH /v1/projects/p {"budget":{}}`}},
		{name: "update the path, from where it was moved to", args: "project update --path /new", prepare: known, code: 1, err: "name the one that was moved (orange project list), as in orange project update NAME --path /new", asked: []string{}},
		{name: "update the delivery", args: "project update p --delivery push --teardown x", prepare: known, asked: []string{`PATCH /v1/projects/p {"delivery":"push","teardown":"x"}`}},
		{name: "update to an odd delivery", args: "project|update|p|--delivery|", prepare: known, code: 2, err: `delivery "" is not known`, asked: []string{}},
		{name: "update the budget of nothing", args: "project update nope --max-task-cost 1", prepare: known, code: 1, err: `project "nope" is not registered: see orange project list`, asked: []string{}},
		{name: "list", args: "project list", prepare: known, out: "" +
			"NAME   POOL  WORKFLOW  BASE  DELIVERY  BUDGET                                                            PATH\n" +
			"other  1     -         -     -         -                                                                 /o\n" +
			"p      2     -         main  pr        $5.00 a task, 4 attempts a task, $0.0015 a day, 9 attempts a day  /p\n"},
		{name: "list with variables", args: "project list", prepare: func(w *env) {
			w.projects = []task.Project{{Name: "other", Path: "/o", PoolSize: 1}, {Name: "p", Path: "/p", PoolSize: 2, Policy: task.Policy{Vars: task.Vars{"team": "web", "owner": "x"}}}}
		}, out: "" +
			"NAME   POOL  WORKFLOW  BASE  VARIABLES    PATH\n" +
			"other  1     -         -     -            /o\n" +
			"p      2     -         -     owner, team  /p\n"},
		{name: "list as JSON", args: "project list --json", prepare: known, out: `"delivery":"pr","budget":{"task_attempts":4,"task_cost_micro_usd":5000000,"day_attempts":9,"day_cost_micro_usd":1500}`},
		{name: "complete a delivery", args: "__complete|project|update|--delivery|", out: "local\tit stays here\npush\tthe branch is pushed\npr\ta pull request is opened\n", err: "Completion ended"},
	})
}

func TestEverythingElse(t *testing.T) {
	tell(t, []story{
		{name: "no command", args: "", out: "ID        STATUS   TASK", prepare: func(*env) { // whatever the arguments of the process are
			own := os.Args
			os.Args = []string{own[0], "90m"}
			t.Cleanup(func() { os.Args = own })
		}},
		{name: "unknown command", args: "bogus", code: 2, err: `orange: command "bogus" is not known: see orange --help`},
		{name: "unknown command of a group", args: "task bogus", code: 2, err: `orange: task: command "bogus" is not known: see orange task --help`},
		{name: "no number", args: "workflow verify solo --tasks=x", code: 2, err: "orange: workflow verify: --tasks \"x\": give a whole number\n"},
		{name: "no duration", args: "task wait x --timeout soon", code: 2, err: "orange: task wait: --timeout \"soon\": give a duration such as 90s, 20m or 2h\n"},
		{name: "neither true nor false", args: "task list --json=perhaps", code: 2, err: "orange: task list: --json \"perhaps\": give true or false\n"},
		{name: "unknown flag, as JSON", args: "task list --bogus --json", code: 2, out: `{"error":"unknown flag: --bogus: see orange task list --help"}`, err: "unknown flag"},
		{name: "version", args: "version", out: "orange 1.2.3\n"},
		{name: "version with a commit", args: "version", prepare: func(w *env) { w.Commit = "abc" }, out: "orange 1.2.3 (commit abc)\n"},
		{name: "version as a flag", args: "--version", out: "orange 1.2.3\n"},
		{name: "version as a short flag", args: "-v", prepare: func(w *env) { w.Commit = "abc" }, out: "orange 1.2.3 (commit abc)\n"},
		{name: "version as JSON", args: "version --json", prepare: func(w *env) { w.Commit = "abc" }, out: `{"api":1,"commit":"abc","formats":{"store":0,"rules":0,"entries":0},"go":"go`},
		{name: "a server of another version", args: "pause", prepare: func(w *env) { w.Version, w.answers["/v1/pause"] = "1.3.0", `{"paused":true}` }, out: "orange resume",
			err: "orange: the server is version 1.2.3 and this command is 1.3.0: run orange restart, and the server is of this version; agents keep running\n"},
		{name: "an agent hears nothing of another version", args: "task list", prepare: func(w *env) { w.Version, w.Config.Token = "1.3.0", "t" }, out: "proj/feature"},
		{name: "version with a broken configuration", args: "version", prepare: func(w *env) { w.ConfigErr = errors.New("config.json:1:1: x") }, out: "orange"},
		{name: "broken configuration", args: "task list", prepare: func(w *env) { w.ConfigErr = errors.New("config.json:1:1: x") }, code: 1, err: "orange: task list: config.json:1:1: x\n"},
		{name: "pause everything", args: "pause", out: "orange resume", asked: []string{"POST /v1/pause"}},
		{name: "an agent pauses nothing", args: "pause", prepare: inAttempt, code: 1, err: "leave it to a person", asked: []string{}},
		{name: "pause one", args: "pause one", out: "oneAAAAA is paused", asked: []string{`POST /v1/tasks/one/signals {"kind":"pause","at":"0001-01-01T00:00:00Z","actor":"human"}`}},
		{name: "resume everything", args: "resume", out: "continues", asked: []string{"POST /v1/resume"}},
		{name: "resume one", args: "resume one", out: "oneAAAAA continues"},
		{name: "export", args: "export", prepare: func(w *env) { w.answers["/v1/export"] = "{\"kind\":\"task\"}\n" }, out: "{\"kind\":\"task\"}\n"},
		{name: "import lines", args: "import -", prepare: func(w *env) {
			w.Stdin, w.answers["/v1/import"] = strings.NewReader("{}"), `{"tasks":2,"projects":1,"skipped":["x: exists"]}`
		}, out: "Imported 2 tasks and 1 projects\nskipped x: exists\n", asked: []string{"POST /v1/import {}"}},
		{name: "import a folder", args: "import /", prepare: func(w *env) { w.answers["/v1/import"] = `{}` }, asked: []string{`POST /v1/import {"path":"/"}`}},
		{name: "import nothing", args: "import nope", code: 1, err: "find what to import"},
		{name: "completion", args: "completion bash", out: "bash completion"},
		{name: "completion of an odd shell", args: "completion csh", code: 2, err: "use bash, zsh or fish"},
		{name: "complete an id", args: "__complete|task|show|", out: idOne + "\tworking proj/feature Do it\n", err: "Completion ended"},
		{name: "complete a state", args: "__complete|task|update|" + idOne + "|--status|", prepare: func(w *env) {
			w.answers["/v1/tasks/"+idOne+"/explain"] = `{"edges":[{"to":"stuck"},{"to":"agent-review"},{"to":"stuck"}]}`
		}, out: "stuck\tclosed:\nagent-review\tclosed:\n:36\n", err: "Completion ended"},
	})
}

func TestExportToAFile(t *testing.T) {
	w := newEnv(t)
	w.Cwd = t.TempDir()
	if code := w.run(t, "export", "all.jsonl"); code != 1 {
		t.Errorf("refused: exit %d", code)
	}
	if left, _ := os.ReadDir(w.Cwd); len(left) > 0 {
		t.Errorf("left behind %v", left)
	}
	w = newEnv(t) // the first server may still read its answers
	w.Cwd = t.TempDir()
	w.answers["/v1/export"] = "{}\n"
	if code := w.run(t, "export", "all.jsonl"); code != 0 {
		t.Errorf("exit %d: %s", code, w.err.String())
	}
	if got, err := os.ReadFile(filepath.Join(w.Cwd, "all.jsonl")); err != nil || string(got) != "{}\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestStop(t *testing.T) {
	w := newEnv(t)
	if code := w.run(t, "stop"); code != 0 || w.out.String() != "Stopped the server (pid 7).\n" {
		t.Errorf("exit %d, %q %q", code, w.out.String(), w.err.String())
	}
	if code := w.run(t, "stop", "--json"); code != 0 || w.out.String() != "{\"stopped\":false}\n" {
		t.Errorf("again: exit %d, %q %q", code, w.out.String(), w.err.String())
	}
	if code := w.run(t, "task", "list"); code != 1 || w.err.String() != "orange: task list: start the server: no program\n" {
		t.Errorf("then: exit %d, %q", code, w.err.String())
	}
	if code := w.run(t, "__complete", "task", "show", ""); code != 0 || w.out.String() != ":4\n" {
		t.Errorf("completion: exit %d, %q", code, w.out.String())
	}
}

func TestServe(t *testing.T) {
	w := newEnv(t)
	w.Config.IdleExit = time.Hour
	var got []cli.ServeOptions
	answer := error(nil)
	w.Serve = func(_ context.Context, o cli.ServeOptions) error {
		if (o.Say == nil) != o.Detached {
			t.Errorf("detached %v, and who listens: %v", o.Detached, o.Say != nil)
		}
		o.Say = nil
		got = append(got, o)
		return answer
	}
	codes := []int{w.run(t, "serve"), w.run(t, "serve", "--idle", "5m", "--detached")}
	answer = cli.ServerRunningError{PID: 7}
	codes = append(codes, w.run(t, "serve", "--detached"), w.run(t, "serve"), w.run(t, "serve", "--idle", "-1s"))
	if diff := cmp.Diff([]int{0, 0, 0, 1, 2}, codes); diff != "" {
		t.Error(diff)
	}
	want := []cli.ServeOptions{{Idle: time.Hour}, {Idle: 5 * time.Minute, Detached: true}, {Idle: time.Hour, Detached: true}, {Idle: time.Hour}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDoctor(t *testing.T) {
	w := newEnv(t)
	bin := t.TempDir()
	for name, version := range map[string]string{"git": "git version 2", "tmux": "tmux 3"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho "+version+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	w.answers["/v1/doctor"] = `{"checks":[{"name":"store","ok":true,"detail":"folds"}]}`
	if code := w.run(t, "doctor"); code != 0 || !strings.Contains(w.out.String(), "ok  store          folds\n") || !strings.Contains(w.out.String(), "ok  tmux           tmux 3\n") {
		t.Errorf("exit %d\n%s%s", code, w.out.String(), w.err.String())
	}
	w.answers["/v1/doctor"] = `{"checks":[{"name":"store","ok":false,"detail":"differs","fix":"call somebody"}]}`
	if code := w.run(t, "doctor"); code != 1 || !strings.Contains(w.out.String(), "FAIL  store          differs\n                     fix: call somebody\n") || w.err.Len() > 0 {
		t.Errorf("exit %d\n%s%s", code, w.out.String(), w.err.String())
	}
	w.Version = "9"
	if code := w.run(t, "doctor", "--json"); code != 1 || !strings.Contains(w.out.String(), "version 1.2.3, pid 7; this command is 9") {
		t.Errorf("exit %d\n%s", code, w.out.String())
	}
	t.Setenv("PATH", t.TempDir())
	w.Config.Socket += "x"
	w.Start = func() (client.Child, error) { return nil, errors.New("no program") }
	if code := w.run(t, "doctor"); code != 1 || !strings.Contains(w.out.String(), "tmux is not in PATH") || !strings.Contains(w.out.String(), "no program") {
		t.Errorf("exit %d\n%s", code, w.out.String())
	}
}

func TestLog(t *testing.T) {
	w := newEnv(t)
	old := `{"time":"2026-03-04T11:00:00Z","level":"INFO","msg":"start","component":"server"}` + "\n" + "panic: not JSON\n"
	recent := `{"time":"2026-03-04T11:01:00Z","level":"WARN","msg":"slow","component":"effect","took":3,"task":"a\u001b[31m"}` + "\n" +
		`{"time":"2026-03-04T11:02:00Z","level":"DEBUG","msg":"tick"}` + "\n"
	write := func(name, text string) {
		if err := errors.Join(os.MkdirAll(w.Config.Home, 0o700), os.WriteFile(filepath.Join(w.Config.Home, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if code := w.run(t, "log"); code != 0 || w.out.Len() > 0 {
		t.Errorf("no log: exit %d %q", code, w.out.String())
	}
	write("orange.log.1", old)
	write("orange.log", recent)
	const start, slow, tick = "2026-03-04 11:00:00 INFO  server: start\n", "2026-03-04 11:01:00 WARN  effect: slow took=3 task=a\n", "2026-03-04 11:02:00 DEBUG -: tick\n"
	tests := []struct {
		name, args, want string
		code             int
	}{
		{"everything", "", start + slow + tick, 0},
		{"from a level on", "--level info", start + slow, 0},
		{"of a component", "--component effect", slow, 0},
		{"that match", "--grep ti[c]k", tick, 0},
		{"the last ones", "--lines 1", tick, 0},
		{"as JSON", "--json --lines 1", `{"lines":[{"time":"2026-03-04T11:02:00Z","level":"DEBUG","msg":"tick"}]}` + "\n", 0},
		{"odd level", "--level loud", "", 2},
		{"odd pattern", "--grep (", "", 2},
		{"no lines", "--lines 0", "", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code := w.run(t, append([]string{"log"}, strings.Fields(tt.args)...)...)
			if diff := cmp.Diff(tt.want, w.out.String()); diff != "" || code != tt.code {
				t.Errorf("exit %d\n%s", code, diff)
			}
		})
	}
}
