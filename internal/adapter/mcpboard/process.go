package mcpboard

import (
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// endTime is how long a program may take to end by itself once its input is closed, and again
// once it was signalled.
const endTime = 2 * time.Second

// A program is the process of a board that communicates over its standard input and output. It
// leads its own process group, so that the processes it started end with it.
type program struct {
	cmd  *exec.Cmd
	said tail
}

func newProgram(o BoardOptions) *program {
	p := &program{cmd: exec.Command(o.Command[0], o.Command[1:]...)}
	p.cmd.Env = append([]string{}, o.Env...)
	p.cmd.Dir = o.Dir
	p.cmd.Stderr = &p.said
	p.cmd.WaitDelay = endTime
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return p
}

// killGroup kills what is left of the process group.
func (p *program) killGroup() {
	if p != nil && p.cmd.Process != nil {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	}
}

// lastOutput returns the last line of the program's error output.
func (p *program) lastOutput() string {
	if p == nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(p.said.String()), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return " (its program printed: " + last + ")"
	}
	return ""
}

// A tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

const maxTail = 2048

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[max(0, len(p)-maxTail):]...)
	t.kept = t.kept[max(0, len(t.kept)-maxTail):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
