// Package handoff is what one stage of work tells the next: one structure for every
// protocol, with bounds, written as a section of TASK.md, as an ALS/1 comment or as a
// part of a prompt.
package handoff

// A Handoff is what the next stage needs to know, and only that.
type Handoff struct {
	From         string         `json:"from_stage"`
	To           string         `json:"to_stage"`
	Summary      string         `json:"summary,omitempty"`
	Decisions    []string       `json:"key_decisions"`
	Files        []string       `json:"files_of_interest,omitzero"` // omitzero: an empty list that was given stays given
	Warnings     []string       `json:"warnings,omitzero"`
	Dependencies []string       `json:"dependencies,omitzero"`
	Remaining    []string       `json:"remaining,omitempty"`
	Uncertain    []string       `json:"uncertain,omitempty"`
	Metadata     map[string]any `json:"metadata,omitzero"`
}
