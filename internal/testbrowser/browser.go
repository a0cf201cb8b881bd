// Package testbrowser drives a real Chromium in tests: it opens pages, clicks, drags and types, takes pictures, and
// fails a test if a page complains.
package testbrowser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"orange/internal/testneeds"
)

// Patience is how long a page has to become what a test waits for.
const Patience = 90 * time.Second

// Browser is a running Chromium.
type Browser struct{ ctx context.Context }

// Start starts a browser for a test, which is skipped where there is none.
func Start(t testing.TB) Browser {
	t.Helper()
	program := testneeds.Browser(t)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.Headless, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("hide-scrollbars", true), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 800))
	t.Cleanup(cancel)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(func() { chromedp.Cancel(ctx); end() }) //nolint:errcheck // it is over
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("Chromium does not start: %v", err)
	}
	return Browser{ctx}
}

// Tab is a tab of a browser, with cookies of its own.
type Tab struct {
	T   testing.TB
	ctx context.Context

	mu       sync.Mutex
	messages []string // complaints of a page
}

// NewTab opens an empty tab.
func (browser Browser) NewTab(t testing.TB) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser.ctx, chromedp.WithNewBrowserContext())
	b := &Tab{T: t, ctx: ctx}
	ended := make(chan struct{})
	t.Cleanup(func() { cancel(); <-ended })
	messages := chromedp.Console(ctx)
	go func() {
		defer close(ended)
		for m, err := range messages {
			if err != nil {
				return
			}
			b.mu.Lock()
			b.messages = append(b.messages, string(m.Type)+": "+m.Text+" "+m.URL)
			b.mu.Unlock()
		}
	}()
	return b
}

// Do performs steps.
func (b *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, Patience)
	defer cancel()
	for _, step := range steps {
		err := chromedp.Do(ctx, step)
		// A page that has just changed may replace a node between the look for it and the use of it.
		for err != nil && strings.Contains(err.Error(), "Could not find node with given id") && ctx.Err() == nil {
			err = chromedp.Do(ctx, step)
		}
		if err != nil {
			b.T.Fatal(err)
		}
	}
}

// Eval returns the value of an expression.
func Eval[T any](b *Tab, expression string) T {
	b.T.Helper()
	return Run(b, chromedp.Evaluate[T](expression))
}

// Run returns the result of an action.
func Run[T any](b *Tab, action chromedp.Action[T]) T {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, Patience)
	defer cancel()
	out, err := chromedp.Run(ctx, action)
	if err != nil {
		b.T.Fatal(err)
	}
	return out
}

// Wait waits until an expression is true. The policy of a page forbids that the page runs a text, so the browser is
// asked from outside.
func (b *Tab) Wait(expression string) {
	b.T.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(Patience)
	for !b.Holds(expression) {
		select {
		case <-tick.C:
		case <-late:
			b.Shot("failed")
			b.T.Fatalf("it does not come about: %s\n%s", expression, strings.Join(b.complaints(), "\n"))
		}
	}
}

// Holds reports whether an expression is true. It is not on a page that is just being left.
func (b *Tab) Holds(expression string) bool {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, Patience)
	defer cancel()
	yes, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
	return err == nil && yes
}

func (b *Tab) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.messages...)
}

// Quiet fails if a page complained about its policy, a request or anything else, except about what is listed.
func (b *Tab) Quiet(except ...string) {
	b.T.Helper()
next:
	for _, m := range b.complaints() {
		for _, known := range except {
			if strings.Contains(m, known) {
				continue next
			}
		}
		b.T.Errorf("the page complains: %s", m)
	}
}

// middle is a function that scrolls an element into view and returns its middle.
const middle = `(e) => { e.scrollIntoView({block: "nearest", inline: "nearest"}); const r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + Math.min(r.height / 2, 60)]; }`

// At returns the middle of an element, which is scrolled into view.
func (b *Tab) At(selector string) (x, y float64) {
	b.T.Helper()
	p := Eval[[]float64](b, fmt.Sprintf("(%s)(document.querySelector(%q))", middle, selector))
	return p[0], p[1]
}

// Click waits until the page is loaded and an element can be seen and is covered by no other, and clicks it with the
// mouse. Before its styles are loaded, a page has its elements elsewhere.
func (b *Tab) Click(selector string) {
	b.T.Helper()
	b.Wait(fmt.Sprintf(`document.readyState === "complete" && ((e) => e?.getClientRects().length && e.contains(document.elementFromPoint(...(%s)(e))))(document.querySelector(%q))`, middle, selector))
	x, y := b.At(selector)
	b.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y), chromedp.MouseClickXY(x, y))
}

// Drag moves the mouse from one element to another with its button down.
func (b *Tab) Drag(from, to string, drop bool) {
	b.T.Helper()
	x0, y0 := b.At(from)
	x1, y1 := b.At(to)
	b.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x0, y0),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, x0, y0, chromedp.ButtonLeft))
	for i := 1.0; i <= 8; i++ {
		b.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x0+(x1-x0)*i/8, y0+(y1-y0)*i/8, chromedp.ButtonLeft))
	}
	if drop {
		b.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, x1, y1, chromedp.ButtonLeft))
	}
}

// Size makes the window so large.
func (b *Tab) Size(width, height int64) {
	b.T.Helper()
	b.Do(chromedp.EmulateViewport(width, height))
}

// Media sets a preference of the person, such as dark.
func (b *Tab) Media(name, value string) {
	b.T.Helper()
	b.Do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: name, Value: value}}})
		return err
	}))
}

// Shot writes a picture to dist/screenshots if pictures are wanted.
func (b *Tab) Shot(name string) {
	b.T.Helper()
	if !testneeds.WantsPictures() {
		return
	}
	dir := filepath.Join(projectFolder(b.T), "dist", "screenshots")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "web-"+name+".png"), Run(b, chromedp.CaptureScreenshot()), 0o644); err != nil {
		b.T.Fatal(err)
	}
}

// projectFolder returns the folder above a test's that has the file go.mod.
func projectFolder(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			err = fmt.Errorf("no folder above has a file go.mod")
			break
		}
		dir = filepath.Dir(dir)
	}
	t.Fatalf("find the project: %v", err)
	return ""
}
