package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/view/humanize"
)

// manDate is the date in the manual pages. It is a constant so that the same program always
// writes the same pages.
const manDate = "2026-11-15"

func newManCommand(deps Deps) *cobra.Command {
	return needsNoServer(&cobra.Command{
		Use: "man [folder]", Short: "Print the manual page of orange, or write all manual pages into a folder", Args: requireArguments(0, 1),
		Long: "Print the manual page orange(1) as roff. With a folder, write a page for every command into\n" +
			"it: orange.1, orange-task.1, orange-task-create.1 and so on. The folder is made if it is not\n" +
			"there, and older pages in it are replaced. A new folder that has the name of a command or of\n" +
			"its page is given with a slash, as in ./task-create.",
		Example: "  orange man | man -l -\n  orange man ~/.local/share/man/man1 && man orange-task-create",
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			if len(args) == 0 {
				_, err := io.WriteString(deps.Stdout, manPage(root, deps.Version))
				return err
			}
			dir := args[0]
			if c := pageNamed(root, dir); c != nil && !isFolder(filepath.Join(deps.Cwd, dir)) {
				return usageError("the argument is a folder for the pages of all commands, and %s is a command: read %s --help, or give ./%s", dir, c.CommandPath(), dir)
			}
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(deps.Cwd, dir)
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("make the folder: %w", err)
			}
			n, err := writePages(dir, root, deps.Version)
			if err != nil {
				return err
			}
			return showResult(cmd, map[string]any{"folder": dir, "pages": n}, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "Wrote %d pages to %s\n", n, cleanLine(dir))
				return err
			})
		},
	})
}

// pageNamed returns the command with this name or manual page, nil if there is none.
func pageNamed(cmd *cobra.Command, name string) *cobra.Command {
	if page := manName(cmd); name == page || "orange-"+name == page || name == page+".1" {
		return cmd
	}
	for _, c := range visibleCommands(cmd) {
		if found := pageNamed(c, name); found != nil {
			return found
		}
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// writePages writes the pages of a command and its subcommands. It returns how many it wrote.
func writePages(dir string, cmd *cobra.Command, version string) (n int, err error) {
	path := filepath.Join(dir, manName(cmd)+".1")
	if err := os.WriteFile(path, []byte(manPage(cmd, version)), 0o644); err != nil {
		return 0, fmt.Errorf("write the page: %w", err)
	}
	n = 1
	for _, c := range visibleCommands(cmd) {
		below, failed := writePages(dir, c, version)
		n, err = n+below, errors.Join(err, failed)
	}
	return n, err
}

// manName returns the name of a command's manual page.
func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// visibleCommands returns the subcommands of cmd that are not hidden.
func visibleCommands(cmd *cobra.Command) (out []*cobra.Command) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			out = append(out, c)
		}
	}
	return out
}

// manPage returns the manual page of a command.
func manPage(cmd *cobra.Command, version string) string {
	var p roff
	fmt.Fprintf(&p, ".TH %q 1 %q %q %q\n", strings.ToUpper(manName(cmd)), manDate, "Orange "+version, "Orange")
	p.beginSection("NAME")
	p.writeLine(escapeRoff(manName(cmd)) + ` \- ` + escapeRoff(strings.ToLower(cmd.Short[:1])+cmd.Short[1:]))
	p.beginSection("SYNOPSIS")
	p.writeLine(bold(cmd.CommandPath()) + " " + escapeRoff(commandSynopsis(cmd)))
	p.beginSection("DESCRIPTION")
	p.writeParagraphs(longOf(cmd))
	if list := visibleCommands(cmd); len(list) > 0 {
		p.beginSection("COMMANDS")
		for _, c := range list {
			p.writeItem(bold(c.CommandPath()), c.Short)
		}
	}
	p.writeOptions(cmd)
	if cmd.Example != "" {
		p.beginSection("EXAMPLES")
		p.writeBlock(strings.Split(cmd.Example, "\n"))
	}
	if !cmd.HasParent() {
		p.writeAbout()
	}
	p.seeAlso(cmd)
	return p.String()
}

// longOf returns the description of a command in full sentences.
func longOf(cmd *cobra.Command) string {
	switch {
	case cmd.Long != "":
		return cmd.Long
	case !cmd.HasParent():
		return manOrange
	}
	return cmd.Short + "."
}

// manOrange describes the program.
const manOrange = `Orange runs coding agents through a workflow that is a file. A task is a branch of a project and a
state of its workflow. Each task gets a worktree of its own, agents work in it one stage after the
other, and what the workflow leaves to people waits in an inbox.

A server decides, writes down and starts agents. The first command that needs one starts it; it
exits when there is nothing to do. If it dies, agents continue, and the next server finds them.

The pages of the commands are called orange-task, orange-task-create and so on.`

// commandSynopsis returns what follows the name of a command in its synopsis.
func commandSynopsis(cmd *cobra.Command) string {
	_, rest, _ := strings.Cut(cmd.Use, " ")
	if len(visibleCommands(cmd)) > 0 {
		rest = "command"
	}
	if cmd.HasAvailableLocalFlags() && !strings.Contains(rest, "--") {
		rest += " [flags]"
	}
	return strings.TrimSpace(rest)
}

// writeOptions lists the flags of a command, its own first.
func (p *roff) writeOptions(cmd *cobra.Command) {
	p.beginFlags("OPTIONS", cmd.NonInheritedFlags().HasAvailableFlags())
	for _, f := range collectAll(cmd.NonInheritedFlags().VisitAll) {
		if !f.Hidden {
			p.writeItem(flagTerm(f.Shorthand, f.Name, f.Value.Type(), f.Usage), flagAbout(f.Usage, f.DefValue))
		}
	}
	p.beginFlags("OPTIONS OF ALL COMMANDS", cmd.InheritedFlags().HasAvailableFlags())
	for _, f := range collectAll(cmd.InheritedFlags().VisitAll) {
		if !f.Hidden {
			p.writeItem(flagTerm(f.Shorthand, f.Name, f.Value.Type(), f.Usage), flagAbout(f.Usage, f.DefValue))
		}
	}
}

// beginFlags starts a section of flags, if there are any.
func (p *roff) beginFlags(name string, any bool) {
	if any {
		p.beginSection(name)
	}
}

// flagTerm formats a flag with the name of its value. If the usage text has a word in
// backquotes, that word names the value.
func flagTerm(short, name, kind, usage string) string {
	out := bold("--" + name)
	if short != "" {
		out = bold("-"+short) + ", " + out
	}
	value := map[string]string{"string": "text", "stringArray": "text", "int": "number", "uint64": "number", "duration": "time", "age": "time", "bool": ""}
	word, known := value[kind]
	if !known {
		word = kind
	}
	if parts := strings.SplitN(usage, "`", 3); len(parts) == 3 {
		word = parts[1]
	}
	if word != "" {
		out += " " + italic(word)
	}
	return out
}

// flagAbout describes what a flag does, with its default value.
func flagAbout(usage, value string) string {
	usage = strings.ReplaceAll(usage, "`", "")
	switch value {
	case "", "0", "0s", "false", "[]":
		return usage
	}
	if strings.Contains(usage, "(default") {
		return usage
	}
	return fmt.Sprintf("%s (default %s)", usage, value)
}

func (p *roff) seeAlso(cmd *cobra.Command) {
	var refs []string
	if cmd.HasParent() {
		refs = append(refs, manName(cmd.Parent()))
	}
	for _, c := range visibleCommands(cmd) {
		refs = append(refs, manName(c))
	}
	if len(refs) == 0 {
		return
	}
	p.beginSection("SEE ALSO")
	for i, r := range refs {
		refs[i] = bold(r) + "(1)"
	}
	p.writeLine(strings.Join(refs, ",\n"))
}

// roff builds a manual page.
type roff struct{ strings.Builder }

// writeMacro writes a request with arguments.
func (p *roff) writeMacro(name string, args ...string) {
	p.WriteString("." + name)
	for _, a := range args {
		p.WriteString(` "` + strings.ReplaceAll(escapeRoff(a), `"`, `\(dq`) + `"`)
	}
	p.WriteByte('\n')
}

func (p *roff) beginSection(name string) { p.writeMacro("SH", name) }

// writeLine writes a line of text that is already escaped.
func (p *roff) writeLine(s string) { p.WriteString(strings.TrimRight(s, " ") + "\n") }

// writeItem writes a term and its description.
func (p *roff) writeItem(term, about string) {
	p.writeMacro("TP")
	p.writeLine(term)
	p.writeFilled(about)
}

// writeParagraphs writes paragraphs. It does not fill indented ones.
func (p *roff) writeParagraphs(s string) {
	for i, par := range strings.Split(strings.TrimSpace(s), "\n\n") {
		if i > 0 {
			p.writeMacro("PP")
		}
		if strings.HasPrefix(par, "  ") {
			p.writeBlock(strings.Split(par, "\n"))
			continue
		}
		p.writeFilled(par)
	}
}

// writeFilled writes text wrapped to lines of at most 70 characters.
func (p *roff) writeFilled(s string) {
	for l := range strings.Lines(humanize.Wrap(s, "", 70)) {
		p.writeLine(escapeRoff(strings.TrimSuffix(l, "\n")))
	}
}

// writeBlock writes lines without filling them.
func (p *roff) writeBlock(lines []string) {
	p.WriteString(".nf\n")
	for _, l := range lines {
		p.writeLine(escapeRoff(strings.TrimPrefix(l, "  ")))
	}
	p.WriteString(".fi\n")
}

func bold(s string) string { return `\fB` + escapeRoff(s) + `\fR` }

func italic(s string) string { return `\fI` + escapeRoff(s) + `\fR` }

// escapeRoff escapes text so that roff does not read it as a request or replace characters.
func escapeRoff(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case i == 0 && (r == '.' || r == '\''):
			b.WriteString(`\&` + string(r))
		case r == '\\':
			b.WriteString(`\(rs`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '\t':
			b.WriteString("    ")
		case r < ' ' || r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// writeAbout writes the sections about the program as a whole.
func (p *roff) writeAbout() {
	for _, s := range []struct {
		name  string
		items [][2]string
	}{
		{"EXIT STATUS", [][2]string{
			{"0", "It was done."},
			{"1", "It was refused, or something broke; one line on standard error says what, and what to do. Also: a check found something."},
			{"2", "The command line, or a file that it names, could not be understood."},
		}},
		{"ENVIRONMENT", [][2]string{
			{"ORANGE_HOME", "The data folder. A server works on one of them."},
			{"ORANGE_LOG_LEVEL", "debug, info, warn or error: how much the server writes to its log."},
			{"ORANGE_EFFECTS", "record: orange serve writes effects down instead of carrying them out, and no agents run. For trying things."},
			{"ORANGE_TASK, ORANGE_ROLE, ORANGE_ATTEMPT, ORANGE_TOKEN", "Set inside an attempt. Commands are then about its task and act for it; the token says so to the server."},
			{"XDG_DATA_HOME, XDG_CONFIG_HOME, XDG_RUNTIME_DIR", "Where the folders of Orange are, and its socket."},
			{"NO_COLOR", "If it is set, nothing is coloured."},
		}},
		{"FILES", [][2]string{
			{"~/.local/share/orange", "The data folder: the store, the log, workspaces, and the folder of each task with its TASK.md."},
			{"~/.config/orange/config.json", "The configuration. None is fine."},
			{"~/.config/orange/workflows", "Your own workflows."},
			{".orange/workflows, .orange/prompts", "Workflows and prompts of a repository."},
		}},
	} {
		p.beginSection(s.name)
		for _, it := range s.items {
			p.writeItem(bold(it[0]), it[1])
		}
	}
}
