package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"orange/internal/config"
	"orange/internal/ui/client"
)

// maxStartLog is the maximum size of the file of start-up errors, in bytes. A larger file is emptied.
const maxStartLog = 1 << 20

// startSelf returns a function that starts this program as the server of the data folder, in
// a new session so that it outlives the terminal. What the server prints before it has a log
// goes to serve.err.
func startSelf(cfg config.Config) func() (client.Child, error) {
	home := cfg.Home
	return func() (client.Child, error) {
		if cfg.Unsafe != nil {
			return nil, cfg.Unsafe
		}
		if cfg.RecordHere {
			return nil, errors.New("ORANGE_EFFECTS=record counts for a server that you start yourself: run orange serve with it, or unset it")
		}
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		log, err := os.OpenFile(filepath.Join(home, "serve.err"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		defer log.Close()
		info, err := log.Stat()
		if err != nil {
			return nil, err
		}
		from := info.Size()
		if from > maxStartLog && log.Truncate(0) == nil {
			from = 0
		}
		cmd := exec.Command(self, "serve", "--detached")
		cmd.Dir, cmd.Stderr = home, log
		cmd.Env = append(withoutAttempts(config.ServerEnv(config.Environ(), cfg.AgentEnv...), home), "ORANGE_HOME="+home)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		keepFiles()
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		return &startedServer{pid: cmd.Process.Pid, log: log.Name(), from: from}, nil
	}
}

// withoutAttempts removes the folders of attempts from PATH. If an agent starts the server,
// the server must not find the programs that Orange puts into the agent's PATH.
func withoutAttempts(env []string, home string) []string {
	attempts := filepath.Join(home, "attempts") + string(filepath.Separator)
	for i, kv := range env {
		value, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		dirs := slices.DeleteFunc(filepath.SplitList(value), func(dir string) bool { return strings.HasPrefix(dir, attempts) })
		env[i] = "PATH=" + strings.Join(dirs, string(filepath.ListSeparator))
	}
	return env
}

// keepFiles marks every open file close-on-exec. This program may have inherited files that
// it does not know, and a process that waits for their end must not wait for the server.
func keepFiles() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// A startedServer is a server that this process started. The process does not wait for it,
// because the server outlives it.
type startedServer struct {
	pid  int
	log  string
	from int64 // where its output begins in the log
}

// HasExited implements client.Child.
func (s *startedServer) HasExited() (bool, error) {
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(s.pid, &status, syscall.WNOHANG, nil)
	switch {
	case pid == 0 && err == nil, errors.Is(err, syscall.EINTR):
		return false, nil
	case err == nil && status.Exited() && status.ExitStatus() == exitOK:
		return true, nil
	}
	if said := s.lastLine(); said != "" {
		return true, errors.New(said)
	}
	return true, fmt.Errorf("it exited immediately (status %d) without a message: run orange serve to see more", status.ExitStatus())
}

func (s *startedServer) lastLine() string {
	f, err := os.Open(s.log)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, s.from, maxStartLog))
	if err != nil {
		return ""
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return strings.TrimPrefix(cleanLine(string(lines[len(lines)-1])), "orange: serve: ")
}

// programOutput runs a program and returns its output without surrounding white space.
func programOutput(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}
