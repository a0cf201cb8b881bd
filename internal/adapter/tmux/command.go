package tmux

import (
	"fmt"
	"strings"
)

// A command is one tmux command with its arguments.
type command []string

// joinCommands joins commands into the arguments of one tmux process.
func joinCommands(commands ...command) []string {
	var args []string
	for i, c := range commands {
		if i > 0 {
			args = append(args, ";")
		}
		for _, arg := range c {
			// A semicolon at the end of an argument would end the command.
			if head, found := strings.CutSuffix(arg, ";"); found {
				arg = head + `\;`
			}
			args = append(args, arg)
		}
	}
	return args
}

// ifElseCommand returns a command that runs yes if the format is true, and no otherwise.
func ifElseCommand(format, target string, yes, no []command) command {
	c := command{"if-shell", "-F"}
	if target != "" {
		c = append(c, "-t", target)
	}
	return append(c, format, formatScript(yes), formatScript(no))
}

// formatScript writes commands in tmux's command language.
func formatScript(commands []command) string {
	lines := make([]string, len(commands))
	for i, c := range commands {
		words := make([]string, len(c))
		for j, arg := range c {
			words[j] = quoteArgument(arg)
		}
		lines[i] = strings.Join(words, " ")
	}
	return strings.Join(lines, " ; ")
}

// quoteArgument quotes an argument so that tmux's parser returns it unchanged. Between single
// quotes every character is literal, except that blanks after a line end are lost.
func quoteArgument(arg string) string {
	var out strings.Builder
	out.WriteByte('\'')
	for i := range len(arg) {
		switch c := arg[i]; {
		case c == '\'':
			out.WriteString(`'\''`)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&out, `'"\%03o"'`, c)
		default:
			out.WriteByte(c)
		}
	}
	out.WriteByte('\'')
	return out.String()
}

// stripControls returns text without the characters that a terminal would act on. Of the
// control characters, only line ends and tabs stay.
func stripControls(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ' || 0x7f <= r && r <= 0x9f:
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
