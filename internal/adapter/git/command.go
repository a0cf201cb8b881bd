package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"orange/internal/core/task"
	"orange/internal/lazy"
)

// Timeouts of a git command that only reads, that writes files, and that uses the network.
const (
	readTimeout     = 30 * time.Second
	checkoutTimeout = 10 * time.Minute
	networkTimeout  = 2 * time.Minute
)

// A call is one git command.
type call struct {
	dir     string
	config  []string // key=value, for this command only
	args    []string
	env     []string
	input   string
	files   []*os.File // files that the command keeps open as well
	timeout time.Duration
	inside  []string // repositories inside the working tree that git also reads
	search  bool     // dir may be any folder of a working tree, not only its top
	network bool     // the command uses the network and may use keys and passwords
	free    bool     // the command only reads the configuration, so nothing has to be switched off
	ruling  *ruling
}

// An exitError is the failure of a git command that ran and exited with a non-zero code.
type exitError struct {
	args   []string
	code   int
	said   string // the line of stderr that gives the reason
	stderr string
	stdout string
	signal syscall.Signal // ended git; 0 if it exited

	withheld string // names the program that the command needed and the guard withheld
}

// Error implements error.
func (e *exitError) Error() string {
	if e.signal != 0 {
		return e.said
	}
	return fmt.Sprintf("git %s: %s", e.args[0], e.said)
}

// IsEndedBySignal reports whether err is about a git command that was ended by a signal, as when
// memory is short. The same command may work later.
func IsEndedBySignal(err error) bool {
	var exit *exitError
	return errors.As(err, &exit) && exit.signal != 0
}

// RefusalReason returns the reason that git gave, or how it ended.
func (e *exitError) RefusalReason() string { return e.said }

// run runs git in dir and returns its output without the final line ending.
func (g *Git) run(ctx context.Context, dir string, args ...string) (string, error) {
	return g.runCall(ctx, call{dir: dir, args: args})
}

// quietConfig are the settings for Orange's own housekeeping commands: they run no hooks, start no
// daemon for a temporary folder, and do not recurse into submodules.
var quietConfig = [...]string{"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.untrackedCache=false", "submodule.recurse=false"}

// runQuietly runs a housekeeping command.
func (g *Git) runQuietly(ctx context.Context, dir string, args ...string) (string, error) {
	return g.runCall(ctx, call{dir: dir, config: quietConfig[:], args: args, timeout: checkoutTimeout})
}

// runCall runs a command. Git fails if it reads a worktree at the moment when another command
// creates it; runCall then runs the command again.
func (g *Git) runCall(ctx context.Context, c call) (string, error) {
	if c.timeout == 0 {
		c.timeout = readTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	for wait := time.Millisecond; ; wait *= 2 {
		out, err := g.runOnce(ctx, c)
		var exit *exitError
		if wait > time.Second || !errors.As(err, &exit) || !halfWritten.MatchString(exit.stderr) {
			return out, err
		}
		select {
		case <-ctx.Done():
			return out, err
		case <-time.After(wait):
		}
	}
}

// halfWritten matches git's message about a worktree whose files are not complete yet.
var halfWritten = lazy.NewRegexp(`failed to read .*worktrees/.*commondir`)

func (g *Git) runOnce(ctx context.Context, c call) (string, error) {
	cmd, err := g.prepareCommand(ctx, &c)
	if err != nil {
		return "", err
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return strings.TrimSuffix(out.String(), "\n"), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("git is not installed: install git and try again")
	case ctx.Err() != nil:
		return "", fmt.Errorf("git %s in %s took too long: %w", c.args[0], c.dir, ctx.Err())
	case errors.As(err, &exit):
		if locked := lockedBy(c.dir, errs.String()); locked != nil {
			return "", locked
		}
		said := failureReason(errs.String())
		if strings.HasSuffix(said, gpgHidden) {
			said = makePrintable(g.askGPG(ctx, c, said))
		}
		withheld := c.ruling.explainFailure(c, errs.String())
		if withheld != "" {
			said += "; " + withheld
		}
		if _, err := os.Stat(c.dir); errors.Is(err, fs.ErrNotExist) {
			said = fmt.Sprintf("there is no folder %s: if it is a repository that was moved, run orange project update NAME --path NEW", c.dir)
		}
		failed := &exitError{args: c.args, code: exit.ExitCode(), said: said, stderr: errs.String(), stdout: out.String(), withheld: withheld}
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			failed.signal = status.Signal()
			failed.said = strings.TrimSuffix(fmt.Sprintf("git %s was ended by signal %v: %s", c.args[0], failed.signal, said), ": ")
		}
		return "", failed
	}
	return "", fmt.Errorf("run git %s: %w", c.args[0], err)
}

// prepareCommand prepares a call. The command gets its own session without a terminal: nothing
// in it can ask a question there, and the end of this process does not interrupt it. With a
// guard, the command also gets settings that switch off the programs it may not run.
func (g *Git) prepareCommand(ctx context.Context, c *call) (*exec.Cmd, error) {
	args := []string{"-C", c.dir}
	if g.guard != nil && !c.free {
		var err error
		if c.ruling, err = g.guard.ruleOnCall(ctx, g, *c); err != nil {
			return nil, err
		}
		if why := c.ruling.refusalReason(*c); why != "" {
			return nil, errors.New(why)
		}
	}
	env := g.callEnvironment(*c)
	if c.ruling != nil {
		env = append(env, inEnvironment(env, c.ruling.settings)...)
	}
	for _, setting := range c.config {
		args = append(args, "-c", setting)
	}
	cmd := exec.CommandContext(ctx, g.program, append(args, c.args...)...)
	cmd.Env = append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat",
		"GIT_ASKPASS=false", "SSH_ASKPASS=false", "GIT_EDITOR=:", "GIT_SEQUENCE_EDITOR=:", "GIT_MERGE_AUTOEDIT=no")
	if !c.search {
		cmd.Env = append(cmd.Env, ceilingEnv(c.dir))
	}
	if c.ruling != nil && !c.network && c.ruling.withholdsKind(task.GitTransport) {
		cmd.Env = append(cmd.Env, "GIT_ALLOW_PROTOCOL=") // a partial clone must not fetch missing objects either
	}
	cmd.Env = append(cmd.Env, c.env...)
	if c.input != "" {
		cmd.Stdin = strings.NewReader(c.input)
	}
	cmd.ExtraFiles = c.files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // git removes its lock files
	cmd.WaitDelay = 5 * time.Second
	return cmd, nil
}

// inEnvironment returns the variables that pass settings to git in addition to those in env.
// Settings do not go on the command line, which every user of the machine can read, because a
// setting may contain a password.
func inEnvironment(env []string, settings []setting) (out []string) {
	n, _ := strconv.Atoi(envOf(env)["GIT_CONFIG_COUNT"])
	for _, s := range settings {
		out = append(out, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, s.key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, s.value))
		n++
	}
	return append(out, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}

// callEnvironment returns the environment of a call. Only a call that may use keys gets the
// variables that hold them.
func (g *Git) callEnvironment(c call) []string {
	if g.environ == nil {
		return withoutRepository(new(exec.Cmd).Environ())
	}
	return withoutRepository(g.environ(c.network || c.ruling != nil && (c.ruling.keys || c.makesSignature() && c.ruling.ssh)))
}

// withoutRepository drops the variables by which a caller, such as a git hook, would direct git
// to another repository.
func withoutRepository(env []string) []string {
	return slices.DeleteFunc(env, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX",
			"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES":
			return true
		}
		return false
	})
}

// failureReason returns the line of git's stderr that gives the reason, made printable.
func failureReason(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if why := notSigned(stderr); why != "" {
		return makePrintable(why)
	}
	line := lines[0]
	for _, prefix := range [...]string{"fatal: ", "error: "} {
		if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, prefix) }); i >= 0 {
			line = strings.TrimPrefix(lines[i], prefix)
			break
		}
	}
	return makePrintable(line)
}

// credentials matches the user name and password in the address of a remote.
var credentials = lazy.NewRegexp(`://[^/@\s]*@`)

// makePrintable removes what must not reach a terminal or a log: control characters, and
// secrets in addresses.
func makePrintable(s string) string {
	s = credentials.ReplaceAllString(s, "://")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}

func exitCode(err error) int {
	var exit *exitError
	if errors.As(err, &exit) {
		return exit.code
	}
	return -1
}

// splitNulTerminated splits the output of a command with -z.
func splitNulTerminated(out string) []string {
	var list []string
	for item := range strings.SplitSeq(out, "\x00") {
		if item != "" {
			list = append(list, item)
		}
	}
	return list
}
