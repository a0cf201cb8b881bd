package tui

import (
	"slices"
	"testing"

	"orange/internal/core/engine"
	"orange/internal/core/overview"
	"orange/internal/core/task"
)

// without is a change by which a task goes away, and others move up.
func without(r *rig, id task.ID) changeMsg {
	return changeMsg{overview.Change{Row: r.m.state.Row + 1, At: noon, Projects: r.m.state.Projects, Gone: []task.ID{id}}}
}

func TestADialogOfTheInboxStaysWithItsTask(t *testing.T) {
	t.Run("a confirmation", func(t *testing.T) {
		r := newRig(t, 80, 24)
		r.press("i", "home", "j", "x")
		r.shows("Cancel site/mail?")
		r.tell(without(r, "id-login"))
		r.shows("Cancel site/mail?")
		r.press("y")
		r.heard("request id-mail cancel human")
	})
	t.Run("an answer", func(t *testing.T) {
		r := newRig(t, 80, 24)
		r.press("i", "home", "j", "j", "j", "enter")
		r.shows("Your answer to colours")
		r.write("blue")
		r.tell(without(r, "id-login"))
		r.press("enter")
		r.heard("request id-colours answer blue human")
	})
}

func TestTheInboxActsOnWhatItMarks(t *testing.T) {
	r := newRig(t, 80, 24)
	r.press("i", "home", "j", "j", "v")
	rows := slices.Clone(r.m.state.Tasks[5:7]) // those above it
	for i := range rows {
		rows[i].Wants = ""
		rows[i].Seq++
	}
	r.tell(changeMsg{overview.Change{Row: 101, At: noon, Projects: r.m.state.Projects, Tasks: rows}})
	r.press("esc")
	r.shows("▸ crashed")
	if marked := r.m.inbox.items(r.m)[r.m.inbox.at].Task; marked != "id-index" || r.m.selected().ID != marked {
		t.Errorf("marked is %s, keys act on %s", marked, r.m.selected().ID)
	}
}

func TestOnlyItsOwnKeysResumeEverything(t *testing.T) {
	for key, want := range map[string][]string{
		"enter": {"resume all"}, "w": {"resume all"}, "P": {"resume all"},
		"y": nil, "x": nil, "d": nil, "v": nil, "m": nil, "r": nil, "e": nil, "a": nil, "p": nil, "u": nil,
	} {
		r := newRig(t, 80, 24)
		r.tell(changeMsg{overview.Change{Row: 101, At: noon, Paused: true, Projects: r.m.state.Projects}})
		r.press("i", "home")
		for range r.m.inbox.items(r.m) {
			if r.m.selected() == nil {
				break
			}
			r.press("j")
		}
		if r.m.selected() != nil {
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
		engine.RequestChanges: "request id-login request-changes Run git rebase main. human",
		engine.VerbMerge:      "request id-login merge human",
	} {
		r := newRig(t, 80, 24)
		login := r.m.state.Tasks[slices.IndexFunc(r.m.state.Tasks, func(row overview.Row) bool { return row.ID == "id-login" })]
		login.Wants, login.Text, login.Verb, login.Note = engine.ItemAttention, "merge failed", verb, "Run git rebase main."
		login.Seq++
		r.tell(changeMsg{overview.Change{Row: 101, At: noon, Projects: r.m.state.Projects, Tasks: []overview.Row{login}}})
		r.press("i")
		for range 10 {
			if r.m.selected() != nil && r.m.selected().ID == "id-login" {
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
