package ansi

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// OutputText returns the text of a line that a program wrote to its terminal. A step to the right becomes spaces, a
// jump to another line becomes a new line, and overwritten text is dropped.
func OutputText(s string) string {
	var out []byte
	begin, back := 0, false // start of the present line; the cursor returned to it
	for i := 0; i < len(s); {
		if n := escapeLength(s[i:]); n > 0 {
			switch step := cursorStep(s[i : i+n]); {
			case step < 0 && len(out) > begin:
				out = append(out, '\n')
				begin, back = len(out), false
			case step > 0:
				out = append(out, strings.Repeat(" ", step)...)
			}
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == '\r':
			back = true
			continue
		case isDangerous(r):
			continue
		case back:
			out, back = out[:begin], false
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

// maxStep limits how far one escape sequence moves the text after it.
const maxStep = 40

// cursorStep returns what an escape sequence does to the text after it: a number of columns to the right, below 0 for
// another line, 0 for nothing.
func cursorStep(sequence string) int {
	body := strings.TrimPrefix(strings.TrimPrefix(sequence, "\x1b["), "\u009b")
	if body == "" || body == sequence {
		return 0
	}
	switch body[len(body)-1] {
	case 'C':
		n, err := strconv.Atoi(body[:len(body)-1])
		if err != nil {
			n = 1
		}
		return min(max(n, 1), maxStep)
	case 'A', 'B', 'E', 'F', 'H', 'f', 'd':
		return -1
	}
	return 0
}
