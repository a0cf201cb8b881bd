package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/overview"
)

// without is a change by which a task goes away, and others move up.
func without(r *env, id task.ID) changeMsg {
	return changeMsg{overview.Change{Row: r.m.state.Row + 1, At: noon, Projects: r.m.state.Projects, Gone: []task.ID{id}}}
}

func TestADialogOfTheInboxStaysWithItsTask(t *testing.T) {
	t.Run("a confirmation", func(t *testing.T) {
		r := newEnv(t, 80, 24)
		r.press("i", "home", "x")
		r.shows("Cancel site/mail?")
		r.tell(without(r, "id0login"))
		r.shows("Cancel site/mail?")
		r.press("y")
		r.heard("request id0mail cancel human")
	})
	t.Run("an answer", func(t *testing.T) {
		r := newEnv(t, 80, 24)
		r.press("i", "home", "j", "j", "enter")
		r.shows("Your answer to colours")
		r.write("blue")
		r.tell(without(r, "id0login"))
		r.press("enter")
		r.heard("request id0colours answer blue human")
	})
}

func TestTheInboxActsOnWhatItMarks(t *testing.T) {
	r := newEnv(t, 80, 24)
	r.press("i", "home", "j", "v")
	rows := slices.Clone(r.m.state.Tasks[5:7]) // those above it
	for i := range rows {
		rows[i].Wants = ""
		rows[i].Seq++
	}
	r.tell(changeMsg{overview.Change{Row: 101, At: noon, Projects: r.m.state.Projects, Tasks: rows}})
	r.press("esc")
	r.shows("▸ crashed")
	if marked := r.m.inbox.listedItems(r.m)[r.m.inbox.at].Task; marked != "id0index" || r.m.selectedRow().ID != marked {
		t.Errorf("marked is %s, keys act on %s", marked, r.m.selectedRow().ID)
	}
}

func TestOnlyItsOwnKeysResumeEverything(t *testing.T) {
	for key, want := range map[string][]string{
		"enter": {"resume all"}, "w": {"resume all"}, "P": {"resume all"},
		"y": nil, "x": nil, "d": nil, "v": nil, "m": nil, "r": nil, "e": nil, "a": nil, "p": nil, "u": nil,
	} {
		r := newEnv(t, 80, 24)
		r.tell(changeMsg{overview.Change{Row: 101, At: noon, Paused: true, Projects: r.m.state.Projects}})
		r.press("i", "home")
		for range r.m.inbox.listedItems(r.m) {
			if r.m.selectedRow() == nil {
				break
			}
			r.press("j")
		}
		if r.m.selectedRow() != nil {
			t.Fatal("what is paused is not in the inbox")
		}
		r.api.take()
		r.press(key)
		r.heard(want...)
	}
}

// After a merge that failed Enter does what helps: it sends the work back with words that are
// written already, or asks for the merge again.
func TestTheInboxHelpsAfterAMergeThatFailed(t *testing.T) {
	for verb, want := range map[string]string{
		engine.RequestChanges: "request id0login request-changes Run git rebase main. human",
		engine.VerbMerge:      "request id0login merge human",
	} {
		r := newEnv(t, 80, 24)
		login := r.m.state.Tasks[slices.IndexFunc(r.m.state.Tasks, func(row overview.Row) bool { return row.ID == "id0login" })]
		login.Wants, login.Text, login.Verb, login.Note = explain.ItemAttention, "merge failed", verb, "Run git rebase main."
		login.Seq++
		r.tell(changeMsg{overview.Change{Row: 101, At: noon, Projects: r.m.state.Projects, Tasks: []overview.Row{login}}})
		r.press("i")
		for range 10 {
			if r.m.selectedRow() != nil && r.m.selectedRow().ID == "id0login" {
				break
			}
			r.press("j")
		}
		r.press("enter")
		if verb == engine.RequestChanges {
			r.shows("What is to change in login?", "Run git rebase main.")
			r.press("enter")
		}
		r.heard(want)
	}
}

// longBacklog is a change to a state of nine things that wait for a person, and 300 that were not started.
func longBacklog(r *env) changeMsg {
	kinds := []explain.ItemKind{explain.ItemReview, explain.ItemStuck, explain.ItemQuestion}
	c := overview.Change{Row: r.m.state.Row + 1, At: noon, Projects: r.m.state.Projects}
	for i := range r.m.state.Tasks {
		c.Gone = append(c.Gone, r.m.state.Tasks[i].ID)
	}
	for i := range 309 {
		row := overview.Row{ID: task.ID(fmt.Sprintf("id0%03d", i)), Project: "shop", Branch: fmt.Sprintf("b%03d", i), Status: "pending", Kind: workflow.Queued, Wants: explain.ItemStart, Text: "it was created and not started", Asked: noon.Add(-time.Hour)}
		if i < 9 {
			row.Status, row.Kind, row.Wants, row.Text = "stuck", workflow.Halt, kinds[i%3], "it waits"
		}
		c.Tasks = append(c.Tasks, row)
	}
	return changeMsg{c}
}

func TestTheBacklogDoesNotWait(t *testing.T) {
	r := newEnv(t, 100, 30)
	r.tell(longBacklog(r))
	r.shows("9 for you")
	if title := r.m.windowTitle(); title != "orange (9)" {
		t.Errorf("the window is called %q", title)
	}
	r.press("i")
	r.shows("9 for you")
	r.shows("300 in the backlog: b shows them")
	if n := len(r.m.inbox.listedItems(r.m)); n != 9 {
		t.Errorf("%d items are listed", n)
	}
	r.press("b")
	if n := len(r.m.inbox.listedItems(r.m)); n != 309 {
		t.Errorf("with the backlog %d items are listed", n)
	}
	r.press("b", "g")
	r.shows("question 3")
	r.shows("stuck 3")
	r.press("f")
	r.shows("only question")
	r.press("f", "f", "f")
	r.shows("only start")
	if n := len(r.m.inbox.listedItems(r.m)); n != 300 {
		t.Errorf("%d items of kind start", n)
	}
	r.press("f")
	if n := len(r.m.inbox.listedItems(r.m)); n != 9 {
		t.Errorf("after the last kind %d items are listed", n)
	}
}

func TestTheBacklogRingsNoBell(t *testing.T) {
	r := newEnv(t, 80, 24)
	r.m.Bell = true
	r.m.ringBell()
	r.m.state.Tasks = append(r.m.state.Tasks, overview.Row{ID: "id0new", Wants: explain.ItemStart})
	if r.m.ringBell() != nil {
		t.Error("a task of the backlog rings the bell")
	}
	r.m.state.Tasks = append(r.m.state.Tasks, overview.Row{ID: "id0more", Wants: explain.ItemStuck})
	if r.m.ringBell() == nil {
		t.Error("a task that waits rings no bell")
	}
}

func TestTheInboxSaysWhyATaskWaits(t *testing.T) {
	r := newEnv(t, 80, 24)
	row := r.m.state.Tasks[0]
	row.Seq++
	row.Wants, row.Text = explain.ItemStuck, "the work needs help: The database is gone: - no host"
	row.Reasons = []explain.WaitReason{{Kind: explain.BecauseOfNote, By: "worker", Text: "The database is gone:\n\n- no host\n- no password"}}
	r.tell(changeMsg{overview.Change{Row: r.m.state.Row + 1, At: noon, Projects: r.m.state.Projects, Tasks: []overview.Row{row}}})
	r.press("i", "f", "f", "f", "f")
	for _, want := range []string{"only stuck", "Note (worker)", "• no host"} {
		r.shows(want)
	}
}

// An agent that asked in prose is answered from the inbox: its question is there, and in the
// dialog, with the end of it in sight.
func TestAnIdleAgentIsAnswered(t *testing.T) {
	r := newEnv(t, 80, 24)
	row := r.m.state.Tasks[1]
	row.Seq++
	row.Wants, row.Verb, row.Answers, row.Text = explain.ItemIdle, engine.VerbAnswer, true, "the worker asks something, and waits for an answer"
	row.Asked = noon.Add(-100 * time.Hour)
	long := strings.Repeat("I read a file.\n\n", 40)
	row.Reasons = []explain.WaitReason{{Kind: explain.BecauseOfMessage, By: "worker", Text: long + "- Shall it be **blue**?\n- Or green?"}}
	r.tell(changeMsg{overview.Change{Row: r.m.state.Row + 1, At: noon, Projects: r.m.state.Projects, Tasks: []overview.Row{row}}})
	r.shows("you: idle")
	r.press("i", "home")
	r.shows("▸ idle", "Last message (worker)", "• Shall it be blue?", "• Or green?", "Enter answer")
	r.press("enter")
	r.shows("Your answer to search", "• Shall it be blue?", "• Or green?")
	r.write("green")
	r.shows("green")
	r.press("enter")
	r.heard("request id0search answer green human")
	r.press("i")
	r.on("search")
	r.press("e")
	r.shows("Your answer to search", "• Or green?")
}
