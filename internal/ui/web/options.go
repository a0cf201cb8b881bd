package web

import (
	"strings"

	"orange/internal/view/markdown"
)

// Limits of answers that are offered as buttons.
const (
	minOptions   = 2
	maxOptions   = 6
	maxOptionLen = 120 // bytes
)

// answerOptions returns the answers that a message offers: the items of its last list, if they are few, short, and no
// questions themselves. It is a convenience: a person can always write another answer.
func answerOptions(message string) []string {
	blocks := markdown.ParseBlocks(message)
	for i := len(blocks) - 1; i >= 0; i-- {
		if blocks[i].Kind != markdown.List {
			continue
		}
		var out []string
		for _, item := range blocks[i].Items {
			text := itemText(item)
			if text == "" || len(text) > maxOptionLen || strings.HasSuffix(text, "?") {
				return nil
			}
			out = append(out, text)
		}
		if len(out) < minOptions || len(out) > maxOptions {
			return nil
		}
		return out
	}
	return nil
}

// itemText returns the text of a list item, "" if it is more than one paragraph.
func itemText(item markdown.Item) string {
	if len(item.Blocks) != 1 || item.Blocks[0].Kind != markdown.Paragraph {
		return ""
	}
	var b strings.Builder
	for _, span := range item.Blocks[0].Text {
		b.WriteString(span.Text)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
