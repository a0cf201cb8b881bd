// Package harness knows the coding agents that Orange can run: how each is started,
// headless or in a terminal, how it is resumed, which of its hooks say how it is doing,
// and where its last word, its cost and its limits are found. A harness is data and a
// small adapter. The package starts nothing itself: it plans a start, and it reads what
// an agent left behind. Text of an agent is untrusted and leaves here without control
// characters.
package harness

import (
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

// Launch is what is wanted of one start of an agent, and what a harness needs to know of this machine.
type Launch struct {
	agent.Launch
	Hook []string            // the command to call on events; the name of the event is appended
	Env  func(string) string // the environment of this process
}

// Plan is how an agent is started, and what must be there before.
type Plan struct {
	agent.Plan
	Files    []File   // to write before the start
	Excludes []string // paths in the worktree to keep out of git
}

// File is a file an agent needs to find.
type File struct {
	Path  string
	Merge bool // into the JSON that is there: what is there stays, hooks are added
	Text  []byte
	Mode  fs.FileMode
}

// Output is what an attempt left behind, and when it is read.
type Output struct {
	agent.Output
	Now time.Time
}

// Harness is one kind of agent.
type Harness interface {
	Name() string           // Find knows it by this
	Program() string        // what must be in PATH; empty if nothing must
	EffortLevels() []string // what Launch.Effort may be; nil if the agent takes none
	PlanLaunch(Launch) (Plan, error)

	// ParseHook says what a call of Launch.Hook means. An event it does not know is an
	// empty Notice. The hook command must print nothing: some agents take what it
	// prints for words of the user.
	ParseHook(event string, payload []byte, now time.Time) (agent.Notice, error)

	// ReadOutput finds what an attempt left behind after its end or after a turn. Final is
	// the agent's own last message: no prompt, and nothing that went into a tool or
	// came out of one. A file of more than four megabytes is read at its beginning and
	// at its end, however large it is; see docs/HARNESSES.md for what that means.
	ReadOutput(Output) agent.Notice

	// turnSources lists the files that tell what was said in an attempt, the best first; none
	// if the agent keeps no record. See Converse.
	turnSources(Output) []source

	// ReadScreen reads a captured terminal, where nothing better is known: a question
	// for permission, a dialog, a usage limit.
	ReadScreen(pane string, now time.Time) (agent.Notice, bool)

	// ReadInput says what a screen takes: a prompt with what stands in its input line, a
	// dialog, or nothing that is known.
	ReadInput(ansi.View) ansi.Input

	// TrustDialogKeys returns the characters to type into a dialog that asks whether the
	// worktree is trusted. Orange made it, so the answer is known; every other
	// question is left to a person.
	TrustDialogKeys(pane string) (keys string, ok bool)
}

// Find returns the harness of a name.
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

// FirstInstalled returns the first agent that look finds a program of.
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

// CheckEffort says what is wrong with an effort for a harness.
func CheckEffort(h Harness, effort string) error {
	known := h.EffortLevels()
	switch {
	case effort == "" || slices.Contains(known, effort):
		return nil
	case h.Name() == agent.Script:
		return nil // a script plays at any effort
	case len(known) == 0:
		return fmt.Errorf("%s takes no effort: leave it empty", h.Name())
	}
	return fmt.Errorf("effort %q is not one of %s: use %s", cleanLine(effort, 40), h.Name(), strings.Join(known, ", "))
}

// ExcludedPaths lists every path in a worktree that a harness of ours may make there.
func ExcludedPaths() []string { return []string{claudeLocal, geminiSettings} }

// HoldsOnlyOurs says whether a file of Excludes holds nothing but what Orange has put there.
func HoldsOnlyOurs(file string, text []byte) bool {
	return file == geminiSettings && onlyOurHooks(text)
}

// SkillDirs says where each agent looks for skills of the user.
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

// effortsOf are what an agent that people install takes.
func effortsOf(name string) []string {
	h, _ := agent.FindHarness(name)
	return h.Efforts
}
