package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	charm "github.com/charmbracelet/x/ansi"

	"orange/internal/core/task"
	"orange/internal/ui/tui/render"
	"orange/internal/wire"
)

func TestTheGraphShowsWhereTheTaskIs(t *testing.T) {
	r := newEnv(t, 80, 20)
	insight := func(what string) {
		t.Helper()
		d := &r.m.detail
		at, height := render.CurrentStateLine(d.lines), r.m.contentHeight()
		if at < 0 || at < d.scroll || at >= d.scroll+height {
			t.Errorf("%s: the state is on line %d, and %d lines are shown from %d", what, at, height, d.scroll)
		}
	}
	r.on("mail")
	r.press("5")
	insight("opened")
	if r.m.detail.scroll == 0 {
		t.Fatal("the graph is too short for this test")
	}
	r.press("tab", "home")
	change := func(status string) {
		r.t.Helper()
		r.change("id0mail", func(t *task.Task) { t.Status = status })
	}
	change("stuck")
	if r.m.detail.scroll != 0 {
		t.Error("it is scrolled though the task did not move")
	}
	change("pending")
	insight("at the beginning")
	r.press("end")
	change("planning")
	insight("moved")
}

func TestALowWindowSaysWhereThePaneIs(t *testing.T) {
	for _, key := range []string{"1", "2", "6", "]", "[", "z", "+", "-"} {
		r := newEnv(t, 60, 15)
		r.press(key)
		r.shows("the window is too low for the pane: press Tab")
		r.press("tab")
		r.shows("Let customers log in")
		r.hides("the window is too low", "...")
	}
	r := newEnv(t, 60, 16)
	r.press("2")
	r.hides("the window is too low")
	r = newEnv(t, 60, 12)
	r.press("2", "tab")
	r.shows("APPROACH: a form")
}

func TestIdleAgentsAreDistinguished(t *testing.T) {
	r := newEnv(t, 100, 30)
	row := *r.m.findRow("id0search")
	if got := r.m.lifeIcon(&row); got.style.Render("x") != r.m.theme.Good.Render("x") {
		t.Error("one at work does not look like it")
	}
	r.change("id0search", func(t *task.Task) { t.Agents = agentIn(3, task.Condition{Name: task.Idle, Since: ago(3 * time.Hour)}) })
	row = *r.m.findRow("id0search")
	r.shows("worker idle")
	if got := r.m.lifeIcon(&row); got.style.Render("x") != r.m.theme.Faint.Render("x") {
		t.Error("an idle one looks like one at work")
	}
}

func TestTheHelpNamesEverything(t *testing.T) {
	r := newEnv(t, 120, 80)
	r.press("?")
	r.shows("or w: start it", "Ctrl-Q comes back")
	r.press("end")
	r.shows("Filters: / and :filter", "needs:", "me, agent or nobody", ":land pause [project]", ":theme auto|light|dark", "The mouse", "click", "wheel", "faint: idle")
}

func TestWhatIsLeftOutIsCounted(t *testing.T) {
	long := strings.Repeat("x", maxBody+123)
	for name, v := range map[string]wire.TaskDetails{
		"of the text":    {Body: long},
		"of the problem": {Body: "short", Problem: long},
	} {
		if got := taskBody(v); !strings.Contains(got, "(123 bytes more") {
			t.Errorf("%s: %q", name, got[maxBody:])
		}
	}
	if got := taskBody(wire.TaskDetails{Body: strings.Repeat("x", maxBody-1) + "é"}); !strings.Contains(got, "(2 bytes more") {
		t.Errorf("within a character: %q", got[maxBody-1:])
	}
}

func TestWhatIsSaidIsAsWideAsItIsTakenFor(t *testing.T) {
	r := newEnv(t, 80, 24)
	r.m.showError("❤\ufe0f 👍🏽 was refused")
	text := r.m.note.text
	if by, runes := charm.StringWidth(text), charm.StringWidthWc(text); by != runes || text != "❤ 👍 was refused" {
		t.Errorf("%q is %d columns wide, or %d", text, by, runes)
	}
}

func TestEverythingFitsAnySize(t *testing.T) {
	for _, keys := range [][]string{{}, {"i"}, {"?"}, {"v"}, {"c"}, {"x"}, {"r"}, {"u"}, {"/"}, {"g"}, {"tab", "5"}, {"4"}, {"6"}, {"8"}, {"b"}, {"b", "t"}, {"b", "c"}, {":", "tab"}, {"/", "i", "s", ":"}, {"*", "x"}, {"g", "left"}} {
		r := newEnv(t, 100, 30)
		r.addBoard()
		r.press(keys...)
		for _, w := range []int{1, 3, 7, 20, 37, 66, 130} {
			for _, h := range []int{1, 2, 3, 5, 8, 16, 24} {
				r.tell(tea.WindowSizeMsg{Width: w, Height: h})
				r.tell(tea.MouseWheelMsg{X: w / 2, Y: h / 2, Button: tea.MouseWheelDown})
				lines := strings.Split(r.text(), "\n")
				if len(lines) > h {
					t.Errorf("%v %dx%d: %d lines", keys, w, h, len(lines))
				}
				for _, l := range lines {
					if n := charm.StringWidth(l); n > w {
						t.Errorf("%v %dx%d: %d wide: %q", keys, w, h, n, l)
						break
					}
				}
			}
		}
	}
}
