package cli_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/core/agent"
	"orange/internal/core/task"
	"orange/internal/ui/cli"
)

func TestWorkspaces(t *testing.T) {
	answer := func(path, text string) func(*env) { return func(w *env) { w.answers[path] = text } }
	const two = `{"workspaces":[
		{"name":"p--1","project":"p","path":"/w/p--1","task":"` + idOne + `","branch":"feature","exists":true,"dirty":true},
		{"name":"p--2","project":"p","path":"/w/p--2","exists":true},
		{"name":"p--3","project":"p","path":"/w/p--3"},
		{"name":"p--4","project":"p","path":"/w/p--4","exists":true,"problem":"no\u001b[1m git"}]}`
	initAnswer := answer("/v1/workspaces/init", `{"workspaces":[{"name":"p--1","path":"/w/p--1","exists":true,"dirty":true},{"name":"p--2","path":"/w/p--2"}]}`)
	const gc = `{"kept":[{"name":"p--8","why":"a task holds it"}],"removed":[{"name":"p--9","why":"the pool has 2"}]}`
	const rich = `{"salvages":[{"ref":"refs/orange/salvage/` + idOne + `/2","project":"p","task":"` + idOne + `","at":"2026-03-04T11:00:00Z","commit":"abc","files":3,"staged":"def",` +
		`"submodules":[{"path":"a lib","repository":"/r/.git/orange/submodules","ref":"refs/x"},{"path":"a lib","repository":"/r/.git/orange/submodules","ref":"refs/y"}]}]}`
	const salvage = `{"salvages":[{"ref":"refs/orange/salvage/` + idOne + `/2","project":"p","task":"` + idOne + `","at":"2026-03-04T11:00:00Z","commit":"abc","files":3}]}`
	tell(t, []story{
		{name: "list", args: "workspace list", prepare: answer("/v1/workspaces", two), out: "WORKSPACE  TASK      BRANCH   STATE            PATH\n" +
			"p--1       oneAAAAA  feature  changed          /w/p--1\n" +
			"p--2       -         -        clean            /w/p--2\n" +
			"p--3       -         -        not made yet     /w/p--3\n" +
			"p--4       -         -        problem: no git  /w/p--4\n"},
		{name: "list as JSON", args: "workspace list --json", prepare: answer("/v1/workspaces", two), out: `{"workspaces":[{"name":"p--1"`},
		{name: "list none", args: "workspace list", prepare: answer("/v1/workspaces", `{"workspaces":[]}`), out: "No workspaces."},
		{name: "a server without agents", args: "workspace list", prepare: func(w *env) {
			w.api.Workspaces = nil
		}, code: 1, err: "orange: workspace list: this server writes effects down and starts no agents (effects: record)\n"},
		{name: "init", args: "workspace init p --count 1", prepare: initAnswer, out: "p--1 (/w/p--1): ready\np--2 (/w/p--2): not made yet\n", asked: []string{`POST /v1/workspaces/init {"project":"p","count":1}`}},
		{name: "init here", args: "workspace init", prepare: func(w *env) { initAnswer(w); w.place.Project = "here" }, asked: []string{`POST /v1/workspaces/init {"project":"here","count":0}`}},
		{name: "init, all are there", args: "workspace init p", prepare: answer("/v1/workspaces/init", `{"workspaces":[]}`), out: "Project p has all its workspaces.\n"},
		{name: "init as JSON", args: "workspace init p --json", prepare: initAnswer, out: `{"workspaces":[{"name":"p--1"`},
		{name: "init nowhere", args: "workspace init", code: 1, err: "belongs to no project"},
		{name: "init none", args: "workspace init p --count 0", code: 2, err: "--count 0: give a positive integer", asked: []string{}},
		{name: "an agent makes none", args: "workspace init p", prepare: func(w *env) {
			w.asAttempt(agent.Caller{Task: "x", Attempt: 3, Role: "worker"})
		}, code: 1, err: "orange: workspace init: this is attempt 3 of task x, and /v1/workspaces/init is a person's to ask for\n"},
		{name: "gc", args: "workspace gc", prepare: answer("/v1/workspaces/gc", gc), out: "removed p--9: the pool has 2\nkept p--8: a task holds it\n", asked: []string{`POST /v1/workspaces/gc {"dry_run":false}`}},
		{name: "gc, only look", args: "workspace gc --dry-run", prepare: answer("/v1/workspaces/gc", gc), out: "would remove p--9", asked: []string{`POST /v1/workspaces/gc {"dry_run":true}`}},
		{name: "gc of what was set aside", args: "workspace gc --purge", prepare: answer("/v1/workspaces/gc", gc), out: "removed p--9",
			asked: []string{`POST /v1/workspaces/gc {"dry_run":false,"purge":true,"older":1209600000000000}`}},
		{name: "gc of what is older", args: "workspace gc --purge --older 1d12h", prepare: answer("/v1/workspaces/gc", gc), out: "removed p--9",
			asked: []string{`POST /v1/workspaces/gc {"dry_run":false,"purge":true,"older":129600000000000}`}},
		{name: "gc of folders by name", args: "workspace gc --purge /d/.aside/p--1/a/ x/../b", prepare: answer("/v1/workspaces/gc", gc), out: "removed p--9",
			asked: []string{`POST /v1/workspaces/gc {"dry_run":false,"purge":true,"folders":["/d/.aside/p--1/a","/repo/sub/b"]}`}},
		{name: "gc of a folder, and not to delete it", args: "workspace gc /d/.aside/p--1/a", code: 2, err: "a folder is named to be deleted: add --purge, or name none", asked: []string{}},
		{name: "gc of a folder and an age", args: "workspace gc --purge --older 3d /d/.aside/p--1/a", code: 2, err: "a folder that is named is deleted whatever its age: leave out --older", asked: []string{}},
		{name: "gc of an odd age", args: "workspace gc --purge --older 2x", code: 2, err: "give a time such as 14d or 36h", asked: []string{}},
		{name: "gc of no age", args: "workspace gc --purge --older 0d", code: 2, err: "give a time such as 14d or 36h", asked: []string{}},
		{name: "gc of an age without more", args: "workspace gc --older 14d", code: 2, err: "--older says what --purge deletes: give both, or neither", asked: []string{}},
		{name: "gc of nothing", args: "workspace gc", prepare: answer("/v1/workspaces/gc", `{"removed":[],"kept":[]}`), out: "Nothing to remove.\n"},
		{name: "gc as JSON", args: "workspace gc --json", prepare: answer("/v1/workspaces/gc", gc), out: gc + "\n"},
		{name: "salvage", args: "workspace salvage", prepare: answer("/v1/salvages", salvage), out: "TASK      PROJECT  AGE  FILES  IN ITS REPOSITORY, RUN\n" +
			"oneAAAAA  p        1h   3      git switch -c salvage-oneAAAAA-2 refs/orange/salvage/" + idOne + "/2\n"},
		{name: "salvage with more", args: "workspace salvage", prepare: answer("/v1/salvages", rich), out: "TASK      PROJECT  AGE  FILES  IN ITS REPOSITORY, RUN\n" +
			"oneAAAAA  p        1h   3      git -C 'a lib' --git-dir .git fetch --no-recurse-submodules /r/.git/orange/submodules refs/x:refs/heads/salvage-oneAAAAA-2\n" +
			"                               git -C 'a lib' --git-dir .git fetch --no-recurse-submodules /r/.git/orange/submodules refs/y:refs/heads/salvage-oneAAAAA-2-2\n" +
			"                               git switch -c salvage-oneAAAAA-2 refs/orange/salvage/" + idOne + "/2\n" +
			"                               git restore --staged --source def -- .\n"},
		{name: "salvage as JSON", args: "workspace salvage --json --project p", prepare: answer("/v1/salvages", salvage), out: `{"salvages":[{"ref":"refs/orange/salvage/`},
		{name: "no salvage", args: "workspace salvage", prepare: answer("/v1/salvages", `{"salvages":[]}`), out: "Nothing had to be kept.\n"},
		{name: "unknown", args: "workspace bogus", code: 2, err: `command "bogus" is not known: see orange workspace --help`},
		{name: "complete a project", args: "__complete|workspace|init|", err: "Completion ended"},
	})
}

func TestTaskFork(t *testing.T) {
	const path = "/v1/tasks/" + idOne + "/fork"
	forked := func(w *env) {
		w.answers[path] = `{"task":{"id":"` + idTwo + `","project":"proj","branch":"feature-fork-1","setup":{"fork_of":"` + idOne + `@7"},"waiting":{"queued":true}},"decision":{}}`
	}
	tell(t, []story{
		{name: "fork", args: "task fork " + idOne + "@7", prepare: forked, out: "Created task " + idTwo + " (proj/feature-fork-1), a fork of " + idOne + "@7\nIt waits for a free workspace.\n",
			asked: []string{"POST " + path + ` {"seq":7,"branch":"","spawn":true}`}},
		{name: "fork to a branch", args: "task fork " + idOne + "@7 --branch b --no-spawn", prepare: forked, asked: []string{"POST " + path + ` {"seq":7,"branch":"b","spawn":false}`}},
		{name: "fork as JSON", args: "task fork " + idOne + "@7 --json", prepare: forked, out: `{"task":{"id":"` + idTwo},
		{name: "fork without an entry", args: "task fork " + idOne, code: 2, err: "names no entry of a task: give ID@SEQ", asked: []string{}},
		{name: "fork at no number", args: "task fork " + idOne + "@now", code: 2, err: "give ID@SEQ"},
		{name: "fork before the beginning", args: "task fork " + idOne + "@0", code: 2, err: "give ID@SEQ"},
		{name: "fork of nothing", args: "task fork @3", code: 2, err: "give ID@SEQ"},
		{name: "fork refused", args: "task fork " + idOne + "@9", prepare: func(w *env) {
			w.fails[path] = task.Mistakef("task has entries 1 to 4, and no 9")
		}, code: 1, err: "orange: task fork: task has entries 1 to 4, and no 9\n"},
		{name: "an id that is none", args: "task fork ../x@1", code: 1, err: `task not found: "../x"`},
	})
}

func TestInstall(t *testing.T) {
	var got []string
	install := func(list []cli.Installed, err error) func(*env) {
		return func(w *env) {
			got = nil
			w.Install = func(_ context.Context, harnesses []string, dry bool) ([]cli.Installed, error) {
				got = harnesses
				if dry {
					got = append(got, "dry")
				}
				return list, err
			}
		}
	}
	one := install([]cli.Installed{{Harness: "claude", Path: "/h/.claude/skills/orange", Status: "written"}}, nil)
	tell(t, []story{
		{name: "everywhere", args: "install", prepare: one, out: "HARNESS  STATUS   PATH\nclaude   written  /h/.claude/skills/orange\n"},
		{name: "as JSON", args: "install --json", prepare: one, out: `{"installed":[{"harness":"claude","path":"/h/.claude/skills/orange","status":"written"}]}` + "\n"},
		{name: "nowhere", args: "install", prepare: install(nil, nil), out: "No harness was found."},
		{name: "nowhere, as JSON", args: "install --json", prepare: install(nil, nil), out: `{"installed":[]}`},
		{name: "it breaks", args: "install --harness x", prepare: install(nil, errors.New(`harness "x" is not known`)), code: 1, err: "orange: install: harness \"x\" is not known\n"},
		{name: "it breaks half way", args: "install", prepare: install([]cli.Installed{{Harness: "claude", Status: "written"}}, errors.New("no room")), code: 1, err: "orange: install: claude written, but no room\n"},
		{name: "an agent", args: "install", prepare: func(w *env) { one(w); inAttempt(w) }, code: 1, err: "leave it to a person"},
		{name: "nothing to install", args: "install", code: 1, err: "no skill to install"},
	})
	w := newEnv(t)
	one(w)
	if code := w.run(t, "install", "--harness", "claude", "--harness", "codex", "--dry-run"); code != 0 || strings.Join(got, " ") != "claude codex dry" {
		t.Errorf("exit %d, asked for %q", code, got)
	}
}

func TestTheTokenIsShown(t *testing.T) {
	w := newEnv(t)
	w.Config.Token = "abc.1.def"
	w.answers["/v1/inbox"] = `{"items":[]}`
	for _, args := range [][]string{{"inbox"}, {"task", "list"}, {"hook", "claude", "Stop"}, {"__complete", "task", "show", ""}, {"stop"}} {
		w.mu.Lock()
		w.tokens = map[string]bool{}
		w.mu.Unlock()
		if code := w.run(t, args...); code != 0 {
			t.Fatal(code, w.err.String())
		}
		w.mu.Lock()
		if len(w.tokens) != 1 || !w.tokens["abc.1.def"] {
			t.Errorf("%v: showed %v", args, w.tokens)
		}
		w.mu.Unlock()
	}
	if strings.Contains(w.err.String()+w.out.String(), "abc") {
		t.Error("the token was printed")
	}
}

func TestWhoMaySpeakIsTheServersToSay(t *testing.T) {
	const why = "the token does not belong to this server: unset ORANGE_TOKEN, or run the command inside the attempt"
	w := newEnv(t)
	w.api.Identity = identity{err: errors.New(why)}
	if code := w.run(t, "inbox", "--json"); code != 1 || w.err.String() != "orange: inbox: "+why+"\n" || w.out.String() != `{"error":"`+why+`"}`+"\n" {
		t.Errorf("exit %d, %q, %q", code, w.out.String(), w.err.String())
	}
}

func TestScriptsAreNamedByWhereTheyAre(t *testing.T) {
	create := func(rest string) []string {
		return []string{`POST /v1/tasks {"project":"proj","branch":"b","summary":"s",` + rest + `"spawn":true,"actor":"human"}`}
	}
	dir := t.TempDir()
	sub, script := filepath.Join(dir, "sub"), filepath.Join(dir, "play.yaml")
	if err := errors.Join(os.Mkdir(sub, 0o700), os.WriteFile(script, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	in := func(folder string) func(*env) {
		return func(w *env) { w.Cwd = folder; w.place.GitRoot = "/src/shop" }
	}
	tell(t, []story{
		{name: "a program", args: "task|create|--project|proj|--harness|command:agent --fast|b|s", asked: create(`"harness":"command:agent --fast",`)},
		{name: "a script here", args: "task create --project proj --harness script:play.yaml b s", prepare: in(dir), asked: create(`"harness":"script:` + script + `",`)},
		{name: "a script elsewhere", args: "task create --project proj --harness script:" + script + " b s", asked: create(`"harness":"script:` + script + `",`)},
		{name: "a script that reviews", args: "task create --project proj --review-harness script:../play.yaml b s", prepare: in(sub), asked: create(`"review_harness":"script:` + script + `",`)},
		{name: "a script that is not there", args: "task create --harness script:nope.yaml b s", prepare: in(dir), code: 1,
			err: "orange: task create: there is no script nope.yaml: give the path of one, as in script:play.yaml\n", asked: []string{}},
		{name: "agents of single roles", args: "task create --project proj --role reviewer=codex:gpt-5 --role reviewer=claude --role worker=script:../play.yaml b s", prepare: in(sub), asked: create(`"roles":[{"role":"reviewer","harness":"codex","model":"gpt-5"},{"role":"reviewer","harness":"claude"},{"role":"worker","harness":"script:` + script + `"}],`)},
		{name: "a role without an agent", args: "task create --role reviewer b s", prepare: in(dir), code: 2, err: "--role \"reviewer\" names no role and agent: give ROLE=HARNESS, as in reviewer=codex", asked: []string{}},
		{name: "a reviewer's script that is not there", args: "task create --review-harness script:/nope/r.yaml b s", prepare: in(dir), code: 1, err: "there is no script /nope/r.yaml", asked: []string{}},
		{name: "a script that is a folder", args: "task create --harness script:sub b s", prepare: in(dir), code: 1, err: "script sub is a folder: give the path of a file", asked: []string{}},
		{name: "a card's script", args: "board add Sell --project proj --harness script:../play.yaml", prepare: func(w *env) {
			in(sub)(w)
			w.answers["/v1/boards/proj/cards"] = `{"card":{"project":"proj","number":1,"title":"Sell","column":"To Do"}}`
		}, asked: []string{`POST /v1/boards/proj/cards {"title":"Sell","harness":"script:` + script + `"}`}},
		{name: "a card's script that is not there", args: "board add Sell --harness script:nope.yaml", prepare: in(dir), code: 1,
			err: "orange: board add: there is no script nope.yaml: give the path of one, as in script:play.yaml\n", asked: []string{}},
		{name: "an agent by name", args: "task create --project proj --harness pi b s", asked: create(`"harness":"pi",`)},
	})
}
