package runtimetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"orange/internal/core/signal"
	"orange/internal/core/task"
)

func transferScenarios() []scenario {
	return []scenario{
		{"an export restores to the same records, journals and bodies", 2, false, roundTrip},
		{"a task whose workspace is in use here is not restored", 1, false, workspaceInUse},
		{"a task whose branch is in use here is not restored", 2, false, branchInUse},
		{"an export that is not one is a mistake", 1, false, notAnExport},
	}
}

func roundTrip(r *env) {
	working, over := r.createTask("a"), r.createTask("b")
	r.waitSettled(working)
	r.waitSettled(over)
	r.appendBody(working, "## Plan\n\nAPPROACH: x\n\n## Notes\n\n<kept> & exact\n")
	r.moveTo(working, "working")
	r.waitSettled(working)
	r.moveTo(over, "cancelled")
	r.waitSettled(over)
	was := map[task.ID]string{working: r.dumpTask(working), over: r.dumpTask(over)}
	var export bytes.Buffer
	r.requireNoError(r.Export(r.t.Context(), &export))
	r.Close()

	r.openWorld(1)
	got, err := r.Restore(r.t.Context(), bytes.NewReader(export.Bytes()))
	if err != nil || got.Tasks != 2 || len(got.Skipped) != 1 || !strings.HasPrefix(got.Skipped[0], "project p: ") {
		r.t.Fatalf("restored %+v: %v", got, err)
	}
	for id, want := range was {
		if got := r.dumpTask(id); got != want {
			r.t.Errorf("%s was\n%s\nand is\n%s", id, want, got)
		}
		r.shownWhole(id)
	}
	if got := r.storedTask(r.createTask("c")); !got.Queued {
		r.t.Errorf("a workspace in use was given away: %q", got.Workspace)
	}
	r.mustSend(working, signal.Signal{Kind: signal.Request, Verb: "cancel"})
	got, err = r.Restore(r.t.Context(), bytes.NewReader(export.Bytes()))
	if err != nil || got.Tasks != 0 || len(got.Skipped) != 3 {
		r.t.Errorf("restored again: %+v: %v", got, err)
	}
}

func workspaceInUse(r *env) { restoreBeside(r, "there", "here", "its workspace p--1 is held by task") }

func branchInUse(r *env) { restoreBeside(r, "same", "same", "works on branch same already") }

// restoreBeside exports a task and restores it where another one conflicts with it.
func restoreBeside(r *env, there, here, why string) {
	foreign := r.createTask(there)
	r.waitSettled(foreign)
	var export bytes.Buffer
	r.requireNoError(r.Export(r.t.Context(), &export))
	r.Close()

	r.openWorld(1)
	own := r.createTask(here)
	r.waitSettled(own)
	got, err := r.Restore(r.t.Context(), bytes.NewReader(export.Bytes()))
	if err != nil || got.Tasks != 0 || len(got.Skipped) != 2 || !strings.Contains(got.Skipped[1], why) {
		r.t.Fatalf("restored %+v: %v", got, err)
	}
	if now := r.storedTask(own); now.Workspace != "p--1" {
		r.t.Errorf("the task that was here is in %q now", now.Workspace)
	}
}

// dumpTask returns everything that is known about a task.
func (r *env) dumpTask(id task.ID) string {
	r.t.Helper()
	doc, err := r.folders.ReadTaskFile("p", id)
	r.requireNoError(err)
	b, err := json.MarshalIndent([]any{r.storedTask(id), r.storedEntries(id), string(doc.Body())}, "", " ")
	r.requireNoError(err)
	return string(b)
}

// shownWhole checks that the folder shows the journal to its end.
func (r *env) shownWhole(id task.ID) {
	r.t.Helper()
	last, err := r.folders.LastSeq("p", id)
	if want := r.storedTask(id).Seq; err != nil || last != want {
		r.t.Errorf("the folder shows %d of %d entries: %v", last, want, err)
	}
}

func notAnExport(r *env) {
	const head = `{"kind":"orange","version":1}` + "\n"
	for name, text := range map[string]string{
		"nothing of ours":        "hello",
		"no first line":          `{"kind":"project","project":{"name":"q","path":"/q","pool_size":1}}`,
		"of a later version":     `{"kind":"orange","version":99}`,
		"of an unknown kind":     head + `{"kind":"junk"}`,
		"a project without one":  head + `{"kind":"project"}`,
		"an entry without one":   head + `{"kind":"entry"}`,
		"an entry of other form": head + `{"kind":"entry","entry":[]}`,
		"cut in the middle":      head + `{"kind":"project","proj`,
	} {
		var mistake *task.Mistake
		if _, err := r.Restore(r.t.Context(), strings.NewReader(text)); !errors.As(err, &mistake) {
			r.t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"a journal with a gap": head + `{"kind":"entry","entry":{"task":"abcdefghijklmnopqrstu","seq":2,"at":"2026-01-02T03:04:05Z","type":"task.paused"}}`,
		"no task id":           head + `{"kind":"entry","entry":{"task":"../x","seq":1,"at":"2026-01-02T03:04:05Z","type":"task.created"}}`,
		"an unknown workflow":  head + `{"kind":"entry","entry":{"task":"abcdefghijklmnopqrstu","seq":1,"at":"2026-01-02T03:04:05Z","type":"task.created","new":{"project":"p","summary":"s"},"hash":"x"}}`,
	} {
		if got, err := r.Restore(r.t.Context(), strings.NewReader(text)); err != nil || got.Tasks != 0 || len(got.Skipped) != 1 {
			r.t.Errorf("%s: %+v: %v", name, got, err)
		}
	}
}
