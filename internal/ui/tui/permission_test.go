package tui

import (
	"errors"
	"testing"

	"orange/internal/view/ansi"
	"orange/internal/wire"
)

// A permission is answered with the agent's own choices, and only for the screen that the person saw.
func TestAPermissionIsAllowedOrDenied(t *testing.T) {
	asking := func(seen, command string) *wire.Screen {
		return &wire.Screen{Attempt: 1, Role: "worker", Harness: "claude", Alive: true, Seen: seen, Dialog: true,
			Lines:   ansi.ParseLines("Bash command\n\n  " + command + "\n\nDo you want to proceed?\n> 1. Yes\n  2. No\n"),
			Choices: []ansi.DialogChoice{{Key: "1", Label: "Yes"}, {Key: "2", Label: "No, and tell it what to do\x1b[2J"}}}
	}
	for name, keys := range map[string][]string{"list": {"e"}, "inbox": {"i", "end", "k", "enter"}} {
		t.Run(name, func(t *testing.T) {
			r := newEnv(t, 100, 40)
			r.api.dialog = asking("one", "rm -r build")
			r.on("build/clean")
			r.shows("e allow or deny")
			r.press(keys...)
			r.shows("build/clean asks", "rm -r build", "1 Yes", "2 No, and tell it what to do", "Esc: leave the question")
			r.heard()
			r.press("2", "enter")
			r.heard("press id0clean worker 2 one true")
			r.shows("answered build/clean: No")
		})
	}
	t.Run("something else is shown", func(t *testing.T) {
		r := newEnv(t, 100, 40)
		r.api.dialog = asking("one", "rm -r build")
		r.on("build/clean")
		r.press("e")
		r.api.no = errors.New("the terminal shows something else now, so nothing was pressed")
		r.press("enter")
		r.heard("press id0clean worker 1 one true")
		r.shows("rm -r build", "the terminal shows something else now", "r look again")
		r.api.no, r.api.dialog = nil, asking("two", "rm -r /")
		r.press("r")
		r.shows("rm -r /")
		r.hides("something else")
		r.press("j", "j", "enter")
		r.heard("press id0clean worker esc two true")
	})
	t.Run("a dialog without choices is typed into", func(t *testing.T) {
		r := newEnv(t, 100, 40)
		r.api.dialog = asking("one", "rm -r build")
		r.api.dialog.Choices = nil
		r.on("build/clean")
		r.press("e")
		r.write("y")
		r.press("enter")
		r.heard("type id0clean y")
	})
}
