package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"orange/internal/core/task"
	"orange/internal/wait"
)

// dashboardTerminal is a real terminal on which the real dashboard is shown, in a tmux of its own.
type dashboardTerminal struct {
	*env
	socket string
}

// show runs a command line of a shell on a terminal.
func (s *env) show(width, height int, line string) *dashboardTerminal {
	s.t.Helper()
	before, _ := filepath.Glob(filepath.Join(s.dir, "stage*"))
	g := &dashboardTerminal{s, filepath.Join(s.dir, "stage"+strconv.Itoa(len(before)))}
	s.t.Cleanup(func() { g.screen("kill-server") }) //nolint:errcheck // it may be gone
	cmd := "cd " + s.repo + "; " + line + "; echo it ended with $?; exec sleep 1000"
	_, err := g.screen("-f", "/dev/null", "new-session", "-d", "-s", "stage", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), "sh", "-c", cmd)
	check(s.t, err)
	return g
}

// open shows the dashboard.
func (s *env) open(width, height int, args ...string) *dashboardTerminal {
	s.t.Helper()
	return s.show(width, height, "TERM=xterm-256color COLORTERM=truecolor "+s.program+" "+strings.Join(args, " "))
}

func (g *dashboardTerminal) screen(args ...string) (string, error) {
	out, err := g.command("tmux", append([]string{"-S", g.socket}, args...)...).Output()
	return string(out), err
}

// text is what the terminal shows.
func (g *dashboardTerminal) text(more ...string) string {
	out, err := g.screen(append([]string{"capture-pane", "-p", "-t", "stage"}, more...)...)
	if err != nil {
		return ""
	}
	return out
}

// press presses keys, each by the name tmux has for it.
func (g *dashboardTerminal) press(keys ...string) {
	g.t.Helper()
	for _, k := range keys {
		_, err := g.screen("send-keys", "-t", "stage", k)
		check(g.t, err)
	}
}

func (g *dashboardTerminal) write(text string) {
	g.t.Helper()
	_, err := g.screen("send-keys", "-t", "stage", "-l", text)
	check(g.t, err)
}

// shows waits until all the words are on the screen.
func (g *dashboardTerminal) shows(words ...string) {
	g.t.Helper()
	g.until("it shows "+strings.Join(words, ", "), func(text string) bool {
		for _, w := range words {
			if !strings.Contains(text, w) {
				return false
			}
		}
		return true
	})
}

// hides waits until none of the words is on the screen.
func (g *dashboardTerminal) hides(words ...string) {
	g.t.Helper()
	g.until("it hides "+strings.Join(words, ", "), func(text string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return false
			}
		}
		return text != ""
	})
}

func (g *dashboardTerminal) until(what string, holds func(string) bool) {
	g.t.Helper()
	wait.Until(g.t, what, func() bool { return holds(g.text()) }, func() any { return g.text() })
}

// on puts the cursor on the only task that has these words.
func (g *dashboardTerminal) on(words string) {
	g.t.Helper()
	g.press("/")
	g.shows("Esc show all")
	g.press("C-u")
	g.write(words)
	g.shows("1 task ")
	g.press("Enter")
	g.shows("/"+words, "q quit")
}

const asker = `
worker:
  - section: {name: Questions, text: "Which colour?"}
  - run: orange task update --status clarification
  - wait:
  - run: "grep -q blue TASK.md && touch ../../../answered"
  - section: {name: Plan, text: "APPROACH: blue"}
  - run: orange task update --status working
  - idle:
`

const reviewed = `
worker:
  - section: {name: Plan, text: "APPROACH: a form"}
  - run: orange task update --status working
  - commit: {file: login.txt, text: "form\n", message: add the form}
  - section: {name: Handoff, text: "DONE: the form"}
  - run: orange task update --status agent-review
  - wait:
  - run: "grep -q rounder TASK.md && touch ../../../changed"
  - idle:
reviewer:
  - section: {name: Review, text: "Verdict: PASS"}
  - run: orange task update --status reviewing
`

func TestTheDashboardOnARealTerminal(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux", "--pool-size", "4")
	asking := s.create("colours", asker)
	s.reaches(asking, "clarification") // it is the first item of the inbox, because it waits longer
	review := s.create("login", reviewed)
	s.reaches(review, "reviewing")
	g := s.open(80, 24)
	g.shows("shop · open · 2 tasks", "colours", "login", "reviewing", "live")

	// a task is created with the form, and what is refused loses nothing
	file := s.write("scripts/news.yaml", "worker:\n  - print: here is the news\n  - idle:\n")
	g.press("c")
	g.shows("A new task", "Workflow")
	g.write("Tell the news")
	g.shows("tell-the-news  from the title")
	g.press("Tab", "Tab", "C-u")
	g.write("not a branch")
	g.press("Tab", "Tab")
	g.write("script:" + file)
	g.press("Tab", "Tab", "Tab", "Space")
	g.shows("[ ] later")
	g.press("Enter")
	g.shows("not a branch", "Tell the news", "use")
	g.press("BTab", "BTab", "BTab", "BTab", "BTab", "C-u")
	g.write("news")
	g.press("Enter")
	g.shows("created shop/news", "pending", "3 tasks", "About this task", "at least 2 agents")
	g.press("Enter")
	g.hides("About this task")

	// search and groups
	g.on("news")
	g.hides("shop/login")
	g.press("Escape")
	g.shows("shop/login", "shop/news")
	g.shows("▾ Needs you 2", "▾ Waiting 1")
	g.press("Home", "Left")
	g.shows("▸ Needs you 2")
	g.hides("shop/login")
	g.press("Enter")
	g.shows("▾ Needs you 2", "shop/login")
	g.press("g")
	g.shows("pending 1", "clarification 1", "reviewing 1")
	g.press("g", "g")
	g.hides("pending 1")

	// a filter that is wrong is refused with a sentence, and one that is right is completed
	g.press("/")
	g.write("is:sleepy")
	g.shows("is:sleepy is not known: use open, closed")
	g.press("C-u")
	g.write("needs:m")
	g.press("Tab", "Enter")
	g.shows("/needs:me", "2 tasks")
	g.press("Escape")
	g.shows("3 tasks")

	// commands act on all tasks that are selected, and say which were refused
	g.press("*")
	g.shows("3 selected")
	g.press(":")
	g.write("pau")
	g.press("Tab", "Enter")
	g.shows("pause: done for 3 tasks")
	g.until("all are paused", func(text string) bool { // the timeline of the selected one may say so, too
		rows := 0
		for line := range strings.Lines(text) {
			if strings.Contains(line, "shop/") && strings.Contains(line, " paused") {
				rows++
			}
		}
		return rows == 3
	})
	g.press("*", "P")
	g.shows("resume: done for 3 tasks")
	g.hides("selected")

	// Enter starts it, and its terminal is seen
	g.on("news")
	g.press("Enter")
	g.shows("planning")
	g.press("4")
	g.shows("here is the news")
	g.press("Escape")
	g.shows("3 tasks")

	// the inbox, answered in place
	g.press("i")
	g.shows("inbox", "question", "review")
	g.press("Home")
	g.shows("Enter answer")
	g.press("Enter")
	g.shows("Your answer to colours")
	g.write("blue, please")
	g.press("Enter")
	s.eventually("the worker reads the answer", func() bool { _, err := os.Stat(filepath.Join(s.dir, "answered")); return err == nil })
	g.hides("question")
	g.press("q")

	// the work is sent back with words
	g.on("login")
	g.press("r")
	g.shows("What is to change in login?")
	g.write("rounder corners")
	g.press("Enter")
	s.eventually("the worker reads what is to change", func() bool { _, err := os.Stat(filepath.Join(s.dir, "changed")); return err == nil })
	g.shows("login", "working")

	// TASK.md
	g.press("v")
	g.shows("TASK.md", "rounder corners")
	g.press("r", "q")
	g.shows("STATUS")

	// another size
	_, err := g.screen("resize-window", "-t", "stage", "-x", "150", "-y", "40")
	check(t, err)
	g.shows("│", "do it")
	_, err = g.screen("resize-window", "-t", "stage", "-x", "40", "-y", "10")
	check(t, err)
	g.hides("│")
	_, err = g.screen("resize-window", "-t", "stage", "-x", "80", "-y", "24")
	check(t, err)
	g.shows("1 timeline")

	// the end of a task needs a yes
	g.press("x")
	g.shows("Cancel shop/login?")
	g.press("n")
	g.shows("nothing was changed")
	g.press("x")
	g.shows("Cancel shop/login?")
	g.press("y")
	s.reaches(review, "cancelled")
	g.shows("No task matches the filter")
	g.press("Escape")
	g.hides("shop/login")

	// the server dies, another comes, and nothing is missed
	g.shows("live")
	s.killServer()
	g.until("it says that the server is gone", func(text string) bool {
		gone := strings.Contains(text, "connection lost, trying again") || strings.Contains(text, "no server: any key starts one")
		return gone && strings.Contains(text, "shop/colours")
	})
	s.create("late", asker)
	g.shows("live", "shop/late")

	g.press("q")
	g.shows("it ended with 0")
}

// attached waits for a client at a session of agents. What they print is on the dashboard, too.
func (s *env) attached(session string) {
	s.t.Helper()
	s.eventually("somebody is attached", func() bool {
		clients, err := s.tmux("list-clients", "-t", session)
		return err == nil && strings.TrimSpace(clients) != ""
	})
}

func TestTheDashboardGoesToAnAgentAndComesBack(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	id := s.create("feature", "worker:\n  - print: here is the agent\n  - idle:\n")
	s.alive(id, 1)
	g := s.open(80, 24)
	g.shows("shop/feature", "●", "Enter attach")
	g.press("Enter")
	s.attached("=shop/feature")
	g.press("C-q")
	g.shows("STATUS", "back from the agent's terminal")
	g.press("q")
	g.shows("it ended with 0")

	g = s.open(80, 24, "dashboard", "--exit-on-attach")
	g.shows("Enter attach")
	g.press("w")
	s.attached("=shop/feature")
	_, err := s.tmux("detach-client", "-s", "=shop/feature")
	check(t, err)
	g.shows("it ended with 0")
}

// A person does the whole work of a day in the dashboard: a question with options, a review with remarks, their replies,
// and the merge.
func TestADayInTheDashboard(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	id := s.create("button", pageAgent)
	s.reaches(id, "clarification")
	g := s.open(110, 36)
	g.on("button")
	g.press("e")
	g.shows("Which colour has the button?", "blue", "green")
	g.press("Tab", "Tab", "Enter")
	s.reaches(id, "reviewing")
	if !s.has("answered") {
		t.Error("the agent did not read the answer")
	}

	g.shows("reviewing")
	g.press("6")
	g.shows("button.go", "const Size = 2")
	g.press("r")
	g.shows("What is to change in button?")
	before := s.task(id).Visit
	g.write("R1-1 `button.go:3`: say which  R1-2 `button.go:5`: larger  R1-3 `button.go:7`: why three?")
	g.press("Enter")
	s.await(id, "the change is reviewed", func(t task.Task) bool {
		return t.Status == "reviewing" && t.Visit > before && len(t.Pending) == 0
	})
	g.press("v")
	g.shows("Handoff", "Esc back")
	g.press("End")
	g.shows("resolved, it has a name now", "it must be three")
	g.hides("<!--")
	g.press("q")
	g.shows("m merge")
	s.orange("land", "pause")
	g.press("m")
	g.shows("Merge shop/")
	g.press("y")
	g.shows("its work waits in the landing queue", "1 for you")
	g.press("i")
	g.shows("the landing queues of shop are held")
	g.press("Enter")
	g.shows("Nothing waits for you.")
	s.reaches(id, "done")
	if got := s.git(s.repo, "show", "main:button.go"); !strings.Contains(got, "const Size = 20") {
		t.Errorf("main has %s", got)
	}
	g.press("q")
	g.shows("STATUS")
	g.press("q")
	g.shows("it ended with 0")
}

func TestACardIsTaggedInTheDashboard(t *testing.T) {
	s := openEnv(t, "tmux")
	file := s.write("scripts/joan.yaml", "architect:\n  - print: here is the architect\n  - idle:\n")
	s.orange("board", "add", "--project", "shop", "--column", "Analyse", "--tag", "Plan-Pending-Approval", "--workflow", "joan-board", "--harness", "script:"+file, "Show stars")
	s.orange("board", "add", "--project", "shop", "--no-task", "Count visitors")
	g := s.open(100, 30)
	g.shows("you: board", "Enter tag the card")
	g.press("Enter")
	g.shows("Tags of card 1", "[ ] Plan-Approved  lets its task continue", "[ ] Plan-Rejected  set by people")
	g.press("Enter")
	g.shows("card 1 has Plan-Pending-Approval, Plan-Approved", "architect-finalize")
	if out := s.orange("board", "history", "--project", "shop", "1"); !strings.Contains(out, "human   tagged Plan-Approved") {
		t.Errorf("the card's history is %s", out)
	}

	// a card that nothing works on
	g.press("h")
	g.shows("To Do · no task works on it")
	g.press("e")
	g.write("By day")
	g.press("Enter")
	g.shows("human, now:", "By day")
	g.press("u")
	g.shows("Move card 2 from To Do to")
	g.press("1")
	g.shows("card 2 is in Analyse", "Analyse 2")
	g.press("b")
	g.shows("STATUS")
	g.press("q")
	g.shows("it ended with 0")
}

func TestNoTextOfAnAgentMovesTheTerminal(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	id := s.create("feature", `
worker:
  - section: {name: Plan, text: "APPROACH: \e]0;taken over\a\e[2Jharmless"}
  - ask: "May I \e]0;taken over\a\e[2J\e[31mdo this?"
  - idle:
`)
	s.await(id, "it asks", func(t task.Task) bool {
		return len(t.Attempts) == 1 && t.Attempts[0].Condition.Name == task.WaitingPermission
	})
	g := s.open(100, 30)
	g.shows("shop/feature", "May I do this?")
	g.press("2")
	g.shows("harmless")
	g.press("3", "4", "i")
	g.shows("permission", "May I do this?")
	g.press("v")
	g.shows("harmless")
	title, err := g.screen("display-message", "-p", "-t", "stage", "#{pane_title}")
	check(t, err)
	if strings.Contains(title, "taken over") || strings.Contains(g.text(), "taken over") {
		t.Errorf("the title is %q", title)
	}
}

func TestTerminalsOfOtherSorts(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "headless")
	s.orange("task", "create", "--project", "shop", "--no-spawn", "--harness", "script:"+s.write("x.yaml", "worker:\n  - idle:\n"), "feature", "do it")
	t.Run("without colours", func(t *testing.T) {
		g := s.show(80, 24, "NO_COLOR=1 TERM=xterm-256color "+s.program)
		g.shows("shop/feature", "live")
		if found := regexp.MustCompile(`\x1b\[([0-9]+;)*(3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]`).FindString(g.text("-e")); found != "" {
			t.Errorf("it has a colour: %q", found)
		}
		g.press("q")
		g.shows("it ended with 0")
	})
	t.Run("dumb", func(t *testing.T) {
		g := s.show(80, 24, "TERM=dumb "+s.program)
		g.shows("use orange task list", "it ended with 1")
	})
	t.Run("a folder that is no project", func(t *testing.T) {
		other := filepath.Join(s.dir, "other")
		s.git(s.dir, "init", "-q", other)
		g := s.show(80, 24, "cd "+other+"; TERM=xterm-256color "+s.program)
		g.shows("all projects", "shop/feature", "is not registered: c adds it")
		g.press("A")
		g.shows("orange shop")
		g.press("q")
		g.shows("it ended with 0")
	})
	t.Run("none", func(t *testing.T) {
		s.refused("the dashboard needs a terminal", "dashboard")
		s.refused("the dashboard needs a terminal", "--all")
		if out := s.orange(); !strings.Contains(out, "shop/feature") {
			t.Errorf("orange without a terminal lists no tasks: %s", out)
		}
	})
	t.Run("flags that do not fit", func(t *testing.T) {
		g := s.show(80, 24, "TERM=xterm "+s.program+" --project nowhere; TERM=xterm "+s.program+" --all --project shop")
		g.shows(`project "nowhere" is not registered: see orange project list`, "give --all or --project, not both", "it ended with 2")
	})
}
