package gitea

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mentionsIssue reports whether a text names an issue. The key must be a whole word: ENG-12
// does not name ENG-1. A number needs a # before it.
func mentionsIssue(text, key string) bool {
	if isNumber(key) {
		key = "#" + key
	}
	return containsKey(text, key)
}

// branchMentions is mentionsIssue for the name of a branch, in which a number needs no #.
func branchMentions(branch, key string) bool {
	return containsKey(branch, strings.TrimPrefix(key, "#"))
}

func isNumber(key string) bool {
	return strings.Trim(key, "0123456789") == ""
}

// containsKey searches for a key as a whole word, ignoring case.
func containsKey(text, key string) bool {
	text, key = strings.ToLower(text), strings.ToLower(strings.TrimSpace(key))
	for at := 0; ; {
		i := strings.Index(text[at:], key)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(key):])
		if !isWordRune(before) && !isWordRune(after) {
			return true
		}
		at++
	}
}

func isWordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
