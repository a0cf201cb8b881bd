package gitea

import (
	"strings"
	"unicode"

	sdk "code.gitea.io/sdk/gitea"

	"orange/internal/view/humanize"
)

// How much of what others wrote is taken over, in bytes.
const (
	maxSaid = 200 // in an error of ours
	maxLine = 2 << 10
	maxText = 256 << 10
)

// maxTitle is how many characters of a title a forge keeps.
const maxTitle = 255

// oneLine is text as one line that can be shown.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, humanize.Cut(strings.ToValidUTF8(text, "\uFFFD"), maxLine))
	return strings.TrimSpace(text)
}

// shortLine is a line for an error.
func shortLine(text string) string { return humanize.Cut(oneLine(text), maxSaid) }

// boundText is what people wrote, but not endless.
func boundText(s string) string { return humanize.Cut(strings.ToValidUTF8(s, "\uFFFD"), maxText) }

func cutTitle(title string) string {
	title = oneLine(title)
	if runes := []rune(title); len(runes) > maxTitle {
		title = string(runes[:maxTitle-3]) + "..."
	}
	return title
}

// safeLink is a link that can be shown and opened, "" if it is none.
func safeLink(link string) string {
	if oneLine(link) != link || !strings.HasPrefix(link, "https://") && !strings.HasPrefix(link, "http://") {
		return ""
	}
	return link
}

// accountName is the name of one. Of those that are gone the forge says Ghost.
func accountName(u *sdk.User) string {
	if u == nil {
		return ""
	}
	return oneLine(u.UserName)
}
