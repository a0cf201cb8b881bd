package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// patience is how long a page may take.
const patience = 30 * time.Second

// A size is that of a window, in pixels.
type size struct {
	wide, tall int64
	phone      bool
}

// A camera is a browser that is signed in.
type camera struct {
	ctx  context.Context
	site string
}

// mouse says that there is one, also on a machine without: pages show some things only to those who point at them.
const mouse = "primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"

// openCamera starts a browser and visits the login address. The returned function ends the browser.
func openCamera(login string) (camera, func(), error) {
	address, err := url.Parse(login)
	if err != nil {
		return camera{}, nil, err
	}
	browser, err := exec.LookPath("chromium")
	if err != nil {
		return camera{}, nil, fmt.Errorf("find a browser: %w; run scripts/tools.sh test", err)
	}
	flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.NoSandbox,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("hide-scrollbars", true), chromedp.Flag("blink-settings", mouse))
	ctx, endBrowser := chromedp.NewExecAllocator(context.Background(), flags...)
	ctx, endTab := chromedp.NewContext(ctx)
	c := camera{ctx, address.Scheme + "://" + address.Host}
	err = chromedp.Do(ctx) // starts the browser, which ends with this context
	if err == nil {
		err = c.do(chromedp.Navigate(login), chromedp.WaitReady("main"))
	}
	if err != nil {
		endTab()
		endBrowser()
		return camera{}, nil, err
	}
	return c, func() { endTab(); endBrowser() }, nil
}

func (c camera) do(steps ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(c.ctx, patience)
	defer cancel()
	return chromedp.Do(ctx, steps...)
}

func (c camera) holds(expression string, options ...chromedp.EvaluateOption) (bool, error) {
	ctx, cancel := context.WithTimeout(c.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[bool](expression, options...))
}

// settled is an expression: the page receives what happens, if it is one that does.
const settled = `document.readyState === "complete" && (!document.body.dataset.topic || "connected" in document.body.dataset) &&
	[...document.querySelectorAll("[data-terminal]")].every((t) => "live" in t.dataset)`

// drawn is an expression: the browser has drawn the page twice.
const drawn = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`

// open shows a page of the site, scrolled to the element that a selector names.
func (c camera) open(path string, s size, to string) error {
	var options []chromedp.EmulateViewportOption
	if s.phone {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	if err := c.do(chromedp.EmulateViewport(s.wide, s.tall, options...), chromedp.Navigate(c.site+path), chromedp.WaitReady("main")); err != nil {
		return err
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(patience); ; {
		if yes, err := c.holds(settled); yes || err != nil {
			if err != nil || to == "" {
				return err
			}
			_, err = c.holds(fmt.Sprintf(`(document.querySelector(%q).scrollIntoView({block: "start", behavior: "instant"}), true)`, to))
			return err
		}
		select {
		case <-tick.C:
		case <-late:
			return fmt.Errorf("the page does not become this: %s", settled)
		}
	}
}

// take writes a picture of the page in a theme, light or dark.
func (c camera) take(file, theme string) error {
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}}
	if _, err := chromedp.Call(c.ctx, emulation.SetEmulatedMedia, media); err != nil {
		return err
	}
	if _, err := c.holds(drawn, chromedp.EvalAwaitPromise); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.ctx, patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return err
	}
	return os.WriteFile(file, picture, 0o644)
}
