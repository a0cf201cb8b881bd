package tui

import (
	"errors"
	"testing"

	"orange/internal/core/engine"
)

// TestAMergeAsksForTheCode lets the server want a code: the dashboard asks for it, and
// sends the same again with it.
func TestAMergeAsksForTheCode(t *testing.T) {
	r := newEnv(t, 100, 30)
	r.api.no, r.api.reasons = errors.New("a code was sent by notification"), []engine.Reason{{Rule: engine.RuleConfirm}}
	r.on("login")
	r.press("m", "y")
	r.heard("request id0login merge human")
	r.shows("Code for login", "a code was sent by notification")
	r.api.no = errors.New("the code is wrong: 4 tries are left")
	r.write("000000")
	r.press("enter")
	r.heard("request id0login merge human 000000")
	r.shows("000000", "the code is wrong: 4 tries are left")
	r.api.no = nil
	r.write("1")
	r.press("enter")
	r.heard("request id0login merge human 0000001")
	if r.m.dialog != nil {
		t.Error("the dialog is still open")
	}
}
