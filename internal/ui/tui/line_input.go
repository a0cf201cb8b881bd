package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	charm "github.com/charmbracelet/x/ansi"

	"orange/internal/view/overview"
)

// Prompts of a line that a person types below the list.
const (
	promptFilter  = "/"
	promptCommand = ":"
)

// lineInput is a filter or a command while it is typed.
type lineInput struct {
	field
	prompt  string
	why     string   // what is wrong with it
	options []string // texts that it can be completed to
	option  int      // the one that is shown, -1 for none
}

// openInput begins a line with a text.
func (m *model) openInput(prompt, text string) tea.Cmd {
	m.input = &lineInput{field: newField(text, false), prompt: prompt, option: -1}
	return nil
}

func (m *model) startFinding() tea.Cmd { return m.openInput(promptFilter, m.choice.Filter.String()) }

func (m *model) startCommand() tea.Cmd { return m.openInput(promptCommand, "") }

// editInput handles a key while a line is typed.
func (m *model) editInput(k tea.KeyPressMsg) tea.Cmd {
	in := m.input
	switch key := k.String(); key {
	case "enter":
		return m.acceptInput()
	case "esc":
		m.input = nil
		if in.prompt == promptFilter {
			return m.applyFilter(func(c *overview.Choice) { c.Filter = overview.Filter{} })
		}
		return nil
	case "tab", "shift+tab":
		m.completeInput(key == "tab")
		return m.previewFilter()
	case "up", "down":
		if in.prompt == promptFilter {
			return m.moveCursor(map[string]int{"up": -1, "down": 1}[key])
		}
		return nil
	case "backspace":
		if in.prompt == promptCommand && len(in.text) == 0 {
			m.input = nil
			return nil
		}
	}
	in.options, in.option, in.why = nil, -1, ""
	in.editKey(k)
	return m.previewFilter()
}

// acceptInput applies the line. One that is wrong stays open and says why.
func (m *model) acceptInput() tea.Cmd {
	in := m.input
	if in.prompt == promptFilter {
		if in.why == "" {
			m.input = nil
			m.chooseLines()
		}
		return nil
	}
	m.input = nil
	cmd, err := m.runCommand(in.value())
	if err != nil {
		in.why, m.input = oneLine(err), in
		return nil
	}
	return cmd
}

// previewFilter applies a filter while it is typed. A last word that is wrong, or not complete, does not count.
func (m *model) previewFilter() tea.Cmd {
	in := m.input
	if in.prompt != promptFilter {
		return nil
	}
	in.why = ""
	f, err := overview.ParseFilter(in.value())
	if err != nil {
		in.why = oneLine(err)
		words := strings.Fields(in.value())
		if f, err = overview.ParseFilter(strings.Join(words[:len(words)-1], " ")); err != nil {
			return nil
		}
	}
	return m.applyFilter(func(c *overview.Choice) { c.Filter = f })
}

// completeInput completes the line: to the next of several options, or to the only one.
func (m *model) completeInput(next bool) {
	in := m.input
	if in.options == nil {
		in.options, in.option = m.completions(in), -1
	}
	n := len(in.options)
	switch {
	case n == 0:
		in.options = nil
		return
	case next:
		in.option = (in.option + 1) % n
	default:
		in.option = (max(in.option, 0) + n - 1) % n
	}
	in.field = newField(in.options[in.option], false)
	if n == 1 {
		in.options = nil
	}
}

// completions returns the whole lines that a line can be completed to.
func (m *model) completions(in *lineInput) []string {
	text := in.value()
	if in.prompt == promptCommand {
		return m.completeCommand(text)
	}
	return m.completeFilter(text)
}

// completeFilter completes the last word of a filter.
func (m *model) completeFilter(text string) []string {
	at := strings.LastIndexByte(text, ' ') + 1
	var out []string
	for _, word := range overview.CompleteFilter(text[at:], m.filterValues) {
		out = append(out, text[:at]+word)
	}
	return out
}

// filterValues returns the values that a key of a filter has among the tasks.
func (m *model) filterValues(key string) []string {
	var out []string
	for i := range m.state.Tasks {
		r := &m.state.Tasks[i]
		switch key {
		case "state":
			out = append(out, r.Status)
		case "project":
			out = append(out, r.Project)
		case "workflow":
			out = append(out, r.Workflow)
		case "after":
			for _, p := range r.After {
				out = append(out, string(p.ID))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// renderInput renders the line.
func (m *model) renderInput() string {
	in := m.input
	lines, _, _ := in.renderWindow(max(1, m.width-4), 1)
	return clipLine(m.theme.Accent.Render(" "+in.prompt)+m.theme.Text.Render(lines[len(lines)-1]), m.width)
}

// renderOptions renders what the line can be completed to, the shown one marked, as much as fits.
func (m *model) renderOptions(width int) string {
	in := m.input
	last := func(text string) string { return text[strings.LastIndexByte(strings.TrimRight(text, " "), ' ')+1:] }
	out, used := "", 1
	from := max(0, in.option-2)
	for i := from; i < len(in.options); i++ {
		word := last(in.options[i])
		if used += charm.StringWidth(word) + 2; used > width {
			break
		}
		style := m.theme.Faint
		if i == in.option {
			style = m.theme.Selected
		}
		out += style.Render(word) + "  "
	}
	return " " + out
}

// inputHints returns the keys of the line.
func (m *model) inputHints() []hint {
	if m.input.prompt == promptCommand {
		return []hint{{"Enter", "do it"}, {"Tab", "complete"}, {"Esc", "leave"}}
	}
	return []hint{{"Enter", "keep"}, {"Esc", "show all"}, {"↑/↓", "move"}, {"Tab", "complete"}, {"", "words, or state: project: kind: after: is: needs:"}}
}
