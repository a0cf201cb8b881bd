package handoff

import (
	"encoding/json"
	"maps"
	"slices"

	"orange/internal/core/als"
)

// The name of a handoff in a comment, and its default summary.
const (
	intent         = "handoff"
	action         = "context-handoff"
	defaultSummary = "Context handoff for next stage"
)

func (h Handoff) summaryText() string {
	if h.Summary == "" {
		return defaultSummary
	}
	return h.Summary
}

// ALS returns the handoff as a comment. It leaves out empty lists. Metadata are in the order of
// their keys; values other than texts are written as JSON.
func (h Handoff) ALS() als.Comment {
	var c als.Comment
	for _, f := range [...][2]string{
		{als.Actor, h.From}, {als.Intent, intent}, {als.Action, action},
		{"from_stage", h.From}, {"to_stage", h.To}, {als.Summary, h.summaryText()},
	} {
		c.Fields = append(c.Fields, als.Field{Key: f[0], Kind: als.Text, Text: f[1]})
	}
	for _, b := range h.fieldBounds() {
		if len(b.items) > 0 {
			c.Fields = append(c.Fields, als.Field{Key: b.name, Kind: als.List, List: b.items})
		}
	}
	metadata := als.Field{Key: "metadata", Kind: als.Map}
	for _, key := range slices.Sorted(maps.Keys(h.Metadata)) {
		if text, ok := metadataText(h.Metadata[key]); ok {
			metadata.Map = append(metadata.Map, als.Pair{Key: key, Value: text})
		}
	}
	if len(metadata.Map) > 0 {
		c.Fields = append(c.Fields, metadata)
	}
	return c
}

// FromALS parses a handoff from a comment, and reports whether the comment is one. Missing
// lists are empty, never nil. It does not check the limits.
func FromALS(c als.Comment) (Handoff, bool) {
	if c.Text(als.Intent) != intent || c.Text(als.Action) != action {
		return Handoff{}, false
	}
	h := Handoff{From: c.Text("from_stage"), To: c.Text("to_stage"), Summary: c.Text(als.Summary), Metadata: map[string]any{}}
	if h.From == "" || h.To == "" {
		return Handoff{}, false
	}
	for name, list := range h.listsByField() {
		*list = append([]string{}, c.List(name)...)
	}
	for _, p := range c.Map("metadata") {
		h.Metadata[p.Key] = metadataValue(p.Value)
	}
	if whole, ok := metadataValue(c.Text("metadata")).(map[string]any); ok {
		h.Metadata = whole
	}
	return h, true
}

// listsByField returns the lists of a handoff by field name.
func (h *Handoff) listsByField() map[string]*[]string {
	return map[string]*[]string{
		"key_decisions": &h.Decisions, "files_of_interest": &h.Files, "warnings": &h.Warnings,
		"dependencies": &h.Dependencies, "remaining": &h.Remaining, "uncertain": &h.Uncertain,
	}
}

// metadataText returns one value of the metadata as text: a string unchanged, unless it would
// parse as something else, and everything else as JSON.
func metadataText(v any) (string, bool) {
	if text, ok := v.(string); ok && !json.Valid([]byte(text)) {
		return text, true
	}
	text, err := compactJSON(v)
	return als.EscapeJSON(string(text)), err == nil
}

func metadataValue(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return v
}
