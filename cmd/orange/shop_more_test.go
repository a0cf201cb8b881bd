package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/board"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// passed and failed are how work is said to have gone, by an agent that uses its mark.
const (
	passed = "<!-- WORK_RESULT:passed nonce={nonce} -->"
	failed = "<!-- WORK_RESULT:failed nonce={nonce} -->"
)

// everywhere runs a test with and without a terminal, on tasks of one workflow.
func everywhere(t *testing.T, workflow string, f func(t *testing.T, s *env)) {
	t.Parallel()
	for _, sessions := range []string{"tmux", "headless"} {
		t.Run(sessions, func(t *testing.T) {
			t.Parallel()
			f(t, openEnv(t, sessions, "--workflow", workflow))
		})
	}
}

// addCard puts a card on the board and returns the task that works on it.
func (s *env) addCard(title, script string, more ...string) task.ID {
	s.t.Helper()
	file := s.write("scripts/"+title+".yaml", script)
	var out struct {
		Task    task.ID `json:"task"`
		Warning string  `json:"warning"`
	}
	args := append([]string{"board", "add", "--json", "--project", "shop", title, "--harness", "script:" + file}, more...)
	check(s.t, json.Unmarshal([]byte(s.orange(args...)), &out))
	if out.Task == "" || out.Warning != "" {
		s.t.Fatalf("%+v", out)
	}
	return out.Task
}

// card is the card with its comments as people see them.
func (s *env) card(number string) (board.Card, []board.Comment) {
	s.t.Helper()
	var out struct {
		Card     board.Card      `json:"card"`
		Comments []board.Comment `json:"comments"`
	}
	check(s.t, json.Unmarshal([]byte(s.orange("board", "show", number, "--project", "shop", "--json")), &out))
	return out.Card, out.Comments
}

// texts are what was said about a card.
func texts(comments []board.Comment) []string {
	var out []string
	for _, c := range comments {
		out = append(out, c.Author+": "+c.Text)
	}
	return out
}

// wanted is what a task wants of a person; its kind is empty if it wants nothing.
func (s *env) wanted(id task.ID) explain.Item {
	s.t.Helper()
	var out struct {
		Inbox []explain.Item `json:"items"`
	}
	check(s.t, json.Unmarshal([]byte(s.orange("inbox", "--json")), &out))
	at := slices.IndexFunc(out.Inbox, func(it explain.Item) bool { return it.Task == id })
	if at < 0 {
		return explain.Item{}
	}
	return out.Inbox[at]
}

// follows runs the command that an inbox item names.
func (s *env) follows(it explain.Item) {
	s.t.Helper()
	words := strings.Fields(it.Do)
	if len(words) < 2 || words[0] != "orange" {
		s.t.Fatalf("the inbox names no command: %+v", it)
	}
	s.orange(words[1:]...)
}

// prompt returns the prompt of an attempt.
func (s *env) prompt(id task.ID, attempt int) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(string(s.folder(id, attempt)), "prompt.md"))
	check(s.t, err)
	return string(text)
}

// rests waits until nobody works on a task, nothing is to be done, and it is in a state.
func (s *env) rests(id task.ID, status string) task.Task {
	s.t.Helper()
	return s.await(id, "it rests in "+status, func(t task.Task) bool {
		return t.Status == status && len(t.Pending) == 0 && len(t.Attempts) == 0
	})
}

// way is the states a task went through, and back through, in order.
func (s *env) way(id task.ID) []string {
	s.t.Helper()
	var out []string
	for _, e := range s.journal(id) {
		if e.To != "" {
			out = append(out, e.To)
		}
	}
	return out
}

func (s *env) wayIs(id task.ID, want ...string) {
	s.t.Helper()
	if got := s.way(id); !slices.Equal(got, want) {
		s.t.Errorf("it went %q, want %q\n%s", got, want, s.orange("task", "history", string(id)))
	}
}

// entries are those of one type in a task's journal.
func (s *env) entries(id task.ID, typ journal.Type) []journal.Entry {
	s.t.Helper()
	return slices.DeleteFunc(s.journal(id), func(e journal.Entry) bool { return e.Type != typ })
}

// sound makes sure that what is written down about a task holds.
func (s *env) sound(ids ...task.ID) {
	s.t.Helper()
	for _, id := range ids {
		if out := s.orange("task", "replay", string(id)); !strings.Contains(out, "same") {
			s.t.Errorf("it is not decided the same again: %s", out)
		}
		if n := count(s.history(id), "agent.crashed"); n != 0 {
			s.t.Errorf("%d crashes: %q", n, s.history(id))
		}
	}
	if out := s.orange("doctor"); strings.Contains(out, "FAIL") {
		s.t.Error(out)
	}
}

// hasAll makes sure that a text has all of the words, wherever its lines break.
func hasAll(t *testing.T, what, text string, words ...string) {
	t.Helper()
	flat := strings.Join(strings.Fields(text), " ")
	for _, w := range words {
		if !strings.Contains(flat, w) {
			t.Errorf("%s: %q is not in\n%s", what, w, text)
		}
	}
}

func want[T any](t *testing.T, got, want T) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
