package mcpboard

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/view/humanize"
)

var priorities = map[string]tracker.Priority{
	"urgent": tracker.Urgent, "high": tracker.High, "medium": tracker.Medium, "low": tracker.Low,
}

// Limits for texts from a board, in characters.
const (
	maxTitle = 500
	maxWord  = 200 // names, ids, authors
)

// parseIssue returns the issue in a record. The column may still be missing if the board gives
// it by id.
func (m *Mapping) parseIssue(r record) tracker.Issue {
	is := tracker.Issue{
		Key: oneLine(r.firstValue("key", "id"), maxWord),
		ID:  oneLine(r.firstValue("id"), maxWord),
		URL: oneLine(r.firstValue("url"), 2000),
		Card: board.Card{
			Title:       cleanTitle(r.firstValue("title")),
			Author:      tracker.AuthorName(r.firstValue("author")),
			Description: boundText(r.firstValue("description"), board.MaxDescription),
			Column:      oneLine(r.firstValue("column"), maxWord),
			Tags:        cleanNames(r.fields["tags"]),
			CreatedAt:   m.parseTime(r.firstValue("created")),
			UpdatedAt:   m.parseTime(r.firstValue("updated")),
		},
		Priority: priorities[m.Priorities[strings.ToLower(strings.TrimSpace(r.firstValue("priority")))]],
		Assignee: oneLine(r.firstValue("assignee"), maxWord),
		Parent:   oneLine(r.firstValue("parent"), maxWord),
	}
	if is.ID == is.Key {
		is.ID = ""
	}
	is.Children, is.BlockedBy = m.parseLinks(r.lists["children"]), m.parseLinks(r.lists["blocked_by"])
	is.Comments = m.parseComments(r.lists["comments"], r.forged["comments"])
	return is
}

func (m *Mapping) parseLinks(list []record) []tracker.Link {
	var out []tracker.Link
	for _, r := range list {
		l := tracker.Link{Key: oneLine(r.firstValue("key"), maxWord), Column: oneLine(r.firstValue("column"), maxWord)}
		state := oneLine(r.firstValue("state", "column"), maxWord)
		l.Closed = slices.ContainsFunc(m.Closed, func(c string) bool { return strings.EqualFold(c, state) })
		if l.Key != "" {
			out = append(out, l)
		}
	}
	return out
}

// parseComments returns the comments in the order in which they were posted. If someone's text
// looks like a separate comment, no comment gets an author: text without an author is never a
// directive.
func (m *Mapping) parseComments(list []record, forged bool) []tracker.Comment {
	var out []tracker.Comment
	for _, r := range list {
		c := tracker.Comment{
			ID:     oneLine(r.firstValue("id"), maxWord),
			Author: tracker.AuthorName(r.firstValue("author")),
			At:     m.parseTime(r.firstValue("at")),
			Text:   swapLines(boundText(r.firstValue("text"), board.MaxComment), m.Comment.Lines, true),
		}
		if forged {
			c.Author = ""
		}
		out = append(out, c)
	}
	if n := len(out); n > 1 && out[0].At.After(out[n-1].At) {
		slices.Reverse(out)
	}
	slices.SortStableFunc(out, func(a, b tracker.Comment) int { return a.At.Compare(b.At) })
	return out
}

// parseTime parses a time. It returns zero for an invalid one.
func (m *Mapping) parseTime(s string) time.Time {
	s = strings.TrimSpace(strings.ReplaceAll(s, "\u202f", " "))
	for _, layout := range slices.Concat([]string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"}, m.Times) {
		if at, err := time.Parse(layout, s); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}

// cleanNames cleans a list of names and removes duplicates.
func cleanNames(list []string) []string {
	out := []string{}
	for _, n := range list {
		n = oneLine(n, maxWord)
		if n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// oneLine returns foreign text as one printable line.
func oneLine(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	s = strings.TrimSpace(s)
	if runes := []rune(s); len(runes) > most {
		s = strings.TrimSpace(string(runes[:most]))
	}
	return s
}

// cleanTitle returns a title as one line and changes nothing else.
func cleanTitle(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if runes := []rune(s); len(runes) > maxTitle {
		s = string(runes[:maxTitle])
	}
	return strings.TrimSpace(s)
}

// swapLines replaces lines that a board does not accept with others, or the others with the
// originals.
func swapLines(s string, lines map[string]string, back bool) string {
	if len(lines) == 0 {
		return s
	}
	out := strings.Split(s, "\n")
	for i, line := range out {
		for mine, theirs := range lines {
			if back {
				mine, theirs = theirs, mine
			}
			if strings.TrimSpace(line) == mine {
				out[i] = theirs
			}
		}
	}
	return strings.Join(out, "\n")
}

// boundText limits a text to most bytes.
func boundText(s string, most int) string {
	return humanize.Prefix(strings.ToValidUTF8(s, "\uFFFD"), most)
}

// oldestFirst orders issues by creation time, then by key in numeric order.
func oldestFirst(a, b tracker.Issue) int {
	return cmp.Or(a.Card.CreatedAt.Compare(b.Card.CreatedAt), byNumber(a.Key, b.Key))
}

// byNumber compares keys so that task-2 comes before task-10.
func byNumber(a, b string) int {
	for a != "" && b != "" {
		na, nb := countDigits(a), countDigits(b)
		if na > 0 && nb > 0 {
			x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[na:], b[nb:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func countDigits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
