package tui

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/task"
)

func TestRequirementsHaveSeveralLines(t *testing.T) {
	r := newEnv(t, 100, 30)
	r.press("c")
	r.write("Tell the news")
	r.press("tab")
	r.shows("Ctrl+S create", "Enter new line", "Ctrl+G editor")
	r.write("the newest first")
	r.press("enter")
	r.write("at most ten")
	r.press("alt+enter")
	r.press("up", "up", "home")
	r.write("Wanted: ")
	r.shows("Wanted: the newest first", "at most ten")
	r.press("down", "down", "down") // within the text, then to the next value
	r.hides("at most ten")
	r.shows("Wanted: the newest first (+1 line)")
	r.press("ctrl+u")
	r.write("news")
	r.press("up")
	r.shows("at most ten")
	r.press("ctrl+s")
	r.heard("create shop|news|Tell the news||||true|human", `requirements "Wanted: the newest first\nat most ten"`)

	r.press("c", "tab")
	r.tell(tea.PasteMsg{Content: "Only lines\r\nof requirements"})
	r.press("esc")
	r.shows("kept")
	r.press("c")
	r.shows("Only lines")
	r.press("ctrl+s")
	r.heard("create shop||||||true|human", `requirements "Only lines\nof requirements"`)
}

func TestATextIsWrittenInThePersonsEditor(t *testing.T) {
	script := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho 'and a label' >>\"$1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := newEnv(t, 100, 30, func(o *DashboardOptions) { o.Environ = append(os.Environ(), "VISUAL=", "EDITOR="+script) })
	edit := func() {
		r.t.Helper()
		cmd := r.m.routeKey(named["ctrl+g"])
		if cmd == nil {
			t.Fatal("no editor is opened")
		}
		r.tell(runExec(t, cmd))
	}
	r.press("c", "ctrl+g") // the summary has one line
	r.press("tab")
	r.write("a form")
	r.press("alt+enter")
	edit()
	r.shows("a form", "and a label")
	r.press("esc")
	r.on("login")
	r.press("r")
	r.write("rounder")
	r.press("alt+enter")
	edit()
	r.press("enter")
	r.heard("request id0login request-changes rounder and a label human")

	r.m.Environ = []string{"EDITOR="}
	r.press("r", "ctrl+g")
	r.shows("no editor is set: set VISUAL or EDITOR")
	into, why := newField("kept", true), ""
	editedMsg{&into, &why, strings.Repeat("x", maxWords+1), nil}.apply()
	if into.value() != "kept" || !strings.Contains(why, "longer than 64 KB") {
		t.Errorf("%q, %q", into.value(), why)
	}
}

// runExec runs the program that a command hands the terminal to, and returns the message of its end.
func runExec(t *testing.T, cmd tea.Cmd) tea.Msg {
	t.Helper()
	var out tea.Msg
	p := tea.NewProgram(execModel{cmd, &out}, tea.WithInput(nil), tea.WithoutRenderer())
	if _, err := p.Run(); err != nil {
		t.Fatal(err)
	}
	return out
}

// execModel runs one command and keeps its message.
type execModel struct {
	cmd tea.Cmd
	out *tea.Msg
}

func (m execModel) Init() tea.Cmd  { return m.cmd }
func (m execModel) View() tea.View { return tea.View{} }

func (m execModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(editedMsg); ok {
		*m.out = msg
		return m, tea.Quit
	}
	return m, nil
}

func TestATaskIsChanged(t *testing.T) {
	r := newEnv(t, 100, 30)
	r.api.body = "## Requirements\n\nby title\nby author\n\n## Plan\n\nx\n"
	r.change("id0search", func(t *task.Task) { t.Summary = "Let customers search" })
	r.on("search")
	r.api.take()
	r.press("E")
	r.shows("Change search", "Let customers search", "by title (+1 line)")
	r.api.take()
	r.press("enter")
	r.shows("nothing was changed")
	r.heard()

	r.press("E", "tab", "alt+enter")
	r.write("by colour")
	r.press("esc")
	r.shows("kept")
	r.press("E")
	r.shows("by colour")
	r.api.no = errNo
	r.api.take()
	r.press("ctrl+s")
	r.shows("by colour", "a gate is not met")
	r.api.no = nil
	r.press("shift+tab", "ctrl+u", "enter")
	r.shows("the title is empty")
	r.write("Search")
	r.api.take()
	r.press("enter")
	r.heard("request id0search edit summary=Search by title by author by colour human")
	r.press("E")
	r.hides("by colour") // it was sent
}

func TestALivingAgentIsNotifiedOrReplaced(t *testing.T) {
	r := newEnv(t, 100, 30)
	r.on("search")
	r.api.take()
	r.press("t")
	r.write("use the index")
	r.press("enter")
	r.heard("request id0search send use the index human")
	r.press("F")
	r.shows("End the agent of search and start another?")
	r.press("n")
	r.heard()
	r.press("F", "y")
	r.heard("request id0search respawn force human")
	r.on("index") // its agent is dead
	r.api.take()
	r.press("t")
	r.shows("no agent of index lives")
	r.press("F")
	r.heard("request id0index respawn human")
}

func TestALivingAgentIsStopped(t *testing.T) {
	r := newEnv(t, 100, 30)
	r.on("search")
	r.api.take()
	r.press("X")
	r.shows("Stop the agent of search?", "no agent starts until you start one")
	r.press("n")
	r.heard()
	r.press("X", "y")
	r.heard("request id0search stop human")
	r.press(":")
	r.write("stop")
	r.press("enter", "y")
	r.heard("request id0search stop human")
	r.on("index") // its agent is dead
	r.api.take()
	r.press("X")
	r.shows("no agent of index lives")
	r.heard()
}

func TestNotesOfACreationAreShownOnce(t *testing.T) {
	r := newEnv(t, 100, 30)
	r.api.notes = []string{"workflow orange starts at least 2 agents for it: worker, reviewer", "tmux is not installed"}
	r.press("c")
	r.write("news")
	r.press("enter")
	r.shows("About this task", "workflow orange starts at least 2 agents", "tmux is not installed")
	r.press("enter")
	r.hides("About this task")
	r.press("c")
	r.write("more news")
	r.press("enter")
	r.hides("About this task")
}

func TestARepositoryThatIsNoProjectBecomesOne(t *testing.T) {
	added := 0
	r := newEnv(t, 100, 30, func(o *DashboardOptions) {
		o.Register = func(context.Context) (string, error) { added++; return "fresh", nil }
	})
	r.press("c")
	r.shows("the repository of this folder")
	r.write("news")
	r.press("enter")
	r.heard("create fresh||news||||true|human")
	if added != 1 {
		t.Errorf("it was added %d times", added)
	}
}
