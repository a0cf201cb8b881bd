package question

import (
	"slices"
	"strings"

	"orange/internal/view/markdown"
)

// Limits of the options of a question.
const (
	maxOptions   = 9
	maxOptionLen = 200 // bytes
)

// ListOptions returns the answers that a message offers: the points of its last list, if each of them is one short
// statement. It returns nil if the message offers none, or only one.
func ListOptions(message string) []string {
	if len(message) > maxRead {
		message = message[len(message)-maxRead:]
	}
	blocks := markdown.ParseBlocks(strings.ToValidUTF8(message, ""))
	at := len(blocks) - 1
	for at >= 0 && blocks[at].Kind != markdown.List {
		at--
	}
	if at < 0 || len(blocks[at].Items) < 2 || len(blocks[at].Items) > maxOptions {
		return nil
	}
	var out []string
	for _, item := range blocks[at].Items {
		if len(item.Blocks) != 1 || item.Blocks[0].Kind != markdown.Paragraph {
			return nil
		}
		text := optionText(item.Blocks[0].Text)
		if text == "" || len(text) > maxOptionLen || isQuestion(text) || slices.Contains(out, text) {
			return nil
		}
		out = append(out, text)
	}
	return out
}

// optionText returns the words of an option, with its code.
func optionText(spans []markdown.Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
