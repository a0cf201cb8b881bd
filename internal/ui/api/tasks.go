package api

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
)

// decision is engine.Decision as clients see it.
type decision struct {
	Verdict engine.Verdict  `json:"verdict"`
	Refused string          `json:"refused,omitempty"`
	Reasons []engine.Reason `json:"reasons"`
	Entries []journal.Entry `json:"entries"`
}

// answer is engine.Answer as clients see it.
type answer struct {
	Task     task.Task `json:"task"`
	Decision decision  `json:"decision"`
	Warning  string    `json:"warning,omitempty"`
	Error    string    `json:"error,omitempty"`
}

func (s *Server) answer(w http.ResponseWriter, a engine.Answer) {
	out := answer{
		Task: a.Task, Warning: a.Warning, Error: a.Decision.Refused,
		Decision: decision{Verdict: a.Decision.Verdict, Refused: a.Decision.Refused, Reasons: nonNil(a.Decision.Reasons), Entries: nonNil(a.Decision.Entries)},
	}
	status := http.StatusOK
	if a.Decision.Verdict == engine.Refuse {
		status = http.StatusConflict
	}
	s.reply(w, status, out)
}

// listTasks streams the records as they are stored: with many tasks, decoding and
// encoding them again would be most of the work.
func (s *Server) listTasks(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	f := task.Filter{Project: q.Get("project"), Status: q.Get("status"), All: q.Get("all") == "1"}
	w.Header().Set("Content-Type", "application/json")
	out := bufio.NewWriterSize(w, 64<<10)
	out.WriteString(`{"tasks":[`)
	first := true
	err := s.Tasks.EachTask(f, func(fold []byte) error {
		if !first {
			out.WriteByte(',')
		}
		first = false
		_, err := out.Write(fold)
		return err
	})
	if err != nil {
		s.Log.Error("list the tasks", "component", "api", "error", err)
		panic(http.ErrAbortHandler) // the list is cut: the client must see that
	}
	out.WriteString("]}\n")
	out.Flush() //nolint:errcheck // the client left
}

func (s *Server) createTask(w http.ResponseWriter, r *http.Request) {
	var wish signal.Wish
	if err := read(r, &wish); err != nil {
		s.failWith(w, err)
		return
	}
	switch c := callerOf(r); {
	case c != nil:
		wish.Actor, wish.Attempt = task.Actor(c.Role), c.Attempt
	case wish.Actor == "" || s.Identity != nil && wish.Actor != task.Tracker:
		wish.Actor, wish.Attempt = task.Human, 0
	}
	a, err := s.Engine.Create(r.Context(), wish)
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.answer(w, a)
}

// submittable are the kinds of signals that come from outside. The others are the
// runtime's own.
func submittable(k signal.Kind) bool {
	switch k {
	case signal.Request, signal.Exit, signal.Outcome, signal.Tracker, signal.Update, signal.Pause, signal.Resume, signal.Delete, signal.Ready:
		return true
	}
	return false
}

func (s *Server) submit(w http.ResponseWriter, r *http.Request) {
	id, err := s.find(r)
	if err != nil {
		s.failWith(w, err)
		return
	}
	var sig signal.Signal
	if err := read(r, &sig); err != nil {
		s.failWith(w, err)
		return
	}
	if !submittable(sig.Kind) {
		s.failWith(w, task.Mistakef("a signal of kind %q cannot be submitted", sig.Kind))
		return
	}
	if sig.Actor == "" {
		sig.Actor = task.Human
	}
	if err := s.speaks(r, id, &sig); err != nil {
		s.failWith(w, err)
		return
	}
	if sig.Actor == task.Engine && sig.Kind != signal.Exit {
		s.failWith(w, task.Mistakef("nobody outside speaks for the engine: leave the actor out"))
		return
	}
	// what an agent said is read from its own words, and how a card looks from the board
	sig.Report, sig.Final, sig.Face, sig.Children, sig.Busy = nil, "", nil, nil, nil
	a, err := s.Engine.Submit(r.Context(), id, sig)
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.answer(w, a)
}

func (s *Server) showTask(w http.ResponseWriter, r *http.Request) {
	t, err := s.load(r)
	if err != nil {
		s.failWith(w, err)
		return
	}
	out := struct {
		Task    task.Task `json:"task"`
		Body    string    `json:"body"`
		Dir     string    `json:"dir"`
		Problem string    `json:"problem,omitempty"` // why the body cannot be read

		Issue *tracker.Standing `json:"issue,omitempty"` // as it was last read
	}{Task: t, Dir: s.Folders.Path(t.Project, t.ID)}
	if s.Trackers != nil {
		out.Issue = s.Trackers.Standing(&t)
	}
	if doc, err := s.Folders.Read(t.Project, t.ID); err != nil {
		out.Problem = err.Error()
	} else {
		out.Body = string(doc.Body())
	}
	s.reply(w, http.StatusOK, out)
}

func (s *Server) load(r *http.Request) (task.Task, error) {
	id, err := s.find(r)
	if err != nil {
		return task.Task{}, err
	}
	t, ok, err := s.Tasks.Task(id)
	if err == nil && !ok {
		err = task.ErrNotFound
	}
	return t, err
}

func (s *Server) entries(r *http.Request) ([]journal.Entry, error) {
	id, err := s.find(r)
	if err != nil {
		return nil, err
	}
	after := 0
	if text := r.URL.Query().Get("after"); text != "" {
		if after, err = strconv.Atoi(text); err != nil {
			return nil, task.Mistakef("after=%q is not a number", text)
		}
	}
	return s.Tasks.Journal(id, after)
}

func (s *Server) journal(w http.ResponseWriter, r *http.Request) {
	entries, err := s.entries(r)
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, map[string]any{"entries": nonNil(entries)})
}

func (s *Server) history(w http.ResponseWriter, r *http.Request) {
	entries, err := s.entries(r)
	if err != nil {
		s.failWith(w, err)
		return
	}
	events := []journal.Event{}
	for _, e := range entries {
		events = append(events, journal.History(e)...)
	}
	s.reply(w, http.StatusOK, map[string]any{"history": events})
}

func (s *Server) explain(w http.ResponseWriter, r *http.Request) {
	id, err := s.find(r)
	if err != nil {
		s.failWith(w, err)
		return
	}
	x, err := s.Engine.Explain(r.Context(), id)
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, x)
}

// A WorkflowInfo is a workflow that tasks follow, or may follow.
type WorkflowInfo struct {
	Name   string `json:"name"`
	Hash   string `json:"hash"`
	Origin string `json:"origin"` // built-in, user, the name of a project, or pinned
	File   string `json:"file"`
	Tasks  int    `json:"tasks"` // that follow this very text and are not over
}

// Library knows all workflows.
type Library interface {
	Known(ctx context.Context) ([]WorkflowInfo, error)
}

func (s *Server) listWorkflows(w http.ResponseWriter, r *http.Request) {
	list, err := s.Library.Known(r.Context())
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, map[string]any{"workflows": nonNil(list)})
}

// A PageAddress is where the web page is.
type PageAddress struct {
	URL   string `json:"url"`   // without the token
	Login string `json:"login"` // with it: opens the page
}

// Page is the web page of this server.
type Page interface {
	Open(ctx context.Context) (PageAddress, error)
}

// web opens the web page, if it is not open, and says where it is.
func (s *Server) web(w http.ResponseWriter, r *http.Request) {
	if s.Page == nil {
		s.failWith(w, task.Mistakef("this server has no web page"))
		return
	}
	page, err := s.Page.Open(r.Context())
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, page)
}

// workflow gives the text that tasks are pinned to by its hash.
func (s *Server) workflow(w http.ResponseWriter, r *http.Request) {
	hash := r.PathValue("hash")
	name, file, text, ok, err := s.Workflows.Workflow(hash)
	switch {
	case err != nil:
		s.failWith(w, err)
	case !ok:
		s.fail(w, http.StatusNotFound, fmt.Errorf("no task is pinned to a workflow %.12q: give a whole workflow_hash", hash))
	default:
		s.reply(w, http.StatusOK, map[string]string{"hash": hash, "name": name, "file": file, "text": text})
	}
}

func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
