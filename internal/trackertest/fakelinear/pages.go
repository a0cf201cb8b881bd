package fakelinear

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"orange/internal/core/tracker"
)

// shown is an issue on the page of issues.
type shown struct {
	Key      string   `json:"key"`
	Title    string   `json:"title"`
	State    string   `json:"state"`
	States   []string `json:"states"` // so far, the present one last
	Tags     []string `json:"tags"`
	Comments []said   `json:"comments"`
}

type said struct {
	Author string `json:"author"`
	Text   string `json:"text"`
}

func shownIssue(is tracker.Issue) shown {
	out := shown{Key: is.Key, Title: is.Card.Title, State: is.Card.Column, Tags: is.Card.Tags, Comments: []said{}}
	for _, c := range is.Comments {
		out.Comments = append(out.Comments, said{c.Author, c.Text})
	}
	return out
}

// showIssues lists all issues: as JSON, or as lines of text with ?text=1.
func (s *FakeServer) showIssues(w http.ResponseWriter, r *http.Request) {
	list := []shown{}
	for _, is := range s.AllIssues() {
		one := shownIssue(is)
		one.States = s.visitedStates(is.Key)
		list = append(list, one)
	}
	if r.FormValue("text") == "" {
		replyJSON(w, http.StatusOK, list)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, is := range list {
		fmt.Fprintf(w, "%-8s %-10s %s [%s]\n", is.Key, is.State, is.Title, strings.Join(is.Tags, ", "))
		for _, c := range is.Comments {
			first, _, _ := strings.Cut(c.Text, "\n")
			fmt.Fprintf(w, "         %s: %s\n", c.Author, first)
		}
	}
}

// personMoves moves an issue: key, column.
func (s *FakeServer) personMoves(w http.ResponseWriter, r *http.Request) {
	replyDone(w, s.MoveIssue(r.FormValue("key"), r.FormValue("column")))
}

// personComments adds a comment: key, author, text.
func (s *FakeServer) personComments(w http.ResponseWriter, r *http.Request) {
	author := r.FormValue("author")
	if author == "" {
		replyDone(w, errors.New("say who speaks: author=NAME"))
		return
	}
	replyDone(w, s.CommentIssue(r.FormValue("key"), author, r.FormValue("text")))
}

func replyDone(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// visitedStates returns the states that an issue has had, in order.
func (s *FakeServer) visitedStates(key string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []string{}
	if i := s.st.findIssue(key); i != nil {
		for _, id := range i.Been {
			out = append(out, s.st.findColumn(id).Name)
		}
	}
	return out
}
