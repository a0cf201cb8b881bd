package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"github.com/chromedp/chromedp"
)

const (
	paintRounds  = 7
	maxPaint     = 300 * time.Millisecond
	maxTaskPaint = 500 * time.Millisecond
)

// measurePage measures the page of a task and the board in a real browser.
func (g *displayEnv) measurePage(ctx context.Context, r *report) error {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		return fmt.Errorf("find a browser: %w; run scripts/tools.sh test", err)
	}
	where, err := g.client.OpenPage(ctx)
	if err != nil {
		return fmt.Errorf("open the page: %w", err)
	}
	flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.NoSandbox,
		chromedp.Flag("disable-background-networking", true), chromedp.WindowSize(1280, 800))
	ctx, cancel := chromedp.NewExecAllocator(ctx, flags...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(where.Login), chromedp.WaitReady("main")); err != nil {
		return fmt.Errorf("open the page in the browser: %w", err)
	}
	if err := measurePaint(ctx, r, where.URL+"/tasks/"+string(g.large)+"?tab=changes", fmt.Sprintf("task page, %d changed lines", changedLines), maxTaskPaint); err != nil {
		return err
	}
	if err := measurePaint(ctx, r, where.URL, "web board, 1,000 tasks", maxPaint); err != nil {
		return err
	}
	return g.measureLive(ctx, r)
}

// firstPaint is the time of the first paint, in milliseconds after the request.
const firstPaint = `new Promise(done => {
	const look = () => {
		const p = performance.getEntriesByName("first-contentful-paint")[0];
		p ? done(p.startTime) : setTimeout(look, 5);
	};
	look();
})`

// measurePaint loads a page repeatedly.
func measurePaint(ctx context.Context, r *report, address, what string, most time.Duration) error {
	var took, ready []time.Duration
	for range paintRounds {
		if err := chromedp.Do(ctx, chromedp.Navigate(address), chromedp.WaitReady("main")); err != nil {
			return fmt.Errorf("load the %s: %w", what, err)
		}
		first, err := chromedp.Run(ctx, chromedp.Evaluate[float64](firstPaint, chromedp.EvalAwaitPromise))
		if err != nil {
			return fmt.Errorf("ask for the first paint: %w", err)
		}
		whole, err := chromedp.Run(ctx, chromedp.Evaluate[float64](`performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`))
		if err != nil {
			return fmt.Errorf("ask when the document was there: %w", err)
		}
		took = append(took, time.Duration(first*float64(time.Millisecond)))
		ready = append(ready, time.Duration(whole*float64(time.Millisecond)))
	}
	slices.Sort(took)
	slices.Sort(ready)
	median := took[len(took)/2]
	r.addFigure(figure{
		Name: "first paint of the " + what, Measured: formatMillis(median), Target: "under " + formatMillis(most), Met: median < most,
		Note: fmt.Sprintf("first contentful paint in Chromium, median of %d, from %s to %s; whole document %s", len(took), formatMillis(took[0]), formatMillis(took[len(took)-1]), formatMillis(ready[len(ready)/2])),
	})
	return nil
}

// measureLive changes a task and observes the page.
func (g *displayEnv) measureLive(ctx context.Context, r *report) error {
	var took []time.Duration
	for round := range seenRounds {
		text := freshSummary(round + 7)
		wait := fmt.Sprintf(`new Promise(done => {
			const has = () => document.querySelector("main").textContent.includes(%q);
			const o = new MutationObserver(() => { if (has()) { o.disconnect(); requestAnimationFrame(() => done(Date.now())) } });
			o.observe(document.querySelector("main"), {subtree: true, childList: true, characterData: true});
			window.watching = true;
		})`, text)
		type result struct {
			at  float64
			err error
		}
		seen := make(chan result, 1)
		go func() {
			at, err := chromedp.Run(ctx, chromedp.Evaluate[float64](wait, chromedp.EvalAwaitPromise))
			seen <- result{at, err}
		}()
		time.Sleep(150 * time.Millisecond) // until it watches, and is idle
		began, err := g.renameTask(ctx, text)
		if err != nil {
			return err
		}
		got := <-seen
		if got.err != nil {
			return fmt.Errorf("the page does not show a change: %w", got.err)
		}
		took = append(took, time.UnixMilli(int64(got.at)).Sub(began))
	}
	slices.Sort(took)
	p95 := took[len(took)*95/100]
	r.addFigure(figure{
		Name: "event to the web page's screen, 1,000 tasks, p95", Measured: formatMillis(p95), Target: "under " + formatMillis(maxSeen), Met: p95 < maxSeen,
		Note: fmt.Sprintf("from before the request to the frame after the change of the document; median %s of %d", formatMillis(took[len(took)/2]), len(took)),
	})
	return nil
}
