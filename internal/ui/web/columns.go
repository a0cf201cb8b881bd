package web

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"orange/internal/core/workflow"
	"orange/internal/view/overview"
)

// column is a column of the board.
type column struct {
	Name  string // identifies it
	Title string
	Kind  string // of its state, or who must act: the colour of its dot
	Cards []card
	Count int // all cards, shown or not
	More  int // cards that are not shown
	place [2]int
}

// definitionCache holds parsed workflows by hash. The text with a given hash never changes.
type definitionCache struct {
	mu   sync.Mutex
	defs map[string]*workflow.Definition
}

// loadDefinition returns the workflow with the given hash, or nil if it cannot be read.
func (s *Site) loadDefinition(ctx context.Context, hash string) *workflow.Definition {
	s.definitions.mu.Lock()
	def, known := s.definitions.defs[hash]
	s.definitions.mu.Unlock()
	if known {
		return def
	}
	got, err := s.o.API.ReadWorkflow(ctx, hash)
	if err != nil {
		return nil
	}
	if def, err = workflow.Parse(got.File, got.Text); err != nil {
		def = nil
	}
	s.definitions.mu.Lock()
	defer s.definitions.mu.Unlock()
	if s.definitions.defs == nil || len(s.definitions.defs) > 100 {
		s.definitions.defs = map[string]*workflow.Definition{}
	}
	s.definitions.defs[hash] = def
	return def
}

// columnsOf returns the columns that rows need: their states and the states they can move to, in the
// order of their workflow. If there are several workflows, states with the same name share a column,
// and the columns are ordered by the kinds of the states.
func (s *Site) columnsOf(ctx context.Context, rows []overview.Row, past bool) []column {
	used := map[string]bool{}
	var hashes []string
	kinds := map[string]workflow.Kind{}
	for i := range rows {
		r := &rows[i]
		used[r.Status] = true
		if r.Kind != "" {
			kinds[r.Status] = r.Kind
		}
		for _, m := range r.Moves {
			used[m.To] = used[m.To] || !past
		}
		if !slices.Contains(hashes, r.WorkflowHash) {
			hashes = append(hashes, r.WorkflowHash)
		}
	}
	places := map[string]int{}
	names := map[string]bool{} // of workflows, in any version
	for _, hash := range hashes {
		def := s.loadDefinition(ctx, hash)
		if def == nil {
			continue
		}
		names[def.Name] = true
		for i := range def.States {
			st := &def.States[i]
			kinds[st.Name] = cmp.Or(kinds[st.Name], st.Kind)
			if _, known := places[st.Name]; !known {
				places[st.Name] = i
			}
		}
	}
	var out []column
	for name, shown := range used {
		if !shown {
			continue
		}
		c := column{Name: name, Title: name, Kind: string(kinds[name])}
		c.place = [2]int{overview.KindPlace(kinds[name]), places[name]}
		if len(names) <= 1 {
			c.place = [2]int{0, places[name]}
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b column) int {
		return cmp.Or(slices.Compare(a.place[:], b.place[:]), cmp.Compare(a.Name, b.Name))
	})
	return out
}
