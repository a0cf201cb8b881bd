package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"orange/internal/adapter/git"
	"orange/internal/atomicfile"
	"orange/internal/core/agent"
	"orange/internal/core/task"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
)

// CheckCommand is the hidden command that runs one check, as the agent of an attempt.
const CheckCommand = "run-check"

// Bounds of what is kept of a check: its output, its beginning and its end; the last lines in its result.
const (
	maxCheckHead  = 512 << 10
	maxCheckTail  = 512 << 10
	maxCheckLast  = 4000
	maxCheckLines = 40
	checkEndGrace = 2 * time.Second // between the signal to end and the kill, at the timeout
)

// RunCheck runs the check whose orders are in an attempt's folder, and writes the result there. It returns the exit code
// of its process. It is the parent of the check's processes; what they leave behind, the shim ends.
func RunCheck(dir string) int {
	var orders agent.CheckOrders
	text, err := os.ReadFile(filepath.Join(dir, agent.CheckOrdersFile))
	if err == nil {
		err = json.Unmarshal(text, &orders)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "orange: read the orders of a check: %v\n", err)
		return 1
	}
	r := runCheck(orders, os.Stdout)
	if text, err = json.Marshal(r); err == nil {
		err = atomicfile.Write(filepath.Join(dir, agent.CheckResultFile), text, 0o600)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "orange: write the result of check %s: %v\n", r.Name, err)
		return 1
	}
	return r.Code
}

// checkout is what a check must not change.
type checkout struct {
	commit, tree string
	dirty        []string
}

// readCheckout reads the state of a worktree.
func readCheckout(dir string) (c checkout, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	g := git.New()
	if c.commit, c.tree, err = g.ReadTree(ctx, dir, "HEAD"); err == nil {
		c.dirty, err = g.UncommittedFiles(ctx, dir)
	}
	return c, err
}

// runCheck runs a check between two looks at its worktree. If they differ the result does not count.
func runCheck(o agent.CheckOrders, log io.Writer) task.CheckResult {
	c := &o.Check
	r := task.CheckResult{Name: c.Name, Outcome: task.CheckInvalid, Command: c.CommandDigest(), Environment: c.EnvironmentDigest(), Place: o.Place}
	before, err := readCheckout(o.Dir)
	if err != nil {
		r.Detail = ansi.OneLine(err.Error())
		return r
	}
	r.Commit, r.Tree = before.commit, before.tree
	if len(before.dirty) > 0 {
		r.Files, r.Detail = fewFiles(before.dirty), "the worktree has uncommitted files: "+ansi.OneLine(humanize.FirstFew(before.dirty, 5))
		return r
	}
	began := time.Now()
	out := &boundedOutput{to: log}
	timedOut := false
	deadline := began.Add(c.Limit())
	for _, command := range [...]string{c.Setup, c.Run} {
		if command == "" {
			continue
		}
		if r.Code, timedOut, err = runShell(o, command, deadline, out); err != nil || timedOut || r.Code != 0 {
			break
		}
	}
	out.finish()
	r.Duration, r.Last = time.Since(began).Round(time.Millisecond), lastText(out.tail)
	switch {
	case err != nil:
		r.Outcome, r.Detail = task.CheckMissing, ansi.OneLine(err.Error())
		return r
	case timedOut:
		r.Outcome, r.Detail = task.CheckTimeout, "it did not end within "+humanize.FormatDuration(c.Limit())
	case r.Code == 127 || r.Code == 126:
		r.Outcome, r.Detail = task.CheckMissing, fmt.Sprintf("the shell could not run its command (code %d)", r.Code)
		if line := lastLine(r.Last); line != "" {
			r.Detail = line
		}
	case r.Code != 0:
		r.Outcome, r.Detail = task.CheckFailed, fmt.Sprintf("exit code %d", r.Code)
	default:
		r.Outcome = task.CheckPassed
	}
	after, err := readCheckout(o.Dir)
	switch {
	case err != nil:
		r.Outcome, r.Detail = task.CheckInvalid, ansi.OneLine(err.Error())
	case after.commit != before.commit:
		r.Outcome, r.Detail = task.CheckInvalid, fmt.Sprintf("the branch moved from %.12s to %.12s while it ran", before.commit, after.commit)
	case len(after.dirty) > 0:
		r.Outcome, r.Files = task.CheckInvalid, fewFiles(after.dirty)
		r.Detail = "files changed while it ran: " + ansi.OneLine(humanize.FirstFew(after.dirty, 5))
	}
	return r
}

func fewFiles(list []string) []string {
	out := slices.Clone(list[:min(len(list), 20)])
	for i := range out {
		out[i] = ansi.OneLine(out[i])
	}
	return out
}

// runShell runs one command of a check in a process group of its own, until it ends or its time is over.
func runShell(o agent.CheckOrders, command string, deadline time.Time, out *boundedOutput) (code int, timedOut bool, err error) {
	read, write, err := os.Pipe()
	if err != nil {
		return 0, false, err
	}
	defer read.Close() //nolint:errcheck // it was only read
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = filepath.Join(o.Dir, filepath.FromSlash(o.Check.Folder)), append(cmd.Environ(), o.Check.Env...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = write, write, &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	write.Close() //nolint:errcheck // the command has it
	if err != nil {
		return 0, false, fmt.Errorf("start %q: %w", command, err)
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		io.Copy(out, read) //nolint:errcheck // what cannot be read is missing
	}()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-time.After(time.Until(deadline)):
		timedOut = true
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) //nolint:errcheck // it may have ended
		select {
		case err = <-ended:
		case <-time.After(checkEndGrace):
		}
	}
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // whatever it left behind
	if timedOut && err == nil {
		err = <-ended
	}
	read.SetReadDeadline(time.Now().Add(200 * time.Millisecond)) //nolint:errcheck // a process in another group may hold the pipe
	<-copied
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return exit.ExitCode(), timedOut, nil
	case errors.As(err, &exit):
		if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
			return 128 + int(s.Signal()), timedOut, nil
		}
	case err != nil:
		return 0, timedOut, err
	}
	return 0, timedOut, nil
}

// boundedOutput passes on the beginning of an output and keeps its end.
type boundedOutput struct {
	to      io.Writer
	written int
	rest    []byte // not passed on yet: the end
	dropped int
	tail    []byte // the end, passed on or not
}

// Write implements io.Writer.
func (b *boundedOutput) Write(p []byte) (int, error) {
	n := len(p)
	b.tail = lastBytes(append(b.tail, p...), maxCheckLast*4)
	if head := min(len(p), maxCheckHead-b.written); head > 0 {
		b.to.Write(p[:head]) //nolint:errcheck // the log shows that something is missing
		b.written += head
		p = p[head:]
	}
	if b.rest = append(b.rest, p...); len(b.rest) > 2*maxCheckTail {
		b.dropped += len(b.rest) - maxCheckTail
		b.rest = lastBytes(b.rest, maxCheckTail)
	}
	return n, nil
}

// finish passes on the end.
func (b *boundedOutput) finish() {
	if over := len(b.rest) - maxCheckTail; over > 0 {
		b.dropped += over
		b.rest = lastBytes(b.rest, maxCheckTail)
	}
	if b.dropped > 0 {
		fmt.Fprintf(b.to, "\n... %d bytes of output were left out ...\n", b.dropped)
	}
	b.to.Write(b.rest) //nolint:errcheck // the log shows that something is missing
	b.rest = nil
}

// lastBytes returns a copy of the end of p.
func lastBytes(p []byte, most int) []byte {
	if len(p) <= most {
		return p
	}
	return bytes.Clone(p[len(p)-most:])
}

// lastText returns the last lines of an output as plain text.
func lastText(p []byte) string {
	lines := outputLines(p)
	lines = lines[max(0, len(lines)-maxCheckLines):]
	for i := range lines {
		lines[i] = humanize.Prefix(lines[i], 400)
	}
	text := strings.Join(lines, "\n")
	for len(text) > maxCheckLast {
		_, text, _ = strings.Cut(text[len(text)-maxCheckLast:], "\n")
	}
	return text
}

func lastLine(text string) string {
	return text[strings.LastIndexByte(text, '\n')+1:]
}
