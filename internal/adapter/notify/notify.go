// Package notify tells people something, one way each: on the desktop, by a webhook, by a
// server that speaks like ntfy, by Slack, by the bell of a terminal. What agents wrote is
// bounded and made plain first: to whoever shows it, it is never more than text. When
// somebody is told, and whether it is tried again, is not its affair.
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

// patience is how long one try may take.
const patience = 10 * time.Second

// Bounds of what is told, in characters.
const (
	maxText = 500
	maxName = 120
)

// A Message is what is told: one item, or several at once.
type Message struct {
	ID    string // the same if it is sent again
	Items []explain.Item
	URL   string // where a person sees more, "" if there is no such place
	Brief bool   // leave out what people and agents wrote
	Test  bool   // nothing waits: somebody tries whether this arrives
	Code  string // it shows a code, and these are the words; also said where Brief leaves out what was written
}

// Code is the kind of a message that shows a code. It is no item of the inbox.
const Code explain.ItemKind = "code"

// testWords are what a test says, also one that leaves out what was written.
const testWords = "this is a test: nothing waits for you"

// firstItem is the only item, or the first, cleaned.
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

// cleanItem makes the texts of an item plain and short.
func cleanItem(it explain.Item, brief bool) explain.Item {
	it.Project, it.Status = boundLine(it.Project, maxName), boundLine(it.Status, maxName)
	it.Branch, it.Summary = boundLine(it.Branch, maxName), boundLine(it.Summary, maxText)
	it.Text, it.Do = boundLine(it.Text, maxText), boundLine(it.Do, maxText)
	if brief {
		it.Branch, it.Summary, it.Text = "", "", ""
	}
	return it
}

// boundLine is text on one line, of at most n characters.
func boundLine(s string, n int) string {
	if len(s) > 8*n { // what is cut away need not be cleaned
		s = s[:8*n]
	}
	s = ansi.OneLine(s)
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return strings.TrimSpace(string(runes[:n-3])) + "..."
}

// titleText is the message in a few words.
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

// bodyText is the message in some lines.
func (m *Message) bodyText() string {
	if len(m.Items) > 1 && !m.Test {
		return m.countKinds() + "\norange inbox"
	}
	it := m.firstItem()
	lines := []string{it.Text, it.Summary, it.Do}
	if it.Text == "" {
		lines[0] = it.Kind.Info().News
	}
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), "\n")
}

// countKinds says how many of each kind there are.
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

// messageWeight says how pressing a message is.
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

// Failure is why somebody was not told. It holds no secret and no answer.
type Failure struct {
	why     string
	lasting bool
}

func (f *Failure) Error() string { return f.why }

// IsLasting says that trying again would not help.
func (f *Failure) IsLasting() bool { return f.lasting }

// errNothing says that a message has no item.
var errNothing = errors.New("there is nothing to tell")
