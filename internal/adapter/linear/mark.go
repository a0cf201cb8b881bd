package linear

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"orange/internal/core/tracker"
	"orange/internal/lazy"
)

// The caller marks a comment with an invisible line, by which it finds the comment again.
// Linear does not promise to keep such a line: of a Markdown text it stores what it shows. But
// it accepts a chosen id for a comment, so this package puts the mark there as well, and
// restores it when a comment is read without it. A comment that was sent twice has the same id,
// and Linear stores it once.

// markForm matches the invisible line, which has 80 bits.
var markForm = lazy.NewRegexp(regexp.QuoteMeta(tracker.Mark) + `([0-9a-f]{20}) -->\s*$`)

// markOf returns the mark at the end of a text, or "" if there is none.
func markOf(text string) string {
	if m := markForm.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// commentID returns the id of a comment of an issue: one that contains its mark, or one derived
// from the key of the change, or "" if there is neither and Linear may choose.
func commentID(issue, mark, key string) string {
	var id [16]byte
	switch {
	case mark != "":
		if _, err := hex.Decode(id[:10], []byte(mark)); err != nil {
			return ""
		}
		copy(id[10:], markProof(issue, mark))
	case key != "":
		sum := sha256.Sum256(fmt.Appendf(nil, "comment\x00%s\x00%s", issue, key))
		copy(id[:], sum[:])
	default:
		return ""
	}
	return formatUUID(id)
}

// markProof distinguishes ids with a mark from others, and those of one issue from those of
// another.
func markProof(issue, mark string) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "mark\x00%s\x00%s", issue, mark))
	return sum[:6]
}

// formatUUID writes an id as Linear requires, as a UUID of version 4: the third group begins
// with 4 and the fourth with 8, in place of the last two digits.
func formatUUID(id [16]byte) string {
	digits := hex.EncodeToString(id[:])
	digits = digits[:12] + "4" + digits[12:15] + "8" + digits[15:30]
	return digits[:8] + "-" + digits[8:12] + "-" + digits[12:16] + "-" + digits[16:20] + "-" + digits[20:]
}

// withMark returns the text of a comment with the mark that its id contains.
func withMark(issue, id, text string) string {
	digits := strings.ReplaceAll(strings.ToLower(id), "-", "")
	if len(digits) != 32 || digits[12] != '4' || digits[16] != '8' {
		return text
	}
	digits = digits[:12] + digits[13:16] + digits[17:] // without the fixed ones
	mark, end := digits[:20], digits[20:]
	if end != hex.EncodeToString(markProof(issue, mark))[:len(end)] {
		return text
	}
	line := tracker.Mark + mark + " -->"
	if strings.Contains(text, line) {
		return text
	}
	return text + "\n\n" + line
}
