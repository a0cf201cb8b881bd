//go:build agents

package agents_test

import (
	"strings"
	"testing"

	"orange/internal/core/agent"
	"orange/internal/core/task"
	"orange/internal/scriptedmodel"
)

// each runs a test with every agent, at a terminal and without one, one after another.
func each(t *testing.T, f func(t *testing.T, agent, sessions string)) {
	for _, agent := range agent.HarnessNames() {
		for _, sessions := range []string{"headless", "tmux"} {
			t.Run(agent+"/"+sessions, func(t *testing.T) { f(t, agent, sessions) })
		}
	}
}

func TestTheMainJob(t *testing.T) {
	each(t, func(t *testing.T, agent, sessions string) {
		s := newEnv(t, agent, sessions, mainJob())
		id := s.create()
		first := s.await(id, "the work is reviewed", rests)
		s.checkWork(first, "one")
		s.checkPlayed(firstHalf)
		s.checkTokens(id, sessions)
		worker := s.newest(id, "worker")

		s.orange("task", "request-changes", string(id), "-m", "rounder corners, please")
		second := s.await(id, "the change is reviewed", func(t task.Task) bool { return rests(t) && t.Visit > first.Visit })
		s.checkWork(second, "two")
		s.checkPlayed(2*firstHalf - 2)
		s.checkTokens(id, sessions)
		s.checkSameWorker(id, worker.Number, worker.Session, sessions)

		s.orange("task", "cancel", string(id), "--yes")
		last := s.await(id, "it is over", func(t task.Task) bool { return t.Status == "cancelled" && len(t.Pending) == 0 && len(t.Attempts) == 0 })
		s.checkTokens(id, sessions)
		if n := s.happened(id, "agent.crashed"); n != 0 || last.CounterValue("crash_count") != 0 {
			t.Errorf("%d crashes", n)
		}
	})
}

// rests reports whether a task waits for a person's review, with nothing pending.
func rests(t task.Task) bool { return t.Status == "reviewing" && len(t.Pending) == 0 }

// checkWork checks what the worker and the reviewer left in the worktree.
func (s *env) checkWork(t task.Task, word string) {
	s.t.Helper()
	text := s.taskFile(t)
	for _, want := range []string{"\n## Plan\n", "\n## Handoff\n\nDONE: " + word + "\n", "\n## Review\n\nVerdict: PASS\n"} {
		if !strings.Contains(text, want) {
			s.t.Errorf("%q is not in TASK.md:\n%s", want, text)
		}
	}
	dir := s.worktree(t)
	if got := s.git(dir, "log", "-1", "--format=%s", "feature"); got != word {
		s.t.Errorf("the last commit is %q, not %q", got, word)
	}
	if got := s.git(dir, "show", "--stat", "--format=", "feature"); !strings.HasPrefix(got, "a.txt") || strings.Count(got, "|") != 1 {
		s.t.Errorf("the commit changes\n%s", got)
	}
	if got := s.git(dir, "status", "--porcelain"); got != "" {
		s.t.Errorf("the worktree is not clean:\n%s", got)
	}
	if t.CounterValue("crash_count") != 0 || s.happened(t.ID, "agent.crashed") != 0 {
		s.t.Errorf("a crash was counted: %s", s.orange("task", "history", string(t.ID)))
	}
}

// checkPlayed checks that the model sent so many turns of the worker's script, each once and in order, and got no
// request without a script.
func (s *env) checkPlayed(turns int) {
	s.t.Helper()
	next := 0
	for _, r := range s.model.Requests() {
		switch {
		case r.Kind == scriptedmodel.Unscripted, r.Kind == scriptedmodel.Unreadable, r.Kind == scriptedmodel.Over:
			s.t.Errorf("request %d is %s: %.200q", r.Number, r.Kind, r.Prompt)
		case r.Script == workerScript && r.Turn != next:
			s.t.Errorf("request %d is for turn %d, not %d", r.Number, r.Turn, next)
		case r.Script == workerScript:
			next++
		}
	}
	if next != turns {
		s.t.Errorf("%d turns were played, not %d", next, turns)
	}
}

// newest returns the last attempt of a role.
func (s *env) newest(id task.ID, role string) (last attemptOf) {
	s.t.Helper()
	for _, a := range s.attempts(id) {
		if a.Role == role {
			last = attemptOf{a.Number, a.Session, a.Alive}
		}
	}
	if last.Number == 0 || last.Session == "" {
		s.t.Errorf("the last %s is %+v", role, last)
	}
	return last
}

type attemptOf struct {
	Number  int
	Session string // the agent's id of the conversation
	Alive   bool
}

// checkSameWorker checks that a message reached the earlier worker: typed into its terminal, or as the beginning of an
// attempt that continues its conversation.
func (s *env) checkSameWorker(id task.ID, number int, session, sessions string) {
	s.t.Helper()
	got := s.newest(id, "worker")
	if got.Session != session {
		s.t.Errorf("the conversation is %s, not %s", got.Session, session)
	}
	if live := got.Number == number && got.Alive; live != (sessions == "tmux") {
		s.t.Errorf("the worker is %+v, before it was attempt %d", got, number)
	}
	for _, r := range s.model.Requests() {
		if r.Script == workerScript && r.Turn == firstHalf && !strings.Contains(r.Prompt, "> rounder corners, please") {
			s.t.Errorf("it was told %q", r.Prompt)
		}
	}
}

// answer is the cost of one response of the model.
func answer() task.Usage { return task.Usage{InputTokens: 100, OutputTokens: 20, CachedTokens: 40} }

// checkTokens compares the usage of attempts with what the model sent.
func (s *env) checkTokens(id task.ID, sessions string) {
	s.t.Helper()
	var sum, workers task.Usage
	for _, a := range s.attempts(id) {
		if a.Usage == nil {
			if !(a.Role == "reviewer" && s.agent == "opencode" && sessions == "tmux") { // see docs/HARNESSES.md
				s.t.Errorf("attempt %d, %s, has no tokens", a.Number, a.Role)
			}
			continue
		}
		sum = sum.Plus(*a.Usage)
		if a.Role == "worker" {
			workers = workers.Plus(*a.Usage)
		}
	}
	gave := s.model.Usage(workerScript)
	want := task.Usage{InputTokens: int64(gave.Input), OutputTokens: int64(gave.Output), CachedTokens: int64(gave.CacheRead + gave.CacheWrite)}
	workers.CostMicroUSD = 0
	missing := want.Minus(workers)
	late := s.agent == "claude" && s.newest(id, "worker").Alive && missing == answer() // its transcript is written after its hook
	if missing != (task.Usage{}) && !late || workers.Minus(want) != (task.Usage{}) {
		s.t.Errorf("the worker used %+v, the model gave %+v", workers, want)
	}
	if spent := s.task(id).Spent.Usage; spent != sum {
		s.t.Errorf("the task spent %+v, its attempts %+v", spent, sum)
	}
}
