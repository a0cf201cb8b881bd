package harness

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"orange/internal/core/agent"
)

// maxArgument is how long a prompt may be to be passed as one argument. Linux allows 128 KiB.
const maxArgument = 120 << 10

// promptArgument returns the prompt as one argument. If the prompt would not arrive intact,
// because it is too long or because the agent interprets its beginning as a command,
// promptArgument returns an instruction to read the file that contains it. An agent at a
// terminal may have no prompt.
func (l Launch) promptArgument(reads func(prompt string) bool) (string, error) {
	switch {
	case l.Prompt == "" && l.Interactive:
		return "", nil
	case l.Prompt == "":
		return "", errors.New("an agent without a terminal needs a prompt: give one")
	case len(l.Prompt) <= maxArgument && !strings.ContainsRune(l.Prompt, 0) && !reads(l.Prompt):
		return l.Prompt, nil
	case l.PromptFile == "":
		return "", errors.New("the prompt cannot be passed as an argument: put it into a file as well")
	}
	return "Read " + l.PromptFile + " and follow it.", nil
}

// beginsWith returns a test for the first character of a prompt.
func beginsWith(chars string) func(string) bool {
	return func(prompt string) bool { return prompt != "" && strings.IndexByte(chars, prompt[0]) >= 0 }
}

// checkIDs returns an error for session ids that could be taken for something else. They come
// from the output of an agent.
func (l Launch) checkIDs() error {
	for _, id := range []string{l.Session, l.Resume} {
		if id != "" && !plainID(id) {
			return fmt.Errorf("session id %q is not one: start a new session", cleanLine(id, 60))
		}
	}
	return nil
}

func plainID(id string) bool {
	for i, c := range []byte(id) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '-' && c != '_') {
			return false
		}
	}
	return id != "" && len(id) <= 128
}

// checkLaunch checks what every harness requires of a launch.
func (l Launch) checkLaunch(h Harness) error {
	if err := CheckTerms(h, agent.Terms{Effort: l.Effort, Flags: l.Flags, Permissions: l.Permissions}); err != nil {
		return err
	}
	if l.asks() && !l.Interactive {
		return fmt.Errorf("%s runs without a terminal, where nobody can be asked for permission: use a terminal, or permissions %s", cleanLine(h.Name(), 60), agent.SkipPermissions)
	}
	if !plainModel(l.Model) {
		return fmt.Errorf("model %q is not a name: give one as %s knows it", cleanLine(l.Model, 60), cleanLine(h.Name(), 60))
	}
	return l.checkIDs()
}

// asks reports whether the agent asks before it acts.
func (l Launch) asks() bool { return l.Permissions != "" && l.Permissions != agent.SkipPermissions }

// flags returns the further arguments of the agent. checkLaunch has checked them.
func (l Launch) flags() []string {
	words, _ := splitWords(l.Flags)
	return words
}

// plainModel reports whether the name of a model, which comes from a file, is safe as an
// argument: not an option, and without control characters.
func plainModel(name string) bool {
	return !strings.HasPrefix(name, "-") && len(name) <= 200 && utf8.ValidString(name) && stripControls(name, false) == name && strings.TrimSpace(name) == name
}

// hookLine returns the command of a hook for a shell, or "" without hooks.
func (l Launch) hookLine(event string) string {
	if len(l.Hook) == 0 {
		return ""
	}
	var line strings.Builder
	for _, w := range l.Hook {
		line.WriteString(shellWord(w) + " ")
	}
	return line.String() + shellWord(event)
}

// shellWord quotes a word for a POSIX shell.
func shellWord(w string) string {
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
