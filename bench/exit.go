package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"orange/internal/adapter/shim"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/ui/client"
)

const (
	exitRounds = 5
	exitTimes  = 40 // per round; after ten seconds the server may replace them
	maxExit    = 50 * time.Millisecond
)

// measureExits kills agents one after another and measures how long it takes until a client that follows the events
// receives the server's decision. In between it measures a kill without Orange: it kills a child, waits for it, and
// flushes a file.
func measureExits(ctx context.Context, r *report, s *env, dir string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	crashes, err := s.followCrashes(ctx)
	if err != nil {
		return err
	}
	var all, plain samples
	killed := map[task.ID]bool{}
	for range exitRounds {
		living, err := s.awaitAgents(ctx, agentCount)
		if err != nil {
			return err
		}
		if err := awaitIdle(ctx, s.server); err != nil {
			return err
		}
		took, err := alternateRounds(exitTimes,
			func() (time.Duration, error) { return killAgent(ctx, living, killed, crashes) },
			func() (time.Duration, error) { return plainKill(s, dir) })
		if err != nil {
			return err
		}
		all, plain = append(all, took[0]...), append(plain, took[1]...)
	}
	r.addFigure(exitFigure(all, plain))
	return nil
}

func exitFigure(all, plain samples) figure {
	p99 := all.quantile(0.99)
	return figure{
		Name: fmt.Sprintf("agent's exit to server's action, %d attempts, p99", agentCount), Measured: formatMillis(p99), Target: "under " + formatMillis(maxExit), Met: p99 < maxExit,
		Note: fmt.Sprintf("p50 %s, longest %s of %d; a child killed, waited for and written down without Orange: p50 %s, p99 %s",
			formatMillis(all.median()), formatMillis(slices.Max(all)), len(all), formatMillis(plain.median()), formatMillis(plain.quantile(0.99))),
	}
}

// quantile returns the smallest sample that the given share of all samples does not exceed.
func (s samples) quantile(share float64) time.Duration {
	sorted := slices.Sorted(slices.Values(s))
	return sorted[max(int(math.Ceil(share*float64(len(sorted))))-1, 0)]
}

// crash is a reported crash.
type crash struct {
	task task.ID
	at   time.Time
}

// followCrashes follows the events and sends the ends of agents.
func (s *env) followCrashes(ctx context.Context) (<-chan crash, error) {
	out, opened, failed := make(chan crash, 16*agentCount), make(chan struct{}, 1), make(chan error, 1)
	watch := client.EventOptions{Opened: func() error {
		select {
		case opened <- struct{}{}:
		default:
		}
		return nil
	}}
	go func() {
		failed <- s.client.FollowEvents(ctx, watch, func(e client.StreamEvent) error {
			if e.Entry.Type == journal.AgentCrashed || e.Entry.Type == journal.AutoAdvanced && e.Entry.Cause == "exit" {
				out <- crash{e.Entry.Task, time.Now()}
			}
			return nil
		})
	}()
	select {
	case <-opened:
		return out, nil
	case err := <-failed:
		return nil, err
	case <-time.After(serverTimeout):
		return nil, errors.New("the stream of events does not open")
	}
}

// killAgent kills the agent of a task that has not lost one yet.
func killAgent(ctx context.Context, living map[task.ID]shim.Started, killed map[task.ID]bool, crashes <-chan crash) (time.Duration, error) {
	for id, started := range living {
		if killed[id] || !started.Child.Alive() {
			continue
		}
		killed[id] = true
		begin := time.Now()
		if err := syscall.Kill(started.Child.PID, syscall.SIGKILL); err != nil {
			return 0, fmt.Errorf("kill an agent: %w", err)
		}
		for {
			select {
			case c := <-crashes:
				if c.task == id {
					return c.at.Sub(begin), nil
				}
			case <-ctx.Done():
				return 0, ctx.Err()
			case <-time.After(serverTimeout):
				return 0, fmt.Errorf("the end of an agent of task %s is not heard of", id)
			}
		}
	}
	return 0, errors.New("no agent is left to kill")
}

// plainKill measures an exit without Orange.
func plainKill(s *env, dir string) (time.Duration, error) {
	cmd := s.newCommand("sleep", "600")
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := cmd.Process.Kill(); err != nil {
		return 0, err
	}
	_ = cmd.Wait() // it was killed
	if err := writeFlushed(filepath.Join(dir, "exit.json")); err != nil {
		return 0, err
	}
	return time.Since(begin), nil
}

// writeFlushed writes a small file and flushes it to the disk.
func writeFlushed(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".exit-")
	if err != nil {
		return err
	}
	_, err = f.WriteString("{\"code\":137}\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
