package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/task"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// statusTimeout is how long a status line waits. A prompt that hangs is worse than one that shows nothing.
const statusTimeout = 200 * time.Millisecond

// statusFlags are the flags of orange status.
type statusFlags struct {
	format, project, snippet string
	here                     bool
	timeout                  time.Duration
}

func newStatusCommand(deps Deps) *cobra.Command {
	var f statusFlags
	cmd := &cobra.Command{
		Use: "status", Short: "Print one line: how many agents work and what waits for you", Args: requireArguments(0, 0),
		Annotations: map[string]string{needsNothing: "yes"},
		Long: "Say in one line how many agents work, how many tasks wait for a person and how many for a\n" +
			"workspace: for prompts and status lines. A server is asked only if one runs, and not for\n" +
			"longer than --timeout; if there is nothing to say, nothing is printed and the exit code is 0.\n" +
			"With --json, an error is an error; without --format, a project that is not known is one.\n" +
			"Agents whose turn is over are idle; blocked are those that cannot continue: at a dialog, not logged\n" +
			"in, at a limit, or refused by their provider. Nothing that agents wrote is in the line.",
		Example: "  orange status\n  orange status --here --format prompt\n  orange status --snippet tmux >>~/.tmux.conf",
	}
	cmd.Flags().StringVar(&f.format, "format", "plain", "for whom: plain, prompt, tmux or json")
	cmd.Flags().StringVar(&f.project, "project", "", "only of this project")
	cmd.Flags().BoolVar(&f.here, "here", false, "only of this folder: its task's status, or its project's")
	cmd.Flags().DurationVar(&f.timeout, "timeout", statusTimeout, "how long to wait for the server")
	cmd.Flags().StringVar(&f.snippet, "snippet", "", "print what to put into the configuration of tmux, bash, zsh, fish or starship")
	_ = cmd.RegisterFlagCompletionFunc("format", completeFixed(statusFormats()...))
	_ = cmd.RegisterFlagCompletionFunc("snippet", completeFixed(snippetNames()...))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if f.snippet != "" {
			return printSnippet(deps.Stdout, f.snippet)
		}
		if wantsJSON(cmd) {
			f.format = "json"
		}
		return runStatus(cmd.Context(), deps, f)
	}
	return cmd
}

func statusFormats() []string { return []string{"plain", "prompt", "tmux", "json"} }

// A statusLine is the content of a status line.
type statusLine struct{ wire.StatusLine }

func runStatus(ctx context.Context, deps Deps, f statusFlags) error {
	var form func(statusLine) string
	switch f.format {
	case "plain":
		form = statusLine.plainSentence
	case "prompt":
		form = statusLine.promptLine
	case "tmux":
		form = statusLine.tmuxLine
	case "json":
	default:
		return usageError("format %q is not known: use plain, prompt, tmux or json", f.format)
	}
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	s, err := readStatus(ctx, deps, f)
	switch {
	case form == nil && err != nil, f.format == "plain" && errors.Is(err, errUnknownProject):
		return err
	case form == nil:
		return printJSON(deps.Stdout, s)
	case err != nil || s == nil:
		return nil
	}
	_, err = io.WriteString(deps.Stdout, form(*s))
	return err
}

// errUnknownProject is the error for the status of a project that does not exist.
var errUnknownProject = errors.New("is not known: see orange project list")

// readStatus reads the status from a running server. It returns nil if --here is set and the
// current folder belongs to no project.
func readStatus(ctx context.Context, deps Deps, f statusFlags) (*statusLine, error) {
	if deps.ConfigErr != nil {
		return nil, deps.ConfigErr
	}
	c, err := connectRunning(ctx, deps)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	at := wire.Location{Project: f.project}
	if f.here {
		if at, err = c.FindPlace(ctx, deps.Cwd); err != nil || at.Project == "" {
			return nil, err
		}
		if deps.Config.Task != "" {
			at.Task = task.ID(deps.Config.Task)
		}
	}
	line, err := c.ReadStatusLine(ctx, at.Project, at.Task)
	if err == nil && line.Unknown && !f.here {
		err = fmt.Errorf("project %q %w", cleanLine(f.project), errUnknownProject)
	}
	if err != nil {
		return nil, err
	}
	line.Unknown = false // reported as an error, not as part of the line
	return &statusLine{line}, nil
}

// plainSentence formats the status as a sentence for people.
func (s statusLine) plainSentence() string {
	var parts []string
	if s.Paused {
		parts = append(parts, "everything is paused")
	}
	if t := s.Task; t != nil {
		parts = append(parts, "this task is "+sanitizeName(t.Status)+describeStatusTask(t))
	}
	one, many := "agent at work", "agents at work"
	switch {
	case s.Idle > 0 && s.Blocked > 0:
		many = fmt.Sprintf("agents (%d idle, %d blocked)", s.Idle, s.Blocked)
	case s.Idle > 0:
		one, many = "agent (idle)", fmt.Sprintf("agents (%d idle)", s.Idle)
	case s.Blocked > 0:
		one, many = "agent (blocked)", fmt.Sprintf("agents (%d blocked)", s.Blocked)
	}
	for _, p := range []struct {
		n         int
		one, many string
	}{
		{s.Agents, one, many}, {s.Wants, "task waits for you", "tasks wait for you"},
		{s.Items, "item without a task waits for you", "items without a task wait for you"}, {s.Queued, "queued", "queued"},
	} {
		switch {
		case p.n == 1:
			parts = append(parts, "1 "+p.one)
		case p.n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.many))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "no agent at work, nothing waits for you")
	}
	return strings.Join(parts, ", ") + "\n"
}

// describeStatusTask describes what is special about the task of a folder.
func describeStatusTask(t *wire.StatusTask) string {
	switch {
	case t.Paused:
		return " (paused)"
	case t.Wants != "":
		return " (waits for you: " + sanitizeName(t.Wants) + ")"
	case t.Queued:
		return " (queued)"
	case t.Life == overview.Dead:
		return " (its agent died)"
	}
	return ""
}

// shortLine returns the line for prompts and status bars, "" if there is nothing to show.
// mark highlights what waits for a person.
func (s statusLine) shortLine(mark func(string) string) string {
	var parts []string
	add := func(n int, what string, form func(string) string) {
		if n > 0 {
			parts = append(parts, form(fmt.Sprintf("%d %s", n, what)))
		}
	}
	as := func(text string) string { return text }
	if t := s.Task; t != nil {
		text := sanitizeName(t.Status)
		if t.Wants != "" {
			text = mark(text + "!")
		}
		parts = append(parts, text)
	}
	add(s.Agents-s.Idle-s.Blocked, "run", as)
	add(s.Idle, "idle", as)
	add(s.Blocked, "blocked", as)
	add(s.Wants+s.Items, "wait", mark)
	add(s.Queued, "queued", as)
	if s.Paused {
		parts = append(parts, mark("paused"))
	}
	return strings.Join(parts, " ")
}

// promptLine returns the line for a shell prompt. It ends with a space and has no newline.
func (s statusLine) promptLine() string {
	text := s.shortLine(func(t string) string { return t })
	if text == "" {
		return ""
	}
	return "[" + text + "] "
}

// tmuxLine returns the line for tmux's status line, with tmux colours.
func (s statusLine) tmuxLine() string {
	return s.shortLine(func(t string) string { return "#[fg=yellow,bold]" + t + "#[default]" })
}

// sanitizeName replaces the characters of a name that a shell, prompt or status line could interpret.
func sanitizeName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(" -_.", r) {
			return r
		}
		return '_'
	}, cutToWidth(name, 40))
}

// A snippet is the configuration that makes a program show orange status.
type snippet struct{ name, text string }

// statusSnippets returns the snippets for the supported programs.
func statusSnippets() []snippet {
	return []snippet{
		{"tmux", `# ~/.tmux.conf: Orange at the right of the status line
set -g status-interval 5
set -g status-right-length 80
set -ag status-right ' #(orange status --format tmux)'
`},
		{"bash", `# ~/.bashrc: Orange before the prompt
PS1='$(orange status --here --format prompt)'"$PS1"
`},
		{"zsh", `# ~/.zshrc: Orange before the prompt
setopt PROMPT_SUBST
PROMPT='$(orange status --here --format prompt)'"$PROMPT"
`},
		{"fish", `# ~/.config/fish/config.fish: Orange before the prompt
functions -q fish_prompt_without_orange; or functions -c fish_prompt fish_prompt_without_orange
function fish_prompt
    orange status --here --format prompt
    fish_prompt_without_orange
end
`},
		{"starship", `# ~/.config/starship.toml: Orange as a module
[custom.orange]
command = "orange status --here --format prompt"
when = true
format = "$output"
`},
	}
}

func snippetNames() []string {
	var out []string
	for _, s := range statusSnippets() {
		out = append(out, s.name)
	}
	return out
}

func printSnippet(w io.Writer, name string) error {
	for _, s := range statusSnippets() {
		if s.name == name {
			_, err := io.WriteString(w, s.text)
			return err
		}
	}
	return usageError("there is no snippet for %q: use %s", name, strings.Join(snippetNames(), ", "))
}
