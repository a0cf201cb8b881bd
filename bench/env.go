package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"orange/internal/adapter/shim"
	"orange/internal/config"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/ui/client"
)

// env is an installation whose agents are real processes: one project, a running server, and a script for the agents.
type env struct {
	*program
	cfg    config.Config
	client *client.Client
	server int // pid
	stop   func() error
	script string
}

const (
	envProject = "shop"
	// idleScript is an agent that does nothing.
	idleScript = "worker:\n  - idle:\n"
	// waitTimeout is the timeout for everything that agents must do.
	waitTimeout = 3 * time.Minute
)

// openEnv creates a repository and starts a server for it. close ends everything.
func openEnv(ctx context.Context, orange, dir, sessions string, pool int) (*env, error) {
	s := &env{program: newProgram(orange, dir), script: filepath.Join(dir, "idle.yaml")}
	s.apart = true // it must outlive an interrupt to end what it started
	s.env = append(s.env, "ORANGE_EFFECTS=do", "HOME="+dir, "XDG_RUNTIME_DIR="+dir, "TMUX_TMPDIR="+dir, "TMUX=", "GIT_CONFIG_NOSYSTEM=1")
	var err error
	if s.cfg, err = config.Load(s.getenv, os.UserHomeDir); err != nil {
		return nil, err
	}
	settings, err := json.Marshal(map[string]string{"sessions": sessions})
	if err != nil {
		return nil, err
	}
	repo := filepath.Join(dir, envProject)
	err = errors.Join(
		writeFile(filepath.Join(s.cfg.ConfigDir, "config.json"), string(settings)),
		writeFile(s.script, idleScript),
		writeFile(filepath.Join(repo, "README"), "shop\n"),
		s.runGit(repo, "init", "-q", "-b", "main"), s.runGit(repo, "add", "."),
		s.runGit(repo, "-c", "user.name=Shop", "-c", "user.email=shop@example.com", "commit", "-qm", "begin"),
	)
	if err != nil {
		return nil, fmt.Errorf("make a repository: %w", err)
	}
	if s.server, s.stop, err = s.startServer(); err != nil {
		return nil, err
	}
	s.client = client.New(s.cfg.Socket)
	if _, err := s.client.AddProject(ctx, task.Project{Name: envProject, Path: repo, PoolSize: pool}); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func writeFile(path, text string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
}

func (s *env) runGit(dir string, args ...string) error {
	cmd := s.newCommand("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return nil
}

// close ends every attempt, then the server, then the terminals. It pauses the server first, so that it replaces no
// agent, and ends it last, because an attempt that ends without a server starts one.
func (s *env) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	err := s.client.PauseAll(ctx)
	if err != nil {
		_ = s.runOrange("pause") // starts a server if that one is gone
	}
	err = errors.Join(err, s.endAll(ctx))
	s.client.Close()
	if stopped := s.stop(); stopped != nil {
		err = errors.Join(err, stopped)
		_ = s.runOrange("stop") // there may be another
	}
	_ = s.newCommand("tmux", "-S", s.cfg.Terminal, "kill-server").Run() // there may be none
	return err
}

// endAll ends the attempts that have folders, a few at a time.
func (s *env) endAll(ctx context.Context) error {
	supervisor := shim.New([]string{s.path, "shim"}, shim.DataFolder{})
	defer supervisor.Close()
	folders, err := filepath.Glob(filepath.Join(s.cfg.Home, "attempts", "*", "*"))
	if err != nil {
		return err
	}
	errs := make([]error, len(folders))
	turns := make(chan struct{}, 8)
	var wait sync.WaitGroup
	for i, dir := range folders {
		turns <- struct{}{}
		wait.Go(func() {
			_, errs[i] = supervisor.EndAttempt(ctx, shim.Folder(dir))
			<-turns
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// createTask creates a task and returns when the server has responded.
func (s *env) createTask(ctx context.Context, branch string) (task.ID, error) {
	return s.createWith(ctx, branch, "script:"+s.script)
}

// createWith is createTask with agents of its own.
func (s *env) createWith(ctx context.Context, branch, harness string) (task.ID, error) {
	a, err := s.client.CreateTask(ctx, signal.NewTask{Actor: task.Human, New: signal.New{
		Project: envProject, Branch: branch, Summary: "Do it", Harness: harness, ReviewHarness: harness, Spawn: true,
	}})
	if err != nil {
		return "", fmt.Errorf("create a task: %w", err)
	}
	return a.Task.ID, nil
}

func (s *env) attemptFolder(id task.ID, attempt int) shim.Folder {
	return shim.Folder(filepath.Join(s.cfg.Home, "attempts", string(id), strconv.Itoa(attempt)))
}

// awaitAgents waits until this many tasks have a running agent and no pending effects. It returns their living
// attempts.
func (s *env) awaitAgents(ctx context.Context, want int) (map[task.ID]shim.Started, error) {
	var found []task.Task
	err := waitUntil(ctx, fmt.Sprintf("%d agents run", want), 200*time.Millisecond, func() (bool, error) {
		all, err := s.client.TaskList(ctx, task.Filter{Project: envProject})
		found = slices.DeleteFunc(all, func(t task.Task) bool { return len(t.Attempts) != 1 || !t.Attempts[0].Running || len(t.Pending) > 0 })
		return len(found) >= want, err
	})
	if err != nil {
		return nil, fmt.Errorf("%w: there are %d", err, len(found))
	}
	out := map[task.ID]shim.Started{}
	for _, t := range found {
		state, err := s.attemptFolder(t.ID, t.Attempts[0].Number).ReadState(shim.BootID())
		if err != nil {
			return nil, err
		}
		if state.Phase != shim.Running {
			return nil, fmt.Errorf("attempt %d of task %s is %v", t.Attempts[0].Number, t.ID, state.Phase)
		}
		out[t.ID] = state.Started
	}
	return out, nil
}

// waitUntil waits until a condition holds.
func waitUntil(ctx context.Context, what string, pause time.Duration, holds func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	for {
		if ok, err := holds(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it does not come: %s: %w", what, ctx.Err())
		case <-time.After(pause):
		}
	}
}
