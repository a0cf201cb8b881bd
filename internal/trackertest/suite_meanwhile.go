package trackertest

import (
	"fmt"
	"slices"
	"sync"

	"orange/internal/core/board"
	"orange/internal/runtime/track"
)

func meanwhileStories() []story {
	return []story{
		{"a column that was renamed is refused by its old name", renamedOld},
		{"a column that was renamed is known by its new name", renamedNew},
		{"the column that a card is in is renamed", renamedUnder},
		{"a tag that was deleted is refused, and does not come back", deletedTag},
		{"what a person does between our look and our change is kept", between},
		{"a person and Orange at once lose nothing", atOnce},
		{"many comments of one client at once are all said once", manyAtOnce},
	}
}

// renamed is a stage whose client knows only the old name.
func (s *stage) renamed(from, to string) string {
	s.Helper()
	s.needs(Renames)
	key := s.plain()
	if _, err := s.desk.Words(s.ctx()); err != nil {
		s.Fatal(err)
	}
	s.RenameColumn(s.T, from, to)
	s.port.words = 0
	return key
}

func renamedOld(s *stage) {
	key := s.renamed("Started", "In Work")
	_, err := s.desk.Apply(s.ctx(), key, board.Change{Key: "r/1", Column: "Started", Comment: "Off we go."})
	s.isRefusal(err, "In Work")
	if s.port.words != 1 {
		s.Errorf("the words were read %d times, want once", s.port.words)
	}
	// Where a column keeps its identity the card may have come to it.
	if got := s.Real(s.T, key).Card.Column; got != "Backlog" && got != "In Work" {
		s.Errorf("the card is in %q", got)
	}
	s.apply(key, board.Change{Key: "r/2", Column: "In Work", Comment: "Now we go."})
	s.has(key, "In Work", "Planned")
	s.saidOnce(key, "Now we go.")
}

func renamedNew(s *stage) {
	key := s.renamed("Started", "In Work")
	s.agrees(s.apply(key, board.Change{Key: "r/3", Column: "in work", AddTags: []string{"Ready"}, Comment: "Off we go."}))
	s.has(key, "In Work", "Planned", "Ready")
	s.saidOnce(key, "Off we go.")
	if s.port.words != 1 {
		s.Errorf("the words were read %d times, want once", s.port.words)
	}
}

func renamedUnder(s *stage) {
	key := s.renamed("Backlog", "Ideas")
	got, err := s.desk.Issue(s.ctx(), key)
	if err != nil || got.Card.Column != "Ideas" {
		s.Errorf("the card is in %q, %v", got.Card.Column, err)
	}
	s.agrees(s.apply(key, board.Change{Key: "r/4", AddTags: []string{"Ready"}}))
	s.has(key, "Ideas", "Planned", "Ready")
	s.apply(key, board.Change{Key: "r/5", Column: "Started"})
	s.apply(key, board.Change{Key: "r/6", Column: "Ideas"})
	s.has(key, "Ideas", "Planned", "Ready")
}

func deletedTag(s *stage) {
	s.needs(Renames)
	key, other := s.plain(), s.plain()
	s.apply(other, board.Change{Key: "d/0", RemoveTags: []string{"Planned"}}) // its words are known now
	s.DeleteTag(s.T, "Planned")
	s.has(key, "Backlog")
	s.refused(other, board.Change{Key: "d/1", AddTags: []string{"Planned"}}, "Planned")
	s.refused(other, board.Change{Key: "d/2", AddTags: []string{"Ready", "Planned"}, Column: "Started", Comment: "Hi."}, "Planned")
	if v, err := s.desk.Words(s.ctx()); err != nil || slices.Contains(v.Tags, "Planned") {
		s.Errorf("the tag is back: %q, %v", v.Tags, err)
	}
	s.apply(key, board.Change{Key: "d/3", AddTags: []string{"Ready"}, Column: "Started"})
	s.has(key, "Started", "Ready")
}

// between has a person act after Orange has read the issue and before it writes.
func between(s *stage) {
	for i, tc := range []struct {
		name   string
		person func(key string)
		change board.Change
		column string
		tags   []string
	}{
		{"a tag is put on", func(key string) { s.Tag(s.T, key, []string{"bug"}, nil) },
			board.Change{AddTags: []string{"Ready"}, RemoveTags: []string{"Planned"}}, "Backlog", []string{"Ready", "bug"}},
		{"a tag is taken off", func(key string) { s.Tag(s.T, key, nil, []string{"Planned"}) },
			board.Change{AddTags: []string{"Ready"}}, "Backlog", []string{"Ready"}},
		{"the same tags", func(key string) { s.Tag(s.T, key, []string{"Ready"}, []string{"Planned"}) },
			board.Change{AddTags: []string{"Ready"}, RemoveTags: []string{"Planned"}}, "Backlog", []string{"Ready"}},
		{"the card is moved while tags change", func(key string) { s.Move(s.T, key, "Canceled") },
			board.Change{AddTags: []string{"Ready"}}, "Canceled", []string{"Planned", "Ready"}},
		{"the card is moved while the description changes", func(key string) { s.Move(s.T, key, "Finished") },
			board.Change{Description: text("Something else.")}, "Finished", []string{"Planned"}},
		{"the card is moved to the same place", func(key string) { s.Move(s.T, key, "Started") },
			board.Change{Column: "Started"}, "Started", []string{"Planned"}},
		{"a tag is put on while the card is moved", func(key string) { s.Tag(s.T, key, []string{"bug"}, nil) },
			board.Change{Column: "Accepted"}, "Accepted", []string{"Planned", "bug"}},
		{"something is said", func(key string) { s.Comment(s.T, key, "bob", "Wait.") },
			board.Change{Comment: "Done.", Column: "Started"}, "Started", []string{"Planned"}},
	} {
		key := s.plain()
		acted := false
		s.port.before = func(int, board.Change) {
			if !acted {
				acted = true
				tc.person(key)
			}
		}
		tc.change.Key = fmt.Sprint("between/", i)
		if _, err := s.desk.Apply(s.ctx(), key, tc.change); err != nil {
			s.Errorf("%s: %v", tc.name, err)
		}
		s.Log(tc.name)
		s.has(key, tc.column, tc.tags...)
		if tc.change.Comment != "" {
			s.saidOnce(key, "Wait.", "Done.")
		}
	}
	s.port.before = nil
	described(s)
}

// described: who changes something else does not undo a description.
func described(s *stage) {
	key := s.plain()
	s.port.before = func(int, board.Change) { s.Describe(s.T, key, "A person knows better.") }
	s.apply(key, board.Change{Key: "described/1", AddTags: []string{"Ready"}, Column: "Started"})
	if got := s.Real(s.T, key).Card.Description; got != "A person knows better." {
		s.Errorf("the description is %q", got)
	}
	s.has(key, "Started", "Planned", "Ready")
}

func atOnce(s *stage) {
	s.needs(Apart)
	const rounds = 5
	key := s.plain()
	other, _ := s.client()
	var wait sync.WaitGroup
	wait.Go(func() {
		for i := range rounds {
			s.Comment(s.T, key, "bob", fmt.Sprintf("person %d.", i))
			s.Tag(s.T, key, []string{"bug"}, nil)
		}
	})
	for tag, desk := range map[string]*track.Client{"Ready": s.desk, "Claimed-Dev-1": other} {
		wait.Go(func() {
			for i := range rounds {
				c := board.Change{Key: fmt.Sprint("once/", tag, i), Comment: fmt.Sprintf("client %s %d.", tag, i), AddTags: []string{tag}}
				if _, err := desk.Apply(s.ctx(), key, c); err != nil {
					s.Errorf("%+v: %v", c, err)
				}
			}
		})
	}
	wait.Wait()
	s.has(key, "Backlog", "Planned", "Ready", "Claimed-Dev-1", "bug")
	for i := range rounds {
		s.saidOnce(key, fmt.Sprintf("person %d.", i), fmt.Sprintf("client Ready %d.", i), fmt.Sprintf("client Claimed-Dev-1 %d.", i))
	}
}

func manyAtOnce(s *stage) {
	keys := []string{s.plain(), s.plain(), s.plain()}
	var wait sync.WaitGroup
	for i := range 4 {
		for _, key := range keys {
			wait.Go(func() {
				if _, err := s.desk.Apply(s.ctx(), key, board.Change{Key: fmt.Sprint("many/", i), Comment: fmt.Sprintf("number %d.", i)}); err != nil {
					s.Error(err)
				}
			})
		}
	}
	wait.Wait()
	for _, key := range keys {
		s.saidOnce(key, "number 0.", "number 1.", "number 2.", "number 3.")
	}
}
