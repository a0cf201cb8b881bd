package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/overview"
)

func TestADialogOfTheInboxStaysWithItsTask(t *testing.T) {
	t.Run("a confirmation", func(t *testing.T) {
		r := newEnv(t, 80, 24)
		r.press("i", "home", "x")
		r.shows("Cancel site/mail?")
		r.remove("id0login")
		r.shows("Cancel site/mail?")
		r.press("y")
		r.heard("request id0mail cancel human")
	})
	t.Run("an answer", func(t *testing.T) {
		r := newEnv(t, 80, 24)
		r.press("i", "home", "j", "j", "enter")
		r.shows("Your answer to colours")
		r.write("blue")
		r.remove("id0login")
		r.press("enter")
		r.heard("request id0colours answer blue human")
	})
}

func TestTheInboxActsOnWhatItMarks(t *testing.T) {
	r := newEnv(t, 80, 24)
	r.press("i", "home", "j", "v")
	r.change("id0mail", func(t *task.Task) { t.Status, t.Asked = "cancelled", nil }) // the one above it
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
		r.pauseAll()
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
	for conflict, want := range map[*task.Conflict]string{
		{Onto: "main", Files: []string{"a.txt"}}: "request id0login request-changes The branch conflicts with main. Run git rebase main, resolve the conflicts in a.txt, and test again. human",
		nil:                                      "request id0login merge human",
	} {
		r := newEnv(t, 80, 24)
		r.change("id0login", func(t *task.Task) {
			t.Attention, t.GaveUp = "merge failed", &task.GaveUp{Do: workflow.MergeBranch, Conflict: conflict}
		})
		r.press("i")
		for range 10 {
			if r.m.selectedRow() != nil && r.m.selectedRow().ID == "id0login" {
				break
			}
			r.press("j")
		}
		r.press("enter")
		if conflict != nil {
			r.shows("What is to change in login?", "Run git rebase main,")
			r.press("enter")
		} else {
			r.shows("Merge shop/login?")
			r.press("y")
		}
		r.heard(want)
	}
}

// fillBacklog replaces the tasks by nine that wait for a person, and 300 that were not started.
func fillBacklog(r *env) {
	r.t.Helper()
	states := []string{"reviewing", "stuck", "clarification"}
	r.api.store.Tasks = nil
	for i := range 309 {
		t := task.Task{ID: task.ID(fmt.Sprintf("id0%03d", i)), Project: "shop", Branch: fmt.Sprintf("b%03d", i), Status: "pending", UpdatedAt: ago(time.Hour), CurrentVisit: task.CurrentVisit{Visit: 1, Since: ago(time.Hour)}}
		if i < 9 {
			t.Status = states[i%3]
		}
		r.api.add(t, overview.Facts{})
	}
	r.read()
}

func TestTheBacklogDoesNotWait(t *testing.T) {
	r := newEnv(t, 100, 30)
	fillBacklog(r)
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
	r := newEnv(t, 80, 24, func(o *DashboardOptions) { o.Bell = true })
	r.api.add(task.Task{ID: "id0new", Project: "shop", Branch: "new", Status: "pending"}, overview.Facts{})
	r.follow()
	if len(r.said) != 0 {
		t.Errorf("a task of the backlog rings the bell: %v", r.said)
	}
	r.api.add(task.Task{ID: "id0more", Project: "shop", Branch: "more", Status: "stuck"}, overview.Facts{})
	r.follow()
	if len(r.said) != 1 {
		t.Errorf("a task that waits rings the bell %d times, want once", len(r.said))
	}
}

func TestTheInboxSaysWhyATaskWaits(t *testing.T) {
	r := newEnv(t, 80, 24)
	r.api.setFacts("id0login", overview.Facts{Reasons: []explain.WaitReason{{Kind: explain.BecauseOfNote, By: "worker", Text: "The database is gone:\n\n- no host\n- no password"}}})
	r.change("id0login", func(t *task.Task) { t.Status, t.StateReason = "stuck", "The database is gone: - no host" })
	r.press("i", "f", "f", "f", "f")
	for _, want := range []string{"only stuck", "Note (worker)", "• no host"} {
		r.shows(want)
	}
}

// An agent that asked in prose is answered from the inbox: its question is there, and in the
// dialog, with the end of it in sight.
func TestAnIdleAgentIsAnswered(t *testing.T) {
	r := newEnv(t, 80, 24)
	long := strings.Repeat("I read a file.\n\n", 40)
	r.api.setFacts("id0search", overview.Facts{Reasons: []explain.WaitReason{{Kind: explain.BecauseOfMessage, By: "worker", Text: long + "- Shall it be **blue**?\n- Or green?"}}})
	r.change("id0search", func(t *task.Task) {
		t.Since, t.Agents = ago(101*time.Hour), agentIn(3, task.Condition{Name: task.Idle, Left: task.LeftQuestion, Since: ago(100 * time.Hour)})
	})
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
