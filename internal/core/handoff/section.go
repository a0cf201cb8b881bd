package handoff

import (
	"errors"
	"fmt"
	"strings"

	"orange/internal/core/als"
	"orange/internal/lazy"
)

// The labels of a section, in the order in which they are written.
const (
	labelFrom     = "FROM"
	labelTo       = "TO"
	labelDone     = "DONE"
	labelMetadata = "METADATA"
)

// listLabels are the labels of lists, with the field for each.
var listLabels = [...][2]string{
	{"DECISIONS", "key_decisions"}, {"REMAINING", "remaining"}, {"UNCERTAIN", "uncertain"},
	{"FILES", "files_of_interest"}, {"WARNINGS", "warnings"}, {"DEPENDENCIES", "dependencies"},
}

// anyLabel matches a line that a reader of TASK.md could take for a label, known or not.
var anyLabel = lazy.NewRegexp(`^[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*[*_]{0,3}[A-Z][A-Z_ -]*[*_]{0,3}[ \t]*:`)

// sectionText quotes text that a reader of TASK.md could take for a label or for a comment that
// hides what follows.
var sectionText = als.Quoting(func(text string) bool {
	return anyLabel.MatchString(text) || strings.Contains(text, "<!--")
})

// Section returns the handoff as the body of a ## Handoff section: labels, each with a text or
// a list. Every text is on a separate line and begins neither a heading nor a label, so that
// text from an agent opens no other section and no other gate.
func (h Handoff) Section() string {
	var b strings.Builder
	for _, l := range [...][2]string{{labelFrom, h.From}, {labelTo, h.To}, {labelDone, h.summaryText()}} {
		if l[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", l[0], sectionText.Write(l[1]))
		}
	}
	lists := h.listsByField()
	for _, l := range listLabels {
		items := *lists[l[1]]
		if len(items) > 0 {
			fmt.Fprintf(&b, "\n%s:\n", l[0])
		}
		for _, item := range items {
			fmt.Fprintf(&b, "- %s\n", sectionText.Write(item))
		}
	}
	if text, err := compactJSON(h.Metadata); err == nil && len(h.Metadata) > 0 {
		fmt.Fprintf(&b, "\n%s: %s\n", labelMetadata, als.EscapeJSON(string(text)))
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

var (
	knownLabel = lazy.NewRegexp(`^(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?([*_]{0,3})` +
		`(FROM|TO|DONE|DECISIONS|REMAINING|UNCERTAIN|FILES|WARNINGS|DEPENDENCIES|METADATA)([*_]{0,3})[ \t]*:([*_]{0,3})(.*)$`)
	bullet  = lazy.NewRegexp(`^(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+(.*)|)$`)
	comment = lazy.NewRegexp(`(?s)<!--.*?(?:-->|$)`)
	fence   = lazy.NewRegexp("^(?:```|~~~)")
	heading = lazy.NewRegexp(`^##?(?:[ \t]|$)`)
)

// ErrNoLabel means that a text has no label of a handoff section.
var ErrNoLabel = errors.New("the section has no label: write DONE:, DECISIONS:, REMAINING: or UNCERTAIN: with some text")

// ParseSection parses the body of a ## Handoff section, with or without its heading and up to
// the next one, as Section or an agent wrote it. It joins wrapped lines, ignores comments, and
// takes labels in code as text. Missing lists are empty, never nil.
func ParseSection(text string) (Handoff, error) {
	parts, found := splitLabels(text)
	if !found {
		return Handoff{}, ErrNoLabel
	}
	h := Handoff{
		From: parts.textOf(labelFrom), To: parts.textOf(labelTo), Summary: parts.textOf(labelDone), Metadata: map[string]any{},
	}
	lists := h.listsByField()
	for _, l := range listLabels {
		*lists[l[1]] = parts.listOf(l[0])
	}
	if written := parts.textOf(labelMetadata); written != "" {
		v, ok := metadataValue(written).(map[string]any)
		if !ok {
			return Handoff{}, errors.New("METADATA: must be a JSON object on one line")
		}
		h.Metadata = v
	}
	return h, nil
}

// labelled contains items by label; an item is the parts of a text.
type labelled map[string][][]string

func splitLabels(text string) (parts labelled, found bool) {
	parts = labelled{}
	label, fenced := "", false
	text = comment.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "")
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if fence.MatchString(line) {
			fenced = !fenced
		}
		if found && !fenced && heading.MatchString(line) {
			break
		}
		if name, rest, ok := readLabel(line); ok && !fenced {
			label, found = name, true
			parts.addLine(label, rest, true)
			continue
		}
		if m := bullet.FindStringSubmatch(line); m != nil && !fenced {
			parts.addLine(label, m[1], true)
			continue
		}
		parts.addLine(label, line, false)
	}
	return parts, found
}

// readLabel parses a line that begins with a label, which may be bold.
func readLabel(line string) (label, rest string, ok bool) {
	m := knownLabel.FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	open, label, closed, rest := m[1], m[2], m[3]+m[4], m[5]
	if open != "" && closed == "" {
		rest = strings.TrimSuffix(rest, open)
	}
	return label, rest, true
}

// addLine adds a line to a label, as a new item or as a continuation of the last one.
func (p labelled) addLine(label, line string, begins bool) {
	line = strings.TrimSpace(line)
	if line == "" || label == "" {
		return
	}
	items := p[label]
	if begins || len(items) == 0 {
		p[label] = append(items, []string{line})
		return
	}
	items[len(items)-1] = append(items[len(items)-1], line)
}

func (p labelled) listOf(label string) []string {
	list := []string{}
	for _, parts := range p[label] {
		list = append(list, sectionText.Read(strings.Join(parts, " ")))
	}
	return list
}

// textOf returns the text of a label that an agent may have written as a list.
func (p labelled) textOf(label string) string { return strings.Join(p.listOf(label), "; ") }
