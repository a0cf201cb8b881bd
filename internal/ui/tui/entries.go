package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	charm "github.com/charmbracelet/x/ansi"

	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
)

// entry is one value of a form.
type entry struct {
	name    string
	hint    string   // shown while it is empty
	choices []string // selected with ← and →; a text may have other values
	text    field
	note    string // shown behind the value
	toggle  bool   // it is yes or no
	on      bool
	yes, no string // what a toggle says
}

// entries are the values of a form, and the one that has the cursor.
type entries struct {
	list    []entry
	at      int
	why     string // why the request was refused
	sending bool
}

// How many lines of a text with several lines a form shows while the cursor is in it.
const (
	leastFormLines = 3
	mostFormLines  = 8
)

func (f *entries) value(at int) string { return strings.TrimSpace(f.list[at].text.value()) }

// hasLines reports whether the cursor is in a text that may have several lines.
func (f *entries) hasLines() bool { return f.list[f.at].text.lines }

// editKey moves the cursor or edits the value under it.
func (f *entries) editKey(k tea.KeyPressMsg) {
	e := &f.list[f.at]
	switch key := k.String(); {
	case key == "tab", key == "down" && !(e.text.lines && e.text.moveVertical(1)):
		f.at = (f.at + 1) % len(f.list)
	case key == "shift+tab", key == "up" && !(e.text.lines && e.text.moveVertical(-1)):
		f.at = (f.at + len(f.list) - 1) % len(f.list)
	case key == "down", key == "up": // the cursor moved within the text
	case e.toggle && (key == "space" || key == "left" || key == "right" || key == "y" || key == "n"):
		e.on = key == "y" || key != "n" && !e.on
	case e.toggle:
	case len(e.choices) > 0 && (key == "left" || key == "right"):
		e.cycleChoice(key == "right")
	case key == "enter" && e.text.lines:
		e.text.insertText("\n")
	default:
		e.text.editKey(k)
	}
}

// cycleChoice selects the next choice of a value, or the previous one.
func (e *entry) cycleChoice(on bool) {
	at, n := slices.Index(e.choices, e.text.value()), len(e.choices)
	switch {
	case on:
		at = (at + 1) % n
	default:
		at = (max(at, 0) + n - 1) % n
	}
	e.text = newField(e.choices[at], false)
}

func (f *entries) pasteText(text string) {
	if e := &f.list[f.at]; !e.toggle && !f.sending {
		e.text.insertText(text)
	}
}

func (f *entries) showRefusal(why string) { f.why, f.sending = why, false }

// editHints are the keys of the value that has the cursor.
func (f *entries) editHints(send string) []hint {
	if f.hasLines() {
		return []hint{{"Ctrl+S", send}, {"Enter", "new line"}, {"Ctrl+G", "editor"}, {"Tab", "next"}, {"Esc", "leave"}}
	}
	return []hint{{"Enter", send}, {"Tab", "next"}, {"Shift+Tab", "back"}, {"←/→", "choose"}, {"Esc", "leave"}}
}

// sends reports whether a key sends the form. In a text with several lines Enter begins another line.
func (f *entries) sends(key string) bool { return key == "ctrl+s" || key == "enter" && !f.hasLines() }

func (f *entries) renderBody(m *model, width, height int) (out []string, x, y int) {
	const names = 13
	x = -1
	room := max(1, width-names-2)
	for i := range f.list {
		e := &f.list[i]
		name := m.theme.Faint
		if i == f.at {
			name = m.theme.Accent
		}
		lines, atX, atY := f.renderEntry(m, e, room, i == f.at)
		if i == f.at {
			y = len(out) + atY
			if !e.toggle {
				x = names + atX
			}
		}
		for n, l := range lines {
			if n > 0 {
				out = append(out, fitWidth("", names)+l)
				continue
			}
			out = append(out, name.Render(fitWidth(e.name, names))+l)
		}
	}
	below := []string{"", ""}
	switch {
	case f.why != "":
		below = append([]string{""}, m.styledLines(m.theme.Bad, f.why, width)...)
	case f.sending:
		below[1] = m.theme.Faint.Render("asking ...")
	}
	shown := max(1, height-len(below))
	if top := max(0, y-shown+1); top > 0 {
		out, y = out[top:], y-top
	}
	out = out[:min(len(out), shown)]
	return append(out, below...), x, y
}

// renderEntry renders a value, and returns the position of its cursor.
func (f *entries) renderEntry(m *model, e *entry, room int, here bool) (out []string, x, y int) {
	switch {
	case e.toggle && e.on:
		return []string{m.theme.Text.Render(fitWidth("[x] "+e.yes, room))}, 0, 0
	case e.toggle:
		return []string{m.theme.Text.Render(fitWidth("[ ] "+e.no, room))}, 0, 0
	case len(e.text.text) == 0:
		hint := cmp.Or(e.hint, "-")
		if here && len(e.choices) > 1 {
			hint += "  ←/→"
		}
		out = []string{m.theme.Faint.Render(fitWidth(hint, room))}
		for here && e.text.lines && len(out) < leastFormLines {
			out = append(out, fitWidth("", room))
		}
		return out, 0, 0
	case e.text.lines && !here:
		return []string{m.theme.Text.Render(fitWidth(firstOfLines(e.text.value(), room), room))}, 0, 0
	}
	height := 1
	if e.text.lines {
		height = mostFormLines
	}
	lines, x, y := e.text.renderWindow(room, height)
	if !e.text.lines {
		lines, y = lines[y:y+1], 0
	}
	style := m.theme.Text
	if here {
		style = m.theme.Strong
	}
	for e.text.lines && len(lines) < leastFormLines {
		lines = append(lines, "")
	}
	for _, l := range lines {
		note := ""
		if e.note != "" {
			note = clipLine("  "+e.note, max(0, room-charm.StringWidth(l)-1))
		}
		out = append(out, style.Render(l)+m.theme.Faint.Render(fitWidth(note, room-charm.StringWidth(l))))
	}
	return out, x, y
}

// firstOfLines returns the first line of a text, and how many more it has.
func firstOfLines(text string, room int) string {
	first, rest, more := strings.Cut(strings.TrimSpace(text), "\n")
	if !more {
		return first
	}
	also := fmt.Sprintf(" (+%s)", humanize.Plural(strings.Count(rest, "\n")+1, "line"))
	return clipLine(ansi.OneLine(first), max(1, room-len(also))) + also
}

// handleFormKey handles a key in a form whose request cannot be taken back while it is under way.
func (f *entries) handleFormKey(m *model, k tea.KeyPressMsg, leave func(*model), send func(*model) tea.Cmd) tea.Cmd {
	switch key := k.String(); {
	case key == "esc" && f.sending:
		m.showNote(underWay)
	case key == "esc":
		leave(m)
	case f.sending:
	case f.sends(key):
		return send(m)
	case key == editorKey && f.hasLines():
		return m.openEditor(&f.list[f.at].text, &f.why)
	default:
		f.editKey(k)
	}
	return nil
}
