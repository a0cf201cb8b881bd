package main

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// capturePage returns a screenshot of a page in a browser that has visited the login address.
func capturePage(login, path string, options []string) ([]byte, error) {
	address, err := url.Parse(login)
	if err != nil {
		return nil, err
	}
	page := address.Scheme + "://" + address.Host + path
	wide, tall, dark, to := int64(1280), int64(800), false, ""
	for _, w := range options {
		var x, y int64
		switch n, _ := fmt.Sscanf(w, "%dx%d", &x, &y); {
		case n == 2:
			wide, tall = x, y
		case w == "dark":
			dark = true
		default:
			to = w
		}
	}
	browser, err := exec.LookPath("chromium")
	if err != nil {
		return nil, fmt.Errorf("find a browser: %w; run scripts/tools.sh test", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.NoSandbox,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("hide-scrollbars", true))
	ctx, cancel = chromedp.NewExecAllocator(ctx, flags...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(wide, tall)); err != nil {
		return nil, err
	}
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		return nil, err
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(login), chromedp.WaitReady("main"), chromedp.Navigate(page), chromedp.WaitReady("main")); err != nil {
		return nil, err
	}
	if to != "" {
		if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf(`(document.querySelector(%q).scrollIntoView({block: "start", behavior: "instant"}), true)`, to))); err != nil {
			return nil, err
		}
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`new Promise(done => setTimeout(() => done(true), 400))`, chromedp.EvalAwaitPromise)); err != nil {
		return nil, err
	}
	return chromedp.Run(ctx, chromedp.CaptureScreenshot())
}
