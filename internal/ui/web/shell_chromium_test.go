package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/testbrowser"
	"orange/internal/view/overview"
)

func TestInboxAndFrameInABrowser(t *testing.T) {
	browser := testbrowser.Start(t)
	for name, story := range map[string]func(t *testing.T, b *tab){
		"keys go through the inbox":                        storyInboxKeys,
		"an offered answer fills the field":                storyOptions,
		"a permission is given":                            storyAllowInInbox,
		"an item is snoozed in this browser":               storySnooze,
		"a draft outlives the page":                        storyDraft,
		"the palette finds tasks and pages":                storyPalette,
		"a view of the board is saved":                     storyViews,
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
	b.Wait(`document.getElementById("item-` + askingTask + `") && location.search.includes("` + askingTask + `")`)
	b.Do(chromedp.KeyEvent("j"))
	b.Wait(`document.getElementById("item-` + reviewingTask + `") && location.search.includes("` + reviewingTask + `")`)
	b.Do(chromedp.KeyEvent("k"))
	b.Wait(`document.getElementById("item-` + askingTask + `")`)
	b.Do(chromedp.KeyEvent("e"))
	b.Wait(`document.activeElement.id === "n-` + askingTask + `"`)
	b.Do(chromedp.KeyEvent("jk")) // text, not a key
	b.Wait(`document.activeElement.value.endsWith("jk") && document.getElementById("item-` + askingTask + `")`)
	eval[bool](b, `document.getElementById("e-`+pendingTask+`").click(), true`)
	b.Wait(`document.getElementById("item-` + pendingTask + `") && location.pathname === "/inbox"`)
	eval[bool](b, `document.getElementById("c-`+pendingTask+`").click(), true`)
	eval[bool](b, `document.querySelector("button[form=bulk]").click(), true`)
	b.Wait(`document.getElementById("said")?.textContent === "Started 1 task."`)
	b.Shot("inbox-keys")
	b.Axe("inbox-keys")
	b.Quiet()
}

func storyOptions(t *testing.T, b *tab) {
	b.env.backend.setFacts(askingTask, overview.Facts{Reasons: []explain.WaitReason{{Kind: explain.BecauseOfMessage, By: "worker", Text: "Which colour?\n\n- blue\n- green"}}})
	b.open("/inbox?item=" + askingTask)
	b.Wait(`!document.querySelector(".options").hidden`)
	b.Shot("options")
	b.Axe("options")
	eval[bool](b, `[...document.querySelectorAll("[data-fill]")].find((o) => o.textContent === "green").click(), true`)
	b.Wait(`document.activeElement.id === "n-` + askingTask + `" && document.activeElement.value === "green"`)
	eval[bool](b, `document.querySelector("#item-`+askingTask+` button[value=answer]").click(), true`)
	b.Wait(`!document.getElementById("i-` + askingTask + `")`)
	if got := b.env.backend.last(); got.Note != "green" {
		t.Errorf("the server heard %+v", got)
	}
	b.Quiet()
}

func storyAllowInInbox(t *testing.T, b *tab) {
	b.env.backend.askPermission(workingTask)
	b.Size(390, 844)
	b.open("/inbox?item=" + workingTask)
	b.Wait(`document.querySelector("#keys-` + workingTask + ` button.go")?.checkVisibility()`)
	b.Shot("allow")
	b.Axe("allow")
	eval[bool](b, `document.querySelector("#keys-`+workingTask+` button.go").click(), true`)
	b.Wait(`!document.getElementById("i-` + workingTask + `")`)
	b.env.backend.mu.Lock()
	defer b.env.backend.mu.Unlock()
	if got := b.env.backend.keys; len(got) != 1 || got[0] != "worker: 1" {
		t.Errorf("pressed %q", got)
	}
	b.Quiet()
}

func storySnooze(t *testing.T, b *tab) {
	b.open("/inbox?item=" + askingTask)
	b.Wait(`"connected" in document.body.dataset && !document.querySelector("[data-snooze]").closest("p").hidden`)
	b.Do(chromedp.KeyEvent("s"))
	b.Wait(`document.getElementById("i-` + askingTask + `").hidden && document.getElementById("item-` + reviewingTask + `")`)
	b.Wait(`document.getElementById("snoozed").textContent.startsWith("1 item is snoozed in this browser.")`)
	b.open("/inbox")
	b.Wait(`document.getElementById("i-` + askingTask + `").hidden`)
	b.env.backend.Change(askingTask, func(t *task.Task) { t.Attempts[0].Condition.Since = epoch.Add(1) }) // it asks anew
	b.env.backend.Change(askingTask, func(t *task.Task) { t.Attempts[0].Condition.Since = epoch.Add(2e9) })
	b.Wait(`!document.getElementById("i-` + askingTask + `").hidden && document.getElementById("snoozed").hidden`)
	b.Quiet()
}

func storyDraft(t *testing.T, b *tab) {
	b.open("/inbox?item=" + askingTask)
	b.Do(chromedp.SendKeys(chromedp.CSS("#n-"+askingTask), "half a thought"))
	b.open("/fleet")
	b.open("/inbox?item=" + askingTask)
	b.Wait(`document.getElementById("n-` + askingTask + `").value === "half a thought"`)
	eval[bool](b, `document.querySelector("#item-`+askingTask+` button[value=answer]").click(), true`)
	b.Wait(`!document.getElementById("i-` + askingTask + `") && !Object.keys(localStorage).some((k) => k.startsWith("draft:"))`)
	b.Quiet()
}

func storyPalette(t *testing.T, b *tab) {
	eval[bool](b, `document.getElementById("find").click(), true`)
	b.Wait(`document.querySelector("dialog.palette")?.open && document.querySelectorAll(".palette li").length > 5`)
	b.Do(chromedp.KeyEvent("search faster"))
	b.Wait(`document.querySelector(".palette li[aria-selected=true]")?.textContent.includes("Make the search faster")`)
	b.Shot("palette")
	b.Axe("palette")
	b.Do(chromedp.KeyEvent(kb.Enter))
	b.Wait(`location.pathname === "/tasks/` + workingTask + `"`)
	b.open("/inbox")
	eval[bool](b, `document.dispatchEvent(new KeyboardEvent("keydown", {key: "k", ctrlKey: true, bubbles: true, cancelable: true})), true`)
	b.Wait(`document.querySelector("dialog.palette")?.open`)
	b.Do(chromedp.KeyEvent("fleet"))
	b.Wait(`document.querySelectorAll(".palette li").length === 1`)
	b.Do(chromedp.KeyEvent(kb.Enter))
	b.Wait(`location.pathname === "/fleet"`)
	b.Quiet()
}

func storyShortcuts(t *testing.T, b *tab) {
	b.Wait(`!document.getElementById("find").hidden`)
	b.Do(chromedp.KeyEvent("?"))
	b.Wait(`document.querySelector("dialog.help")?.open`)
	b.Shot("help")
	b.Axe("help")
	b.Do(chromedp.KeyEvent(kb.Escape))
	b.Wait(`!document.querySelector("dialog.help")`)
	b.Do(chromedp.KeyEvent("/"))
	b.Wait(`document.activeElement.id === "q"`)
	eval[bool](b, `document.activeElement.blur(), true`)
	b.Do(chromedp.KeyEvent("g"), chromedp.KeyEvent("i"))
	b.Wait(`location.pathname === "/inbox" && !document.getElementById("find").hidden`)
	b.Do(chromedp.KeyEvent("c"))
	b.Wait(`location.pathname === "/new"`)
	b.Quiet()
}

func storyTheme(t *testing.T, b *tab) {
	b.Media("prefers-color-scheme", "light")
	ground := `getComputedStyle(document.body).backgroundColor`
	light := eval[string](b, ground)
	b.Wait(`!document.getElementById("find").hidden`)
	eval[bool](b, `document.querySelector("#theme button[value=dark]").click(), true`)
	b.Wait(`document.documentElement.dataset.theme === "dark" && ` + ground + ` !== "` + light + `"`)
	dark := eval[string](b, ground)
	b.open("/fleet")
	b.Wait(ground + ` === "` + dark + `"`)
	b.Quiet()
}

func storyPhone(t *testing.T, b *tab) {
	b.Size(390, 844)
	eval[bool](b, `sessionStorage.clear(), true`) // a new visit
	b.open("/")
	b.Wait(`location.pathname === "/inbox"`)
	b.Wait(`document.title.startsWith("(2) Inbox")`)
	if !eval[bool](b, `(() => { const r = document.querySelector(".pages").getBoundingClientRect(); return Math.round(r.bottom) === 844 && r.width === 390; })()`) {
		t.Error("the navigation is not a bar at the bottom")
	}
	if eval[bool](b, `document.querySelector(".item-pane").checkVisibility()`) {
		t.Error("two panes are shown")
	}
	b.Shot("phone-inbox")
	b.Axe("phone-inbox")
	eval[bool](b, `document.getElementById("e-`+reviewingTask+`").click(), true`)
	b.Wait(`document.getElementById("item-` + reviewingTask + `")?.checkVisibility() && !document.querySelector(".inbox-pane").checkVisibility()`)
	b.Shot("phone-item")
	b.Axe("phone-item")
	eval[bool](b, `document.querySelector(".back-link").click(), true`)
	b.Wait(`document.querySelector(".inbox-pane").checkVisibility() && !document.querySelector(".item-pane").checkVisibility()`)
	eval[bool](b, `document.querySelector('.pages a[href^="/"]:nth-child(2)').click(), true`)
	b.Wait(`location.pathname === "/" && document.querySelector('#columns a[aria-current]')?.dataset.tab === "need"`)
	b.Shot("phone-board")
	b.Axe("phone-board")
	eval[bool](b, `document.querySelector('#columns a[data-tab=work]').click(), true`)
	b.Wait(`document.querySelector('#columns a[aria-current]')?.dataset.tab === "work"`)
	b.Wait(`Math.abs(document.querySelector("[data-col=work]").getBoundingClientRect().left - document.getElementById("board").getBoundingClientRect().left) < 6`)
	if eval[bool](b, `document.getElementById("filters").checkVisibility()`) {
		t.Error("the filters are open")
	}
	eval[bool](b, `document.querySelector(".sheet-button").click(), true`)
	b.Wait(`document.getElementById("filters").checkVisibility()`)
	b.Shot("phone-filters")
	b.Axe("phone-filters")
	b.Quiet()
}

func storyNotify(t *testing.T, b *tab) {
	b.open("/fleet")
	b.Wait(`"connected" in document.body.dataset`)
	eval[bool](b, `(() => {
		window.noted = [];
		window.Notification = class { constructor(title, options) { window.noted.push(options.body); } static permission = "granted"; static requestPermission() { return Promise.resolve("granted"); } };
		document.hasFocus = () => false;
		document.getElementById("notify").click();
		return true;
	})()`)
	b.Wait(`document.body.dataset.notify === "1" && document.getElementById("notify").textContent.includes("Stop")`)
	b.hide(true) // a page that notifies stays connected
	b.env.backend.Change(workingTask, func(t *task.Task) { t.Status = "reviewing" })
	b.Wait(`window.noted.join() === "3 tasks need you"`)
	b.Quiet()
}

func storyFormLost(t *testing.T, b *tab) {
	b.open("/inbox?item=" + askingTask)
	b.Wait(`"connected" in document.body.dataset`)
	b.Do(chromedp.SendKeys(chromedp.CSS("#n-"+askingTask), "kept"))
	b.env.shut()
	eval[bool](b, `document.querySelector("#item-`+askingTask+` button[value=answer]").click(), true`)
	b.Wait(`document.querySelector("#act-` + askingTask + ` > .answer").textContent.includes("start it with orange web")`)
	b.Wait(`!document.getElementById("lost").hidden && document.getElementById("n-` + askingTask + `").value === "kept"`)
	addr := b.env.addr
	b.env.open(t, addr)
	b.Wait(`document.getElementById("lost").hidden && document.getElementById("n-` + askingTask + `").value === "kept"`)
	b.Quiet("net::ERR_")
}

// storyViews saves a filter of the board under a name, comes back to it from the line above the board and from the palette, and deletes it.
func storyViews(t *testing.T, b *tab) {
	b.open("/")
	b.Wait(`document.getElementById("views").hidden && document.getElementById("save-view").hidden`)
	b.open("/?q=search&project=&group=status")
	b.Wait(`!document.getElementById("save-view").hidden`)
	eval[bool](b, `document.getElementById("save-view").click(), true`)
	b.Wait(`document.activeElement.id === "view-name"`)
	b.Do(chromedp.KeyEvent("Searches" + kb.Enter))
	b.Wait(`document.getElementById("said")?.textContent === "Saved the view Searches." && !document.querySelector("dialog[open]")`)
	b.Wait(`document.querySelector("#views [aria-current]")?.textContent === "Searches" && document.getElementById("save-view").hidden`)
	b.Shot("views")
	b.Axe("views")
	eval[bool](b, `[...document.querySelectorAll("#views a")].find((a) => a.textContent === "All").click(), true`)
	b.Wait(`location.search === "" && document.querySelector("#views [aria-current]")?.textContent === "All"`)
	eval[bool](b, `document.getElementById("find").click(), true`)
	b.Wait(`document.querySelector("dialog.palette")?.open`)
	b.Do(chromedp.KeyEvent("view sear"))
	b.Wait(`document.querySelectorAll(".palette li").length === 1`)
	b.Do(chromedp.KeyEvent(kb.Enter))
	b.Wait(`location.search === "?group=status&q=search" && document.querySelector("#views [aria-current]")?.textContent === "Searches"`)
	eval[bool](b, `document.querySelector("#views button").click(), true`)
	b.Wait(`document.getElementById("views").hidden && !document.getElementById("save-view").hidden`)
	b.Quiet()
}
