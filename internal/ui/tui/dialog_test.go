package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	charm "github.com/charmbracelet/x/ansi"

	"orange/internal/core/task"
	"orange/internal/view/overview"
)

// hold presses a key and does not carry out yet what comes of it.
func (r *env) hold(key string) tea.Cmd {
	r.t.Helper()
	_, cmd := r.m.Update(named[key])
	r.m.View()
	return cmd
}

func TestWhatIsUnderWayIsNotTakenBack(t *testing.T) {
	t.Run("words", func(t *testing.T) {
		r := newEnv(t, 80, 24)
		r.on("login")
		r.press("r")
		r.write("rounder")
		cmd := r.hold("enter")
		r.press("esc")
		r.tell(tea.PasteMsg{Content: " and blue"})
		r.shows("rounder", "it is under way")
		r.hides("not sent", "and blue")
		r.run(cmd)
		r.heard("request id0login request-changes rounder human")
		if r.m.dialog != nil {
			t.Error("the dialog is still open")
		}
	})
	t.Run("a task", func(t *testing.T) {
		r := newEnv(t, 80, 24)
		r.press("c")
		r.write("Tell the news")
		cmd := r.hold("enter")
		r.press("esc")
		r.tell(tea.PasteMsg{Content: " and more"})
		r.shows("Tell the news", "it is under way")
		r.hides("no task was created", "and more")
		r.run(cmd)
		r.heard("create shop||Tell the news||||true|human")
		r.press("c")
		r.hides("Tell the news")
	})
}

func TestWhatWasTypedIsKept(t *testing.T) {
	r := newEnv(t, 80, 24)
	r.on("login")
	r.press("r")
	r.write("rounder")
	r.press("esc")
	r.shows("kept: open it again to go on")
	r.heard()

	r.on("colours")
	r.press("e")
	r.hides("rounder") // another task, and another kind
	r.write("blue")
	r.press("esc")

	r.on("login")
	r.press("r")
	r.shows("rounder")
	r.hides("blue")
	r.write(" corners")
	r.press("enter")
	r.heard("request id0login request-changes rounder corners human")
	r.press("r")
	r.hides("rounder") // it was sent
	r.press("esc")
	r.hides("kept")

	r.press("i", "home", "j", "j", "e") // the same task elsewhere
	r.shows("blue")
	r.press("ctrl+u", "esc", "e")
	r.hides("blue")
}

func TestAFormIsKept(t *testing.T) {
	r := newEnv(t, 80, 24)
	r.press("c")
	r.write("Tell the news")
	r.press("tab", "tab", "ctrl+u")
	r.write("news")
	r.press("tab", "right", "esc")
	r.shows("no task was created; kept: open it again to go on")
	r.press("c")
	r.shows("Tell the news", "Branch       news", "Project      site")
	r.press("enter")
	r.heard("create site|news|Tell the news||||true|human")
	r.press("c")
	r.hides("Tell the news")
}

func TestTheFormOffersWhereATaskMayBegin(t *testing.T) {
	r := newEnv(t, 80, 24)
	r.press("c")
	choices := func() string { return strings.Join(r.m.dialog.(*form).list[formStatus].choices, " ") }
	if got := choices(); !strings.Contains(got, "pending") || strings.Contains(got, "done") {
		t.Errorf("it offers %q", got)
	}
	r.change("id0old", func(t *task.Task) { t.Workflow = "unknown" })
	r.press("tab", "tab")
	if got := choices(); got != "" {
		t.Errorf("of a project whose workflow nobody knows it offers %q", got)
	}
	r.press("tab", "tab", "tab", "right")
	if got := choices(); !strings.Contains(got, "pending") {
		t.Errorf("of a workflow that is named it offers %q", got)
	}
	r.press("ctrl+u")
	r.write("mine")
	if got := choices(); got != "" {
		t.Errorf("of a workflow that nobody knows it offers %q", got)
	}
	r.press("tab")
	r.write("anything")
	r.press("shift+tab", "ctrl+u", "right", "shift+tab", "right", "home")
	r.shows("anything", "claude")
}

func TestAChooserNumbersNine(t *testing.T) {
	r := newEnv(t, 80, 24)
	var done string
	c := &chooser{}
	for i := range 12 {
		c.addChoice(fmt.Sprint("entry ", i+1), func(*model) tea.Cmd { done = fmt.Sprint(i + 1); return nil })
	}
	r.m.dialog = c
	lines, _, _ := c.renderBody(r.m, 20, 20)
	for at, want := range map[int]string{0: " 1 entry 1", 8: " 9 entry 9", 9: "   entry 10", 11: "   entry 12"} {
		if got := strings.TrimRight(charm.Strip(lines[at]), " "); got != want {
			t.Errorf("line %d is %q, want %q", at, got, want)
		}
	}
	r.press(":") // behind the 9
	if done != "" {
		t.Errorf("a key that is no number chose %s", done)
	}
	r.press("9")
	if done != "9" {
		t.Errorf("9 chose %q", done)
	}
}

func TestAnInvalidRequestIsRefusedImmediately(t *testing.T) {
	for name, tt := range map[string]struct {
		on   string
		keys []string
		says string
	}{
		"an answer to nobody":             {"search", []string{"e"}, "search is working: it waits for no answer"},
		"an answer where it is reviewed":  {"login", []string{"e"}, "login is reviewing: it waits for no answer"},
		"changes of what is not reviewed": {"search", []string{"r"}, "search is working: there is nothing to send back"},
		"a merge of what was not begun":   {"later", []string{"m"}, "later is pending: there is nothing to merge"},
		"a merge of what is over":         {"login", []string{"f", "m"}, "old is done: there is nothing to merge"},
		"a merge of an empty branch":      {"index", []string{"m"}, "index is working: there is nothing to merge"},
		"a deletion of what is not over":  {"login", []string{"d"}, "login is reviewing: cancel it first, with x"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newEnv(t, 100, 30)
			r.api.setFacts("id0index", overview.Facts{Work: &overview.Work{}})
			r.read()
			r.on(tt.on)
			r.press(tt.keys...)
			r.shows(tt.says)
			r.heard()
			if r.m.dialog != nil {
				t.Error("it asks all the same")
			}
		})
	}
	t.Run("not where it may be done", func(t *testing.T) {
		r := newEnv(t, 100, 30)
		r.on("mail") // halted: an answer resumes it
		r.press("e")
		r.shows("Your answer to mail")
		r.press("esc")
		r.on("index") // nobody has looked at its branch
		r.press("m")
		r.shows("Merge shop/index?", "nobody has decided that it is good")
	})
}

func TestTheDashboardCanBeginWithTheForm(t *testing.T) {
	r := newEnv(t, 80, 24)
	r.m.Create, r.m.known = true, false
	r.tell(stateMsg{r.m.state})
	r.shows("Title")
	r.shows("Branch")
	r.press("esc")
	r.tell(stateMsg{r.m.state})
	r.hides("named after the title")
}
