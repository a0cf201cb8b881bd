package tmux

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tmux changes some characters of a name, splits targets at others, and expands formats in
// names, some of which run commands. So a name consists of letters, digits and a few harmless
// characters; every other byte is written as %XX, as in a URL.

// SessionName returns the name of the session of a branch of a project. Different branches and
// projects have different names, whatever characters they contain.
func SessionName(project, branch string) string {
	return encodeName(project, "_-+") + "/" + encodeName(branch, "_-+/")
}

// windowName returns the name of a window in tmux. It is never a number and never begins with a
// sign, because tmux would take it for an index or an offset.
func windowName(name string) string {
	safe := encodeName(name, "_-+")
	if safe == "" {
		return safe
	}
	if strings.Trim(safe, "0123456789") == "" || safe[0] == '-' || safe[0] == '+' {
		return fmt.Sprintf("%%%02X", safe[0]) + safe[1:]
	}
	return safe
}

// encodeName keeps letters, digits and the characters in signs, and writes every other byte as
// %XX.
func encodeName(text, signs string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if isPlain(r, size) || r < utf8.RuneSelf && strings.ContainsRune(signs, r) {
			out.WriteString(text[i : i+size])
		} else {
			for _, b := range []byte(text[i : i+size]) {
				fmt.Fprintf(&out, "%%%02X", b)
			}
		}
		i += size
	}
	return out.String()
}

// isPlain reports whether a character is a letter or digit that tmux leaves alone. Letters
// beyond the basic plane are too new for the tables of some systems.
func isPlain(r rune, size int) bool {
	switch {
	case r < utf8.RuneSelf:
		return '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
	case r == utf8.RuneError && size == 1:
		return false
	}
	return r <= 0xFFFF && unicode.IsLetter(r)
}

// decodeName is the inverse of encodeName.
func decodeName(name string) string {
	var out strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] == '%' && i+2 < len(name) {
			high, low := strings.IndexByte(digits, name[i+1]), strings.IndexByte(digits, name[i+2])
			if high >= 0 && low >= 0 {
				out.WriteByte(byte(high<<4 | low))
				i += 2
				continue
			}
		}
		out.WriteByte(name[i])
	}
	return out.String()
}

const digits = "0123456789ABCDEF"

// safeName reports whether a session's name contains nothing that tmux could misinterpret.
func safeName(name string) bool { return name != "" && encodeName(name, "_-+/%") == name }
