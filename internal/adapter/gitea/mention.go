package gitea

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mentionsIssue says whether a text names an issue. The key stands alone: ENG-1 is not named by
// ENG-12. A mere number needs its #.
func mentionsIssue(text, key string) bool {
	if isNumber(key) {
		key = "#" + key
	}
	return containsKey(text, key)
}

// branchMentions says the same of a branch, where nobody writes #.
func branchMentions(branch, key string) bool {
	return containsKey(branch, strings.TrimPrefix(key, "#"))
}

func isNumber(key string) bool {
	return strings.Trim(key, "0123456789") == ""
}

// containsKey looks for a key between characters that are of no word, in any case of letters.
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
