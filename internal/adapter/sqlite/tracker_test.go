package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/board"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
)

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTrackersAreKeptByName(t *testing.T) {
	s := open(t)
	linear := tracker.Config{Name: "linear", Kind: tracker.Linear, Project: "shop", Scope: "ENG", Token: "env:LINEAR_TOKEN", Webhook: "file:/s/hook",
		Columns: map[string]string{"working": "In Progress"}, Eligible: []string{"Todo"}, Authors: []string{"alice"}, Max: 3, Every: time.Minute, Auto: true}
	gh := tracker.Config{Name: "gh", Kind: tracker.GitHub, Project: "shop", Scope: "acme/shop", Token: "gh"}
	for _, c := range []tracker.Config{linear, {Name: "gh", Kind: tracker.MCP}, gh} {
		noError(t, s.SetTracker(c))
	}
	got, err := s.Trackers()
	if diff := cmp.Diff([]tracker.Config{gh, linear}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestATrackerIsRefused(t *testing.T) {
	const secret = "lin_api_0123456789"
	for name, tc := range map[string]struct {
		config tracker.Config
		want   string
	}{
		"no name":                      {tracker.Config{}, "not a valid tracker name"},
		"a colon":                      {tracker.Config{Name: "a:b"}, `"a:b" is not a valid tracker name`},
		"a slash":                      {tracker.Config{Name: "a/b"}, "not a valid tracker name"},
		"a blank":                      {tracker.Config{Name: "a b"}, "not a valid tracker name"},
		"a control character":          {tracker.Config{Name: "a\n\x1b[1m"}, "not a valid tracker name"},
		"a flag":                       {tracker.Config{Name: "-a"}, "not a valid tracker name"},
		"an endless name":              {tracker.Config{Name: strings.Repeat("x", 5000)}, "at most 64"},
		"the local board":              {tracker.Config{Name: "Board"}, "use another name"},
		"a secret":                     {tracker.Config{Name: "a", Token: secret}, "say where the token of tracker a is"},
		"a webhook's secret":           {tracker.Config{Name: "a", Webhook: secret}, "say where the webhook secret"},
		"a place of nothing":           {tracker.Config{Name: "a", Token: "env:"}, "say where"},
		"an address with a secret":     {tracker.Config{Name: "a", URL: "https://x:" + secret + "@host/"}, "without a name or a secret"},
		"an address that is none":      {tracker.Config{Name: "a", URL: "https://" + secret + "\x00"}, "without a name or a secret"},
		"a secret in place of a place": {tracker.Config{Name: "a", Token: "token:" + secret}, "say where"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			err := s.SetTracker(tc.config)
			wantError(t, err, tc.want)
			var mistake *task.Mistake
			if !errors.As(err, &mistake) || strings.Contains(err.Error(), secret) || len(err.Error()) > 300 {
				t.Errorf("%T %v", err, err)
			}
			if list, err := s.Trackers(); err != nil || len(list) != 0 {
				t.Errorf("%v, %v", list, err)
			}
		})
	}
}

// anIssue returns one that was read so many minutes after the start.
func anIssue(key string, minutes int) tracker.Issue {
	return tracker.Issue{Key: key, ID: "id-" + key, URL: "https://tracker/" + key, ReadAt: start.Add(time.Duration(minutes) * time.Minute), Priority: tracker.High,
		Card:   board.Card{Title: "Title <b> \x00", Author: "alice", Description: "D", Column: "Todo", Tags: []string{"bug"}, CreatedAt: start, UpdatedAt: start},
		Parent: "P-1", Children: []tracker.Link{{Key: "C-1", Closed: true}}, BlockedBy: []tracker.Link{{Key: "B-1"}},
		PRs: []tracker.PR{{Number: 7, State: tracker.Open}}, Comments: []tracker.Comment{{ID: "c1", Author: "bob", At: start, Text: "hello"}}}
}

func TestIssuesAreKeptAsTheyWereRead(t *testing.T) {
	s := open(t)
	first, second := anIssue("ENG-2", 0), anIssue("ENG-1", 0)
	for _, is := range []tracker.Issue{first, second} {
		if was, err := s.KeepIssue("linear", is); was != nil || err != nil {
			t.Errorf("%v, %v", was, err)
		}
	}
	if _, err := s.KeepIssue("other", anIssue("ENG-1", 5)); err != nil {
		t.Error(err)
	}
	later := anIssue("ENG-2", 1)
	later.Card.Column, later.Comments = "Done", nil
	was, err := s.KeepIssue("linear", later)
	if diff := cmp.Diff(&first, was); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	got, err := s.KeptIssues("linear")
	if diff := cmp.Diff([]tracker.Issue{later, second}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if _, ok, err := s.KeptIssue("linear", "ENG-3"); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	if _, ok, err := s.KeptIssue("other", "ENG-1"); !ok || err != nil {
		t.Errorf("another tracker's issue is gone: %v", err)
	}
}

func TestWhatWasReadEarlierReplacesNothing(t *testing.T) {
	listed := func(minutes int, column, description string) tracker.Issue {
		is := anIssue("1", minutes)
		is.Brief, is.Parent, is.Children, is.BlockedBy, is.PRs, is.Comments = true, "", nil, nil, nil, nil
		is.Card.Column, is.Card.Description = column, description
		return is
	}
	moved := func(minutes int, column string) tracker.Issue {
		is := anIssue("1", minutes)
		is.Card.Column = column
		return is
	}
	for name, tc := range map[string]struct {
		reads []tracker.Issue
		want  tracker.Issue
	}{
		"whole, then an older whole one":        {[]tracker.Issue{moved(2, "Done"), moved(1, "Todo")}, moved(2, "Done")},
		"whole, then one at the same moment":    {[]tracker.Issue{moved(2, "Done"), moved(2, "Todo")}, moved(2, "Todo")},
		"whole, then listed":                    {[]tracker.Issue{moved(1, "Todo"), listed(2, "Done", "D")}, moved(2, "Done")},
		"whole, then listed without much":       {[]tracker.Issue{moved(1, "Todo"), listed(2, "Done", "")}, moved(2, "Done")},
		"whole, then listed before":             {[]tracker.Issue{moved(2, "Done"), listed(1, "Todo", "old")}, moved(2, "Done")},
		"listed, then whole from before":        {[]tracker.Issue{listed(2, "Done", "D"), moved(1, "Todo")}, moved(2, "Done")},
		"listed, then listed":                   {[]tracker.Issue{listed(1, "Todo", "D"), listed(2, "Done", "")}, listed(2, "Done", "")},
		"listed, then whole":                    {[]tracker.Issue{listed(1, "Todo", "D"), moved(2, "Done")}, moved(2, "Done")},
		"whole, listed twice, the last is late": {[]tracker.Issue{moved(1, "a"), listed(3, "c", "D"), listed(2, "b", "D")}, moved(3, "c")},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			for _, is := range tc.reads {
				if _, err := s.KeepIssue("x", is); err != nil {
					t.Fatal(err)
				}
			}
			got, ok, err := s.KeptIssue("x", "1")
			if diff := cmp.Diff(tc.want, got); diff != "" || !ok || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestARemovedTrackerLeavesWhatWasDone(t *testing.T) {
	s := open(t)
	for _, name := range []string{"a", "b"} {
		noError(t, s.SetTracker(tracker.Config{Name: name}))
		noError(t, s.RecordSync(name, start, "no answer"))
		noError(t, s.RecordAct(name+":1", "hold/c1"))
		if _, err := s.KeepIssue(name, anIssue("1", 0)); err != nil {
			t.Fatal(err)
		}
	}
	noError(t, s.RemoveTracker("a"))
	if at, problem, err := s.LastSync("a"); !at.IsZero() || problem != "" || err != nil {
		t.Errorf("%v %q %v", at, problem, err)
	}
	if at, problem, err := s.LastSync("b"); !at.Equal(start) || problem != "no answer" || err != nil {
		t.Errorf("%v %q %v", at, problem, err)
	}
	for name, want := range map[string]int{"a": 0, "b": 1} {
		if list, err := s.KeptIssues(name); len(list) != want || err != nil {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
	if done, err := s.HasActed("a:1", "hold/c1"); !done || err != nil {
		t.Errorf("%v, %v", done, err)
	}
	if list, err := s.Trackers(); len(list) != 1 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
	var mistake *task.Mistake
	if err := s.RemoveTracker("a"); !errors.As(err, &mistake) {
		t.Errorf("%T %v", err, err)
	} else {
		wantError(t, err, `there is no tracker "a": see orange tracker list`)
	}
}

func TestALeaseIsHeldByOne(t *testing.T) {
	s := open(t)
	hour := start.Add(time.Hour)
	for i, tc := range []struct {
		owner string
		now   time.Time
		want  bool
	}{
		{"one", start, true},
		{"two", start, false},
		{"one", start.Add(time.Minute), true}, // its own
		{"two", hour.Add(-1), false},
		{"two", hour, true}, // stale
		{"one", hour, false},
	} {
		until := hour
		if !tc.now.Before(hour) {
			until = hour.Add(time.Hour)
		}
		if got, err := s.TakeLease("linear:1", tc.owner, until, tc.now); got != tc.want || err != nil {
			t.Errorf("%d: %v, %v", i, got, err)
		}
	}
	end := hour.Add(time.Hour)
	noError(t, s.ReleaseLease("linear:1", "one"))
	if taken, err := s.TakeLease("linear:1", "one", end, end.Add(-1)); taken || err != nil {
		t.Errorf("one's release ended the lease of another, or that ended early: %v, %v", taken, err)
	}
	noError(t, s.ReleaseLease("linear:1", "two"))
	if taken, err := s.TakeLease("linear:1", "one", end, hour); !taken || err != nil {
		t.Errorf("a lease that was given back was not taken: %v, %v", taken, err)
	}
	if taken, err := s.TakeLease("linear:1", "", hour, start); taken || err == nil {
		t.Error("nobody has a lease")
	}
	if taken, err := s.TakeLease("linear:1", "one", start, start); taken || err == nil {
		t.Error("a lease that is over was taken")
	}
}

func TestOneOfManyTakesALease(t *testing.T) {
	s := open(t)
	var wait sync.WaitGroup
	var mu sync.Mutex
	leases := 0
	for i := range 8 {
		wait.Go(func() {
			taken, err := s.TakeLease("x:1", fmt.Sprint("owner ", i), start.Add(time.Hour), start)
			if err := errors.Join(err, s.RecordDelivery("x", "d1", start)); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if taken {
				leases++
			}
		})
	}
	wait.Wait()
	if before, err := s.HasDelivery("x", "d1", start); leases != 1 || !before || err != nil {
		t.Errorf("%d took it; heard %v, %v", leases, before, err)
	}
}

func TestDeliveriesAreNewsOnce(t *testing.T) {
	s := open(t)
	long := strings.Repeat("d", 9000)
	week := start.Add(remembered)
	for i, tc := range []struct {
		tracker, delivery string
		now               time.Time
		want              bool
	}{
		{"a", "1", start, true}, {"a", "1", start, false}, {"b", "1", start, true}, {"a", "2", start, true},
		{"a", long, start, true}, {"a", long, start, false}, {"a", long + "d", start, true},
		{"a", "", start, true}, {"a", "", start, true},
		{"a", "1", week, false}, {"a", "1", week.Add(1), true}, {"a", "1", week.Add(1), false},
	} {
		for range 2 { // asking alone remembers nothing
			if before, err := s.HasDelivery(tc.tracker, tc.delivery, tc.now); before == tc.want || err != nil {
				t.Errorf("%d: %v, %v", i, before, err)
			}
		}
		noError(t, s.RecordDelivery(tc.tracker, tc.delivery, tc.now))
	}
	var rows, longest int
	err := s.read.QueryRow("SELECT count(*), max(length(delivery)) FROM tracker_delivery").Scan(&rows, &longest)
	if rows != 1 || longest > maxKept || err != nil {
		t.Errorf("%d rows, the longest %d, %v", rows, longest, err)
	}
}

func TestWhatWasActedUponIsRemembered(t *testing.T) {
	s := open(t)
	long := strings.Repeat("k", 9000)
	for _, key := range []string{"hold/c1", long} {
		for _, want := range []bool{false, true} {
			if done, err := s.HasActed("linear:1", key); done != want || err != nil {
				t.Errorf("%.20s: %v, %v", key, done, err)
			}
			noError(t, s.RecordAct("linear:1", key))
		}
		if done, err := s.HasActed("linear:2", key); done || err != nil {
			t.Errorf("another issue: %v, %v", done, err)
		}
	}
}

func TestATrackerIsPolled(t *testing.T) {
	s := open(t)
	if at, problem, err := s.LastSync("x"); !at.IsZero() || problem != "" || err != nil {
		t.Errorf("%v %q %v", at, problem, err)
	}
	for i, problem := range []string{"no answer", ""} {
		when := start.Add(time.Duration(i) * time.Hour)
		noError(t, s.RecordSync("x", when, problem))
		if at, got, err := s.LastSync("x"); !at.Equal(when) || got != problem || err != nil {
			t.Errorf("%v %q %v", at, got, err)
		}
	}
}

// tracked returns a task of an issue.
func tracked(t *testing.T, n int, ref, summary string) journal.Commit {
	t.Helper()
	return next(t, task.Task{}, journal.Entry{
		Task: id(n), Type: journal.TaskCreated, Actor: task.Human, Move: journal.Move{To: "pending", From: "new"}, Creation: journal.Creation{Workflow: "orange", WorkflowHash: "h",
			New: &signal.New{ID: id(n), Project: "p", Branch: fmt.Sprintf("b%d", n), Summary: summary, Harness: "claude", TrackerRef: ref}},
	})
}

func TestTasksOfATracker(t *testing.T) {
	s := open(t)
	commit(t, s, tracked(t, 1, "linear:ENG-1", "s"), tracked(t, 2, "linear-2:ENG-1", "s"), tracked(t, 3, "", `"tracker":"linear:ENG-9"`),
		tracked(t, 4, "linear:ENG-2", "s"), tracked(t, 5, "board:p/1", "linear:"), tracked(t, 6, "Linear:ENG-1", "s"))
	for name, want := range map[string][]task.ID{"linear:": {id(1), id(4)}, "linear-2:": {id(2)}, "board:p/": {id(5)}, "board:q/": nil, "line:": nil} {
		tasks, err := s.TrackedTasks(name)
		var got []task.ID
		for _, one := range tasks {
			got = append(got, one.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

func TestOpenUpgradesVersion5(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orange.db")
	c := created(t, 1)
	values, err := taskValues(&c)
	noError(t, err)
	raw(t, path, schema1, schema2, schema3, schema4, schema5, fmt.Sprintf("PRAGMA application_id = %d", applicationID), "PRAGMA user_version = 5",
		fmt.Sprintf(`INSERT INTO task VALUES (1, '%s', 'p', 'b1', 'pending', '', 0, 0, 0, 0, NULL, 1, '%s', 0)`, id(1), values[11]),
		`INSERT INTO project VALUES ('p', '/p', 'main', 2, '', '{"delivery":"pr"}')`,
		`INSERT INTO board VALUES ('p', '{"columns":["To Do","Done"],"tags":["Ready"]}')`,
		`INSERT INTO card VALUES (7, 'p', 1, '{"project":"p","number":1,"title":"Cart","column":"To Do","tags":["Ready"],"version":2}')`,
		`INSERT INTO card_comment VALUES (7, 1, '2026-01-02T03:04:05Z', 'human', 'hello')`,
		`INSERT INTO card_event VALUES (7, 1, '2026-01-02T03:04:05Z', 'human', '{"title":"Cart","column":"To Do"}')`,
		`INSERT INTO card_key VALUES (7, 'k')`)
	s := openAt(t, path)
	if got, ok, err := s.Task(id(1)); !ok || err != nil || got.Branch != "b1" {
		t.Errorf("the task is gone: %+v, %v", got, err)
	}
	card, comments, err := s.Card("p", 1)
	if err != nil || card.Title != "Cart" || len(comments) != 1 || comments[0].Text != "hello" {
		t.Errorf("%+v, %v, %v", card, comments, err)
	}
	if events, err := s.CardHistory("p", 1); err != nil || len(events) != 1 {
		t.Errorf("%v, %v", events, err)
	}
	if _, changed, err := s.ChangeCard("p", 1, board.Change{Key: "k", Column: "Done"}, start); changed || err != nil {
		t.Errorf("a key was forgotten: %v", err)
	}
	if is, err := s.ProjectTracker("p", time.Now).ReadIssue(t.Context(), "1"); err != nil || is.Card.Title != "Cart" {
		t.Errorf("%+v, %v", is, err)
	}
	if list, err := s.Trackers(); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	noError(t, s.SetTracker(tracker.Config{Name: "linear"}))
	if _, err := s.KeepIssue("linear", anIssue("1", 0)); err != nil {
		t.Error(err)
	}
	var version int
	if err := s.read.QueryRow("PRAGMA user_version").Scan(&version); err != nil || version != len(schemaMigrations()) {
		t.Errorf("version %d (%v)", version, err)
	}
	if err := s.CheckIntegrity(context.Background()); err != nil {
		t.Error(err)
	}
}
