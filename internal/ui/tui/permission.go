package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"orange/internal/view/ansi"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// terminalDialog shows a question that an agent's program asks at its terminal, such as whether it may run a command, and
// its answers. The server presses the key of an answer only if the terminal still shows what this dialog shows.
type terminalDialog struct {
	row     overview.Row
	screen  wire.Screen
	choices []ansi.DialogChoice
	at      int
	why     string // why it was refused
	sending bool
}

// askedMsg is the terminal of an agent that asks something.
type askedMsg struct {
	row    overview.Row
	screen wire.Screen
	err    error
}

// askAtTerminal reads what an agent asks at its terminal.
func (m *model) askAtTerminal(r *overview.Row) tea.Cmd {
	ctx, api, row := m.ctx, m.API, *r
	return func() tea.Msg {
		s, err := api.ReadScreen(ctx, string(row.ID), row.AtTerminal())
		return askedMsg{row, s, err}
	}
}

// showTerminalDialog offers the answers of a question at a terminal. If the harness reports none, a person types.
func (m *model) showTerminalDialog(msg askedMsg) {
	s := &msg.screen
	if again, ok := m.dialog.(*terminalDialog); m.dialog != nil && !(ok && again.row.ID == msg.row.ID) {
		return // a person went on meanwhile
	}
	m.dialog = nil
	switch {
	case msg.err != nil:
		m.showError("%s", oneLine(msg.err))
	case s.Seen == "" || !s.Dialog || len(s.Choices) == 0:
		m.typeAtTerminal(&msg.row)
	default:
		m.dialog = &terminalDialog{row: msg.row, screen: *s, choices: append(s.Choices[:len(s.Choices):len(s.Choices)], ansi.DialogChoice{Key: "esc", Label: "Esc: leave the question without an answer"})}
	}
}

// typeAtTerminal asks for text, and types it into the terminal of an agent that asks.
func (m *model) typeAtTerminal(r *overview.Row) {
	m.openTextPrompt(draft{"terminal", r.ID}, r.Text, func(m *model, p *prompt, text string) tea.Cmd {
		api, id, role := m.API, string(r.ID), r.AtTerminal()
		return m.sendRequestFrom(p, r.ID, "the answer to "+r.Branch, func(ctx context.Context) (string, error) {
			return "typed into the terminal of " + r.Branch, api.TypeText(ctx, id, role, text)
		})
	})
}

func (d *terminalDialog) handleKey(m *model, k tea.KeyPressMsg) tea.Cmd {
	switch key := k.String(); key {
	case "esc", "q":
		if d.sending {
			m.showNote(underWay)
			return nil
		}
		m.dialog = nil
	case "up", "k", "shift+tab":
		d.at = (d.at + len(d.choices) - 1) % len(d.choices)
	case "down", "j", "tab":
		d.at = (d.at + 1) % len(d.choices)
	case "r":
		return m.askAtTerminal(&d.row)
	case "w":
		m.dialog = nil
		return m.openTerminal(&d.row)
	case "enter":
		return d.answer(m)
	default:
		for i, c := range d.choices {
			if c.Key == key {
				d.at = i
			}
		}
	}
	return nil
}

// answer presses the key of the chosen answer.
func (d *terminalDialog) answer(m *model) tea.Cmd {
	if d.sending {
		return nil
	}
	c, api, id := d.choices[d.at], m.API, string(d.row.ID)
	in := wire.KeyInput{Role: d.screen.Role, Key: c.Key, Seen: d.screen.Seen, Dialog: true}
	cmd := m.sendRequestFrom(d, d.row.ID, "the answer to "+d.row.Branch, func(ctx context.Context) (string, error) {
		return "answered " + d.row.Branch + ": " + c.Label, api.PressKey(ctx, id, in)
	})
	d.sending, d.why = cmd != nil, ""
	if cmd == nil {
		d.why = m.note.text
	}
	return cmd
}

func (d *terminalDialog) pasteText(string) {}

func (d *terminalDialog) showRefusal(why string) { d.why, d.sending = why, false }

func (d *terminalDialog) boxTitle() string { return d.row.Branch + " asks" }

func (d *terminalDialog) keyHints() []hint {
	return []hint{{"j/k", "choose"}, {"Enter", "answer"}, {"r", "look again"}, {"w", "go to the terminal"}, {"Esc", "leave"}}
}

func (d *terminalDialog) renderBody(m *model, width, height int) (out []string, x, y int) {
	var below []string
	for i, c := range d.choices {
		text, style := "  "+plainLine(c.Label), m.theme.Text
		if c.Key != "esc" {
			text = "  " + plainLine(c.Key) + " " + plainLine(c.Label)
		}
		if i == d.at {
			style = m.theme.Selected
		}
		below = append(below, style.Render(fitWidth(text, width)))
	}
	switch {
	case d.why != "":
		below = append(append(below, ""), m.styledLines(m.theme.Bad, d.why, width)...)
	case d.sending:
		below = append(below, "", m.theme.Faint.Render("sending ..."))
	}
	out = m.theme.RenderScreen(d.screen.Lines, width, max(0, min(12, height-len(below)-1)))
	return append(append(out, m.theme.Border.Render(fitWidth("", width))), below...), -1, 0
}
