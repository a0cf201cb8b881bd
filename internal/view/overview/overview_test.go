package overview

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orange/internal/core/explain"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/view/ansi"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func definition(t testing.TB, name string) *workflow.Definition {
	t.Helper()
	text, _ := builtin.Text(name)
	def, err := workflow.Parse(builtin.File(name), text)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func TestLife(t *testing.T) {
	worker, ending := task.Attempt{Number: 1, Role: "worker"}, task.Attempt{Number: 1, Role: "worker", Ending: true}
	tests := map[string]struct {
		task task.Task
		want Life
	}{
		"nobody was started":             {task.Task{}, None},
		"an agent is at work":            {task.Task{Agents: task.Agents{Attempts: []task.Attempt{worker}}}, Alive},
		"it is being ended":              {task.Task{Agents: task.Agents{Attempts: []task.Attempt{ending}}}, None},
		"it died":                        {task.Task{CurrentVisit: task.CurrentVisit{Crashed: "worker"}}, Dead},
		"it died and is to be replaced":  {task.Task{CurrentVisit: task.CurrentVisit{Crashed: "worker"}, Agents: task.Agents{RespawnAt: noon}}, Dead},
		"another one lives":              {task.Task{CurrentVisit: task.CurrentVisit{Crashed: "reviewer"}, Agents: task.Agents{Attempts: []task.Attempt{worker}}}, Dead},
		"it was replaced":                {task.Task{CurrentVisit: task.CurrentVisit{Crashed: "worker"}, Agents: task.Agents{Attempts: []task.Attempt{worker}}}, Alive},
		"one is to be started later":     {task.Task{Agents: task.Agents{RespawnAt: noon}}, None},
		"the old one ends, one is at it": {task.Task{Agents: task.Agents{Attempts: []task.Attempt{ending, {Number: 2, Role: "reviewer"}}}}, Alive},
	}
	def := definition(t, "orange")
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.task.Status = "working"
			if got := NewRow(def, &tt.task, Facts{}, noon).Life; got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestOf(t *testing.T) {
	tk := task.Task{
		ID: "000000000000000000001", Project: "p", Branch: "b", Summary: "do it", Status: "working", Setup: task.Setup{Workflow: "orange", WorkflowHash: "h", Harness: "h"},
		Resources: task.Resources{Workspace: "p--1", TrackerRef: "board:p/1", PRURL: "https://forge.example/o/r/pull/12", PRState: "OPEN"}, CreatedAt: noon, UpdatedAt: noon.Add(time.Minute),
		CurrentVisit: task.CurrentVisit{Since: noon, Visit: 1}, Seq: 9, Counters: []task.Counter{{Name: "crash_count", Value: 1}}, Agents: task.Agents{Spent: task.Spend{Usage: task.Usage{CostMicroUSD: 5}},
			Attempts: []task.Attempt{{Number: 3, Role: "worker", State: "working", Since: noon, Running: true, Condition: task.Condition{Name: task.WaitingInput, Detail: "a\nb\x1b[31m?", Since: noon}}}},
	}
	got := NewRow(definition(t, "orange"), &tk, Facts{Work: &Work{Commits: 2}, Checks: "passed", Active: map[int]time.Time{3: noon.Add(time.Hour)}}, noon)
	want := Row{
		ID: tk.ID, Project: "p", Branch: "b", Summary: "do it", Status: "working", Kind: workflow.Agent, Workflow: "orange", WorkflowHash: "h", Harness: "h",
		Workspace: "p--1", Tracker: "board:p/1", Life: Alive, Owner: explain.APerson, Why: "attempt 3 of the worker waits for input: a b?",
		Attempts: []Attempt{{Number: 3, Role: "worker", State: "working", Since: noon, Active: noon.Add(time.Hour), Condition: task.WaitingInput, Detail: "a b?"}},
		Wants:    explain.ItemInput, Text: "the worker waits for input: a b?", Action: explain.Action{Verb: explain.VerbAttach, Task: "000000000000000000001"}, Do: "orange task attach 000000000000000000001", Verb: explain.VerbAttach, Asked: noon,
		PR: &PR{Number: 12, URL: "https://forge.example/o/r/pull/12", State: "OPEN", Checks: "passed"}, Work: &Work{Commits: 2}, Spent: task.Usage{CostMicroUSD: 5},
		Moves:    []explain.Move{{To: "agent-review", As: "complete"}, {To: "clarification", As: "clarify"}, {To: "stuck", As: "stuck"}, {To: "cancelled", As: "cancel"}},
		Deadline: got.Deadline, Created: noon, Since: noon, Active: noon.Add(time.Hour), Seq: 9, Crashes: 1,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestATaskWithAnUnreadableWorkflowNeedsAPerson(t *testing.T) {
	got := NewRow(nil, &task.Task{ID: "t", Status: "working", CurrentVisit: task.CurrentVisit{Since: noon}}, Facts{}, noon)
	if got.Wants != explain.ItemAttention || got.Owner != explain.APerson || got.Do == "" || !got.Asked.Equal(noon) {
		t.Errorf("got %+v", got)
	}
}

func TestChildrenDecideWhichMovesThereAre(t *testing.T) {
	def, tk := definition(t, "linear-sdlc"), task.Task{Status: "Backlog"}
	for n, want := range map[int]string{0: "Started", 2: "Coordinating"} {
		got := NewRow(def, &tk, Facts{Children: make([]signal.Child, n)}, noon).Moves
		if len(got) == 0 || got[0].To != want {
			t.Errorf("with %d children: %+v, want %s", n, got, want)
		}
	}
}

func TestTextsAreBounded(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"short":                     {"a b", "a b"},
		"as long as it may be":      {strings.Repeat("x", maxSummary), strings.Repeat("x", maxSummary)},
		"longer":                    {strings.Repeat("x", maxSummary+1), strings.Repeat("x", maxSummary) + "..."},
		"5 MB":                      {strings.Repeat("x ", 5<<19), strings.TrimSpace(strings.Repeat("x ", maxSummary/2)) + "..."},
		"cut within a character":    {strings.Repeat("日", maxSummary), strings.Repeat("日", maxSummary/3) + "..."},
		"nothing but escapes":       {strings.Repeat("\x1b[31m", maxSummary) + "x", "..."},
		"lines and escapes":         {"a\r\nb\tc\x1b[2J\x1b]0;t\x07\u202ed\x00", "a b cd"},
		"no text":                   {"a\xff", "a\ufffd"},
		"with a choice of looks":    {"❤\ufe0f 👍🏽", "❤ 👍"},
		"4 times as long, in marks": {strings.Repeat("é", 4*maxSummary), strings.Repeat("é", maxSummary/2) + "..."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := NewRow(definition(t, "orange"), &task.Task{Summary: tt.in, Status: "working"}, Facts{}, noon).Summary
			if got != tt.want {
				t.Errorf("got %.80q, want %.80q", got, tt.want)
			}
		})
	}
}

// isCountedAlike makes sure that a status line and a dashboard count a task alike.
func isCountedAlike(t interface {
	Helper()
	Errorf(format string, args ...any)
}, def *workflow.Definition, tk *task.Task, absent []int) {
	t.Helper()
	row, counted := NewRow(def, tk, Facts{Absent: absent}, noon), NewCountedRow(tk, FindRowStatus(def, tk), absent)
	if SumRows([]Row{row}) != SumRows([]Row{counted}) || row.Life != counted.Life || row.Status != counted.Status || row.Wants != counted.Wants || row.Kind != counted.Kind {
		t.Errorf("the row is\n%+v\nand counted as\n%+v", row, counted)
	}
}

// Whatever somebody wrote into a record, a row of it can be shown.
func TestEveryTextOfARowIsSafe(t *testing.T) {
	def := definition(t, "orange")
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", " ", "\n", "\x1b[31m", "\x1b]0;", "\u202e", "日", "\xff", "\t", strings.Repeat("long ", 999)}), 0, 8).Draw(t, "parts"), "")
	})
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string) string { return text.Draw(rt, name) }
		tk := task.Task{
			Project: draw("project"), Branch: draw("branch"), Summary: draw("summary"), Setup: task.Setup{Workflow: draw("workflow"), Harness: draw("harness")}, Resources: task.Resources{Workspace: draw("workspace"),
				TrackerRef: draw("tracker"), PRURL: draw("pr"), PRState: draw("state")}, Waiting: task.Waiting{PauseReason: draw("hold"), Paused: rapid.Bool().Draw(rt, "paused"), WorkFailed: draw("held")},
			Status: rapid.SampledFrom([]string{"working", "reviewing", "done", draw("status")}).Draw(rt, "status"),
			Agents: task.Agents{Attempts: []task.Attempt{{Role: draw("role"), State: draw("where"), Condition: task.Condition{Name: draw("mood"), Detail: draw("detail")}}}},
		}
		if rapid.Bool().Draw(rt, "attention") {
			tk.Attention = draw("attention")
		}
		r := NewRow(def, &tk, Facts{Checks: draw("checks")}, noon)
		isCountedAlike(rt, def, &tk, nil)
		list := []string{r.Project, r.Branch, r.Summary, r.Status, r.Workflow, r.Harness, r.Workspace, r.Tracker, r.Why, r.Text, r.Do, r.Owner}
		if r.PR != nil {
			list = append(list, r.PR.URL, r.PR.State, r.PR.Checks)
		}
		for _, a := range r.Attempts {
			list = append(list, a.Role, a.State, a.Condition, a.Detail)
		}
		for _, s := range list {
			if ansi.OneLine(s) != s || len(s) > maxText+3 || !utf8.ValidString(s) {
				rt.Fatalf("%.100q (%d bytes)", s, len(s))
			}
		}
	})
}

func TestARowSaysWhatItIsAfterAndWhatItUnblocks(t *testing.T) {
	def := definition(t, "orange")
	first := NewRow(def, &task.Task{ID: "one", Branch: "login", Status: "working"}, Facts{}, noon)
	before := []task.Predecessor{{ID: "one", Branch: "log\x1b[31min", State: task.PredecessorOpen}}
	second := NewRow(def, &task.Task{ID: "two", Branch: "cart", Status: "pending", Waiting: task.Waiting{Queued: true, Predecessors: before}}, Facts{}, noon)
	if second.After[0].Branch != "login" || before[0].Branch == "login" {
		t.Errorf("%+v, %+v", second.After, before)
	}
	over := NewRow(def, &task.Task{ID: "three", Branch: "old", Status: "done", Waiting: task.Waiting{Predecessors: before}}, Facts{}, noon)
	got := SuccessorsOf([]Row{first, second, over}, "one")
	if want := []task.Reference{{ID: "two", Branch: "cart", Status: "pending"}}; !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if n := CountSuccessors([]Row{first, second, over}); len(n) != 1 || n["one"] != 1 {
		t.Errorf("%v", n)
	}
}

func TestARowSaysItsPlaceInTheLandingQueue(t *testing.T) {
	def := definition(t, "solo")
	lands := func(id task.ID, base string, since time.Duration, begun bool) Row {
		one := task.Task{ID: id, Project: "shop", Status: "reviewing", Setup: task.Setup{BaseBranch: base}, Pending: []task.Effect{{Do: workflow.MergeBranch, Since: noon.Add(since)}}}
		if begun {
			one.Landing = &task.Landing{Since: noon}
		}
		return NewRow(def, &one, Facts{}, noon)
	}
	other := NewRow(def, &task.Task{ID: "no", Project: "shop", Status: "reviewing"}, Facts{}, noon)
	rows := []Row{lands("late", "", time.Minute, false), lands("early", "", 0, false), lands("begun", "", time.Hour, true), lands("release", "2.1", 0, false), other}
	want := []task.QueuePlace{{Position: 3, Of: 3}, {Position: 2, Of: 3}, {Position: 1, Of: 3}, {Position: 1, Of: 1}, {}}
	for i := range rows {
		if got := PlaceOf(rows, &rows[i]); got != want[i] {
			t.Errorf("%s: %+v, want %+v", rows[i].ID, got, want[i])
		}
	}
	if got := rows[0].Landing.Text; got != "its work waits in the landing queue" {
		t.Error(got)
	}
	for _, held := range []bool{true, false} {
		s := State{Tasks: rows, Projects: []Project{{Name: "shop", HoldLanding: held}}}
		at := slices.IndexFunc(s.InboxItems(), func(it explain.Item) bool {
			return it.Kind == explain.ItemHeld && it.Text == "the work of 3 tasks waits to land, and the landing queues of shop are held" && it.Do == "orange land resume shop"
		})
		if at >= 0 != held {
			t.Errorf("held %v: %+v", held, s.InboxItems())
		}
		waiting, _ := explain.CountInbox(s.InboxItems())
		if got := s.CountWaiting(""); got != waiting || waiting == 0 && held {
			t.Errorf("held %v: %d things wait, and the inbox has %d", held, got, waiting)
		}
	}
}

func TestChecks(t *testing.T) {
	of := func(states ...string) (out []tracker.Check) {
		for _, s := range states {
			out = append(out, tracker.Check{State: s})
		}
		return out
	}
	tests := map[string]struct {
		in   []tracker.Check
		want string
	}{
		"none":                  {nil, ""},
		"all passed":            {of(tracker.CheckPassed, tracker.CheckPassed), tracker.CheckPassed},
		"one is under way":      {of(tracker.CheckPassed, tracker.CheckPending, tracker.CheckPassed), tracker.CheckPending},
		"one failed":            {of(tracker.CheckPending, tracker.CheckFailed, tracker.CheckPassed), tracker.CheckFailed},
		"the first failed":      {of(tracker.CheckFailed, tracker.CheckPending), tracker.CheckFailed},
		"the last is under way": {of(tracker.CheckPassed, tracker.CheckPending), tracker.CheckPending},
	}
	for name, tt := range tests {
		if got := SumChecks(tt.in); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestARowSaysWhyItWaitsAndKeepsItsLines(t *testing.T) {
	def := definition(t, "orange")
	k := task.Task{ID: "1", Status: "stuck", CurrentVisit: task.CurrentVisit{Visit: 2}}
	reasons := []explain.WaitReason{{Kind: explain.BecauseOfNote, By: "worker", Text: "- one\x1b[31m\n- two"}}
	r := NewRow(def, &k, Facts{Reasons: reasons}, time.Time{})
	if r.Text != "the work needs help: - one - two" {
		t.Errorf("text: %q", r.Text)
	}
	if len(r.Reasons) != 1 || r.Reasons[0].Text != "- one\n- two" || r.Reasons[0].By != "worker" {
		t.Errorf("reasons: %+v", r.Reasons)
	}
	state := State{Tasks: []Row{r}}
	if items := state.InboxItems(); len(items) != 1 || items[0].Reasons[0] != r.Reasons[0] {
		t.Errorf("items: %+v", items)
	}
}

func TestAnAgentWithoutAProcessDoesNotCount(t *testing.T) {
	def := definition(t, "orange")
	tk := task.Task{ID: "a", Status: "working", CurrentVisit: task.CurrentVisit{Since: noon}, Agents: task.Agents{Attempts: []task.Attempt{
		{Number: 1, Role: "worker", Running: true, Condition: task.Condition{Name: task.Idle}}, {Number: 2, Role: "fixer"},
	}}}
	for name, tt := range map[string]struct {
		absent []int
		life   Life
		sum    Summary
		idle   bool
	}{
		"nobody knows":       {nil, Alive, Summary{Tasks: 1, Agents: 2, Idle: 1}, false},
		"one is started":     {[]int{2}, Alive, Summary{Tasks: 1, Agents: 1, Idle: 1}, true},
		"one has died":       {[]int{1}, Alive, Summary{Tasks: 1, Agents: 1}, false},
		"none has a process": {[]int{1, 2}, Dead, Summary{Tasks: 1}, false},
	} {
		r := NewRow(def, &tk, Facts{Absent: tt.absent}, noon)
		if got := SumRows([]Row{r}); r.Life != tt.life || got != tt.sum || r.Idle() != tt.idle {
			t.Errorf("%s: %s, %+v, idle %v", name, r.Life, got, r.Idle())
		}
		isCountedAlike(t, def, &tk, tt.absent)
		isCountedAlike(t, nil, &tk, tt.absent)
	}
}

func TestWhoNeedsAPersonAtItsTerminal(t *testing.T) {
	attempts := []Attempt{
		{Number: 1, Role: "reviewer", Condition: task.WaitingPermission},
		{Number: 2, Role: "worker", Condition: task.TurnFailed}, // in the state of another: nobody waits for it
		{Number: 3, Role: "fixer", Condition: task.WaitingPermission},
	}
	for kind, want := range map[explain.ItemKind]string{
		explain.ItemPermission: "reviewer", explain.ItemTurnFailed: "worker", explain.ItemInput: "", explain.ItemNotStarted: "", explain.ItemCrashed: "", "": "",
	} {
		if got := (&Row{Wants: kind, Attempts: attempts}).AtTerminal(); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}
