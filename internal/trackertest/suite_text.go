package trackertest

import (
	"errors"
	"fmt"
	"strings"

	"orange/internal/core/board"
)

func textStories() []story {
	return []story{
		{"hostile text in a comment is said as it is, or refused", hostileComments},
		{"hostile text in a description is kept as it is, or refused", hostileDescriptions},
		{"hostile text in a title is kept as it is, or refused", hostileTitles},
		{"hostile text of people is read as it is", hostilePeople},
		{"our mark in somebody else's words hides nothing of ours", pastedMark},
	}
}

// hostileTexts returns hostile texts by kind.
func hostileTexts() map[string]string {
	return map[string]string{
		"control characters": "bell \a, escape \x1b[31mred\x1b[0m, delete \x7f, tab \t and backspace \b.",
		"a zero":             "before\x00after",
		"directions":         "right\u202eto left\u202c, \u2066isolated\u2069, \u200bzero\u200d width \ufeff and \u2028 separated",
		"emoji":              "👩‍👩‍👧‍👦 🍊 🇩🇪 e\u0301 \U0001F9EA",
		"html":               "<script>alert(1)</script> <img src=x onerror=alert(1)> &lt;b&gt; &amp; <!-- comment --> </textarea>",
		"an open comment":    "before <!-- and never closed",
		"quotes":             `"}) { id } } mutation { issueDelete(id: "x") } """ block """ \" \\ \n \u0000 {"a":"b"} ${HOME} $(id) ` + "`id` %s %d %%",
		"markdown":           "# Heading\n\n---\n\n* a\n+ b\n\n1) c\n\n~~~\ncode\n~~~\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[x](javascript:alert(1)) @alice #1 ENG-1",
		"a front matter":     "---\ntitle: x\n---\n\n## Comments\n\nSECTION:END\n\nStatus: Done\nLabels: bug",
		"an open fence":      "```go\nfunc f() {",
		"a listing":          "- [1] Another issue (Done)\nTags: Ready, bug\nComments (3):\n[2026-01-01] alice: hello",
		"blanks around it":   "\n\n  text  \n\n",
		"much":               strings.TrimSpace(linesOfSize(60 << 10)),
	}
}

// tryChange applies a change that must succeed or be refused, and reports whether it succeeded.
func (s *env) tryChange(key string, c board.Change) (done bool) {
	s.Helper()
	before := s.realFacts(key)
	got, err := s.client.Apply(s.newContext(), key, c)
	if err == nil {
		s.requireReadAsReal(got)
		return true
	}
	var no *board.Refusal
	if !errors.As(err, &no) {
		s.Errorf("neither done nor refused: %.300v", err)
	}
	s.oneLine(err)
	if after := s.realFacts(key); before != after {
		s.Errorf("refused with %v, and yet\n%s\nis now\n%s", err, before, after)
	}
	return false
}

func hostileComments(s *env) {
	for name, text := range hostileTexts() {
		key := s.addPlainIssue()
		if !s.tryChange(key, board.Change{Key: "hostile/" + name, Comment: text}) {
			s.Logf("%s: refused", name)
			continue
		}
		s.holdsAll(key, text)
		if comments := s.ReadIssue(s.T, key).Comments; len(comments) == 1 && !strings.HasPrefix(comments[0].Text, strings.TrimSpace(text)) {
			s.Errorf("%s: %q was said, want %q", name, comments[0].Text, text)
		}
		writes := s.CountWrites()
		s.applyChange(key, board.Change{Key: "hostile/" + name, Comment: text})
		if s.CountWrites() != writes {
			s.Errorf("%s: it is not known again", name)
		}
	}
	for name, bad := range map[string]string{"no text": "a\xff\xfeb", "too much": strings.Repeat("x", board.MaxComment+1)} {
		s.Log(name)
		s.requireRefused(s.addPlainIssue(), board.Change{Key: "hostile/bad", Comment: bad, AddTags: []string{"Ready"}})
	}
}

func hostileDescriptions(s *env) {
	for name, text := range hostileTexts() {
		key := s.addPlainIssue()
		if !s.tryChange(key, board.Change{Key: "hostile/" + name, Description: &text, AddTags: []string{"Ready"}}) {
			s.Logf("%s: refused", name)
			continue
		}
		if got := s.ReadIssue(s.T, key).Card.Description; strings.TrimSpace(got) != strings.TrimSpace(text) {
			s.Errorf("%s: %.200q is kept, want %.200q", name, got, text)
		}
		s.requireColumnAndTags(key, "Backlog", "Planned", "Ready")
		writes := s.CountWrites()
		s.applyChange(key, board.Change{Key: "hostile/" + name, Description: &text})
		if s.CountWrites() != writes {
			s.Errorf("%s: it is not known again", name)
		}
	}
	s.requireRefused(s.addPlainIssue(), board.Change{Description: textPointer("a\xff\xfeb"), AddTags: []string{"Ready"}})
	s.requireRefused(s.addPlainIssue(), board.Change{Description: textPointer(strings.Repeat("x", board.MaxDescription+1)), AddTags: []string{"Ready"}})
}

func hostileTitles(s *env) {
	for name, text := range hostileTexts() {
		key := s.addPlainIssue()
		if !s.tryChange(key, board.Change{Key: "hostile/" + name, Title: text, AddTags: []string{"Ready"}}) {
			continue
		}
		if got := s.ReadIssue(s.T, key).Card.Title; got != strings.TrimSpace(text) {
			s.Errorf("%s: %.200q is kept, want %.200q", name, got, text)
		}
	}
	key := s.addPlainIssue()
	for _, title := range []string{`"quoted" 'and' <b>bold</b> \ / : * ? | & %20 橙 🍊`, "--flag", "{}", "null", "title: x", strings.Repeat("ü", 150)} {
		s.requireReadAsReal(s.applyChange(key, board.Change{Title: title}))
		if got := s.ReadIssue(s.T, key).Card.Title; got != title {
			s.Errorf("%q is kept, want %q", got, title)
		}
	}
	for _, title := range []string{"two\nlines", "a\x00b", "  ", strings.Repeat("x", board.MaxTitle+1), "\xff"} {
		s.requireRefused(key, board.Change{Title: title, AddTags: []string{"Ready"}})
	}
}

func hostilePeople(s *env) {
	i := 0
	for name, text := range hostileTexts() {
		if name == "a zero" {
			continue // most trackers cannot store it
		}
		i++
		is := draftIssue(fmt.Sprint("Hostile ", i), "Started", "bug")
		is.Card.Description = text
		key := s.AddIssue(s.T, is)
		s.CommentIssue(s.T, key, "mallory", text)
		s.CommentIssue(s.T, key, "alice", "after it")
		got, err := s.client.ReadIssue(s.newContext(), key)
		if err != nil {
			s.Errorf("%s: %v", name, err)
			continue
		}
		s.Log(name)
		s.requireReadAsReal(got)
		s.requireColumnAndTags(key, "Started", "bug")
	}
}

// pastedMark checks that a copy of Orange's comment, including its mark, neither suppresses a
// comment of Orange nor makes Orange repeat one.
func pastedMark(s *env) {
	key := s.addPlainIssue()
	s.applyChange(key, board.Change{Key: "mark/1", Comment: "Ours."})
	ours := s.ReadIssue(s.T, key).Comments
	if len(ours) != 1 {
		s.Fatalf("%d comments", len(ours))
	}
	s.CommentIssue(s.T, key, "mallory", "> "+strings.ReplaceAll(ours[0].Text, "\n", "\n> ")+"\n\nI do not think so.")
	s.CommentIssue(s.T, key, "mallory", "Forged. <!-- orange:0000000000000000000a -->")
	s.applyChange(key, board.Change{Key: "mark/1", Comment: "Ours."})
	s.applyChange(key, board.Change{Key: "mark/2", Comment: "Ours as well."})
	s.applyChange(key, board.Change{Key: "mark/3", Comment: ours[0].Text + "\n\nquoted by ourselves"})
	s.requirePostedOnce(key, "Ours as well.", "quoted by ourselves", "I do not think so.")
	if n := len(s.ReadIssue(s.T, key).Comments); n != 5 {
		s.Errorf("%d comments, want 5", n)
	}
}
