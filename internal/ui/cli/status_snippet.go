package cli

import (
	"io"
	"strings"
)

// snippet is what a program's configuration needs to show orange status.
type snippet struct{ name, text string }

// snippets shows Orange in the programs that people look at anyway.
func snippets() []snippet {
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
	for _, s := range snippets() {
		out = append(out, s.name)
	}
	return out
}

func printSnippet(w io.Writer, name string) error {
	for _, s := range snippets() {
		if s.name == name {
			_, err := io.WriteString(w, s.text)
			return err
		}
	}
	return usageError("there is no snippet for %q: use %s", name, strings.Join(snippetNames(), ", "))
}
