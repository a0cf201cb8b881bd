package tracker

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Mark begins the invisible line that identifies text written by Orange.
const Mark = "<!-- orange:"

// Kinds of directives.
const (
	Hold       = "hold"      // do nothing about the issue
	Resume     = "resume"    // the end of a hold
	SkipQA     = "skip-qa"   // it needs no test
	Decompose  = "decompose" // split it
	Reassign   = "reassign"  // somebody else is to do it
	Prioritize = "priority"
)

// maxReason is the maximum length of the reason for a hold, in characters.
const maxReason = 200

// A Directive is an instruction in a comment. Its reason is untrusted text.
type Directive struct {
	Kind     string    `json:"kind"`
	Reason   string    `json:"reason,omitempty"`   // for a hold: one line
	Priority Priority  `json:"priority,omitempty"` // for Prioritize
	Comment  string    `json:"comment"`            // id
	Author   string    `json:"author"`
	At       time.Time `json:"at,omitzero"`
}

// ParseDirective parses the directive in a comment, or returns false if there is none. A directive is the whole first
// line of what a person wrote, in any case:
//
//	HOLD
//	HOLD - why            a dash of any length
//	RESUME
//	SKIP QA               or SKIP-QA
//	DECOMPOSE
//	REASSIGN
//	PRIORITY HIGH         or MEDIUM, LOW, URGENT
//	PRIORITY: high        or medium, low
//
// The form with a colon has three levels, as on older boards: "PRIORITY: urgent" is a sentence and not a directive.
// Text by a bot or by Orange is never a directive, and neither is a quotation.
func ParseDirective(c Comment) (Directive, bool) {
	if c.Bot || strings.Contains(c.Text, Mark) {
		return Directive{}, false
	}
	d, ok := parseLine(firstLine(c.Text))
	if !ok {
		return Directive{}, false
	}
	d.Comment, d.Author, d.At = c.ID, c.Author, c.At
	return d, true
}

// firstLine returns the line that may hold a directive. It skips empty lines.
func firstLine(text string) string {
	text = strings.TrimSpace(text)
	if end := strings.IndexAny(text, "\n\r\v\f\u0085\u2028\u2029"); end >= 0 {
		text = text[:end]
	}
	return strings.TrimSpace(text)
}

func parseLine(line string) (Directive, bool) {
	if reason, ok := holdReason(line); ok {
		return Directive{Kind: Hold, Reason: reason}, true
	}
	words := strings.Fields(line)
	switch strings.ToUpper(strings.Join(words, " ")) {
	case "RESUME":
		return Directive{Kind: Resume}, true
	case "SKIP QA", "SKIP-QA":
		return Directive{Kind: SkipQA}, true
	case "DECOMPOSE":
		return Directive{Kind: Decompose}, true
	case "REASSIGN":
		return Directive{Kind: Reassign}, true
	}
	if p := parsePriority(line); p != 0 {
		return Directive{Kind: Prioritize, Priority: p}, true
	}
	return Directive{}, false
}

// holdReason parses HOLD and the reason after a dash. A dash without a reason is a hold, too.
func holdReason(line string) (reason string, ok bool) {
	const word = "HOLD"
	if len(line) < len(word) || !strings.EqualFold(line[:len(word)], word) {
		return "", false
	}
	rest := strings.TrimSpace(line[len(word):])
	if rest == "" {
		return "", true
	}
	for _, dash := range []string{"-", "–", "—"} {
		if reason, ok := strings.CutPrefix(rest, dash); ok {
			return tidyLine(strings.TrimLeft(reason, "-–— \t")), true
		}
	}
	return "", false
}

func parsePriority(line string) Priority {
	const word = "PRIORITY"
	if len(line) <= len(word) || !strings.EqualFold(line[:len(word)], word) {
		return 0
	}
	level, colon := strings.CutPrefix(strings.TrimSpace(line[len(word):]), ":")
	if first, _ := utf8.DecodeRuneInString(line[len(word):]); !colon && !unicode.IsSpace(first) {
		return 0
	}
	switch p := priorities[strings.ToUpper(strings.TrimSpace(level))]; {
	case colon && p == Urgent:
		return 0
	default:
		return p
	}
}

var priorities = map[string]Priority{"URGENT": Urgent, "HIGH": High, "MEDIUM": Medium, "LOW": Low}

// tidyLine turns untrusted text into one printable line of limited length.
func tidyLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	text = strings.TrimSpace(text)
	if runes := []rune(text); len(runes) > maxReason {
		text = strings.TrimSpace(string(runes[:maxReason])) + "..."
	}
	return text
}

// Orders are the directives in effect on an issue. Each kind has its own field, so that one does not undo another; nil
// if there is none.
type Orders struct {
	Hold      *Directive `json:"hold,omitempty"`
	SkipQA    *Directive `json:"skip_qa,omitempty"`
	Decompose *Directive `json:"decompose,omitempty"`
	Reassign  *Directive `json:"reassign,omitempty"`
	Priority  *Directive `json:"priority,omitempty"`
	Last      *Directive `json:"last,omitempty"` // the latest of all, RESUME included
}

// OrdersIn folds the comments of an issue. Only comments by allowed authors count; if allowed is nil, none do. The
// latest directive of a kind is in effect, and a RESUME ends a HOLD and nothing else. Comments with the same time count
// in the order of the list.
func OrdersIn(comments []Comment, allowed func(author string) bool) Orders {
	var o Orders
	if allowed == nil {
		return o
	}
	comments = slices.Clone(comments)
	slices.SortStableFunc(comments, func(a, b Comment) int { return a.At.Compare(b.At) })
	for _, c := range comments {
		if d, ok := ParseDirective(c); ok && allowed(c.Author) {
			o.applyDirective(&d)
		}
	}
	return o
}

func (o *Orders) applyDirective(d *Directive) {
	o.Last = d
	switch d.Kind {
	case Hold:
		o.Hold = d
	case Resume:
		o.Hold = nil
	case SkipQA:
		o.SkipQA = d
	case Decompose:
		o.Decompose = d
	case Reassign:
		o.Reassign = d
	case Prioritize:
		o.Priority = d
	}
}
