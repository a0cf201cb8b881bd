package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// must ends the story unless there are at least so many arguments.
func must(ts *testscript.TestScript, neg bool, args []string, least int, usage string) {
	if neg || len(args) < least {
		ts.Fatalf("usage: %s", usage)
	}
}

// cmdRepo makes a git repository with one commit on branch main.
func cmdRepo(ts *testscript.TestScript, neg bool, args []string) {
	must(ts, neg, args, 1, "repo dir")
	ts.Check(ts.Exec("git", "init", "-q", "-b", "main", args[0]))
	ts.Check(ts.Exec("git", "-C", args[0], "commit", "-q", "--allow-empty", "-m", "first"))
}

// cmdTaskID puts the id of the task that was just created into a variable.
func cmdTaskID(ts *testscript.TestScript, neg bool, args []string) {
	must(ts, neg, args, 1, "taskid VAR")
	id := regexp.MustCompile(`(?:Created task |"task":{"id":"|"task":")(\w{21})`).FindStringSubmatch(ts.ReadFile("stdout"))
	if id == nil {
		ts.Fatalf("the last command created no task")
	}
	ts.Setenv(args[0], id[1])
}

// taskFile is the TASK.md of a task.
func taskFile(ts *testscript.TestScript, id string) string {
	found, _ := filepath.Glob(filepath.Join(ts.Getenv("ORANGE_HOME"), "tasks", "*", id, "TASK.md"))
	if len(found) != 1 {
		ts.Fatalf("task %s has %d files TASK.md", id, len(found))
	}
	return found[0]
}

// cmdSection appends a section with these lines to the task's TASK.md, as an agent would.
func cmdSection(ts *testscript.TestScript, neg bool, args []string) {
	must(ts, neg, args, 3, "section ID NAME LINE...")
	f, err := os.OpenFile(taskFile(ts, args[0]), os.O_APPEND|os.O_WRONLY, 0)
	ts.Check(err)
	_, err = fmt.Fprintf(f, "\n## %s\n\n%s\n", args[1], strings.Join(args[2:], "\n"))
	ts.Check(err)
	ts.Check(f.Close())
}

// cmdRefused runs a command that must fail, say why in one line that matches, and
// leave every task and its journal as they were.
func cmdRefused(ts *testscript.TestScript, neg bool, args []string) {
	must(ts, neg, args, 2, "refused PATTERN COMMAND...")
	before := snapshot(ts)
	oneLine(ts, args[0], args[1:])
	if after := snapshot(ts); before != after {
		ts.Fatalf("the refused command changed something.\nbefore:\n%safter:\n%s", before, after)
	}
}

// cmdExits runs a command that must end with an exit code.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	must(ts, neg, args, 2, "exits CODE COMMAND...")
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		code = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if args[0] != strconv.Itoa(code) {
		ts.Fatalf("the exit code is %d, not %s", code, args[0])
	}
}

// cmdOneLine runs a command that must fail and say why in one line that matches.
func cmdOneLine(ts *testscript.TestScript, neg bool, args []string) {
	must(ts, neg, args, 2, "oneline PATTERN COMMAND...")
	oneLine(ts, args[0], args[1:])
}

func oneLine(ts *testscript.TestScript, pattern string, command []string) {
	if ts.Exec(command[0], command[1:]...) == nil {
		ts.Fatalf("it did not fail")
	}
	said := ts.ReadFile("stderr")
	if why := wrongLine(said); why != "" {
		ts.Fatalf("%s: %q", why, said)
	}
	if !regexp.MustCompile(pattern).MatchString(said) {
		ts.Fatalf("%q does not match %q", said, pattern)
	}
}

// wrongLine says what keeps text from being one line for a person, "" if nothing.
func wrongLine(text string) string {
	switch {
	case !strings.HasPrefix(text, "orange: "):
		return "it does not begin with orange:"
	case strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n"):
		return "it is not one line"
	case len(text) > 600:
		return "it is too long for a line"
	}
	return ""
}

// cmdJSONHas compares one value in the JSON of a file. A path is made of names and
// numbers with dots between them; a number below 0 counts from the end, and count is how
// many there are. Without a value it must only be there.
func cmdJSONHas(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: [!] jsonhas FILE PATH [VALUE]")
	}
	var v any
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	d.UseNumber()
	ts.Check(d.Decode(&v))
	got, ok := dig(v, strings.Split(args[1], "."))
	if ok && len(args) == 3 {
		ok = got == args[2]
	}
	if ok == neg {
		ts.Fatalf("%s is %q", args[1], got)
	}
}

func dig(v any, path []string) (string, bool) {
	for _, name := range path {
		switch in := v.(type) {
		case map[string]any:
			next, ok := in[name]
			if !ok {
				return "", false
			}
			v = next
		case []any:
			if name == "count" {
				v = len(in)
				continue
			}
			i, err := strconv.Atoi(name)
			if i < 0 {
				i += len(in)
			}
			if err != nil || i < 0 || i >= len(in) {
				return "", false
			}
			v = in[i]
		default:
			return "", false
		}
	}
	if s, ok := v.(string); ok {
		return s, true
	}
	text, err := json.Marshal(v)
	return string(text), err == nil
}

// cmdEffects compares what was done for a task with a list of effects, each as its
// name, a colon and its role if it has one, and checks that nothing was done twice.
func cmdEffects(ts *testscript.TestScript, neg bool, args []string) {
	must(ts, neg, args, 1, "effects ID EFFECT...")
	var got, keys []string
	for line := range strings.Lines(ts.ReadFile(filepath.Join(ts.Getenv("ORANGE_HOME"), "effects", args[0]+".jsonl"))) {
		var e struct{ Key, Do, Role string }
		ts.Check(json.Unmarshal([]byte(line), &e))
		if slices.Contains(keys, e.Key) {
			ts.Fatalf("%s was done twice", e.Key)
		}
		keys = append(keys, e.Key)
		got = append(got, strings.TrimSuffix(e.Do+":"+e.Role, ":"))
	}
	if !slices.Equal(got, args[1:]) {
		ts.Fatalf("done was\n  %s\nnot\n  %s", strings.Join(got, " "), strings.Join(args[1:], " "))
	}
}

// cmdRace runs a command several times in parallel. So many must succeed; the others must
// each say why not, in one line.
func cmdRace(ts *testscript.TestScript, neg bool, args []string) {
	must(ts, neg, args, 3, "race N WINNERS COMMAND...")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	var wait sync.WaitGroup
	outs, errs, failed := make([]bytes.Buffer, n), make([]bytes.Buffer, n), make([]error, n)
	for i := range n {
		cmd := command(ts, args[2:])
		cmd.Stdout, cmd.Stderr = &outs[i], &errs[i]
		wait.Go(func() { failed[i] = cmd.Run() })
	}
	wait.Wait()
	won := 0
	for i := range n {
		fmt.Fprint(ts.Stdout(), outs[i].String())
		fmt.Fprint(ts.Stderr(), errs[i].String())
		if failed[i] == nil {
			won++
		} else if why := wrongLine(errs[i].String()); why != "" {
			ts.Fatalf("run %d, %v: %s: %q", i, failed[i], why, errs[i].String())
		}
	}
	if args[1] != strconv.Itoa(won) {
		ts.Fatalf("%d of %d succeeded, not %s: %v", won, n, args[1], failed)
	}
}

// command is a command in the folder and with the environment of the story.
func command(ts *testscript.TestScript, args []string) *exec.Cmd {
	name := args[0]
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if full := filepath.Join(dir, args[0]); name == args[0] && runnable(full) {
			name = full
		}
	}
	cmd := exec.Command(name, args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, v := range []string{
		"PATH", "HOME", "TMPDIR", "TZ", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "ORANGE_HOME",
		"ORANGE_ROLE", "ORANGE_TASK", "ORANGE_ATTEMPT", "GIT_CONFIG_NOSYSTEM", "GORACE",
	} {
		if value := ts.Getenv(v); value != "" {
			cmd.Env = append(cmd.Env, v+"="+value)
		}
	}
	return cmd
}

func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// cmdConnected waits until every background command has had a connection to its server. A program with the race detector can
// lose a signal that arrives earlier.
func cmdConnected(ts *testscript.TestScript, neg bool, args []string) {
	must(ts, neg, args, 0, "connected")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, cmd := range ts.BackgroundCmds() {
		if !until(ctx, func() bool { return hasNetwork(cmd.Process.Pid) }) {
			ts.Fatalf("%s has no connection", cmd)
		}
	}
}

// hasNetwork reports whether a Go program has had a connection: with the first one it opens a file for events, which stays
// open. Where the system does not show that it reports true.
func hasNetwork(pid int) bool {
	if runtime.GOOS != "linux" {
		return true
	}
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	files, _ := os.ReadDir(dir)
	return slices.ContainsFunc(files, func(file os.DirEntry) bool {
		to, _ := os.Readlink(filepath.Join(dir, file.Name()))
		return to == "anon_inode:[eventpoll]"
	})
}

// cmdWaitFor runs a command again and again until its output matches.
func cmdWaitFor(ts *testscript.TestScript, neg bool, args []string) {
	must(ts, neg, args, 2, "waitfor PATTERN COMMAND...")
	want := regexp.MustCompile(args[0])
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	last := ""
	ok := until(ctx, func() bool {
		err := ts.Exec(args[1], args[2:]...)
		last = ts.ReadFile("stdout") + ts.ReadFile("stderr")
		return err == nil && want.MatchString(last)
	})
	if !ok {
		ts.Fatalf("it never said %q, but at last:\n%s", args[0], last)
	}
}

// cmdRelease makes a folder with this source built under a version, and its sum.
func cmdRelease(ts *testscript.TestScript, neg bool, args []string) {
	must(ts, neg, args, 2, "release VERSION DIR")
	program, err := buildVersion(args[0])
	ts.Check(err)
	dir := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(os.WriteFile(filepath.Join(dir, "orange"), program, 0o755))
	ts.Check(os.WriteFile(filepath.Join(dir, "SHA256SUMS"), fmt.Appendf(nil, "%x  orange\n", sha256.Sum256(program)), 0o644))
}

// building is held while a version is built.
var building sync.Mutex

// buildVersion returns this source built under a version, once for all stories.
func buildVersion(version string) ([]byte, error) {
	building.Lock()
	defer building.Unlock()
	file := filepath.Join(programs, "orange-"+version)
	if program, err := os.ReadFile(file); err == nil {
		return program, nil
	}
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-X main.version="+version, "-o", file, ".").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build version %s: %w: %s", version, err, out)
	}
	return os.ReadFile(file)
}
