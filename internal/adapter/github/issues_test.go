package github_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/trackertest"
	"orange/internal/trackertest/fakegithub"
)

func issue(column string, tags ...string) tracker.Issue {
	return tracker.Issue{Card: board.Card{Title: "An issue", Author: "alice", Description: "Do it.", Column: column, Tags: tags}}
}

func TestColumnsOfIssuesThatNoLabelPutsAnywhere(t *testing.T) {
	for name, tc := range map[string]struct {
		labels []string
		reason string // it is closed for
		want   string
	}{
		"an open one":                                  {nil, "", "Backlog"},
		"one that is done":                             {nil, "completed", "Accepted"},
		"one that is not planned":                      {nil, "not_planned", "Canceled"},
		"a duplicate":                                  {nil, "duplicate", "Canceled"},
		"one of another column":                        {[]string{"status:Parked"}, "", "Parked"},
		"a label in another spelling":                  {[]string{"Status: Parked"}, "", "Parked"},
		"two labels":                                   {[]string{"status:Finished", "status:Started"}, "", "Started"},
		"a label without a name":                       {[]string{"status:"}, "", "Backlog"},
		"one that was closed when it was merged":       {[]string{"status:Delivered"}, "completed", "Accepted"},
		"one that somebody closed under way":           {[]string{"status:Started"}, "completed", "Accepted"},
		"one that somebody closed before it was begun": {[]string{"status:Backlog"}, "completed", "Accepted"},
		"one that somebody gave up":                    {[]string{"status:Started"}, "not_planned", "Canceled"},
		"one that is accepted and was given up":        {[]string{"status:Accepted"}, "not_planned", "Accepted"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, fakegithub.FakeOptions{})
			key := s.AddIssue(t, issue("", tc.labels...))
			s.CloseIssue(t, key, tc.reason)
			tr := port(t, s)
			got, err := tr.ReadIssue(t.Context(), key)
			if err != nil || got.Card.Column != tc.want {
				t.Errorf("it is in %q, %v, want %q", got.Card.Column, err, tc.want)
			}
			list, err := tr.ListIssues(t.Context(), tracker.Query{Columns: []string{tc.want}})
			if err != nil || len(list) != 1 || list[0].Card.Column != tc.want {
				t.Errorf("the column has %+v, %v", list, err)
			}
			for _, column := range trackertest.Columns {
				if column == tc.want {
					continue
				}
				if list, err := tr.ListIssues(t.Context(), tracker.Query{Columns: []string{column}}); err != nil || len(list) != 0 {
					t.Errorf("column %s has %d, %v", column, len(list), err)
				}
			}
		})
	}
}

func TestMovesOpenAndClose(t *testing.T) {
	s := serve(t, fakegithub.FakeOptions{})
	tr := port(t, s)
	key := s.AddIssue(t, issue("Backlog", "status:Finished", "bug"))
	blocked := s.AddIssue(t, tracker.Issue{Card: issue("Backlog").Card, BlockedBy: []tracker.Link{{Key: key}}})
	for _, tc := range []struct {
		column string
		closed bool
	}{{"Started", false}, {"Accepted", true}, {"Canceled", true}, {"Started", false}, {"Canceled", true}, {"Canceled", true}, {"Backlog", false}} {
		was, err := tr.ReadIssue(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tr.WriteChange(t.Context(), was, board.Change{Column: tc.column}); err != nil {
			t.Fatal(err)
		}
		other, err := tr.ReadIssue(t.Context(), blocked)
		if diff := cmp.Diff([]tracker.Link{{Key: key, Column: tc.column, Closed: tc.closed}}, other.BlockedBy); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tc.column, err, diff)
		}
		if got := s.ReadIssue(t, key).Card; got.Column != tc.column || !slices.Equal(got.Tags, []string{"bug"}) {
			t.Errorf("%+v, want column %s alone", got, tc.column)
		}
	}
}

// A person's word counts more than where a task has got to in the meantime.
func TestAnIssueThatSomebodyClosedIsNotOpened(t *testing.T) {
	for name, labels := range map[string][]string{"under way": {"status:Started"}, "without a label": nil} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, fakegithub.FakeOptions{})
			tr := port(t, s)
			key := s.AddIssue(t, issue("", labels...))
			was, err := tr.ReadIssue(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			s.CloseIssue(t, key, "completed")
			closed, err := tr.ReadIssue(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			for _, was := range []tracker.Issue{was, closed} {
				var no *board.Refusal
				if _, err := tr.WriteChange(t.Context(), was, board.Change{Column: "Finished"}); !errors.As(err, &no) || !strings.Contains(err.Error(), "open it there") {
					t.Errorf("%v", err)
				}
			}
			if got, err := tr.ReadIssue(t.Context(), key); err != nil || got.Card.Column != "Accepted" {
				t.Errorf("it is in %s, %v", got.Card.Column, err)
			}
			if _, err := tr.WriteChange(t.Context(), closed, board.Change{Column: "Canceled"}); err != nil {
				t.Errorf("to another end: %v", err)
			}
			s.CloseIssue(t, key, "")
			if _, err := tr.WriteChange(t.Context(), closed, board.Change{Column: "Finished"}); err != nil {
				t.Errorf("after it was opened: %v", err)
			}
		})
	}
}

func TestLabelsWithStrangeNames(t *testing.T) {
	for _, name := range []string{"a/b", "why?", "50%", "a#b", "good first issue", "c++", "..", "ä ö", `"q"`, "a%2Fb"} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, fakegithub.FakeOptions{})
			tr := port(t, s)
			key := s.AddIssue(t, issue("Backlog", name, "status:"+name))
			s.TagIssue(t, key, nil, []string{name, "status:" + name})
			was, err := tr.ReadIssue(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			_, err = tr.WriteChange(t.Context(), was, board.Change{AddTags: []string{name}, Column: name})
			if name == ".." {
				if err == nil {
					t.Error("a name that leads elsewhere is used")
				}
				return
			}
			if got := s.ReadIssue(t, key).Card; err != nil || got.Column != name || !slices.Equal(got.Tags, []string{name}) {
				t.Errorf("%+v, %v", got, err)
			}
			if _, err := tr.WriteChange(t.Context(), was, board.Change{RemoveTags: []string{name}}); err != nil || len(s.ReadIssue(t, key).Card.Tags) != 0 {
				t.Errorf("%+v, %v", s.ReadIssue(t, key).Card, err)
			}
		})
	}
}

func TestLabelsAreNeverMade(t *testing.T) {
	s := serve(t, fakegithub.FakeOptions{})
	tr := port(t, s)
	key := s.AddIssue(t, issue("Backlog"))
	was, err := tr.ReadIssue(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	s.DeleteTag(t, "bug")
	s.RenameColumn(t, "Started", "Doing")
	writes := s.CountWrites()
	for _, c := range []board.Change{{AddTags: []string{"bug"}}, {AddTags: []string{"Ready", "bug"}}, {Column: "Started"}, {AddTags: []string{"never was"}}, {Column: "Never"}} {
		if _, err := tr.WriteChange(t.Context(), was, c); !errors.Is(err, tracker.ErrStale) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if s.CountWrites() != writes {
		t.Error("something was written")
	}
}

func TestTextsThatGitHubDoesNotTake(t *testing.T) {
	s := serve(t, fakegithub.FakeOptions{})
	tr := port(t, s)
	was, err := tr.ReadIssue(t.Context(), s.AddIssue(t, issue("Backlog")))
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 70000)
	for _, c := range []board.Change{{Comment: "a\x00b"}, {Comment: long}, {Description: &long, AddTags: []string{"bug"}}, {Title: "a\x00"}} {
		var no *board.Refusal
		if _, err := tr.WriteChange(t.Context(), was, c); !errors.As(err, &no) || s.CountWrites() != 0 {
			t.Errorf("%.60v: %v, %d writes", c, err, s.CountWrites())
		}
	}
}

func TestPullRequestsAreNoIssues(t *testing.T) {
	s := serve(t, fakegithub.FakeOptions{})
	tr := port(t, s)
	key := s.AddIssue(t, issue("Backlog"))
	number := s.AddPull(t, "x", "A pull request", "")
	list, err := tr.ListIssues(t.Context(), tracker.Query{})
	if err != nil || len(list) != 1 || list[0].Key != key {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := tr.ReadIssue(t.Context(), fmt.Sprint(number)); !errors.Is(err, tracker.ErrNotFound) {
		t.Errorf("the pull request is read as an issue: %v", err)
	}
}

func TestLinkedPullRequests(t *testing.T) {
	for name, tc := range map[string]struct {
		branch, title, body string
		linked              bool
	}{
		"it closes the issue":           {"x", "T", "Closes #1", true},
		"it fixes it in other words":    {"x", "T", "This FIXED: #1, at last", true},
		"it names the repository":       {"x", "T", "resolves acme/shop#1.", true},
		"it has it in the title":        {"x", "T (#1)", "", true},
		"it has it in the branch":       {"fix/1-thing", "T", "About #1.", true},
		"it only mentions it":           {"x", "T", "Not unlike #1.", false},
		"it closes another":             {"x", "T", "Closes #2, see #1", false},
		"it closes another with a 1":    {"x", "T", "Closes #12, see #1", false},
		"its branch has another number": {"fix/12-thing-v1.1", "T", "See #1", false},
		"it closes it somewhere else":   {"x", "T", "Closes other/repo#1", false},
		"it says that it encloses it":   {"x", "T", "encloses #1", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, fakegithub.FakeOptions{})
			key := s.AddIssue(t, issue("Backlog"))
			s.AddIssue(t, issue("Backlog"))
			s.AddPull(t, tc.branch, tc.title, tc.body)
			got, err := port(t, s).ReadIssue(t.Context(), key)
			if err != nil || (len(got.PRs) == 1) != tc.linked {
				t.Errorf("%+v, %v", got.PRs, err)
			}
		})
	}
}

func TestBotsAreKnown(t *testing.T) {
	s := serve(t, fakegithub.FakeOptions{})
	key := s.AddIssue(t, issue("Backlog"))
	s.CommentIssue(t, key, "bob", "hello")
	s.CommentIssue(t, key, "helper[bot]", "hello")
	got, err := port(t, s).ReadIssue(t.Context(), key)
	if err != nil || len(got.Comments) != 2 || got.Comments[0].Bot || !got.Comments[1].Bot {
		t.Errorf("%+v, %v", got.Comments, err)
	}
}
