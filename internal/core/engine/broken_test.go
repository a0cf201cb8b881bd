package engine_test

import (
	"strings"
	"testing"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// Whatever an agent wrote, it opens nothing from a folder that is not its worktree.
func TestABrokenWorkspaceOpensNoGate(t *testing.T) {
	const broken = "workspace p--1: /w is no longer a worktree of /r"
	w := begin(t, "orange", true)
	w.perform()
	w.body = "## Plan\n\nAPPROACH: x\n"
	w.refused(signal.Signal{Kind: signal.Request, Actor: "worker", Attempt: 1, To: "working", Workspace: broken}, broken)
	d := w.must(signal.Signal{Kind: signal.Exit, Actor: task.Engine, Role: "worker", Workspace: broken})
	e := d.Entries[0]
	if d.Verdict != engine.Crash || w.task.Status != "planning" || e.Reason != "the worker ended (code 0): "+broken {
		t.Errorf("%s, %s: %q", d.Verdict, w.task.Status, e.Reason)
	}
	if s := e.Signal(w.task.Visit); e.Type != journal.AgentCrashed || s.Workspace != broken {
		t.Errorf("the journal does not keep it: %+v", s)
	}
	w.fires(engine.Respawn)
	w.perform()
	if d := w.end("worker"); w.task.Status != "working" || !strings.Contains(d.Entries[0].Reason, "and ## Plan") {
		t.Errorf("in its worktree: %s, %q", w.task.Status, d.Entries[0].Reason)
	}
}
