package server

import (
	"testing"
	"time"
)

// longest bounds every wait for something that must come.
const longest = 90 * time.Second

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
