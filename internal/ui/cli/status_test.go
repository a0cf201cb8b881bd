package cli_test

import (
	"errors"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/core/task"
	"orange/internal/wire"
)

// at is a server that has these tasks, which follow the workflow orange.
func at(tasks ...task.Task) func(*env) { return func(w *env) { w.asOrange(tasks...) } }

// agents are attempts, each in a condition; one whose condition begins with "ending" was told to end.
func agents(conditions ...string) (out []task.Attempt) {
	for i, name := range conditions {
		name, ending := strings.CutPrefix(name, "ending")
		out = append(out, task.Attempt{Number: i + 1, Role: "worker", Running: true, Ending: ending, Condition: task.Condition{Name: strings.TrimSpace(name)}})
	}
	return out
}

func TestStatus(t *testing.T) {
	two := task.Task{ID: idOne, Project: "proj", Status: "working", Agents: task.Agents{Attempts: agents("", "", "ending")}}
	asks := task.Task{ID: idTwo, Project: "proj", Branch: "#(evil)", Summary: "$(evil)", Status: "clarification"}
	queued := task.Task{ID: "three", Project: "proj", Status: "pending", Waiting: task.Waiting{Queued: true}}
	resting := task.Task{ID: "four", Status: "working", Agents: task.Agents{Attempts: agents(task.Idle, task.Idle, "", "ending "+task.Idle)}}
	blocked := task.Task{ID: "five", Status: "working", Agents: task.Agents{Attempts: agents(task.NotStarted, task.TurnFailed, "ending "+task.Limited)}}
	with := func(t task.Task, attempts []task.Attempt) task.Task { t.Attempts = attempts; return t }
	busy := at(two, asks, queued)
	of := func(w *env) { w.store.Tasks, w.projects = nil, []task.Project{{Name: "proj", Path: "/proj"}} }
	lands := func(w *env) {
		w.asOrange(task.Task{ID: idOne, Project: "proj", Status: "reviewing", Pending: []task.Effect{{Do: task.MergeDo}}})
		w.projects = []task.Project{{Name: "proj", Path: "/proj", Policy: task.Policy{HoldLanding: true}}, {Name: "other", Path: "/other"}}
	}
	untrusted := func(w *env) {
		w.store.Tasks, w.api.GitPrograms = nil, gitPrograms{}
		w.projects = []task.Project{{Name: "proj", Path: "/proj"}, {Name: "other", Path: "/other"}}
	}
	inTask := func(w *env) { busy(w); w.place = wire.Location{Project: "proj", Task: idTwo} }
	tell(t, []story{
		{name: "plain", args: "status --timeout 1m", prepare: busy, out: "2 agents at work, 1 task waits for you, 1 queued\n"},
		{name: "for a prompt", args: "status --timeout 1m --format prompt", prepare: busy, out: "[2 run 1 wait 1 queued] "},
		{name: "for tmux", args: "status --timeout 1m --format tmux", prepare: busy, out: "2 run #[fg=yellow,bold]1 wait#[default] 1 queued"},
		{name: "as JSON", args: "status --timeout 1m --json", prepare: busy, out: `{"tasks":3,"agents":2,"idle":0,"wants":1,"queued":1,"paused":false}` + "\n"},
		{name: "as JSON, by its format", args: "status --timeout 1m --format json", prepare: busy, out: `{"tasks":3,"agents":2`},
		{name: "in a task's workspace", args: "status --timeout 1m --here", prepare: inTask, out: "this task is clarification (waits for you: question), 2 agents"},
		{name: "there, for a prompt", args: "status --timeout 1m --here --format prompt", prepare: inTask, out: "[clarification! 2 run 1 wait 1 queued] "},
		{name: "there, as JSON", args: "status --timeout 1m --here --json", prepare: inTask, out: `"project":"proj","task":{"id":"` + idTwo + `","status":"clarification","life":"none","wants":"question"}`},
		{name: "everything is paused", args: "status --timeout 1m", prepare: func(w *env) { w.store.Tasks = nil; _ = w.api.Control.SetPaused(true) }, out: "everything is paused\n"},
		{name: "nothing to do", args: "status --timeout 1m", prepare: at(), out: "no agent at work, nothing waits for you\n"},
		{name: "a landing queue is held", args: "status --timeout 1m", prepare: lands, out: "1 item without a task waits for you\n"},
		{name: "a landing queue is held, for a prompt", args: "status --timeout 1m --format prompt", prepare: lands, out: "[1 wait] "},
		{name: "a landing queue of another project is held", args: "status --timeout 1m --project other", prepare: lands, out: "nothing waits for you\n"},
		{name: "git programs are not trusted", args: "status --timeout 1m --json", prepare: untrusted, out: `"paused":false,"items":2}`},
		{name: "some are idle", args: "status --timeout 1m", prepare: at(resting, two), out: "5 agents (2 idle)\n"},
		{name: "some are idle, for a prompt", args: "status --timeout 1m --format prompt", prepare: at(resting, two), out: "[3 run 2 idle] "},
		{name: "the only one is idle", args: "status --timeout 1m", prepare: at(with(resting, resting.Attempts[:1])), out: "1 agent (idle)\n"},
		{name: "all are idle, for a prompt", args: "status --timeout 1m --format prompt", prepare: at(with(resting, resting.Attempts[:2])), out: "[2 idle] "},
		{name: "some are blocked", args: "status --timeout 1m", prepare: at(blocked, two), out: "4 agents (2 blocked), 1 task waits for you\n"},
		{name: "some are blocked, for a prompt", args: "status --timeout 1m --format prompt", prepare: at(blocked, two), out: "[2 run 2 blocked 1 wait] "},
		{name: "some are blocked, as JSON", args: "status --timeout 1m --json", prepare: at(blocked), out: `"agents":2,"idle":0,"wants":1,"queued":0,"blocked":2,`},
		{name: "the only one is blocked", args: "status --timeout 1m", prepare: at(with(blocked, blocked.Attempts[:1])), out: "1 agent (blocked), 1 task waits for you\n"},
		{name: "some are idle and some are blocked", args: "status --timeout 1m", prepare: at(blocked, resting), out: "5 agents (2 idle, 2 blocked), 1 task waits for you\n"},
		{name: "of a project", args: "status --timeout 1m --project proj", prepare: of, out: "no agent at work, nothing waits for you\n"},
		{name: "of a project nobody knows", args: "status --timeout 1m --project nope", prepare: of, code: 1, err: `project "nope" is not known: see orange project list`},
		{name: "of that, as JSON", args: "status --timeout 1m --project nope --json", prepare: of, code: 1, out: `project \"nope\" is not known`},
		{name: "of that, for a prompt", args: "status --timeout 1m --project nope --format prompt", prepare: of},
		{name: "of that, for tmux", args: "status --timeout 1m --project nope --format tmux", prepare: of},
		{name: "a format nobody knows", args: "status --timeout 1m --format csh", code: 2, err: "use plain, prompt, tmux or json"},
		{name: "a snippet nobody knows", args: "status --timeout 1m --snippet csh", code: 2, err: "use tmux, bash, zsh, fish, starship"},
	})
}

func TestAStatusLineNeverComplains(t *testing.T) {
	tests := map[string]func(*env){
		"nothing is here":      func(w *env) { w.store.Tasks = nil },
		"the server is broken": func(w *env) { w.store.Err = errors.New("no") },
		"there is no server":   func(w *env) { w.server.Close() },
		"the server is silent": func(w *env) { w.handle = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() } },
		"no configuration":     func(w *env) { w.ConfigErr = http.ErrAbortHandler },
		"an answer that is odd": func(w *env) {
			w.handle = func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("[")) }
		},
	}
	for name, prepare := range tests {
		for _, format := range []string{"prompt", "tmux"} {
			t.Run(name+", "+format, func(t *testing.T) {
				w := newEnv(t)
				prepare(w)
				if code := w.run(t, "status", "--format", format); code != 0 || w.out.Len() > 0 || w.err.Len() > 0 {
					t.Errorf("exit %d, %q, %q", code, w.out.String(), w.err.String())
				}
				if code := w.run(t, "status", "--json"); name != "nothing is here" && (code != 1 || !strings.Contains(w.out.String(), `"error"`)) {
					t.Errorf("as JSON: exit %d, %q", code, w.out.String())
				}
			})
		}
	}
}

func TestNamesInAStatusLineAreTame(t *testing.T) {
	w := newEnv(t)
	w.store.Tasks = []task.Task{{ID: idOne, Project: "proj", Status: "a#(x)`y`$(z)%{\\e\nb"}}
	w.place = wire.Location{Project: "proj", Task: idOne}
	for _, format := range []string{"plain", "prompt"} {
		w.run(t, "status", "--timeout", "1m", "--here", "--format", format)
		if strings.ContainsAny(strings.TrimSuffix(w.out.String(), "\n"), "#`$%\\\n") {
			t.Errorf("%s: %q", format, w.out.String())
		}
	}
}

func TestSnippetsAreGoodShell(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			program, err := exec.LookPath(shell)
			if err != nil {
				t.Skip(err)
			}
			w := newEnv(t)
			if code := w.run(t, "status", "--snippet", shell); code != 0 {
				t.Fatal(w.err.String())
			}
			file := filepath.Join(t.TempDir(), "snippet")
			write(t, file, w.out.String())
			if out, err := exec.Command(program, "-n", file).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
