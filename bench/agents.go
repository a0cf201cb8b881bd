package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"orange/internal/adapter/shim"
	"orange/internal/core/task"
)

const (
	agentCount      = 200
	maxAgentsCPU    = 0.005 // of one core
	maxAgentsMemory = 60.0  // MB
	maxShimMB       = 10.0
	shimSamples     = 25
)

// measureAgents measures a server with many living attempts: at rest, and when agents end.
func measureAgents(r *report, dir, orange string) (err error) {
	if runtime.GOOS != "linux" {
		r.addFigure(figure{Name: strconv.Itoa(agentCount) + " attempts", Measured: "not measured on " + runtime.GOOS})
		return nil
	}
	// An interrupt must not leave hundreds of processes behind.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := openEnv(ctx, orange, dir, "headless", agentCount)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	for i := range agentCount {
		if _, err := s.createTask(ctx, "agents-"+strconv.Itoa(i+1)); err != nil {
			return err
		}
	}
	all, err := s.awaitAgents(ctx, agentCount)
	if err != nil {
		return err
	}
	if err := measureIdleAgents(ctx, r, s.server, all); err != nil {
		return err
	}
	return measureExits(ctx, r, s, dir)
}

// measureIdleAgents observes the server and the shims while all agents idle.
func measureIdleAgents(ctx context.Context, r *report, server int, all map[task.ID]shim.Started) error {
	var pids []int
	for _, started := range all {
		pids = append(pids, started.Shim.PID)
	}
	if err := awaitIdle(ctx, server); err != nil {
		return err
	}
	before, err := totalCPU(pids)
	if err != nil {
		return err
	}
	seen, err := observeProcess(server)
	if err != nil {
		return err
	}
	after, err := totalCPU(pids)
	if err != nil {
		return err
	}
	addIdleAgents(r, seen)
	return addShims(r, pids[:shimSamples], (after-before)/agentCount)
}

// awaitIdle waits until the server has been idle for a while: the last agents may still report.
func awaitIdle(ctx context.Context, pid int) error {
	var last processStats
	return waitUntil(ctx, "the server sleeps", idleSettle, func() (bool, error) {
		now, err := readProcessStats(pid)
		still := now.cpu-last.cpu <= tick
		last = now
		return still, err
	})
}

// totalCPU returns the total CPU time of processes.
func totalCPU(pids []int) (sum time.Duration, err error) {
	for _, pid := range pids {
		v, err := readProcessStats(pid)
		if err != nil {
			return 0, err
		}
		sum += v.cpu
	}
	return sum, nil
}

func addIdleAgents(r *report, seen observation) {
	name := fmt.Sprintf("%d idle attempts, ", agentCount)
	cpu := seen.cpu().Seconds() / seen.took().Seconds()
	r.addFigure(figure{
		Name: name + "server's CPU", Measured: fmt.Sprintf("%.2f %%", cpu*100), Target: fmt.Sprintf("under %.1f %%", maxAgentsCPU*100), Met: cpu < maxAgentsCPU,
		Note: fmt.Sprintf("of one core, %s in %.0f s; longest time without a wake-up %.1f s", seen.cpu(), seen.took().Seconds(), seen.quiet.Seconds()),
	})
	memory := float64(seen.last.rss) / 1024
	r.addFigure(figure{
		Name: name + "server's memory", Measured: fmt.Sprintf("%.1f MB", memory), Target: fmt.Sprintf("under %.0f MB", maxAgentsMemory), Met: memory < maxAgentsMemory,
		Note: "resident, after it has started them all",
	})
	r.addFigure(figure{
		Name: name + "processes started", Measured: fmt.Sprintf("%.3g/s", float64(seen.started)/seen.took().Seconds()), Target: "0/s", Met: seen.started == 0,
		Note: fmt.Sprintf("%d in %.0f s: children, and page faults of children that are gone", seen.started, seen.took().Seconds()),
	})
}

func addShims(r *report, pids []int, cpu time.Duration) error {
	var pss, rss []int
	for _, pid := range pids {
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "smaps_rollup"))
		if err != nil {
			return fmt.Errorf("look at the memory of a shim, which only root may: %w", err)
		}
		pss, rss = append(pss, statusNumber(text, "Pss:")), append(rss, statusNumber(text, "Rss:"))
	}
	slices.Sort(pss)
	slices.Sort(rss)
	memory := float64(pss[len(pss)/2]) / 1024
	r.addFigure(figure{
		Name: "shim of an idle attempt, memory", Measured: fmt.Sprintf("%.1f MB", memory), Target: fmt.Sprintf("under %.0f MB", maxShimMB), Met: memory < maxShimMB,
		Note: fmt.Sprintf("proportional share (PSS), median of %d; resident %.1f MB; %s of CPU time each in %s, mean of %d",
			len(pss), float64(rss[len(rss)/2])/1024, formatMillis(cpu), restTime, agentCount),
	})
	return nil
}
