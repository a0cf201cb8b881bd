package taskfile

import "strings"

// QuoteContext returns text as it may stand under `## Context`: no line of it opens or ends a section, and nothing
// it leaves open swallows the sections behind it. Harmless text stays as it is, headings move two levels down, and
// what is still harmful then becomes a block quote.
func QuoteContext(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd").Replace(strings.ToValidUTF8(text, "\ufffd"))
	text = trimBlankLines(text)
	if isInert(text) {
		return text
	}
	if demoted := demote(text); isInert(demoted) {
		return demoted
	}
	return blockQuote(text)
}

// isInert puts the text between two headings and looks whether they are all there is.
func isInert(text string) bool {
	const before, after = "## Context\n\n", "\n\n## After\n"
	o := readOutline(before + text + after)
	var found []int
	for _, h := range o.headings {
		if h.level <= 2 {
			found = append(found, h.first)
		}
	}
	return len(found) == 2 && found[0] == 0 && found[1] == o.count()-1
}

func demote(text string) string {
	o := readOutline(text)
	var b strings.Builder
	next := 0
	for _, h := range o.headings {
		b.WriteString(text[o.start(next):o.start(h.first)])
		b.WriteString(strings.Repeat("#", min(h.level+2, 6)) + " " + h.name + "\n")
		next = h.last + 1
	}
	b.WriteString(text[o.start(next):])
	return strings.TrimRight(b.String(), "\n")
}

func blockQuote(text string) string {
	quoted := strings.Split(text, "\n")
	for i, line := range quoted {
		quoted[i] = strings.TrimRight("> "+line, " ")
	}
	return strings.Join(quoted, "\n")
}

// trimBlankLines drops blank lines around the text and keeps the indent of its first line.
func trimBlankLines(text string) string {
	text = strings.TrimRight(text, " \t\n")
	for {
		line, rest := cutLine(text)
		if rest == "" || strings.TrimSpace(line) != "" {
			return text
		}
		text = rest
	}
}
