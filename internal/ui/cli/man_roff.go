package cli

import (
	"fmt"
	"strings"

	"orange/internal/core/prose"
)

// roff is a manual page that is being written.
type roff struct{ strings.Builder }

// macro writes a request with arguments.
func (p *roff) macro(name string, args ...string) {
	p.WriteString("." + name)
	for _, a := range args {
		p.WriteString(` "` + strings.ReplaceAll(escape(a), `"`, `\(dq`) + `"`)
	}
	p.WriteByte('\n')
}

func (p *roff) section(name string) { p.macro("SH", name) }

// line writes text that is escaped already.
func (p *roff) line(s string) { p.WriteString(strings.TrimRight(s, " ") + "\n") }

// item is a term and what there is to say about it.
func (p *roff) item(term, about string) {
	p.macro("TP")
	p.line(term)
	p.fill(about)
}

// text writes paragraphs. Those that are indented stay as they are.
func (p *roff) text(s string) {
	for i, par := range strings.Split(strings.TrimSpace(s), "\n\n") {
		if i > 0 {
			p.macro("PP")
		}
		if strings.HasPrefix(par, "  ") {
			p.block(strings.Split(par, "\n"))
			continue
		}
		p.fill(par)
	}
}

// fill writes text on lines of a good length.
func (p *roff) fill(s string) {
	for l := range strings.Lines(prose.Wrap(s, "", 70)) {
		p.line(escape(strings.TrimSuffix(l, "\n")))
	}
}

// block writes lines that are not filled.
func (p *roff) block(lines []string) {
	p.WriteString(".nf\n")
	for _, l := range lines {
		p.line(escape(strings.TrimPrefix(l, "  ")))
	}
	p.WriteString(".fi\n")
}

func bold(s string) string { return `\fB` + escape(s) + `\fR` }

func italic(s string) string { return `\fI` + escape(s) + `\fR` }

// escape keeps a text from being taken for a request, and a sign for another.
func escape(s string) string {
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

// about says what is to know about the program as a whole.
func (p *roff) about() {
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
		p.section(s.name)
		for _, it := range s.items {
			p.item(bold(it[0]), it[1])
		}
	}
}
