package linear_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/adapter/linear"
	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
	"orange/internal/trackertest"
	"orange/internal/trackertest/fakelinear"
)

func draft(title, column string, tags ...string) tracker.Issue {
	return tracker.Issue{Card: board.Card{Title: title, Author: "alice", Column: column, Tags: tags}}
}

func client(w *fakelinear.World, scope string) *linear.Tracker {
	return linear.New(linear.TrackerOptions{URL: w.URL, Scope: scope, Token: func(context.Context) (string, error) { return w.Secret(), nil }})
}

func read(t *testing.T, p trackers.Backend, key string) tracker.Issue {
	t.Helper()
	is, err := p.ReadIssue(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return is
}

func TestScopes(t *testing.T) {
	w := fakelinear.OpenWorld(t, fakelinear.FakeOptions{})
	w.AddIssue(t, draft("One", "Backlog"))
	for name, tc := range map[string]struct {
		scope string
		found int
		says  string // instead of words
	}{
		"a team":                       {"ENG", 1, ""},
		"in another spelling":          {" eng / SHOP ", 1, ""},
		"a project":                    {"ENG/Shop", 1, ""},
		"a project without issues":     {"ENG/Tools", 0, ""},
		"no such project":              {"ENG/Nope", 0, `no project "Nope"`},
		"no such team":                 {"NOPE", 0, `no team "NOPE"`},
		"no team":                      {"", 0, "names no team"},
		"a team of more than one line": {"A\nB", 0, `no team "A B"`},
	} {
		t.Run(name, func(t *testing.T) {
			p := client(w, tc.scope)
			v, err := p.ReadVocabulary(t.Context())
			if tc.says != "" {
				var no *board.Refusal
				if !errors.As(err, &no) || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%v does not say %s", err, tc.says)
				}
				return
			}
			if err != nil || !slices.Equal(v.Columns, trackertest.Columns) || slices.Contains(v.Tags, "Area") || len(v.Tags) != len(trackertest.Tags) {
				t.Errorf("%+v, %v", v, err)
			}
			if list, err := p.ListIssues(t.Context(), tracker.Query{}); err != nil || len(list) != tc.found {
				t.Errorf("%d issues, %v", len(list), err)
			}
		})
	}
}

// TestAListCostsOneRequestForTwenty: whatever the issues have, their number alone counts, and ordinary issues are whole.
func TestAListCostsOneRequestForTwenty(t *testing.T) {
	w := fakelinear.OpenWorld(t, fakelinear.FakeOptions{})
	parent := w.AddIssue(t, draft("Parent", "Started"))
	for i := range 118 {
		is := draft(fmt.Sprint("Issue ", i), "Backlog", "bug", "Ready")
		is.Parent = parent
		w.CommentIssue(t, w.AddIssue(t, is), "bob", "hello")
	}
	long := w.AddIssue(t, draft("Discussed", "Backlog"))
	for i := range 11 {
		w.CommentIssue(t, long, "bob", fmt.Sprint("comment ", i))
	}
	p := w.OpenClient(t)
	for limit, want := range map[int]int{0: 6, 100: 5, 20: 1, 3: 1, 101: 6} {
		before := w.Server.CountRequests()
		list, err := p.ListIssues(t.Context(), tracker.Query{Limit: limit})
		if err != nil || limit > 0 && len(list) != limit || limit == 0 && len(list) != 120 {
			t.Fatalf("%d issues, %v", len(list), err)
		}
		if got := w.Server.CountRequests() - before; got != want {
			t.Errorf("%d requests for %d of 120 issues, want %d", got, limit, want)
		}
		if list[0].Key != "ENG-1" || list[1].Key != "ENG-2" || list[1].Parent != parent || !list[0].Brief {
			t.Errorf("the list begins with %s, %s of %s", list[0].Key, list[1].Key, list[1].Parent)
		}
		if one := list[1]; one.Brief || !reflect.DeepEqual(one, read(t, p, one.Key)) {
			t.Errorf("an ordinary issue is listed as %+v", one)
		}
		if last := list[len(list)-1]; limit == 0 && (last.Key != long || !last.Brief || len(last.Comments) > 0) {
			t.Errorf("an issue with many comments is listed as %+v", last)
		}
	}
}

// TestAChangeCostsThreeRequests: the issue is read, the names are confirmed, and the change returns the issue as it is then.
func TestAChangeCostsThreeRequests(t *testing.T) {
	w := fakelinear.OpenWorld(t, fakelinear.FakeOptions{})
	key := w.AddIssue(t, draft("One", "Backlog"))
	c := trackers.NewClient(w.OpenClient(t))
	if _, err := c.ReadVocabulary(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, tc := range []struct {
		change board.Change
		want   int
	}{
		{board.Change{Column: "Started", AddTags: []string{"bug"}}, 3},
		{board.Change{Column: "Started", AddTags: []string{"bug"}}, 1}, // nothing is left to do
		{board.Change{Key: "a", Comment: "Done."}, 2},
		{board.Change{Key: "b", Comment: "Moved.", Column: "Finished"}, 4},
	} {
		before := w.Server.CountRequests()
		is, err := c.Apply(t.Context(), key, tc.change)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.Server.CountRequests() - before; got != tc.want {
			t.Errorf("change %d: %d requests, want %d", i, got, tc.want)
		}
		now := read(t, c, key)
		now.ReadAt = is.ReadAt
		if !reflect.DeepEqual(is, now) {
			t.Errorf("change %d returns\n%+v\nand the issue is\n%+v", i, is, now)
		}
	}
}

func TestIssuesWithMoreThanAPageOfEverything(t *testing.T) {
	w := fakelinear.OpenWorld(t, fakelinear.FakeOptions{})
	const many = 130
	var tags []string
	for i := range 60 {
		tags = append(tags, fmt.Sprintf("tag-%02d", i))
		if err := w.Server.AddTag(tags[i]); err != nil {
			t.Fatal(err)
		}
	}
	is := draft("Much", "Backlog", tags...)
	for i := range many {
		is.BlockedBy = append(is.BlockedBy, tracker.Link{Key: w.AddIssue(t, draft(fmt.Sprint("Blocker ", i), "Accepted"))})
	}
	key := w.AddIssue(t, is)
	for i := range many {
		child := draft(fmt.Sprint("Child ", i), "Canceled")
		child.Parent = key
		w.AddIssue(t, child)
		w.LinkPull(t, key, tracker.PR{Number: i + 1, URL: fmt.Sprintf("https://github.com/acme/shop/pull/%d", i+1), State: tracker.Open})
		w.CommentIssue(t, key, "helper[bot]", fmt.Sprint("comment ", i))
	}
	got := read(t, w.OpenClient(t), key)
	if len(got.Card.Tags) != 60 || len(got.BlockedBy) != many || len(got.Children) != many || len(got.PRs) != many || len(got.Comments) != many {
		t.Errorf("%d tags, %d blockers, %d children, %d pull requests, %d comments",
			len(got.Card.Tags), len(got.BlockedBy), len(got.Children), len(got.PRs), len(got.Comments))
	}
	if !got.BlockedBy[0].Closed || !got.Children[many-1].Closed || got.PRs[0].Number != 1 || !got.Comments[0].Bot || got.Comments[many-1].Text != fmt.Sprint("comment ", many-1) {
		t.Error("in the wrong order, or of the wrong kind")
	}
	list, err := w.OpenClient(t).ListIssues(t.Context(), tracker.Query{Columns: []string{"Backlog"}})
	if err != nil || len(list) != 1 || len(list[0].Card.Tags) != 60 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestIssuesThatAreNotOurs(t *testing.T) {
	w := fakelinear.OpenWorld(t, fakelinear.FakeOptions{})
	key := w.AddIssue(t, draft("One", "Backlog"))
	p := client(w, "ENG")
	if got := read(t, p, w.ReadIssue(t, key).ID); got.Key != key {
		t.Errorf("by its id %q is found", got.Key)
	}
	if _, err := client(w, "OPS").ReadIssue(t.Context(), key); !errors.Is(err, tracker.ErrNotFound) {
		t.Errorf("of another team: %v", err)
	}
	if err := w.Server.TrashIssue(key); err != nil {
		t.Fatal(err)
	}
	if _, err := p.ReadIssue(t.Context(), key); !errors.Is(err, tracker.ErrNotFound) {
		t.Errorf("in the trash: %v", err)
	}
	if list, err := p.ListIssues(t.Context(), tracker.Query{}); err != nil || len(list) != 0 {
		t.Errorf("in the trash: %v, %v", list, err)
	}
	if _, err := p.WriteChange(t.Context(), tracker.Issue{Key: key}, board.Change{Title: "T"}); !errors.Is(err, tracker.ErrNotFound) {
		t.Errorf("in the trash: %v", err)
	}
}

// TestNamesThatAreGone: nothing is written with the id of something that has another
// name by now.
func TestNamesThatAreGone(t *testing.T) {
	w := fakelinear.OpenWorld(t, fakelinear.FakeOptions{})
	key := w.AddIssue(t, draft("One", "Backlog", "bug"))
	p := w.OpenClient(t)
	was := read(t, p, key)
	if _, err := p.ReadVocabulary(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.RenameColumn(t, "Started", "Doing")
	if err := w.Server.RenameTag("Ready", "Set"); err != nil {
		t.Fatal(err)
	}
	w.DeleteTag(t, "Planned")
	for name, c := range map[string]board.Change{
		"a column that was renamed": {Column: "Started"}, "a tag that was renamed": {AddTags: []string{"Ready"}}, "one to be taken off": {RemoveTags: []string{"Ready"}},
		"a tag that was deleted": {AddTags: []string{"Planned"}}, "a tag that never was": {AddTags: []string{"Nope"}}, "a column that never was": {Column: "Nope"},
	} {
		c.Comment = "And this."
		if _, err := p.WriteChange(t.Context(), was, c); !errors.Is(err, tracker.ErrStale) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if w.CountWrites() != 0 {
		t.Errorf("%d writes", w.CountWrites())
	}
	if _, err := p.ReadVocabulary(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.WriteChange(t.Context(), was, board.Change{Column: "Doing", AddTags: []string{"Set"}, RemoveTags: []string{"bug"}}); err != nil {
		t.Error(err)
	}
	if got := w.ReadIssue(t, key).Card; got.Column != "Doing" || !slices.Equal(got.Tags, []string{"Set"}) || w.CountWrites() != 1 {
		t.Errorf("%+v after %d writes", got, w.CountWrites())
	}
}

func TestWriteKnowsColumnsAndTags(t *testing.T) {
	w := fakelinear.OpenWorld(t, fakelinear.FakeOptions{})
	key := w.AddIssue(t, draft("One", "Backlog"))
	if _, err := w.OpenClient(t).WriteChange(t.Context(), w.ReadIssue(t, key), board.Change{Column: "Started", AddTags: []string{"bug"}}); err != nil {
		t.Fatal(err)
	}
	if got := w.ReadIssue(t, key).Card; got.Column != "Started" || !slices.Equal(got.Tags, []string{"bug"}) {
		t.Errorf("%+v", got)
	}
}

// TestACommentIsTakenOnce even if the caller does not check for it.
func TestACommentIsTakenOnce(t *testing.T) {
	w := fakelinear.OpenWorld(t, fakelinear.FakeOptions{})
	key := w.AddIssue(t, draft("One", "Backlog"))
	w.InjectFault(trackertest.Fault{Kind: trackertest.Lost, Times: 1, Writes: true})
	for i := range 3 {
		_, err := w.OpenClient(t).WriteChange(t.Context(), w.ReadIssue(t, key), board.Change{Key: "k", Comment: "Hello."})
		if (err != nil) != (i == 0) {
			t.Errorf("try %d: %v", i, err)
		}
	}
	if n := len(w.ReadIssue(t, key).Comments); n != 1 {
		t.Errorf("%d comments", n)
	}
}

// TestLinearsOwnHand checks that Linear's normalization of texts neither causes duplicate
// comments nor looks like a person's change.
func TestLinearsOwnHand(t *testing.T) {
	w := fakelinear.OpenWorld(t, fakelinear.FakeOptions{OwnHand: true})
	key := w.AddIssue(t, draft("One", "Backlog"))
	desk := trackers.NewClient(w.OpenClient(t))
	text := "What is to be done:\n\n- this\n- that\n"
	change := board.Change{Key: "k/1", Column: "Started", Comment: "Done:\n\n- this", Description: &text}
	for i := range 3 {
		is, err := desk.Apply(t.Context(), key, change)
		if err != nil {
			t.Fatalf("try %d: %v", i, err)
		}
		if is.Card.Description != text {
			t.Errorf("the description is read as %q", is.Card.Description)
		}
	}
	real := w.ReadIssue(t, key)
	if len(real.Comments) != 1 || strings.Contains(real.Comments[0].Text, "<!--") || real.Card.Description == text {
		t.Fatalf("this server does not write in its own hand: %+v", real)
	}
	if w.CountWrites() != 2 {
		t.Errorf("%d writes, want one change and one comment", w.CountWrites())
	}
	other := trackers.NewClient(w.OpenClient(t))
	if _, err := other.Apply(t.Context(), key, board.Change{Key: "k/1", Comment: change.Comment}); err != nil || w.CountWrites() != 2 {
		t.Errorf("another client says it again: %v", err)
	}
	w.DescribeIssue(t, key, "A person knows better.")
	if got := read(t, desk, key); got.Card.Description != "A person knows better." {
		t.Errorf("what a person wrote is read as %q", got.Card.Description)
	}
}

func TestWhatLinearDoesNotTakeIsRefused(t *testing.T) {
	w := fakelinear.OpenWorld(t, fakelinear.FakeOptions{})
	key := w.AddIssue(t, draft("One", "Backlog"))
	p := w.OpenClient(t)
	was := read(t, p, key)
	for name, c := range map[string]board.Change{
		"a title that is too long":   {Title: strings.Repeat("x", 600)},
		"a zero in a comment":        {Comment: "a\x00b", Title: "T"},
		"a zero in a description":    {Description: new("a\x00b"), Title: "T"},
		"a title that is no text":    {Title: "\xff"},
		"a title of nothing visible": {Title: " "},
	} {
		var no *board.Refusal
		if _, err := p.WriteChange(t.Context(), was, c); !errors.As(err, &no) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if diff := cmp.Diff(was.Card, read(t, p, key).Card); diff != "" {
		t.Error(diff)
	}
}

func TestOAuthTokens(t *testing.T) {
	w := fakelinear.OpenWorld(t, fakelinear.FakeOptions{Token: "lin_oauth_1"})
	if name, err := w.OpenClient(t).AccountName(t.Context()); err != nil || name != fakelinear.Me {
		t.Errorf("%q, %v", name, err)
	}
	if _, err := linear.New(linear.TrackerOptions{URL: w.URL, Scope: "ENG", Token: func(context.Context) (string, error) { return "lin_api_other", nil }}).AccountName(t.Context()); err == nil || strings.Contains(err.Error(), "other") {
		t.Errorf("with another token: %v", err)
	}
}

// costs remembers what each request cost.
type costs struct {
	mu   sync.Mutex
	most int
}

func (c *costs) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		n, _ := strconv.Atoi(resp.Header.Get("X-Complexity"))
		c.most = max(c.most, n)
	}
	return resp, err
}

// TestNoRequestIsDear: a third of what Linear allows leaves room for its counting
// otherwise.
func TestNoRequestIsDear(t *testing.T) {
	w := fakelinear.OpenWorld(t, fakelinear.FakeOptions{})
	key := w.AddIssue(t, draft("One", "Backlog"))
	c := &costs{}
	p := linear.New(linear.TrackerOptions{URL: w.URL, Scope: "ENG", Token: func(context.Context) (string, error) { return w.Secret(), nil }, HTTP: &http.Client{Transport: c}})
	if _, err := p.ListIssues(t.Context(), tracker.Query{}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.WriteChange(t.Context(), read(t, p, key), board.Change{Column: "Started", AddTags: []string{"bug"}, Comment: "x"}); err != nil {
		t.Fatal(err)
	}
	if c.most == 0 || c.most > 10_000/3 {
		t.Errorf("a request costs %d points", c.most)
	}
}
