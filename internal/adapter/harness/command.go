package harness

import (
	"fmt"
	"strings"
	"time"

	"orange/internal/core/agent"
	"orange/internal/view/ansi"
)

// command is an arbitrary program, given by its command line. It has no hooks, and its output
// format is unknown.
type command struct {
	line  string
	words []string
}

// Placeholders for the prompt in a command line.
const (
	promptPlace     = "{prompt}"
	promptFilePlace = "{prompt_file}"
)

func newCommand(line string) (command, error) {
	words, err := splitWords(line)
	if err == nil && (len(words) == 0 || words[0] == "" || strings.ContainsRune(line, 0)) {
		err = fmt.Errorf("it names no program: write command:PROGRAM, with %s or %s where the prompt goes", promptPlace, promptFilePlace)
	}
	if err != nil {
		return command{}, fmt.Errorf("harness %q: %w", cleanLine(agent.CommandPrefix+line, 80), err)
	}
	return command{line: line, words: words}, nil
}

// Name implements Harness.
func (c command) Name() string { return agent.CommandPrefix + c.line }

// Program implements Harness.
func (c command) Program() string { return c.words[0] }

// EffortLevels implements Harness.
func (command) EffortLevels() []string { return nil }

// PlanLaunch implements Harness.
func (c command) PlanLaunch(l Launch) (Plan, error) {
	if err := l.checkLaunch(c); err != nil {
		return Plan{}, err
	}
	prompt, err := l.promptArgument(beginsWith("-")) // an option
	if err != nil {
		return Plan{}, err
	}
	places := strings.NewReplacer(promptPlace, prompt, promptFilePlace, l.PromptFile)
	argv, placed := make([]string, 0, len(c.words)+1), false
	for _, w := range c.words {
		placed = placed || strings.Contains(w, promptPlace) || strings.Contains(w, promptFilePlace)
		argv = append(argv, places.Replace(w))
	}
	if !placed && prompt != "" {
		argv = append(argv, prompt)
	}
	return Plan{Plan: agent.Plan{Argv: argv, Env: []string{"ORANGE_PROMPT_FILE=" + l.PromptFile}, Unhooked: true}}, nil
}

// ParseHook implements Harness.
func (command) ParseHook(string, []byte, time.Time) (agent.Notice, error) { return agent.Notice{}, nil }

// ReadOutput implements Harness. The last message is the end of the output.
func (command) ReadOutput(o Output) agent.Notice { return lastOutput(o) }

// turnSources implements Harness.
func (command) turnSources(Output) []source { return nil }

// ReadScreen implements Harness.
func (command) ReadScreen(string, time.Time) (agent.Notice, bool) { return agent.Notice{}, false }

// ReadInput implements Harness. Its screens are unknown.
func (command) ReadInput(ansi.View) ansi.Input { return ansi.Input{} }

// TrustDialogKeys implements Harness.
func (command) TrustDialogKeys(string) (string, bool) { return "", false }

// lastOutput takes the end of a plain log as the last message. The log of an agent at a terminal
// is what the terminal showed, including what was typed, and gives no last message. Only the
// very last lines can report a used-up allowance: further up, such text may be part of the
// work.
func lastOutput(o Output) agent.Notice {
	if !o.Headless {
		return agent.Notice{}
	}
	end, more := readTail(o.Log, maxFinal)
	n := agent.Notice{Final: cleanProse(string(end))}
	addLimit(&n, lastLines(n.Final, 3), o.Now)
	if more && !strings.HasPrefix(n.Final, cutNote) {
		n.Final = cutNote + n.Final
	}
	return n
}

// lastLines returns the last lines of a text, if they are short enough for an error message.
func lastLines(text string, count int) string {
	const short = 4 << 10
	lines := strings.Split(text[max(0, len(text)-short):], "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "\n")
}
