package agents

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"orange/internal/core/task"
)

// tmuxVariable names the folder in which tmux keeps its sockets.
const tmuxVariable = "TMUX_TMPDIR"

// attemptMark returns the value that marks the processes of an attempt. It names the data folder, because an attempt
// of the same task and number can run in another one.
func (a *Agents) attemptMark(k Key) string {
	return a.ID + "/" + string(k.Task) + "/" + strconv.Itoa(k.Number)
}

// ServerMark returns the environment variable that marks the processes in the tmux of a data folder.
func ServerMark(folderID string) string { return keyVariable + "=" + folderID + "/server" }

// markedOf finds the attempt that a line of processes belongs to by their marks. It returns an error if the mark is that
// of an attempt that is over, or of the tmux of Orange: such a process may not call the server.
func (a *Agents) markedOf(line []int) (k Key, inside bool, err error) {
	for _, pid := range line {
		name, own := strings.CutPrefix(a.Processes.MarkOf(pid), a.ID+"/")
		if !own {
			continue
		}
		id, number, _ := strings.Cut(name, "/")
		n, _ := strconv.Atoi(number)
		if k := (Key{task.ID(id), n}); a.IsWatched(k) {
			return k, true, nil
		}
		return Key{}, false, fmt.Errorf("process %d was started by an agent that has ended, or in the tmux of Orange, so its requests are refused: run the command in a terminal of your own", pid)
	}
	return Key{}, false, nil
}

// tmuxFolder returns the folder for the sockets of tmux servers that an agent starts, so that the agent does not reach
// those of the user. Its name is short because the path of a socket must be.
func (a *Agents) tmuxFolder(k Key) string {
	sum := sha256.Sum256([]byte(a.attemptMark(k)))
	return filepath.Join(a.Tmux, hex.EncodeToString(sum[:6]))
}

// makeTmuxFolder makes the folder. It must exist, or tmux uses the user's.
func (a *Agents) makeTmuxFolder(k Key) error {
	if err := os.MkdirAll(a.tmuxFolder(k), 0o700); err != nil {
		return fmt.Errorf("make a folder for the tmux of attempt %d: %w", k.Number, err)
	}
	info, err := os.Lstat(a.Tmux)
	if err != nil {
		return fmt.Errorf("check the folder for the tmux of agents: %w", err)
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || info.Mode().Perm()&0o077 != 0 || ok && int(sys.Uid) != os.Getuid() {
		return fmt.Errorf("other users can access the folder %s: remove it, or make it private (chmod 700)", a.Tmux)
	}
	return nil
}

// removeTmuxFolder removes the folder of an attempt that is over.
func (a *Agents) removeTmuxFolder(k Key) {
	if err := os.RemoveAll(a.tmuxFolder(k)); err != nil {
		a.Log.Warn("remove the folder for the tmux of an attempt", "component", "agents", "task", k.Task, "attempt", k.Number, "error", err)
	}
}
