// Package notify sends messages to people: to the desktop, to a webhook, to a server with the
// API of ntfy, to Slack, to the bell of a terminal. It first truncates what agents wrote and
// makes it plain, so that it is never more than text to the receiver. Other packages decide
// when to send and whether to retry.
package notify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/core/explain"
	"orange/internal/view/ansi"
)

// sendTimeout is how long one try may take.
const sendTimeout = 10 * time.Second

// Limits of a message's parts, in characters.
const (
	maxText = 500
	maxName = 120
)

// A Message contains one item, or several.
type Message struct {
	ID    string // the same if it is sent again
	Items []explain.Item
	URL   string // where a person sees more; "" if there is no such place
	Brief bool   // leave out what people and agents wrote
	Test  bool   // nothing waits: a person tests whether messages arrive
	Code  string // a message that shows a code: its text, which is also sent if Brief is set
}

// Code is the kind of a message that shows a code. It is not an item of the inbox.
const Code explain.ItemKind = "code"

// testWords is the text of a test message, even if Brief is set.
const testWords = "this is a test: nothing waits for you"

// firstItem returns the first item, cleaned.
func (m *Message) firstItem() explain.Item {
	if len(m.Items) == 0 {
		return explain.Item{}
	}
	it := cleanItem(m.Items[0], m.Brief)
	if m.Test {
		it.Text = testWords
	}
	if m.Code != "" {
		it.Text = boundLine(m.Code, maxText)
	}
	return it
}

// cleanItem returns an item with plain and short texts.
func cleanItem(it explain.Item, brief bool) explain.Item {
	it.Project, it.Status = boundLine(it.Project, maxName), boundLine(it.Status, maxName)
	it.Branch, it.Summary = boundLine(it.Branch, maxName), boundLine(it.Summary, maxText)
	it.Text, it.Do = boundLine(it.Text, maxText), boundLine(it.Do, maxText)
	if brief {
		it.Branch, it.Summary, it.Text = "", "", ""
	}
	return it
}

// boundLine returns text on one line, of at most n characters.
func boundLine(s string, n int) string {
	if len(s) > 8*n { // text that is cut off need not be cleaned
		s = s[:8*n]
	}
	s = ansi.OneLine(s)
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return strings.TrimSpace(string(runes[:n-3])) + "..."
}

// titleText returns the title of the message.
func (m *Message) titleText() string {
	if m.Test {
		return "Orange: test"
	}
	if n := len(m.Items); n > 1 {
		return fmt.Sprintf("Orange: %d tasks wait for you", n)
	}
	it := m.firstItem()
	where := it.Project
	if it.Branch != "" {
		where += "/" + it.Branch
	}
	if where == "" {
		return "Orange: " + string(it.Kind)
	}
	return fmt.Sprintf("Orange: %s: %s", it.Kind, where)
}

// bodyText returns the body of the message.
func (m *Message) bodyText() string {
	if len(m.Items) > 1 && !m.Test {
		return m.countKinds() + "\norange inbox"
	}
	it := m.firstItem()
	lines := []string{it.Text, it.Summary, it.Do}
	if it.Text == "" {
		lines[0] = it.Kind.Info().Notice
	}
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), "\n")
}

// countKinds returns how many items of each kind there are, as text.
func (m *Message) countKinds() string {
	number := map[explain.ItemKind]int{}
	var kinds []explain.ItemKind
	for i := range m.Items {
		if number[m.Items[i].Kind]++; number[m.Items[i].Kind] == 1 {
			kinds = append(kinds, m.Items[i].Kind)
		}
	}
	slices.Sort(kinds)
	words := make([]string, len(kinds))
	for i, kind := range kinds {
		words[i] = fmt.Sprintf("%d %s", number[kind], kind)
	}
	return strings.Join(words, ", ")
}

// messageWeight returns the urgency of a message.
func (m *Message) messageWeight() explain.Weight {
	out := explain.NothingStops
	for i := range m.Items {
		w := m.Items[i].Kind.Info().Weight
		if m.Items[i].Kind == Code {
			w = explain.AgentWaits
		}
		out = max(out, w)
	}
	return out
}

// Failure is the reason why a message was not sent. It contains no secret and no response.
type Failure struct {
	why     string
	lasting bool
}

func (f *Failure) Error() string { return f.why }

// IsLasting reports whether a retry would not help.
func (f *Failure) IsLasting() bool { return f.lasting }

// errNothing means that a message has no item.
var errNothing = errors.New("there is nothing to tell")
