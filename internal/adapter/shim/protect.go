package shim

import "golang.org/x/sys/unix"

// ProtectProcess keeps the memory of this process out of core files and, on Linux, keeps other processes of the same
// user from reading its memory, its environment and its open files. Programs that it starts are not protected. They
// inherit that no core files are written, and may change it.
func ProtectProcess() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit) // a limit can always be lowered
	}
	setHidden(true)
}

// ProtectServer is ProtectProcess for a process that adopts orphans. On Linux before 5.14 a hidden process of an
// ordinary user cannot list its own handles, which it needs to adopt orphans. There it is not hidden, because it
// matters more to know which attempt a process belongs to.
func ProtectServer() {
	before := seesHandles()
	ProtectProcess()
	if before && !seesHandles() {
		setHidden(false)
	}
}
