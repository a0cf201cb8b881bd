package ansi

import (
	"strconv"
	"strings"
	"unicode"
)

// A View is what a window shows at one moment.
type View struct {
	Text          string // with the escape sequences for its style; untrusted
	InMode        bool   // tmux shows the window's history or a menu of its own instead
	X, Y          int    // of the cursor, from 0
	Width, Height int
}

// ScreenKind classifies a screen for somebody who wants to type into it.
type ScreenKind int

// The kinds of screens.
const (
	Unknown ScreenKind = iota
	Prompt             // the input line of the agent: typed text is a message once Enter is pressed
	Dialog             // a question, a menu or a page: typed text has another meaning
)

// String returns the name of the kind.
func (k ScreenKind) String() string {
	switch k {
	case Prompt:
		return "prompt"
	case Dialog:
		return "dialog"
	}
	return "unknown"
}

// An Input is what a screen accepts.
type Input struct {
	Kind ScreenKind
	Line string // at a prompt: the text in its input line, without what the agent only suggests

	Question string // of a dialog that asks for a decision: its lines down to the last answer, and what is above it
}

// A DialogChoice is an answer that a dialog offers. Typing Key chooses it.
type DialogChoice struct {
	Key   string `json:"key"`
	Label string `json:"label"` // untrusted
}

// maxLabel limits the label of a choice, in bytes.
const maxLabel = 200

// Choices returns the numbered answers of a dialog. Its last lines that count up from 1 are the answers; the same numbers further up may
// be part of the work.
func (i Input) Choices() []DialogChoice {
	var out []DialogChoice
	for line := range strings.SplitSeq(i.Question, "\n") {
		number, label, ok := strings.Cut(strings.TrimLeft(line, "❯›●> "), ". ")
		switch label = strings.TrimSpace(OneLine(label)); {
		case !ok || len(number) != 1 || label == "":
		case number == "1":
			out = []DialogChoice{{number, label}}
		case len(out) > 0 && len(out) < 9 && number == strconv.Itoa(len(out)+1):
			out = append(out, DialogChoice{number, label})
		}
	}
	for n := range out {
		if l := out[n].Label; len(l) > maxLabel {
			out[n].Label = strings.ToValidUTF8(l[:maxLabel], "") + "…"
		}
	}
	return out
}

// isPlaceholder reports whether a line is what programs show in place of a long paste: [Pasted text #1 +12 lines],
// [paste #2 1600 chars] and similar.
func isPlaceholder(line string) bool {
	inside, open := strings.CutPrefix(line, "[")
	inside, closed := strings.CutSuffix(inside, "]")
	word, _, more := strings.Cut(strings.ToLower(inside), " ")
	return open && closed && more && (word == "paste" || word == "pasted") && !strings.ContainsAny(inside, "[]")
}

// leastPart is how many characters at the end of a text an input line must show to match it: an input line may be too
// small for all of it.
const leastPart = 60

// HoldsText reports whether the input line holds this text and nothing else.
func (i Input) HoldsText(text string) bool {
	if i.Kind != Prompt || i.Line == "" {
		return false
	}
	if isPlaceholder(strings.TrimSpace(i.Line)) {
		return true
	}
	line, all := LettersOnly(i.Line), LettersOnly(text)
	return line == all || len(line) >= leastPart && strings.HasSuffix(all, line)
}

// Width returns how many columns the line takes.
func (l Line) Width() int {
	n := 0
	for _, run := range l {
		for _, r := range run.Text {
			n += runeColumns(r)
		}
	}
	return n
}

// ColumnRange returns the part of a line between two columns.
func (l Line) ColumnRange(from, to int) Line {
	var out Line
	x := 0
	for _, run := range l {
		var part strings.Builder
		for _, r := range run.Text {
			if x >= from && x < to {
				part.WriteRune(r)
			}
			x += runeColumns(r)
		}
		if part.Len() > 0 {
			out = append(out, Run{Text: part.String(), Style: run.Style})
		}
	}
	return out
}

// runeColumns returns how many columns a character takes: 0 if it combines with the one before.
func runeColumns(r rune) int {
	if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) {
		return 0
	}
	return runeCells(r)
}

// LettersOnly returns a text without blanks, line ends and drawings, so that wrapping and frames do not matter.
func LettersOnly(text string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f || r > 0x7f && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return -1
	}, text)
}
