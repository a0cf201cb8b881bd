package web_test

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"orange/internal/core/explain"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/testbrowser"
	"orange/internal/testneeds"
	"orange/internal/view/ansi"
)

// here is an expression: the state that the drawing says the task is in.
const here = `document.querySelector(".wf-here .wf-name")?.textContent`

func TestTaskInABrowser(t *testing.T) {
	browser := testbrowser.Start(t)
	for name, story := range map[string]func(t *testing.T, s *taskBackend, b *tab){
		"the position moves when the task does":             storyPosition,
		"three remarks, then approve":                       storyThreeRemarks,
		"a large diff is painted soon":                      storyLargeDiff,
		"the reading position stays":                        storyReadingPosition,
		"a dialog is allowed on the page":                   storyAllow,
		"an answer is chosen, and a draft is kept":          storyAnswer,
		"a file is viewed":                                  storyViewed,
		"a remark at a line sends the work back":            storyRemark,
		"a branch that changed meanwhile is not shown anew": storyStale,
		"a refusal loses no remark":                         storyRemarkRefused,
		"lines are commented with the keyboard":             storyRemarkKeys,
		"the history is gone through":                       storyScrub,
		"the terminal shows colours, and what comes":        storyTerminal,
		"a terminal that nobody looks at is not watched":    storyTerminalHidden,
		"a line is typed into the terminal":                 storyType,
		"what can be asked for is asked for on the page":    storyAct,
		"markup in what agents write is text":               storyTaskMarkup,
		"the pages have a look":                             storyTaskPictures,
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
	b.Wait(here + ` === "pending"`)
	b.Wait(`"connected" in document.body.dataset`)
	eval[bool](b, "window.notReloaded = true")
	s.ask("complete")
	b.Wait(here + ` === "working"`)
	b.Wait(`document.getElementById("status").textContent === "working"`)
	b.Wait(`document.querySelector(".wf-live")`)
	b.Media("prefers-reduced-motion", "reduce")
	if got := eval[string](b, `getComputedStyle(document.querySelector(".wf-live .wf-ring")).animationName`); got != "none" {
		t.Errorf("it moves for those who do not want that: %s", got)
	}
	b.Media("prefers-reduced-motion", "no-preference")
	if got := eval[string](b, `getComputedStyle(document.querySelector(".wf-live .wf-ring")).animationName`); got != "drawing-live" {
		t.Errorf("the live position is still: %s", got)
	}
	if !eval[bool](b, "window.notReloaded === true") {
		t.Error("the page was loaded again")
	}
	b.Quiet()
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
		b.Do(chromedp.Click(chromedp.CSS(r.row + " .no:nth-child(2)")))
		b.Do(chromedp.SendKeys(chromedp.CSS(r.row+" + .remark-row textarea"), r.text))
	}
	b.Do(chromedp.SendKeys(chromedp.CSS("#review-note"), "Nearly."))
	b.Wait(`document.getElementById("review-count").textContent === "3 remarks go to the agent together."`)
	b.Shot("task-remarks")
	b.Do(chromedp.Click(chromedp.CSS("#review .whole button")))
	b.Wait(`document.getElementById("said")?.textContent.includes("reviewing → working")`)
	const want = "Nearly.\n\nR1 `src/<b>login.go:2 (a line that was removed)` `var old = 1`: keep this\n\nR2 `src/<b>login.go:3` `var more = 2`: why two?"
	if got := s.last(); got.Verb != "request-changes" || plainNote(got.Note) != want {
		t.Errorf("the server heard %+v", got)
	}
	b.Wait(`document.getElementById("status").textContent === "working"`)
	b.Quiet()
}

func storyStale(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	b.open("/tasks/" + taskID + "?tab=changes")
	b.Wait(`"connected" in document.body.dataset && document.getElementById("diff-stale").hidden`)
	s.mu.Lock()
	s.work.Commits++
	s.mu.Unlock()
	s.ask("complete")
	b.Wait(`!document.getElementById("diff-stale").hidden`)
	b.Quiet()
}

func storyRemarkRefused(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	s.ask("complete")
	b.open("/tasks/" + taskID)
	b.Do(chromedp.Click(chromedp.CSS(row(3, "")+" .no:nth-child(2)")), chromedp.SendKeys(chromedp.CSS(row(3, "")+" + .remark-row textarea"), "why two?"))
	s.ask("request-changes") // somebody was faster
	b.Wait(`document.getElementById("status").textContent === "working"`)
	b.Do(chromedp.Click(chromedp.CSS("#review .whole button")))
	b.Wait(`document.querySelector(".banner.bad#said") && document.readyState === "complete"`)
	if got := eval[string](b, `document.querySelector('`+row(3, "")+` + .remark-row textarea').value`); got != "why two?" {
		t.Errorf("the remark is %q", got)
	}
	b.Quiet("409")
}

func storyRemarkKeys(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	s.ask("complete")
	b.open("/tasks/" + taskID)
	eval[any](b, `document.querySelector("td[data-line]").focus()`)
	b.Do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter))
	b.Wait(`document.activeElement.matches(".remark-row textarea")`)
	if got := eval[string](b, `document.activeElement.closest("label").firstChild.textContent`); got != "Line 2 of src/<b>login.go" {
		t.Errorf("the field is called %q", got)
	}
	b.Do(chromedp.KeyEvent(kb.Escape))
	b.Wait(`document.activeElement.matches("td[data-line]") && !document.querySelector(".remark-row")`)
	b.Quiet()
}

func storyScrub(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	s.ask("complete")
	b.open("/tasks/" + taskID + "?tab=workflow")
	b.Wait(here + ` === "reviewing"`)
	eval[bool](b, "window.notReloaded = true")
	eval[any](b, `document.getElementById("scrub-at").focus()`)
	b.Do(chromedp.KeyEvent(kb.Home))
	b.Wait(here + ` === "pending"`)
	b.Wait(`document.getElementById("status").textContent === "pending" && !document.querySelector("#task-acts form")`)
	b.Wait(`location.search === "?tab=workflow&at=1" && document.activeElement.id === "scrub-at"`)
	b.Shot("task-past")
	// What was asked for before comes late, and is put right.
	eval[any](b, `document.getElementById("task-head").dataset.at = ""; document.querySelector(".wf-here .wf-name").textContent = "late"; document.dispatchEvent(new CustomEvent("orange:put"))`)
	b.Wait(here + ` === "pending"`)
	b.Do(chromedp.KeyEvent(kb.ArrowRight))
	b.Wait(here + ` === "working" && window.notReloaded`)
	b.Do(chromedp.Click(chromedp.CSS(`#task-scrub a[href="/tasks/` + taskID + `?tab=workflow"]`)))
	b.Wait(here + ` === "reviewing" && !("past" in document.body.dataset)`)
	b.Quiet()
}

func storyTerminal(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	b.open("/tasks/" + taskID + "/terminal")
	b.Wait(`"live" in document.querySelector("[data-terminal]").dataset`)
	s.shows("\x1b[31mred\x1b[0m \x1b[48;2;255;135;0mground\x1b[0m\n" + hostile)
	b.Wait(`document.getElementById("screen").textContent.includes("<img src=x")`)
	if got := eval[string](b, `getComputedStyle(document.querySelector("#screen .fg-1")).color`); got != "rgb(242, 119, 122)" {
		t.Errorf("red is %s", got)
	}
	if got := eval[string](b, `getComputedStyle(document.querySelector("#screen .bg-208")).backgroundColor`); got != "rgb(255, 135, 0)" {
		t.Errorf("the ground is %s", got)
	}
	b.Shot("terminal")
	b.Quiet()
}

func storyTerminalHidden(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	b.open("/tasks/" + taskID + "/terminal")
	b.Wait(`"live" in document.querySelector("[data-terminal]").dataset`)
	until := func(streams int) {
		t.Helper()
		late, tick := time.After(testbrowser.Patience), time.NewTicker(10*time.Millisecond)
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
	b.Wait(`document.getElementById("screen").textContent.includes("meanwhile")`)
	until(1)
	b.hide(true)
	b.hide(false) // a glance elsewhere
	s.shows("and on")
	b.Wait(`document.getElementById("screen").textContent.includes("and on")`)
	until(1)
	b.Quiet()
}

func storyType(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	b.open("/tasks/" + taskID + "/terminal")
	b.Do(chromedp.SendKeys(chromedp.CSS("#type-text"), "yes"+kb.Enter))
	b.Wait(`document.getElementById("said")?.textContent === "typed"`)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.typed) != 1 || s.typed[0] != "yes" {
		t.Errorf("typed: %q", s.typed)
	}
	b.Quiet()
}

func storyAct(t *testing.T, s *taskBackend, b *tab) {
	b.open("/tasks/" + taskID)
	b.Do(chromedp.Click(chromedp.CSS(`button[value="spawn"]`)))
	b.Wait(`document.getElementById("status").textContent === "working"`)
	b.Do(chromedp.Click(chromedp.CSS("#task-menu > summary")), chromedp.Click(chromedp.CSS(`#task-acts .menu-items details:has(button[value="move:cancelled"]) > summary`)), chromedp.SendKeys(chromedp.CSS("#task-acts .menu-items details[open] textarea"), "not now"))
	s.send(signal.Signal{Kind: signal.Pause, Actor: task.Human}) // the page changes below the hands
	b.Wait(`document.querySelector("#task-head").textContent.includes("paused")`)
	b.Wait(`document.getElementById("task-menu").open && [...document.querySelectorAll("#task-acts .menu-items details[open] textarea")].some((t) => t.value === "not now")`)
	b.Do(chromedp.Click(chromedp.CSS(`#task-acts .menu-items details[open] button[value="move:cancelled"]`)))
	b.Wait(`document.getElementById("status").textContent === "cancelled"`)
	if got := s.last(); got.To != "cancelled" || got.Note != "not now" {
		t.Errorf("the server heard %+v", got)
	}
	b.Quiet()
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
	b.Quiet()
}

func storyTaskPictures(t *testing.T, s *taskBackend, b *tab) {
	testneeds.OncePerSoak(t)
	s.ask("complete")
	s.ask("complete")
	for _, look := range []string{"light", "dark"} {
		b.Media("prefers-color-scheme", look)
		for name, path := range map[string]string{"task": "/tasks/" + taskID, "split": "/tasks/" + taskID + "?tab=changes&view=split", "overview": "/tasks/" + taskID + "?tab=overview", "log": "/tasks/" + taskID + "?tab=log", "timeline": "/tasks/" + taskID + "?tab=timeline", "way": "/tasks/" + taskID + "?tab=workflow", "past": "/tasks/" + taskID + "?at=1", "terminal": "/tasks/" + taskID + "?tab=terminal", "workflows": "/workflows", "workflow": "/workflows/" + s.def.Hash} {
			b.open(path)
			for _, size := range [][2]int64{{1440, 900}, {1024, 768}, {390, 844}} {
				b.Size(size[0], size[1])
				b.Shot(fmt.Sprintf("%s-%s-%d", name, look, size[0]))
				if size[0] != 1024 {
					b.Axe(fmt.Sprintf("%s in %s, %d pixels wide", path, look, size[0]))
				}
			}
			b.Size(360, 740)
			if got := eval[int](b, `document.documentElement.scrollWidth`); got > 360 {
				t.Errorf("%s is %d pixels wide on a small screen", path, got)
			}
		}
	}
}

// storyThreeRemarks writes three remarks, also in a file that is fetched when it comes near, and then lets the work pass.
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
	eval[any](b, `document.querySelector('`+long+`').scrollIntoView()`)
	b.Wait(`document.querySelector('` + long + `').open && document.querySelectorAll('` + long + ` tr').length > 400`)
	for _, r := range []struct{ row, text string }{{row(3, ""), "why two?"}, {row(2, "old"), "keep this"}, {long + ` tr:has(> td[data-line="7"])`, "seven"}} {
		b.Do(chromedp.Click(chromedp.CSS(r.row+" .no:nth-child(2)")), chromedp.SendKeys(chromedp.CSS(r.row+" + .remark-row textarea"), r.text))
	}
	b.open("/tasks/" + taskID) // remarks that were not sent are kept
	b.Wait(`document.querySelectorAll(".remark-row textarea").length === 3`)
	b.Shot("task-three-remarks")
	b.Do(chromedp.Click(chromedp.CSS("#review .whole button")))
	b.Wait(`document.getElementById("status")?.textContent === "working" && document.readyState === "complete"`)
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
	b.Wait(`document.querySelector('` + row(3, "") + ` + .thread-row .resolved')?.textContent.includes("it is one now")`)
	b.Shot("task-threads")
	eval[any](b, `document.querySelector('`+long+`').scrollIntoView()`)
	b.Wait(`document.querySelector('` + long + ` .thread-row')?.textContent.includes("it must be seven")`)
	b.Do(chromedp.Click(chromedp.CSS(`#task-acts button[value="move:done"]`)))
	b.Wait(`document.getElementById("status")?.textContent === "done"`)
	b.Quiet()
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
		b.Wait(`performance.getEntriesByName("first-contentful-paint").length > 0 && "connected" in document.body.dataset`)
		t.Logf("first paint after %.0f ms, of which the server took %.0f; %.0f bytes, %d nodes", eval[float64](b, `performance.getEntriesByName("first-contentful-paint")[0].startTime`),
			eval[float64](b, `performance.getEntriesByType("navigation")[0].responseStart`), eval[float64](b, `performance.getEntriesByType("navigation")[0].decodedBodySize`), eval[int](b, `document.getElementsByTagName("*").length`))
	}
	if n := eval[int](b, `document.getElementsByTagName("*").length`); n > 9000 {
		t.Errorf("the page has %d nodes", n)
	}
	b.Shot("task-large")
	eval[any](b, `document.getElementById("file-60").scrollIntoView()`)
	b.Wait(`document.querySelectorAll("#file-60 tr").length > 90 && document.querySelector("#file-60 .hl-keyword")`)
	if eval[bool](b, `Boolean(document.querySelector("#file-30 tr"))`) {
		t.Error("a file that nobody saw is loaded")
	}
	b.Quiet()
}

// storyReadingPosition changes what is above the lines that a person reads.
func storyReadingPosition(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	s.ask("complete")
	b.Size(1280, 500)
	b.open("/tasks/" + taskID)
	b.Wait(`"connected" in document.body.dataset`)
	eval[any](b, `document.querySelector('details[data-path="README"]').scrollIntoView()`)
	b.Wait(`scrollY > 0`)
	eval[any](b, `new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))`)
	const top = `document.querySelector('details[data-path="README"]').getBoundingClientRect().top`
	before := eval[float64](b, top)
	s.Change(taskID, func(t *task.Task) { t.Summary = strings.Repeat("a much longer title that takes many lines ", 30) })
	b.Wait(`document.querySelector("h1").textContent.includes("much longer")`)
	if after := eval[float64](b, top); math.Abs(after-before) > 2 {
		t.Errorf("what is read moved by %.0f pixels", after-before)
	}
	b.Quiet()
}

func storyAllow(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	s.mu.Lock()
	s.dialog = ansi.Input{Kind: ansi.Dialog, Question: "rm -rf build\nDo you want to proceed?\n1. Yes\n2. No"}
	s.mu.Unlock()
	b.Size(390, 844)
	b.open("/tasks/" + taskID + "?tab=terminal")
	b.Wait(`"live" in document.querySelector("[data-terminal]").dataset`)
	s.shows("rm -rf build\nDo you want to proceed?\n1. Yes\n2. No\n")
	b.Wait(`document.getElementById("terminal-seen").value.includes("proceed")`)
	b.Shot("terminal-dialog")
	b.Do(chromedp.Click(chromedp.CSS("#terminal-choices button.go")))
	b.Wait(`document.getElementById("said")?.textContent.includes("pressed") || document.querySelector(".toast")?.textContent.includes("pressed")`)
	s.mu.Lock()
	s.screen = "Do you want to remove everything?" // the page does not know yet
	s.mu.Unlock()
	b.Do(chromedp.Click(chromedp.CSS("#terminal-choices button.go")))
	b.Wait(`document.querySelector("#terminal-keys .answer").textContent.includes("shows something else")`)
	s.shows("rm -rf build\nDo you want to proceed?\n1. Yes\n2. No\n")
	b.Wait(`document.getElementById("terminal-seen").value.includes("proceed")`)
	b.Do(chromedp.Click(chromedp.CSS(`#terminal-special button[value="esc"]`)))
	b.Wait(`document.querySelector("#terminal-keys .answer").textContent === ""`)
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := strings.Join(s.typed, ", "); got != "key 1, key esc" {
		t.Errorf("typed: %q", got)
	}
	b.Quiet("400")
}

func storyAnswer(t *testing.T, s *taskBackend, b *tab) {
	s.api.Reasons = func(*task.Task) []explain.WaitReason {
		return []explain.WaitReason{{Kind: explain.BecauseOfQuestions, By: "worker", Text: "Which colour?\n\n- blue\n- green\n"}}
	}
	s.ask("complete")
	s.ask("ask")
	b.open("/tasks/" + taskID)
	b.Wait(`!document.querySelector(".options")?.hidden`)
	if !eval[bool](b, `document.querySelector("#task-decide .reason").getBoundingClientRect().top < document.getElementById("note-answer").getBoundingClientRect().top`) {
		t.Error("the question is not above the field")
	}
	b.Do(chromedp.Click(chromedp.CSS(".options button:nth-of-type(2)")))
	b.Wait(`document.activeElement.id === "note-answer" && document.activeElement.value === "green"`)
	b.Do(chromedp.SendKeys(chromedp.CSS("#note-answer"), ", please"))
	b.open("/tasks/" + taskID)
	b.Wait(`document.getElementById("note-answer").value === "green, please"`)
	b.Shot("task-question")
	b.Do(chromedp.Click(chromedp.CSS(`button[value="answer"]`)))
	b.Wait(`document.getElementById("status").textContent === "working"`)
	if got := s.last(); got.Verb != "answer" || got.Note != "green, please" {
		t.Errorf("the server heard %+v", got)
	}
	b.Quiet()
}

func storyViewed(t *testing.T, s *taskBackend, b *tab) {
	s.ask("complete")
	s.ask("complete")
	b.open("/tasks/" + taskID)
	b.Do(chromedp.Click(chromedp.CSS(`.viewed:has(+ details[data-path="README"]) input`)))
	b.Wait(`!document.querySelector('details[data-path="README"]').open && document.getElementById("viewed-count").textContent === "1 of 2 viewed"`)
	b.open("/tasks/" + taskID)
	b.Wait(`!document.querySelector('details[data-path="README"]').open && document.querySelector('.viewed:has(+ details[data-path="README"]) input').checked`)
	s.diff = strings.Replace(s.diff, "+the shop", "+our shop", 1)
	b.open("/tasks/" + taskID)
	b.Wait(`document.querySelector('details[data-path="README"]').open && !document.querySelector('.viewed:has(+ details[data-path="README"]) input').checked`)
	b.Do(chromedp.Click(chromedp.CSS("#wrap")))
	b.Wait(`document.getElementById("wrap").getAttribute("aria-pressed") === "true" && getComputedStyle(document.querySelector("td.code")).whiteSpace.startsWith("pre-wrap")`)
	b.Quiet()
}
