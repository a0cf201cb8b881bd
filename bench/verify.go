package main

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/verify"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

const (
	maxVerify       = 10 * time.Second
	maxVerifyMemory = 512 << 20
	minDecideShare  = 0.5
)

// verifications measures the search of every built-in workflow, on one core.
func verifications(r *report, _ string) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, name := range builtin.Names() {
		text, _ := builtin.Text(name)
		def, err := workflow.Parse(name+".yaml", text)
		if err != nil {
			return err
		}
		measureVerify(r, def)
	}
	return nil
}

// measureVerify searches twice: once as users do, for the time and the memory, and
// once with a clock around every decision, for their share.
func measureVerify(r *report, def *workflow.Definition) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	found := verify.Verify(def, verify.Options{})
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	r.add(figure{
		Name: "verify " + def.Name, Measured: fmt.Sprintf("%.1f s", took.Seconds()), Target: fmt.Sprintf("under %.0f s", maxVerify.Seconds()), Met: took < maxVerify && found.OK,
		Note: fmt.Sprintf("%d states, %s states/s, %s decisions/s, one core", found.States, thousands(perSecond(found.States, took)), thousands(perSecond(found.Decisions, took))),
	})
	r.add(figure{
		Name: "verify " + def.Name + ", memory", Measured: fmt.Sprintf("%d MB", after.Sys>>20), Target: fmt.Sprintf("under %d MB", maxVerifyMemory>>20), Met: after.Sys < maxVerifyMemory,
		Note: fmt.Sprintf("all that the process holds, of it %d MB in use after the search", after.HeapInuse>>20),
	})
	share := decideShare(def)
	f := figure{
		Name: "verify " + def.Name + ", time in Decide", Measured: fmt.Sprintf("%.2f", share),
		Note: "measured around every call, with the cost of the clock taken off",
	}
	if strings.HasPrefix(def.Name, builtin.Default) { // the engine's own workflows: others weigh more outside of it
		f.Target, f.Met = fmt.Sprintf("at least %.1f", minDecideShare), share >= minDecideShare
	}
	r.add(f)
}

// decideShare is how much of a search is spent in the engine.
func decideShare(def *workflow.Definition) float64 {
	var inside time.Duration
	calls := 0
	timed := func(d *workflow.Definition, t task.Task, sig signal.Signal) engine.Decision {
		begin := time.Now()
		out := engine.Decide(d, t, sig)
		inside += time.Since(begin)
		calls++
		return out
	}
	begin := time.Now()
	verify.Verify(def, verify.Options{Decide: timed})
	total := time.Since(begin)
	clock := clockCost()
	return (inside - time.Duration(calls)*clock).Seconds() / (total - 2*time.Duration(calls)*clock).Seconds()
}

// clockCost is what one reading of the clock takes.
func clockCost() time.Duration {
	const n = 100_000
	begin := time.Now()
	for range n {
		_ = time.Now()
	}
	return time.Since(begin) / n
}
