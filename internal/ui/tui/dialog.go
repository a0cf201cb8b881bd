package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/ui/editor"
	"orange/internal/view/overview"
)

// dialog is a question that receives the keys until it is answered.
type dialog interface {
	handleKey(*model, tea.KeyPressMsg) tea.Cmd
	pasteText(text string)
	showRefusal(why string) // the server refused: the typed text stays
	// renderBody returns the content of the box and the position of the cursor; x below 0 for none.
	renderBody(m *model, width, height int) (lines []string, x, y int)
	boxTitle() string
	keyHints() []hint
}

// confirmation asks yes or no.
type confirmation struct {
	why, question string
	do            func(*model) tea.Cmd
}

func (m *model) askConfirmation(why, question string, do func(*model) tea.Cmd) {
	m.dialog = &confirmation{why, question, do}
}

func (c *confirmation) handleKey(m *model, k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "y", "Y":
		m.dialog = nil
		return c.do(m)
	case "n", "N", "esc", "q", "enter":
		m.dialog = nil
		m.showNote("nothing was changed")
	}
	return nil
}

func (c *confirmation) pasteText(string)   {}
func (c *confirmation) showRefusal(string) {}
func (c *confirmation) boxTitle() string   { return "Sure?" }

func (c *confirmation) keyHints() []hint { return []hint{{"y", "yes"}, {"n", "no"}} }

func (c *confirmation) renderBody(m *model, width, _ int) ([]string, int, int) {
	out := m.styledLines(m.theme.Strong, c.question, width)
	return append(out, m.styledLines(m.theme.Faint, c.why, width)...), -1, 0
}

// Notes for Esc while a request runs, and for text that was put aside.
const (
	underWay = "it is under way: wait for the answer"
	keptText = "kept: open it again to go on"
)

// draft identifies text that was not sent: its purpose, and its task.
type draft struct {
	kind string
	task task.ID
}

// prompt asks for text.
type prompt struct {
	about   string
	draft   draft
	text    field
	sending bool
	why     string   // why it was refused
	asked   string   // the question that is answered, in Markdown
	options []string // answers that the question offers
	send    func(*model, string) tea.Cmd
}

// openPrompt asks a person for text about a task, and sends the signal that make returns. It restores text that was
// written before and not sent.
func (m *model) openPrompt(kind, about string, r *overview.Row, make func(string) signal.Signal) *prompt {
	return m.openTextPrompt(draft{kind, r.ID}, about, func(m *model, p *prompt, text string) tea.Cmd {
		return m.sendRequestFrom(p, r.ID, "the message to "+r.Branch, signalRequest(m.API, r, make(text)))
	})
}

// openTextPrompt asks a person for text and calls send with it. It restores text that was written before and not sent.
func (m *model) openTextPrompt(d draft, about string, send func(m *model, p *prompt, text string) tea.Cmd) *prompt {
	p := &prompt{about: about, draft: d}
	p.text = newField(m.drafts[d], true)
	delete(m.drafts, d)
	p.send = func(m *model, text string) tea.Cmd { return send(m, p, text) }
	m.dialog = p
	return p
}

func (p *prompt) handleKey(m *model, k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc":
		p.keepDraft(m)
		return nil
	case "enter":
		text := strings.TrimSpace(p.text.value())
		switch {
		case p.sending:
			return nil
		case text == "":
			p.why = "write some words, or press Esc"
			return nil
		}
		p.why = ""
		cmd := p.send(m, text)
		p.sending = cmd != nil
		if cmd == nil {
			p.why = m.note.text
		}
		return cmd
	}
	switch key := k.String(); {
	case p.sending:
	case (key == "tab" || key == "shift+tab") && len(p.options) > 0:
		p.chooseOption(key == "tab")
	case key == editorKey:
		return m.openEditor(&p.text, &p.why)
	default:
		p.text.editKey(k)
	}
	return nil
}

// chooseOption makes the next option of the question the answer, or the one before. It does not replace what a person
// wrote.
func (p *prompt) chooseOption(next bool) {
	now := strings.TrimSpace(p.text.value())
	at, n := slices.Index(p.options, now), len(p.options)
	switch {
	case at < 0 && now != "":
		p.why = "Tab would replace your answer: delete it first, with Ctrl+U"
		return
	case next:
		at = (at + 1) % n
	default:
		at = (max(at, 0) + n - 1) % n
	}
	p.why, p.text = "", newField(p.options[at], true)
}

// keepDraft keeps the text for later. A request that was sent cannot be cancelled.
func (p *prompt) keepDraft(m *model) {
	if p.sending {
		m.showNote(underWay)
		return
	}
	m.dialog = nil
	if text := p.text.value(); strings.TrimSpace(text) != "" {
		m.drafts[p.draft] = text
		m.showNote(keptText)
	}
}

func (p *prompt) pasteText(text string) {
	if !p.sending {
		p.text.insertText(text)
	}
}

func (p *prompt) showRefusal(why string) { p.why, p.sending = why, false }

func (p *prompt) boxTitle() string { return "Your words" }

func (p *prompt) keyHints() []hint {
	out := []hint{{"Enter", "send"}}
	if len(p.options) > 0 {
		out = append(out, hint{"Tab", "options"})
	}
	return append(out, hint{"Alt+Enter", "new line"}, hint{"Ctrl+G", "editor"}, hint{"Esc", "leave"})
}

func (p *prompt) renderBody(m *model, width, height int) ([]string, int, int) {
	out := m.styledLines(m.theme.Strong, p.about, width)
	options := p.renderOptions(m, width)
	out = append(out, p.renderQuestion(m, width, height-len(out)-len(options)-promptHeight)...)
	out = append(append(out, options...), "")
	lines, x, y := p.text.renderWindow(width, max(1, min(8, height-len(out)-2)))
	y += len(out)
	for _, l := range lines {
		out = append(out, fitWidth(l, width))
	}
	for range 3 - len(lines) {
		out = append(out, "")
	}
	switch {
	case p.why != "":
		out = append(out, "")
		out = append(out, m.styledLines(m.theme.Bad, p.why, width)...)
	case p.sending:
		out = append(out, "", m.theme.Faint.Render("sending ..."))
	}
	return out, x, y
}

// renderOptions renders the options that Tab fills in, the chosen one marked.
func (p *prompt) renderOptions(m *model, width int) []string {
	if len(p.options) == 0 {
		return nil
	}
	out := []string{""}
	for _, option := range p.options {
		text, style := "  "+plainLine(option), m.theme.Text
		if option == strings.TrimSpace(p.text.value()) {
			text, style = "▸ "+plainLine(option), m.theme.Accent
		}
		out = append(out, m.styledLine(style, text, width)...)
	}
	return out
}

// promptHeight is how many lines a prompt needs below the question.
const promptHeight = 7

// renderQuestion renders the question that is answered, as much as fits. It keeps the end, because that is where an
// agent asks.
func (p *prompt) renderQuestion(m *model, width, height int) []string {
	if p.asked == "" || height < 1 {
		return nil
	}
	lines := m.theme.RenderMarkdown(p.asked, width)
	return lines[max(0, len(lines)-height):]
}

// editorKey opens a text in the person's editor, as in Claude Code and Codex.
const editorKey = "ctrl+g"

// editedMsg is what a person wrote in their editor.
type editedMsg struct {
	into *field
	why  *string // of the dialog
	text string
	err  error
}

// openEditor hands the terminal to the person's editor, with the text of a field.
func (m *model) openEditor(into *field, why *string) tea.Cmd {
	draft, err := editor.NewDraft(m.Environ, "TASK.md", into.value(), "write here: Alt+Enter begins another line")
	if err != nil {
		*why = oneLine(err)
		return nil
	}
	return tea.ExecProcess(draft.Command(m.end), func(err error) tea.Msg {
		text, err := draft.Finish(err)
		return editedMsg{into, why, text, err}
	})
}

// apply replaces the text of the field, unless it is too long.
func (e editedMsg) apply() {
	switch text := strings.TrimRight(e.text, "\n"); {
	case e.err != nil:
		*e.why = oneLine(e.err)
	case len(text) > maxWords:
		*e.why = "what was edited is longer than 64 KB, nothing changed: put it into a file of the repository and name that"
	default:
		*e.into, *e.why = newField(text, true), ""
	}
}

// notice shows a text that does not fit on a line.
type notice struct {
	title string
	lines []string
}

func (n *notice) handleKey(m *model, k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "enter", "esc", "q", "space":
		m.dialog = nil
	}
	return nil
}

func (n *notice) pasteText(string)   {}
func (n *notice) showRefusal(string) {}
func (n *notice) boxTitle() string   { return n.title }
func (n *notice) keyHints() []hint   { return []hint{{"Enter", "go on"}} }

func (n *notice) renderBody(m *model, width, _ int) (out []string, x, y int) {
	for i, l := range n.lines {
		if i > 0 {
			out = append(out, "")
		}
		out = append(out, m.styledLines(m.theme.Text, l, width)...)
	}
	return out, -1, 0
}

// chooser offers a few things to do.
type chooser struct {
	head  string
	texts []string
	do    []func(*model) tea.Cmd
	at    int
}

func (c *chooser) addChoice(text string, do func(*model) tea.Cmd) {
	c.texts, c.do = append(c.texts, plainLine(text)), append(c.do, do)
}

func (c *chooser) handleKey(m *model, k tea.KeyPressMsg) tea.Cmd {
	switch key := k.String(); key {
	case "up", "k", "shift+tab":
		c.at = (c.at + len(c.do) - 1) % len(c.do)
	case "down", "j", "tab":
		c.at = (c.at + 1) % len(c.do)
	case "esc", "q":
		m.dialog = nil
	case "enter":
		m.dialog = nil
		return c.do[c.at](m)
	default:
		if n := int(k.Code - '1'); len(key) == 1 && n >= 0 && n < min(9, len(c.do)) {
			m.dialog = nil
			return c.do[n](m)
		}
	}
	return nil
}

func (c *chooser) pasteText(string)   {}
func (c *chooser) showRefusal(string) {}
func (c *chooser) boxTitle() string   { return c.head }
func (c *chooser) keyHints() []hint {
	return []hint{{"j/k", "choose"}, {"Enter", "do it"}, {"Esc", "leave"}}
}

func (c *chooser) renderBody(m *model, width, height int) ([]string, int, int) {
	var out []string
	top := max(0, c.at-height+1)
	for i := top; i < len(c.texts) && i < top+height; i++ {
		style := m.theme.Text
		if i == c.at {
			style = m.theme.Selected
		}
		number := " "
		if i < 9 {
			number = string(rune('1' + i))
		}
		out = append(out, style.Render(fitWidth(" "+number+" "+c.texts[i], width)))
	}
	return out, -1, 0
}
