package web

import (
	"net/http"
	"strings"

	"orange/internal/ui/client"
	"orange/internal/view/overview"
)

// maxFound limits how many tasks the palette lists.
const maxFound = 12

// A foundTask is a task in the palette.
type foundTask struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Where string `json:"where"`
	State string `json:"state"`
}

// serveFind answers the palette of the script: tasks whose row has all words of the query, those that wait for a person
// first.
func (s *Site) serveFind(w http.ResponseWriter, r *http.Request) {
	state, err := s.o.API.ReadState(r.Context(), client.StateQuery{})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	words := emptyIfLonger(strings.TrimSpace(r.URL.Query().Get("q")), maxSearch)
	rows := overview.ChooseRows(state.Tasks, overview.Choice{Scope: overview.All, Search: words, Sort: overview.ByWaiting})[0].Rows
	out := []foundTask{}
	for i := range rows[:min(len(rows), maxFound)] {
		row := &rows[i]
		out = append(out, foundTask{ID: string(row.ID), Title: titleText(row), Where: row.Project + "/" + row.Branch, State: row.Status})
	}
	s.writeJSON(w, http.StatusOK, out)
}
