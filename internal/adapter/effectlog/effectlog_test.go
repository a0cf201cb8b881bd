package effectlog_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"orange/internal/adapter/effectlog"
)

func TestAKeyIsWrittenOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "log.jsonl")
	for i, want := range []bool{true, false} {
		got, err := effectlog.Append(path, []byte(`{"key":"a/1/0","do":"x"}`))
		if err != nil || got != want {
			t.Fatalf("call %d: written = %v, %v; want %v", i+1, got, err, want)
		}
	}
	if got := lines(t, path); len(got) != 1 {
		t.Errorf("lines: %q", got)
	}
}

func TestATornLineIsCutOffAndWrittenAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(path, []byte("{\"key\":\"a/1/0\"}\n{\"key\":\"a/2"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := effectlog.Append(path, []byte(`{"key":"a/2/0"}`)); err != nil || !got {
		t.Fatalf("written = %v, %v", got, err)
	}
	want := []string{`{"key":"a/1/0"}`, `{"key":"a/2/0"}`}
	if got := lines(t, path); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("lines = %q, want %q", got, want)
	}
}

func TestManyWritersOfOneKeyWriteItOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if _, err := effectlog.Append(path, []byte(`{"key":"k"}`)); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if got := lines(t, path); len(got) != 1 {
		t.Errorf("lines: %q", got)
	}
}

func TestALineWithoutAKeyIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	for _, line := range []string{"", "garbage", `{"do":"x"}`} {
		if _, err := effectlog.Append(path, []byte(line)); err == nil {
			t.Errorf("%q was taken", line)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a refused line left a file")
	}
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}
