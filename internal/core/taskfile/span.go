package taskfile

import "strings"

// span is the position of one entry in the YAML of the frontmatter, as byte offsets.
type span struct {
	known      bool
	line       int // start of the key's line
	key        int // start of the key
	colon      int // after the colon
	start, end int // the value; both equal colon if there is none
	stop       int // after the last line of the value and of indented comments below it
}

// locateEntry finds the entry whose key is on line first and which ends before line next.
func locateEntry(text lines, first, next int) span {
	if first < 0 || first >= text.lineCount() {
		return span{}
	}
	line := text.lineText(first)
	colon := colonEnd(line)
	if colon < 0 {
		return span{}
	}
	base := text.lineStart(first)
	indent := len(line) - len(strings.TrimLeft(line, " "))
	inline := strings.TrimLeft(line[colon:], " \t")
	start := len(line) - len(inline)
	length := inlineLength(inline)
	if length == 0 {
		start = colon
	}
	s := span{known: true, line: base, key: base + indent, colon: base + colon, start: base + start}
	s.end = s.start + length
	last := lastLine(text, first, next, isBlockScalar(inline))
	if last > first {
		s.end = text.lineStart(last) + len(text.lineText(last))
	}
	s.stop = text.lineStart(lastComment(text, last, next) + 1)
	return s
}

// colonEnd returns the offset after the colon that ends the key of a line, or -1.
func colonEnd(line string) int {
	at := len(line) - len(strings.TrimLeft(line, " "))
	at += quotedLength(line[at:])
	for ; at < len(line); at++ {
		if line[at] == ':' && (at+1 == len(line) || line[at+1] == ' ' || line[at+1] == '\t') {
			return at + 1
		}
	}
	return -1
}

// lastLine returns the last line of a value, without blank lines and comments after it. In a
// block scalar an indented # is text.
func lastLine(text lines, first, next int, block bool) int {
	for i := min(next, text.lineCount()) - 1; i > first; i-- {
		line := text.lineText(i)
		comment := isComment(line) && !(block && isIndented(line))
		if strings.TrimSpace(line) != "" && !comment {
			return i
		}
	}
	return first
}

// lastComment returns the last of the indented comments directly below a value: if they stayed,
// they could become part of the value before it.
func lastComment(text lines, last, next int) int {
	for i := last + 1; i < min(next, text.lineCount()); i++ {
		line := text.lineText(i)
		blank := strings.TrimSpace(line) == ""
		if !blank && !isIndented(line) {
			break
		}
		if !blank {
			last = i
		}
	}
	return last
}

func isComment(line string) bool {
	return strings.HasPrefix(strings.TrimLeft(line, " \t"), "#")
}

func isIndented(line string) bool {
	return strings.TrimLeft(line, " \t") != line
}

func isBlockScalar(inline string) bool {
	return strings.HasPrefix(inline, "|") || strings.HasPrefix(inline, ">")
}

// inlineLength returns the length of the value at the start of text, without a comment after
// it.
func inlineLength(text string) int {
	if n := quotedLength(text); n > 0 {
		return n
	}
	flow := strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{")
	at := 0
	for at < len(text) {
		if text[at] == '#' && (at == 0 || text[at-1] == ' ' || text[at-1] == '\t') {
			break
		}
		step := 1
		if flow {
			step = max(1, quotedLength(text[at:]))
		}
		at += step
	}
	return len(strings.TrimRight(text[:at], " \t"))
}

// quotedLength returns the length of the quoted string at the start of text, or 0 if there is
// none.
func quotedLength(text string) int {
	if text == "" || (text[0] != '"' && text[0] != '\'') {
		return 0
	}
	quote := text[0]
	for at := 1; at < len(text); at++ {
		switch {
		case quote == '"' && text[at] == '\\':
			at++
		case quote == '\'' && strings.HasPrefix(text[at:], "''"):
			at++
		case text[at] == quote:
			return at + 1
		}
	}
	return len(text)
}
