package trackers

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"orange/internal/core/tracker"
)

// maxPart bounds one comment in a tracker, in bytes. All trackers accept this length.
const maxPart = 8 << 10

// commentMark returns the invisible line that identifies a comment, or "" without a key. Without the salt nobody can
// forge a comment in advance.
func (d *Client) commentMark(key string, part int) string {
	if key == "" {
		return ""
	}
	h := hmac.New(sha256.New, []byte(d.salt))
	fmt.Fprintf(h, "%s/%d", key, part)
	return tracker.Mark + hex.EncodeToString(h.Sum(nil)[:10]) + " -->"
}

// splitComment cuts a long text into comments of at most maxPart bytes, at line ends where possible.
func splitComment(text string) []string {
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
