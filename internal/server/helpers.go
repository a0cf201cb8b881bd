package server

import (
	"fmt"
	"io"
	"os"

	"orange/internal/adapter/effectlog"
	"orange/internal/adapter/shim"
)

// recordEffect is the hidden command of the process that writes effects down.
const recordEffect = "record-effect"

// RunHelper runs the part of the program that args name, if they name one of those that are
// processes of their own, and returns its exit code.
func RunHelper(args []string) (code int, ok bool) {
	if len(args) != 2 {
		return 0, false
	}
	switch args[0] {
	case recordEffect:
		return appendEffect(args[1]), true
	case attendCommand:
		return runAttendant(args[1]), true
	case recordOutput:
		return shim.RecordMain(args[1]), true
	case playCommand:
		return playScript(args[1]), true
	}
	return 0, false
}

// appendEffect writes one effect down. It is a process of its own, so that killing the
// server at any moment leaves the line written whole or not at all.
func appendEffect(path string) int {
	line, err := io.ReadAll(io.LimitReader(os.Stdin, 1<<20))
	if err == nil {
		_, err = effectlog.Append(path, line)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
