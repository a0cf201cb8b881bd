package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	charm "github.com/charmbracelet/x/ansi"

	"orange/internal/core/task"
	"orange/internal/ui/client"
	"orange/internal/view/overview"
)

// env is a dashboard without a terminal.
type env struct {
	t    *testing.T
	m    *model
	api  *server
	said []tea.Msg // to Bubble Tea
	quit bool
}

func newEnv(t *testing.T, width, height int, more ...func(*DashboardOptions)) *env {
	t.Helper()
	r := &env{t: t, api: newSampleServer(t)}
	r.api.argv, r.api.body = []string{"tmux", "attach"}, "## Plan\n\nAPPROACH: a form\n"
	o := DashboardOptions{API: oneScreen{r.api}, Now: func() time.Time { return noon }}
	for _, f := range more {
		f(&o)
	}
	r.m = newModel(t.Context(), o)
	r.m.choice.Group = overview.NoGroups // most tests are about single tasks, in the order of their creation
	r.m.send = func(msg tea.Msg) { r.tell(msg) }
	r.m.tick = func(_ time.Duration, msg tea.Msg) tea.Cmd {
		if _, ok := msg.(alarmMsg); ok {
			return nil
		}
		return func() tea.Msg { return msg }
	}
	r.tell(tea.WindowSizeMsg{Width: width, Height: height})
	r.read()
	r.tell(linkMsg{})
	r.api.take()
	return r
}

// read reads the whole state from the server, as the dashboard does when it begins and when the connection is back.
func (r *env) read() {
	r.t.Helper()
	state, err := r.api.ReadState(r.t.Context(), client.StateQuery{All: true})
	if err != nil {
		r.t.Fatal(err)
	}
	r.api.take()
	r.tell(stateMsg{state})
}

// errUpToDate ends the stream of changes when there are no more.
var errUpToDate = errors.New("there are no more changes")

// follow reads changes from the server's stream until the dashboard knows all of them.
func (r *env) follow() {
	r.t.Helper()
	last, err := r.api.store.LastRow()
	if err != nil {
		r.t.Fatal(err)
	}
	err = r.api.FollowState(r.t.Context(), client.FollowOptions{
		StateQuery: client.StateQuery{All: true}, After: r.m.state.Row,
		Change: func(c overview.Change) error {
			r.tell(changeMsg{c})
			if c.Row < last {
				return nil
			}
			return errUpToDate
		},
	})
	if !errors.Is(err, errUpToDate) {
		r.t.Fatal(err)
	}
}

// change changes a task in the store, and follows that.
func (r *env) change(id task.ID, change func(*task.Task)) {
	r.t.Helper()
	r.api.store.Change(id, change)
	r.follow()
}

// remove deletes tasks, as somebody else would.
func (r *env) remove(ids ...task.ID) {
	r.t.Helper()
	for _, id := range ids {
		r.api.store.Change(id, func(t *task.Task) { t.Deleted = true })
	}
	r.follow()
}

// pauseAll pauses everything, as somebody else would.
func (r *env) pauseAll() {
	r.t.Helper()
	if err := r.api.PauseAll(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	r.follow()
	r.api.take()
}

// tell hands a message over and carries out what comes of it.
func (r *env) tell(msg tea.Msg) {
	r.t.Helper()
	_, cmd := r.m.Update(msg)
	r.m.View()
	r.run(cmd)
}

func (r *env) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			r.run(c)
		}
	case tea.QuitMsg:
		r.quit = true
	case settledMsg, loadedMsg, screenMsg, watchedMsg, doneMsg, attachMsg, textMsg, workflowsMsg, wokenMsg, editingMsg, editedMsg, boardMsg, cardMsg, boardDueMsg, askedMsg:
		r.tell(msg)
	default:
		r.said = append(r.said, msg)
	}
}

var named = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift},
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
	"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "pgdown": {Code: tea.KeyPgDown}, "pgup": {Code: tea.KeyPgUp},
	"backspace": {Code: tea.KeyBackspace}, "delete": {Code: tea.KeyDelete}, "space": {Code: ' ', Text: " "}, "alt+enter": {Code: tea.KeyEnter, Mod: tea.ModAlt},
	"ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+p": {Code: 'p', Mod: tea.ModCtrl}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+g": {Code: 'g', Mod: tea.ModCtrl}, "ctrl+w": {Code: 'w', Mod: tea.ModCtrl}, "ctrl+s": {Code: 's', Mod: tea.ModCtrl},
}

// press presses keys, each by its name.
func (r *env) press(keys ...string) {
	r.t.Helper()
	for _, k := range keys {
		msg, ok := named[k]
		if !ok {
			msg = tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
		}
		r.tell(msg)
	}
}

func (r *env) write(text string) {
	r.t.Helper()
	for _, c := range text {
		r.tell(tea.KeyPressMsg{Code: c, Text: string(c)})
	}
}

// on puts the cursor on a task.
func (r *env) on(branch string) {
	r.t.Helper()
	r.press("home")
	for range r.m.lines {
		if s := r.m.selectedRow(); s != nil && s.Branch == branch {
			r.api.take()
			return
		}
		r.press("j")
	}
	r.t.Fatalf("%s is not in the list", branch)
}

// text is the screen without its looks.
func (r *env) text() string { return charm.Strip(r.m.View().Content) }

func (r *env) shows(words ...string) {
	r.t.Helper()
	for _, w := range words {
		if !strings.Contains(r.text(), w) {
			r.t.Errorf("%q is not on the screen:\n%s", w, r.text())
		}
	}
}

func (r *env) hides(words ...string) {
	r.t.Helper()
	for _, w := range words {
		if strings.Contains(r.text(), w) {
			r.t.Errorf("%q is on the screen:\n%s", w, r.text())
		}
	}
}

func (r *env) heard(want ...string) {
	r.t.Helper()
	var got []string
	for _, a := range r.api.take() {
		if word, _, _ := strings.Cut(a, " "); !strings.Contains("task journal explain diff workflow watch state attempts log board", word) {
			got = append(got, a)
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		r.t.Errorf("asked %q, want %q", got, want)
	}
}

var errNo = errors.New("a gate is not met: write ## Plan")
