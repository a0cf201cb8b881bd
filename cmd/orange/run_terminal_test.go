package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const runAsker = `
worker:
  - print: looking at the form
  - say: "Which colour?"
  - wait
  - run: "grep -q blue TASK.md"
    must: true
  - commit: {file: form.txt, text: "blue\n", message: paint the form}
  - ask: "May I go on?"
  - run: orange task update --status reviewing
  - wait
  - run: "grep -q darker TASK.md"
    must: true
  - commit: {file: form.txt, text: "dark blue\n", message: darker}
  - run: orange task update --status reviewing
  - wait
`

// A person at a terminal answers a question, permits something in the agent's terminal, sends the work back once, and
// merges it, without another command.
func TestRunAsksAtTheTerminal(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	g := s.show(120, 50, s.program+" run Paint the form --harness script:"+s.write("ask.yaml", runAsker))
	g.shows("Created task", "working: the worker works", "Which colour?", "Answer (Enter leaves it):")
	g.write("blue")
	g.press("Enter")
	g.shows("permission: the worker", "Enter opens its terminal")
	g.press("Enter")
	g.hides("Created task")
	g.shows("May I go on?")
	g.write("y")
	g.press("Enter")
	g.shows("working -> reviewing")
	g.press("C-b", "d")
	g.shows("reviewing: it is your turn", "form.txt", "m merges it, c requests changes, Enter leaves it for later:")
	g.press("c", "Enter")
	g.shows("What is to change")
	g.write("darker")
	g.press("Enter")
	g.until("it is at review again", func(text string) bool { return strings.Count(text, "m merges it") == 2 })
	g.write("what?")
	g.press("Enter")
	g.shows("That is not known: m merges it")
	g.press("m", "Enter")
	g.shows("Merged ", "reviewing -> done", "it ended with 0")
	if text := s.git(s.repo, "show", "main:form.txt"); text != "dark blue" {
		t.Errorf("main has %q", text)
	}
}

// Ctrl-C leaves the task running, and says how to come back.
func TestRunLeavesTheTaskAlone(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	g := s.show(120, 40, "trap : INT; "+s.program+" run Wait --harness script:"+s.write("slow.yaml", "worker:\n  - say: I take my time\n  - sleep: 1h\n"))
	g.shows("working: the worker works", "worker: I take my time")
	g.press("C-c")
	g.shows("the task continues without this command: return with orange run --follow ", "it ended with 130")
	if list := s.orange("task", "list"); !strings.Contains(list, "working") {
		t.Errorf("the task does not go on:\n%s", list)
	}
}

// The dialogue of orange init asks again after a wrong answer, keeps what is set, and writes nothing after Ctrl-C.
func TestInitAsksAtTheTerminal(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	settings := filepath.Join(s.dir, "config", "orange", "config.json")
	before, err := os.ReadFile(settings)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	g := s.show(120, 50, "trap : INT; "+s.program+" init --harness script:"+s.write("play.yaml", "worker:\n  - sleep: 1h\n"))
	g.shows("Which branch do tasks start from [main]:")
	g.press("Enter")
	g.shows("Which workflow do tasks follow")
	g.press("C-c")
	g.shows("interrupted: nothing was written", "it ended with 130")
	if after, _ := os.ReadFile(settings); string(after) != string(before) {
		t.Errorf("config.json was changed to %s", after)
	}

	s.write("shop/Makefile", "check:\n\ttrue\n")
	g = s.show(120, 50, s.program+" init --harness none")
	g.shows("Which branch do tasks start from [main]:")
	g.write("nowhere")
	g.press("Enter")
	g.shows(`has no branch "nowhere"`)
	g.press("Enter")
	g.shows("Which workflow do tasks follow")
	g.write("orange-direct")
	g.press("Enter")
	g.shows("This repository has: make check", "Which command tests finished work [make check]:")
	g.press("Enter")
	g.shows("How does finished work leave this machine [local]:")
	g.write("pr")
	g.press("Enter")
	g.shows("pr needs a remote")
	g.press("Enter")
	g.shows("How are you told that something waits [none]:")
	g.write("bell")
	g.press("Enter")
	g.shows(`orange run "Fix the login bug"`, "it ended with 0")
	if after, _ := os.ReadFile(settings); !strings.Contains(string(after), `"notify": [{"kind":"bell"}]`) {
		t.Errorf("config.json is %s", after)
	}
	if list := s.orange("project", "list"); !strings.Contains(list, "orange-direct") {
		t.Errorf("the project is\n%s", list)
	}

	g = s.show(120, 50, s.program+" init --harness none")
	for _, shown := range []string{"[main]:", "[orange-direct]:", "[make check]:", "[local]:", "[bell]:"} {
		g.shows(shown)
		g.press("Enter")
	}
	g.shows("Nothing changed in project", "it ended with 0")
}

// With --attach the agent's terminal opens as soon as it starts, and Ctrl-Q comes back to the lines of the run.
func TestRunAttachesToTheAgent(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	g := s.show(120, 40, s.program+" run Paint the form --attach --harness script:"+s.write("paint.yaml", `
worker:
  - print: here is the painter
  - run: "while ! test -e ../../../go; do sleep 0.05; done"
  - commit: {file: form.txt, text: "blue\n", message: paint the form}
  - run: orange task update --status reviewing
  - wait
`))
	g.shows("here is the painter", "Ctrl-Q leaves")
	s.attached("=shop/paint-the-form")
	g.press("C-q")
	g.shows("Created task", "working: the worker works")
	g.hides("Ctrl-Q leaves")
	s.write("go", "")
	g.shows("reviewing: it is your turn", "form.txt", "m merges it")
	g.press("Enter")
	g.shows("it ended with 0")
	if got := s.list(); len(got) != 1 || got[0].Status != "reviewing" {
		t.Errorf("%+v", got)
	}
}
