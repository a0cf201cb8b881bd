package taskfile

import (
	"fmt"
	"slices"
	"strings"
)

// A Statement is a verdict that an agent states by command.
type Statement struct {
	Verdict string // PASS or FAIL
	Note    string // why, in the agent's words
	Round   int    // distinguishes a text that would otherwise equal the previous one
	Old     string // digest of the section when the review began; "" if there was none
}

// WithVerdict returns the document with the statement at the beginning of the last section with
// that name, or in a new one at the end. The previous text of the section stays below it:
// unchanged if it belongs to this review and contradicts nothing, otherwise as a quotation.
func (d Document) WithVerdict(section string, s Statement) Document {
	had, ok := FindSection(d.Sections(), section)
	text := s.sectionText(had)
	if sum := textDigest(text); sum == had.Digest || sum == s.Old {
		text = strings.Replace(text, "Verdict: "+s.Verdict, fmt.Sprintf("Verdict: %s\nRound: %d", s.Verdict, s.Round), 1)
	}
	if ok {
		return d.withSection(section, text, true)
	}
	added := "## " + section + "\n\n" + text + "\n"
	behind := d.WithBody([]byte(strings.TrimLeft(strings.TrimRight(d.body, "\n")+"\n\n"+added, "\n")))
	if found, ok := FindSection(behind.Sections(), section); ok && found.Ruling.Verdict == s.Verdict {
		return behind
	}
	return d.WithBody([]byte(added + "\n" + d.body)) // something that is left open hides what follows it
}

// WithRequirements returns the document with other requirements: in the first section of that name, which agents are
// given, or in a new one at the beginning.
func (d Document) WithRequirements(text string) Document {
	text = QuoteContext(text)
	if _, ok := FindSection(d.Sections(), RequirementsSection); ok {
		return d.withSection(RequirementsSection, text, false)
	}
	body := "## " + RequirementsSection + "\n\n" + text + "\n"
	if rest := strings.TrimLeft(d.body, "\n"); rest != "" {
		body += "\n" + rest
	}
	return d.WithBody([]byte(body))
}

// withSection returns the document with another text in the first or the last section with that name.
func (d Document) withSection(name, text string, last bool) Document {
	o := readOutline(d.body)
	first, end := 0, 0
	for i, h := range o.headings {
		if h.level != 2 || h.name != name || first > 0 && !last {
			continue
		}
		first, end = h.last+1, o.lineCount()
		if next := slices.IndexFunc(o.headings[i+1:], func(h heading) bool { return h.level <= 2 }); next >= 0 {
			end = o.headings[i+1+next].first
		}
	}
	before, after := d.body[:o.lineStart(first)], d.body[o.lineStart(end):]
	if !strings.HasSuffix(before, "\n") {
		before += "\n"
	}
	if after != "" {
		after = "\n" + after
	}
	return d.WithBody([]byte(before + "\n" + text + "\n" + after))
}

// sectionText returns the text of the section with the statement.
func (s Statement) sectionText(had Section) string {
	parts := []string{"Verdict: " + s.Verdict}
	if note := strings.TrimSpace(s.Note); note != "" {
		if note = QuoteContext(note); !s.agreesWith(note) {
			note = blockQuote(note)
		}
		parts = append(parts, note)
	}
	switch old := had.Text; {
	case old == "":
	case had.Digest != s.Old && s.agreesWith(old):
		if head, rest, _ := strings.Cut(old, "\n"); strings.TrimSpace(head) == parts[0] {
			old = strings.TrimSpace(rest)
		}
		if old != "" {
			parts = append(parts, old)
		}
	default:
		parts = append(parts, "Before:", blockQuote(old))
	}
	return strings.Join(parts, "\n\n")
}

// agreesWith reports whether text, placed below the statement, gives no other verdict.
func (s Statement) agreesWith(text string) bool {
	below := Document{body: "## X\n\nVerdict: " + s.Verdict + "\n\n" + text + "\n"}
	sections := below.Sections()
	return len(sections) == 1 && sections[0].Ruling.Verdict == s.Verdict
}
