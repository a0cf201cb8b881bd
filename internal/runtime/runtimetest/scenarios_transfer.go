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

func roundTrip(r *rig) {
	working, over := r.create("a"), r.create("b")
	r.settled(working)
	r.settled(over)
	r.write(working, "## Plan\n\nAPPROACH: x\n\n## Notes\n\n<kept> & exact\n")
	r.to(working, "working")
	r.settled(working)
	r.to(over, "cancelled")
	r.settled(over)
	was := map[task.ID]string{working: r.whole(working), over: r.whole(over)}
	var export bytes.Buffer
	r.check(r.Export(r.t.Context(), &export))
	r.Close()

	r.build(1)
	got, err := r.Restore(r.t.Context(), bytes.NewReader(export.Bytes()))
	if err != nil || got.Tasks != 2 || len(got.Skipped) != 1 || !strings.HasPrefix(got.Skipped[0], "project p: ") {
		r.t.Fatalf("restored %+v: %v", got, err)
	}
	for id, want := range was {
		if got := r.whole(id); got != want {
			r.t.Errorf("%s was\n%s\nand is\n%s", id, want, got)
		}
		r.shownWhole(id)
	}
	if got := r.task(r.create("c")); !got.Queued {
		r.t.Errorf("a workspace in use was given away: %q", got.Workspace)
	}
	r.must(working, signal.Signal{Kind: signal.Request, Verb: "cancel"})
	got, err = r.Restore(r.t.Context(), bytes.NewReader(export.Bytes()))
	if err != nil || got.Tasks != 0 || len(got.Skipped) != 3 {
		r.t.Errorf("restored again: %+v: %v", got, err)
	}
}

func workspaceInUse(r *rig) { restoreBeside(r, "there", "here", "its workspace p--1 is held by task") }

func branchInUse(r *rig) { restoreBeside(r, "same", "same", "works on branch same already") }

// restoreBeside exports a task and restores it where another one is in its way.
func restoreBeside(r *rig, there, here, why string) {
	foreign := r.create(there)
	r.settled(foreign)
	var export bytes.Buffer
	r.check(r.Export(r.t.Context(), &export))
	r.Close()

	r.build(1)
	own := r.create(here)
	r.settled(own)
	got, err := r.Restore(r.t.Context(), bytes.NewReader(export.Bytes()))
	if err != nil || got.Tasks != 0 || len(got.Skipped) != 2 || !strings.Contains(got.Skipped[1], why) {
		r.t.Fatalf("restored %+v: %v", got, err)
	}
	if now := r.task(own); now.Workspace != "p--1" {
		r.t.Errorf("the task that was here is in %q now", now.Workspace)
	}
}

// whole is everything that is known of a task.
func (r *rig) whole(id task.ID) string {
	r.t.Helper()
	doc, err := r.shelf.Read("p", id)
	r.check(err)
	b, err := json.MarshalIndent([]any{r.task(id), r.entries(id), string(doc.Body())}, "", " ")
	r.check(err)
	return string(b)
}

// shownWhole makes sure that the folder shows the journal to its end.
func (r *rig) shownWhole(id task.ID) {
	r.t.Helper()
	last, err := r.shelf.LastSeq("p", id)
	if want := r.task(id).Seq; err != nil || last != want {
		r.t.Errorf("the folder shows %d of %d entries: %v", last, want, err)
	}
}

func notAnExport(r *rig) {
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
