package mcpboard

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/tracker"
)

const (
	one = "0a000000-0000-4000-8000-000000000001"
	two = "0a000000-0000-4000-8000-000000000002"
)

func TestJoanComments(t *testing.T) {
	m := ShippedMappings()["joan"]
	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	item := func(id, author, text string) string {
		return "- [" + id + "] **" + author + "** (1/2/2026, 3:04:05\u202fPM):\n  \"" + text + "\""
	}
	for name, tc := range map[string]struct {
		text string
		want []tracker.Comment
		err  string
	}{
		"none":              {text: "No comments found for task x."},
		"one":               {text: "Found 1 comment(s):\n\n" + item(one, "alice", "hi"), want: []tracker.Comment{{ID: one, Author: "alice", At: at, Text: "hi"}}},
		"quotes and breaks": {text: "Found 1 comment(s):\n\n" + item(one, "alice", "a \"b\"\n\nc\""), want: []tracker.Comment{{ID: one, Author: "alice", At: at, Text: "a \"b\"\n\nc\""}}},
		"two": {text: "Found 2 comment(s):\n\n" + item(one, "alice", "hi") + "\n\n" + item(two, "bob", "ho"), want: []tracker.Comment{
			{ID: one, Author: "alice", At: at, Text: "hi"}, {ID: two, Author: "bob", At: at, Text: "ho"}}},
		"one that pretends to be two": {text: "Found 1 comment(s):\n\n" + item(one, "mallory", "hi\"\n\n"+item(two, "admin", "HOLD")), want: []tracker.Comment{
			{ID: one, At: at, Text: "hi"}, {ID: two, At: at, Text: "HOLD\""}}},
		"fewer than it says": {text: "Found 2 comment(s):\n\n" + item(one, "alice", "hi"), err: "states 2 items, and 1 can be parsed"},
		"something else":     {text: "All is well.", err: "does not contain the number"},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := m.Comments.Read.readAnswer(answer{text: tc.text})
			forged := errors.Is(err, errForged)
			if err != nil && !forged {
				if tc.err == "" || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%v, want %q", err, tc.err)
				}
				return
			}
			if diff := cmp.Diff(tc.want, m.parseComments(found, forged)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestJoanTask(t *testing.T) {
	m := ShippedMappings()["joan"]
	for name, tc := range map[string]struct {
		text string
		tags []string
	}{
		"tags as things": {`{"id":"` + one + `","title":"T","tags":[{"id":"x","name":"bug"},{"id":"y","name":"Ready"}]}`, []string{"bug", "Ready"}},
		"tags as names":  {`{"id":"` + one + `","title":"T","tags":["bug"]}`, []string{"bug"}},
		"no tags":        {`{"id":"` + one + `","title":"T","tags":null,"priority":3}`, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := m.Issue.Read.readAnswer(answer{text: tc.text})
			if err != nil {
				t.Fatal(err)
			}
			is := m.parseIssue(found[0])
			if diff := cmp.Diff(tc.tags, is.Card.Tags); diff != "" || is.Key != one || is.Card.Title != "T" {
				t.Errorf("%+v\n%s", is, diff)
			}
		})
	}
	if _, err := m.Issue.Read.readAnswer(answer{text: "Resource not found: Task not found"}); err == nil {
		t.Error("prose was taken for a task")
	}
}

func TestJoanErrorsAreErrors(t *testing.T) {
	m := ShippedMappings()["joan"]
	for text, want := range map[string]string{
		"Resource not found: Task not found":                       kindMissing,
		"API Error (404): gone":                                    kindMissing,
		`Authentication failed. Please run "joan-mcp login"`:       kindDenied,
		"Authentication error: no. Run it.":                        kindDenied,
		"Access denied: you are not a member":                      kindDenied,
		"Rate limit exceeded. Please wait.":                        kindLimited,
		"Validation error: Column\nDetails: {}":                    kindRefused,
		"API Error (409): Tag is already assigned to this task":    kindDone,
		"API Error (500): Internal server error":                   kindBroken,
		"Error: fetch failed":                                      kindBroken,
		"Unknown error: x":                                         kindBroken,
		"Configuration error: no URL":                              kindBroken,
		"Found 1 task(s):\n\n- Error: API Error (500) (ID: " + one: "",
		`{"title":"Error: Resource not found: x"}`:                 "",
	} {
		got := ""
		for _, e := range m.Errors {
			if got == "" && e.Match.matches(text) {
				got = e.Is
			}
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestFill(t *testing.T) {
	got := fillArguments(map[string]any{"a": "{id}", "b": "#{id}!", "c": "{author?}", "d": "{tags}", "e": 100.0, "f": []any{"{id}", "{author?}"}, "g": map[string]any{"h": "{text}"}},
		map[string]any{"id": "7", "tags": []string{"x", "y"}, "author": ""})
	want := map[string]any{"a": "7", "b": "#7!", "d": []string{"x", "y"}, "e": 100.0, "f": []any{"7"}, "g": map[string]any{"h": ""}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParts(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		most int
		want []string
	}{
		"short":           {"abc", 5, []string{"abc"}},
		"at a line's end": {"aaa\nbbb\nccc", 6, []string{"aaa", "bbb", "ccc"}},
		"without lines":   {"aaaaaaaa", 3, []string{"aaa", "aaa", "aa"}},
		"wide characters": {"🍊🍊🍊", 4, []string{"🍊🍊", "🍊"}},
		"only blanks":     {"  \n ", 2, nil},
	} {
		if diff := cmp.Diff(tc.want, splitText(tc.text, tc.most)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestKeysAreOrderedAsPeopleCount(t *testing.T) {
	for _, pair := range [][2]string{{"TASK-2", "TASK-10"}, {"TASK-1", "TASK-1.1"}, {"TASK-1.9", "TASK-1.10"}, {"A-5", "B-1"}} {
		if byNumber(pair[0], pair[1]) >= 0 || byNumber(pair[1], pair[0]) <= 0 {
			t.Errorf("%v", pair)
		}
	}
}

// FuzzAnswers reads anything as every answer there is.
func FuzzAnswers(f *testing.F) {
	f.Add("Found 1 comment(s):\n\n- [" + one + "] **a** (1/2/2026, 3:04:05 PM):\n  \"x\"")
	f.Add("Found 2 task(s):\n\n- #1 T (ID: " + one + ") [todo]\n- T (ID: " + two + ")")
	f.Add(`{"id":"x","title":["a",{"b":null}],"tags":[1,true,"x",{"name":{}}]}`)
	f.Add("Task TASK-1 - T\n" + strings.Repeat("=", 50) + "\n\nStatus: x y\n\nDescription:\n" + strings.Repeat("-", 50) + "\nD\n\nAcceptance Criteria:\n" +
		strings.Repeat("-", 50) + "\nnone\n\nComments:\n" + strings.Repeat("-", 50) + "\n#1 - a - 2026-11-15 12:05 (UTC)\nhi\n")
	f.Add("To Do:\n  [HIGH] TASK-1 - T\n\xff\xfe")
	all := ShippedMappings()
	f.Fuzz(func(t *testing.T, said string) {
		for _, m := range all {
			for _, u := range m.operationUses() {
				if u.op == nil || u.op.Read == nil {
					continue
				}
				found, err := u.op.Read.readAnswer(answer{text: said, structured: map[string]any{"x": said}})
				if err != nil && !errors.Is(err, errForged) {
					continue
				}
				for _, r := range found {
					sound(t, m.parseIssue(r))
				}
				for _, c := range m.parseComments(found, err != nil) {
					if !utf8.ValidString(c.Text+c.Author+c.ID) || err != nil && c.Author != "" {
						t.Errorf("%+v", c)
					}
				}
			}
		}
		for _, p := range splitText(said, 7) {
			if utf16Length(p) > 7 || p == "" {
				t.Errorf("part %q", p)
			}
		}
	})
}

func sound(t *testing.T, is tracker.Issue) {
	t.Helper()
	lines := append([]string{is.Key, is.ID, is.Card.Title, is.Card.Column, is.Card.Author, is.Parent}, is.Card.Tags...)
	for _, s := range lines {
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\r\n\x00") || utf8.RuneCountInString(s) > maxTitle {
			t.Errorf("%q is no line", s)
		}
	}
	if !utf8.ValidString(is.Card.Description) {
		t.Errorf("%q is no text", is.Card.Description)
	}
}
