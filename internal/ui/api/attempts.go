package api

import (
	"context"
	"net/http"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// An Attempt is one run of one role, alive or over, as people see it.
type Attempt struct {
	Number    int            `json:"number"`
	Role      string         `json:"role"`
	State     string         `json:"state,omitempty"` // that it was started in
	Harness   string         `json:"harness"`
	Model     string         `json:"model,omitempty"` // that it was told to use
	Alive     bool           `json:"alive"`
	Since     time.Time      `json:"since,omitzero"`
	Condition task.Condition `json:"condition,omitzero"`
	Window    string         `json:"window,omitempty"`  // "" without a terminal
	Session   string         `json:"session,omitempty"` // the harness's own name of the conversation
	Log       string         `json:"log"`               // file of its output
	Code      *int           `json:"code,omitempty"`
	Final     string         `json:"final,omitempty"`
	Usage     *task.Usage    `json:"usage,omitempty"`
}

// Attempts knows the agents of this machine.
type Attempts interface {
	Attempts(t task.Task) ([]Attempt, error)
	Attach(t task.Task, role string) (argv []string, err error)
	Hook(ctx context.Context, c Caller, harness, event string, payload []byte) error
}

// A Workspace is a worktree of a project's pool.
type Workspace struct {
	Name    string  `json:"name"`
	Project string  `json:"project"`
	Path    string  `json:"path"`
	Task    task.ID `json:"task,omitempty"`
	Branch  string  `json:"branch,omitempty"`
	Exists  bool    `json:"exists"`
	Dirty   bool    `json:"dirty"`
	Problem string  `json:"problem,omitempty"`
}

// A Cleaned is a workspace that was removed, or kept and why.
type Cleaned struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// A Salvage is work that was in a workspace when it was given back.
type Salvage struct {
	Ref     string    `json:"ref"`
	Project string    `json:"project"`
	Task    task.ID   `json:"task"`
	At      time.Time `json:"at"`
	Files   int       `json:"files"`
}

// Workspaces are the worktrees of all projects.
type Workspaces interface {
	Workspaces(ctx context.Context) ([]Workspace, error)
	Init(ctx context.Context, project string, count int) ([]Workspace, error)
	GC(ctx context.Context, dry bool) (removed, kept []Cleaned, err error)
	Salvages(ctx context.Context, project string) ([]Salvage, error)
}

func (s *Server) attempts(w http.ResponseWriter, r *http.Request) {
	t, err := s.load(r)
	var list []Attempt
	if err == nil {
		list, err = s.Attempts.Attempts(t)
	}
	if err != nil {
		s.failWith(w, err)
		return
	}
	if entries, err := s.Tasks.Journal(t.ID, 0); err == nil { // without it the rest is still known
		account(list, entries)
	}
	today, err := s.today(t.Project)
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, struct {
		Attempts []Attempt `json:"attempts"`
		Today    *Today    `json:"today,omitempty"`
	}{nonNil(list), today})
}

// Today is what the attempts of a project were and cost on this day, where days have a
// budget.
type Today struct {
	Day      string      `json:"day"` // 2006-01-02, UTC
	Attempts int         `json:"attempts"`
	Micros   int64       `json:"cost_micro_usd"`
	Budget   task.Budget `json:"budget"`
}

// ledger adds up what was spent.
type ledger interface {
	SpentOn(project, day string) (attempts int, micros int64, err error)
}

// today asks what a project has spent on this day, nil if nobody bounds that.
func (s *Server) today(project string) (*Today, error) {
	book, ok := s.Tasks.(ledger)
	if !ok {
		return nil, nil
	}
	for _, p := range s.Projects.Projects() {
		if p.Name != project || !p.Budget.Daily() {
			continue
		}
		out := &Today{Day: task.DayOf(time.Now()), Budget: p.Budget}
		var err error
		out.Attempts, out.Micros, err = book.SpentOn(project, out.Day)
		return out, err
	}
	return nil, nil
}

// account says of attempts what the journal says: the state each was started in, and
// what it consumed, as it was counted in the task's record.
func account(list []Attempt, entries []journal.Entry) {
	var t task.Task
	states, spent := map[int]string{}, map[int]task.Usage{}
	for i := range entries {
		e := &entries[i]
		before := t.Spent.Usage
		if journal.Apply(&t, e) != nil {
			return
		}
		for _, a := range e.Started {
			states[a.Number] = t.Status
		}
		number := e.Attempt
		if len(e.Ended) > 0 {
			number = e.Ended[0].Number
		}
		spent[number] = spent[number].Plus(t.Spent.Less(before))
	}
	for i := range list {
		a := &list[i]
		a.State, a.Usage = states[a.Number], nil
		if u := spent[a.Number]; u != (task.Usage{}) {
			a.Usage = &u
		}
	}
}

func (s *Server) attach(w http.ResponseWriter, r *http.Request) {
	t, err := s.load(r)
	var argv []string
	if err == nil {
		argv, err = s.Attempts.Attach(t, r.URL.Query().Get("role"))
	}
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, map[string]any{"argv": argv, "session": t.Session})
}

// hook is an agent's harness reporting an event.
func (s *Server) hook(w http.ResponseWriter, r *http.Request) {
	var h struct {
		Harness string `json:"harness"`
		Event   string `json:"event"`
		Payload []byte `json:"payload"`
	}
	if err := read(r, &h); err != nil {
		s.failWith(w, err)
		return
	}
	c := callerOf(r)
	if c == nil {
		s.failWith(w, task.Mistakef("only an attempt reports events of its harness"))
		return
	}
	if err := s.Attempts.Hook(r.Context(), *c, h.Harness, h.Event, h.Payload); err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, map[string]bool{"heard": true})
}

func (s *Server) fork(w http.ResponseWriter, r *http.Request) {
	id, err := s.find(r)
	if err != nil {
		s.failWith(w, err)
		return
	}
	var in struct {
		Seq    int    `json:"seq"`
		Branch string `json:"branch"`
		Spawn  bool   `json:"spawn"`
	}
	if err := read(r, &in); err != nil {
		s.failWith(w, err)
		return
	}
	by := signal.Wish{Actor: task.Human}
	if c := callerOf(r); c != nil {
		by.Actor, by.Attempt = task.Actor(c.Role), c.Attempt
	}
	by.Branch, by.Spawn = in.Branch, in.Spawn
	a, err := s.Engine.Fork(r.Context(), id, in.Seq, by)
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.answer(w, a)
}

func (s *Server) inbox(w http.ResponseWriter, r *http.Request) {
	items, err := s.Inbox(r.Context(), r.URL.Query().Get("project"))
	if err != nil {
		s.failWith(w, err)
		return
	}
	engine.SortInbox(items)
	s.reply(w, http.StatusOK, map[string]any{"items": nonNil(items)})
}

func (s *Server) workspaces(w http.ResponseWriter, r *http.Request) {
	list, err := s.Workspaces.Workspaces(r.Context())
	s.replyWorkspaces(w, list, err)
}

func (s *Server) replyWorkspaces(w http.ResponseWriter, list []Workspace, err error) {
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, map[string]any{"workspaces": nonNil(list)})
}

func (s *Server) initWorkspaces(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Project string `json:"project"`
		Count   int    `json:"count"` // 0: the whole pool
	}
	if err := read(r, &in); err != nil {
		s.failWith(w, err)
		return
	}
	list, err := s.Workspaces.Init(r.Context(), in.Project, in.Count)
	s.replyWorkspaces(w, list, err)
}

func (s *Server) gcWorkspaces(w http.ResponseWriter, r *http.Request) {
	var in struct {
		DryRun bool `json:"dry_run"`
	}
	if err := read(r, &in); err != nil {
		s.failWith(w, err)
		return
	}
	removed, kept, err := s.Workspaces.GC(r.Context(), in.DryRun)
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, map[string]any{"removed": nonNil(removed), "kept": nonNil(kept)})
}

func (s *Server) salvages(w http.ResponseWriter, r *http.Request) {
	list, err := s.Workspaces.Salvages(r.Context(), r.URL.Query().Get("project"))
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, map[string]any{"salvages": nonNil(list)})
}

// absent answers for what a server without agents does not have.
func (s *Server) absent(have bool, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !have {
			s.failWith(w, task.Mistakef("this server writes effects down and starts no agents (ORANGE_EFFECTS=record)"))
			return
		}
		next(w, r)
	}
}
