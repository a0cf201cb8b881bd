package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	sig "orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/wire"
)

const (
	checkCount     = 40
	checkRounds    = 7
	cancelRounds   = 5
	maxCheckDelay  = 2 * time.Second
	maxCheckCancel = 6 * time.Second
	checksWorkflow = "solo"

	// handOverScript is an agent that commits a file, hands it over and ends.
	handOverScript = "worker:\n  - commit: {file: done.txt, text: \"done\\n\", message: done}\n  - run: orange task update --status reviewing\n  - exit: 0\n"
	longCheck      = "tests=sleep 600"
	stubbornCheck  = `tests=trap "" TERM; while :; do sleep 1; done`
)

// measureChecks measures how long a check of ten minutes lives after its task was cancelled, and how much later an agent
// starts while many checks run.
func measureChecks(r *report, dir, orange string) (err error) {
	if runtime.GOOS != "linux" {
		r.addFigure(figure{Name: strconv.Itoa(checkCount) + " checks", Measured: "not measured on " + runtime.GOOS})
		return nil
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := openEnv(ctx, orange, dir, "headless", checkCount+1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.setCheck(ctx, longCheck); err != nil {
		return err
	}
	alone, err := s.timeSpawns(ctx, "alone")
	if err != nil {
		return err
	}
	running, err := s.startChecks(ctx, checkCount)
	if err != nil {
		return err
	}
	beside, err := s.timeSpawns(ctx, "beside")
	if err != nil {
		return err
	}
	delay := beside.median() - alone.median()
	r.addFigure(figure{
		Name: fmt.Sprintf("%d checks at once, delay of another task's agent", checkCount), Measured: formatMillis(max(0, delay)), Target: "under " + formatMillis(maxCheckDelay), Met: delay < maxCheckDelay,
		Note: fmt.Sprintf("request to running agent, without a terminal: median of %d %s, longest %s; without checks %s, longest %s", len(beside), formatMillis(beside.median()), formatMillis(slices.Max(beside)), formatMillis(alone.median()), formatMillis(slices.Max(alone))),
	})
	if err := s.addCancels(ctx, r, "a check of 10 minutes", running[:cancelRounds]); err != nil {
		return err
	}
	if err := s.setCheck(ctx, stubbornCheck); err != nil {
		return err
	}
	stubborn, err := s.startChecks(ctx, cancelRounds)
	if err != nil {
		return err
	}
	return s.addCancels(ctx, r, "a check that ignores SIGTERM", stubborn)
}

// setCheck defines the check of the project.
func (s *env) setCheck(ctx context.Context, check string) error {
	flow := checksWorkflow
	_, err := s.client.UpdateProject(ctx, envProject, wire.ProjectChange{Workflow: &flow, Checks: []string{check}})
	return err
}

// timeSpawns measures the start of agents that do nothing.
func (s *env) timeSpawns(ctx context.Context, name string) (samples, error) {
	if err := writeFile(s.script, idleScript); err != nil {
		return nil, err
	}
	var out samples
	for i := range checkRounds + 1 {
		took, err := s.timeSpawn(ctx, name+"-"+strconv.Itoa(i))
		if err != nil {
			return nil, err
		}
		if i > 0 { // the first creates the workspace
			out = append(out, took)
		}
	}
	return out, nil
}

// startChecks creates tasks whose work is handed over, and waits until their checks run.
func (s *env) startChecks(ctx context.Context, count int) ([]task.ID, error) {
	if err := writeFile(s.script, handOverScript); err != nil {
		return nil, err
	}
	var out []task.ID
	for range count {
		id, err := s.createTask(ctx, "check-"+strconv.FormatInt(time.Now().UnixNano(), 36))
		if err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	return out, waitUntil(ctx, fmt.Sprintf("%d checks run", count), 200*time.Millisecond, func() (bool, error) {
		all, err := s.client.TaskList(ctx, task.Filter{Project: envProject})
		n := 0
		for i := range all {
			if a, ok := all[i].LiveAttempt(workflow.CheckRole); ok && a.Running && slices.Contains(out, all[i].ID) {
				n++
			}
		}
		return n == count, err
	})
}

// addCancels cancels tasks one after another, and reports how long their checks lived after that.
func (s *env) addCancels(ctx context.Context, r *report, what string, ids []task.ID) error {
	var took samples
	for _, id := range ids {
		begin := time.Now()
		if _, err := s.client.SendSignal(ctx, string(id), sig.Signal{Kind: sig.Request, Actor: task.Human, Verb: "cancel"}); err != nil {
			return err
		}
		err := waitUntil(ctx, "the check ends", 5*time.Millisecond, func() (bool, error) {
			v, err := s.client.ReadTask(ctx, string(id))
			return v.Task.Status == "cancelled" && len(v.Task.Attempts) == 0, err
		})
		if err != nil {
			return err
		}
		took = append(took, time.Since(begin))
	}
	longest := slices.Max(took)
	r.addFigure(figure{
		Name: "cancel during " + what, Measured: formatMillis(longest), Target: "under " + formatMillis(maxCheckCancel), Met: longest < maxCheckCancel,
		Note: fmt.Sprintf("longest of %d, median %s; from the request until its processes are gone and that is recorded", len(took), formatMillis(took.median())),
	})
	return nil
}
