package notify_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"orange/internal/adapter/notify"
	"orange/internal/wait"
)

// terminal opens a pseudo terminal: the side of a person, and that of a program.
func terminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skip("there are no terminals here:", err)
	}
	person = os.NewFile(uintptr(fd), "ptmx")
	t.Cleanup(func() { person.Close() })
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

func TestBellRingsAttachedTerminals(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	dir, err := os.MkdirTemp("", "o")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	env := []string{"PATH=" + os.Getenv("PATH"), "TERM=vt100", "LANG=C"}
	bell := notify.Bell{Socket: socket, Env: env}
	if err := bell.SendMessage(t.Context(), message("?")); err != nil {
		t.Errorf("without a tmux: %v", err)
	}
	tmux := func(args ...string) *exec.Cmd {
		cmd := exec.Command("tmux", append([]string{"-S", socket, "-f", "/dev/null"}, args...)...)
		cmd.Env = env
		return cmd
	}
	if out, err := tmux("new-session", "-d", "sleep 1000").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() { _ = tmux("kill-server").Run() })
	if err := bell.SendMessage(t.Context(), message("?")); err != nil {
		t.Errorf("without anybody: %v", err)
	}
	person, program := terminal(t)
	look := tmux("attach-session")
	look.Stdin, look.Stdout, look.Stderr = program, program, program
	look.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := look.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = tmux("kill-server").Run()
		_ = look.Wait()
	})
	wait.Until(t, "the bell rings in the terminal", func() bool {
		out, err := tmux("list-clients", "-F", "#{client_tty}").Output()
		return err == nil && strings.HasPrefix(string(out), "/dev/pts/")
	})
	if err := bell.SendMessage(t.Context(), message("?")); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "a bell arrives", func() bool { return bytes.Contains(available(t, person), []byte{'\a'}) })
}

// available returns what a terminal shows next.
func available(t *testing.T, person *os.File) []byte {
	t.Helper()
	_ = person.SetReadDeadline(time.Now().Add(time.Second))
	buffer := make([]byte, 64<<10)
	n, err := person.Read(buffer)
	if err != nil && !os.IsTimeout(err) {
		t.Fatal(err)
	}
	return buffer[:n]
}
