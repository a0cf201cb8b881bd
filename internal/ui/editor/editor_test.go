package editor_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/ui/editor"
)

func TestATextIsWrittenInAnEditor(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	left := func() []string {
		found, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	script := filepath.Join(t.TempDir(), "my editor")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n[ \"$1\" = --wait ] && cat \"$2\" >>\"$2.new\" && echo 'and a label' >>\"$2.new\" && mv \"$2.new\" \"$2\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	environ := append(os.Environ(), "EDITOR=false", "VISUAL='"+script+"' --wait")
	d, err := editor.NewDraft(environ, "TASK.md", "a form\n", "")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := d.Finish(d.Command(t.Context()).Run()); err != nil || text != "a form\nand a label\n" {
		t.Errorf("got %q, %v", text, err)
	}
	for what, with := range map[string][]string{
		"the editor false failed, nothing changed": {"EDITOR=false"},
		"not text: give UTF-8":                     {`EDITOR=printf '\377' >`},
	} {
		d, err := editor.NewDraft(append(os.Environ(), with...), "TASK.md", "", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err = d.Finish(d.Command(t.Context()).Run()); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%q: %v", with, err)
		}
	}
	if _, err := editor.NewDraft([]string{"EDITOR= "}, "TASK.md", "", "give --summary"); err == nil || err.Error() != "no editor is set: set VISUAL or EDITOR, as in VISUAL=vim, or give --summary" {
		t.Error(err)
	}
	d, err = editor.NewDraft(environ, "TASK.md", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Finish(errors.New("it was ended")); err == nil {
		t.Error("a failure is not reported")
	}
	if found := left(); len(found) > 0 {
		t.Errorf("files are left: %q", found)
	}
}
