package shim

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// BootID returns an id that differs after every start of the machine.
func BootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// becomeSubreaper makes this process the parent of every descendant whose own parent ends.
func becomeSubreaper() bool {
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == nil
}

// readProcess reads /proc/PID/stat. It returns errEnded if there is no such process.
func readProcess(pid int) (row, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return row{}, errEnded
	}
	if err != nil {
		return row{}, fmt.Errorf("look at a process: %w", err)
	}
	return parseStat(pid, string(text))
}

// parseStat reads the fields that matter. The second one is the program's name in
// parentheses, and may hold anything, even parentheses.
func parseStat(pid int, text string) (row, error) {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return row{}, fmt.Errorf("look at process %d: the kernel says %q", pid, text)
	}
	parent, err1 := strconv.Atoi(fields[1])
	group, err2 := strconv.Atoi(fields[2])
	start, err3 := strconv.ParseUint(fields[19], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return row{}, fmt.Errorf("look at process %d: %w", pid, err)
	}
	zombie := fields[0] == "Z" || fields[0] == "X"
	return row{Process: Process{PID: pid, Start: start}, parent: parent, group: group, zombie: zombie}, nil
}

// listProcesses lists all processes.
func listProcesses() ([]row, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	defer dir.Close() //nolint:errcheck // it was only read
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	var rows []row
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		r, err := readProcess(pid)
		if err == nil {
			rows = append(rows, r)
		} else if !errors.Is(err, errEnded) && !errors.Is(err, os.ErrPermission) {
			return nil, err
		}
	}
	return rows, nil
}

// environValue returns the value of a variable in the environment a process was started with.
func environValue(pid int, name string) (value string, ok bool) {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return "", false
	}
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if value, ok := strings.CutPrefix(string(v), name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// argumentsOf returns the program and the arguments of a process, or nil if they are unknown.
func argumentsOf(pid int) []string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}

// programOf returns the file that a process runs, or "" if it is unknown.
func programOf(pid int) string {
	path, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(path, " (deleted)")
}

// sendSignal sends a signal by a handle of the process, so that it cannot reach another one.
func (p Process) sendSignal(sig unix.Signal) error {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		return p.checkedKill(sig)
	}
	if errors.Is(err, unix.ESRCH) {
		return errEnded
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd) //nolint:errcheck // nothing was written to it
	if err := p.checkAlive(); err != nil {
		return err
	}
	if err := unix.PidfdSendSignal(fd, sig, nil, 0); !errors.Is(err, unix.ESRCH) {
		return err
	}
	return errEnded
}

// openHandle opens a file that becomes readable when the process ends, so that Go's poller
// can wait for it.
func openHandle(p Process) (*os.File, error) {
	fd, err := unix.PidfdOpen(p.PID, unix.PIDFD_NONBLOCK)
	if errors.Is(err, unix.EINVAL) { // kernels before 5.10
		if fd, err = unix.PidfdOpen(p.PID, 0); err == nil {
			err = unix.SetNonblock(fd, true)
		}
	}
	if errors.Is(err, unix.ESRCH) {
		return nil, errEnded
	}
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "pidfd")
	if err := p.checkAlive(); err != nil {
		file.Close() //nolint:errcheck // nothing was written to it
		return nil, err
	}
	return file, nil
}

// handleEnded reports whether the process of a handle has ended, without waiting.
func handleEnded(fd uintptr) bool {
	polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(polled, 0)
	return err == nil && n > 0
}

// peerOf returns the process at the other end of a socket, from the kernel.
func peerOf(fd int) (int, error) {
	who, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(who.Pid), nil
}

// hasNoChildren reports whether this process has no child, not even one that has ended. What an agent leaves behind
// becomes a child of its shim before its end can be waited for, so this is certain once the agent is gone, and far
// cheaper than listing all processes.
func hasNoChildren() bool {
	return errors.Is(unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil), unix.ECHILD)
}

// processTraits returns the parent, the name and the terminal of a process.
func processTraits(pid int) (parent int, name, terminal string) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, "", ""
	}
	stat := string(text)
	open, shut := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if open < 0 || shut < open {
		return 0, "", ""
	}
	fields := strings.Fields(stat[shut+1:])
	if len(fields) < 5 {
		return 0, stat[open+1 : shut], ""
	}
	parent, _ = strconv.Atoi(fields[1])
	device, _ := strconv.Atoi(fields[4])
	return parent, stat[open+1 : shut], terminalName(device)
}

// terminalName returns the name of a terminal by the number of its device, "" for none.
func terminalName(device int) string {
	major, minor := device>>8&0xfff, device&0xff|device>>12&0xfff00
	switch {
	case device == 0:
		return ""
	case major >= 136 && major <= 143:
		return "pts/" + strconv.Itoa((major-136)<<8+minor)
	case major == 4 && minor < 64:
		return "tty" + strconv.Itoa(minor)
	case major == 4:
		return "ttyS" + strconv.Itoa(minor-64)
	}
	return fmt.Sprintf("tty %d:%d", major, minor)
}
