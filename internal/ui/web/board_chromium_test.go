package web_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"orange/internal/core/task"
	"orange/internal/testbrowser"
)

func TestBoardInABrowser(t *testing.T) {
	browser := testbrowser.Start(t)
	for name, story := range map[string]func(t *testing.T, b *tab){
		"the moment that was asked for last is shown":       storyLastMoment,
		"news that come together leave no column behind":    storyCounts,
		"a task is not ended by a drag alone":               storyEnd,
		"a page of another journal is loaded anew":          storyReload,
		"a page that nobody looks at holds no connection":   storyHidden,
		"a column without cards has room for its own name":  storyEmptyColumn,
		"a closed gate does not light up":                   storyClosedGate,
		"a board without states has a tray of them":         storyTray,
		"a board scrolls while the mouse rests at its edge": storyAutoscroll,
		"a task that ends stays where what is over is seen": storyOver,
	} {
		t.Run(name, func(t *testing.T) {
			b := newTab(t, browser, newEnv(t, newBoardBackend(t)))
			b.open("/?group=status")
			story(t, b)
		})
	}
}

// storyLastMoment moves the scrubber on while the server takes its time.
func storyLastMoment(t *testing.T, b *tab) {
	b.Wait(`"connected" in document.body.dataset`)
	eval[bool](b, `(() => {
		const real = window.fetch;
		const gate = new Promise((open) => { window.openGate = open; });
		window.asked = 0;
		window.fetch = (...args) => { window.asked++; return gate.then(() => real(...args)); };
		window.goTo = (n) => { const at = document.getElementById("at"); at.value = n; at.dispatchEvent(new Event("input", {bubbles: true})); return true; };
		return true;
	})()`)
	eval[bool](b, `goTo(1)`)
	b.Wait(`window.asked === 1`)
	for _, step := range []string{"2", "3"} {
		eval[bool](b, `goTo(`+step+`)`)
		b.Wait(`location.search.includes("at=` + step + `")`)
	}
	eval[bool](b, `openGate(), true`)
	b.Wait(`document.getElementById("moment").textContent.includes("· 3 of 5")`)
	if got := eval[int](b, `document.querySelectorAll(".card").length`); got != 3 {
		t.Errorf("%d cards", got)
	}
	b.Quiet()
}

func storyCounts(t *testing.T, b *tab) {
	b.Wait(`"connected" in document.body.dataset`)
	count := `[...document.querySelectorAll(".col")].map((c) => c.dataset.col + " " + c.querySelector(".n").textContent).join()`
	for _, news := range []struct{ first, second, want string }{
		{`{working: 2, pending: 1}`, `{working: 3}`, "pending 0,working 3,reviewing 0,done 0,cancelled 0"},
		{`{working: 2, pending: 1}`, `{}`, "pending 0,working 0,reviewing 0,done 0,cancelled 0"},
	} {
		b.Wait(`(() => { // again, because the first news of the server may come in between
			const shown = ` + count + ` === "` + news.want + `";
			for (const counts of [` + news.first + `, ` + news.second + `]) document.dispatchEvent(new CustomEvent("orange:board", {detail: {row: 5, counts}}));
			return shown;
		})()`)
	}
	b.Quiet()
}

func storyEnd(t *testing.T, b *tab) {
	b.Wait(`"connected" in document.body.dataset`)
	b.Wait(`document.getElementById("t-` + reviewingTask + `").dataset.m.includes("cancelled")`)
	b.Drag("#t-"+reviewingTask+" .t", `[data-col="cancelled"] h2`, true)
	b.Wait(`document.getElementById("ask").open && document.querySelector("#ask details[data-to=cancelled]").open`)
	b.Shot("ask-end")
	if heard := b.env.backend.last(); heard.Kind != "" {
		t.Errorf("the server heard %+v", heard)
	}
	if eval[bool](b, `document.querySelector("#ask details[data-to=done]").open`) {
		t.Error("the other question is open, too")
	}
	eval[bool](b, `document.querySelector('#ask button[value="move:cancelled"]').click(), true`)
	b.Wait(`!document.getElementById("ask").open && !document.getElementById("t-` + reviewingTask + `")`)
	if got := b.env.backend.last(); got.To != "cancelled" {
		t.Errorf("the server heard %+v", got)
	}
	b.Quiet()
}

func storyReload(t *testing.T, b *tab) {
	b.Wait(`"connected" in document.body.dataset`)
	eval[bool](b, "window.notReloaded = true")
	b.env.backend.CutRows(2) // the journal is another one
	addr := b.env.addr
	b.env.shut()
	b.env.open(t, addr)
	b.Wait(`!window.notReloaded && document.body.dataset.row === "2" && "connected" in document.body.dataset`)
	b.Quiet("net::ERR_")
}

// hide lets a page believe that it is seen or not.
func (b *tab) hide(hidden bool) {
	b.T.Helper()
	value := "false"
	if hidden {
		value = "true"
	}
	eval[bool](b, `(() => {
		Object.defineProperty(document, "hidden", {get: () => `+value+`, configurable: true});
		document.dispatchEvent(new Event("visibilitychange"));
		return true;
	})()`)
}

func storyHidden(t *testing.T, b *tab) {
	b.Wait(`"connected" in document.body.dataset`)
	b.hide(true)
	b.Wait(`!("connected" in document.body.dataset)`)
	b.env.backend.Change(pendingTask, func(t *task.Task) { t.Summary = "meanwhile" })
	b.hide(false)
	b.Wait(`document.querySelector("#t-` + pendingTask + ` .t").textContent === "meanwhile"`)
	if !eval[bool](b, `document.getElementById("lost").hidden`) {
		t.Error("it is said that the connection is lost")
	}
	b.Quiet()
}

func storyEmptyColumn(t *testing.T, b *tab) {
	for _, width := range []int64{1280, 1000} {
		b.Size(width, 800)
		got := eval[[]string](b, `(() => {
			const out = [], col = [...document.querySelectorAll(".col")].pop();
			for (const name of ["clarification", "implementing", "needs-attention", "planning-review"]) {
				col.classList.add("empty");
				col.querySelector(".name").firstChild.data = name;
				const range = document.createRange();
				range.selectNodeContents(col.querySelector(".name").firstChild);
				const words = name.split("-").length;
				if (new Set([...range.getClientRects()].map((r) => r.top)).size > words) out.push(name);
			}
			return out;
		})()`)
		if len(got) > 0 {
			t.Errorf("at %d: words are broken: %q", width, got)
		}
	}
	b.Shot("empty-column")
}

func storyOver(t *testing.T, b *tab) {
	b.open("/?scope=all&group=status")
	b.Wait(`"connected" in document.body.dataset`)
	b.env.backend.Change(reviewingTask, func(t *task.Task) {
		t.Status = "done"
	})
	b.Wait(inColumn(reviewingTask, "done"))
	b.Quiet()
}

// storyClosedGate lifts a card whose gate is closed: its column does not light up, and a drop says why.
func storyClosedGate(t *testing.T, b *tab) {
	locked := b.env.backend.AddWorkflow(t, "t.yaml", strings.ReplaceAll(boardWorkflow, "complete, by: [human, engine]}", "complete, by: [human, engine], gate: merged}"))
	b.env.backend.Change(pendingTask, func(t *task.Task) { t.WorkflowHash = locked.Hash })
	b.Wait(`"connected" in document.body.dataset`)
	b.Drag("#t-"+pendingTask+" .t", `[data-col="working"] h2`, false)
	b.Wait(`[...document.querySelectorAll(".drop.can")].map(c => c.dataset.col).join() === "cancelled"`)
	if !eval[bool](b, `document.querySelector('[data-col="working"]').classList.contains("shut")`) {
		t.Error("the column with the closed gate is not marked")
	}
	b.Drag("#t-"+pendingTask+" .t", `[data-col="working"] h2`, true)
	b.Wait(`document.querySelector("#t-` + pendingTask + ` .no")?.textContent.startsWith("cannot move to working: ")`)
	if len(b.env.backend.heard) > 0 {
		t.Errorf("the server heard %+v", b.env.backend.heard)
	}
	overlap := `(() => { const a = document.querySelector("#t-` + pendingTask + ` .mv").getBoundingClientRect(), n = document.querySelector("#t-` + pendingTask + ` .no").getBoundingClientRect(); return a.bottom > n.top && n.bottom > a.top && a.right > n.left; })()`
	if eval[bool](b, overlap) {
		t.Error("Move covers the refusal")
	}
	b.Shot("closed-gate")
	b.Quiet()
}

// storyTray drags a card of the board by who must act onto a state of the tray.
func storyTray(t *testing.T, b *tab) {
	b.open("/")
	b.Wait(`"connected" in document.body.dataset`)
	if got := eval[string](b, `[...document.querySelectorAll(".col")].map((c) => c.dataset.col + " " + c.querySelector(".n").textContent).join()`); got != "need 2,work 1,wait 1,done 0" {
		t.Errorf("columns: %s", got)
	}
	b.Drag("#t-"+pendingTask+" .t", `[data-col="need"] h2`, false)
	b.Wait(`document.querySelector('.tray [data-to="working"]')?.classList.contains("can")`)
	b.Shot("tray")
	x, y := b.At(`.tray [data-to="working"]`)
	b.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y, chromedp.ButtonLeft), chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, x, y, chromedp.ButtonLeft))
	b.Wait(`document.getElementById("said")?.textContent === "fix-login: pending → working"`)
	b.Wait(`!document.querySelector(".tray") && document.querySelector(".toast a").getAttribute("href") === "/tasks/` + pendingTask + `"`)
	b.Wait(`!document.querySelector(".toast")`) // it leaves by itself
	b.Quiet()
}

// storyAutoscroll holds a card still near the edge of a board that is wider than the window.
func storyAutoscroll(t *testing.T, b *tab) {
	b.Size(720, 700)
	b.Wait(`"connected" in document.body.dataset && document.getElementById("board").scrollWidth > document.getElementById("board").clientWidth`)
	x, y := b.At("#t-" + pendingTask + " .t")
	b.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y), chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, x, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 715, y+20, chromedp.ButtonLeft))
	b.Wait(`(() => { const board = document.getElementById("board"); return board.scrollLeft + board.clientWidth >= board.scrollWidth - 1; })()`)
	b.Do(chromedp.KeyEvent(kb.Escape))
	b.Wait(`!document.querySelector(".ghost")`)
	b.Quiet()
}
