package sqlite

import (
	"context"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/task"
)

func TestProjects(t *testing.T) {
	s := open(t)
	b := task.Project{Name: "b", Path: "/b", DefaultBranch: "main", PoolSize: 2}
	a := task.Project{Name: "a", Path: "/a", DefaultBranch: "trunk", PoolSize: 1, Workflow: "orange"}
	for _, p := range []task.Project{b, {Name: "a"}, a} {
		if err := s.SaveProject(p); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Projects()
	if diff := cmp.Diff([]task.Project{a, b}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if err := s.DeleteProject("b"); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Projects(); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestWorkflowsAreKeptOnce(t *testing.T) {
	s := open(t)
	for _, text := range []string{"one", "never"} {
		if err := s.SaveWorkflow("h1", "orange", "orange.yaml", text); err != nil {
			t.Fatal(err)
		}
	}
	name, file, text, ok, err := s.Workflow("h1")
	if name != "orange" || file != "orange.yaml" || text != "one" || !ok || err != nil {
		t.Errorf("%q %q %q %v %v", name, file, text, ok, err)
	}
	if _, _, _, ok, err := s.Workflow("h2"); ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
	n := 0
	err = s.EachWorkflow(context.Background(), func(hash, name, file, text string) error { n++; return nil })
	if n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

func TestSettings(t *testing.T) {
	s := open(t)
	if got, err := s.Setting("paused"); got != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, value := range []string{"1", "2"} {
		if err := s.SetSetting("paused", value); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Setting("paused"); got != "2" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestWhatAPersonLaidDownIsKept(t *testing.T) {
	s := open(t)
	p := task.Project{Name: "p", Path: "/p", DefaultBranch: "main", PoolSize: 2, Policy: task.Policy{
		Delivery: task.DeliverPR, Setup: "make deps", Teardown: "make stop", Budget: task.Budget{TaskAttempts: 3, DayMicros: 5_000_000},
	}}
	if err := s.SaveProject(p); err != nil {
		t.Fatal(err)
	}
	got, err := s.Projects()
	if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], p) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestADaysCostIsAddedUpByProject(t *testing.T) {
	s := open(t)
	for i, spent := range []task.Spend{
		{Day: "2026-01-02", DayAttempts: 2, DayCostMicroUSD: 30}, {Day: "2026-01-02", DayAttempts: 1, DayCostMicroUSD: 12}, {Day: "2026-01-01", DayAttempts: 9, DayCostMicroUSD: 9}, {},
	} {
		record := created(t, i)
		record.Task.Project, record.Task.Spent = "p", spent
		commit(t, s, record)
	}
	attempts, micros, err := s.SpentOn("p", "2026-01-02")
	if attempts != 3 || micros != 42 || err != nil {
		t.Errorf("%d attempts, %d, %v", attempts, micros, err)
	}
	if attempts, micros, err := s.SpentOn("q", "2026-01-02"); attempts != 0 || micros != 0 || err != nil {
		t.Errorf("another project: %d, %d, %v", attempts, micros, err)
	}
}
