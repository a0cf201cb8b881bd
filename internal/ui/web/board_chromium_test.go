package web_test

import (
	"orange/internal/core/task"
	"testing"
)

func TestBoardInABrowser(t *testing.T) {
	browser := chromium(t)
	for name, story := range map[string]func(t *testing.T, b *tab){
		"the moment that was asked for last is shown":       storyLastMoment,
		"news that come together leave no column behind":    storyCounts,
		"a task is not ended by a drag alone":               storyEnd,
		"a page of another journal is loaded anew":          storyReload,
		"a page that nobody looks at holds no connection":   storyHidden,
		"a column without cards has room for its own name":  storyEmptyColumn,
		"a task that ends stays where what is over is seen": storyOver,
	} {
		t.Run(name, func(t *testing.T) { story(t, newTab(t, browser, newEnv(t, newBoardBackend(t)))) })
	}
}

// storyLastMoment moves the scrubber on while the server takes its time.
func storyLastMoment(t *testing.T, b *tab) {
	b.wait(`"connected" in document.body.dataset`)
	eval[bool](b, `(() => {
		const real = window.fetch;
		const gate = new Promise((open) => { window.openGate = open; });
		window.asked = 0;
		window.fetch = (...args) => { window.asked++; return gate.then(() => real(...args)); };
		window.goTo = (n) => { const at = document.getElementById("at"); at.value = n; at.dispatchEvent(new Event("input", {bubbles: true})); return true; };
		return true;
	})()`)
	eval[bool](b, `goTo(1)`)
	b.wait(`window.asked === 1`)
	for _, step := range []string{"2", "3"} {
		eval[bool](b, `goTo(`+step+`)`)
		b.wait(`location.search === "?at=` + step + `"`)
	}
	eval[bool](b, `openGate(), true`)
	b.wait(`document.getElementById("moment").textContent.includes("· 3 of 5")`)
	if got := eval[int](b, `document.querySelectorAll(".card").length`); got != 3 {
		t.Errorf("%d cards", got)
	}
	b.quiet()
}

func storyCounts(t *testing.T, b *tab) {
	b.wait(`"connected" in document.body.dataset`)
	count := `[...document.querySelectorAll(".col")].map((c) => c.dataset.col + " " + c.querySelector(".n").textContent).join()`
	for _, news := range []struct{ first, second, want string }{
		{`{working: 2, pending: 1}`, `{working: 3}`, "pending 0,working 3,reviewing 0,done 0,cancelled 0"},
		{`{working: 2, pending: 1}`, `{}`, "pending 0,working 0,reviewing 0,done 0,cancelled 0"},
	} {
		b.wait(`(() => { // again, because the first news of the server may come in between
			const shown = ` + count + ` === "` + news.want + `";
			for (const counts of [` + news.first + `, ` + news.second + `]) document.dispatchEvent(new CustomEvent("orange:board", {detail: {row: 5, counts}}));
			return shown;
		})()`)
	}
	b.quiet()
}

func storyEnd(t *testing.T, b *tab) {
	b.wait(`"connected" in document.body.dataset`)
	b.wait(`document.getElementById("t-` + reviewingTask + `").dataset.m.includes("cancelled")`)
	b.drag("#t-"+reviewingTask+" .t", `[data-col="done"] h2`, true)
	b.wait(`document.getElementById("ask").open && document.querySelector("#ask details[data-to=done]").open`)
	b.shot("ask-end")
	if heard := b.env.backend.last(); heard.Kind != "" {
		t.Errorf("the server heard %+v", heard)
	}
	if eval[bool](b, `document.querySelector("#ask details[data-to=cancelled]").open`) {
		t.Error("the other question is open, too")
	}
	eval[bool](b, `document.querySelector('#ask button[value="move:done"]').click(), true`)
	b.wait(`!document.getElementById("ask").open && !document.getElementById("t-` + reviewingTask + `")`)
	if got := b.env.backend.last(); got.To != "done" {
		t.Errorf("the server heard %+v", got)
	}
	b.quiet()
}

func storyReload(t *testing.T, b *tab) {
	b.wait(`"connected" in document.body.dataset`)
	eval[bool](b, "window.notReloaded = true")
	b.env.backend.CutRows(2) // the journal is another one
	addr := b.env.addr
	b.env.shut()
	b.env.open(t, addr)
	b.wait(`!window.notReloaded && document.body.dataset.row === "2" && "connected" in document.body.dataset`)
	b.quiet("net::ERR_")
}

// hide lets a page believe that it is seen or not.
func (b *tab) hide(hidden bool) {
	b.t.Helper()
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
	b.wait(`"connected" in document.body.dataset`)
	b.hide(true)
	b.wait(`!("connected" in document.body.dataset)`)
	b.env.backend.Change(pendingTask, func(t *task.Task) { t.Summary = "meanwhile" })
	b.hide(false)
	b.wait(`document.querySelector("#t-` + pendingTask + ` .t").textContent === "meanwhile"`)
	if !eval[bool](b, `document.getElementById("lost").hidden`) {
		t.Error("it is said that the connection is lost")
	}
	b.quiet()
}

func storyEmptyColumn(t *testing.T, b *tab) {
	for _, width := range []int64{1280, 1000} {
		b.size(width, 800)
		got := eval[[]string](b, `(() => {
			const out = [], col = [...document.querySelectorAll(".col")].pop();
			for (const name of ["clarification", "implementing", "needs-attention", "planning-review"]) {
				col.classList.add("empty");
				col.querySelector("h2").firstChild.data = name + " ";
				const range = document.createRange();
				range.selectNodeContents(col.querySelector("h2").firstChild);
				const words = name.split("-").length;
				if (new Set([...range.getClientRects()].map((r) => r.top)).size > words) out.push(name);
			}
			return out;
		})()`)
		if len(got) > 0 {
			t.Errorf("at %d: words are broken: %q", width, got)
		}
	}
	b.shot("empty-column")
}

func storyOver(t *testing.T, b *tab) {
	b.open("/?scope=all")
	b.wait(`"connected" in document.body.dataset`)
	b.env.backend.Change(reviewingTask, func(t *task.Task) {
		t.Status = "done"
	})
	b.wait(inColumn(reviewingTask, "done"))
	b.quiet()
}
