package trackertest

import (
	"fmt"
	"slices"
	"sync"

	"orange/internal/core/board"
	"orange/internal/runtime/trackers"
)

func meanwhileStories() []story {
	return []story{
		{"a column that was renamed is refused by its old name", renamedOld},
		{"a column that was renamed is known by its new name", renamedNew},
		{"the column that a card is in is renamed", renamedUnder},
		{"a tag that was deleted is refused, and does not come back", deletedTag},
		{"what a person does between our look and our change is kept", changedBetween},
		{"a person and Orange at once lose nothing", atOnce},
		{"many comments of one client at once are all said once", manyAtOnce},
	}
}

// renameBehindClient renames a column without the client's knowledge, and returns an issue.
func (s *env) renameBehindClient(from, to string) string {
	s.Helper()
	s.requireSupport(Renames)
	key := s.addPlainIssue()
	if _, err := s.client.ReadVocabulary(s.newContext()); err != nil {
		s.Fatal(err)
	}
	s.RenameColumn(s.T, from, to)
	s.port.words = 0
	return key
}

func renamedOld(s *env) {
	key := s.renameBehindClient("Started", "In Work")
	_, err := s.client.Apply(s.newContext(), key, board.Change{Key: "r/1", Column: "Started", Comment: "Off we go."})
	s.isRefusal(err, "In Work")
	if s.knowsWords() && s.port.words != 1 {
		s.Errorf("the words were read %d times, want once", s.port.words)
	}
	// If a column keeps its identity, the card may be in it.
	if got := s.ReadIssue(s.T, key).Card.Column; got != "Backlog" && got != "In Work" {
		s.Errorf("the card is in %q", got)
	}
	s.applyChange(key, board.Change{Key: "r/2", Column: "In Work", Comment: "Now we go."})
	s.requireColumnAndTags(key, "In Work", "Planned")
	s.requirePostedOnce(key, "Now we go.")
}

func renamedNew(s *env) {
	key := s.renameBehindClient("Started", "In Work")
	s.requireReadAsReal(s.applyChange(key, board.Change{Key: "r/3", Column: "in work", AddTags: []string{"Ready"}, Comment: "Off we go."}))
	s.requireColumnAndTags(key, "In Work", "Planned", "Ready")
	s.requirePostedOnce(key, "Off we go.")
	if s.knowsWords() && s.port.words != 1 {
		s.Errorf("the words were read %d times, want once", s.port.words)
	}
}

func renamedUnder(s *env) {
	key := s.renameBehindClient("Backlog", "Ideas")
	got, err := s.client.ReadIssue(s.newContext(), key)
	if err != nil || got.Card.Column != "Ideas" {
		s.Errorf("the card is in %q, %v", got.Card.Column, err)
	}
	s.requireReadAsReal(s.applyChange(key, board.Change{Key: "r/4", AddTags: []string{"Ready"}}))
	s.requireColumnAndTags(key, "Ideas", "Planned", "Ready")
	s.applyChange(key, board.Change{Key: "r/5", Column: "Started"})
	s.applyChange(key, board.Change{Key: "r/6", Column: "Ideas"})
	s.requireColumnAndTags(key, "Ideas", "Planned", "Ready")
}

func deletedTag(s *env) {
	s.requireSupport(Renames)
	key, other := s.addPlainIssue(), s.addPlainIssue()
	s.applyChange(other, board.Change{Key: "d/0", RemoveTags: []string{"Planned"}}) // the client has read the vocabulary
	s.DeleteTag(s.T, "Planned")
	s.requireColumnAndTags(key, "Backlog")
	s.requireRefused(other, board.Change{Key: "d/1", AddTags: []string{"Planned"}}, "Planned")
	s.requireRefused(other, board.Change{Key: "d/2", AddTags: []string{"Ready", "Planned"}, Column: "Started", Comment: "Hi."}, "Planned")
	if v, err := s.client.ReadVocabulary(s.newContext()); err != nil || slices.Contains(v.Tags, "Planned") {
		s.Errorf("the tag is back: %q, %v", v.Tags, err)
	}
	s.applyChange(key, board.Change{Key: "d/3", AddTags: []string{"Ready"}, Column: "Started"})
	s.requireColumnAndTags(key, "Started", "Ready")
}

// changedBetween lets a person act after Orange has read the issue and before it writes.
func changedBetween(s *env) {
	for i, tc := range []struct {
		name   string
		person func(key string)
		change board.Change
		column string
		tags   []string
	}{
		{"a tag is put on", func(key string) { s.TagIssue(s.T, key, []string{"bug"}, nil) },
			board.Change{AddTags: []string{"Ready"}, RemoveTags: []string{"Planned"}}, "Backlog", []string{"Ready", "bug"}},
		{"a tag is taken off", func(key string) { s.TagIssue(s.T, key, nil, []string{"Planned"}) },
			board.Change{AddTags: []string{"Ready"}}, "Backlog", []string{"Ready"}},
		{"the same tags", func(key string) { s.TagIssue(s.T, key, []string{"Ready"}, []string{"Planned"}) },
			board.Change{AddTags: []string{"Ready"}, RemoveTags: []string{"Planned"}}, "Backlog", []string{"Ready"}},
		{"the card is moved while tags change", func(key string) { s.MoveIssue(s.T, key, "Canceled") },
			board.Change{AddTags: []string{"Ready"}}, "Canceled", []string{"Planned", "Ready"}},
		{"the card is moved while the description changes", func(key string) { s.MoveIssue(s.T, key, "Finished") },
			board.Change{Description: textPointer("Something else.")}, "Finished", []string{"Planned"}},
		{"the card is moved to the same place", func(key string) { s.MoveIssue(s.T, key, "Started") },
			board.Change{Column: "Started"}, "Started", []string{"Planned"}},
		{"a tag is put on while the card is moved", func(key string) { s.TagIssue(s.T, key, []string{"bug"}, nil) },
			board.Change{Column: "Accepted"}, "Accepted", []string{"Planned", "bug"}},
		{"something is said", func(key string) { s.CommentIssue(s.T, key, "bob", "Wait.") },
			board.Change{Comment: "Done.", Column: "Started"}, "Started", []string{"Planned"}},
	} {
		key := s.addPlainIssue()
		acted := false
		s.port.before = func(int, board.Change) {
			if !acted {
				acted = true
				tc.person(key)
			}
		}
		tc.change.Key = fmt.Sprint("between/", i)
		if _, err := s.client.Apply(s.newContext(), key, tc.change); err != nil {
			s.Errorf("%s: %v", tc.name, err)
		}
		s.Log(tc.name)
		s.requireColumnAndTags(key, tc.column, tc.tags...)
		if tc.change.Comment != "" {
			s.requirePostedOnce(key, "Wait.", "Done.")
		}
	}
	s.port.before = nil
	describedMeanwhile(s)
}

// describedMeanwhile checks that a change of something else does not undo a description.
func describedMeanwhile(s *env) {
	key := s.addPlainIssue()
	s.port.before = func(int, board.Change) { s.DescribeIssue(s.T, key, "A person knows better.") }
	s.applyChange(key, board.Change{Key: "described/1", AddTags: []string{"Ready"}, Column: "Started"})
	if got := s.ReadIssue(s.T, key).Card.Description; got != "A person knows better." {
		s.Errorf("the description is %q", got)
	}
	s.requireColumnAndTags(key, "Started", "Planned", "Ready")
}

func atOnce(s *env) {
	s.requireSupport(Apart)
	const rounds = 5
	key := s.addPlainIssue()
	other, _ := s.newClient()
	var wait sync.WaitGroup
	wait.Go(func() {
		for i := range rounds {
			s.CommentIssue(s.T, key, "bob", fmt.Sprintf("person %d.", i))
			s.TagIssue(s.T, key, []string{"bug"}, nil)
		}
	})
	for tag, client := range map[string]*trackers.Client{"Ready": s.client, "Claimed-Dev-1": other} {
		wait.Go(func() {
			for i := range rounds {
				c := board.Change{Key: fmt.Sprint("once/", tag, i), Comment: fmt.Sprintf("client %s %d.", tag, i), AddTags: []string{tag}}
				if _, err := client.Apply(s.newContext(), key, c); err != nil {
					s.Errorf("%+v: %v", c, err)
				}
			}
		})
	}
	wait.Wait()
	s.requireColumnAndTags(key, "Backlog", "Planned", "Ready", "Claimed-Dev-1", "bug")
	for i := range rounds {
		s.requirePostedOnce(key, fmt.Sprintf("person %d.", i), fmt.Sprintf("client Ready %d.", i), fmt.Sprintf("client Claimed-Dev-1 %d.", i))
	}
}

func manyAtOnce(s *env) {
	keys := []string{s.addPlainIssue(), s.addPlainIssue(), s.addPlainIssue()}
	var wait sync.WaitGroup
	for i := range 4 {
		for _, key := range keys {
			wait.Go(func() {
				if _, err := s.client.Apply(s.newContext(), key, board.Change{Key: fmt.Sprint("many/", i), Comment: fmt.Sprintf("number %d.", i)}); err != nil {
					s.Error(err)
				}
			})
		}
	}
	wait.Wait()
	for _, key := range keys {
		s.requirePostedOnce(key, "number 0.", "number 1.", "number 2.", "number 3.")
	}
}
