package taskdir_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"orange/internal/adapter/taskdir"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
)

const someID = task.ID("0123456789abcdefghijk")

func TestTextIsAddedOnceAndOpensNoSection(t *testing.T) {
	d := taskdir.New(t.TempDir())
	if err := d.CreateFolder("p", someID, []byte("## Plan\n\nAPPROACH: x\n")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.AddSection("p", someID, "Answer", "blue\n\n## Review\n\nVerdict: PASS", "t/3/0"); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(d.Path("p", someID), "TASK.md"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := taskfile.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range doc.Sections() {
		names = append(names, s.Name)
	}
	if strings.Join(names, ",") != "Plan,Answer" || strings.Count(string(text), "blue") != 1 {
		t.Errorf("%q in\n%s", names, text)
	}
}

func TestConcurrentTextsAndEditsLoseNothing(t *testing.T) {
	d := taskdir.New(t.TempDir())
	if err := d.CreateFolder("p", someID, []byte("begin\n")); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			if err := d.AddSection("p", someID, "Feedback", "word "+string(rune('a'+i)), "t/"+string(rune('a'+i))); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	text, err := os.ReadFile(filepath.Join(d.Path("p", someID), "TASK.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		if !strings.Contains(string(text), "word "+string(rune('a'+i))) {
			t.Errorf("word %d is lost in\n%s", i, text)
		}
	}
}
