package shim

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// zombieState is the state of a process that has ended and was not waited for.
const zombieState = 5

// BootID returns an id that differs after every start of the machine.
func BootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}

// becomeSubreaper returns false: orphans go to the first process here.
func becomeSubreaper() bool { return false }

// dropCode does nothing: the system reclaims unused memory itself.
func dropCode() {}

// readProcess reads a process from the kernel. It returns errEnded if there is no such process, for which the kernel
// returns nothing.
func readProcess(pid int) (row, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.EIO) || errors.Is(err, unix.ESRCH) || err == nil && int(info.Proc.P_pid) != pid {
		return row{}, errEnded
	}
	if err != nil {
		return row{}, fmt.Errorf("look at a process: %w", err)
	}
	return rowOf(info), nil
}

func rowOf(info *unix.KinfoProc) row {
	start := info.Proc.P_starttime
	return row{
		Process: Process{PID: int(info.Proc.P_pid), Start: uint64(start.Sec)*1e6 + uint64(start.Usec)},
		parent:  int(info.Eproc.Ppid),
		group:   int(info.Eproc.Pgid),
		zombie:  info.Proc.P_stat == zombieState,
	}
}

// listProcesses lists all processes.
func listProcesses() ([]row, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	rows := make([]row, len(all))
	for i := range all {
		rows[i] = rowOf(&all[i])
	}
	return rows, nil
}

// argumentsOf returns nothing here: a process that is no longer a child is not found below an attempt.
func argumentsOf(int) []string { return nil }

// programOf returns nothing here.
func programOf(int) string { return "" }

// environValue returns nothing here: the environment of another process cannot be read.
func environValue(int, string) (string, bool) { return "", false }

func (p Process) sendSignal(sig unix.Signal) error { return p.checkedKill(sig) }

// openHandle returns no handle here: a process must be polled.
func openHandle(Process) (*os.File, error) { return nil, errors.ErrUnsupported }

func handleEnded(uintptr) bool { return false }

func peerOf(fd int) (int, error) {
	return unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
}

// hasNoChildren returns false here: what an agent leaves behind does not become a child of its shim.
func hasNoChildren() bool { return false }

// setHidden does nothing here: another process needs the right to debug.
func setHidden(bool) {}

func seesHandles() bool { return false }

// AdoptOrphans does nothing here: launchd adopts a process whose parent has ended.
func AdoptOrphans(context.Context) {}

// processTraits returns the parent, the name and the terminal of a process.
func processTraits(pid int) (parent int, name, terminal string) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return 0, "", ""
	}
	if device := info.Eproc.Tdev; device > 0 {
		terminal = fmt.Sprintf("ttys%03d", device&0xffffff)
	}
	return int(info.Eproc.Ppid), unix.ByteSliceToString(info.Proc.P_comm[:]), terminal
}

// lostTerminal returns false: it is not known what macOS says of a terminal that was closed from outside.
func lostTerminal() bool { return false }

// leaveTerminal does nothing: macOS keeps the name of a terminal that nobody has open, so that its removal tells nothing.
func leaveTerminal() {}
