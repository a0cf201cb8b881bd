package web_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// here is an expression: the state that the drawing says the task is in.
const here = `document.querySelector(".wf-here .wf-name")?.textContent`

func TestTaskInABrowser(t *testing.T) {
	browser := chromium(t)
	for name, story := range map[string]func(t *testing.T, s *taskBackend, b *tab){
		"the position moves when the task does":              storyPosition,
		"a remark at a line sends the work back":             storyRemark,
		"a branch that changed meanwhile is not shown anew":  storyStale,
		"a refusal loses no remark":                          storyRemarkRefused,
		"lines are commented with the keyboard":              storyRemarkKeys,
		"the history is gone through":                        storyScrub,
		"the terminal shows colours, and what comes":         storyTerminal,
		"a terminal that nobody looks at is not watched":     storyTerminalHidden,
		"a line is typed into the terminal":                  storyType,
		"what can be asked for is asked for on the page":     storyAct,
		"markup in what agents write is text":                storyTaskMarkup,
		"the pages can be used by those who do not see them": storyTaskAccessible,
		"the pages have a look":                              storyTaskPictures,
	} {
		t.Run(name, func(t *testing.T) {
			s := newTaskBackend(t)
			s.body = "## Plan\n\nAPPROACH: a form\n\n- [x] one\n- [ ] two\n\n```go\nfunc main() {}\n```\n\n" + hostile + "\n"
			s.screen = "$ make\n\x1b[1;32mok\x1b[0m all tests passed\n"
			story(t, s, newTab(t, browser, s.open(true)))
		})
	}
}

func storyPosition(t *testing.T, s *taskBackend, b *tab) {
	b.open("/tasks/" + taskID)
	b.wait(here + ` === "pending"`)
	b.wait(`"connected" in document.body.dataset`)
	eval[bool](b, "window.notReloaded = true")
	s.ask("complete")
	b.wait(here + ` === "working"`)
	b.wait(`document.getElementById("status").textContent === "working"`)
	b.wait(`document.querySelector(".wf-live") && document.querySelector("#task-timeline").textContent.includes("was started")`)
	b.media("prefers-reduced-motion", "reduce")
	if got := eval[string](b, `getComputedStyle(document.querySelector(".wf-live .wf-ring")).animationName`); got != "none" {
		t.Errorf("it moves for those who do not want that: %s", got)
	}
	b.media("prefers-reduced-motion", "no-preference")
	if got := eval[string](b, `getComputedStyle(document.querySelector(".wf-live .wf-ring")).animationName`); got != "drawing-live" {
		t.Errorf("the live position is still: %s", got)
	}
	if !eval[bool](b, "window.notReloaded === true") {
		t.Error("the page was loaded again")
	}
	b.quiet()
}

// row is a selector of a line of the diff.
func row(line int, side string) string {
	return fmt.Sprintf(`tr[data-path="src/<b>login.go"][data-line="%d"][data-side="%s"]`, line, side)
}

func storyRemark(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	s.ask("complete")
	b.open("/tasks/" + taskID)
	for _, r := range []struct{ row, text string }{{row(3, ""), "why two?"}, {row(2, "old"), "keep this"}} {
		b.do(chromedp.Click(chromedp.CSS(r.row + " .no:nth-child(2)")))
		b.do(chromedp.SendKeys(chromedp.CSS(r.row+" + .remark-row textarea"), r.text))
	}
	b.do(chromedp.SendKeys(chromedp.CSS("#review-note"), "Nearly."))
	b.wait(`document.getElementById("review-count").textContent === "3 remarks go to the agent together."`)
	b.shot("task-remarks")
	b.do(chromedp.Click(chromedp.CSS("#review .whole button")))
	b.wait(`document.getElementById("said")?.textContent.includes("reviewing → working")`)
	const want = "Nearly.\n\n`src/<b>login.go:2 (a line that was removed)`: keep this\n\n`src/<b>login.go:3`: why two?"
	if got := s.last(); got.Verb != "request-changes" || got.Note != want {
		t.Errorf("the server heard %+v", got)
	}
	b.wait(here + ` === "working"`)
	b.quiet()
}

func storyStale(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	b.open("/tasks/" + taskID)
	b.wait(`"connected" in document.body.dataset && document.getElementById("diff-stale").hidden`)
	s.mu.Lock()
	s.work.Commits++
	s.mu.Unlock()
	s.ask("complete")
	b.wait(`!document.getElementById("diff-stale").hidden`)
	b.quiet()
}

func storyRemarkRefused(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	s.ask("complete")
	b.open("/tasks/" + taskID)
	b.do(chromedp.Click(chromedp.CSS(row(3, "")+" .no:nth-child(2)")), chromedp.SendKeys(chromedp.CSS(row(3, "")+" + .remark-row textarea"), "why two?"))
	s.ask("request-changes") // somebody was faster
	b.wait(here + ` === "working"`)
	b.do(chromedp.Click(chromedp.CSS("#review .whole button")))
	b.wait(`document.querySelector(".banner.bad#said") && document.readyState === "complete"`)
	if got := eval[string](b, `document.querySelector('`+row(3, "")+` + .remark-row textarea').value`); got != "why two?" {
		t.Errorf("the remark is %q", got)
	}
	b.quiet("409")
}

func storyRemarkKeys(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	s.ask("complete")
	b.open("/tasks/" + taskID)
	eval[any](b, `document.querySelector("tr[data-line]").focus()`)
	b.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter))
	b.wait(`document.activeElement.matches(".remark-row textarea")`)
	if got := eval[string](b, `document.activeElement.closest("label").firstChild.textContent`); got != "Line 2 of src/<b>login.go" {
		t.Errorf("the field is called %q", got)
	}
	b.do(chromedp.KeyEvent(kb.Escape))
	b.wait(`document.activeElement.matches("tr[data-line]") && !document.querySelector(".remark-row")`)
	b.quiet()
}

func storyScrub(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	s.ask("complete")
	b.open("/tasks/" + taskID)
	b.wait(here + ` === "reviewing"`)
	eval[bool](b, "window.notReloaded = true")
	eval[any](b, `document.getElementById("scrub-at").focus()`)
	b.do(chromedp.KeyEvent(kb.Home))
	b.wait(here + ` === "pending"`)
	b.wait(`document.getElementById("status").textContent === "pending" && document.getElementById("task-acts").hidden && document.getElementById("task-diff").hidden`)
	b.wait(`location.search === "?at=1" && document.activeElement.id === "scrub-at"`)
	b.shot("task-past")
	// What was asked for before comes late, and is put right.
	eval[any](b, `document.getElementById("task-head").dataset.at = ""; document.querySelector(".wf-here .wf-name").textContent = "late"; document.dispatchEvent(new CustomEvent("orange:put"))`)
	b.wait(here + ` === "pending"`)
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	b.wait(here + ` === "working" && window.notReloaded`)
	b.do(chromedp.Click(chromedp.CSS(`#task-scrub a[href="/tasks/` + taskID + `"]`)))
	b.wait(here + ` === "reviewing" && !("past" in document.body.dataset)`)
	b.quiet()
}

func storyTerminal(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	b.open("/tasks/" + taskID + "/terminal")
	b.wait(`"live" in document.querySelector("[data-terminal]").dataset`)
	s.shows("\x1b[31mred\x1b[0m \x1b[48;2;255;135;0mground\x1b[0m\n" + hostile)
	b.wait(`document.getElementById("screen").textContent.includes("<img src=x")`)
	if got := eval[string](b, `getComputedStyle(document.querySelector("#screen .fg-1")).color`); got != "rgb(242, 119, 122)" {
		t.Errorf("red is %s", got)
	}
	if got := eval[string](b, `getComputedStyle(document.querySelector("#screen .bg-208")).backgroundColor`); got != "rgb(255, 135, 0)" {
		t.Errorf("the ground is %s", got)
	}
	b.shot("terminal")
	b.quiet()
}

func storyTerminalHidden(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	b.open("/tasks/" + taskID + "/terminal")
	b.wait(`"live" in document.querySelector("[data-terminal]").dataset`)
	until := func(streams int) {
		t.Helper()
		late, tick := time.After(patience), time.NewTicker(10*time.Millisecond)
		defer tick.Stop()
		for s.watchers(0) != streams {
			select {
			case <-tick.C:
			case <-late:
				t.Fatalf("%d streams, want %d", s.watchers(0), streams)
			}
		}
	}
	until(1)
	b.hide(true)
	until(0)
	s.shows("meanwhile")
	b.hide(false)
	b.wait(`document.getElementById("screen").textContent.includes("meanwhile")`)
	until(1)
	b.hide(true)
	b.hide(false) // a glance elsewhere
	s.shows("and on")
	b.wait(`document.getElementById("screen").textContent.includes("and on")`)
	until(1)
	b.quiet()
}

func storyType(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	b.open("/tasks/" + taskID + "/terminal")
	b.do(chromedp.SendKeys(chromedp.CSS("#type-text"), "yes"+kb.Enter))
	b.wait(`document.getElementById("said")?.textContent === "typed"`)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.typed) != 1 || s.typed[0] != "yes" {
		t.Errorf("typed: %q", s.typed)
	}
	b.quiet()
}

func storyAct(t *testing.T, s *taskBackend, b *tab) {
	b.open("/tasks/" + taskID)
	b.do(chromedp.Click(chromedp.CSS(`button[value="spawn"]`)))
	b.wait(here + ` === "working"`)
	b.do(chromedp.Click(chromedp.CSS(`#task-acts details:has(button[value="move:cancelled"]) > summary`)), chromedp.SendKeys(chromedp.CSS("#task-acts details[open] textarea"), "not now"))
	s.send(signal.Signal{Kind: signal.Pause, Actor: task.Human}) // the page changes below the hands
	b.wait(`document.querySelector("#task-head").textContent.includes("paused")`)
	b.wait(`[...document.querySelectorAll("#task-acts details[open] textarea")].some((t) => t.value === "not now")`)
	b.do(chromedp.Click(chromedp.CSS(`#task-acts details[open] button[value="move:cancelled"]`)))
	b.wait(here + ` === "cancelled"`)
	if got := s.last(); got.To != "cancelled" || got.Note != "not now" {
		t.Errorf("the server heard %+v", got)
	}
	b.quiet()
}

func storyTaskMarkup(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	s.ask("complete")
	s.screen = hostile
	for _, path := range []string{"/tasks/" + taskID, "/tasks/" + taskID + "?at=1", "/tasks/" + taskID + "/terminal", "/workflows", "/workflows/" + s.def.Hash, "/workflows/broken"} {
		b.open(path)
		if eval[bool](b, `"harmed" in window || document.querySelectorAll("main img, main script").length > 0`) {
			t.Errorf("%s ran what a text says", path)
		}
	}
	b.quiet()
}

// storyTaskAccessible checks what the browser exposes to assistive technology.
func storyTaskAccessible(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	s.ask("complete")
	for _, path := range []string{"/tasks/" + taskID, "/tasks/" + taskID + "?at=1", "/tasks/" + taskID + "/terminal", "/workflows", "/workflows/" + s.def.Hash} {
		b.open(path)
		var nodes []*accessibility.Node
		b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			out, err := chromedp.Call(ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
			nodes = out.Nodes
			return err
		}))
		for _, n := range nodes {
			if n.Ignored || n.Role == nil {
				continue
			}
			name := ""
			if n.Name != nil {
				name = string(n.Name.Value)
			}
			switch role := string(n.Role.Value); role {
			case `"textbox"`, `"slider"`, `"button"`, `"link"`, `"region"`, `"spinbutton"`, `"img"`:
				if name == "" || name == `""` {
					t.Errorf("%s: a %s has no name", path, role)
				}
			}
		}
		if got := eval[int](b, `document.querySelectorAll("h1").length`); got != 1 {
			t.Errorf("%s has %d headings of the first level", path, got)
		}
		if got := eval[string](b, `(() => { const ids = [...document.querySelectorAll("[id]")].map(e => e.id); return ids.filter((id, i) => ids.indexOf(id) !== i).join(); })()`); got != "" {
			t.Errorf("%s: ids are there twice: %s", path, got)
		}
		if got := eval[int](b, `[...document.querySelectorAll("main th")].filter((e) => !e.scope).length`); got != 0 {
			t.Errorf("%s: %d heads of tables do not say of what", path, got)
		}
		b.size(360, 740)
		if got := eval[int](b, `document.documentElement.scrollWidth`); got > 360 {
			t.Errorf("%s is %d pixels wide on a small screen", path, got)
		}
		b.size(1280, 800)
	}
	b.quiet()
}

func storyTaskPictures(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	s.ask("complete")
	for _, look := range []string{"light", "dark"} {
		b.media("prefers-color-scheme", look)
		for name, path := range map[string]string{"task": "/tasks/" + taskID, "terminal": "/tasks/" + taskID + "/terminal", "workflows": "/workflows", "workflow": "/workflows/" + s.def.Hash} {
			b.open(path)
			for _, size := range [][2]int64{{1280, 1400}, {390, 1400}} {
				b.size(size[0], size[1])
				b.shot(fmt.Sprintf("%s-%s-%d", name, look, size[0]))
			}
			contrast(t, b, path+" in "+look)
		}
	}
}
