package api

import (
	"bufio"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"orange/internal/core/agent"
	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/view/narrate"
	"orange/internal/wire"
)

func newAnswer(a engine.Answer, err error) (wire.Answer, error) {
	return wire.Answer{
		Task: a.Task, Warning: a.Warning, Error: a.Decision.Refused,
		Decision: wire.Decision{Verdict: a.Decision.Verdict, Refused: a.Decision.Refused, Reasons: nonNil(a.Decision.Reasons), Entries: nonNil(a.Decision.Entries)},
	}, err
}

// listTasks streams the records as they are stored: with many tasks, decoding and encoding them again would be most of
// the work.
func (s *Server) listTasks(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	f := task.Filter{Project: q.Get(wire.ParamProject), Status: q.Get(wire.ParamStatus), All: q.Get(wire.ParamAll) == "1"}
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
		panic(http.ErrAbortHandler) // the list is incomplete, and the client must notice
	}
	out.WriteString("]}\n")
	out.Flush() //nolint:errcheck // the client disconnected
}

func (s *Server) createTask(r *http.Request, request signal.NewTask) (wire.Answer, error) {
	switch c := callerOf(r); {
	case c != nil:
		request.Actor, request.Attempt = task.Actor(c.Role), c.Attempt
	case request.Actor == "" || s.Identity != nil && request.Actor != task.Tracker:
		request.Actor, request.Attempt = task.Human, 0
	}
	request.Via = ViaOf(r.Context())
	if err := s.resolveAfter(r, request.After); err != nil {
		return wire.Answer{}, err
	}
	if carriesOut(&request, callerOf(r)) {
		request.ToRequirements()
	} else {
		request.Context, request.Requirements = strings.TrimSpace(request.Requirements+"\n\n"+request.Context), ""
	}
	create := s.Engine.Create
	if request.Issue != "" {
		if request.Actor != task.Human || s.CreateFromIssue == nil {
			return wire.Answer{}, task.Mistakef("only a person creates a task for an issue by its address: leave issue out")
		}
		create = s.CreateFromIssue
	}
	out, err := newAnswer(create(r.Context(), request))
	if err == nil && out.Error == "" && s.Hints != nil && request.Actor == task.Human {
		out.Notes = s.Hints(r.Context(), &request, &out.Task)
	}
	return out, err
}

// carriesOut reports whether the text of a new task is an instruction: it is by a person, or by an attempt of the new
// task's parent. All other text is quoted.
func carriesOut(w *signal.NewTask, c *agent.Caller) bool {
	switch {
	case w.Actor == task.Human:
		return true
	case w.Actor == task.Tracker || w.Parent == "":
		return false
	}
	return c == nil || c.Task == w.Parent
}

// isSubmittable reports whether signals of a kind may come from outside. All others are sent by the runtime only.
func isSubmittable(k signal.Kind) bool {
	switch k {
	case signal.Request, signal.Exit, signal.Outcome, signal.Tracker, signal.Update, signal.Pause, signal.Resume, signal.Delete, signal.Ready:
		return true
	}
	return false
}

func (s *Server) submitSignal(r *http.Request, sig signal.Signal) (wire.Answer, error) {
	id, err := s.findTask(r)
	if err != nil {
		return wire.Answer{}, err
	}
	if !isSubmittable(sig.Kind) {
		return wire.Answer{}, task.Mistakef("a signal of kind %q cannot be submitted", sig.Kind)
	}
	if sig.Actor == "" {
		sig.Actor = task.Human
	}
	sig.Via = ViaOf(r.Context())
	if err := s.setActor(r, id, &sig); err != nil {
		return wire.Answer{}, err
	}
	if sig.Actor == task.Engine && sig.Kind != signal.Exit {
		return wire.Answer{}, task.Mistakef("the actor engine is reserved for the server: leave the actor out")
	}
	// the server reads reports from the agent's output, and cards from the board
	sig.Report, sig.Final, sig.CardSnapshot, sig.Children, sig.Busy = nil, "", nil, nil, nil
	sig.Predecessors = nil
	if sig.Kind == signal.Update {
		if err := s.resolveFields(r, sig.Fields); err != nil {
			return wire.Answer{}, err
		}
	}
	sig.Merged, sig.Commit, sig.Confirmed, sig.Lost, sig.New, sig.Result, sig.Evidence = "", "", "", nil, nil, nil, nil
	return newAnswer(s.Engine.Submit(r.Context(), id, sig))
}

func (s *Server) forkTask(r *http.Request, in wire.ForkRequest) (wire.Answer, error) {
	id, err := s.findTask(r)
	if err != nil {
		return wire.Answer{}, err
	}
	by := signal.NewTask{Actor: task.Human, Via: ViaOf(r.Context())}
	if c := callerOf(r); c != nil {
		by.Actor, by.Attempt = task.Actor(c.Role), c.Attempt
	}
	by.Branch, by.Spawn = in.Branch, in.Spawn
	return newAnswer(s.Engine.ForkTask(r.Context(), id, in.Seq, by))
}

func (s *Server) showTask(r *http.Request) (wire.TaskDetails, error) {
	t, err := s.loadTask(r)
	if err != nil {
		return wire.TaskDetails{}, err
	}
	out := wire.TaskDetails{Task: t, Dir: s.Folders.Path(t.Project, t.ID)}
	if s.Trackers != nil {
		out.Issue = s.Trackers.IssueStatus(&t)
	}
	if s.Reasons != nil {
		out.Reasons = s.Reasons(&t)
	}
	if at := s.queuePlace(t.ID); at.Of > 0 {
		out.Queue = &at
	}
	if s.Worktree != nil {
		out.Worktree = s.Worktree(&t)
	}
	out.Unblocks = s.listSuccessors()[t.ID]
	if out.Children, err = s.Tasks.Children(t.ID); err != nil {
		return out, err
	}
	if doc, err := s.Folders.ReadTaskFile(t.Project, t.ID); err != nil {
		out.Problem = err.Error()
	} else {
		out.Body = string(doc.Body())
	}
	return out, nil
}

// queuePlace returns the place of a task in its landing queue.
func (s *Server) queuePlace(id task.ID) task.QueuePlace {
	if s.QueuePlace == nil {
		return task.QueuePlace{}
	}
	return s.QueuePlace(id)
}

func (s *Server) loadTask(r *http.Request) (task.Task, error) {
	id, err := s.findTask(r)
	if err != nil {
		return task.Task{}, err
	}
	t, ok, err := s.Tasks.Task(id)
	if err == nil && !ok {
		err = task.ErrNotFound
	}
	return t, err
}

func (s *Server) loadEntries(r *http.Request) ([]journal.Entry, error) {
	id, err := s.findTask(r)
	if err != nil {
		return nil, err
	}
	after := 0
	if text := r.URL.Query().Get(wire.ParamAfter); text != "" {
		if after, err = strconv.Atoi(text); err != nil {
			return nil, task.Mistakef("after=%q is not a number", text)
		}
	}
	return s.Tasks.Journal(id, after)
}

func (s *Server) readJournal(r *http.Request) (wire.Journal, error) {
	entries, err := s.loadEntries(r)
	return wire.Journal{Entries: nonNil(entries)}, err
}

func (s *Server) checkChain(r *http.Request) (wire.Chain, error) {
	id, err := s.findTask(r)
	if err != nil {
		return wire.Chain{}, err
	}
	chain, broken, err := s.VerifyChain(r.Context(), id)
	out := wire.Chain{Rows: chain.Rows, Head: chain.Head}
	if broken != nil && !errors.As(broken, &out.Broken) {
		err = errors.Join(err, broken)
	}
	return out, err
}

func (s *Server) readHistory(r *http.Request) (wire.History, error) {
	entries, err := s.loadEntries(r)
	out := wire.History{History: []journal.Event{}}
	for _, e := range entries {
		out.History = append(out.History, journal.HistoryEvents(e)...)
	}
	return out, err
}

func (s *Server) explainTask(r *http.Request) (explain.Explanation, error) {
	t, err := s.loadTask(r)
	if err != nil {
		return explain.Explanation{}, err
	}
	x, err := s.Engine.Explain(r.Context(), t.ID)
	if err == nil && s.Reasons != nil {
		x.Reasons = s.Reasons(&t) // includes the last lines of an agent that died
	}
	x.Unblocks = s.listSuccessors()[t.ID]
	narrate.AddCommands(&x)
	return x, err
}

func (s *Server) listInbox(r *http.Request) (wire.InboxList, error) {
	items, err := s.Inbox(r.Context(), r.URL.Query().Get(wire.ParamProject))
	for i := range items {
		narrate.AddCommand(&items[i])
	}
	explain.SortInbox(items)
	waiting, backlog := explain.CountInbox(items)
	return wire.InboxList{Items: nonNil(items), Total: waiting, Backlog: backlog}, err
}

func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
