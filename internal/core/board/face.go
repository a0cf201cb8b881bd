package board

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// A Snapshot is what of a card matters to a decision.
type Snapshot struct {
	Column    string   `json:"column"`
	Tags      []string `json:"tags,omitempty"`
	Described string   `json:"described,omitempty"` // fingerprint of the description
}

// SameAs says whether two faces show the same.
func (f Snapshot) SameAs(g Snapshot) bool {
	return f.Column == g.Column && f.Described == g.Described && slices.Equal(f.Tags, g.Tags)
}

// Snapshot is what of the card matters to a decision.
func (c *Card) Snapshot() Snapshot {
	return Snapshot{Column: c.Column, Tags: slices.Clone(c.Tags), Described: Fingerprint(c.Description)}
}

// Fingerprint tells one description from another.
func Fingerprint(description string) string {
	sum := sha256.Sum256([]byte(description))
	return hex.EncodeToString(sum[:8])
}
