package taskfile

import (
	"sort"
	"strings"
)

// lines is a text with the offsets at which its lines start.
type lines struct {
	text   string
	starts []int
}

func newLines(text string) lines {
	l := lines{text: text}
	for at := 0; at < len(text); {
		l.starts = append(l.starts, at)
		line, _ := cutLine(text[at:])
		at += len(line)
	}
	return l
}

func (l lines) lineCount() int {
	return len(l.starts)
}

// lineStart returns the offset of a line, or the end of the text after the last one.
func (l lines) lineStart(line int) int {
	if line >= len(l.starts) {
		return len(l.text)
	}
	return l.starts[line]
}

// lineText returns a line without its line ending.
func (l lines) lineText(line int) string {
	return strings.TrimRight(l.text[l.lineStart(line):l.lineStart(line+1)], "\r\n")
}

// lineAt returns the line that contains an offset.
func (l lines) lineAt(offset int) int {
	return sort.Search(len(l.starts), func(i int) bool { return l.starts[i] > offset }) - 1
}
