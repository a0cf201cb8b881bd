package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"orange/internal/testbrowser"
)

// tab is a tab of a browser that shows pages of a site.
type tab struct {
	*testbrowser.Tab
	env *env
}

// newTab opens a tab and signs in.
func newTab(t *testing.T, browser testbrowser.Browser, h *env) *tab {
	t.Helper()
	b := &tab{browser.NewTab(t), h}
	b.open("/?token=" + token)
	return b
}

func (b *tab) open(path string) { b.Do(chromedp.Navigate("http://" + b.env.addr + path)) }

func eval[T any](b *tab, expression string) T { return testbrowser.Eval[T](b.Tab, expression) }
