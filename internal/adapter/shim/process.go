package shim

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// A Process identifies one process: the kernel reuses a pid, but not with the same start time.
type Process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // in the kernel's unit, since boot
}

// A row is what the kernel reports about a process.
type row struct {
	Process
	parent, group int
	zombie        bool
}

// errEnded means that a process has ended.
var errEnded = errors.New("the process has ended")

// checkAlive returns nil if the process exists, and errEnded if it has ended. Another error means that this is unknown.
func (p Process) checkAlive() error {
	r, err := readProcess(p.PID)
	if err == nil && (r.Process != p || r.zombie) {
		return errEnded
	}
	return err
}

// Alive reports whether the process has not ended. If that is unknown, the process counts as alive.
func (p Process) Alive() bool { return !errors.Is(p.checkAlive(), errEnded) }

// FindProcess returns the process with a pid, if there is one that has not ended.
func FindProcess(pid int) (Process, bool) {
	r, err := readProcess(pid)
	return r.Process, err == nil && !r.zombie
}

// Terminate signals the process to end, and continues it if it is stopped. It returns nil if the process has ended.
func (p Process) Terminate() error { return p.sendSignals(unix.SIGTERM, unix.SIGCONT) }

// sendSignals sends signals to a process, in order. It returns nil if the process has ended.
func (p Process) sendSignals(signals ...unix.Signal) error {
	for _, sig := range signals {
		if err := p.sendSignal(sig); err != nil {
			if errors.Is(err, errEnded) {
				return nil
			}
			return err
		}
	}
	return nil
}

// checkedKill sends a signal by pid, right after a check of the start time.
func (p Process) checkedKill(sig unix.Signal) error {
	if err := p.checkAlive(); err != nil {
		return err
	}
	if err := unix.Kill(p.PID, sig); !errors.Is(err, unix.ESRCH) {
		return err
	}
	return errEnded
}

// descendantsOf lists the roots among rows and all their descendants, without those that have ended and without those
// that are spared and their descendants. Others reports whether there are spared ones.
func descendantsOf(rows []row, protected func(Process) bool, root func(row) bool) (found []Process, others bool) {
	children := map[int][]row{}
	var queue []row
	for _, r := range rows {
		children[r.parent] = append(children[r.parent], r)
		if root(r) {
			queue = append(queue, r)
		}
	}
	seen := map[int]bool{}
	for len(queue) > 0 {
		r := queue[0]
		queue = queue[1:]
		if seen[r.PID] {
			continue
		}
		seen[r.PID] = true
		if protected(r.Process) {
			others = true
			continue
		}
		queue = append(queue, children[r.PID]...)
		if !r.zombie {
			found = append(found, r.Process)
		}
	}
	return found, others
}

// livingProcesses lists the processes of an attempt that have not ended: its agent, its group, every process that
// carries its key, the tmux servers it started, those that are known to be its own, all their descendants, and its shim.
// It never lists this process or one of its ancestors.
func (s Started) livingProcesses(d DataFolder, known map[Process]bool) ([]Process, error) {
	rows, err := listProcesses()
	if err != nil {
		return nil, err
	}
	ours := s.inGroup(rows)
	tmux := s.tmuxServers()
	found, _ := descendantsOf(rows, s.protectedFilter(d), func(r row) bool {
		return s.Child.PID != 0 && r.Process == s.Child || r.Process == s.Shim || ours && r.group == s.PGID ||
			slices.Contains(tmux, r.PID) || known[r.Process] || s.Key != "" && carriesKey(r.PID, s.Key)
	})
	above, _ := Ancestry(os.Getpid())
	return slices.DeleteFunc(found, func(p Process) bool { return slices.Contains(above, p.PID) }), nil
}

// protectedFilter returns a function that reports whether a process does not belong to the attempt. Its own shim does.
func (s Started) protectedFilter(d DataFolder) func(Process) bool {
	isProtected := d.protectedFilter(s.Key)
	return func(p Process) bool { return p != s.Shim && isProtected(p) }
}

// tmuxServers returns the tmux servers that listen in the attempt's folder for them.
func (s Started) tmuxServers() (pids []int) {
	if s.Tmux == "" {
		return nil
	}
	sockets, _ := filepath.Glob(filepath.Join(s.Tmux, "tmux-*", "*"))
	for _, socket := range sockets {
		if pid := ListenerPID(socket); pid > 1 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// MarkOf returns the mark that a process was started with, or "" if it has none or that is unknown.
func MarkOf(pid int) string {
	value, _ := environValue(pid, KeyVariable)
	return value
}

// carriesKey reports whether a process was started with this key in its environment.
func carriesKey(pid int, key string) bool {
	value, ok := environValue(pid, KeyVariable)
	return ok && value == key
}

// inGroup reports whether a group with the recorded number can be the agent's: not if another process leads it now. The
// kernel does not reuse a pid while its group exists.
func (s Started) inGroup(rows []row) bool {
	if s.PGID <= 1 {
		return false
	}
	for _, r := range rows {
		if r.PID == s.PGID {
			return r.Process == s.Child
		}
	}
	return true
}

// Ancestry returns pid and its parents, nearest first. It returns false if a process ended before its parents were
// found.
func Ancestry(pid int) (line []int, whole bool) {
	for range 5 { // a parent that ends meanwhile leaves its child to another process
		if line, whole = ancestryOnce(pid); whole || len(line) == 0 {
			break
		}
	}
	return line, whole
}

func ancestryOnce(pid int) (line []int, whole bool) {
	for pid > 0 && !slices.Contains(line, pid) {
		r, err := readProcess(pid)
		if err != nil {
			return line, false
		}
		line = append(line, pid)
		pid = r.parent
	}
	return line, len(line) > 0
}
