package harness

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// geminiSilent is what Gemini's hook passes for a turn without a message.
const geminiSilent = "[no response text]"

// geminiWords finds the last message in the payload of the hook at the end of a turn. The
// payload has every message of the turn, one per line, and after each message all its pieces
// but the first once more, as they were streamed. The transcript has the last message, but
// without comments, and report marks are comments: only both together give what was said.
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

// cutPieces returns the beginning of text that is the message last with its comments, if only
// pieces of the message follow it.
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

// piecesOf reports whether rest consists of the last pieces of a message, each preceded by a
// space.
func piecesOf(message, rest string) bool {
	if rest == "" {
		return true
	}
	join := strings.NewReplacer(" ", "")
	return rest[0] == ' ' && strings.HasSuffix(join.Replace(message), join.Replace(rest))
}

// unseenPrefix returns how many bytes at the beginning of a text Gemini leaves out of its
// transcript.
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
