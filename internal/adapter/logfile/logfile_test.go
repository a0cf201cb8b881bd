package logfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/adapter/logfile"
)

func TestALogIsSetAsideWhenItIsFullAndKeepsItsLinesWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orange.log")
	l, err := logfile.Open(path, 100)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("x", 39) + "\n"
	for range 5 {
		if _, err := l.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{path: 1, path + ".1": 2} {
		b, err := os.ReadFile(name)
		if err != nil || string(b) != strings.Repeat(line, want) {
			t.Errorf("%s: %v, %d bytes, want %d lines", filepath.Base(name), err, len(b), want)
		}
	}
}

func TestALogThatIsThereIsContinued(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orange.log")
	if err := os.WriteFile(path, []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := logfile.Open(path, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // a test's log
	if _, err := l.Write([]byte("new\n")); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "old\nnew\n" {
		t.Errorf("%q", b)
	}
}
