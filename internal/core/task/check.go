package task

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/lazy"
)

// A CheckDefinition is a command that the owner of a project defines and Orange runs on the work of a task. Its exit code is the
// result; no agent reports it.
type CheckDefinition struct {
	Name    string        `json:"name"`
	Run     string        `json:"run"`               // for the shell
	Timeout time.Duration `json:"timeout,omitempty"` // 0 for DefaultCheckTimeout
	Retries int           `json:"retries,omitempty"` // how often it is run again after it failed
	Env     []string      `json:"env,omitempty"`     // NAME=VALUE, in addition to the inherited environment
	Folder  string        `json:"folder,omitempty"`  // in the worktree, "" for its root
	Setup   string        `json:"setup,omitempty"`   // shell command that runs first
}

// Limits of checks.
const (
	DefaultCheckTimeout = 20 * time.Minute
	maxCheckTimeout     = 24 * time.Hour
	maxChecks           = 32
	maxCheckRetries     = 10
	maxCheckBytes       = 8 << 10
)

var (
	checkName    = lazy.NewRegexp(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)
	variableName = lazy.NewRegexp(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// Limit returns how long the check may run.
func (c *CheckDefinition) Limit() time.Duration {
	if c.Timeout == 0 {
		return DefaultCheckTimeout
	}
	return c.Timeout
}

// CommandDigest identifies the command.
func (c *CheckDefinition) CommandDigest() string { return digestOf(c.Run) }

// EnvironmentDigest identifies what the check declares besides its command: its variables, its folder and its set-up
// command. The inherited environment and the machine are not part of it.
func (c *CheckDefinition) EnvironmentDigest() string {
	return digestOf(append(slices.Clone(c.Env), "folder "+c.Folder, "setup "+c.Setup)...)
}

func digestOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Validate returns what is wrong with the check, or nil.
func (c *CheckDefinition) Validate() error {
	switch {
	case !checkName.MatchString(c.Name):
		return fmt.Errorf("check %q: use letters, digits, dash and underscore in its name, beginning with a letter, at most 64", c.Name)
	case strings.TrimSpace(c.Run) == "":
		return fmt.Errorf("check %s has no command: give %s=COMMAND", c.Name, c.Name)
	case len(c.Run)+len(c.Setup) > maxCheckBytes || strings.ContainsRune(c.Run+c.Setup, 0):
		return fmt.Errorf("check %s: its command has more than %d bytes, or a zero byte: put it into a script of the repository", c.Name, maxCheckBytes)
	case c.Timeout < 0 || c.Timeout > maxCheckTimeout || c.Timeout != 0 && c.Timeout < time.Second:
		return fmt.Errorf("check %s: timeout %s: give 1s to %s", c.Name, c.Timeout, maxCheckTimeout)
	case c.Retries < 0 || c.Retries > maxCheckRetries:
		return fmt.Errorf("check %s: retries %d: give 0 to %d", c.Name, c.Retries, maxCheckRetries)
	case c.Folder != "" && (path.IsAbs(c.Folder) || slices.Contains(strings.Split(c.Folder, "/"), "..")):
		return fmt.Errorf("check %s: folder %q leads out of the worktree: give a folder inside it", c.Name, c.Folder)
	}
	for _, kv := range c.Env {
		if name, _, ok := strings.Cut(kv, "="); !ok || !variableName.MatchString(name) || strings.HasPrefix(name, "ORANGE_") {
			return fmt.Errorf("check %s: variable %q: give NAME=VALUE, and no name that begins with ORANGE_", c.Name, name)
		}
	}
	return nil
}

// ParseCheck reads NAME=COMMAND, the short form, or NAME.KEY=VALUE, which sets one key of the check: timeout, retries,
// env, folder or setup.
func ParseCheck(text string) (name, key, value string, err error) {
	left, value, ok := strings.Cut(text, "=")
	if !ok {
		return "", "", "", fmt.Errorf("check %q: give NAME=COMMAND, or NAME.timeout=20m, NAME.retries=1, NAME.env=NAME=VALUE, NAME.folder=DIR or NAME.setup=COMMAND", text)
	}
	name, key, _ = strings.Cut(left, ".")
	return name, key, value, nil
}

// Checks are the checks of a project or a task, in the order in which they run.
type Checks []CheckDefinition

// Named returns the check with a name.
func (l Checks) Named(name string) (*CheckDefinition, bool) {
	for i := range l {
		if l[i].Name == name {
			return &l[i], true
		}
	}
	return nil, false
}

// Validate returns what is wrong with the checks, or nil.
func (l Checks) Validate() error {
	if len(l) > maxChecks {
		return fmt.Errorf("there are %d checks, and the limit is %d: put several commands into one", len(l), maxChecks)
	}
	for i := range l {
		if err := l[i].Validate(); err != nil {
			return err
		}
		if at := slices.IndexFunc(l, func(c CheckDefinition) bool { return c.Name == l[i].Name }); at != i {
			return fmt.Errorf("check %s is defined twice: keep one", l[i].Name)
		}
	}
	return nil
}

// WithChanges returns the checks with arguments as ParseCheck reads them applied. NAME= removes a check.
func (l Checks) WithChanges(args []string) (Checks, error) {
	out := slices.Clone(l)
	var given []string
	for _, text := range args {
		name, key, value, err := ParseCheck(text)
		if err != nil {
			return nil, err
		}
		if id := name + "." + key; key != "env" && slices.Contains(given, id) {
			return nil, fmt.Errorf("check %s is given twice: keep one", strings.TrimSuffix(id, "."))
		} else if given = append(given, id); key == "" && value == "" {
			out = slices.DeleteFunc(out, func(c CheckDefinition) bool { return c.Name == name })
			continue
		}
		c, ok := out.Named(name)
		if !ok && key != "" {
			return nil, fmt.Errorf("check %q is not defined: give --check %s=COMMAND first", name, name)
		}
		if !ok {
			out = append(out, CheckDefinition{Name: name})
			c = &out[len(out)-1]
		}
		if err := c.setKey(key, value); err != nil {
			return nil, err
		}
	}
	return out, out.Validate()
}

func (c *CheckDefinition) setKey(key, value string) (err error) {
	switch key {
	case "":
		c.Run = value
	case "timeout":
		if c.Timeout, err = time.ParseDuration(value); err != nil {
			return fmt.Errorf("check %s: timeout %q: give a time such as 20m", c.Name, value)
		}
	case "retries":
		if c.Retries, err = strconv.Atoi(value); err != nil {
			return fmt.Errorf("check %s: retries %q: give a number", c.Name, value)
		}
	case "env":
		name, text, _ := strings.Cut(value, "=")
		c.Env = slices.DeleteFunc(slices.Clone(c.Env), func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		if text != "" {
			c.Env = append(c.Env, value)
		}
	case "folder":
		c.Folder = value
	case "setup":
		c.Setup = value
	default:
		return fmt.Errorf("check %s has no key %q: use timeout, retries, env, folder or setup", c.Name, key)
	}
	return nil
}

// MergeChecks returns the checks of a workflow file, each replaced by the project's of the same name, followed by the
// project's others.
func MergeChecks(file, project Checks) Checks {
	var out Checks
	for i := range file {
		if c, ok := project.Named(file[i].Name); ok {
			out = append(out, *c)
			continue
		}
		out = append(out, file[i])
	}
	for i := range project {
		if _, ok := out.Named(project[i].Name); !ok {
			out = append(out, project[i])
		}
	}
	return out
}

// A CheckRun is a check that runs, or waits until no agent is in a turn.
type CheckRun struct {
	Name   string    `json:"name"`
	Since  time.Time `json:"since"`             // when this run was wanted
	Tries  int       `json:"tries,omitempty"`   // how often it failed and was run again
	Again  int       `json:"again,omitempty"`   // runs without a result, which do not count
	ByHand bool      `json:"by_hand,omitempty"` // a person asked for it: its result moves nothing
	Place  string    `json:"place,omitempty"`   // PlaceLanding for a run on a candidate, "" for one in the workspace
}

// A CheckResult is the result of one run of a check, bound to what it ran on.
type CheckResult struct {
	Name        string        `json:"name"`
	Outcome     string        `json:"outcome"`
	Detail      string        `json:"detail,omitempty"`      // the reason, in words
	Command     string        `json:"command,omitempty"`     // digest of its command
	Environment string        `json:"environment,omitempty"` // digest of what it declares besides
	Commit      string        `json:"commit,omitempty"`
	Tree        string        `json:"tree,omitempty"`
	Place       string        `json:"place,omitempty"`
	Code        int           `json:"code,omitempty"` // exit code
	Duration    time.Duration `json:"duration,omitempty"`
	Attempt     int           `json:"attempt,omitempty"` // whose log holds its output
	At          time.Time     `json:"at,omitzero"`
	Last        string        `json:"last,omitempty"`  // the last lines of its output; untrusted
	Files       []string      `json:"files,omitempty"` // invalid: the files that changed meanwhile
}

// The outcomes of a check.
const (
	CheckPassed  = "passed"
	CheckFailed  = "failed"
	CheckTimeout = "timed-out"
	CheckInvalid = "invalid"    // the tree changed while it ran
	CheckMissing = "not-found"  // its command does not exist
	CheckBroken  = "broken-off" // it did not run to its end
)

// The places of checks.
const (
	PlaceWorkspace = "workspace" // the task's workspace
	PlaceLanding   = "landing"   // the landing worktree of the target branch
)

// OnCandidate reports whether the check ran on a candidate for landing, not in the workspace.
func (r *CheckResult) OnCandidate() bool { return r.Place == PlaceLanding }

// Failed reports whether the work failed the check.
func (r *CheckResult) Failed() bool { return r.Outcome == CheckFailed || r.Outcome == CheckTimeout }

// Covers reports whether the check passed, as it is defined now, on a tree.
func (r *CheckResult) Covers(c *CheckDefinition, tree string) bool {
	return r.Outcome == CheckPassed && tree != "" && r.Tree == tree && r.Command == c.CommandDigest() && r.Environment == c.EnvironmentDigest()
}

// Describe returns the result in a few words.
func (r *CheckResult) Describe() string { return "check " + r.Name + " " + r.DescribeOutcome() }

// DescribeOutcome is Describe without the name of the check.
func (r *CheckResult) DescribeOutcome() string {
	text := map[string]string{
		CheckPassed: "passed", CheckFailed: "failed", CheckTimeout: "failed", CheckInvalid: "gave no valid result",
		CheckMissing: "could not run", CheckBroken: "broke off",
	}[r.Outcome]
	if r.Detail != "" {
		text += ": " + r.Detail
	}
	return text
}

// CheckResultOf returns the newest result of a check in the workspace.
func (t *Task) CheckResultOf(name string) (*CheckResult, bool) {
	for i := range t.CheckResults {
		if t.CheckResults[i].Name == name && !t.CheckResults[i].OnCandidate() {
			return &t.CheckResults[i], true
		}
	}
	return nil, false
}

// FailedChecks returns the newest results that are failures.
func (t *Task) FailedChecks() []CheckResult {
	var out []CheckResult
	for _, r := range t.CheckResults {
		if r.Failed() {
			out = append(out, r)
		}
	}
	return out
}

// Lines returns the result as lines of text: what came of it, and the last lines of its output, each behind "> " so that
// they cannot be taken for more than quoted text.
func (r *CheckResult) Lines() []string {
	head := r.Describe()
	if r.Tree != "" {
		head += fmt.Sprintf(" (tree %.12s, %s)", r.Tree, r.Duration.Round(time.Second/10))
	}
	out := []string{head}
	if r.Outcome == CheckPassed || r.Last == "" {
		return out
	}
	out = append(out, "")
	for line := range strings.SplitSeq(r.Last, "\n") {
		out = append(out, "> "+line)
	}
	return out
}

// FailedNow returns the checks whose failure brought the task to its state.
func (t *Task) FailedNow() []CheckResult {
	return slices.DeleteFunc(t.FailedChecks(), func(r CheckResult) bool { return !r.At.Equal(t.Since) })
}
