package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/view/overview"
)

func TestInboxAndFrameInABrowser(t *testing.T) {
	browser := chromium(t)
	for name, story := range map[string]func(t *testing.T, b *tab){
		"keys go through the inbox":                        storyInboxKeys,
		"an offered answer fills the field":                storyOptions,
		"a permission is given":                            storyAllowInInbox,
		"an item is snoozed in this browser":               storySnooze,
		"a draft outlives the page":                        storyDraft,
		"the palette finds tasks and pages":                storyPalette,
		"shortcuts and their help":                         storyShortcuts,
		"a theme is chosen":                                storyTheme,
		"a phone has the inbox first and a bar below":      storyPhone,
		"people who want it are notified":                  storyNotify,
		"a form that finds no server says how to start it": storyFormLost,
	} {
		t.Run(name, func(t *testing.T) { story(t, newTab(t, browser, newEnv(t, newBoardBackend(t)))) })
	}
}

func storyInboxKeys(t *testing.T, b *tab) {
	b.open("/inbox")
	b.wait(`document.getElementById("item-` + askingTask + `") && location.search.includes("` + askingTask + `")`)
	b.do(chromedp.KeyEvent("j"))
	b.wait(`document.getElementById("item-` + reviewingTask + `") && location.search.includes("` + reviewingTask + `")`)
	b.do(chromedp.KeyEvent("k"))
	b.wait(`document.getElementById("item-` + askingTask + `")`)
	b.do(chromedp.KeyEvent("e"))
	b.wait(`document.activeElement.id === "n-` + askingTask + `"`)
	b.do(chromedp.KeyEvent("jk")) // text, not a key
	b.wait(`document.activeElement.value.endsWith("jk") && document.getElementById("item-` + askingTask + `")`)
	eval[bool](b, `document.getElementById("e-`+pendingTask+`").click(), true`)
	b.wait(`document.getElementById("item-` + pendingTask + `") && location.pathname === "/inbox"`)
	eval[bool](b, `document.getElementById("c-`+pendingTask+`").click(), true`)
	eval[bool](b, `document.querySelector("button[form=bulk]").click(), true`)
	b.wait(`document.getElementById("said")?.textContent === "Started 1 task."`)
	b.shot("inbox-keys")
	b.quiet()
}

func storyOptions(t *testing.T, b *tab) {
	b.env.backend.setFacts(askingTask, overview.Facts{Reasons: []explain.WaitReason{{Kind: explain.BecauseOfMessage, By: "worker", Text: "Which colour?\n\n- blue\n- green"}}})
	b.open("/inbox?item=" + askingTask)
	b.wait(`!document.querySelector(".options").hidden`)
	b.shot("options")
	eval[bool](b, `[...document.querySelectorAll("[data-fill]")].find((o) => o.textContent === "green").click(), true`)
	b.wait(`document.activeElement.id === "n-` + askingTask + `" && document.activeElement.value === "green"`)
	eval[bool](b, `document.querySelector("#item-`+askingTask+` button[value=answer]").click(), true`)
	b.wait(`!document.getElementById("i-` + askingTask + `")`)
	if got := b.env.backend.last(); got.Note != "green" {
		t.Errorf("the server heard %+v", got)
	}
	b.quiet()
}

func storyAllowInInbox(t *testing.T, b *tab) {
	b.env.backend.askPermission(workingTask)
	b.size(390, 844)
	b.open("/inbox?item=" + workingTask)
	b.wait(`document.querySelector("#keys-` + workingTask + ` button.go")?.checkVisibility()`)
	b.shot("allow")
	eval[bool](b, `document.querySelector("#keys-`+workingTask+` button.go").click(), true`)
	b.wait(`!document.getElementById("i-` + workingTask + `")`)
	b.env.backend.mu.Lock()
	defer b.env.backend.mu.Unlock()
	if got := b.env.backend.keys; len(got) != 1 || got[0] != "worker: 1" {
		t.Errorf("pressed %q", got)
	}
	b.quiet()
}

func storySnooze(t *testing.T, b *tab) {
	b.open("/inbox?item=" + askingTask)
	b.wait(`"connected" in document.body.dataset && !document.querySelector("[data-snooze]").closest("p").hidden`)
	b.do(chromedp.KeyEvent("s"))
	b.wait(`document.getElementById("i-` + askingTask + `").hidden && document.getElementById("item-` + reviewingTask + `")`)
	b.wait(`document.getElementById("snoozed").textContent.startsWith("1 item is snoozed in this browser.")`)
	b.open("/inbox")
	b.wait(`document.getElementById("i-` + askingTask + `").hidden`)
	b.env.backend.Change(askingTask, func(t *task.Task) { t.Attempts[0].Condition.Since = epoch.Add(1) }) // it asks anew
	b.env.backend.Change(askingTask, func(t *task.Task) { t.Attempts[0].Condition.Since = epoch.Add(2e9) })
	b.wait(`!document.getElementById("i-` + askingTask + `").hidden && document.getElementById("snoozed").hidden`)
	b.quiet()
}

func storyDraft(t *testing.T, b *tab) {
	b.open("/inbox?item=" + askingTask)
	b.do(chromedp.SendKeys(chromedp.CSS("#n-"+askingTask), "half a thought"))
	b.open("/fleet")
	b.open("/inbox?item=" + askingTask)
	b.wait(`document.getElementById("n-` + askingTask + `").value === "half a thought"`)
	eval[bool](b, `document.querySelector("#item-`+askingTask+` button[value=answer]").click(), true`)
	b.wait(`!document.getElementById("i-` + askingTask + `") && !Object.keys(localStorage).some((k) => k.startsWith("draft:"))`)
	b.quiet()
}

func storyPalette(t *testing.T, b *tab) {
	eval[bool](b, `document.getElementById("find").click(), true`)
	b.wait(`document.querySelector("dialog.palette")?.open && document.querySelectorAll(".palette li").length > 5`)
	b.do(chromedp.KeyEvent("search faster"))
	b.wait(`document.querySelector(".palette li[aria-selected=true]")?.textContent.includes("Make the search faster")`)
	b.shot("palette")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.wait(`location.pathname === "/tasks/` + workingTask + `"`)
	b.open("/inbox")
	eval[bool](b, `document.dispatchEvent(new KeyboardEvent("keydown", {key: "k", ctrlKey: true, bubbles: true, cancelable: true})), true`)
	b.wait(`document.querySelector("dialog.palette")?.open`)
	b.do(chromedp.KeyEvent("fleet"))
	b.wait(`document.querySelectorAll(".palette li").length === 1`)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.wait(`location.pathname === "/fleet"`)
	b.quiet()
}

func storyShortcuts(t *testing.T, b *tab) {
	b.wait(`!document.getElementById("find").hidden`)
	b.do(chromedp.KeyEvent("?"))
	b.wait(`document.querySelector("dialog.help")?.open`)
	b.shot("help")
	b.do(chromedp.KeyEvent(kb.Escape))
	b.wait(`!document.querySelector("dialog.help")`)
	b.do(chromedp.KeyEvent("/"))
	b.wait(`document.activeElement.id === "q"`)
	eval[bool](b, `document.activeElement.blur(), true`)
	b.do(chromedp.KeyEvent("g"), chromedp.KeyEvent("i"))
	b.wait(`location.pathname === "/inbox" && !document.getElementById("find").hidden`)
	b.do(chromedp.KeyEvent("c"))
	b.wait(`location.pathname === "/new"`)
	b.quiet()
}

func storyTheme(t *testing.T, b *tab) {
	b.media("prefers-color-scheme", "light")
	ground := `getComputedStyle(document.body).backgroundColor`
	light := eval[string](b, ground)
	b.wait(`!document.getElementById("find").hidden`)
	eval[bool](b, `document.querySelector("#theme button[value=dark]").click(), true`)
	b.wait(`document.documentElement.dataset.theme === "dark" && ` + ground + ` !== "` + light + `"`)
	dark := eval[string](b, ground)
	b.open("/fleet")
	b.wait(ground + ` === "` + dark + `"`)
	b.quiet()
}

func storyPhone(t *testing.T, b *tab) {
	b.size(390, 844)
	eval[bool](b, `sessionStorage.clear(), true`) // a new visit
	b.open("/")
	b.wait(`location.pathname === "/inbox"`)
	b.wait(`document.title.startsWith("(2) Inbox")`)
	if !eval[bool](b, `(() => { const r = document.querySelector(".pages").getBoundingClientRect(); return Math.round(r.bottom) === 844 && r.width === 390; })()`) {
		t.Error("the navigation is not a bar at the bottom")
	}
	if eval[bool](b, `document.querySelector(".item-pane").checkVisibility()`) {
		t.Error("two panes are shown")
	}
	b.shot("phone-inbox")
	eval[bool](b, `document.getElementById("e-`+reviewingTask+`").click(), true`)
	b.wait(`document.getElementById("item-` + reviewingTask + `")?.checkVisibility() && !document.querySelector(".inbox-pane").checkVisibility()`)
	b.shot("phone-item")
	eval[bool](b, `document.querySelector(".back-link").click(), true`)
	b.wait(`document.querySelector(".inbox-pane").checkVisibility() && !document.querySelector(".item-pane").checkVisibility()`)
	eval[bool](b, `document.querySelector('.pages a[href^="/"]:nth-child(2)').click(), true`)
	b.wait(`location.pathname === "/" && document.querySelector('#columns a[aria-current]')?.dataset.tab === "need"`)
	b.shot("phone-board")
	eval[bool](b, `document.querySelector('#columns a[data-tab=work]').click(), true`)
	b.wait(`document.querySelector('#columns a[aria-current]')?.dataset.tab === "work"`)
	b.wait(`Math.abs(document.querySelector("[data-col=work]").getBoundingClientRect().left - document.getElementById("board").getBoundingClientRect().left) < 6`)
	if eval[bool](b, `document.getElementById("filters").checkVisibility()`) {
		t.Error("the filters are open")
	}
	eval[bool](b, `document.querySelector(".sheet-button").click(), true`)
	b.wait(`document.getElementById("filters").checkVisibility()`)
	b.shot("phone-filters")
	b.quiet()
}

func storyNotify(t *testing.T, b *tab) {
	b.open("/fleet")
	b.wait(`"connected" in document.body.dataset`)
	eval[bool](b, `(() => {
		window.noted = [];
		window.Notification = class { constructor(title, options) { window.noted.push(options.body); } static permission = "granted"; static requestPermission() { return Promise.resolve("granted"); } };
		document.hasFocus = () => false;
		document.getElementById("notify").click();
		return true;
	})()`)
	b.wait(`document.body.dataset.notify === "1" && document.getElementById("notify").textContent.includes("Stop")`)
	b.hide(true) // a page that notifies stays connected
	b.env.backend.Change(workingTask, func(t *task.Task) { t.Status = "reviewing" })
	b.wait(`window.noted.join() === "3 tasks need you"`)
	b.quiet()
}

func storyFormLost(t *testing.T, b *tab) {
	b.open("/inbox?item=" + askingTask)
	b.wait(`"connected" in document.body.dataset`)
	b.do(chromedp.SendKeys(chromedp.CSS("#n-"+askingTask), "kept"))
	b.env.shut()
	eval[bool](b, `document.querySelector("#item-`+askingTask+` button[value=answer]").click(), true`)
	b.wait(`document.querySelector("#act-` + askingTask + ` > .answer").textContent.includes("start it with orange web")`)
	b.wait(`!document.getElementById("lost").hidden && document.getElementById("n-` + askingTask + `").value === "kept"`)
	addr := b.env.addr
	b.env.open(t, addr)
	b.wait(`document.getElementById("lost").hidden && document.getElementById("n-` + askingTask + `").value === "kept"`)
	b.quiet("net::ERR_")
}
