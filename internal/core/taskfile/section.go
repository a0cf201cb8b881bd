package taskfile

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
)

// Section is one `## Name` part of a body as gates see it.
type Section struct {
	Name     string       `json:"name"`           // heading text as written
	Line     int          `json:"line"`           // of the heading, counted from 1 in the whole file
	Text     string       `json:"text,omitempty"` // the text after the heading, trimmed
	Size     int          `json:"size"`           // of Text, in bytes
	TextLine int          `json:"text_line"`      // of the first line of Text; of the heading if there is no Text
	Digest   string       `json:"digest"`         // of Text, ignoring line endings and trailing white space
	Fields   []LabelField `json:"fields,omitempty"`
	Ruling   Ruling       `json:"ruling,omitzero"` // from its verdict line
	Word     Ruling       `json:"word,omitzero"`   // from the first word PASS or FAIL
}

// LabelField is a `LABEL:` of a section that has content.
type LabelField struct {
	Label string `json:"label"`
	Text  string `json:"text,omitempty"`
	Line  int    `json:"line"` // of the label, counted from 1 in the whole file
}

// Sections returns the sections of the body in order. A section runs to the next heading of level 1 or 2.
func (d Document) Sections() []Section {
	o := readOutline(d.body)
	before := strings.Count(d.headText(), "\n")
	bounds := slices.DeleteFunc(o.headings, func(h heading) bool { return h.level > 2 })
	var sections []Section
	for i, h := range bounds {
		if h.level != 2 {
			continue
		}
		end := o.lineCount()
		if i+1 < len(bounds) {
			end = bounds[i+1].first
		}
		s := o.readSection(h.last+1, end, before)
		s.Name, s.Line = h.name, before+h.first+1
		if s.Text == "" {
			s.TextLine = s.Line
		}
		s.readRulings()
		sections = append(sections, s)
	}
	return sections
}

// FindSection returns the last section with a name: of several, that one counts.
func FindSection(sections []Section, name string) (Section, bool) {
	for _, s := range slices.Backward(sections) {
		if s.Name == name {
			return s, true
		}
	}
	return Section{}, false
}

// WithoutText returns copies of sections without their text: enough for decisions, and nothing
// that should not be stored.
func WithoutText(sections []Section) []Section {
	labels := 0
	for i := range sections {
		labels += len(sections[i].Fields)
	}
	out, fields := slices.Clone(sections), make([]LabelField, 0, labels)
	for i := range out {
		first := len(fields)
		for _, f := range out[i].Fields {
			fields = append(fields, LabelField{Label: f.Label, Line: f.Line})
		}
		out[i].Text, out[i].Fields = "", nil
		if len(fields) > first {
			out[i].Fields = fields[first:len(fields):len(fields)]
		}
	}
	return out
}

// HasLabel reports whether the section has this label with content after it.
func (s *Section) HasLabel(label string) bool {
	return slices.ContainsFunc(s.Fields, func(f LabelField) bool { return f.Label == label })
}

// readSection reads the lines from first up to end; before is the number of lines of the file
// before the outline.
func (o outline) readSection(first, end, before int) Section {
	raw := o.text[o.lineStart(first):max(o.lineStart(first), o.lineStart(end))]
	body := strings.TrimSpace(raw)
	lead := len(raw) - len(strings.TrimLeftFunc(raw, unicode.IsSpace))
	return Section{
		Text:     body,
		Size:     len(body),
		TextLine: before + first + strings.Count(raw[:lead], "\n") + 1,
		Digest:   textDigest(body),
		Fields:   o.labelFields(first, end, before),
	}
}

func textDigest(body string) string {
	var kept []string
	for line := range strings.SplitSeq(body, "\n") {
		kept = append(kept, strings.TrimRight(line, " \t\r"))
	}
	sum := sha256.Sum256([]byte(strings.Trim(strings.Join(kept, "\n"), "\n")))
	return hex.EncodeToString(sum[:8])
}
