package harness

import (
	"regexp"
	"slices"
	"strings"

	"orange/internal/view/ansi"
)

// inputBox describes how an agent draws its input line. The cursor is always in it: programs
// that draw their own cursor keep the terminal's cursor there as well.
type inputBox struct {
	mark   func() *regexp.Regexp // how its first row begins; nil if it has no mark
	indent int                   // columns before the text, in every row
	ruled  bool                  // there is a horizontal line above it and below it
	other  func() *regexp.Regexp // how its first row begins when the typed text is not a message
	ghost  func() *regexp.Regexp // a suggestion that is not drawn faint
	hasBar bool                  // there is a bar on its left, with the agent's name in the last row, and other things beside it
}

// maxRows limits how far from the cursor an input line may begin and end.
const maxRows = 60

// rule is a horizontal line, which may contain words.
var rule = lazyPattern(`^[─━]{3}.*[─━]{2}$`)

// menus matches the hints below a dialog and the marked choice of a menu. A comma follows where
// a program shows how to interrupt its work.
var menus = lazyPattern(`(?i)^(?:[❯›●>] \d+\. |→ )|\b(?:enter|esc|escape|ctrl\+o|q)\b(?:/\S+)? (?:to )?(?:confirm|cancel|select|choose|continue|go back|back|exit|quit|submit|close|set|save|toggle|dismiss|clear|change)\b(?:[^,]|$)`)

// search matches the row in which the user searches the history of an input line.
var search = lazyPattern(`(?:^|\s)(?:search prompts|reverse-i-search|\(r):`)

// readInput returns what input a screen accepts. The position of the cursor decides: the words
// of a dialog may also be part of the work that is shown above it.
func (l screenPatterns) readInput(v ansi.View) ansi.Input {
	rows := ansi.ParseLines(v.Text)
	for len(rows) <= v.Y {
		rows = append(rows, nil)
	}
	if search().MatchString(plainRow(rows[v.Y])) {
		return ansi.Input{Kind: ansi.Dialog}
	}
	if in, ok := l.box.inputAtCursor(rows, v); ok {
		return in
	}
	shown := paneEnd(v.Text)
	for _, a := range l.asks {
		if _, last, ok := a.locateQuestion(shown); ok {
			return ansi.Input{Kind: ansi.Dialog, Question: strings.Join(shown[:last+1], "\n")}
		}
	}
	for _, line := range shown[max(0, len(shown)-menuLines):] {
		if menus().MatchString(line) {
			return ansi.Input{Kind: ansi.Dialog}
		}
	}
	return ansi.Input{}
}

// menuLines is how many lines at the end of a screen may belong to a menu.
const menuLines = 16

// inputAtCursor returns the input line if the cursor is in it.
func (b *inputBox) inputAtCursor(rows []ansi.Line, v ansi.View) (ansi.Input, bool) {
	if b.hasBar {
		return b.inputBesideBar(rows, v)
	}
	if top, bottom, ok := b.findRows(rows, v, b.mark); ok {
		if b.other != nil && b.mark == nil && slices.ContainsFunc(rows[top:bottom], func(row ansi.Line) bool { return b.other().MatchString(plainRow(row)) }) {
			return ansi.Input{Kind: ansi.Dialog}, true
		}
		return ansi.Input{Kind: ansi.Prompt, Line: b.inputText(rows[top:bottom], v.Y-top)}, true
	}
	if b.other != nil && b.mark != nil {
		if _, _, ok := b.findRows(rows, v, b.other); ok {
			return ansi.Input{Kind: ansi.Dialog}, true
		}
	}
	return ansi.Input{}, false
}

// inputBesideBar returns the input line to the right of a bar. Its background color gives its
// width.
func (b *inputBox) inputBesideBar(rows []ansi.Line, v ansi.View) (ansi.Input, bool) {
	bar := -1
	for x := range v.X {
		if strings.HasPrefix(rows[v.Y].ColumnRange(x, x+1).String(), "┃") {
			bar = x
		}
	}
	at := func(y int) string { return rows[y].ColumnRange(bar, bar+1).String() }
	background := func(y int) string {
		if c := rows[y].ColumnRange(bar+1, bar+2); len(c) > 0 {
			return c[0].BG
		}
		return ""
	}
	if bar < 0 || v.X < bar+b.indent {
		return ansi.Input{}, false
	}
	top, bottom := v.Y, v.Y
	for top > 0 && at(top-1) == "┃" && background(top-1) == background(v.Y) { // messages have another background
		top--
	}
	for bottom < len(rows) && at(bottom) == "┃" {
		bottom++
	}
	if bottom == len(rows) || at(bottom) != "╹" || bottom-2 <= v.Y {
		return ansi.Input{}, false
	}
	inside, width := rows[top].ColumnRange(bar+1, v.Width), 0
	for _, run := range inside {
		if run.BG != inside[0].BG {
			break
		}
		width += ansi.Line{run}.Width()
	}
	var lines []ansi.Line
	for _, row := range rows[top : bottom-1] {
		lines = append(lines, row.ColumnRange(bar, bar+1+width))
	}
	if b.other != nil && b.other().MatchString(plainRow(rows[bottom-1].ColumnRange(bar+b.indent, v.Width))) {
		return ansi.Input{Kind: ansi.Dialog}, true
	}
	return ansi.Input{Kind: ansi.Prompt, Line: b.inputText(lines, v.Y-top)}, true
}

// findRows returns the rows of the input line around the cursor.
func (b *inputBox) findRows(rows []ansi.Line, v ansi.View, mark func() *regexp.Regexp) (top, bottom int, ok bool) {
	if v.X < b.indent {
		return 0, 0, false
	}
	for top = v.Y; ; top-- {
		if top < 0 || v.Y-top > maxRows {
			return 0, 0, false
		}
		text := plainRow(rows[top])
		if mark == nil && top > 0 && rule().MatchString(plainRow(rows[top-1])) || mark != nil && mark().MatchString(text) {
			break
		}
		if !b.mayContain(text) {
			return 0, 0, false
		}
	}
	if b.ruled && (top == 0 || !rule().MatchString(plainRow(rows[top-1]))) {
		return 0, 0, false
	}
	for bottom = v.Y + 1; bottom < len(rows); bottom++ {
		text := plainRow(rows[bottom])
		if b.ruled && rule().MatchString(text) {
			return top, bottom, true
		}
		if !b.mayContain(text) || !b.ruled && text == "" {
			break
		}
	}
	return top, bottom, !b.ruled
}

// mayContain reports whether a row may belong to the input line.
func (b *inputBox) mayContain(row string) bool {
	return !rule().MatchString(row) && (row == "" || strings.HasPrefix(row, strings.Repeat(" ", b.indent)))
}

func plainRow(row ansi.Line) string {
	return strings.TrimRight(strings.ReplaceAll(row.String(), "\u00a0", " "), " ")
}

// inputText returns the text in the rows of an input line. A suggestion is drawn faint; the
// cursor may be on its first character.
func (b *inputBox) inputText(rows []ansi.Line, cursor int) string {
	var out []string
	for i, row := range rows {
		var line strings.Builder
		for j, run := range row {
			ghost := run.Faint || i == cursor && run.Reverse && j+1 < len(row) && row[j+1].Faint
			if ghost {
				run.Text = strings.Repeat(" ", len([]rune(run.Text)))
			}
			line.WriteString(run.Text)
		}
		cells := []rune(strings.ReplaceAll(line.String(), "\u00a0", " "))
		text := strings.TrimRight(string(cells[min(b.indent, len(cells)):]), " ")
		if b.ghost != nil && i == cursor && b.ghost().MatchString(text) {
			text = ""
		}
		out = append(out, text)
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

// ReadInput implements Harness.
func (claude) ReadInput(v ansi.View) ansi.Input { return claudeScreen.readInput(v) }

// ReadInput implements Harness.
func (codex) ReadInput(v ansi.View) ansi.Input { return codexScreen.readInput(v) }

// ReadInput implements Harness.
func (gemini) ReadInput(v ansi.View) ansi.Input { return geminiScreen.readInput(v) }

// ReadInput implements Harness.
func (opencode) ReadInput(v ansi.View) ansi.Input { return opencodeScreen.readInput(v) }

// ReadInput implements Harness.
func (pi) ReadInput(v ansi.View) ansi.Input { return piScreen.readInput(v) }
