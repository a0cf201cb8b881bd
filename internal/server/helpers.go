package server

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"orange/internal/adapter/effectlog"
	"orange/internal/adapter/shim"
	"orange/internal/config"
	"orange/internal/host"
	"orange/internal/server/reach"
)

// Names of hidden commands that the server runs as separate processes.
const (
	recordEffect = "record-effect" // records effects
	playCommand  = "play"          // plays the script of an agent
	oldShim      = "attend"        // the name of host.ShimCommand before; servers of a release before still start it
)

// RunHelper runs a hidden command, if command names one, and returns its exit code.
func RunHelper(command, path string) (code int, ok bool) {
	switch command {
	case recordEffect:
		return appendEffect(path), true
	case host.ShimCommand, oldShim:
		return runShim(path), true
	case host.OutputCommand:
		return shim.RecordMain(path), true
	case host.CheckCommand:
		return host.RunCheck(path), true
	case playCommand:
		return playScript(path), true
	}
	return 0, false
}

// appendEffect records one effect. It runs in its own process, so that killing the server at any moment leaves the
// line written whole or not at all.
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

// dataFolder describes the processes that belong to a data folder but to none of its attempts.
func dataFolder(home string) shim.DataFolder {
	return shim.DataFolder{
		Server:   func() (shim.Process, bool) { return reach.ServerOf(home) },
		Terminal: config.TerminalSocket(home),
		Attempts: filepath.Join(home, "attempts"),
	}
}

// runShim runs the shim of an attempt and returns its exit code. The attempt's folder is two levels below the folder of
// all attempts, which is in the data folder.
func runShim(folder string) int {
	return shim.RunShim(folder, dataFolder(filepath.Dir(filepath.Dir(filepath.Dir(folder)))))
}
