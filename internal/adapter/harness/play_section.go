package harness

import (
	"fmt"
	"strings"

	"orange/internal/core/taskfile"
)

// withSection returns a TASK.md whose section with a name has this text. If the section cannot
// be replaced, a new one is added at the end, where it counts.
func withSection(src []byte, name, text string) ([]byte, error) {
	doc, err := taskfile.Parse(src)
	if err != nil {
		return nil, err
	}
	text = strings.TrimSpace(text)
	if old, ok := taskfile.FindSection(doc.Sections(), name); ok && old.Text != "" {
		if edited, ok := spliceSection(string(src), old, text); ok {
			return []byte(edited), nil
		}
	}
	body := strings.TrimRight(string(src), "\n")
	if body != "" {
		body += "\n\n"
	}
	edited := []byte(body + "## " + name + "\n\n" + text + "\n")
	if !sectionReads(edited, name, text) {
		return nil, fmt.Errorf("section %q cannot be written: its text closes it, or something before it is not closed", cleanLine(name, 60))
	}
	return edited, nil
}

// spliceSection replaces the text of a section.
func spliceSection(src string, old taskfile.Section, text string) (string, bool) {
	from := 0
	for range old.TextLine - 1 {
		from += strings.IndexByte(src[from:], '\n') + 1
	}
	at := strings.Index(src[from:], old.Text)
	if at < 0 {
		return "", false
	}
	at += from
	edited := src[:at] + text + src[at+len(old.Text):]
	return edited, sectionReads([]byte(edited), old.Name, text)
}

// sectionReads reports whether a section parses as intended.
func sectionReads(src []byte, name, text string) bool {
	doc, err := taskfile.Parse(src)
	if err != nil {
		return false
	}
	s, ok := taskfile.FindSection(doc.Sections(), name)
	return ok && s.Text == text
}
