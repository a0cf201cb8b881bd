package handoff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"orange/internal/lazy"
)

// The limits of a handoff. Lengths are characters, sizes are bytes of JSON.
const (
	maxDecisions      = 5
	maxDecisionLength = 200
	maxFiles          = 10
	maxWarnings       = 3
	maxWarningLength  = 100
	maxDependencies   = 5
	maxNotes          = 5 // remaining and uncertain, each
	maxNoteLength     = 200
	maxStageLength    = 64
	maxMetadataSize   = 1 << 10
	maxSize           = 3 << 10
)

const stagePattern = "^[a-z0-9_-]+$"

var stageName = lazy.NewRegexp(stagePattern)

// fieldBound is the limit of one list of a handoff.
type fieldBound struct {
	name     string
	items    []string
	count    int
	length   int // of an item; 0 for any
	describe string
}

func (h Handoff) fieldBounds() []fieldBound {
	return []fieldBound{
		{"key_decisions", h.Decisions, maxDecisions, maxDecisionLength, "What was decided, one sentence each. The list may be empty."},
		{"files_of_interest", h.Files, maxFiles, 0, "Paths of files that the next stage should look at."},
		{"warnings", h.Warnings, maxWarnings, maxWarningLength, "What the next stage should beware of."},
		{"dependencies", h.Dependencies, maxDependencies, 0, "What the work needs, such as packages and their versions."},
		{"remaining", h.Remaining, maxNotes, maxNoteLength, "What is still to be done."},
		{"uncertain", h.Uncertain, maxNotes, maxNoteLength, "What nobody knows yet."},
	}
}

// Check returns every limit that the handoff exceeds, each with its field. The decisions are
// required, but may be an empty list; nil is not valid.
func (h Handoff) Check() []string {
	found := checkStage("from_stage", h.From)
	found = append(found, checkStage("to_stage", h.To)...)
	if h.Decisions == nil {
		found = append(found, "key_decisions is missing: give a list, which may be empty")
	}
	for _, b := range h.fieldBounds() {
		found = append(found, b.checkItems()...)
	}
	return append(found, h.checkSizes()...)
}

func checkStage(field, name string) []string {
	switch {
	case name == "":
		return []string{field + " is missing: name a stage"}
	case utf8.RuneCountInString(name) > maxStageLength:
		return []string{fmt.Sprintf("%s has %d characters: the limit is %d", field, utf8.RuneCountInString(name), maxStageLength)}
	case !stageName.MatchString(name):
		return []string{fmt.Sprintf("%s %q is not a stage name: use a-z, 0-9, - and _", field, name)}
	}
	return nil
}

func (b fieldBound) checkItems() []string {
	var found []string
	if len(b.items) > b.count {
		found = append(found, fmt.Sprintf("%s has %d items: the limit is %d", b.name, len(b.items), b.count))
	}
	for i, item := range b.items[:min(len(b.items), b.count)] {
		if n := utf8.RuneCountInString(item); b.length > 0 && n > b.length {
			found = append(found, fmt.Sprintf("%s[%d] has %d characters: the limit is %d", b.name, i, n, b.length))
		}
	}
	return found
}

func (h Handoff) checkSizes() []string {
	var found []string
	if len(h.Metadata) > 0 {
		text, err := compactJSON(h.Metadata)
		if err != nil {
			return []string{"metadata cannot be written as JSON: use texts, numbers, truths, lists and mappings"}
		}
		found = append(found, checkSize("metadata", len(text), maxMetadataSize)...)
	}
	text, err := compactJSON(h.withoutEmpty())
	if err != nil {
		return append(found, "the handoff cannot be written as JSON")
	}
	return append(found, checkSize("the whole handoff", len(text), maxSize)...)
}

func checkSize(what string, size, limit int) []string {
	if size <= limit {
		return nil
	}
	return []string{fmt.Sprintf("%s has %d bytes as JSON: the limit is %d", what, size, limit)}
}

// withoutEmpty leaves out optional fields that are empty, so that the size of a handoff is well
// defined.
func (h Handoff) withoutEmpty() Handoff {
	for _, list := range []*[]string{&h.Files, &h.Warnings, &h.Dependencies, &h.Remaining, &h.Uncertain} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	if len(h.Metadata) == 0 {
		h.Metadata = nil
	}
	return h
}

// compactJSON returns v as JSON in the fewest bytes.
func compactJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
