//go:build agents

package agents_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"orange/internal/config"
	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/scriptedmodel"
	"orange/internal/testbrowser"
	"orange/internal/ui/client"
	"orange/internal/wait"
	"orange/internal/wire"
)

// permissionJob does something that needs a permission unless agents may do everything.
func permissionJob() []scriptedmodel.Script {
	return []scriptedmodel.Script{{Name: workerScript, When: "# Task: make a button", Turns: []scriptedmodel.Turn{
		{Shell: `touch "$HOME/asked-for" && echo blue >a.txt && git add a.txt && git commit -qm blue`},
		{Shell: `orange task update --status reviewing`},
		{Text: "The button is blue."},
	}}}
}

// With a mode other than "skip" a real agent asks before it runs a command. The question is in the inbox, the command
// has not run, a person allows it, on the page at a desk, on a phone or in the dashboard, and the task continues with the
// review.
func TestAnAgentAsksForAPermission(t *testing.T) {
	browser := testbrowser.Start(t)
	onPage := func(width, height int64) func(*env) func(task.ID) {
		return func(s *env) func(task.ID) {
			page := browser.NewTab(s.t)
			page.Size(width, height)
			s.t.Cleanup(func() { page.Quiet() })
			return func(id task.ID) { s.allowOnPage(page, id) }
		}
	}
	for name, tc := range map[string]struct { // codex asks when its model wants to, and the scripted one does not
		mode  string
		begin func(*env) (allow func(task.ID))
	}{
		"ask":           {"ask", onPage(1280, 800)},
		"edits":         {"edits", onPage(390, 844)},
		"ask-dashboard": {"ask", (*env).allowInDashboard},
	} {
		t.Run("claude/"+name, func(t *testing.T) {
			s := newEnv(t, "claude", "tmux", permissionJob())
			allow := tc.begin(s)
			id := s.create("--workflow", "solo", "--permissions", tc.mode)
			s.await(id, "it asks for a permission", func(t task.Task) bool {
				a, ok := t.LiveAttempt("worker")
				return ok && a.Condition.Name == task.WaitingPermission
			})
			item := s.inboxItem(id)
			t.Logf("%s: %s", item.Kind, item.Text)
			if item.Kind != explain.ItemPermission || !strings.Contains(item.Do, "attach") || !strings.Contains(item.Text, "asked-for") {
				t.Errorf("the inbox has %+v", item)
			}
			if out, err := s.command("test", "-e", "asked-for").CombinedOutput(); err == nil {
				t.Errorf("the command ran before it was allowed: %s", out)
			}
			s.refusesUnseen(id)
			for got := s.task(id); got.Status != "reviewing"; got = s.task(id) { // each command may be asked for
				a, ok := got.LiveAttempt("worker")
				if ok && a.Condition.Name == task.WaitingPermission {
					allow(id)
				}
				s.await(id, "it goes on", func(t task.Task) bool {
					now, ok := t.LiveAttempt("worker")
					return t.Status == "reviewing" || !ok || now.Condition != a.Condition
				})
			}
			got := s.task(id)
			if s.git(s.worktree(got), "show", "HEAD:a.txt") != "blue" {
				t.Error("the work is not there")
			}
		})
	}
}

// inboxItem returns what the inbox has of a task.
func (s *env) inboxItem(id task.ID) explain.Item {
	s.t.Helper()
	var out struct {
		Items []explain.Item `json:"items"`
	}
	s.ask(&out, "inbox")
	for _, it := range out.Items {
		if it.Task == id {
			return it
		}
	}
	s.t.Fatalf("the inbox has nothing of %s: %+v", id, out.Items)
	return explain.Item{}
}

// refusesUnseen checks that nobody can answer a dialog that is not on the screen.
func (s *env) refusesUnseen(id task.ID) {
	s.t.Helper()
	cfg, err := config.Load(s.getenv, func() (string, error) { return s.dir, nil })
	check(s.t, err)
	c := client.New(cfg.Socket)
	defer c.Close()
	var seen wire.Screen
	wait.Until(s.t, "the dialog is read", func() bool {
		if seen, err = c.ReadScreen(s.t.Context(), string(id), "worker"); err != nil {
			s.t.Fatal(err)
		}
		return len(seen.Choices) > 0
	})
	s.t.Logf("choices: %+v", seen.Choices)
	if !seen.Dialog || seen.Choices[0].Label != "Yes" {
		s.t.Errorf("the dialog is %+v", seen)
	}
	if err := c.PressKey(s.t.Context(), string(id), wire.KeyInput{Role: "worker", Key: seen.Choices[0].Key, Seen: "another screen", Dialog: true}); err == nil {
		s.t.Error("a dialog that nobody saw was allowed")
	}
}

// allowOnPage chooses Allow in the inbox of the page.
func (s *env) allowOnPage(page *testbrowser.Tab, id task.ID) {
	s.t.Helper()
	login, err := url.Parse(strings.TrimSpace(s.orange("web")))
	check(s.t, err)
	page.Do(chromedp.Navigate(login.String()), chromedp.Navigate(login.Scheme+"://"+login.Host+"/inbox"))
	page.Wait(`"connected" in document.body.dataset`)
	page.Click("#e-" + string(id))
	page.Wait(fmt.Sprintf(`document.querySelector("#keys-%s button.go")?.textContent === "Allow: Yes"`, id))
	page.Shot("allow")
	page.Click(fmt.Sprintf("#keys-%s button.go", id))
}

// allowInDashboard opens the dashboard, in which a person then chooses Yes.
func (s *env) allowInDashboard() func(task.ID) {
	d := s.openDesk()
	d.enter(program)
	return func(task.ID) {
		d.shows("feature", "allow or deny")
		_, err := d.screen("send-keys", "-t", "desk", "e")
		check(s.t, err)
		d.shows("feature asks", "1 Yes", "Esc: leave the question")
		_, err = d.screen("send-keys", "-t", "desk", "Enter")
		check(s.t, err)
		d.shows("answered feature: Yes")
	}
}
