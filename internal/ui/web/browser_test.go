package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"orange/internal/core/task"
	"orange/internal/testbrowser"
	"orange/internal/testneeds"
	"orange/internal/ui/web"
)

// inColumn is an expression that says whether a task is in a column.
func inColumn(id, column string) string {
	return fmt.Sprintf(`document.querySelector('[data-col="%s"] #t-%s')`, column, id)
}

const (
	pendingTask   = "A0000000000000000000a"
	workingTask   = "B0000000000000000000b"
	reviewingTask = "C0000000000000000000c"
	askingTask    = "D0000000000000000000d"
)

func TestBrowser(t *testing.T) {
	browser := testbrowser.Start(t)
	for name, story := range map[string]func(t *testing.T, b *tab){
		"the token is taken out of the address":                storyLogin,
		"a change made elsewhere shows without a reload":       storyLive,
		"a card is dragged along an edge":                      storyDrag,
		"a drop where there is no edge is refused":             storyForbidden,
		"a move that the engine refuses goes back":             storyRefused,
		"sending work back asks for words":                     storySendBack,
		"a card is moved with the keyboard":                    storyKeyboard,
		"the inbox is answered in place":                       storyInbox,
		"a typed answer survives news":                         storyTyped,
		"a connection that was lost is taken up without a gap": storyLost,
		"the past can be looked at":                            storyPast,
		"pages can be used by those who do not see them":       storyAccessible,
		"a thousand events freeze nothing":                     storyFlood,
		"a thousand tasks are seen at once":                    storyThousand,
		"markup in texts is text":                              storyMarkup,
		"a click is not lost when the page changes":            storyPressed,
		"pages have a look":                                    storyPictures,
	} {
		t.Run(name, func(t *testing.T) {
			b := newTab(t, browser, newEnv(t, newBoardBackend(t), func(o *web.SiteOptions) { o.Dev = true }))
			if name != "the token is taken out of the address" {
				b.open("/?group=status")
			}
			story(t, b)
		})
	}
	t.Run("everything can be read and asked for without script", func(t *testing.T) { storyNoScript(t, browser) })
}

func storyLogin(t *testing.T, b *tab) {
	if got := eval[string](b, "location.href"); got != "http://"+b.env.addr+"/" {
		t.Errorf("the address is %s", got)
	}
	if got := eval[string](b, "document.cookie"); got != "" {
		t.Errorf("scripts see the cookie: %s", got)
	}
	b.Wait(`"connected" in document.body.dataset`)
	b.Quiet()
}

func storyLive(t *testing.T, b *tab) {
	b.Wait(`"connected" in document.body.dataset`)
	eval[bool](b, "window.notReloaded = true")
	eval[bool](b, `new MutationObserver(() => { window.shownAt ??= Date.now(); }).observe(document.getElementById("board"), {childList: true, subtree: true}), true`)
	begun := time.Now()
	defer func() {
		t.Logf("from the change to the page: %d ms", eval[int64](b, "window.shownAt")-begun.UnixMilli())
	}()
	b.env.backend.Change(pendingTask, func(t *task.Task) {
		t.Status, t.Summary = "working", "Something else"
	})
	b.Wait(inColumn(pendingTask, "working"))
	if got := eval[string](b, `document.querySelector("#t-`+pendingTask+` .t").textContent`); got != "Something else" {
		t.Errorf("the card says %q", got)
	}
	b.Wait(`document.querySelector('[data-col="working"] .n').textContent === "3"`)
	b.Wait(`document.getElementById("wants").textContent === "2"`)
	b.Wait(`document.getElementById("news").textContent.includes("Something else: working")`)
	b.env.backend.add(task.Task{ID: "F0000000000000000000f", Project: "shop", Branch: "f", Summary: "A new one", Status: "pending"})
	b.Wait(inColumn("F0000000000000000000f", "pending"))
	if !eval[bool](b, "window.notReloaded === true") {
		t.Error("the page was loaded again")
	}
	b.env.backend.pause(true)
	b.Wait(`!document.getElementById("held").hidden`)
	b.Quiet()
}

func storyDrag(t *testing.T, b *tab) {
	b.Wait(`"connected" in document.body.dataset`)
	b.Drag("#t-"+pendingTask+" .t", `[data-col="working"] h2`, false)
	b.Wait(`[...document.querySelectorAll(".drop.can")].map(c => c.dataset.col).join() === "working,cancelled"`)
	b.Shot("dragging")
	b.Drag("#t-"+pendingTask+" .t", `[data-col="working"] h2`, true)
	b.Wait(inColumn(pendingTask, "working"))
	b.Wait(`document.getElementById("said")?.textContent === "fix-login: pending → working"`)
	if got := b.env.backend.last(); got.To != "working" {
		t.Errorf("the server heard %+v", got)
	}
	if got := eval[string](b, "location.pathname"); got != "/" {
		t.Errorf("the drag was taken for a click: %s", got)
	}
	b.Quiet()
}

func storyPressed(t *testing.T, b *tab) {
	b.open("/inbox?item=" + reviewingTask)
	b.Wait(`"connected" in document.body.dataset`)
	eval[bool](b, `(() => { const ask = window.fetch; window.answers = 0; window.fetch = async (...a) => { const r = await ask(...a); window.answers++; return r; }; return true; })()`)
	entry := "#e-" + askingTask
	before := eval[string](b, `document.querySelector("`+entry+`").textContent`)
	x, y := b.At(entry)
	b.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y), chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	b.env.backend.Change(askingTask, func(t *task.Task) { t.Summary = "Something else" })
	b.Wait("window.answers > 0")
	if got := eval[string](b, `document.querySelector("`+entry+`").textContent`); got != before {
		t.Errorf("the page changed to %q while the button was down", got)
	}
	b.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	b.Wait(`document.querySelector("#item-` + askingTask + `")`)
	b.Wait(`document.querySelector("` + entry + `").textContent === "Something else"`)
	b.Quiet()
}

func storyForbidden(t *testing.T, b *tab) {
	b.Drag("#t-"+pendingTask+" .t", `[data-col="reviewing"] h2`, true)
	b.Wait(`document.querySelector("#t-` + pendingTask + ` .no")?.textContent === "it cannot go from pending to reviewing"`)
	if !eval[bool](b, "Boolean("+inColumn(pendingTask, "pending")+")") || len(b.env.backend.heard) > 0 {
		t.Errorf("it was moved: %v", b.env.backend.heard)
	}
	b.Quiet()
}

func storyRefused(t *testing.T, b *tab) {
	b.Wait(`"connected" in document.body.dataset`)
	locked := b.env.backend.AddWorkflow(t, "t.yaml", strings.NewReplacer("on: [request, ready], as: complete, by: [human, engine]", "on: ready, by: [engine]", "from: [pending, reviewing]", "from: reviewing").Replace(boardWorkflow))
	b.env.backend.Change(pendingTask, func(t *task.Task) { t.WorkflowHash = locked.Hash }) // the page is a moment behind
	b.Wait(`!document.getElementById("t-` + pendingTask + `").dataset.m`)
	eval[bool](b, `document.getElementById("t-`+pendingTask+`").dataset.m = "working", true`)
	b.Drag("#t-"+pendingTask+" .t", `[data-col="working"] h2`, true)
	b.Wait(`document.querySelector("#t-` + pendingTask + ` .no")?.textContent === "gate: it has no <b>plan</b>: write one"`)
	if !eval[bool](b, "Boolean("+inColumn(pendingTask, "pending")+")") {
		t.Error("it did not go back")
	}
	b.Shot("refused")
	b.Quiet("409")
}

func storySendBack(t *testing.T, b *tab) {
	b.Drag("#t-"+reviewingTask+" .t", `[data-col="working"] h2`, true)
	b.Wait(`document.getElementById("ask").open && document.activeElement.tagName === "TEXTAREA"`)
	b.Shot("ask")
	b.Do(chromedp.KeyEvent("write tests"))
	eval[bool](b, `document.querySelector('#ask button[value="request-changes"]').click(), true`)
	b.Wait(inColumn(reviewingTask, "working"))
	if got := b.env.backend.last(); got.Verb != "request-changes" || got.Note != "write tests" {
		t.Errorf("the server heard %+v", got)
	}
	b.Wait(`!document.getElementById("ask").open`)
	b.Quiet()
}

func storyKeyboard(t *testing.T, b *tab) {
	b.Wait(`"connected" in document.body.dataset`)
	eval[bool](b, `document.querySelector("#t-`+pendingTask+` .t").focus(), true`)
	b.Do(chromedp.KeyEvent(kb.ArrowRight))
	b.Wait(`document.activeElement.closest(".card")?.id === "t-` + workingTask + `"`)
	b.Do(chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter)) // from the card over its button to its move
	b.Wait(`document.getElementById("ask").open && document.activeElement.value === "move:working"`)
	b.Do(chromedp.KeyEvent(kb.Escape))
	b.Wait(`!document.getElementById("ask").open && document.activeElement.className === "mv"`)
	b.Do(chromedp.KeyEvent("m"))
	b.Wait(`document.getElementById("ask").open && document.activeElement.value === "move:working"`)
	b.Do(chromedp.KeyEvent(kb.Enter))
	b.Wait(inColumn(pendingTask, "working"))
	b.Wait(`document.activeElement.closest(".card")?.id === "t-` + pendingTask + `"`) // focus went with it
	b.Quiet()
}

func storyInbox(t *testing.T, b *tab) {
	b.open("/inbox")
	b.Do(chromedp.SendKeys(chromedp.CSS("#n-"+askingTask), "blue"))
	eval[bool](b, `document.querySelector("#item-`+askingTask+` button[value=answer]").click(), true`)
	b.Wait(`!document.getElementById("i-` + askingTask + `")`)
	if got := b.env.backend.last(); got.Verb != "answer" || got.Note != "blue" {
		t.Errorf("the server heard %+v", got)
	}
	b.Wait(`document.getElementById("wants").textContent === "1"`)
	b.Wait(`document.getElementById("item-` + reviewingTask + `")`) // the next item
	eval[bool](b, `document.querySelector("#item-`+reviewingTask+` button[value=request-changes]").click(), true`)
	b.Wait(`document.querySelector("#act-` + reviewingTask + ` > .answer").textContent.includes("write some text")`)
	b.Quiet("400")
}

func storyTyped(t *testing.T, b *tab) {
	b.open("/inbox")
	b.Wait(`"connected" in document.body.dataset`)
	b.Do(chromedp.SendKeys(chromedp.CSS("#n-"+askingTask), "half a thou"))
	b.env.backend.Change(pendingTask, func(t *task.Task) { t.Queued = true })
	b.Wait(`!document.getElementById("i-` + pendingTask + `")`)
	b.Do(chromedp.KeyEvent("ght"))
	if got := eval[string](b, `document.activeElement.id + "=" + document.activeElement.value`); got != "n-"+askingTask+"=half a thought" {
		t.Errorf("what was typed is %q", got)
	}
	b.Quiet()
}

func storyLost(t *testing.T, b *tab) {
	b.Wait(`"connected" in document.body.dataset`)
	eval[bool](b, "window.notReloaded = true")
	addr := b.env.addr
	b.env.shut()
	b.Wait(`!document.getElementById("lost").hidden`)
	b.Shot("lost")
	for i := range 3 { // while nobody listens
		b.env.backend.Change(pendingTask, func(t *task.Task) { t.Summary = fmt.Sprint("version ", i) })
	}
	b.env.backend.Change(workingTask, func(t *task.Task) { t.Status = "reviewing" })
	b.env.open(t, addr)
	b.Wait(inColumn(workingTask, "reviewing"))
	b.Wait(`document.querySelector("#t-` + pendingTask + ` .t").textContent === "version 2"`)
	b.Wait(`document.getElementById("lost").hidden`)
	b.env.backend.Change(pendingTask, func(t *task.Task) { t.Summary = "and on" })
	b.Wait(`document.querySelector("#t-` + pendingTask + ` .t").textContent === "and on"`)
	if !eval[bool](b, "window.notReloaded === true") {
		t.Error("the page was loaded again")
	}
	b.Quiet("net::ERR_")
}

func storyPast(t *testing.T, b *tab) {
	b.Wait(`"connected" in document.body.dataset`)
	eval[bool](b, `(() => { const at = document.getElementById("at"); at.value = 2; at.dispatchEvent(new Event("input", {bubbles: true})); return true; })()`)
	b.Wait(`document.querySelectorAll(".card").length === 2 && location.search.includes("at=2")`)
	b.Wait(`!document.getElementById("pastline").hidden && !document.querySelector(".mv")`)
	b.Shot("past")
	b.env.backend.Change(pendingTask, func(t *task.Task) { t.Summary = "of now" })
	b.open("/?at=1")
	b.Wait(`document.querySelectorAll(".card").length === 1`)
	eval[bool](b, `document.getElementById("next").click(), true`)
	b.Wait(`document.querySelectorAll(".card").length === 2`)
	eval[bool](b, `document.getElementById("present").click(), true`)
	b.Wait(`document.querySelectorAll(".card").length === 4 && document.querySelector("#t-` + pendingTask + ` .t").textContent === "of now"`)
	b.Quiet()
}

// storyFlood changes tasks as fast as it can, and looks whether the page still answers.
func storyFlood(t *testing.T, b *tab) {
	for i := range 200 {
		b.env.backend.add(task.Task{ID: task.ID(fmt.Sprintf("G%020d", i)), Project: "shop", Branch: "g", Summary: "one of many", Status: "pending"})
	}
	b.open("/?group=status")
	b.Wait(`"connected" in document.body.dataset`)
	eval[bool](b, `(() => { window.longest = 0; let last = performance.now(); const f = (now) => { window.longest = Math.max(window.longest, now - last); last = now; requestAnimationFrame(f); }; requestAnimationFrame(f); return true; })()`)
	for i := range 5000 {
		b.env.backend.Change(task.ID(fmt.Sprintf("G%020d", i%200)), func(t *task.Task) { t.Summary = fmt.Sprint("change ", i) })
	}
	b.Wait(`document.querySelector("#t-G00000000000000000199 .t").textContent === "change 4999"`)
	for i := range 200 {
		if want := fmt.Sprint("change ", 4800+i); !eval[bool](b, fmt.Sprintf(`document.querySelector("#t-G%020d .t").textContent === %q`, i, want)) {
			t.Errorf("task %d does not show its last change", i)
		}
	}
	t.Logf("the longest time without a frame was %.0f ms", eval[float64](b, "window.longest"))
	b.Quiet()
}

// storyThousand looks how soon a thousand tasks are seen, and that all can be reached.
func storyThousand(t *testing.T, b *tab) {
	crowd(b.env.backend)
	for range 3 {
		b.open("/?group=status")
		b.Wait(`performance.getEntriesByName("first-contentful-paint").length > 0 && "connected" in document.body.dataset`)
		t.Logf("first paint after %.0f ms, of which the server took %.0f; %.0f bytes", eval[float64](b, `performance.getEntriesByName("first-contentful-paint")[0].startTime`),
			eval[float64](b, `performance.getEntriesByType("navigation")[0].responseStart`), eval[float64](b, `performance.getEntriesByType("navigation")[0].decodedBodySize`))
	}
	b.Shot("thousand")
	shown := eval[int](b, `document.querySelectorAll('[data-col="working"] .card').length`)
	eval[bool](b, `document.querySelector('[data-col="working"] .more').click(), true`)
	b.Wait(`location.search.includes("full=working") && document.querySelectorAll('[data-col="working"] .card').length > 300`)
	if shown != 100 {
		t.Errorf("%d cards of a column are shown at first", shown)
	}
	b.Quiet()
}

func storyMarkup(t *testing.T, b *tab) {
	b.Wait(`"connected" in document.body.dataset`)
	bad := `<img src=x onerror="window.harmed=1"><script>window.harmed=1</script>`
	b.env.backend.Change(pendingTask, func(t *task.Task) { t.Summary, t.Branch, t.Attention = bad, bad, bad })
	b.Wait(`document.querySelector("#t-` + pendingTask + ` .t").textContent.startsWith("<img")`)
	for _, path := range []string{"/", "/inbox", "/move/" + pendingTask} {
		b.open(path)
		if eval[bool](b, `"harmed" in window || document.querySelectorAll("main img").length > 0`) {
			t.Errorf("%s ran what a text says", path)
		}
	}
	b.Quiet()
}

// storyAccessible checks what the browser exposes to assistive technology.
func storyAccessible(t *testing.T, b *tab) {
	for _, path := range []string{"/", "/?group=status", "/inbox", "/inbox?item=" + reviewingTask, "/fleet", "/new", "/projects/new", "/stats", "/workflows", "/style", "/move/" + pendingTask, "/nothing", "/?at=2"} {
		b.open(path)
		b.Size(360, 740)
		if got := eval[int](b, `document.documentElement.scrollWidth`); got > 360 {
			t.Errorf("%s is %d pixels wide on a small screen", path, got)
		}
		b.Size(1280, 800)
	}
	b.open("/")
	b.Do(chromedp.KeyEvent(kb.Tab))
	b.Wait(`document.activeElement.className === "skip"`)
	b.Do(chromedp.KeyEvent(kb.Enter))
	b.Wait(`document.activeElement.id === "main"`)
	b.Quiet("404")
}

func storyPictures(t *testing.T, b *tab) {
	testneeds.OncePerSoak(t)
	for _, look := range []string{"light", "dark"} {
		b.Media("prefers-color-scheme", look)
		for name, path := range map[string]string{"board": "/", "states": "/?group=status", "inbox": "/inbox", "fleet": "/fleet", "new": "/new", "project": "/projects/new", "style": "/style", "stats": "/stats", "past": "/?at=2", "move": "/move/" + reviewingTask, "error": "/nothing"} {
			b.open(path)
			for _, size := range [][2]int64{{1280, 800}, {390, 800}} {
				b.Size(size[0], size[1])
				b.Shot(fmt.Sprintf("%s-%s-%d", name, look, size[0]))
				b.Axe(fmt.Sprintf("%s in %s, %d pixels wide", path, look, size[0]))
			}
		}
	}
}

func storyNoScript(t *testing.T, browser testbrowser.Browser) {
	w := newBoardBackend(t)
	b := newTab(t, browser, newEnv(t, w))
	b.Do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	text := func(path string) string {
		b.open(path)
		return testbrowser.Run(b.Tab, chromedp.TextContent(chromedp.CSS("main")))
	}
	for path, want := range map[string]string{"/": "Make the search faster", "/inbox": "blue or green?", "/fleet": "Make the search faster", "/?at=1": "Fix the login form", "/?q=limit": "Limit requests"} {
		if got := text(path); !strings.Contains(got, want) {
			t.Errorf("%s does not say %q: %s", path, want, got)
		}
	}
	b.open("/?group=status")
	b.Do(chromedp.Click(chromedp.CSS("#t-"+pendingTask+" .mv")), chromedp.WaitVisible(chromedp.CSS(`button[value="move:working"]`)), chromedp.Click(chromedp.CSS(`button[value="move:working"]`)),
		chromedp.WaitVisible(chromedp.CSS(`#t-`+pendingTask)))
	if got := w.last(); got.To != "working" {
		t.Errorf("the server heard %+v", got)
	}
	b.open("/inbox")
	b.Do(chromedp.SendKeys(chromedp.CSS("#n-"+askingTask), "green"), chromedp.Click(chromedp.CSS("#item-"+askingTask+" button[value=answer]")), chromedp.WaitNotPresent(chromedp.CSS("#i-"+askingTask)))
	if got := w.last(); got.Note != "green" {
		t.Errorf("the server heard %+v", got)
	}
	b.Quiet()
}
