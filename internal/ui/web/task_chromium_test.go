package web_test

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"orange/internal/core/explain"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/view/ansi"
)

// here is an expression: the state that the drawing says the task is in.
const here = `document.querySelector(".wf-here .wf-name")?.textContent`

func TestTaskInABrowser(t *testing.T) {
	browser := chromium(t)
	for name, story := range map[string]func(t *testing.T, s *taskBackend, b *tab){
		"the position moves when the task does":              storyPosition,
		"three remarks, then approve":                        storyThreeRemarks,
		"a large diff is painted soon":                       storyLargeDiff,
		"the reading position stays":                         storyReadingPosition,
		"a dialog is allowed on the page":                    storyAllow,
		"an answer is chosen, and a draft is kept":           storyAnswer,
		"a file is viewed":                                   storyViewed,
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
	b.open("/tasks/" + taskID + "?tab=workflow")
	b.wait(here + ` === "pending"`)
	b.wait(`"connected" in document.body.dataset`)
	eval[bool](b, "window.notReloaded = true")
	s.ask("complete")
	b.wait(here + ` === "working"`)
	b.wait(`document.getElementById("status").textContent === "working"`)
	b.wait(`document.querySelector(".wf-live")`)
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
	return fmt.Sprintf(`details[data-path="src/<b>login.go"] tr:has(> td[data-line="%d"][data-side="%s"])`, line, side)
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
	const want = "Nearly.\n\nR1 `src/<b>login.go:2 (a line that was removed)` `var old = 1`: keep this\n\nR2 `src/<b>login.go:3` `var more = 2`: why two?"
	if got := s.last(); got.Verb != "request-changes" || plainNote(got.Note) != want {
		t.Errorf("the server heard %+v", got)
	}
	b.wait(`document.getElementById("status").textContent === "working"`)
	b.quiet()
}

func storyStale(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	b.open("/tasks/" + taskID + "?tab=changes")
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
	b.wait(`document.getElementById("status").textContent === "working"`)
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
	eval[any](b, `document.querySelector("td[data-line]").focus()`)
	b.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter))
	b.wait(`document.activeElement.matches(".remark-row textarea")`)
	if got := eval[string](b, `document.activeElement.closest("label").firstChild.textContent`); got != "Line 2 of src/<b>login.go" {
		t.Errorf("the field is called %q", got)
	}
	b.do(chromedp.KeyEvent(kb.Escape))
	b.wait(`document.activeElement.matches("td[data-line]") && !document.querySelector(".remark-row")`)
	b.quiet()
}

func storyScrub(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	s.ask("complete")
	b.open("/tasks/" + taskID + "?tab=workflow")
	b.wait(here + ` === "reviewing"`)
	eval[bool](b, "window.notReloaded = true")
	eval[any](b, `document.getElementById("scrub-at").focus()`)
	b.do(chromedp.KeyEvent(kb.Home))
	b.wait(here + ` === "pending"`)
	b.wait(`document.getElementById("status").textContent === "pending" && !document.querySelector("#task-acts form")`)
	b.wait(`location.search === "?tab=workflow&at=1" && document.activeElement.id === "scrub-at"`)
	b.shot("task-past")
	// What was asked for before comes late, and is put right.
	eval[any](b, `document.getElementById("task-head").dataset.at = ""; document.querySelector(".wf-here .wf-name").textContent = "late"; document.dispatchEvent(new CustomEvent("orange:put"))`)
	b.wait(here + ` === "pending"`)
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	b.wait(here + ` === "working" && window.notReloaded`)
	b.do(chromedp.Click(chromedp.CSS(`#task-scrub a[href="/tasks/` + taskID + `?tab=workflow"]`)))
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
	b.wait(`document.getElementById("status").textContent === "working"`)
	b.do(chromedp.Click(chromedp.CSS("#task-menu > summary")), chromedp.Click(chromedp.CSS(`#task-acts .menu-items details:has(button[value="move:cancelled"]) > summary`)), chromedp.SendKeys(chromedp.CSS("#task-acts .menu-items details[open] textarea"), "not now"))
	s.send(signal.Signal{Kind: signal.Pause, Actor: task.Human}) // the page changes below the hands
	b.wait(`document.querySelector("#task-head").textContent.includes("paused")`)
	b.wait(`document.getElementById("task-menu").open && [...document.querySelectorAll("#task-acts .menu-items details[open] textarea")].some((t) => t.value === "not now")`)
	b.do(chromedp.Click(chromedp.CSS(`#task-acts .menu-items details[open] button[value="move:cancelled"]`)))
	b.wait(`document.getElementById("status").textContent === "cancelled"`)
	if got := s.last(); got.To != "cancelled" || got.Note != "not now" {
		t.Errorf("the server heard %+v", got)
	}
	b.quiet()
}

func storyTaskMarkup(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	s.ask("complete")
	s.screen = hostile
	for _, path := range []string{"/tasks/" + taskID, "/tasks/" + taskID + "?at=1", "/tasks/" + taskID + "?tab=overview", "/tasks/" + taskID + "?tab=log", "/tasks/" + taskID + "?tab=timeline", "/tasks/" + taskID + "?tab=workflow", "/tasks/" + taskID + "?tab=changes&view=split", "/tasks/" + taskID + "?tab=terminal", "/workflows", "/workflows/" + s.def.Hash, "/workflows/broken"} {
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
	for _, path := range []string{"/tasks/" + taskID, "/tasks/" + taskID + "?at=1", "/tasks/" + taskID + "?tab=overview", "/tasks/" + taskID + "?tab=log", "/tasks/" + taskID + "?tab=timeline", "/tasks/" + taskID + "?tab=workflow", "/tasks/" + taskID + "?tab=changes&view=split", "/tasks/" + taskID + "?tab=terminal", "/workflows", "/workflows/" + s.def.Hash} {
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
		for name, path := range map[string]string{"task": "/tasks/" + taskID, "split": "/tasks/" + taskID + "?tab=changes&view=split", "overview": "/tasks/" + taskID + "?tab=overview", "log": "/tasks/" + taskID + "?tab=log", "timeline": "/tasks/" + taskID + "?tab=timeline", "way": "/tasks/" + taskID + "?tab=workflow", "terminal": "/tasks/" + taskID + "?tab=terminal", "workflows": "/workflows", "workflow": "/workflows/" + s.def.Hash} {
			b.open(path)
			for _, size := range [][2]int64{{1440, 900}, {1024, 768}, {390, 844}} {
				b.size(size[0], size[1])
				b.shot(fmt.Sprintf("%s-%s-%d", name, look, size[0]))
			}
			contrast(t, b, path+" in "+look)
		}
	}
}

// storyThreeRemarks writes three remarks, in a file that is fetched when it is opened, and then lets the work pass.
func storyThreeRemarks(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	s.ask("complete")
	var more strings.Builder
	more.WriteString("diff --git a/long.txt b/long.txt\n--- a/long.txt\n+++ b/long.txt\n@@ -0,0 +1,400 @@\n")
	for i := range 400 {
		fmt.Fprintf(&more, "+line %d\n", i+1)
	}
	s.diff += more.String()
	b.open("/tasks/" + taskID)
	long := `details[data-path="long.txt"]`
	b.wait(`!document.querySelector('` + long + ` td')`)
	eval[any](b, `document.querySelector('`+long+`').scrollIntoView()`)
	b.wait(`document.querySelector('` + long + `').open && document.querySelectorAll('` + long + ` tr').length > 400`)
	for _, r := range []struct{ row, text string }{{row(3, ""), "why two?"}, {row(2, "old"), "keep this"}, {long + ` tr:has(> td[data-line="7"])`, "seven"}} {
		b.do(chromedp.Click(chromedp.CSS(r.row+" .no:nth-child(2)")), chromedp.SendKeys(chromedp.CSS(r.row+" + .remark-row textarea"), r.text))
	}
	b.open("/tasks/" + taskID) // remarks that were not sent are kept
	b.wait(`document.querySelectorAll(".remark-row textarea").length === 3`)
	b.shot("task-three-remarks")
	b.do(chromedp.Click(chromedp.CSS("#review .whole button")))
	b.wait(`document.getElementById("status")?.textContent === "working" && document.readyState === "complete"`)
	const want = "R1 `src/<b>login.go:2 (a line that was removed)` `var old = 1`: keep this\n\nR2 `src/<b>login.go:3` `var more = 2`: why two?\n\nR3 `long.txt:7` `line 7`: seven"
	got := s.last()
	if got.Verb != "request-changes" || plainNote(got.Note) != want {
		t.Errorf("the server heard %+v", got)
	}
	id := regexp.MustCompile(`R\d+-`).FindString(got.Note)
	s.body = "## Remarks\n\n" + id + "2: resolved, it is one now\n" + id + "3: it must be seven\n"
	s.ask("complete")
	b.open("/tasks/" + taskID)
	if eval[bool](b, `document.querySelectorAll(".remark-row").length > 0`) {
		t.Error("remarks that were sent are still there")
	}
	b.wait(`document.querySelector('` + row(3, "") + ` + .thread-row .resolved')?.textContent.includes("it is one now")`)
	b.shot("task-threads")
	eval[any](b, `document.querySelector('`+long+`').scrollIntoView()`)
	b.wait(`document.querySelector('` + long + ` .thread-row')?.textContent.includes("it must be seven")`)
	b.do(chromedp.Click(chromedp.CSS(`#task-acts button[value="move:done"]`)))
	b.wait(`document.getElementById("status")?.textContent === "done"`)
	b.quiet()
}

// storyLargeDiff looks how soon a diff of 5,400 lines is seen, and how much of it is loaded.
func storyLargeDiff(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	s.ask("complete")
	var text strings.Builder
	s.files = map[string]string{}
	for f := range 60 {
		name := fmt.Sprintf("internal/part%d/file%d.go", f%7, f)
		fmt.Fprintf(&text, "diff --git a/%s b/%s\n--- a/%s\n+++ b/%s\n@@ -0,0 +1,90 @@\n", name, name, name, name)
		whole := ""
		for i := range 90 {
			line := fmt.Sprintf("func f%d() string { return \"line %d\" } // of %d", i, i, f)
			fmt.Fprintf(&text, "+%s\n", line)
			whole += line + "\n"
		}
		s.files[name] = whole
	}
	s.diff = text.String()
	for range 3 {
		b.open("/tasks/" + taskID)
		b.wait(`performance.getEntriesByName("first-contentful-paint").length > 0 && "connected" in document.body.dataset`)
		t.Logf("first paint after %.0f ms, of which the server took %.0f; %.0f bytes, %d nodes", eval[float64](b, `performance.getEntriesByName("first-contentful-paint")[0].startTime`),
			eval[float64](b, `performance.getEntriesByType("navigation")[0].responseStart`), eval[float64](b, `performance.getEntriesByType("navigation")[0].decodedBodySize`), eval[int](b, `document.getElementsByTagName("*").length`))
	}
	if n := eval[int](b, `document.getElementsByTagName("*").length`); n > 9000 {
		t.Errorf("the page has %d nodes", n)
	}
	b.shot("task-large")
	eval[any](b, `document.getElementById("file-60").scrollIntoView()`)
	b.wait(`document.querySelectorAll("#file-60 tr").length > 90 && document.querySelector("#file-60 .hl-keyword")`)
	if eval[bool](b, `Boolean(document.querySelector("#file-30 tr"))`) {
		t.Error("a file that nobody saw is loaded")
	}
	b.quiet()
}

// storyReadingPosition changes what is above the lines that a person reads.
func storyReadingPosition(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	s.ask("complete")
	b.size(1280, 500)
	b.open("/tasks/" + taskID)
	b.wait(`"connected" in document.body.dataset`)
	eval[any](b, `document.querySelector('details[data-path="README"]').scrollIntoView()`)
	b.wait(`scrollY > 0`)
	eval[any](b, `new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))`)
	const top = `document.querySelector('details[data-path="README"]').getBoundingClientRect().top`
	before := eval[float64](b, top)
	s.Change(taskID, func(t *task.Task) { t.Summary = strings.Repeat("a much longer title that takes many lines ", 30) })
	b.wait(`document.querySelector("h1").textContent.includes("much longer")`)
	if after := eval[float64](b, top); math.Abs(after-before) > 2 {
		t.Errorf("what is read moved by %.0f pixels", after-before)
	}
	b.quiet()
}

func storyAllow(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	s.mu.Lock()
	s.dialog = ansi.Input{Kind: ansi.Dialog, Question: "rm -rf build\nDo you want to proceed?\n1. Yes\n2. No"}
	s.mu.Unlock()
	b.size(390, 844)
	b.open("/tasks/" + taskID + "?tab=terminal")
	b.wait(`"live" in document.querySelector("[data-terminal]").dataset`)
	s.shows("rm -rf build\nDo you want to proceed?\n1. Yes\n2. No\n")
	b.wait(`document.getElementById("terminal-seen").value.includes("proceed")`)
	b.shot("terminal-dialog")
	b.do(chromedp.Click(chromedp.CSS("#terminal-choices button.go")))
	b.wait(`document.getElementById("said")?.textContent.includes("pressed") || document.querySelector(".toast")?.textContent.includes("pressed")`)
	s.mu.Lock()
	s.screen = "Do you want to remove everything?" // the page does not know yet
	s.mu.Unlock()
	b.do(chromedp.Click(chromedp.CSS("#terminal-choices button.go")))
	b.wait(`document.querySelector("#terminal-keys .answer").textContent.includes("shows something else")`)
	s.shows("rm -rf build\nDo you want to proceed?\n1. Yes\n2. No\n")
	b.wait(`document.getElementById("terminal-seen").value.includes("proceed")`)
	b.do(chromedp.Click(chromedp.CSS(`#terminal-special button[value="esc"]`)))
	b.wait(`document.querySelector("#terminal-keys .answer").textContent === ""`)
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := strings.Join(s.typed, ", "); got != "key 1, key esc" {
		t.Errorf("typed: %q", got)
	}
	b.quiet("400")
}

func storyAnswer(t *testing.T, s *taskBackend, b *tab) {
	s.api.Reasons = func(*task.Task) []explain.WaitReason {
		return []explain.WaitReason{{Kind: explain.BecauseOfQuestions, By: "worker", Text: "Which colour?\n\n- blue\n- green\n"}}
	}
	s.ask("complete")
	s.ask("ask")
	b.open("/tasks/" + taskID)
	b.wait(`!document.querySelector(".options")?.hidden`)
	if !eval[bool](b, `document.querySelector("#task-decide .reason").getBoundingClientRect().top < document.getElementById("note-answer").getBoundingClientRect().top`) {
		t.Error("the question is not above the field")
	}
	b.do(chromedp.Click(chromedp.CSS(".options button:nth-of-type(2)")))
	b.wait(`document.activeElement.id === "note-answer" && document.activeElement.value === "green"`)
	b.do(chromedp.SendKeys(chromedp.CSS("#note-answer"), ", please"))
	b.open("/tasks/" + taskID)
	b.wait(`document.getElementById("note-answer").value === "green, please"`)
	b.shot("task-question")
	b.do(chromedp.Click(chromedp.CSS(`button[value="answer"]`)))
	b.wait(`document.getElementById("status").textContent === "working"`)
	if got := s.last(); got.Verb != "answer" || got.Note != "green, please" {
		t.Errorf("the server heard %+v", got)
	}
	b.quiet()
}

func storyViewed(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	s.ask("complete")
	b.open("/tasks/" + taskID)
	b.do(chromedp.Click(chromedp.CSS(`details[data-path="README"] .viewed input`)))
	b.wait(`!document.querySelector('details[data-path="README"]').open && document.getElementById("viewed-count").textContent === "1 of 2 viewed"`)
	b.open("/tasks/" + taskID)
	b.wait(`!document.querySelector('details[data-path="README"]').open && document.querySelector('details[data-path="README"] .viewed input').checked`)
	s.diff = strings.Replace(s.diff, "+the shop", "+our shop", 1)
	b.open("/tasks/" + taskID)
	b.wait(`document.querySelector('details[data-path="README"]').open && !document.querySelector('details[data-path="README"] .viewed input').checked`)
	b.do(chromedp.Click(chromedp.CSS("#wrap")))
	b.wait(`document.getElementById("wrap").getAttribute("aria-pressed") === "true" && getComputedStyle(document.querySelector("td.code")).whiteSpace.startsWith("pre-wrap")`)
	b.quiet()
}
