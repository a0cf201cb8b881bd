package overview

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/ansi"
	"orange/internal/view/narrate"
)

// some are rows of every sort.
func some() []Row {
	at := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }
	return []Row{
		{ID: "1", Project: "shop", Branch: "login", Summary: "Let customers log in", Status: "working", Kind: workflow.Agent, Owner: "worker", Harness: "claude", Created: at(1), Active: at(9), Spent: task.Usage{CostMicroUSD: 5}},
		{ID: "2", Project: "shop", Branch: "Search", Summary: "find things", Status: "reviewing", Kind: workflow.HumanDo, Owner: "a person", Wants: explain.ItemReview, Asked: at(5), Created: at(2), Active: at(3), PR: &PR{Number: 12}},
		{ID: "3", Project: "blog", Branch: "feed", Status: "done", Kind: workflow.Terminal, Owner: "nobody", Created: at(3), Active: at(8), Spent: task.Usage{CostMicroUSD: 9}},
		{ID: "4", Project: "blog", Branch: "atom", Status: "done", Kind: workflow.Terminal, Wants: explain.ItemAttention, Asked: at(4), Created: at(4), Active: at(4)},
		{ID: "5", Project: "blog", Branch: "tags", Status: "pending", Kind: workflow.Queued, Queued: true, Tracker: "linear:ENG-7", Created: at(5), Active: at(5)},
		{ID: "6", Project: "zoo", Branch: "x", Status: "working", Created: at(6), Active: at(6)}, // its workflow cannot be read
	}
}

func TestChoose(t *testing.T) {
	tests := map[string]struct {
		choice Choice
		want   string
	}{
		"what is not over":            {Choice{}, "1 2 4 5 6"},
		"the same, by name":           {Choice{Scope: Active}, "1 2 4 5 6"},
		"what is over":                {Choice{Scope: Done}, "3 4"},
		"all":                         {Choice{Scope: All}, "1 2 3 4 5 6"},
		"a project":                   {Choice{Scope: All, Project: "blog"}, "3 4 5"},
		"a status":                    {Choice{Scope: All, Status: "working"}, "1 6"},
		"what waits for a person":     {Choice{Scope: All, Wanted: true}, "2 4"},
		"a word":                      {Choice{Search: "customers"}, "1"},
		"words in any order and case": {Choice{Search: "IN  shop log"}, "1"},
		"words that are in none":      {Choice{Search: "shop feed"}, ""},
		"a branch":                    {Choice{Search: "search"}, "2"},
		"an issue":                    {Choice{Search: "eng-7"}, "5"},
		"a pull request":              {Choice{Search: "#12"}, "2"},
		"an id":                       {Choice{Scope: All, Search: "3"}, "3"},
		"what is wanted":              {Choice{Search: "review"}, "2"},
		"newest first":                {Choice{Scope: All, Reverse: true}, "6 5 4 3 2 1"},
		"by activity":                 {Choice{Scope: All, Sort: ByActivity}, "1 3 6 5 4 2"},
		"by status":                   {Choice{Scope: All, Sort: ByStatus}, "5 1 2 3 4 6"},
		"by project":                  {Choice{Scope: All, Sort: ByProject}, "4 3 5 2 1 6"},
		"by cost":                     {Choice{Scope: All, Sort: ByCost}, "3 1 2 4 5 6"},
		"by waiting":                  {Choice{Scope: All, Sort: ByWaiting}, "4 2 1 3 5 6"},
		"an order that nobody knows":  {Choice{Scope: All, Sort: "?"}, "1 2 3 4 5 6"},
		"by status, in groups":        {Choice{Scope: All, Group: StatusGroup}, "pending: 5; working: 1 6; reviewing: 2; done: 3 4"},
		"by project, in groups":       {Choice{Scope: All, Group: ProjectRows, Reverse: true}, "blog: 5 4 3; shop: 2 1; zoo: 6"},
		"no row, in groups":           {Choice{Project: "none", Group: StatusGroup}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rows := some()
			if got := written(ChooseRows(rows, tt.choice)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if d := cmp.Diff(some(), rows); d != "" {
				t.Errorf("choosing changed the rows: %s", d)
			}
		})
	}
}

// written is the ids of groups, behind their names.
func written(groups []Group) string {
	out := ""
	for i, g := range groups {
		if i > 0 {
			out += "; "
		}
		if g.Name != "" {
			out += g.Name + ": "
		}
		for j, r := range g.Rows {
			if j > 0 {
				out += " "
			}
			out += string(r.ID)
		}
	}
	return out
}

func anyRows() *rapid.Generator[[]Row] {
	row := rapid.Custom(func(t *rapid.T) Row {
		at := func(name string) time.Time {
			return noon.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, name)) * time.Hour)
		}
		return Row{
			Project: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "project"), Branch: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "branch"),
			Status:  rapid.SampledFrom([]string{"", "working", "done", "new"}).Draw(t, "status"),
			Kind:    rapid.SampledFrom([]workflow.Kind{"", workflow.Agent, workflow.Terminal, workflow.Halt}).Draw(t, "kind"),
			Wants:   rapid.SampledFrom([]explain.ItemKind{"", explain.ItemReview}).Draw(t, "wants"),
			Created: at("created"), Active: at("active"), Asked: at("asked"), Spent: task.Usage{CostMicroUSD: rapid.Int64Range(0, 2).Draw(t, "micros")},
		}
	})
	return rapid.Custom(func(t *rapid.T) []Row {
		rows := rapid.SliceOfN(row, 0, 12).Draw(t, "rows")
		for i := range rows {
			rows[i].ID = task.ID(fmt.Sprintf("%02d", i))
		}
		return rows
	})
}

func TestGroupsPartTheChosenRowsAndKeepTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := anyRows().Draw(t, "rows")
		c := Choice{
			Scope: rapid.SampledFrom([]Scope{Active, Done, All}).Draw(t, "scope"), Sort: rapid.SampledFrom(AllOrders()).Draw(t, "sort"), Reverse: rapid.Bool().Draw(t, "reverse"),
			Wanted: rapid.Bool().Draw(t, "wanted"), Search: rapid.SampledFrom([]string{"", "x", "work"}).Draw(t, "search"),
		}
		flat := ChooseRows(rows, c)[0].Rows
		c.Group = rapid.SampledFrom([]Grouping{StatusGroup, ProjectRows}).Draw(t, "group")
		groups := ChooseRows(rows, c)
		place := map[task.ID]int{}
		for i := range flat {
			place[flat[i].ID] = i
		}
		names, seen := map[string]bool{}, 0
		for _, g := range groups {
			if names[g.Name] || len(g.Rows) == 0 {
				t.Fatalf("group %q is there twice, or empty", g.Name)
			}
			names[g.Name] = true
			last := -1
			for _, r := range g.Rows {
				at, known := place[r.ID]
				if !known || at <= last || c.Group == StatusGroup && r.Status != g.Name || c.Group == ProjectRows && r.Project != g.Name {
					t.Fatalf("row %s does not belong into group %q there", r.ID, g.Name)
				}
				last, seen = at, seen+1
			}
		}
		if seen != len(flat) {
			t.Fatalf("%d rows are in groups, of %d", seen, len(flat))
		}
		ordered(t, flat, c)
	})
}

// ordered checks that the order is one, and that rows that are alike stay as they came.
func ordered(t *rapid.T, rows []Row, c Choice) {
	for i := range rows {
		for j := i + 1; j < len(rows); j++ {
			n := compareRows(&rows[i], &rows[j], c.Sort)
			if c.Reverse {
				n = -n
			}
			if n > 0 || n == 0 && rows[i].ID > rows[j].ID {
				t.Fatalf("%s stands before %s", rows[i].ID, rows[j].ID)
			}
		}
	}
}

// Changes come one by one or combined; a change that comes twice changes nothing.
func TestApplyInAnyBatchesComesToTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := []task.ID{"a", "b", "c", "d"}
		var news []Row
		newest := map[task.ID]Row{}
		for i := range rapid.IntRange(0, 20).Draw(t, "entries") {
			id := rapid.SampledFrom(ids).Draw(t, "task")
			r := Row{ID: id, Seq: newest[id].Seq + 1, Summary: fmt.Sprint(i)}
			news, newest[id] = append(news, r), r
		}
		var s State
		for at := 0; at < len(news); {
			n := rapid.IntRange(1, len(news)-at).Draw(t, "batch")
			from := max(0, at-rapid.IntRange(0, 3).Draw(t, "again"))
			s.ApplyChange(Change{Row: int64(at + n), Tasks: news[from : at+n]})
			at += n
		}
		s.ApplyChange(Change{Row: 1, Paused: true, Tasks: news[:min(3, len(news))], Gone: ids}) // late, and old
		if len(news) > 1 && (s.Paused || s.Row != int64(len(news))) {
			t.Fatalf("something old was taken: %+v", s)
		}
		got := map[task.ID]Row{}
		for _, r := range s.Tasks {
			if _, twice := got[r.ID]; twice {
				t.Fatalf("%s is there twice", r.ID)
			}
			got[r.ID] = r
		}
		if len(news) > 1 {
			if d := cmp.Diff(newest, got); d != "" {
				t.Fatal(d)
			}
		}
	})
}

func TestApply(t *testing.T) {
	s := State{Row: 5, Tasks: []Row{{ID: "a", Seq: 3}, {ID: "b", Seq: 1}, {ID: "c", Seq: 7}}}
	s.ApplyChange(Change{
		Row: 9, At: noon, Paused: true, Projects: []Project{{Name: "p"}}, Gone: []task.ID{"b"},
		Tasks: []Row{{ID: "d", Seq: 1}, {ID: "a", Seq: 2, Summary: "old"}, {ID: "c", Seq: 7, Summary: "as new, and more is known"}},
	})
	want := State{
		Row: 9, At: noon, Paused: true, Projects: []Project{{Name: "p"}},
		Tasks: []Row{{ID: "a", Seq: 3}, {ID: "c", Seq: 7, Summary: "as new, and more is known"}, {ID: "d", Seq: 1}},
	}
	if d := cmp.Diff(want, s); d != "" {
		t.Error(d)
	}
}

// The inbox of a state is that of its tasks.
func TestInbox(t *testing.T) {
	def := definition(t, "orange")
	var tasks []task.Task
	for i, status := range []string{"pending", "planning", "clarification", "working", "agent-review", "reviewing", "stuck", "done", "cancelled"} {
		for j, change := range []func(*task.Task){
			func(*task.Task) {}, func(t *task.Task) { t.Attention = "push failed:\x1b[31m no" }, func(t *task.Task) { t.Queued = true }, func(t *task.Task) { t.Crashed = "worker" },
			func(t *task.Task) { t.WorkFailed = "it failed" }, func(t *task.Task) { t.Asked = &task.Asked{To: "done", By: "fixer", At: noon} }, func(t *task.Task) { t.Workspace = "p--1" },
		} {
			tk := task.Task{ID: task.ID(fmt.Sprintf("%d%d", i, j)), Project: []string{"p", "q"}[j%2], Branch: "b", Status: status, CurrentVisit: task.CurrentVisit{Since: noon.Add(-time.Duration(j) * time.Minute), Visit: 2}, UpdatedAt: noon}
			change(&tk)
			tasks = append(tasks, tk)
		}
	}
	s := State{Paused: true}
	queued := map[string]int{}
	for i := range tasks {
		s.Tasks = append(s.Tasks, NewRow(def, &tasks[i], Facts{}, noon))
		if tasks[i].Queued {
			queued[tasks[i].Project]++
		}
	}
	want := []explain.Item{explain.PausedItem()}
	narrate.AddCommand(&want[0])
	for i := range tasks {
		it, ok := explain.InboxItem(def, tasks[i])
		narrate.AddCommand(&it)
		if !ok {
			continue
		}
		if tasks[i].Workspace != "" {
			it.Frees = queued[it.Project]
		}
		it.Text = ansi.OneLine(it.Text)
		want = append(want, it)
	}
	explain.SortInbox(want)
	if waiting, _ := explain.CountInbox(want); s.CountWaiting("") != waiting {
		t.Errorf("%d things wait, and the inbox has %d", s.CountWaiting(""), waiting)
	}
	if d := cmp.Diff(want, s.InboxItems()); d != "" {
		t.Error(d)
	}
	if len(want) < 30 {
		t.Errorf("only %d items: the test is about nothing", len(want))
	}
}

func TestSum(t *testing.T) {
	rows := some()
	rows[0].Attempts = []Attempt{{Number: 1}, {Number: 2, Ending: true, Condition: task.Idle}, {Number: 3, Condition: task.Idle}}
	if d := cmp.Diff(Summary{Tasks: 4, Agents: 2, Idle: 1, Wants: 2, Queued: 1}, SumRows(rows)); d != "" {
		t.Error(d)
	}
}

func TestIdle(t *testing.T) {
	busy, idle, ending := Attempt{Condition: task.Running}, Attempt{Condition: task.Idle}, Attempt{Ending: true}
	for name, tt := range map[string]struct {
		row  Row
		want bool
	}{
		"nobody is there":          {Row{Life: None}, false},
		"its turn is over":         {Row{Life: Alive, Attempts: []Attempt{idle}}, true},
		"it is at work":            {Row{Life: Alive, Attempts: []Attempt{busy}}, false},
		"nobody knows":             {Row{Life: Alive, Attempts: []Attempt{{}}}, false},
		"another one is at work":   {Row{Life: Alive, Attempts: []Attempt{idle, busy}}, false},
		"another one is ending":    {Row{Life: Alive, Attempts: []Attempt{idle, ending}}, true},
		"another one has died":     {Row{Life: Dead, Attempts: []Attempt{idle}}, false},
		"all that is left is over": {Row{Life: None, Attempts: []Attempt{ending}}, false},
	} {
		if got := tt.row.Idle(); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// orange run --attach opens the terminal of an agent whose start is confirmed: before that, no terminal is recorded.
func TestHasStarted(t *testing.T) {
	for name, tt := range map[string]struct {
		a      task.Attempt
		absent []int
		want   bool
	}{
		"its start is not confirmed": {task.Attempt{Number: 1}, nil, false},
		"it runs":                    {task.Attempt{Number: 1, Running: true}, nil, true},
		"it was ordered to end":      {task.Attempt{Number: 1, Running: true, Ending: true}, nil, false},
		"it has died":                {task.Attempt{Number: 1, Running: true}, []int{1}, false},
	} {
		row := NewCountedRow(&task.Task{Agents: task.Agents{Attempts: []task.Attempt{tt.a}}}, RowStatus{}, tt.absent)
		if got := row.HasStarted(); got != tt.want {
			t.Errorf("%s: %t, %+v", name, got, row.Attempts)
		}
	}
}

func TestUsed(t *testing.T) {
	s := State{Tasks: []Row{{Project: "p", Workspace: "p--1"}, {Project: "p"}, {Project: "q", Workspace: "q--1"}}}
	if n := s.UsedWorkspaces("p"); n != 1 {
		t.Errorf("got %d", n)
	}
}

func TestAStateSurvivesJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := State{Row: 3, At: noon, Tasks: anyRows().Draw(t, "rows")}
		text, err := json.Marshal(before)
		if err != nil {
			t.Fatal(err)
		}
		var after State
		if err := json.Unmarshal(text, &after); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(before, after, cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}
