package board

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// A Face is what of a card matters to a decision.
type Face struct {
	Column    string   `json:"column"`
	Tags      []string `json:"tags,omitempty"`
	Described string   `json:"described,omitempty"` // fingerprint of the description
}

// Is says whether two faces show the same.
func (f Face) Is(g Face) bool {
	return f.Column == g.Column && f.Described == g.Described && slices.Equal(f.Tags, g.Tags)
}

// Face is what of the card matters to a decision.
func (c *Card) Face() Face {
	return Face{Column: c.Column, Tags: slices.Clone(c.Tags), Described: Fingerprint(c.Description)}
}

// Fingerprint tells one description from another.
func Fingerprint(description string) string {
	sum := sha256.Sum256([]byte(description))
	return hex.EncodeToString(sum[:8])
}
