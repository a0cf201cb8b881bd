// Package selftest shows on the user's own machine that nothing is lost: it walks a task
// through its workflow repeatedly, kills the server (really) at the next commit or effect
// boundary each time, removes its socket and server.lock once on the way, and compares the
// result with an undisturbed walk; and it damages the workspaces of agents that work. It drives
// the program from outside, like a client.
package selftest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"orange/internal/core/workflow"
)

// CrashOptions control a self-test.
type CrashOptions struct {
	Program  string               // the orange binary
	Dir      string               // an empty folder to work in
	Workflow *workflow.Definition // the workflow of the task
	Parallel int                  // concurrent walks, at least 1
	Limit    int                  // limit of crash points; 0 for all
	Progress func(tried int)      // called after every crash point; may be nil
}

// A CrashReport is the result of a self-test.
type CrashReport struct {
	Workflow    string   `json:"workflow"`
	Path        []string `json:"path"`             // the states of the walk
	Entries     int      `json:"entries"`          // in the undisturbed journal
	Effects     int      `json:"effects"`          // done in the undisturbed walk
	Points      int      `json:"points"`           // crash points tried
	CheckPoints int      `json:"check_points"`     // crash points tried around a check that really runs
	Faults      []string `json:"faults,omitempty"` // what was done to workspaces and servers while agents worked
	Divergences []string `json:"divergences"`      // differences from the walk without a crash
}

// RunCrashes kills the server at its first boundary, its second, and so on, each time in a
// separate walk, until a walk ends before the boundary is reached.
func RunCrashes(ctx context.Context, o CrashOptions) (CrashReport, error) {
	baseline, err := o.runWalk(ctx, 0)
	if err != nil {
		return CrashReport{}, fmt.Errorf("the undisturbed walk: %w", err)
	}
	report := CrashReport{Workflow: o.Workflow.Name, Path: baseline.path, Entries: len(baseline.journal), Effects: len(baseline.effects), Divergences: []string{}}
	s := &sweep{o: o, baseline: baseline, report: &report}
	var wait sync.WaitGroup
	for range max(o.Parallel, 1) {
		wait.Go(func() { s.runWalks(ctx) })
	}
	wait.Wait()
	return report, errors.Join(s.errs...)
}

// sweep distributes crash points to the concurrent walks.
type sweep struct {
	o        CrashOptions
	baseline result
	report   *CrashReport

	mu   sync.Mutex
	next int
	over bool
	errs []error
}

func (s *sweep) runWalks(ctx context.Context) {
	for {
		point, ok := s.takePoint()
		if !ok || ctx.Err() != nil {
			return
		}
		got, err := s.o.runWalk(ctx, point)
		s.recordWalk(point, got, err)
	}
}

func (s *sweep) takePoint() (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || len(s.errs) > 0 || s.o.Limit > 0 && s.next >= s.o.Limit {
		return 0, false
	}
	s.next++
	return s.next, true
}

func (s *sweep) recordWalk(point int, got result, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil:
		s.errs = append(s.errs, fmt.Errorf("crash point %d: %w", point, err))
		return
	case !got.crashed:
		s.over = true
		return
	}
	s.report.Points++
	for _, d := range compareResults(s.baseline, got) {
		s.report.Divergences = append(s.report.Divergences, fmt.Sprintf("crash point %d: %s", point, d))
	}
	if s.o.Progress != nil {
		s.o.Progress(s.report.Points)
	}
}

// runWalk plays the whole lifecycle once, in a separate folder.
func (o CrashOptions) runWalk(ctx context.Context, crashAt int) (result, error) {
	dir, err := os.MkdirTemp(o.Dir, fmt.Sprintf("walk-%d-", crashAt))
	if err != nil {
		return result{}, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder of ours in a folder of the caller's
	w := &walker{
		def: o.Workflow.ForTask(nil), dir: dir, repo: filepath.Join(dir, "repo"), home: filepath.Join(dir, "home"),
		server: &process{program: o.Program, home: filepath.Join(dir, "home")},
		taken:  map[string]int{},
	}
	defer w.server.stopServer()
	if err := w.prepareRepository(); err != nil {
		return result{}, err
	}
	if err := w.server.startServer(ctx, crashAt); err != nil {
		return result{}, err
	}
	if err := w.playLifecycle(ctx); err != nil {
		return result{}, err
	}
	return w.gatherResult(ctx)
}
