package worktree

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// portsPerSlot is the distance between the port ranges of two workspaces.
const portsPerSlot = 100

// longestLine is the number of characters of an output line that an error shows.
const longestLine = 200

// runCommand runs a command of the project in the workspace and writes its output to a log in
// the administrative folder.
func (w *workspace) runCommand(ctx context.Context, what, line string) error {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	log := filepath.Join(w.git, "orange-"+what+".log")
	f, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("run the %s command of %s: %w", what, w.Name, err)
	}
	err = w.runShell(ctx, line, f)
	if err = joinErrors(err, f.Close()); err == nil {
		return nil
	}
	said := ""
	if last := lastLine(log); last != "" {
		said = ": " + last
	}
	return fmt.Errorf("the %s command of %s: %w%s (see %s)", what, w.Name, err, said, log)
}

func (w *workspace) runShell(ctx context.Context, line string, log *os.File) error {
	_, n, err := parseName(w.Name)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, w.pool.timeout)
	defer cancel()
	cmd := exec.CommandContext(limited, "sh", "-c", line)
	cmd.Dir = w.path
	cmd.Env = append(append([]string{}, w.Env...), "ORANGE_SLOT="+strconv.Itoa(n), "ORANGE_PORT_OFFSET="+strconv.Itoa(n*portsPerSlot))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Run()
	if limited.Err() != nil && cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // kills what it started and what ignores the signal
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("it was interrupted: %w", ctx.Err())
	case limited.Err() != nil:
		return fmt.Errorf("it took longer than %s and was stopped", w.pool.timeout)
	}
	return err
}

// lastLine returns the last line of a log that is not empty, made printable.
func lastLine(log string) string {
	f, err := os.Open(log)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.Size() > 8<<10 {
		_, _ = f.Seek(-8<<10, 2)
	}
	last := ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if text := strings.TrimSpace(lines.Text()); text != "" {
			last = text
		}
	}
	last = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, last)
	if runes := []rune(last); len(runes) > longestLine {
		last = string(runes[:longestLine]) + "…"
	}
	return last
}
