package trackertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

// many is larger than a page of any tracker.
const many = 120

func readStories() []story {
	return []story{
		{"the words are those of the tracker", readWords},
		{"the account has a name", readAccount},
		{"issues are listed by columns, each once, oldest first", listByColumns},
		{"more than a page of issues is listed", listMany},
		{"what changed since is listed", listSince},
		{"an issue is read whole", readWhole},
		{"more than a page of comments is read in order", readManyComments},
		{"parent, children and what blocks an issue are read", readRelations},
		{"priorities are read", readPriorities},
		{"what people do meanwhile is read", readAgain},
		{"an issue that is not there is not found", notFound},
		{"linked pull requests are found with their state", linkedPulls},
	}
}

func readWords(s *env) {
	v, err := s.client.ReadVocabulary(s.newContext())
	if err != nil {
		s.Fatal(err)
	}
	if err := v.Check(); err != nil {
		s.Error(err)
	}
	for _, column := range Columns {
		if !slices.Contains(v.Columns, column) {
			s.Errorf("column %q is missing in %q", column, v.Columns)
		}
	}
	for _, tag := range Tags {
		if !slices.Contains(v.Tags, tag) {
			s.Errorf("tag %q is missing in %q", tag, v.Tags)
		}
	}
}

func readAccount(s *env) {
	name, err := s.client.AccountName(s.newContext())
	if err != nil || strings.TrimSpace(name) == "" {
		s.Errorf("%q, %v", name, err)
	}
	s.noSecret(name)
}

// listKeys returns the keys that a query finds, and checks each issue.
func (s *env) listKeys(q tracker.Query) []string {
	s.Helper()
	found, err := s.client.ListIssues(s.newContext(), q)
	if err != nil {
		s.Fatalf("list %+v: %v", q, err)
	}
	var keys []string
	for _, is := range found {
		if slices.Contains(keys, is.Key) {
			s.Errorf("%s is listed twice", is.Key)
		}
		keys = append(keys, is.Key)
		if is.ReadAt.IsZero() {
			s.Errorf("%s does not say when it was read", is.Key)
		}
		s.checkListed(is)
	}
	return keys
}

// checkListed checks what a list must contain of an issue even without details.
func (s *env) checkListed(is tracker.Issue) {
	s.Helper()
	want, got := viewIssue(s.ReadIssue(s.T, is.Key)), viewIssue(is)
	if is.Brief {
		want.Parent, want.Children, want.BlockedBy, want.Comments = "", nil, nil, nil
		got.Parent, got.Children, got.BlockedBy, got.Comments = "", nil, nil, nil
		if got.Description == "" { // may be left out as well
			want.Description = ""
		}
	}
	if want.String() != got.String() {
		s.Errorf("the issue is\n%s\nand was listed as\n%s", want, got)
	}
}

func listByColumns(s *env) {
	var all, started, both []string
	for i, column := range []string{"Backlog", "Started", "Finished", "Started", "Accepted", "Backlog", "Canceled", "Finished"} {
		key := s.AddIssue(s.T, draftIssue(fmt.Sprint("Issue ", i), column, "bug"))
		all = append(all, key)
		if column == "Started" {
			started = append(started, key)
		}
		if column == "Started" || column == "Backlog" {
			both = append(both, key)
		}
	}
	for name, tc := range map[string]struct {
		query tracker.Query
		want  []string
	}{
		"any column":            {tracker.Query{}, all},
		"one column":            {tracker.Query{Columns: []string{"Started"}}, started},
		"two columns":           {tracker.Query{Columns: []string{"Started", "Backlog"}}, both},
		"a column of no issues": {tracker.Query{Columns: []string{"Delivered"}}, nil},
		"closed ones":           {tracker.Query{Columns: []string{"Accepted", "Canceled"}}, []string{all[4], all[6]}},
	} {
		if got := s.listKeys(tc.query); !slices.Equal(got, tc.want) {
			s.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	if got := s.listKeys(tracker.Query{Limit: 3}); len(got) != 3 {
		s.Errorf("at most 3: %q", got)
	}
}

func listMany(s *env) {
	var want []string
	for i := range many {
		want = append(want, s.AddIssue(s.T, draftIssue(fmt.Sprint("Issue ", i), "Backlog")))
	}
	if got := s.listKeys(tracker.Query{Columns: []string{"Backlog"}}); !slices.Equal(got, want) {
		s.Errorf("%d issues, want %d in the order in which they came: %q", len(got), len(want), got)
	}
	if got := s.listKeys(tracker.Query{Columns: []string{"Backlog"}, Limit: many - 10}); len(got) != many-10 {
		s.Errorf("%d issues, want %d", len(got), many-10)
	}
}

func listSince(s *env) {
	old, fresh := s.addPlainIssue(), s.addPlainIssue()
	since := s.ReadIssue(s.T, old).Card.UpdatedAt
	if since.IsZero() {
		s.Skip("this tracker does not say when an issue was changed")
	}
	var last time.Time
	for i := 0; !last.After(since.Add(2 * time.Millisecond)); i++ { // a tracker's clock may be coarse
		if i > 0 {
			time.Sleep(20 * time.Millisecond)
		}
		if i > 200 {
			s.Fatalf("a change does not show: it was changed at %v after %v", last, since)
		}
		s.DescribeIssue(s.T, fresh, fmt.Sprint("Changed: ", i))
		last = s.ReadIssue(s.T, fresh).Card.UpdatedAt
	}
	middle := since.Add(last.Sub(since) / 2)
	if got := s.listKeys(tracker.Query{Since: middle}); !slices.Equal(got, []string{fresh}) {
		s.Errorf("since then %q changed, want %s", got, fresh)
	}
	if got := s.listKeys(tracker.Query{Since: last.Add(time.Hour)}); len(got) != 0 {
		s.Errorf("%q changed in the future", got)
	}
	if got := s.listKeys(tracker.Query{Since: middle, Columns: []string{"Started"}}); len(got) != 0 {
		s.Errorf("%q are in no such column", got)
	}
}

func readWhole(s *env) {
	key := s.AddIssue(s.T, tracker.Issue{Priority: tracker.High, Card: board.Card{
		Title: "Read me", Author: "alice", Description: "One line.\n\n- [ ] and a list\n- of *two*\n\n```go\nfunc f() {}\n```", Column: "Started", Tags: []string{"bug", "Ready"},
	}})
	for _, text := range []string{"first", "second\n\nwith a paragraph", "third"} {
		s.CommentIssue(s.T, key, "bob", text)
	}
	got, err := s.client.ReadIssue(s.newContext(), key)
	if err != nil {
		s.Fatal(err)
	}
	s.requireReadAsReal(got)
	s.requireColumnAndTags(key, "Started", "bug", "Ready")
	if got.Key != key || got.Brief || got.ReadAt.IsZero() || got.Card.Title != "Read me" || len(got.Comments) != 3 {
		s.Errorf("key %q, brief %v, read at %v, %q, %d comments", got.Key, got.Brief, got.ReadAt, got.Card.Title, len(got.Comments))
	}
	s.commentsAreSound(got.Comments)
	for i, want := range []string{"first", "second", "third"} {
		if i < len(got.Comments) && !strings.HasPrefix(got.Comments[i].Text, want) {
			s.Errorf("comment %d is %q", i, got.Comments[i].Text)
		}
	}
}

// commentsAreSound checks that each comment has a unique id and comes after the previous one.
func (s *env) commentsAreSound(list []tracker.Comment) {
	s.Helper()
	seen := map[string]bool{}
	for i, c := range list {
		if c.ID == "" || seen[c.ID] {
			s.Errorf("comment %d has the id %q, which is none or another's", i, c.ID)
		}
		seen[c.ID] = true
		if i > 0 && c.At.Before(list[i-1].At) {
			s.Errorf("comment %d is older than the one before it", i)
		}
	}
}

func readManyComments(s *env) {
	key := s.addPlainIssue()
	for i := range many {
		s.CommentIssue(s.T, key, "bob", fmt.Sprintf("comment %d.", i))
	}
	got, err := s.client.ReadIssue(s.newContext(), key)
	if err != nil || len(got.Comments) != many {
		s.Fatalf("%d comments, %v", len(got.Comments), err)
	}
	s.requireReadAsReal(got)
	s.commentsAreSound(got.Comments)
	for i, c := range got.Comments {
		if want := fmt.Sprintf("comment %d.", i); c.Text != want {
			s.Fatalf("comment %d is %q", i, c.Text)
		}
	}
}

func readRelations(s *env) {
	parent, blocker := s.addPlainIssue(), s.addPlainIssue()
	child := draftIssue("A child", "Backlog")
	child.Parent, child.BlockedBy = parent, []tracker.Link{{Key: blocker}}
	key := s.AddIssue(s.T, child)
	real := s.ReadIssue(s.T, key)
	if real.Parent == "" && len(real.BlockedBy) == 0 {
		s.Skip("issues of this tracker are not linked with one another")
	}
	for _, column := range []string{"Started", "Accepted"} { // no work may be left
		s.MoveIssue(s.T, blocker, column)
		for _, k := range []string{key, parent, blocker} {
			got, err := s.client.ReadIssue(s.newContext(), k)
			if err != nil {
				s.Fatal(err)
			}
			s.requireReadAsReal(got)
		}
	}
	if up, err := s.client.ReadIssue(s.newContext(), parent); real.Parent != "" && (err != nil || len(up.Children) != 1 || up.Children[0].Key != key) {
		s.Errorf("the parent has the children %v, %v", up.Children, err)
	}
	if down, err := s.client.ReadIssue(s.newContext(), key); len(real.BlockedBy) > 0 && (err != nil || len(down.BlockedBy) != 1 || down.BlockedBy[0].Key != blocker || !down.BlockedBy[0].Closed) {
		s.Errorf("it is blocked by %v, %v", down.BlockedBy, err)
	}
}

func readPriorities(s *env) {
	given := false
	for _, p := range []tracker.Priority{0, tracker.Urgent, tracker.High, tracker.Medium, tracker.Low} {
		is := draftIssue("How urgent", "Backlog")
		is.Priority = p
		key := s.AddIssue(s.T, is)
		want := s.ReadIssue(s.T, key).Priority
		given = given || want != 0
		if got, err := s.client.ReadIssue(s.newContext(), key); err != nil || got.Priority != want {
			s.Errorf("priority %d was read as %d, %v", want, got.Priority, err)
		}
	}
	if !given {
		s.Skip("issues of this tracker have no priority")
	}
}

func readAgain(s *env) {
	key := s.addPlainIssue()
	if _, err := s.client.ReadIssue(s.newContext(), key); err != nil {
		s.Fatal(err)
	}
	for _, act := range []func(){
		func() { s.MoveIssue(s.T, key, "Finished") },
		func() { s.TagIssue(s.T, key, []string{"bug"}, []string{"Planned"}) },
		func() { s.CommentIssue(s.T, key, "bob", "news") },
		func() { s.DescribeIssue(s.T, key, "Something else.") },
	} {
		act()
		got, err := s.client.ReadIssue(s.newContext(), key)
		if err != nil {
			s.Fatal(err)
		}
		s.requireReadAsReal(got)
		s.listKeys(tracker.Query{}) // compares, too
	}
	s.requireColumnAndTags(key, "Finished", "bug")
}

func notFound(s *env) {
	s.addPlainIssue()
	for _, key := range []string{"999999", "NOPE-999999", "task-999999", "0", "-1", "", " ", "a/b", "../1", "1?x=y", "1#2", "\x00", strings.Repeat("9", 5000), `"} { x }`} {
		got, err := s.client.ReadIssue(s.newContext(), key)
		if !errors.Is(err, tracker.ErrNotFound) {
			s.Errorf("issue %.40q: %+v, %v", key, got.Card, err)
			continue
		}
		s.oneLine(err)
		writes := s.CountWrites()
		if _, err := s.client.Apply(s.newContext(), key, board.Change{Key: "k", Comment: "hello"}); !errors.Is(err, tracker.ErrNotFound) || s.CountWrites() != writes {
			s.Errorf("a change of issue %.40q: %v, %d writes", key, err, s.CountWrites()-writes)
		}
	}
}

func linkedPulls(s *env) {
	linker, ok := s.World.(Linker)
	if !ok {
		s.Skip("this tracker links no pull requests")
	}
	key, other := s.addPlainIssue(), s.addPlainIssue()
	want := map[int]string{7: tracker.Open, 8: tracker.Merged, 9: tracker.Closed}
	for _, number := range []int{7, 8, 9} {
		linker.LinkPull(s.T, key, tracker.PR{Number: number, State: want[number], Title: fmt.Sprint("Change ", number), Branch: fmt.Sprint("b", number),
			URL: fmt.Sprintf("https://github.com/acme/shop/pull/%d", number)})
	}
	got, err := s.client.ReadIssue(s.newContext(), key)
	if err != nil || len(got.PRs) != len(want) {
		s.Fatalf("%d pull requests, %v: %+v", len(got.PRs), err, got.PRs)
	}
	for _, pr := range got.PRs {
		if pr.State != want[pr.Number] || !strings.HasSuffix(pr.URL, fmt.Sprintf("/pull/%d", pr.Number)) {
			s.Errorf("%+v, want it %s", pr, want[pr.Number])
		}
	}
	if got, err := s.client.ReadIssue(s.newContext(), other); err != nil || len(got.PRs) != 0 {
		s.Errorf("another issue has %+v, %v", got.PRs, err)
	}
}
