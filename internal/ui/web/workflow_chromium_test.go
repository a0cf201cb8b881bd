package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

func TestWorkflowInABrowser(t *testing.T) {
	s := newTaskBackend(t)
	b := newTab(t, chromium(t), s.open(false))
	b.open("/workflows")
	b.do(chromedp.Click(chromedp.CSS(`main th a`)))
	b.wait(`document.querySelector("svg.drawing")`)
	eval[bool](b, "window.notReloaded = true")
	b.do(chromedp.Click(chromedp.CSS("#verify button")))
	b.wait(`document.querySelector("#verify-report").textContent.includes("Every property holds.")`)
	b.do(chromedp.Click(chromedp.CSS("#simulate button")))
	b.wait(`document.querySelector("#simulate-result svg.chart")`)
	b.wait(`document.querySelector("#simulate .long").textContent === ""`)
	if got := eval[string](b, `getComputedStyle(document.querySelector(".plot-curve")).fill`); got != "none" {
		t.Errorf("the plots have no look: %s", got)
	}
	if !eval[bool](b, "window.notReloaded === true") {
		t.Error("the page was loaded again")
	}
	eval[any](b, `document.querySelector("#runs").value = "0"; document.querySelector("#simulate form").noValidate = true`)
	b.do(chromedp.Click(chromedp.CSS("#simulate button")))
	b.wait(`document.querySelector("#simulate .answer").textContent.includes("the number of tasks is out of range")`)
	b.wait(`document.querySelector("#simulate .long").textContent === ""`)
	b.do(chromedp.Click(chromedp.CSS(`svg.drawing a[href="#state-reviewing"]`)))
	b.wait(`location.hash === "#state-reviewing"`)
	b.shot("workflow-verified")
	b.quiet("400")
}
