//go:build agents

package agents_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"orange/internal/adapter/shim"
	"orange/internal/core/task"
	"orange/internal/scriptedmodel"
)

func TestAKilledAgentResumesItsConversation(t *testing.T) {
	each(t, func(t *testing.T, agent, sessions string) {
		s := newEnv(t, agent, sessions, heldUp())
		id := s.create()
		s.await(id, "the agent is busy", func(t task.Task) bool {
			_, err := os.Stat(filepath.Join(s.dir, "busy"))
			return t.Status == "working" && !errors.Is(err, os.ErrNotExist)
		})
		killed := s.newest(id, "worker")
		state, err := shim.Folder(filepath.Join(s.data, "attempts", string(id), strconv.Itoa(killed.Number))).ReadState(shim.BootID())
		check(t, err)
		s.crashes = 1
		check(t, syscall.Kill(state.Started.Child.PID, syscall.SIGKILL))

		got := s.await(id, "the work is reviewed", rests)
		if n := s.happened(id, "agent.crashed"); n != 1 {
			t.Errorf("%d crashes: %s", n, s.orange("task", "history", string(id)))
		}
		if next := s.newest(id, "worker"); next.Number != killed.Number+1 || next.Session != killed.Session {
			t.Errorf("after %+v came %+v", killed, next)
		}
		if head := s.git(s.worktree(got), "log", "-1", "--format=%s", "feature"); head != "one" {
			t.Errorf("the last commit is %q", head)
		}
		for _, r := range s.model.Requests() { // the prompt of a second start selects no script: only the conversation does
			if r.Kind == scriptedmodel.Unscripted || r.Kind == scriptedmodel.Unreadable {
				t.Errorf("request %d is %s: %.200q", r.Number, r.Kind, r.Prompt)
			}
		}
	})
}
