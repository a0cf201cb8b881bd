package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"orange/internal/core/journal"
	"orange/internal/core/simulate"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// batch is how many runs a worker plays between two looks at the rest of the world.
const batch = 200

// playRuns shares the runs out among all cores. The result does not depend on how
// many there are.
func playRuns(ctx context.Context, def *workflow.Definition, o simulate.Options, runs int, played func(int)) (simulate.Result, error) {
	batches := (runs + batch - 1) / batch
	results, errs := make([]simulate.Result, batches), make([]error, batches)
	done := make(chan int, batches)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), batches) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= batches {
					return
				}
				n := min(batch, runs-i*batch)
				results[i], errs[i] = simulate.Run(def, o, i*batch, n)
				done <- n
			}
		})
	}
	go func() {
		workers.Wait()
		close(done)
	}()
	for n := range done {
		played(n)
	}
	if err := ctx.Err(); err != nil {
		return simulate.Result{}, err
	}
	var all simulate.Result
	for i := range results {
		if errs[i] != nil {
			return simulate.Result{}, errs[i]
		}
		all.Merge(results[i])
	}
	return all, nil
}

// progressBar shows a person how far something has come. A zero one shows nothing.
type progressBar struct {
	w         io.Writer
	all, done int
	shown     int // percent
}

const barWidth = 40

func (b *progressBar) add(n int) {
	if b.w == nil {
		return
	}
	b.done += n
	percent := 100 * b.done / b.all
	if percent == b.shown {
		return
	}
	b.shown = percent
	full := barWidth * b.done / b.all
	fmt.Fprintf(b.w, "\r[%s%s] %3d %%", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), percent)
}

func (b *progressBar) clear() {
	if b.w != nil {
		fmt.Fprintf(b.w, "\r%s\r", strings.Repeat(" ", barWidth+8))
	}
}

// learnHere reads what the journals of this installation say about the workflow.
func learnHere(cmd *cobra.Command, deps Deps, def *workflow.Definition, base simulate.Profile) (simulate.Learned, error) {
	if deps.ConfigErr != nil {
		return simulate.Learned{}, deps.ConfigErr
	}
	var out simulate.Learned
	err := withServer(deps, func(ctx context.Context, s session, _ []string) error {
		tasks, err := s.TaskList(ctx, task.Filter{All: true})
		if err != nil {
			return err
		}
		var journals [][]journal.Entry
		for i := range tasks {
			if tasks[i].Workflow != def.Name {
				continue
			}
			entries, err := s.Journal(ctx, string(tasks[i].ID), 0)
			if err != nil {
				return err
			}
			journals = append(journals, entries)
		}
		out = simulate.Learn(def, base, journals)
		return nil
	})(cmd, nil)
	return out, err
}
