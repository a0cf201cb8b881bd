package gitea

import (
	"strings"
	"unicode"

	sdk "code.gitea.io/sdk/gitea"

	"orange/internal/view/humanize"
)

// Limits for foreign text, in bytes.
const (
	maxErrorText = 200 // in an error
	maxLine      = 2 << 10
	maxText      = 256 << 10
)

// maxTitle is the length limit of a title at a forge, in characters.
const maxTitle = 255

// oneLine returns text as one printable line.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, humanize.Cut(strings.ToValidUTF8(text, "\uFFFD"), maxLine))
	return strings.TrimSpace(text)
}

// shortLine returns a short line for an error.
func shortLine(text string) string { return humanize.Cut(oneLine(text), maxErrorText) }

// boundText returns text unchanged but limited in length.
func boundText(s string) string { return humanize.Cut(strings.ToValidUTF8(s, "\uFFFD"), maxText) }

func cutTitle(title string) string {
	title = oneLine(title)
	if runes := []rune(title); len(runes) > maxTitle {
		title = string(runes[:maxTitle-3]) + "..."
	}
	return title
}

// safeLink returns a link that can be displayed and opened, or "" if it is not a valid one.
func safeLink(link string) string {
	if oneLine(link) != link || !strings.HasPrefix(link, "https://") && !strings.HasPrefix(link, "http://") {
		return ""
	}
	return link
}

// accountName returns the name of an account. The forge calls deleted accounts Ghost.
func accountName(u *sdk.User) string {
	if u == nil {
		return ""
	}
	return oneLine(u.UserName)
}
