package github

import (
	"strings"
	"unicode"

	gh "github.com/google/go-github/v92/github"

	"orange/internal/view/humanize"
)

// Limits for foreign text, in bytes.
const (
	maxLine = 1 << 10
	maxText = 256 << 10
)

// oneLine returns text as one printable line of at most most bytes.
func oneLine(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return humanize.Prefix(strings.TrimSpace(text), most)
}

// boundText returns text unchanged but limited in length.
func boundText(s string) string { return humanize.Prefix(strings.ToValidUTF8(s, "\uFFFD"), maxText) }

// loginName returns the name of an account, or ghost for a deleted one, as on GitHub's pages.
func loginName(u *gh.User) string {
	if name := oneLine(u.GetLogin(), maxLine); name != "" {
		return name
	}
	return "ghost"
}

func isBot(u *gh.User) bool {
	return u.GetType() == "Bot" || strings.HasSuffix(u.GetLogin(), "[bot]")
}
