package lock_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/adapter/lock"
)

func TestASecondHolderIsToldWhoHoldsTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server.lock")
	first, err := lock.Take(path, "a note")
	if err != nil {
		t.Fatal(err)
	}
	_, err = lock.Take(path, "a note")
	if !errors.Is(err, lock.ErrHeld) || !strings.Contains(err.Error(), "pid") {
		t.Fatalf("second Take: %v", err)
	}
	if lock.Holder(path) != os.Getpid() {
		t.Errorf("Holder = %d, want %d", lock.Holder(path), os.Getpid())
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := lock.Take(path, "a note")
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
}

func TestALockFileLeftByADeadServerIsTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server.lock")
	if err := os.WriteFile(path, []byte("999999\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := lock.Take(path, "a note")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
}
