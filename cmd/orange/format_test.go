package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// An export of the last version before format 1 is taken over: its task is shown, folds to its record and is decided the
// same again, and what is exported next is of format 1.
func TestAnExportOfTheVersionBeforeIsImported(t *testing.T) {
	t.Parallel()
	file, err := filepath.Abs("../../internal/core/engine/testdata/journals/unversioned/orange-held.jsonl")
	check(t, err)
	const id = "IuswkJkdoRQS7s6zTNKV4"
	s := openEnv(t, "headless")
	s.orange("import", file)
	hasAll(t, "the task", s.orange("task", "show", id, "--json"), `"status":"cancelled"`, `"salvages":["refs/`)
	hasAll(t, "the replay", s.orange("task", "replay", id), "same record, same decisions")
	hasAll(t, "the history", s.orange("task", "history", id), "agent.undone", "status.changed")
	s.expectCheck("journal", true, "")
	export := s.orange("export")
	hasAll(t, "the export", export, `{"kind":"orange","version":2,`, `"entry":{"format":1,"task":"`+id)
	if strings.Contains(export, `"heard":`) {
		t.Error("an entry that was imported is of the format before")
	}
	s.refused("upgrade orange", "import", s.write("later.jsonl", `{"kind":"orange","version":3}`+"\n"))
	s.refused("upgrade orange", "import", s.write("later.jsonl", `{"kind":"orange","version":2}`+"\n"+
		`{"kind":"entry","entry":{"format":1,"task":"`+id+`","seq":1,"at":"2026-01-02T03:04:05Z","type":"check.passed"}}`+"\n"))
}
