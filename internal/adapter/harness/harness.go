// Package harness describes the coding agents that Orange can run: how each is started,
// headless or in a terminal, how it is resumed, which of its hooks report its condition, and
// where its last message, its cost and its limits are found. A harness is data and a small
// adapter. The package starts nothing itself: it plans a start, and it reads what an agent left
// behind. Text of an agent is untrusted; this package removes control characters from it.
package harness

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orange/internal/core/agent"
	"orange/internal/view/ansi"
)

// Launch describes one start of an agent and what a harness needs to know of this machine.
type Launch struct {
	agent.Launch
	Hook []string            // the command to call on events; the name of the event is appended
	Env  func(string) string // the environment of this process
	Path string              // the program to start, "" for the one in PATH
}

// program returns the word that starts the agent.
func (l Launch) program(name string) string { return cmp.Or(l.Path, name) }

// Plan is how to start an agent, and what must exist before.
type Plan struct {
	agent.Plan
	Files    []File   // to write before the start
	Excludes []string // paths in the worktree to keep out of git
}

// File is a file that an agent needs.
type File struct {
	Path  string
	Merge bool // merge into the JSON that exists: existing values stay, hooks are added
	Text  []byte
	Mode  fs.FileMode
}

// Output is what an attempt left behind, and the time at which it is read.
type Output struct {
	agent.Output
	Now time.Time
}

// Harness is one kind of agent.
type Harness interface {
	Name() string           // the name that Find accepts
	Program() string        // the program that must be in PATH; empty if none
	EffortLevels() []string // the values that Launch.Effort may have; nil if the agent has no effort levels
	PlanLaunch(Launch) (Plan, error)

	// ParseHook returns the meaning of a call of Launch.Hook. For an unknown event it returns
	// an empty Notice. The hook command must print nothing: some agents take its output as
	// input of the user.
	ParseHook(event string, payload []byte, now time.Time) (agent.Notice, error)

	// ReadOutput reads what an attempt left behind after its end or after a turn. Final is the
	// agent's own last message: not a prompt, and nothing that a tool received or returned. Of
	// a file of more than four megabytes it reads only the beginning and the end;
	// docs/HARNESSES.md describes the consequences.
	ReadOutput(Output) agent.Notice

	// turnSources returns the files that contain the conversation of an attempt, the best
	// first, or none if the agent keeps no record. See ReadConversation.
	turnSources(Output) []source

	// ReadScreen reads a captured terminal if nothing better is known: a permission request, a
	// dialog, a usage limit.
	ReadScreen(pane string, now time.Time) (agent.Notice, bool)

	// ReadInput returns what input a screen accepts: a prompt with the present content of its
	// input line, a dialog, or nothing known.
	ReadInput(ansi.View) ansi.Input

	// TrustDialogKeys returns the characters to type into a dialog that asks whether the
	// worktree is trusted. Orange created the worktree, so the answer is known; every other
	// question is for a person.
	TrustDialogKeys(pane string) (keys string, ok bool)
}

// Find returns the harness with a name.
func Find(name string) (Harness, error) {
	switch name {
	case "claude":
		return claude{root: os.Geteuid() == 0}, nil
	case "codex":
		return codex{}, nil
	case "opencode":
		return opencode{}, nil
	case "gemini":
		return gemini{}, nil
	case "pi":
		return pi{}, nil
	case agent.Script:
		return script{}, nil
	}
	if line, ok := strings.CutPrefix(name, agent.CommandPrefix); ok {
		return newCommand(line)
	}
	if file, ok := strings.CutPrefix(name, agent.ScriptPrefix); ok {
		if !filepath.IsAbs(file) {
			return nil, fmt.Errorf("harness %q: give the whole path of the script, such as script:/home/me/demo.yaml", cleanLine(name, 80))
		}
		return script{file: file}, nil
	}
	return nil, fmt.Errorf("harness %q is not known: use %s, command:PROGRAM or script:FILE", cleanLine(name, 80), strings.Join(agent.HarnessNames(), ", "))
}

// FirstInstalled returns the first agent whose program look finds.
func FirstInstalled(look func(program string) (string, error)) (string, bool) {
	for _, name := range agent.HarnessNames() {
		h, err := Find(name)
		if err != nil {
			continue
		}
		if _, err := look(h.Program()); err == nil {
			return name, true
		}
	}
	return "", false
}

// CheckEffort returns an error if a harness does not have an effort level.
func CheckEffort(h Harness, effort string) error {
	known := h.EffortLevels()
	switch {
	case effort == "" || slices.Contains(known, effort):
		return nil
	case h.Name() == agent.Script:
		return nil // a script accepts any effort
	case len(known) == 0:
		return fmt.Errorf("%s takes no effort: leave it empty", h.Name())
	}
	return fmt.Errorf("effort %q is not one of %s: use %s", cleanLine(effort, 40), h.Name(), strings.Join(known, ", "))
}

// CheckTerms returns an error if a harness does not accept what it is given.
func CheckTerms(h Harness, t agent.Terms) error {
	if err := CheckEffort(h, t.Effort); err != nil {
		return err
	}
	if _, err := flagWords(h, t.Flags); err != nil {
		return err
	}
	return checkPermissions(h, t.Permissions)
}

// flagWords splits the further arguments of an agent. They are options: anything else could be taken for a prompt.
func flagWords(h Harness, flags string) ([]string, error) {
	words, err := splitWords(flags)
	switch _, known := agent.FindHarness(h.Name()); {
	case err != nil:
		return nil, fmt.Errorf("flags %q of %s: %w", cleanLine(flags, 80), h.Name(), err)
	case len(words) == 0:
		return nil, nil
	case !known:
		return nil, fmt.Errorf("%s takes no flags: put them into its command line", cleanLine(h.Name(), 60))
	case !strings.HasPrefix(words[0], "-") || slices.Contains(words, "--"):
		return nil, fmt.Errorf("flags %q of %s: give options, as in \"--max-turns 50\", and no --", cleanLine(flags, 80), h.Name())
	}
	return words, nil
}

// checkPermissions returns an error if a harness does not have a mode of permissions.
func checkPermissions(h Harness, mode string) error {
	known, _ := agent.FindHarness(h.Name())
	modes := append([]string{agent.SkipPermissions}, known.Permissions...)
	switch {
	case mode == "" || slices.Contains(modes, mode), h.Name() == agent.Script:
		return nil
	case len(modes) == 1:
		return fmt.Errorf("%s never asks for permission: use %s", cleanLine(h.Name(), 60), agent.SkipPermissions)
	}
	return fmt.Errorf("permissions %q are not a mode of %s: use %s", cleanLine(mode, 40), h.Name(), strings.Join(modes, ", "))
}

// ExcludedPaths returns every path in a worktree at which a harness may create a file.
func ExcludedPaths() []string { return []string{claudeLocal, geminiSettings} }

// HoldsOnlyOurs reports whether a file of ExcludedPaths contains only what Orange has written.
func HoldsOnlyOurs(file string, text []byte) bool {
	return file == geminiSettings && onlyOurHooks(text)
}

// SkillDirs returns the folder in which each agent looks for skills of the user.
func SkillDirs(home string, getenv func(string) string) map[string]string {
	out := map[string]string{}
	for _, h := range agent.Harnesses() {
		dir := getenv(h.Skills.Variable)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(home, h.Skills.Default)
		}
		out[h.Name] = filepath.Join(dir, h.Skills.Path)
	}
	return out
}

// effortsOf returns the effort levels of an agent that people install.
func effortsOf(name string) []string {
	h, _ := agent.FindHarness(name)
	return h.Efforts
}
