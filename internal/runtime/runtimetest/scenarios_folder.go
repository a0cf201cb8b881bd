package runtimetest

import (
	"strings"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
)

func folderScenarios() []scenario {
	return []scenario{
		{"a frontmatter changed by hand is written down and put back", 1, false, tamperedFrontmatter},
		{"a record that cannot be shown warns, is no tampering and is shown with the next change", 1, false, cannotShow},
		{"a record that was not shown before a restart is shown after it", 1, false, shownAfterRestart},
		{"a deleted task leaves its folder and its journal stays", 1, false, deletedTask},
	}
}

func tamperedFrontmatter(r *env) {
	id := r.createTask("a")
	r.waitSettled(id)
	r.requireNoError(r.edit("p", id, func(text string) string {
		return strings.Replace(text, "status: planning", "status: done", 1) + "\n## Plan\n\nAPPROACH: x\n"
	}))
	if a := r.moveTo(id, "working"); a.Decision.Verdict != engine.Advance {
		r.t.Fatal(a.Decision)
	}
	if r.countEntries(id, journal.TaskTampered) != 1 {
		r.t.Error("the tampering is not in the journal")
	}
	if text := r.taskText(id); !strings.Contains(text, "status: working") || !strings.Contains(text, "APPROACH: x") {
		r.t.Errorf("TASK.md:\n%s", text)
	}
}

func cannotShow(r *env) {
	id := r.createTask("a")
	r.waitSettled(id)
	r.appendBody(id, "## Plan\n\nAPPROACH: x\n")
	r.folders.setFull(true)
	if a := r.moveTo(id, "working"); a.Task.Status != "working" || !strings.Contains(a.Warning, "no space left") {
		r.t.Fatalf("%s, warning %q", a.Task.Status, a.Warning)
	}
	r.appendBody(id, "## Notes\n\nkept\n")
	if a := r.mustSend(id, signal.Signal{Kind: signal.Pause}); a.Warning == "" {
		r.t.Error("the second change that is not shown warns nobody")
	}
	if text := r.taskText(id); !strings.Contains(text, "status: planning") {
		r.t.Errorf("TASK.md was written:\n%s", text)
	}
	r.folders.setFull(false)
	if a := r.mustSend(id, signal.Signal{Kind: signal.Resume}); a.Warning != "" {
		r.t.Errorf("warning %q", a.Warning)
	}
	if text := r.taskText(id); !strings.Contains(text, "status: working") || !strings.Contains(text, "kept") {
		r.t.Errorf("TASK.md:\n%s", text)
	}
	r.waitSettled(id)
	r.shownWhole(id)
	if r.countEntries(id, journal.TaskTampered) != 0 {
		r.t.Error("what Orange could not write was taken for tampering")
	}
}

func shownAfterRestart(r *env) {
	id := r.createTask("a")
	r.waitSettled(id)
	r.folders.setFull(true)
	r.mustSend(id, signal.Signal{Kind: signal.Update, Fields: []signal.Field{{Name: "summary", To: "another"}}})
	r.Close()
	r.folders.setFull(false)
	r.openRuntime()
	if text := r.taskText(id); !strings.Contains(text, "another") {
		r.t.Errorf("TASK.md:\n%s", text)
	}
	r.shownWhole(id)
	r.mustSend(id, signal.Signal{Kind: signal.Pause})
	if r.countEntries(id, journal.TaskTampered) != 0 {
		r.t.Error("what Orange could not write was taken for tampering")
	}
}

func deletedTask(r *env) {
	id := r.createTask("a")
	r.waitSettled(id)
	if a := r.sendSignal(id, signal.Signal{Kind: signal.Delete}); !strings.Contains(a.Decision.Refused, "cancel it first") {
		r.t.Errorf("deleted at work: %+v", a.Decision)
	}
	r.moveTo(id, "cancelled")
	r.waitSettled(id)
	r.mustSend(id, signal.Signal{Kind: signal.Delete})
	if r.taskText(id) != "" {
		r.t.Error("the folder is still there")
	}
	if a := r.sendSignal(id, signal.Signal{Kind: signal.Request, Verb: "reopen"}); !strings.Contains(a.Decision.Refused, "was deleted") {
		r.t.Errorf("%+v", a.Decision)
	}
	if r.countEntries(id, journal.TaskDeleted) != 1 {
		r.t.Error("the journal does not say that it was deleted")
	}
	b := r.createTask("a") // its branch is free again
	r.waitSettled(b)
}
