package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// populate makes tasks in every situation that a query asks about.
func populate(t *testing.T, s *Store) {
	t.Helper()
	queued := next(t, created(t, 2).Task, journal.Entry{Type: journal.TaskQueued})
	bound := next(t, created(t, 3).Task, journal.Entry{Type: journal.StatusChanged, Move: journal.Move{To: "working"}, RecordChanges: journal.RecordChanges{BindWorkspace: "p--1"},
		EffectChanges: journal.EffectChanges{Effects: []task.Effect{{ID: "e", Do: "spawn_agent"}}}})
	over := next(t, created(t, 4).Task, journal.Entry{Type: journal.StatusChanged, Move: journal.Move{To: "done"}})
	over.Over = true
	gone := next(t, created(t, 5).Task, journal.Entry{Type: journal.StatusChanged, Move: journal.Move{To: "done"}})
	deleted := next(t, gone.Task, journal.Entry{Type: journal.TaskDeleted})
	deleted.Over = true
	early := next(t, created(t, 6).Task, journal.Entry{Type: journal.TaskQueued})
	other := created(t, 7)
	other.Task.Project = "q"
	// Task 6 is made before task 2.
	commit(t, s, created(t, 6), early, created(t, 1), created(t, 2), queued, created(t, 3), bound,
		created(t, 4), over, created(t, 5), gone, deleted, other)
}

func TestChildren(t *testing.T) {
	s := open(t)
	child := func(n int, parent task.ID) journal.Commit {
		c := created(t, n)
		c.Entries[0].New.Parent = parent
		return next(t, task.Task{}, c.Entries[0])
	}
	over := next(t, child(3, id(1)).Task, journal.Entry{Type: journal.StatusChanged, Move: journal.Move{To: "done"}})
	over.Over = true
	gone := next(t, child(4, id(1)).Task, journal.Entry{Type: journal.TaskDeleted})
	commit(t, s, created(t, 1), child(2, id(1)), child(3, id(1)), over, child(4, id(1)), gone, child(5, id(2)))
	want := []task.Reference{{ID: id(2), Branch: "b2", Status: "pending"}, {ID: id(3), Branch: "b3", Status: "done"}}
	got, err := s.Children(id(1))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	states, err := s.ChildTasks(id(1))
	if diff := cmp.Diff([]signal.Child{{ID: id(2), Status: "pending"}, {ID: id(3), Status: "done"}}, states); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if got, err := s.Children(id(5)); len(got) > 0 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestEachTask(t *testing.T) {
	s := open(t)
	populate(t, s)
	for name, tc := range map[string]struct {
		filter task.Filter
		want   []task.ID
	}{
		"those that are not over":       {task.Filter{}, []task.ID{id(6), id(1), id(2), id(3), id(7)}},
		"and those over since then":     {task.Filter{OverSince: start.Add(2 * time.Second)}, []task.ID{id(6), id(1), id(2), id(3), id(4), id(7)}},
		"and those over since later":    {task.Filter{OverSince: start.Add(3 * time.Second)}, []task.ID{id(6), id(1), id(2), id(3), id(7)}},
		"of a project, over since then": {task.Filter{OverSince: start.Add(2 * time.Second), Project: "q"}, []task.ID{id(7)}},
		"all":                           {task.Filter{All: true}, []task.ID{id(6), id(1), id(2), id(3), id(4), id(7)}},
		"of a project":                  {task.Filter{Project: "q"}, []task.ID{id(7)}},
		"in a status":                   {task.Filter{Status: "working"}, []task.ID{id(3)}},
		"in a status that is an end":    {task.Filter{Status: "done"}, []task.ID{id(4)}},
		"of a project that has nothing": {task.Filter{Project: "none", All: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []task.ID
			err := s.EachTask(tc.filter, func(fold []byte) error {
				var t task.Task
				if err := json.Unmarshal(fold, &t); err != nil {
					return err
				}
				got = append(got, t.ID)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	enough := errors.New("enough")
	if err := s.EachTask(task.Filter{}, func([]byte) error { return enough }); !errors.Is(err, enough) || err.Error() != "enough" {
		t.Errorf("the callee's error came back as %v", err)
	}
}

func TestNamedTasks(t *testing.T) {
	s := open(t)
	populate(t, s)
	for name, tc := range map[string]struct {
		name string
		want []task.ID
	}{
		"a whole id":                   {string(id(1)), []task.ID{id(1)}},
		"a shared prefix":              {string(id(1))[:20], []task.ID{id(1), id(2), id(3), id(4), id(6), id(7)}},
		"a deleted task":               {string(id(5)), []task.ID{id(5)}},
		"a branch":                     {"b2", []task.ID{id(2)}},
		"a branch in another case":     {"B2", []task.ID{id(2)}},
		"a branch of a task that over": {"b4", []task.ID{id(4)}},
		"a branch of a deleted task":   {"b5", nil},
		"a project and a branch":       {"q/b7", []task.ID{id(7)}},
		"another project's branch":     {"q/b1", nil},
		"nothing begins like that":     {"1", nil},
		"no prefix":                    {"", nil},
		"a pattern is not a prefix":    {"0%", nil},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := s.NamedTasks(tc.name)
			var got []task.ID
			for _, n := range task.ChooseNamed(tc.name, "", list) {
				got = append(got, n.ID)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

// The store may list less than everything, but not less than what is chosen from everything.
func TestNamedTasksListWhatWouldBeChosenFromAll(t *testing.T) {
	s := open(t)
	populate(t, s)
	all, err := s.queryNamed("deleted = 0 ORDER BY n")
	if err != nil || len(all) != 6 {
		t.Fatalf("%d tasks, %v", len(all), err)
	}
	for _, n := range all {
		for _, name := range []string{string(n.ID), string(n.ID[:5]), strings.ToLower(string(n.ID)), n.Branch, strings.ToUpper(n.Branch), n.Project + "/" + n.Branch, n.Summary, task.Slug(n.Summary), "x" + n.Branch} {
			for _, project := range []string{"", "p", "q"} {
				list, err := s.NamedTasks(name)
				if err != nil {
					t.Fatal(err)
				}
				sorted := cmpopts.SortSlices(func(a, b task.Named) bool { return a.ID < b.ID })
				if diff := cmp.Diff(task.ChooseNamed(name, project, all), task.ChooseNamed(name, project, list), sorted, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%q in %q (-all +listed)\n%s", name, project, diff)
				}
			}
		}
	}
}

func TestLookups(t *testing.T) {
	s := open(t)
	populate(t, s)
	for name, tc := range map[string]struct {
		find func() (task.ID, bool, error)
		want task.ID
	}{
		"an open task by branch":    {func() (task.ID, bool, error) { return s.TaskByBranch("p", "b1") }, id(1)},
		"a branch that is over":     {func() (task.ID, bool, error) { return s.TaskByBranch("p", "b4") }, ""},
		"another project's branch":  {func() (task.ID, bool, error) { return s.TaskByBranch("q", "b1") }, ""},
		"a bound workspace":         {func() (task.ID, bool, error) { return s.TaskByWorkspace("p--1") }, id(3)},
		"a free workspace":          {func() (task.ID, bool, error) { return s.TaskByWorkspace("p--2") }, ""},
		"no workspace":              {func() (task.ID, bool, error) { return s.TaskByWorkspace("") }, ""},
		"a task that never existed": {func() (task.ID, bool, error) { got, ok, err := s.Task(id(99)); return got.ID, ok, err }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok, err := tc.find()
			if err != nil || got != tc.want || ok != (tc.want != "") {
				t.Errorf("got %q, %v, %v, want %q", got, ok, err, tc.want)
			}
		})
	}
}

func TestTheTasksThatDependOnOthers(t *testing.T) {
	s := open(t)
	populate(t, s)
	after, part, over := created(t, 11), created(t, 12), created(t, 13)
	after.Task.After, after.Over = []task.ID{id(1)}, true
	part.Task.Parent = id(1)
	over.Task.Parent, over.Over = id(1), true
	commit(t, s, after, part, over)
	tasks, err := s.DependentTasks()
	if err != nil || len(tasks) != 2 || tasks[0].ID != id(11) || tasks[1].ID != id(12) || tasks[0].After[0] != id(1) {
		t.Errorf("%+v, %v", tasks, err)
	}
}

func TestWhatAStartMustLookAt(t *testing.T) {
	s := open(t)
	populate(t, s)
	tasks, err := s.UnsettledTasks()
	if err != nil {
		t.Fatal(err)
	}
	var got []task.ID
	for _, t := range tasks {
		got = append(got, t.ID)
	}
	if diff := cmp.Diff([]task.ID{id(6), id(2), id(3)}, got); diff != "" {
		t.Errorf("unsettled (-want +got)\n%s", diff)
	}
	queued, err := s.QueuedTasks("p")
	if diff := cmp.Diff([]task.ID{id(6), id(2)}, queued); diff != "" || err != nil {
		t.Errorf("queued: %v (-want +got)\n%s", err, diff)
	}
	bound, err := s.BoundWorkspaces()
	if diff := cmp.Diff(map[string]task.ID{"p--1": id(3)}, bound); diff != "" || err != nil {
		t.Errorf("bound: %v (-want +got)\n%s", err, diff)
	}
	if n, err := s.OpenTasks("p"); n != 4 || err != nil {
		t.Errorf("%d open tasks, %v", n, err)
	}
}

func TestTaskIsReadBackAsItWas(t *testing.T) {
	s := open(t)
	c := created(t, 1)
	c.Task.Summary = "Grüße \u2028 'quoted' \"x\" <&> \\ 😀"
	c.Task.Asked = &task.Asked{To: "done", By: "worker", At: start}
	c.Entries[0].Fields = []signal.Field{{Name: "summary", To: c.Task.Summary}}
	commit(t, s, c)
	got, _, err := s.Task(id(1))
	if diff := cmp.Diff(c.Task, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestLookupsFollowEveryCommit(t *testing.T) {
	s := open(t)
	c := created(t, 1)
	commit(t, s, c)
	for _, step := range []struct {
		entry                   journal.Entry
		over                    bool
		branch, workspace, none string
	}{
		{pauseEntry(), false, "b1", "", "p--1"},
		{journal.Entry{Type: journal.StatusChanged, Move: journal.Move{To: "working"}, RecordChanges: journal.RecordChanges{BindWorkspace: "p--1"}}, false, "b1", "p--1", "p--2"},
		{journal.Entry{Type: journal.TaskUpdated, RecordChanges: journal.RecordChanges{Fields: []signal.Field{{Name: "branch", To: "new"}}}}, false, "new", "p--1", "p--2"},
		{journal.Entry{Type: journal.TaskResumed}, false, "new", "p--1", "p--2"},
		{journal.Entry{Type: journal.StatusChanged, Move: journal.Move{To: "done"}}, true, "", "p--1", "p--2"},
		{journal.Entry{Type: journal.EffectDone, RecordChanges: journal.RecordChanges{UnbindWorkspace: true}}, true, "", "", "p--1"},
		{journal.Entry{Type: journal.StatusChanged, Move: journal.Move{To: "pending"}}, false, "new", "", "p--1"},
	} {
		bad := next(t, c.Task, journal.Entry{Type: journal.StatusChanged, Move: journal.Move{To: "x"}, RecordChanges: journal.RecordChanges{BindWorkspace: "p--9"}})
		if _, err := s.Commit(context.Background(), []journal.Commit{bad, created(t, 1)}); err == nil {
			t.Fatal("a batch that creates a task twice was taken")
		}
		c = next(t, c.Task, step.entry)
		c.Over = step.over
		commit(t, s, c)
		if _, ok, err := s.TaskByBranch("p", step.branch); ok != (step.branch != "") || err != nil {
			t.Errorf("%s: by branch %q: %v, %v", step.entry.Type, step.branch, ok, err)
		}
		if _, ok, err := s.TaskByWorkspace(step.workspace); ok != (step.workspace != "") || err != nil {
			t.Errorf("%s: by workspace %q: %v, %v", step.entry.Type, step.workspace, ok, err)
		}
		if _, ok, err := s.TaskByWorkspace(step.none); ok || err != nil {
			t.Errorf("%s: by workspace %q: %v, %v", step.entry.Type, step.none, ok, err)
		}
	}
	if err := s.CheckIntegrity(context.Background()); err != nil {
		t.Error(err)
	}
}
