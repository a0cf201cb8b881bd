package board

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// A Snapshot is the part of a card that matters to a decision.
type Snapshot struct {
	Column    string   `json:"column"`
	Tags      []string `json:"tags,omitempty"`
	Described string   `json:"described,omitempty"` // fingerprint of the description
}

// SameAs reports whether two snapshots are equal.
func (f Snapshot) SameAs(g Snapshot) bool {
	return f.Column == g.Column && f.Described == g.Described && slices.Equal(f.Tags, g.Tags)
}

// Snapshot returns the part of the card that matters to a decision.
func (c *Card) Snapshot() Snapshot {
	return Snapshot{Column: c.Column, Tags: slices.Clone(c.Tags), Described: Fingerprint(c.Description)}
}

// Fingerprint returns a fingerprint of a description.
func Fingerprint(description string) string {
	sum := sha256.Sum256([]byte(description))
	return hex.EncodeToString(sum[:8])
}
