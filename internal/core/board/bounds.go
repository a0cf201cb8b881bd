package board

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a card. Names and titles are counted in characters, texts in bytes.
const (
	MaxTitle       = 200
	MaxDescription = 256 << 10
	MaxComment     = 64 << 10
	MaxTags        = 100
	MaxName        = 64 // of a tag or a column
	MaxOwner       = 200
	MaxKey         = 200
	maxKnown       = 500 // columns, and tags, of a board
)

func checkTitle(title string) error {
	switch {
	case title == "":
		return Refusef("a card needs a title")
	case !oneLine(title):
		return Refusef("the title of a card is one line of text without control characters")
	case utf8.RuneCountInString(title) > MaxTitle:
		return Refusef("the title has more than %d characters: put the rest into the description", MaxTitle)
	}
	return nil
}

func checkText(what, text string, most int) error {
	switch {
	case !utf8.ValidString(text):
		return Refusef("the %s is not text: give UTF-8", what)
	case len(text) > most:
		return Refusef("the %s is longer than %d KB: put it into a file of the repository and name that", what, most>>10)
	}
	return nil
}

// checkName returns what is wrong with the name of a tag or a column.
func checkName(what, name string) error {
	switch {
	case name == "" || name != strings.TrimSpace(name):
		return Refusef("%s %q: a name has no spaces around it and is not empty", what, cutName(name))
	case utf8.RuneCountInString(name) > MaxName:
		return Refusef("%s %q: a name has at most %d characters", what, cutName(name), MaxName)
	case !utf8.ValidString(name) || strings.ContainsAny(name, ",[]") || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return Refusef("%s %q: a name has no control characters, commas or brackets", what, cutName(name))
	}
	return nil
}

func checkWord(what, text string, most int) error {
	switch {
	case strings.TrimSpace(text) == "" || !oneLine(text):
		return Refusef("%s %q: give one line of text", what, cutName(text))
	case utf8.RuneCountInString(text) > most:
		return Refusef("%s %q: give at most %d characters", what, cutName(text), most)
	}
	return nil
}

// oneLine reports whether text is a single printable line.
func oneLine(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
	})
}

// cutName shortens untrusted text for an error.
func cutName(text string) string {
	runes := []rune(text)
	if len(runes) <= MaxName {
		return text
	}
	return string(runes[:MaxName]) + "..."
}
