package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/task"
)

func TestKeysAskForWhatTheySay(t *testing.T) {
	for name, tt := range map[string]struct {
		on   string
		keys []string
		text string // typed behind the keys, and sent
		want []string
	}{
		"Enter starts a queued task":         {on: "later", keys: []string{"enter"}, want: []string{"ready id0later human"}},
		"w does the same":                    {on: "later", keys: []string{"w"}, want: []string{"ready id0later human"}},
		"Enter replaces a dead agent":        {on: "index", keys: []string{"enter"}, want: []string{"request id0index respawn human"}},
		"Enter goes to a living agent":       {on: "search", keys: []string{"enter"}, want: []string{"attach id0search"}},
		"r sends work back":                  {on: "login", keys: []string{"r"}, text: "rounder", want: []string{"request id0login request-changes rounder human"}},
		"m asks first":                       {on: "login", keys: []string{"m"}},
		"m merges what waits for it":         {on: "login", keys: []string{"m", "y"}, want: []string{"request id0login merge human"}},
		"m and yes":                          {on: "search", keys: []string{"m", "y"}, want: []string{"request id0search merge human"}},
		"m and no":                           {on: "search", keys: []string{"m", "n"}},
		"p asks first":                       {on: "search", keys: []string{"p"}},
		"p and no":                           {on: "search", keys: []string{"p", "n"}},
		"p and yes":                          {on: "search", keys: []string{"p", "y"}, want: []string{"request id0search create-pr human"}},
		"p names the one there is":           {on: "login", keys: []string{"p"}},
		"R looks at pull requests":           {on: "login", keys: []string{"R"}, want: []string{"sync"}},
		"x asks first":                       {on: "login", keys: []string{"x"}},
		"x and yes":                          {on: "login", keys: []string{"x", "y"}, want: []string{"request id0login cancel human"}},
		"x and Esc":                          {on: "login", keys: []string{"x", "esc"}},
		"x and Enter, which is no yes":       {on: "login", keys: []string{"x", "enter"}},
		"d and yes":                          {on: "login", keys: []string{"f", "d", "y"}, want: []string{"delete id0old human"}},
		"P pauses":                           {on: "search", keys: []string{"P"}, want: []string{"pause id0search human"}},
		"P resumes":                          {on: "push", keys: []string{"P"}, want: []string{"resume id0push human"}},
		"e answers a question":               {on: "colours", keys: []string{"e"}, text: "blue", want: []string{"request id0colours answer blue human"}},
		"e types into a terminal that asks":  {on: "build/clean", keys: []string{"e"}, text: "y", want: []string{"type id0clean y"}},
		"u offers the moves":                 {on: "login", keys: []string{"u", "j", "enter"}, want: []string{"request id0login working human"}},
		"u by number":                        {on: "login", keys: []string{"u", "1"}, want: []string{"request id0login done human"}},
		"u and away":                         {on: "login", keys: []string{"u", "esc"}},
		"everything is paused, after a yes":  {on: "login", keys: []string{"ctrl+p", "y"}, want: []string{"pause all"}},
		"words that are none are not sent":   {on: "login", keys: []string{"r", "enter", "space", "enter"}},
		"words that are thought better of":   {on: "login", keys: []string{"r", "n", "o", "esc"}},
		"Enter on a question in the inbox":   {on: "login", keys: []string{"i", "home", "j", "j", "enter"}, text: "blue", want: []string{"request id0colours answer blue human"}},
		"a in the inbox grants":              {on: "login", keys: []string{"i", "home", "a"}, want: []string{"request id0mail reviewing human"}},
		"Enter on a dead agent in the inbox": {on: "login", keys: []string{"i", "home", "j", "enter"}, want: []string{"request id0index respawn human"}},
		"Enter on a start in the inbox":      {on: "login", keys: []string{"i", "b", "end", "enter"}, want: []string{"ready id0later human"}},
		"request changes in the inbox":       {on: "login", keys: []string{"i", "end", "r"}, text: "rounder", want: []string{"request id0login request-changes rounder human"}},
		"merge in the inbox":                 {on: "login", keys: []string{"i", "end", "m", "y"}, want: []string{"request id0login merge human"}},
		"a permission is typed in the inbox": {on: "login", keys: []string{"i", "end", "k", "e"}, text: "y", want: []string{"type id0clean y"}},
		"approval of what nobody asked":      {on: "login", keys: []string{"a"}},
		"a number behind the last move":      {on: "push", keys: []string{"u", "9", "esc"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newEnv(t, 100, 30)
			r.on(tt.on)
			r.press(tt.keys...)
			if tt.text != "" {
				r.write(tt.text)
				r.press("enter")
			}
			r.heard(tt.want...)
			if tt.text != "" && r.m.dialog != nil {
				t.Error("the dialog is still open")
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Run("of a key are said", func(t *testing.T) {
		r := newEnv(t, 100, 30)
		r.on("login")
		r.api.no = errNo
		r.press("m", "y")
		r.shows("a gate is not met: write ## Plan")
		r.press("j")
		r.hides("a gate is not met")
	})
	t.Run("of words lose no words", func(t *testing.T) {
		r := newEnv(t, 100, 30)
		r.on("login")
		r.api.no = errNo
		r.press("r")
		r.write("rounder corners")
		r.press("enter")
		r.shows("rounder corners", "a gate is not met")
		r.api.no = nil
		r.api.take()
		r.press("enter")
		r.heard("request id0login request-changes rounder corners human")
		r.hides("rounder corners")
	})
	t.Run("of a form lose nothing", func(t *testing.T) {
		r := newEnv(t, 100, 30)
		r.api.no = errors.New(`branch "a b" is no name of a branch: use letters`)
		r.press("c")
		r.write("what it is about")
		r.press("tab", "tab", "ctrl+u")
		r.write("a b")
		r.press("enter")
		r.shows("a b", "what it is about", "is no name of a branch")
		r.heard("create shop|a b|what it is about||||true|human")
		r.api.no = nil
		r.press("enter")
		r.heard("create shop|a b|what it is about||||true|human")
		r.shows("created shop/a b")
	})
}

func TestTheFormAsksForEverything(t *testing.T) {
	r := newEnv(t, 100, 30, func(o *DashboardOptions) {
		o.Harness = func(s string) (string, error) {
			if s == "script:none" {
				return "", errors.New("there is no script none")
			}
			return s, nil
		}
	})
	r.press("c")
	r.write("Tell the news")
	r.press("tab", "tab", "ctrl+u")
	r.write("news")
	r.press("tab", "right") // another project
	r.press("tab", "right", "right")
	r.press("tab", "right", "right")
	r.press("tab", "right", "right")
	r.press("tab", "space")
	r.press("enter")
	r.heard("create site|news|Tell the news|codex|linear-sdlc|clarification|false|human")

	r.press("c", "esc")
	r.shows("no task was created")
	r.hides("kept")

	r.press("c", "enter")
	r.heard()
	r.shows("give a title, requirements or a branch", "named after the title")
	r.press("tab", "tab", "tab", "ctrl+u", "enter")
	r.shows("give a project")
	r.press("right", "tab")
	r.write("script:none")
	r.press("shift+tab", "shift+tab")
	r.write("x")
	r.press("enter")
	r.heard()
	r.shows("there is no script none")
}

func TestASecondRequestOfATaskWaits(t *testing.T) {
	r := newEnv(t, 100, 30)
	r.on("login")
	r.press("m")
	_, slow := r.m.Update(tea.KeyPressMsg{Code: 'y', Text: "y"})
	r.press("m", "y")
	r.heard()
	r.shows("the merge of login is still under way")
	r.press("r")
	r.write("words")
	r.press("enter")
	r.shows("still under way", "words")
	r.heard()
	r.press("esc")
	r.on("later")
	r.press("enter")
	r.heard("ready id0later human") // another task does not wait
	r.run(slow)
	r.heard("request id0login merge human")
	r.on("login")
	r.press("m", "y")
	r.heard("request id0login merge human")
}

func TestWhatBecameOfARequestIsSaid(t *testing.T) {
	r := newEnv(t, 100, 30)
	r.on("login")
	r.press("m", "y")
	r.change("id0login", func(t *task.Task) { t.Status = "done" })
	r.shows("login: reviewing -> done")

	r.on("search")
	r.press("p", "y")
	r.change("id0search", func(t *task.Task) { t.Attention = "create_pr failed: no remote" })
	r.shows("search: create_pr failed: no remote")
}

func TestTheList(t *testing.T) {
	r := newEnv(t, 100, 40)
	order := func() string {
		var out []string
		for _, l := range r.m.lines {
			if l.row == nil {
				out = append(out, "["+l.group+"]")
			} else {
				out = append(out, l.row.Branch)
			}
		}
		return strings.Join(out, " ")
	}
	want := func(what, list string) {
		t.Helper()
		if got := order(); got != list {
			t.Errorf("%s: %s, want %s", what, got, list)
		}
	}
	want("active", "login search colours build/clean index mail later push")
	r.press("f")
	want("done", "old")
	r.press("f")
	want("all", "login search colours build/clean index mail later push old")
	r.press("f", "s")
	want("by activity", "search login build/clean colours index mail later push")
	r.press("S")
	want("reversed", "push later mail index colours build/clean login search")
	r.press("S", "s", "s", "s", "s", "s", "g")
	want("by who must act", "[Needs you] login colours build/clean index mail [Agents at work] search [Waiting] later push")
	r.press("g")
	want("by status", "[pending] later [clarification] colours [planning] build/clean [working] search index push [reviewing] login [stuck] mail")
	r.press("g")
	want("by project", "[shop] login search colours build/clean index later push [site] mail")
	r.press("g", "/")
	r.write("customers")
	want("search", "login search")
	r.press("enter")
	r.shows("/customers")
	r.press("esc")
	want("search is over", "login search colours build/clean index mail later push")
	r.press("/")
	r.write("nothing has these words")
	want("nothing", "")
	r.shows("No task matches the filter")
	r.press("esc", "home", "A")
	want("one project", "login search colours build/clean index later push")
	r.press("A")
	r.press("end")
	if got := r.m.selectedRow().Branch; got != "push" {
		t.Errorf("at the end is %s", got)
	}
	r.press("home", "j", "j", "k", "down", "up", "pgdown", "pgup")
	if got := r.m.selectedRow().Branch; got != "login" {
		t.Errorf("after all that: %s", got)
	}
	r.press("q")
	if !r.quit {
		t.Error("q does not quit")
	}
}

func TestTheCursorStaysOnItsTask(t *testing.T) {
	r := newEnv(t, 100, 40)
	r.on("colours")
	r.remove("id0login")
	if got := r.m.selectedRow().Branch; got != "colours" {
		t.Errorf("it is on %s", got)
	}
	r.remove("id0colours")
	if got := r.m.selectedRow().Branch; got != "build/clean" {
		t.Errorf("behind one that is gone comes %s", got)
	}
	r.api.store.Tasks = nil
	r.read()
	if r.m.selectedRow() != nil {
		t.Error("there is nothing to be on")
	}
	r.press("m", "v", "j", "enter", "x", "i", "enter", "e")
	r.heard()
}

func TestTheDetailPane(t *testing.T) {
	r := newEnv(t, 100, 40)
	r.on("search")
	r.press("k", "j")
	got := strings.Join(r.api.take(), ", ")
	if got != "journal id0login, journal id0search" {
		t.Errorf("asked %s", got)
	}
	for key, want := range map[string]string{
		"1": "journal id0search", "2": "task id0search", "3": "explain id0search", "4": "watch id0search", "5": "workflow, journal id0search", "6": "diff id0search",
	} {
		r.api.take()
		r.press(key)
		if got := strings.Join(r.api.take(), ", "); got != want {
			t.Errorf("%s asked %s, want %s", key, got, want)
		}
	}
	r.press("4")
	r.shows("reading the form", "worker, attempt 1")
	r.press("2")
	r.shows("APPROACH: a form")
	r.api.take()
	r.change("id0search", func(*task.Task) {})
	if got := strings.Join(r.api.take(), ", "); got != "task id0search" {
		t.Errorf("a change of its task asked %q", got)
	}
	r.change("id0login", func(*task.Task) {})
	if got := r.api.take(); got != nil {
		t.Errorf("a change of another task asked %q", got)
	}
	r.api.store.FailReads(errors.New("broken \x1b[31mred"))
	r.press("3")
	r.shows("broken red")
	r.api.store.FailReads(nil)
	r.press("]", "[", "]", "z")
	r.hides("timeline")
	r.press("z", "tab", "j", "j", "k", "pgdown", "pgup", "end", "home", "+", "-", "esc")
	r.shows("timeline")
}

func TestALongTextIsScrolledAndCut(t *testing.T) {
	r := newEnv(t, 80, 24)
	r.api.body = strings.Repeat("a line of the text\n\n", 1<<15)
	r.press("v")
	r.press("end")
	r.shows("bytes more: see orange task show")
	r.press("home", "j")
	r.press("r")
	r.press("q")
	r.shows("STATUS")
	r.api.store.FailReads(errNo)
	r.press("v")
	r.shows("a gate is not met")
	r.press("v")
	r.shows("STATUS")
}

func TestTheMouse(t *testing.T) {
	r := newEnv(t, 100, 30)
	r.tell(tea.MouseClickMsg{X: 5, Y: r.m.layout.list.y + 2, Button: tea.MouseLeft})
	if got := r.m.selectedRow().Branch; got != "colours" {
		t.Errorf("a click selects %s", got)
	}
	r.tell(tea.MouseWheelMsg{X: 5, Y: r.m.layout.list.y, Button: tea.MouseWheelDown})
	if got := r.m.selectedRow().Branch; got != "build/clean" {
		t.Errorf("the wheel leads to %s", got)
	}
	r.tell(tea.MouseWheelMsg{X: 5, Y: r.m.layout.list.y, Button: tea.MouseWheelUp})
	r.tell(tea.MouseClickMsg{X: 28, Y: r.m.layout.tabs.y, Button: tea.MouseLeft})
	if r.m.detail.tab != tabExplain {
		t.Errorf("a click on a tab leads to %s", r.m.detail.tab)
	}
	r.tell(tea.MouseWheelMsg{X: 5, Y: r.m.layout.detail.y + 1, Button: tea.MouseWheelDown})
	r.tell(tea.MouseClickMsg{X: 5, Y: r.m.layout.detail.y + 1, Button: tea.MouseLeft})
	if !r.m.focused {
		t.Error("a click on the pane gives it no keys")
	}
	r.press("i")
	r.tell(tea.MouseClickMsg{X: 5, Y: r.m.layout.list.y + 1, Button: tea.MouseLeft})
	if got := r.m.selectedRow().Branch; got != "mail" {
		t.Errorf("a click in the inbox selects %s", got)
	}
	r.tell(tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelDown})
	r.press("?")
	r.tell(tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelDown})
}

func TestAttaching(t *testing.T) {
	t.Run("and coming back", func(t *testing.T) {
		r := newEnv(t, 100, 30, func(o *DashboardOptions) { o.Environ = []string{"TMUX=x", "A=b"} })
		r.on("search")
		r.press("enter")
		if len(r.said) != 1 || fmt.Sprintf("%T", r.said[0]) != "tea.execMsg" {
			t.Errorf("Bubble Tea is told %v", r.said)
		}
	})
	t.Run("and leaving", func(t *testing.T) {
		r := newEnv(t, 100, 30, func(o *DashboardOptions) { o.Once = true })
		r.on("search")
		r.press("enter")
		if !r.quit || strings.Join(r.m.then, " ") != "tmux attach" {
			t.Errorf("it leaves %t for %q", r.quit, r.m.then)
		}
	})
	t.Run("to nothing", func(t *testing.T) {
		r := newEnv(t, 100, 30)
		r.api.argv = nil
		r.on("search")
		r.press("enter")
		r.shows("the server names no command")
	})
	if got := OutsideTmux([]string{"TMUX=1", "TMUX_PANE=2", "A=b"}); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

func TestCopying(t *testing.T) {
	r := newEnv(t, 100, 30)
	r.on("login")
	r.press("y")
	r.press("p")
	if len(r.said) != 2 || fmt.Sprint(r.said[0]) != "id0login" || fmt.Sprint(r.said[1]) != "https://example.com/pull/7" {
		t.Errorf("copied %v", r.said)
	}
}

func TestTheConnection(t *testing.T) {
	r := newEnv(t, 100, 30)
	r.shows("live")
	r.tell(linkMsg{errNo})
	r.shows("connection lost, trying again", "login")
	r.tell(linkMsg{})
	r.shows("live")
	r.pauseAll()
	r.shows("paused")
	r.press("i", "home", "enter")
	r.heard("resume all")
}

func TestTheBell(t *testing.T) {
	r := newEnv(t, 100, 30, func(o *DashboardOptions) { o.Bell = true })
	if len(r.said) != 0 {
		t.Errorf("it rings at the beginning: %v", r.said)
	}
	r.change("id0search", func(t *task.Task) { t.Agents = agentIn(3, task.Condition{Name: task.WaitingInput, Since: noon}) })
	r.change("id0search", func(*task.Task) {})
	if len(r.said) != 1 {
		t.Errorf("it rings %d times", len(r.said))
	}
}

func TestEveryKeyIsInTheHelpAndMeansOneThing(t *testing.T) {
	for _, p := range []page{pageList, pageInbox, pageText, pageHelp, pageBoard} {
		seen := map[string]string{}
		for _, a := range allActions() {
			if !a.isOnPage(p) {
				continue
			}
			for _, k := range a.keys {
				if other, ok := seen[k]; ok {
					t.Errorf("page %d: %s is %q and %q", p, k, other, a.help)
				}
				seen[k] = a.help
			}
			if a.group == "" && p != pageText && p != pageHelp || a.group != "" && a.help == "" {
				t.Errorf("%q is not in the help", a.keys)
			}
		}
	}
}

func TestNothingPanicsAtAnySize(t *testing.T) {
	keys := []string{"j", "b", "j", "l", "t", "esc", "u", "esc", "c", "tab", "esc", "b", "space", "x", "n", "esc", "left", "j", "right", ":", "tab", "esc", "8", ".", "g", "g", "i", "j", "i", "c", "x", "esc", "r", "w", "o", "esc", "x", "n", "?", "j", "esc", "v", "j", "esc", "tab", "j", "tab", "4", "5", "6", "/", "z", "esc", "end", "u", "j", "esc", "z", "z", "+", "-"}
	r := newEnv(t, 1, 1)
	for _, w := range []int{0, 1, 3, 8, 20, 40, 80, 130, 250} {
		for _, h := range []int{0, 1, 2, 3, 4, 6, 10, 16, 24} {
			r.tell(tea.WindowSizeMsg{Width: w, Height: h})
			for _, k := range keys {
				r.press(k)
				lines := strings.Split(r.text(), "\n")
				if w > 0 && h > 0 && len(lines) != h {
					t.Fatalf("%dx%d after %s: %d lines", w, h, k, len(lines))
				}
			}
		}
	}
}

func TestAScreenIsWatchedWhileItIsSeen(t *testing.T) {
	r := newEnv(t, 100, 40)
	r.on("search")
	r.press("4")
	r.api.take()
	stopped := 0
	r.m.detail.stop = func() { stopped++ }
	r.press("i")
	if stopped == 0 {
		t.Error("it is watched behind the inbox")
	}
	r.press("i")
	if got := strings.Join(r.api.take(), ", "); got != "watch id0search" {
		t.Errorf("back in the list asked %q", got)
	}
	r.m.detail.stop = func() { stopped += 100 }
	r.press("j")
	if stopped < 100 {
		t.Error("it is watched though the cursor moved on")
	}
	if got := strings.Join(r.api.take(), ", "); got != "watch id0colours" {
		t.Errorf("the next task asked %q", got)
	}
	r.tell(watchedMsg{r.m.detail.generation, errNo})
	r.shows("a gate is not met")
	r.read() // the server is back
	if got := strings.Join(r.api.take(), ", "); got != "watch id0colours" {
		t.Errorf("after a failure asked %q", got)
	}
	r.shows("reading the form")
}
