package screen

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// A View is what a window shows at one moment.
type View struct {
	Text          string // with the sequences that say how it looks; untrusted
	InMode        bool   // tmux shows the window's history or a menu of its own in its place
	X, Y          int    // of the cursor, from 0
	Width, Height int
}

// Kind is what a screen is to somebody who wants to type at it.
type Kind int

// The kinds of screens.
const (
	Unknown Kind = iota
	Prompt       // the input line of the agent: what is typed is a message once Enter is pressed
	Dialog       // a question, a menu or a page: what is typed is taken for something else
)

// String is the kind in a word.
func (k Kind) String() string {
	switch k {
	case Prompt:
		return "prompt"
	case Dialog:
		return "dialog"
	}
	return "unknown"
}

// An Input is what a screen takes.
type Input struct {
	Kind Kind
	Line string // at a prompt: the text in its input line. What the agent only suggests is no text
}

// placeholder is what an input line shows in place of a long paste: [Pasted text #1 +12 lines] and
// its like.
var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[[Pp]asted? [^\[\]]*\]$`) })

// leastPart is how many characters of a text an input line must show to be taken for its
// end: an input line may be too small for all of it.
const leastPart = 60

// Holds says whether the input line holds this text and nothing else.
func (i Input) Holds(text string) bool {
	if i.Kind != Prompt || i.Line == "" {
		return false
	}
	if placeholder().MatchString(strings.TrimSpace(i.Line)) {
		return true
	}
	line, all := Letters(i.Line), Letters(text)
	return line == all || len(line) >= leastPart && strings.HasSuffix(all, line)
}

// Letters is a text without blanks, line ends and drawings: where lines are broken and framed
// does not matter to it.
func Letters(text string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f || r > 0x7f && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return -1
	}, text)
}
