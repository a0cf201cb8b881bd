package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/verify"
	"orange/internal/core/verifytest"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

const (
	maxVerify       = 10 * time.Second
	maxStages       = 30 * time.Second // with three persistent roles
	maxVerifyMemory = 512 << 20
	minDecideShare  = 0.5
)

// generated are the workflows that show how a search grows: with states, and with roles whose agents live on while
// others work.
var generated = [...]struct {
	name               string
	stages, persistent int
}{
	{"20 states", 15, 0}, {"50 states", 45, 0},
	{"8 stages, 1 persistent role", 8, 1}, {"8 stages, 2 persistent roles", 8, 2}, {"8 stages, 3 persistent roles", 8, 3},
}

// measureVerifications measures the search of every built-in workflow, and of some generated ones.
func measureVerifications(r *report, _ string) error {
	for _, name := range builtin.Names() {
		text, _ := builtin.Text(name)
		def, err := workflow.Parse(name+".yaml", text)
		if err != nil {
			return err
		}
		measureVerify(r, def, name, maxVerify)
		measureShare(r, def)
	}
	for _, g := range generated {
		def, err := verifytest.StagesWorkflow(g.stages, g.persistent)
		if err != nil {
			return err
		}
		measureVerify(r, def, g.name, maxStages)
	}
	return nil
}

// measureVerify measures the time and the memory of a search on all cores, as users run it.
func measureVerify(r *report, def *workflow.Definition, name string, limit time.Duration) {
	defer debug.SetGCPercent(debug.SetGCPercent(verify.GCPercent))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(verify.MemoryLimit))
	debug.FreeOSMemory()
	var after runtime.MemStats
	cores := runtime.GOMAXPROCS(0)
	begin := time.Now()
	found := verify.Verify(def, verify.SearchOptions{Workers: cores, Share: func(parts int, work func(int)) {
		var all sync.WaitGroup
		for part := range parts {
			all.Go(func() { work(part) })
		}
		all.Wait()
	}})
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	held := after.Sys - after.HeapReleased
	r.addFigure(figure{
		Name: "verify " + name, Measured: fmt.Sprintf("%.1f s", took.Seconds()), Target: fmt.Sprintf("under %.0f s", limit.Seconds()), Met: took < limit && found.OK,
		Note: fmt.Sprintf("%d states, %s states/s, %s decisions/s, %d cores", found.States, formatThousands(perSecond(found.States, took)), formatThousands(perSecond(found.Decisions, took)), cores),
	})
	r.addFigure(figure{
		Name: "verify " + name + ", memory", Measured: fmt.Sprintf("%d MB", held>>20), Target: fmt.Sprintf("under %d MB", maxVerifyMemory>>20), Met: held < maxVerifyMemory,
		Note: fmt.Sprintf("all that the process holds, of it %d MB in use after the search", after.HeapInuse>>20),
	})
}

// measureShare measures a search on one core with a clock around every decision.
func measureShare(r *report, def *workflow.Definition) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	share := decideShare(def)
	f := figure{
		Name: "verify " + def.Name + ", time in Decide", Measured: fmt.Sprintf("%.2f", share),
		Note: "measured around every call, with the cost of the clock taken off, one core",
	}
	if strings.HasPrefix(def.Name, builtin.Default) { // the engine's own workflows: others spend more time outside it
		f.Target, f.Met = fmt.Sprintf("at least %.1f", minDecideShare), share >= minDecideShare
	}
	r.addFigure(f)
}

// decideShare returns the share of a search that is spent in the engine.
func decideShare(def *workflow.Definition) float64 {
	var inside time.Duration
	calls := 0
	timed := func(d *workflow.Definition, t *task.Task, sig signal.Signal) engine.Decision {
		begin := time.Now()
		out := engine.Decide(d, t, sig)
		inside += time.Since(begin)
		calls++
		return out
	}
	begin := time.Now()
	verify.Verify(def, verify.SearchOptions{Decide: timed})
	total := time.Since(begin)
	clock := clockCost()
	return (inside - time.Duration(calls)*clock).Seconds() / (total - 2*time.Duration(calls)*clock).Seconds()
}

// clockCost returns the duration of one reading of the clock.
func clockCost() time.Duration {
	const n = 100_000
	begin := time.Now()
	for range n {
		_ = time.Now()
	}
	return time.Since(begin) / n
}
