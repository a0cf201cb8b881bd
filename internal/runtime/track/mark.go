package track

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxPart bounds one comment in a tracker, in bytes: what all of them take.
const maxPart = 8 << 10

// markOf is the invisible line by which a comment is found again, "" for one that has no
// key.
func markOf(key string, part int) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", key, part))
	return "<!-- orange:" + hex.EncodeToString(sum[:10]) + " -->"
}

// split cuts a long text into comments that a tracker takes, at the end of a line where
// there is one.
func split(text string) []string {
	var out []string
	for text = strings.TrimSpace(text); text != ""; {
		if len(text) <= maxPart {
			return append(out, text)
		}
		at := strings.LastIndexByte(text[:maxPart], '\n')
		if at < maxPart/2 {
			for at = maxPart; at > maxPart-utf8.UTFMax && !utf8.RuneStart(text[at]); at-- {
			}
		}
		out = append(out, strings.TrimSpace(text[:at]))
		text = strings.TrimSpace(text[at:])
	}
	return out
}
