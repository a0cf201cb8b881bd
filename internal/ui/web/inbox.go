package web

import (
	"net/http"
	"strings"

	"orange/internal/core/engine"
	"orange/internal/core/overview"
	"orange/internal/core/prose"
	"orange/internal/core/task"
	"orange/internal/ui/client"
)

func (s *Site) inboxRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /inbox", s.inbox)
}

type inboxData struct {
	page
	Items []inboxItem
}

// inboxItem is something that waits for a person, and the ways to help.
type inboxItem struct {
	ID, Title, Where, Status string
	Kind                     string // in two words
	Text                     string
	Do                       string // the command that helps
	Since, Age               string
	Frees                    int
	All                      bool // it is about everything
	Ask                      string
	First, Others            []way
}

func (s *Site) inbox(w http.ResponseWriter, r *http.Request) {
	state, err := s.o.API.State(r.Context(), client.Seen{})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	d := inboxData{page: s.pageOf(r, &state)}
	d.Topic = "all"
	rows := map[task.ID]*overview.Row{}
	for i := range state.Tasks {
		rows[state.Tasks[i].ID] = &state.Tasks[i]
	}
	for _, it := range state.Inbox() {
		item := inboxItem{
			ID: string(it.Task), Where: it.Project + "/" + it.Branch, Status: it.Status, Text: it.Text, Do: it.Do,
			Since: isoTime(it.Since), Age: prose.Age(d.Now, it.Since), Frees: it.Frees, All: it.Task == "",
		}
		item.Kind = strings.TrimPrefix(wantsText(it.Kind), "You: ")
		if row := rows[it.Task]; row != nil {
			item.Title = titleText(row)
			item.Ask, item.First, item.Others = helps(row)
		}
		d.Items = append(d.Items, item)
	}
	s.render(w, r, http.StatusOK, "inbox", d)
}

// helps are the ways to help a task: what is asked to be written, the buttons that belong
// to what is wanted, and every other move.
func helps(r *overview.Row) (ask string, first, others []way) {
	button := func(do, label, class string) { first = append(first, way{Do: do, Label: label, Class: class}) }
	switch r.Wants {
	case engine.ItemAttention:
		if strings.Contains(r.Do, " merge ") {
			button("merge:merge", "Merge with a merge commit", "go")
		}
		button("resume", "Try again", "")
	case engine.ItemConfirm:
		ask = "Why (optional)"
		button("approve", "Approve", "go")
	case engine.ItemPermission, engine.ItemInput, engine.ItemQuestion, engine.ItemStuck:
		ask = "Your answer"
		button("answer", "Answer", "go")
	case engine.ItemReview:
		ask = "What is to change"
		if strings.Contains(r.Do, " merge ") {
			button("merge", "Merge", "go")
		}
	case engine.ItemCrashed, engine.ItemNoAnswer, engine.ItemFailed:
		ask = "Words for the next one (optional)"
		button("respawn", "Start again", "go")
	case engine.ItemStart:
		button("spawn", "Start", "go")
	}
	for _, w := range waysOf(r.Moves, nil) {
		if w.Do == "request-changes" {
			w.Label = "Request changes"
			first = append(first, w)
			continue
		}
		others = append(others, w)
	}
	return ask, first, others
}
