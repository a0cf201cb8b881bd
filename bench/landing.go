package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"orange/internal/core/task"
)

const (
	landingCount = 20
	minLanding   = 0.8
	// landingCheck takes a second and changes nothing.
	landingCheck = "sleep 1"
)

// measureLandings measures how long tasks that wait in a landing queue take to land one after the other, each after a
// check of a second on its candidate. The baseline is a loop over git merge-tree, the same check and git update-ref.
func measureLandings(r *report, dir, orange string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := openEnv(ctx, orange, dir, "headless", landingCount)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	repo := filepath.Join(dir, envProject)
	for _, key := range []string{"user.name", "user.email"} {
		if err := s.runGit(repo, "config", key, "shop@example.com"); err != nil {
			return err
		}
	}
	if err := s.setCheck(ctx, "tests="+landingCheck); err != nil {
		return err
	}
	if err := s.fillLandingQueue(ctx); err != nil {
		return err
	}
	bare := filepath.Join(dir, "bare")
	if err := s.runGit(dir, "clone", "-q", "--mirror", repo, bare); err != nil {
		return err
	}
	loop, err := s.landBare(ctx, bare)
	if err != nil {
		return err
	}
	queue, err := s.landQueue(ctx)
	if err != nil {
		return err
	}
	share := loop.Seconds() / queue.Seconds()
	r.addFigure(figure{
		Name: fmt.Sprintf("landing %d tasks, a check of 1 s each", landingCount), Measured: fmt.Sprintf("%.2f of a bare loop", share),
		Target: fmt.Sprintf("at least %.1f", minLanding), Met: share >= minLanding,
		Note: fmt.Sprintf("%.1f s, and %.1f s for git merge-tree, the check and git update-ref in a loop", queue.Seconds(), loop.Seconds()),
	})
	return nil
}

// fillLandingQueue creates tasks with work that does not conflict, and requests their merges while the queue is held.
func (s *env) fillLandingQueue(ctx context.Context) error {
	if err := s.runOrange("land", "pause", envProject); err != nil {
		return err
	}
	var ids []task.ID
	for i := range landingCount {
		script := strings.ReplaceAll(handOverScript, "done.txt", "done-"+strconv.Itoa(i)+".txt")
		if err := writeFile(s.script+strconv.Itoa(i), script); err != nil {
			return err
		}
		id, err := s.createWith(ctx, "land-"+strconv.Itoa(i), "script:"+s.script+strconv.Itoa(i))
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if err := s.awaitStatus(ctx, "reviewing"); err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.runOrange("task", "merge", string(id), "--no-wait"); err != nil {
			return err
		}
	}
	return nil
}

// awaitStatus waits until all tasks have a status.
func (s *env) awaitStatus(ctx context.Context, status string) error {
	return waitUntil(ctx, "every task is "+status, 20*time.Millisecond, func() (bool, error) {
		all, err := s.client.TaskList(ctx, task.Filter{Project: envProject, All: true})
		for i := range all {
			if all[i].Status != status {
				return false, err
			}
		}
		return err == nil, err
	})
}

// landQueue lets the queue go on and returns how long it took until all tasks were done.
func (s *env) landQueue(ctx context.Context) (time.Duration, error) {
	return timedCall(func() error {
		if err := s.runOrange("land", "resume", envProject); err != nil {
			return err
		}
		return s.awaitStatus(ctx, "done")
	})()
}

// landBare lands the same branches without Orange.
func (s *env) landBare(ctx context.Context, repo string) (time.Duration, error) {
	script := fmt.Sprintf(`set -eu
i=0
while test $i -lt %d; do
	old=$(git rev-parse main) head=$(git rev-parse land-$i)
	tree=$(git merge-tree --write-tree $old $head)
	new=$(git -c user.name=Shop -c user.email=shop@example.com commit-tree $tree -p $old -p $head -m "Merge land-$i")
	%s
	git update-ref refs/heads/main $new $old
	i=$((i + 1))
done`, landingCount, landingCheck)
	return timedCall(func() error {
		cmd := s.newCommand("sh", "-c", script)
		cmd.Dir = repo
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("land without Orange: %w: %s", err, out)
		}
		return ctx.Err()
	})()
}
