// Package handoff is the data that one stage of work passes to the next: one structure for
// every protocol, with limits, written as a section of TASK.md, as an ALS/1 comment or as part
// of a prompt.
package handoff

// A Handoff contains what the next stage needs to know.
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
