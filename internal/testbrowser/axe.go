package testbrowser

import (
	"os"
	"path/filepath"

	"github.com/chromedp/chromedp"

	"orange/internal/testneeds"
)

// findings is an expression: a line for each element of the page that breaks a rule of axe. Transitions are ended
// first, because axe measures contrast as it is at that moment.
const findings = `(async () => {
	for (const a of document.getAnimations()) { try { a.finish(); } catch { a.cancel(); } }
	const found = await axe.run(document, {resultTypes: ["violations"]});
	return found.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.target.join(" ") + ": " + n.failureSummary.replace(/\s+/g, " ")));
})()`

// Axe fails a test for everything on the page that axe, a checker of accessibility, finds wrong. Where axe is not
// installed, the test is skipped.
func (b *Tab) Axe(what string) {
	b.T.Helper()
	script, err := os.ReadFile(filepath.Join(testneeds.NPM(b.T, "axe-core"), "axe.min.js"))
	if err != nil {
		b.T.Fatal(err)
	}
	if !b.Holds(`window.axe`) {
		Eval[bool](b, string(script)+"\n;true")
	}
	for _, finding := range Run(b, chromedp.Evaluate[[]string](findings, chromedp.EvalAwaitPromise)) {
		b.T.Errorf("%s: %s", what, finding)
	}
}
