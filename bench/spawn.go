package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"orange/internal/adapter/shim"
	sig "orange/internal/core/signal"
	"orange/internal/core/task"
)

const (
	spawnRounds = 25
	maxSpawn    = 150 * time.Millisecond
)

// measureSpawns measures the time from the request for a task until its agent runs in a terminal, in a workspace that
// was used before, and the part of it that tmux takes.
func measureSpawns(r *report, dir, orange string) (err error) {
	if _, err := exec.LookPath("tmux"); err != nil {
		r.addFigure(figure{Name: "request to running agent", Measured: "not measured without tmux"})
		return nil
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := openEnv(ctx, orange, dir, "tmux", 2)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	// Another task keeps the tmux server alive, as when a second task starts.
	if _, err := s.createTask(ctx, "neighbour"); err != nil {
		return err
	}
	if _, err := s.awaitAgents(ctx, 1); err != nil {
		return err
	}
	n := 0
	start := func() (time.Duration, error) { n++; return s.timeSpawn(ctx, "spawn-"+strconv.Itoa(n)) }
	if _, err := start(); err != nil { // creates the workspace
		return err
	}
	bare, end, err := s.bareTmux(filepath.Join(dir, "bare.sock"))
	if err != nil {
		return err
	}
	defer end()
	took, err := alternateRounds(spawnRounds, start, bare)
	if err != nil {
		return err
	}
	r.addFigure(spawnFigure(took[0], took[1]))
	return nil
}

func spawnFigure(ours, bare samples) figure {
	over := make(samples, len(ours))
	for i := range over {
		over[i] = ours[i] - bare[i]
	}
	return figure{
		Name: "request to running agent, over tmux", Measured: formatMillis(over.median()), Target: "under " + formatMillis(maxSpawn), Met: over.median() < maxSpawn,
		Note: fmt.Sprintf("median of %d, from %s to %s; %s with tmux, tmux new-session alone %s", len(over), formatMillis(slices.Min(over)), formatMillis(slices.Max(over)), formatMillis(ours.median()), formatMillis(bare.median())),
	}
}

// timeSpawn measures one start, and ends it: the workspace is free again when it returns.
func (s *env) timeSpawn(ctx context.Context, branch string) (time.Duration, error) {
	begin := time.Now()
	id, err := s.createTask(ctx, branch)
	if err != nil {
		return 0, err
	}
	var state shim.State
	err = waitUntil(ctx, "the agent runs", 5*time.Millisecond, func() (bool, error) {
		state, err = s.attemptFolder(id, 1).ReadState(shim.BootID())
		return state.Started.Child.PID != 0, err
	})
	if err != nil {
		return 0, err
	}
	took := state.Started.At.Sub(begin.Round(0)) // as the shim recorded it, without a monotonic clock
	return took, s.cancelTask(ctx, id)
}

// cancelTask cancels a task whose agent runs, and waits until nothing of it is left.
func (s *env) cancelTask(ctx context.Context, id task.ID) error {
	err := waitUntil(ctx, "the start is recorded", 20*time.Millisecond, func() (bool, error) {
		v, err := s.client.ReadTask(ctx, string(id))
		return len(v.Task.Attempts) == 1 && v.Task.Attempts[0].Running && len(v.Task.Pending) == 0, err
	})
	if err != nil {
		return err
	}
	if _, err := s.client.SendSignal(ctx, string(id), sig.Signal{Kind: sig.Request, Actor: task.Human, Verb: "cancel"}); err != nil {
		return fmt.Errorf("cancel a task: %w", err)
	}
	return waitUntil(ctx, "the task is over", 20*time.Millisecond, func() (bool, error) {
		v, err := s.client.ReadTask(ctx, string(id))
		return v.Task.Status == "cancelled" && len(v.Task.Pending) == 0 && v.Task.Workspace == "", err
	})
}

// bareTmux starts a tmux server with one session, and returns a measurement of another session with a program that does
// nothing.
func (s *env) bareTmux(socket string) (measure func() (time.Duration, error), end func(), err error) {
	tmux := func(args ...string) error {
		out, err := s.newCommand("tmux", append([]string{"-S", socket, "-f", os.DevNull}, args...)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
		}
		return nil
	}
	session := []string{"new-session", "-d", "-x", "160", "-y", "48", "--"}
	if err := tmux(append(session, "sleep", "600")...); err != nil {
		return nil, nil, err
	}
	return timedCall(func() error { return tmux(append(session, "true", "x")...) }), func() { _ = tmux("kill-server") }, nil
}
