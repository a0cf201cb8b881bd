// Package syntax finds the parts of a source text that a page shows in colours: keywords, strings, comments and so on.
// It uses the lexers of chroma with rules of its own. The package chroma/v2/lexers is not imported, because it reads the
// definitions of all its languages whenever the program starts; the rules here are built when a language is first used.
package syntax

import (
	"path"
	"strings"

	"github.com/alecthomas/chroma/v2"

	"orange/internal/lazy"
)

// MaxText is the size of a text above which no parts are found, in bytes.
const MaxText = 128 << 10

// A Span is a part of a line. Class is one of a fixed set of CSS classes, "" for plain text.
type Span struct {
	Class string
	Text  string
}

// Classes lists the CSS classes of spans.
func Classes() []string {
	return []string{classKeyword, classType, classConstant, classString, classNumber, classComment, classFunction, classTag, classAttribute, classHeading}
}

const (
	classKeyword   = "hl-keyword"
	classType      = "hl-type"
	classConstant  = "hl-constant"
	classString    = "hl-string"
	classNumber    = "hl-number"
	classComment   = "hl-comment"
	classFunction  = "hl-function"
	classTag       = "hl-tag"
	classAttribute = "hl-attribute"
	classHeading   = "hl-heading"
)

// Highlight returns the spans of each line of a text, in the language that the name of its file says. The spans of a line
// contain all of its text. It returns nil if the language is not known, or if the text is too long.
func Highlight(file, text string) [][]Span {
	l := languageOf(file)
	if l == nil || len(text) > MaxText {
		return nil
	}
	tokens, err := l.lexer().Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return nil
	}
	lines := [][]Span{nil}
	for _, t := range tokens.Tokens() {
		class := classOf(t.Type)
		for i, part := range strings.Split(t.Value, "\n") {
			if i > 0 {
				lines = append(lines, nil)
			}
			last := &lines[len(lines)-1]
			switch n := len(*last); {
			case part == "":
			case n > 0 && (*last)[n-1].Class == class:
				(*last)[n-1].Text += part
			default:
				*last = append(*last, Span{class, part})
			}
		}
	}
	return lines
}

// classOf returns the class of a type of tokens.
func classOf(t chroma.TokenType) string {
	switch t {
	case chroma.KeywordType, chroma.NameClass:
		return classType
	case chroma.KeywordConstant:
		return classConstant
	case chroma.NameFunction:
		return classFunction
	case chroma.NameTag:
		return classTag
	case chroma.NameAttribute, chroma.NameDecorator, chroma.NameVariable:
		return classAttribute
	case chroma.GenericHeading:
		return classHeading
	}
	switch {
	case t.InCategory(chroma.Keyword):
		return classKeyword
	case t.InSubCategory(chroma.LiteralString):
		return classString
	case t.InSubCategory(chroma.LiteralNumber):
		return classNumber
	case t.InCategory(chroma.Comment):
		return classComment
	}
	return ""
}

// A language is how files of one kind are read.
type language struct {
	name  string
	files string // names of files, or patterns of path.Match, separated by blanks
	rules func() chroma.Rules
	fold  bool // upper and lower case are the same

	lexer func() chroma.Lexer // built by the first call
}

// languages returns the languages.
var languages = lazy.OnFirstUse(func() []*language {
	list := languageTable()
	for _, l := range list {
		l.lexer = lazy.OnFirstUse(func() chroma.Lexer {
			return chroma.MustNewLexer(&chroma.Config{Name: l.name, CaseInsensitive: l.fold}, l.rules)
		})
	}
	return list
})

// languageOf returns the language of a file, or nil.
func languageOf(file string) *language {
	base := path.Base(file)
	for _, l := range languages() {
		for pattern := range strings.FieldsSeq(l.files) {
			if ok, _ := path.Match(pattern, base); ok {
				return l
			}
		}
	}
	return nil
}
