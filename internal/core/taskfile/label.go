package taskfile

import (
	"strings"
	"unicode"

	"orange/internal/lazy"
)

var labelLine = lazy.NewRegexp(`^ {0,3}(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?(\*{1,3}|_{1,3})?` +
	`([A-Z][A-Z_ -]*?)(\*{1,3}|_{1,3})?[ ]*:(.*)$`)

var fenceMark = lazy.NewRegexp("^[ \t]*(?:```[^`]*|~~~.*)$")

// label is a `LABEL:` line: the label and what follows it on the line.
type label struct{ name, rest string }

func readLabel(line string) (label, bool) {
	m := labelLine.FindStringSubmatch(line)
	if m == nil {
		return label{}, false
	}
	open, name, closed, rest := m[1], strings.TrimSpace(m[2]), m[3], m[4]
	if strings.HasPrefix(rest, "//") {
		return label{}, false
	}
	rest = strings.TrimSpace(rest)
	if open != "" && closed == "" {
		if after, ok := strings.CutPrefix(rest, open); ok {
			rest = after
		} else {
			rest = strings.TrimSuffix(rest, open)
		}
	}
	return label{name: name, rest: strings.TrimSpace(rest)}, true
}

// labelFields returns the labels with content in the lines from first up to end.
func (o outline) labelFields(first, end, before int) []LabelField {
	var fields []LabelField
	for i := first; i < end; {
		l, ok := readLabel(o.lineText(i))
		if !ok || o.hidden[i] {
			i++
			continue
		}
		next := o.nextLabel(i+1, end)
		content := []string{l.rest}
		for j := i + 1; j < next; j++ {
			content = append(content, o.lineText(j))
		}
		text := strings.TrimSpace(strings.Join(content, "\n"))
		if hasContent(text) {
			fields = append(fields, LabelField{Label: l.name, Text: text, Line: before + i + 1})
		}
		i = next
	}
	return fields
}

func (o outline) nextLabel(from, end int) int {
	for i := from; i < end; i++ {
		if _, ok := readLabel(o.lineText(i)); ok && !o.hidden[i] {
			return i
		}
	}
	return end
}

// hasContent reports whether the text has content other than markup, punctuation and comments.
func hasContent(text string) bool {
	for line := range strings.SplitSeq(dropComments(text), "\n") {
		if !fenceMark.MatchString(line) && strings.ContainsFunc(line, isContent) {
			return true
		}
	}
	return false
}

// isContent reports whether r counts as content. Emoji (category So) do.
func isContent(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.So, r)
}

func dropComments(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "<!--")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, text, _ = strings.Cut(rest, "-->")
	}
}
