package harness

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// geminiSilent is what Gemini's hook says for a turn without words.
const geminiSilent = "[no response text]"

// geminiWords finds the last message in what the hook at the end of a turn hands over.
// That is every message of the turn, a line each, and behind each message its pieces
// but the first once more, as they came. The transcript has the last message as it is,
// but without comments, and marks are comments: only both together say what was said.
func geminiWords(response, transcript string) string {
	if response == geminiSilent {
		return ""
	}
	last := ""
	for _, l := range readRecords(transcript, geminiWordsLook) {
		if l.Type == "gemini" && l.Content != "" {
			last = string(l.Content)
		}
	}
	if last == "" {
		return response
	}
	for rest := response; ; {
		if own, ok := cutPieces(rest, last); ok {
			return own
		}
		_, after, more := strings.Cut(rest, "\n")
		if !more {
			return response
		}
		rest = after
	}
}

func geminiWordsLook(end []geminiLine) found {
	for _, l := range end {
		if l.Type == "gemini" && l.Content != "" {
			return all
		}
	}
	return nothing
}

// cutPieces returns the beginning of text that is the message last with its comments, if
// nothing follows but pieces of it.
func cutPieces(text, last string) (string, bool) {
	at := unseenPrefix(text, true)
	for last != "" {
		if at += unseenPrefix(text[at:], false); at == len(text) || text[at] != last[0] {
			return "", false
		}
		at, last = at+1, last[1:]
	}
	const tries = 100 // the end of a message may be white space and comments
	for range tries {
		if piecesOf(text[:at], text[at:]) {
			return text[:at], true
		}
		n := unseenOnce(text[at:], true)
		if n == 0 {
			return "", false
		}
		at += n
	}
	return "", false
}

// piecesOf says whether rest is made of the last pieces of a message, a space before
// each.
func piecesOf(message, rest string) bool {
	if rest == "" {
		return true
	}
	join := strings.NewReplacer(" ", "")
	return rest[0] == ' ' && strings.HasSuffix(join.Replace(message), join.Replace(rest))
}

// unseenPrefix is how many bytes at the beginning of a text Gemini leaves out when it writes
// it down.
func unseenPrefix(text string, space bool) int {
	at := 0
	for {
		n := unseenOnce(text[at:], space)
		if n == 0 {
			return at
		}
		at += n
	}
}

func unseenOnce(text string, space bool) int {
	if strings.HasPrefix(text, "<!--") {
		if end := strings.Index(text, "-->"); end > 0 {
			return end + len("-->")
		}
	}
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case r >= '\u200b' && r <= '\u200f' || r == '\ufeff', space && unicode.IsSpace(r):
		return size
	}
	return 0
}
