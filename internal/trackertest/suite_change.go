package trackertest

import (
	"fmt"
	"strings"

	"orange/internal/core/board"
	"orange/internal/runtime/trackers"
)

func changeStories() []story {
	return []story{
		{"each kind of change is made", eachKind},
		{"all kinds of changes are made at once", allKinds},
		{"the same change again changes nothing", sameAgain},
		{"a change that changes nothing writes nothing", nothingToDo},
		{"two clients make the same change one after the other", twoClients},
		{"what has no key is said as often as it is asked for", withoutKey},
		{"other keys and other issues are other comments", otherKeys},
		{"names are known in another spelling", otherSpelling},
		{"a name that nobody knows is refused, and nothing is done by halves", unknownNames},
		{"a card goes through all columns and back", allColumns},
		{"a long comment is split, and nothing of it is lost", longComment},
		{"a change that is refused half-way says nothing twice", refusedHalfWay},
	}
}

func textPointer(s string) *string { return &s }

func eachKind(s *env) {
	key := s.addPlainIssue()
	for i, st := range []struct {
		change board.Change
		column string
		tags   []string
	}{
		{board.Change{AddTags: []string{"Ready", "bug"}}, "Backlog", []string{"Planned", "Ready", "bug"}},
		{board.Change{RemoveTags: []string{"Planned", "bug"}}, "Backlog", []string{"Ready"}},
		{board.Change{AddTags: []string{"Planned"}, RemoveTags: []string{"Ready"}}, "Backlog", []string{"Planned"}},
		{board.Change{RemoveTags: []string{"Planned"}}, "Backlog", nil},
		{board.Change{Column: "Started"}, "Started", nil},
		{board.Change{AddTags: []string{"Claimed-Dev-1"}}, "Started", []string{"Claimed-Dev-1"}},
		{board.Change{Comment: "Something was said."}, "Started", []string{"Claimed-Dev-1"}},
		{board.Change{Description: textPointer("Another description.\n\nOf two paragraphs.")}, "Started", []string{"Claimed-Dev-1"}},
		{board.Change{Title: "Another title"}, "Started", []string{"Claimed-Dev-1"}},
	} {
		st.change.Key = fmt.Sprint("each/", i)
		got := s.applyChange(key, st.change)
		s.requireReadAsReal(got)
		s.requireColumnAndTags(key, st.column, st.tags...)
	}
	s.requirePostedOnce(key, "Something was said.")
	if got := viewIssue(s.ReadIssue(s.T, key)); got.Title != "Another title" || got.Description != "Another description.\n\nOf two paragraphs." {
		s.Errorf("title %q, description %q", got.Title, got.Description)
	}
}

// everyKind returns a change of all kinds for an issue of addPlainIssue.
func everyKind(key string) board.Change {
	return board.Change{
		Key: key, Author: "worker", AddTags: []string{"Ready", "bug"}, RemoveTags: []string{"Planned"}, Column: "Finished",
		Comment: "All of it.", Title: "A new title", Description: textPointer("A new description."),
	}
}

func (s *env) isEveryKind(key string) {
	s.Helper()
	s.requireColumnAndTags(key, "Finished", "Ready", "bug")
	s.requirePostedOnce(key, "All of it.")
	if got := viewIssue(s.ReadIssue(s.T, key)); got.Title != "A new title" || got.Description != "A new description." || len(got.Comments) != 1 {
		s.Errorf("%s", got)
	}
}

func allKinds(s *env) {
	key := s.addPlainIssue()
	got := s.applyChange(key, everyKind("all/1"))
	s.requireReadAsReal(got)
	s.isEveryKind(key)
	if got.ReadAt.IsZero() || got.Brief {
		s.Error("what is returned was not read again")
	}
}

func sameAgain(s *env) {
	key := s.addPlainIssue()
	s.applyChange(key, everyKind("again/1"))
	before, writes := s.realFacts(key), s.CountWrites()
	for range 3 {
		s.requireReadAsReal(s.applyChange(key, everyKind("again/1")))
	}
	if after := s.realFacts(key); before != after || s.CountWrites() != writes {
		s.Errorf("%d more writes led from\n%s\nto\n%s", s.CountWrites()-writes, before, after)
	}
}

func nothingToDo(s *env) {
	key := s.addPlainIssue()
	writes := s.CountWrites()
	for _, c := range []board.Change{
		{Key: "n/1"},
		{Key: "n/2", AddTags: []string{"planned"}, RemoveTags: []string{"bug"}, Column: "BACKLOG", Title: "A plain issue", Description: textPointer("What is to be done.")},
		{Key: "n/3", Comment: " \n\t "},
	} {
		s.requireReadAsReal(s.applyChange(key, c))
	}
	if s.CountWrites() != writes {
		s.Errorf("%d writes", s.CountWrites()-writes)
	}
}

func twoClients(s *env) {
	key := s.addPlainIssue()
	first, _ := s.newClient()
	second, _ := s.newClient()
	for _, client := range []*trackers.Client{first, second, first} {
		if _, err := client.Apply(s.newContext(), key, everyKind("two/1")); err != nil {
			s.Fatal(err)
		}
	}
	s.isEveryKind(key)
}

func withoutKey(s *env) {
	key := s.addPlainIssue()
	for range 2 {
		s.applyChange(key, board.Change{Comment: "Still there."})
	}
	if n := s.countComments(key, "Still there."); n != 2 {
		s.Errorf("it was said %d times, want 2", n)
	}
}

func otherKeys(s *env) {
	one, other := s.addPlainIssue(), s.addPlainIssue()
	long := strings.Repeat("k", board.MaxKey)
	for _, c := range []board.Change{{Key: "o/1", Comment: "Same words."}, {Key: "o/10", Comment: "Same words."}, {Key: long, Comment: "Same words."}} {
		for range 2 {
			s.applyChange(one, c)
			s.applyChange(other, c)
		}
	}
	for _, key := range []string{one, other} {
		if n := s.countComments(key, "Same words."); n != 3 {
			s.Errorf("it was said %d times, want once for each of 3 keys", n)
		}
	}
}

func otherSpelling(s *env) {
	key := s.addPlainIssue()
	s.requireReadAsReal(s.applyChange(key, board.Change{Key: "s/1", AddTags: []string{" rEADY ", "BUG", "ready"}, RemoveTags: []string{"planned "}, Column: "  finished"}))
	s.requireColumnAndTags(key, "Finished", "Ready", "bug")
}

func unknownNames(s *env) {
	key := s.addPlainIssue()
	for _, c := range []board.Change{
		{AddTags: []string{"Ready", "Nope"}},
		{RemoveTags: []string{"Planned", "Nope"}},
		{Column: "Nope"},
		{Column: "Nope", AddTags: []string{"Ready"}, RemoveTags: []string{"Planned"}, Comment: "Hi.", Title: "T", Description: textPointer("D")},
		{AddTags: []string{"Nope\n\x1b[1m<b>"}, Column: "Started", Comment: "Hi."},
		{AddTags: []string{"Ready"}, RemoveTags: []string{"ready"}},
		{AddTags: []string{strings.Repeat("x", 5000)}},
	} {
		for _, c.Key = range []string{"", "u/1"} {
			writes := s.CountWrites()
			s.requireRefused(key, c)
			if s.CountWrites() != writes {
				s.Errorf("%+v is refused after %d writes", c, s.CountWrites()-writes)
			}
		}
	}
	s.requireRefused(key, board.Change{Column: "Nope"}, "Nope", "Backlog", "Accepted")
	s.requireRefused(key, board.Change{AddTags: []string{"Nope"}}, "Nope", "Ready")
	words := s.port.words
	s.requireRefused(key, board.Change{Column: "Nope"})
	if s.knowsWords() && s.port.words != words+1 {
		s.Errorf("the words were read %d times for a name that is not known, want once", s.port.words-words)
	}
	s.applyChange(key, board.Change{Key: "u/1", Column: "Started"})
	s.requireColumnAndTags(key, "Started", "Planned")
}

func allColumns(s *env) {
	key := s.addPlainIssue()
	for i, column := range append(append([]string{}, Columns...), "Backlog", "Canceled", "Started") {
		s.requireReadAsReal(s.applyChange(key, board.Change{Key: fmt.Sprint("c/", i), Column: column}))
		s.requireColumnAndTags(key, column, "Planned")
	}
}

// linesOfSize returns a text of about size bytes.
func linesOfSize(size int) string {
	var out strings.Builder
	for i := 0; out.Len() < size; i++ {
		fmt.Fprintf(&out, "line %d: grün, 橙, 🍊 and so on\n", i)
	}
	return out.String()
}

// withoutBlanks returns a text without its blanks.
func withoutBlanks(text string) string { return strings.Join(strings.Fields(text), "") }

// holdsAll checks that the comments of an issue contain a text in order, possibly split over
// several comments.
func (s *env) holdsAll(key, text string) {
	s.Helper()
	var all strings.Builder
	for _, c := range s.ReadIssue(s.T, key).Comments {
		body := c.Text
		if i := strings.LastIndex(body, "<!-- orange:"); i >= 0 {
			body = body[:i]
		}
		all.WriteString(withoutBlanks(body))
	}
	if got, want := all.String(), withoutBlanks(text); got != want {
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		s.Errorf("%d bytes were to be said and %d are there; they differ at %d: %.60q, want %.60q", len(want), len(got), at, got[at:], want[at:])
	}
}

func longComment(s *env) {
	for name, long := range map[string]string{
		"of lines":         linesOfSize(30 << 10),
		"of one line":      strings.Repeat("wörd ", 4<<10),
		"without a blank":  strings.Repeat("é", 10<<10),
		"as long as it is": strings.TrimSpace(linesOfSize(board.MaxComment - 100)),
	} {
		key := s.addPlainIssue()
		for range 2 {
			s.requireReadAsReal(s.applyChange(key, board.Change{Key: "long/" + name, Comment: long}))
		}
		s.holdsAll(key, long)
		if n := len(s.ReadIssue(s.T, key).Comments); n < 2 && s.knowsWords() { // the local board takes it whole
			s.Errorf("%s: %d comments", name, n)
		}
	}
	s.requireRefused(s.addPlainIssue(), board.Change{Key: "long/over", Comment: strings.Repeat("x", board.MaxComment+1), Column: "Started"})
}

func refusedHalfWay(s *env) {
	key, long := s.addPlainIssue(), linesOfSize(20<<10)
	s.port.fail = func(nth int) error {
		if nth == 2 {
			return board.Refusef("not this one")
		}
		return nil
	}
	if _, err := s.client.ReadVocabulary(s.newContext()); err != nil {
		s.Fatal(err)
	}
	if _, err := s.client.Apply(s.newContext(), key, board.Change{Key: "half/1", Comment: long}); err != nil {
		s.isRefusal(err, "not this one")
	}
	s.port.fail = nil
	s.applyChange(key, board.Change{Key: "half/1", Comment: long})
	s.holdsAll(key, long)
}
