package overview

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/humanize"
)

// A Filter selects rows by terms such as state:reviewing, which must all hold, and by words, which must all be in the row.
// Words are matched approximately. The zero Filter selects every row.
type Filter struct {
	text  string
	words []string
	terms []term
	scope Scope // that a term asks for, "" if none does
}

type term struct {
	key    *FilterKey
	values []string
}

// A FilterKey is what a term of a filter is about.
type FilterKey struct {
	Name   string
	Help   string
	Values []string // nil: any text
	match  func(r *Row, value string) bool
}

// FilterKeys lists what terms can be about.
func FilterKeys() []FilterKey {
	var kinds []string
	for _, k := range explain.ItemKinds() {
		kinds = append(kinds, string(k))
	}
	begins := func(text, value string) bool { return strings.HasPrefix(strings.ToLower(text), value) }
	return []FilterKey{
		{Name: "state", Help: "its state begins with this", match: func(r *Row, v string) bool { return begins(r.Status, v) }},
		{Name: "project", Help: "its project begins with this", match: func(r *Row, v string) bool { return begins(r.Project, v) }},
		{Name: "workflow", Help: "its workflow begins with this", match: func(r *Row, v string) bool { return begins(r.Workflow, v) }},
		{Name: "kind", Help: "what it needs a person for", Values: kinds, match: func(r *Row, v string) bool { return string(r.Wants) == v }},
		{Name: "after", Help: "it is after the task with this id or branch", match: isAfter},
		{Name: "is", Help: "its condition", Values: []string{"open", "closed", "alive", "idle", "dead", "paused", "queued", "landing"}, match: hasCondition},
		{Name: "needs", Help: "who must act next", Values: []string{"me", "agent", "nobody"}, match: func(r *Row, v string) bool {
			return map[Turn]string{NeedsYou: "me", AgentsAtWork: "agent", NobodysTurn: "nobody"}[r.WhoseTurn()] == v
		}},
	}
}

func isAfter(r *Row, value string) bool {
	return slices.ContainsFunc(r.After, func(p task.Predecessor) bool {
		return strings.HasPrefix(strings.ToLower(string(p.ID)), value) || strings.EqualFold(p.Branch, value)
	})
}

func hasCondition(r *Row, value string) bool {
	switch value {
	case "open":
		return r.Kind != workflow.Terminal
	case "closed":
		return r.Kind == workflow.Terminal
	case "alive":
		return r.Life == Alive
	case "idle":
		return r.Idle()
	case "dead":
		return r.Life == Dead
	case "paused":
		return r.Paused
	case "queued":
		return r.Queued
	}
	return r.Landing != nil
}

// ParseFilter parses a filter. A term has a key, a colon, and one or more values separated by commas; everything else is
// a word.
func ParseFilter(text string) (Filter, error) {
	keys := FilterKeys()
	out := Filter{text: strings.TrimSpace(text)}
	for _, word := range strings.Fields(strings.ToLower(text)) {
		name, rest, isTerm := strings.Cut(word, ":")
		if !isTerm {
			out.words = append(out.words, word)
			continue
		}
		at := slices.IndexFunc(keys, func(k FilterKey) bool { return k.Name == name })
		if at < 0 {
			return Filter{}, fmt.Errorf("there is no filter %s: use %s", name, listKeys(keys))
		}
		t := term{key: &keys[at], values: strings.Split(rest, ",")}
		if err := t.check(); err != nil {
			return Filter{}, err
		}
		if name == "is" && slices.Contains(t.values, "closed") {
			out.scope = All
		}
		out.terms = append(out.terms, t)
	}
	return out, nil
}

func listKeys(keys []FilterKey) string {
	var names []string
	for _, k := range keys {
		names = append(names, k.Name)
	}
	return joinOr(names)
}

// joinOr lists alternatives.
func joinOr(list []string) string {
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// check returns what is wrong with a term.
func (t *term) check() error {
	for _, v := range t.values {
		switch {
		case v == "" && t.key.Values == nil:
			return fmt.Errorf("%s: needs a value: %s", t.key.Name, t.key.Help)
		case t.key.Values != nil && !slices.Contains(t.key.Values, v):
			return fmt.Errorf("%s:%s is not known: use %s", t.key.Name, v, joinOr(t.key.Values))
		}
	}
	return nil
}

// String returns the text of the filter.
func (f *Filter) String() string { return f.text }

// scopeOr returns the scope that the filter asks for, or else the given one.
func (f *Filter) scopeOr(s Scope) Scope {
	if f.scope != "" {
		return f.scope
	}
	return s
}

// scoreRow returns how well a row matches, 0 if it does not.
func (f *Filter) scoreRow(r *Row) int {
	for i := range f.terms {
		t := &f.terms[i]
		if !slices.ContainsFunc(t.values, func(v string) bool { return t.key.match(r, v) }) {
			return 0
		}
	}
	score := 1
	if len(f.words) == 0 {
		return score
	}
	texts := searchTexts(r)
	for _, w := range f.words {
		n := scoreWord(texts, w)
		if n == 0 {
			return 0
		}
		score += n
	}
	return score
}

// maxSearched is how much of a text is searched approximately, in bytes.
const maxSearched = 200

// searchTexts returns the texts of a row in which words are searched: first those that are matched approximately.
func searchTexts(r *Row) []string {
	out := []string{r.Branch, r.Summary, r.Project, r.Status, string(r.Wants), r.Tracker, string(r.ID)}
	if r.PR != nil {
		out = append(out, "#"+strconv.Itoa(r.PR.Number))
	}
	for i := range out {
		out[i] = strings.ToLower(out[i])
	}
	return out
}

// approximate is how many of the texts of a row are matched approximately.
const approximate = 2

// scoreWord returns how well a word matches the best of texts: at the beginning of a word, within one, approximately, or
// not at all, which is 0.
func scoreWord(texts []string, word string) int {
	best := 0
	for i, text := range texts {
		switch at := strings.Index(text, word); {
		case at >= 0 && startsWord(text, at):
			return 4
		case at >= 0:
			best = max(best, 3)
		case i < approximate && best == 0 && matchesLoosely(humanize.Prefix(text, maxSearched), word):
			best = 1
		}
	}
	return best
}

func startsWord(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	return at == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before)
}

// maxSkipped is how many letters of a word an approximate match may leave out in a row.
const maxSkipped = 2

// matchesLoosely reports whether the letters of a word are in the text, in order: the first begins a word, and each of
// the others follows the one before it after at most maxSkipped letters, or begins a later word. So srch matches search,
// and lcl matches "let customers log in". Words of one or two letters match too much to be matched like this.
func matchesLoosely(text, word string) bool {
	in, letters := []rune(text), []rune(word)
	if len(letters) < 3 || len(in) < len(letters) {
		return false
	}
	begins := func(i int) bool { return i == 0 || !unicode.IsLetter(in[i-1]) && !unicode.IsDigit(in[i-1]) }
	ends := make([]bool, len(in)) // where a match of the letters so far can end
	for i := range in {
		ends[i] = in[i] == letters[0] && begins(i)
	}
	for _, letter := range letters[1:] {
		next, first := make([]bool, len(in)), slices.Index(ends, true)
		if first < 0 {
			return false
		}
		for i := first + 1; i < len(in); i++ {
			near := slices.Contains(ends[max(first, i-maxSkipped-1):i], true)
			next[i] = in[i] == letter && (near || begins(i))
		}
		ends = next
	}
	return slices.Contains(ends, true)
}

// CompleteFilter returns what the last word of a filter can be completed to: keys of terms, and the values of a key.
// values provides those of keys that have no fixed values.
func CompleteFilter(word string, values func(key string) []string) []string {
	var out []string
	name, rest, isTerm := strings.Cut(strings.ToLower(word), ":")
	for _, k := range FilterKeys() {
		switch {
		case !isTerm && strings.HasPrefix(k.Name, name):
			out = append(out, k.Name+":")
		case isTerm && k.Name == name:
			list := k.Values
			if list == nil {
				list = values(k.Name)
			}
			done := rest[:strings.LastIndexByte(rest, ',')+1]
			for _, v := range list {
				if strings.HasPrefix(strings.ToLower(v), rest[len(done):]) {
					out = append(out, k.Name+":"+done+v)
				}
			}
		}
	}
	return out
}
