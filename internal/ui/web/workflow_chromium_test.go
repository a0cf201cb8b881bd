package web_test

import (
	"math"
	"testing"

	"github.com/chromedp/chromedp"

	"orange/internal/testbrowser"
)

func TestWorkflowInABrowser(t *testing.T) {
	s := newTaskBackend(t)
	b := newTab(t, testbrowser.Start(t), s.open(false))
	b.open("/workflows")
	b.Do(chromedp.Click(chromedp.CSS(`main th a`)))
	b.Wait(`document.querySelector("svg.drawing")`)
	eval[bool](b, "window.notReloaded = true")
	b.Do(chromedp.Click(chromedp.CSS("#verify button")))
	b.Wait(`document.querySelector("#verify-report").textContent.includes("Every property holds.")`)
	b.Do(chromedp.Click(chromedp.CSS("#simulate button")))
	b.Wait(`document.querySelector("#simulate-result svg.chart")`)
	b.Wait(`document.querySelector("#simulate .long").textContent === ""`)
	if got := eval[string](b, `getComputedStyle(document.querySelector(".plot-curve")).fill`); got != "none" {
		t.Errorf("the plots have no look: %s", got)
	}
	if !eval[bool](b, "window.notReloaded === true") {
		t.Error("the page was loaded again")
	}
	eval[any](b, `document.querySelector("#runs").value = "0"; document.querySelector("#simulate form").noValidate = true`)
	b.Do(chromedp.Click(chromedp.CSS("#simulate button")))
	b.Wait(`document.querySelector("#simulate .answer").textContent.includes("the number of tasks is out of range")`)
	b.Wait(`document.querySelector("#simulate .long").textContent === ""`)
	width := `document.querySelector("svg.drawing").getBoundingClientRect().width`
	before := eval[float64](b, width)
	b.Click(`[data-zoom="1"]`)
	b.Wait(`document.querySelector(".zoom output").textContent === "150 %"`)
	if after := eval[float64](b, width); math.Abs(after-1.5*before) > 1 {
		t.Errorf("the drawing was %.0f pixels wide, and is %.0f", before, after)
	}
	b.Shot("workflow-larger")
	b.Click(`[data-zoom="0"]`)
	b.Wait(`document.querySelector(".zoom output").textContent === "100 %"`)
	if after := eval[float64](b, width); after != before {
		t.Errorf("the drawing was %.0f pixels wide, and is %.0f after a reset", before, after)
	}
	b.Do(chromedp.Click(chromedp.CSS(`svg.drawing a[href="#state-reviewing"]`)))
	b.Wait(`location.hash === "#state-reviewing"`)
	b.Shot("workflow-verified")
	b.Quiet("400")
}
