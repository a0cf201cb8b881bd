package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/core/task"
)

// initCheck is the name of the check that orange init defines.
const initCheck = "tests"

// testsQuestion asks for the command that tests finished work. It offers what the repository has; a command is run on the
// work of every task, so without a person nothing is chosen.
func testsQuestion() setupQuestion {
	return setupQuestion{
		flag: initCheck, usage: "command that Orange runs on finished work, as the check tests; or none", ask: "Which command tests finished work",
		prepare: func(_ context.Context, u *setup) error {
			u.tests = findTestCommands(u.project.Path)
			return nil
		},
		suggest: func(u *setup) string {
			if len(u.tests) == 0 {
				return noAnswer
			}
			return u.tests[0]
		},
		unasked: func(u *setup) string {
			if len(u.tests) > 0 {
				fmt.Fprintf(u.Stderr, "orange: no check is set. This repository has %s: orange init --tests %q runs it on finished work\n", strings.Join(u.tests, ", "), u.tests[0])
			}
			return noAnswer
		},
		have: func(u *setup) string {
			if c, ok := u.project.Checks.Named(initCheck); ok {
				return c.Run
			}
			if len(u.project.Checks) > 0 {
				return noAnswer
			}
			return ""
		},
		explain: func(u *setup) []string {
			found := "  Neither a Makefile with a target test or check, nor package.json with a test script, go.mod or Cargo.toml is here."
			if len(u.tests) > 0 {
				found = "  This repository has: " + strings.Join(u.tests, ", ")
			}
			lines := []string{
				"Tests: a command that Orange runs itself, in the worktree of a task, before anyone reviews the work. Work",
				"that fails goes back to the agent with the output. none leaves the tests to agents and to you.", found,
			}
			if len(u.project.Checks) > 0 {
				lines = append(lines, "  The project has the checks: "+checkNames(u.project.Checks))
			}
			if slices.Contains(u.tests, npmTest) && u.project.Setup == "" {
				lines = append(lines, `  A new worktree has no node_modules: orange project update --setup "npm ci" installs them there.`)
			}
			return lines
		},
		check: func(_ context.Context, u *setup, value string) error {
			if value == noAnswer {
				return nil
			}
			return (&task.CheckDefinition{Name: initCheck, Run: value}).Validate()
		},
		set: func(u *setup, value string) {
			if value == noAnswer {
				value = ""
			}
			u.change.Checks = []string{initCheck + "=" + value}
			if checks, err := u.project.Checks.WithChanges(u.change.Checks); err == nil {
				u.project.Checks = checks
			}
		},
	}
}

// npmTest is the command that runs the test script of package.json.
const npmTest = "npm test"

// findTestCommands lists the commands that test a repository, as far as its files tell.
func findTestCommands(dir string) []string {
	var out []string
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} { // the first that exists is the one that make reads
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			for _, target := range []string{"test", "check"} {
				if hasTarget(string(text), target) {
					out = append(out, "make "+target)
				}
			}
			break
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "package.json")); err == nil && hasTestScript(text) {
		out = append(out, npmTest)
	}
	for _, c := range []struct{ file, command string }{{"go.mod", "go test ./..."}, {"Cargo.toml", "cargo test"}} {
		if info, err := os.Stat(filepath.Join(dir, c.file)); err == nil && info.Mode().IsRegular() {
			out = append(out, c.command)
		}
	}
	return out
}

// hasTarget reports whether a makefile has a rule for a target.
func hasTarget(makefile, target string) bool {
	for line := range strings.Lines(makefile) {
		targets, rest, ok := strings.Cut(line, ":")
		if ok && !strings.HasPrefix(line, "\t") && !strings.HasPrefix(strings.TrimPrefix(rest, ":"), "=") &&
			!strings.ContainsAny(targets, "=#") && slices.Contains(strings.Fields(targets), target) {
			return true
		}
	}
	return false
}

// hasTestScript reports whether a package.json has a test script other than the one that npm init writes.
func hasTestScript(text []byte) bool {
	var p struct {
		Scripts map[string]string `json:"scripts"`
	}
	script := ""
	if json.Unmarshal(text, &p) == nil {
		script = p.Scripts["test"]
	}
	return script != "" && !strings.Contains(script, "no test specified")
}
