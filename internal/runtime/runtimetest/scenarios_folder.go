package runtimetest

import (
	"strings"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
)

func folderScenarios() []scenario {
	return []scenario{
		{"a frontmatter changed by hand is written down and put back", 1, false, tampered},
		{"a record that cannot be shown warns, is no tampering and is shown with the next change", 1, false, cannotShow},
		{"a record that was not shown before a restart is shown after it", 1, false, shownAfterRestart},
		{"a deleted task leaves its folder and its journal stays", 1, false, deleted},
	}
}

func tampered(r *rig) {
	id := r.create("a")
	r.settled(id)
	r.check(r.edit("p", id, func(text string) string {
		return strings.Replace(text, "status: planning", "status: done", 1) + "\n## Plan\n\nAPPROACH: x\n"
	}))
	if a := r.to(id, "working"); a.Decision.Verdict != engine.Advance {
		r.t.Fatal(a.Decision)
	}
	if r.count(id, journal.TaskTampered) != 1 {
		r.t.Error("the tampering is not in the journal")
	}
	if text := r.text(id); !strings.Contains(text, "status: working") || !strings.Contains(text, "APPROACH: x") {
		r.t.Errorf("TASK.md:\n%s", text)
	}
}

func cannotShow(r *rig) {
	id := r.create("a")
	r.settled(id)
	r.write(id, "## Plan\n\nAPPROACH: x\n")
	r.shelf.fill(true)
	if a := r.to(id, "working"); a.Task.Status != "working" || !strings.Contains(a.Warning, "no space left") {
		r.t.Fatalf("%s, warning %q", a.Task.Status, a.Warning)
	}
	r.write(id, "## Notes\n\nkept\n")
	if a := r.must(id, signal.Signal{Kind: signal.Pause}); a.Warning == "" {
		r.t.Error("the second change that is not shown warns nobody")
	}
	if text := r.text(id); !strings.Contains(text, "status: planning") {
		r.t.Errorf("TASK.md was written:\n%s", text)
	}
	r.shelf.fill(false)
	if a := r.must(id, signal.Signal{Kind: signal.Resume}); a.Warning != "" {
		r.t.Errorf("warning %q", a.Warning)
	}
	if text := r.text(id); !strings.Contains(text, "status: working") || !strings.Contains(text, "kept") {
		r.t.Errorf("TASK.md:\n%s", text)
	}
	r.settled(id)
	r.shownWhole(id)
	if r.count(id, journal.TaskTampered) != 0 {
		r.t.Error("what Orange could not write was taken for tampering")
	}
}

func shownAfterRestart(r *rig) {
	id := r.create("a")
	r.settled(id)
	r.shelf.fill(true)
	r.must(id, signal.Signal{Kind: signal.Update, Fields: []signal.Field{{Name: "summary", To: "another"}}})
	r.Close()
	r.shelf.fill(false)
	r.start()
	if text := r.text(id); !strings.Contains(text, "another") {
		r.t.Errorf("TASK.md:\n%s", text)
	}
	r.shownWhole(id)
	r.must(id, signal.Signal{Kind: signal.Pause})
	if r.count(id, journal.TaskTampered) != 0 {
		r.t.Error("what Orange could not write was taken for tampering")
	}
}

func deleted(r *rig) {
	id := r.create("a")
	r.settled(id)
	if a := r.send(id, signal.Signal{Kind: signal.Delete}); !strings.Contains(a.Decision.Refused, "cancel it first") {
		r.t.Errorf("deleted at work: %+v", a.Decision)
	}
	r.to(id, "cancelled")
	r.settled(id)
	r.must(id, signal.Signal{Kind: signal.Delete})
	if r.text(id) != "" {
		r.t.Error("the folder is still there")
	}
	if a := r.send(id, signal.Signal{Kind: signal.Request, Verb: "reopen"}); !strings.Contains(a.Decision.Refused, "was deleted") {
		r.t.Errorf("%+v", a.Decision)
	}
	if r.count(id, journal.TaskDeleted) != 1 {
		r.t.Error("the journal does not say that it was deleted")
	}
	b := r.create("a") // its branch is free again
	r.settled(b)
}
