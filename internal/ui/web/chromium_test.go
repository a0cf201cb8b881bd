package web_test

import (
	"context"
	"os"
	"os/exec"
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

// patience is how long a page has to become what a test waits for.
const patience = 30 * time.Second

// chromium starts a real browser for a test. Where there is none the test is left out,
// unless ORANGE_CHROMIUM says that there is one.
func chromium(t *testing.T) context.Context {
	t.Helper()
	testneeds.Browser(t)
	program, wanted := os.Getenv("ORANGE_CHROMIUM"), os.Getenv("ORANGE_CHROMIUM") != ""
	if !strings.Contains(program, "/") {
		program = ""
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); program == "" && err == nil {
			program = path
		}
	}
	if _, err := os.Stat(program); err != nil {
		if wanted {
			t.Fatalf("ORANGE_CHROMIUM is set, and there is no Chromium at %q", program)
		}
		t.Skip("there is no Chromium: install it to test the pages in a browser")
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.Headless, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("hide-scrollbars", true), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 800))
	t.Cleanup(cancel)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(func() { chromedp.Cancel(ctx); end() }) //nolint:errcheck // it is over
	if err := chromedp.Do(ctx); err != nil {
		if wanted {
			t.Fatalf("Chromium does not start: %v", err)
		}
		t.Skipf("Chromium does not start: %v", err)
	}
	return ctx
}

// tab is a tab of a browser, with cookies of its own.
type tab struct {
	t   *testing.T
	ctx context.Context
	env *env

	mu       sync.Mutex
	messages []string // that a page complains with
}

// newTab opens a tab and signs in.
func newTab(t *testing.T, browser context.Context, h *env) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	b := &tab{t: t, ctx: ctx, env: h}
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
	b.open("/?token=" + token)
	return b
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for _, step := range steps {
		err := chromedp.Do(ctx, step)
		// A page that has just changed may replace a node between the look for it and the use of it.
		for err != nil && strings.Contains(err.Error(), "Could not find node with given id") && ctx.Err() == nil {
			err = chromedp.Do(ctx, step)
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *tab) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate("http://" + b.env.addr + path))
}

func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return out
}

// wait waits until an expression is true. The page's policy forbids that a text is run by
// the page: it is asked from outside.
func (b *tab) wait(expression string) {
	b.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for !b.holds(expression) {
		select {
		case <-tick.C:
		case <-late:
			b.shot("failed")
			b.t.Fatalf("it does not come about: %s\n%s", expression, strings.Join(b.complaints(), "\n"))
		}
	}
}

// holds says whether an expression is true. A page that is just being left says nothing.
func (b *tab) holds(expression string) bool {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	yes, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
	return err == nil && yes
}

func (b *tab) complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.messages...)
}

// quiet fails if a page complained, about its policy or about anything else.
func (b *tab) quiet(but ...string) {
	b.t.Helper()
next:
	for _, m := range b.complaints() {
		for _, known := range but {
			if strings.Contains(m, known) {
				continue next
			}
		}
		b.t.Errorf("the page complains: %s", m)
	}
}

// at is the middle of an element.
func (b *tab) at(selector string) (x, y float64) {
	b.t.Helper()
	p := eval[[]float64](b, `(() => { const e = document.querySelector(`+"`"+selector+"`"+`); e.scrollIntoView({block: "nearest", inline: "nearest"}); const r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + Math.min(r.height / 2, 60)]; })()`)
	return p[0], p[1]
}

// drag moves the mouse from one element to another with its button down.
func (b *tab) drag(from, to string, drop bool) {
	b.t.Helper()
	x0, y0 := b.at(from)
	x1, y1 := b.at(to)
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x0, y0),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, x0, y0, chromedp.ButtonLeft))
	for i := 1.0; i <= 8; i++ {
		b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x0+(x1-x0)*i/8, y0+(y1-y0)*i/8, chromedp.ButtonLeft))
	}
	if drop {
		b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, x1, y1, chromedp.ButtonLeft))
	}
}

// size makes the window so large.
func (b *tab) size(width, height int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height))
}

// media sets a preference of the person, such as dark.
func (b *tab) media(name, value string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: name, Value: value}}})
		return err
	}))
}

// shot keeps a picture as build output.
func (b *tab) shot(name string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	dir := filepath.Join("..", "..", "..", "dist", "screenshots")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "web-"+name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
