package shim

import (
	"path/filepath"
	"slices"
)

// A DataFolder knows which processes below an attempt do not belong to it, although one of its commands started them:
// the server of its data folder, the tmux of that folder, the shims of other attempts there, and their descendants. The
// zero value knows none.
type DataFolder struct {
	Server   func() (Process, bool) // the process that holds the data folder
	Terminal string                 // socket of its tmux
	Attempts string                 // the folder of all attempts: it holds a folder for each task
}

// protectedFilter returns a function that reports whether a process does not belong to the attempt. A process that carries
// the mark of the attempt always belongs to it: servers and shims are started without it.
func (d DataFolder) protectedFilter(key string) func(Process) bool {
	var server Process
	held := false
	if d.Server != nil {
		server, held = d.Server()
	}
	terminal := 0
	if d.Terminal != "" {
		terminal = ListenerPID(d.Terminal)
	}
	return func(p Process) bool {
		if key != "" && carriesKey(p.PID, key) {
			return false
		}
		_, isShim := d.ShimFolder(p.PID)
		return isShim || held && p == server || terminal != 0 && p.PID == terminal
	}
}

// ShimFolder returns the folder of the attempt in this data folder whose start record names the process with a pid as
// its shim. The arguments of the process only say which record to read.
func (d DataFolder) ShimFolder(pid int) (Folder, bool) {
	args := argumentsOf(pid)
	if d.Attempts == "" || len(args) == 0 {
		return "", false
	}
	f := Folder(filepath.Clean(args[len(args)-1]))
	if filepath.Dir(filepath.Dir(string(f))) != d.Attempts {
		return "", false
	}
	p, alive := FindProcess(pid)
	r, err := f.readRecords()
	if !alive || err != nil {
		return "", false
	}
	boot := BootID()
	return f, slices.ContainsFunc([]Started{r.claim, r.started}, func(s Started) bool { return s.BootID == boot && s.Shim == p })
}
