package tui

import (
	"slices"
	"strings"
	"testing"

	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/view/overview"
)

func TestSeveralTasksAreStartedAndWhatIsRefusedStaysSelected(t *testing.T) {
	r := newEnv(t, 100, 30)
	r.on("later")
	r.press("space")
	r.on("login")
	r.press("space")
	r.shows("2 selected", "what to do with them")
	r.press("enter")
	r.shows("What to do with 2 tasks?", "Start 1 of them", "Pause 2 of them", "Merge 1 of them", "Cancel 2 of them")
	r.hides("Resume")
	r.press("enter") // start
	r.heard("ready id0later human")
	r.shows("✓ shop/later (pending)", "✗ shop/login (reviewing): it was started before", "1 selected")
	r.press("esc")
	r.shows("! ")
	r.on("login")
	r.shows("login: it was started before")
	r.press("esc")
	r.hides("selected", "it was started before")
}

func TestSeveralTasksAreCancelledAfterOneQuestion(t *testing.T) {
	r := newEnv(t, 100, 30)
	r.on("login")
	r.press("space", "space", "x")
	r.shows("Cancel 2 tasks?", "shop/login (reviewing): its branch stays, its agent ends, its", "workspace is given back", "shop/search (working)")
	r.heard()
	r.press("n")
	r.shows("nothing was changed", "2 selected")
	r.heard()
	r.api.no = errNo
	r.press("x", "y")
	got := r.api.take()
	slices.Sort(got)
	if want := "request id0login cancel human, request id0search cancel human"; strings.Join(got, ", ") != want {
		t.Errorf("asked %q", got)
	}
	r.shows("✗ shop/login (reviewing): a gate is not met", "✗ shop/search (working): a gate is not met")
	r.press("enter")
	r.shows("2 selected")
	r.api.no = nil
	r.press("x", "y")
	r.shows("cancel: done for 2 tasks")
	r.hides("selected")
}

func TestKeysOfOneTaskAreRefusedForSeveral(t *testing.T) {
	r := newEnv(t, 100, 30)
	r.press("home", "space", "r")
	r.shows("1 task selected, and this key is for one task")
	r.press("v") // it changes nothing
	r.shows("APPROACH: a form")
	r.press("esc", "*")
	r.shows("8 selected")
	r.press("*")
	r.hides("selected")
	r.press("*", "/")
	r.write("project:site")
	r.shows("8 selected") // not yet
	r.press("enter")
	r.shows("1 selected") // nobody acts on what is not in sight
	r.press("P")
	r.heard("pause id0mail human")
	r.api.take()
	r.press("esc")
	r.on("push")
	r.press("space", "P")
	r.heard("resume id0push human")
}

// A task with a request in progress is refused, and the others are not.
func TestABusyTaskIsRefused(t *testing.T) {
	r := newEnv(t, 100, 30)
	r.on("login")
	r.m.busy["id0login"] = "the merge of login"
	r.press("space", "space", "P")
	r.heard("pause id0search human")
	r.shows("the merge of login is still under way")
}

func TestGroupsAreFolded(t *testing.T) {
	r := newEnv(t, 100, 40)
	heads := func() string {
		var out []string
		for _, l := range r.m.lines {
			if l.row == nil {
				out = append(out, l.group)
			} else {
				out = append(out, l.row.Branch)
			}
		}
		return strings.Join(out, " ")
	}
	r.press("left")
	r.shows("there are no groups")
	r.press("g", "home", "left")
	if got := heads(); got != "Needs you Agents at work search Waiting later push" {
		t.Errorf("folded: %s", got)
	}
	r.shows("▸ Needs you 5", "▾ Waiting 2")
	r.change("id0search", func(t *task.Task) { t.Summary = "changed" })
	if r.m.selectedRow() != nil || r.m.chosenGroup != "Needs you" {
		t.Error("the cursor leaves the folded group")
	}
	r.press("j")
	if got := r.m.selectedRow().Branch; got != "search" {
		t.Errorf("below it is %s", got)
	}
	r.press("k", "m") // no task is there
	r.shows("no task is selected")
	r.press("g", "g", "g", "g") // other groups, and back
	r.shows("▸ Needs you 5")
	r.press("home", "enter")
	if got := r.m.selectedRow().Branch; got != "login" {
		t.Errorf("after unfolding it is on %s", got)
	}
	r.press("l", "right", "h", "right")
	r.shows("▾ Needs you 5")
}

func TestCommands(t *testing.T) {
	for text, tt := range map[string]struct {
		on    string
		keys  []string
		want  []string
		shows string
	}{
		"pause":                    {on: "search", want: []string{"pause id0search human"}},
		"resume":                   {on: "push", want: []string{"resume id0push human"}},
		"merge":                    {on: "login", keys: []string{"y"}, want: []string{"request id0login merge human"}},
		"start":                    {on: "later", want: []string{"ready id0later human"}},
		"spawn":                    {on: "later", want: []string{"ready id0later human"}},
		"cancel":                   {on: "login", keys: []string{"y"}, want: []string{"request id0login cancel human"}},
		"pause all":                {on: "login", keys: []string{"y"}, want: []string{"pause all"}},
		"resume all":               {on: "login", shows: "nothing is paused as a whole"},
		"land pause":               {on: "login", want: []string{"hold shop true"}, shows: "no work of shop lands"},
		"land resume site":         {on: "login", want: []string{"hold site false"}},
		"land pause nowhere":       {on: "login", shows: `project "nowhere" is not registered`},
		"land remove":              {on: "login", want: []string{"request id0login unland human"}},
		"move working":             {on: "login", want: []string{"request id0login working human"}},
		"move nowhere":             {on: "login", shows: `login cannot be moved from reviewing to "nowhere"`},
		"request-changes too dark": {on: "login", keys: []string{"enter"}, want: []string{"request id0login request-changes too dark human"}},
		"attach":                   {on: "search", want: []string{"attach id0search"}},
		"create-pr":                {on: "search", keys: []string{"y"}, want: []string{"request id0search create-pr human"}},
		"new Tell the news":        {on: "login", keys: []string{"enter"}, want: []string{"create shop||Tell the news||||true|human"}},
		"filter is:paused":         {on: "login", shows: "1 task"},
		"filter is:sleepy":         {on: "login", shows: "is:sleepy is not known: use open, closed, alive"},
		"sort cost":                {on: "login", shows: "by cost"},
		"sort weight":              {on: "login", shows: "sort by created, activity"},
		"group state":              {on: "login", shows: "▾ pending 1"},
		"group colour":             {on: "login", shows: "group by who, state, project or none"},
		"project site":             {on: "login", shows: "site · open"},
		"theme pink":               {on: "login", shows: "the theme is auto, light or dark"},
		"board":                    {on: "login", shows: "The board has no columns"},
		"inbox":                    {on: "login", shows: "KIND"},
		"help":                     {on: "login", shows: "The task"},
		"log":                      {on: "login", shows: "attempt 2 (2 of 2): reviewer (codex), ended with exit code 143"},
		"fly":                      {on: "login", shows: `there is no command "fly"`},
		"pause login":              {on: "login", shows: "give no name"},
		"inbox login":              {on: "login", shows: "inbox takes no argument"},
		"":                         {on: "login"},
	} {
		t.Run(text, func(t *testing.T) {
			r := newEnv(t, 100, 40)
			r.on(tt.on)
			r.press(":")
			r.write(text)
			r.press("enter")
			if tt.shows != "" {
				r.shows(tt.shows)
			}
			r.press(tt.keys...)
			r.heard(tt.want...)
		})
	}
	r := newEnv(t, 100, 40)
	r.press(":")
	r.write("q")
	r.press("enter")
	if !r.quit {
		t.Error(":q does not quit")
	}
}

func TestCommandsAreCompleted(t *testing.T) {
	r := newEnv(t, 100, 40)
	typed := func() string { return r.m.input.value() }
	r.press(":")
	r.write("la")
	r.press("tab")
	if got := typed(); got != "land pause " {
		t.Errorf("la becomes %q", got)
	}
	r.shows("resume", "remove")
	r.press("tab")
	if got := typed(); got != "land resume " {
		t.Errorf("then %q", got)
	}
	r.press("shift+tab", "s", "tab")
	if got := typed(); got != "land pause shop" {
		t.Errorf("its project becomes %q", got)
	}
	r.press("esc", ":")
	r.write("filter needs:m")
	r.press("tab")
	if got := typed(); got != "filter needs:me" {
		t.Errorf("a filter becomes %q", got)
	}
	r.press("esc", "/")
	r.write("project:si")
	r.press("tab")
	if got := typed(); got != "project:site" || r.m.listed != 1 {
		t.Errorf("a search becomes %q with %d tasks", got, r.m.listed)
	}
	r.press("enter")
	r.shows("/project:site")
	r.press("/")
	r.write(" is:x")
	r.shows("is:x is not known: use open, closed")
	r.press("enter")
	if r.m.input == nil || r.m.listed != 1 {
		t.Error("a wrong filter is accepted")
	}
	r.press("esc")
	r.shows("8 tasks")
	r.press(":", "backspace")
	if r.m.input != nil {
		t.Error("Backspace does not leave an empty line")
	}
}

func TestLogsOfEndedAttempts(t *testing.T) {
	r := newEnv(t, 100, 40)
	r.on("login")
	r.press(".")
	r.shows("attempt 2 (2 of 2): reviewer (codex), ended with exit code 143", "reading the diff", "it is good")
	r.press(",")
	r.shows("attempt 1 (1 of 2): worker (claude), ended", "user", "Write the form", "› Edit: form.go", "The form is written")
	r.press(",")
	r.shows("attempt 2 (2 of 2)")
}

func TestTheThemeIsASetting(t *testing.T) {
	r := newEnv(t, 80, 24)
	dark := r.m.theme.Bad.Render("x")
	r.press(":")
	r.write("theme light")
	r.press("enter")
	light := r.m.theme.Bad.Render("x")
	if light == dark {
		t.Error("light looks like dark")
	}
	r.press(":")
	r.write("theme auto")
	r.press("enter")
	if got := r.m.theme.Bad.Render("x"); got != dark {
		t.Error("auto does not follow the terminal")
	}
	if got := newEnv(t, 80, 24, func(o *DashboardOptions) { o.Theme = "light" }).m.theme.Bad.Render("x"); got != light {
		t.Error("the setting is not applied")
	}
	plain := newEnv(t, 80, 24, func(o *DashboardOptions) { o.Theme, o.NoColor = "light", true })
	if got := plain.m.theme.Bad.Render("x"); strings.Contains(got, "38;") {
		t.Errorf("with NO_COLOR it is %q", got)
	}
	plain.press(":")
	plain.write("theme dark")
	plain.press("enter")
	plain.shows("NO_COLOR is set")
}

func TestTheBranchIsNamedAfterTheTitle(t *testing.T) {
	r := newEnv(t, 100, 30)
	r.press("c")
	r.write("Tell the news!")
	r.shows("tell-the-news  from the title")
	r.press("tab", "tab", "left") // the cursor may move within the name
	r.write("x")
	r.shows("tell-the-newxs")
	r.hides("from the title")
	r.press("shift+tab", "shift+tab")
	r.write(" now")
	r.shows("tell-the-newxs") // it is the person's now
	r.press("enter")
	r.heard("create shop|tell-the-newxs|Tell the news! now||||true|human")
}

func TestATaskIsCreatedAfterOthers(t *testing.T) {
	r := newEnv(t, 100, 40)
	r.press("c")
	r.write("News")
	for range formAfter {
		r.press("tab")
	}
	r.press("right") // the newest open task of the project
	r.shows("After        push")
	r.press("tab", "space", "shift+tab", "ctrl+u")
	r.press("enter")
	r.shows("a task is stacked on one other task")
	r.write("login")
	r.press("enter")
	r.heard("create shop||News||||true|human", "after [id0login] stack=true")
}

func TestOptionsFillTheAnswer(t *testing.T) {
	r := newEnv(t, 100, 40)
	r.api.setFacts("id0colours", overview.Facts{Reasons: []explain.WaitReason{{Kind: explain.BecauseOfQuestions, By: "worker", Text: "Which colour?\n\n- blue\n- dark green\n"}}})
	r.read()
	r.on("colours")
	r.press("e")
	r.shows("Which colour?", "Tab options")
	r.press("tab", "tab")
	r.shows("▸ dark green")
	r.press("shift+tab")
	r.shows("▸ blue")
	r.write(" and white")
	r.press("tab")
	r.shows("blue and white", "Tab would replace your answer")
	r.press("enter")
	r.heard("request id0colours answer blue and white human")
}
