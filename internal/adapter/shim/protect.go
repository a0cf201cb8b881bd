package shim

import "golang.org/x/sys/unix"

// ProtectProcess keeps what this process knows from being written to a core file and, on Linux,
// from being read by other processes of the same user: its memory, its environment and its
// open files. Programs that it starts are not protected. They inherit that no core files are
// written, and may change it.
func ProtectProcess() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit) // a limit can always be lowered
	}
	setHidden(true)
}

// ProtectServer is Protect for a process that adopts orphans. On Linux before 5.14 a process
// of an ordinary user that is hidden cannot list its own handles, which it needs to adopt
// orphans. It is not hidden there: it matters more to know whom a process belongs to.
func ProtectServer() {
	before := seesHandles()
	ProtectProcess()
	if before && !seesHandles() {
		setHidden(false)
	}
}
