package api

import (
	"bufio"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
)

// A Decision is engine.Decision as clients see it.
type Decision struct {
	Verdict engine.Verdict  `json:"verdict"`
	Refused string          `json:"refused,omitempty"`
	Reasons []engine.Reason `json:"reasons"`
	Entries []journal.Entry `json:"entries"`
}

// An Answer is engine.Answer as clients see it.
type Answer struct {
	Task     task.Task `json:"task"`
	Decision Decision  `json:"decision"`
	Warning  string    `json:"warning,omitempty"`
	Error    string    `json:"error,omitempty"` // why it was refused
}

// status is that of HTTP: a refusal is a conflict.
func (a Answer) status() int {
	if a.Decision.Verdict == engine.Refuse {
		return http.StatusConflict
	}
	return http.StatusOK
}

func answer(a engine.Answer, err error) (Answer, error) {
	return Answer{
		Task: a.Task, Warning: a.Warning, Error: a.Decision.Refused,
		Decision: Decision{Verdict: a.Decision.Verdict, Refused: a.Decision.Refused, Reasons: nonNil(a.Decision.Reasons), Entries: nonNil(a.Decision.Entries)},
	}, err
}

// TaskList are the records of tasks, in the order of creation.
type TaskList struct {
	Tasks []task.Task `json:"tasks"`
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

func (s *Server) createTask(r *http.Request, wish signal.Wish) (Answer, error) {
	switch c := callerOf(r); {
	case c != nil:
		wish.Actor, wish.Attempt = task.Actor(c.Role), c.Attempt
	case wish.Actor == "" || s.Identity != nil && wish.Actor != task.Tracker:
		wish.Actor, wish.Attempt = task.Human, 0
	}
	wish.Via = ViaOf(r.Context())
	if carriesOut(&wish, callerOf(r)) {
		wish.Require()
	} else {
		wish.Context, wish.Requirements = strings.TrimSpace(wish.Requirements+"\n\n"+wish.Context), ""
	}
	return answer(s.Engine.Create(r.Context(), wish))
}

// carriesOut says whether what comes with a new task is to be carried out: the words of a
// person, or of an attempt of the task that the new one is a part of. Everything else is
// quoted.
func carriesOut(w *signal.Wish, c *Caller) bool {
	switch {
	case w.Actor == task.Human:
		return true
	case w.Actor == task.Tracker || w.Parent == "":
		return false
	}
	return c == nil || c.Task == w.Parent
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

func (s *Server) submit(r *http.Request, sig signal.Signal) (Answer, error) {
	id, err := s.find(r)
	if err != nil {
		return Answer{}, err
	}
	if !submittable(sig.Kind) {
		return Answer{}, task.Mistakef("a signal of kind %q cannot be submitted", sig.Kind)
	}
	if sig.Actor == "" {
		sig.Actor = task.Human
	}
	sig.Via = ViaOf(r.Context())
	if err := s.speaks(r, id, &sig); err != nil {
		return Answer{}, err
	}
	if sig.Actor == task.Engine && sig.Kind != signal.Exit {
		return Answer{}, task.Mistakef("nobody outside speaks for the engine: leave the actor out")
	}
	// what an agent said is read from its own words, and how a card looks from the board
	sig.Report, sig.Final, sig.Face, sig.Children, sig.Busy = nil, "", nil, nil, nil
	sig.Merged, sig.Commit, sig.Confirmed, sig.Lost, sig.New, sig.Result, sig.Evidence = "", "", "", nil, nil, nil, nil
	return answer(s.Engine.Submit(r.Context(), id, sig))
}

// A ForkWish says where a task is to begin that another one was at.
type ForkWish struct {
	Seq    int    `json:"seq"`
	Branch string `json:"branch"` // "" for one made of the task's
	Spawn  bool   `json:"spawn"`
}

func (s *Server) fork(r *http.Request, in ForkWish) (Answer, error) {
	id, err := s.find(r)
	if err != nil {
		return Answer{}, err
	}
	by := signal.Wish{Actor: task.Human, Via: ViaOf(r.Context())}
	if c := callerOf(r); c != nil {
		by.Actor, by.Attempt = task.Actor(c.Role), c.Attempt
	}
	by.Branch, by.Spawn = in.Branch, in.Spawn
	return answer(s.Engine.Fork(r.Context(), id, in.Seq, by))
}

// A TaskShown is a task with its text.
type TaskShown struct {
	Task    task.Task `json:"task"`
	Body    string    `json:"body"` // of TASK.md, untrusted
	Dir     string    `json:"dir"`
	Problem string    `json:"problem,omitempty"` // why the body cannot be read

	Issue *tracker.Standing `json:"issue,omitempty"` // as it was last read

	Reasons []engine.WaitReason `json:"reasons,omitempty"` // why it waits for a person; untrusted
}

func (s *Server) showTask(r *http.Request) (TaskShown, error) {
	t, err := s.load(r)
	if err != nil {
		return TaskShown{}, err
	}
	out := TaskShown{Task: t, Dir: s.Folders.Path(t.Project, t.ID)}
	if s.Trackers != nil {
		out.Issue = s.Trackers.Standing(&t)
	}
	if s.Reasons != nil {
		out.Reasons = s.Reasons(&t)
	}
	if doc, err := s.Folders.Read(t.Project, t.ID); err != nil {
		out.Problem = err.Error()
	} else {
		out.Body = string(doc.Body())
	}
	return out, nil
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

// A Journal is what was decided about a task, oldest first.
type Journal struct {
	Entries []journal.Entry `json:"entries"`
}

func (s *Server) journal(r *http.Request) (Journal, error) {
	entries, err := s.entries(r)
	return Journal{nonNil(entries)}, err
}

// A Chain says how far the rows of the journal are what was written.
type Chain struct {
	Rows   int64           `json:"rows"` // that are
	Head   string          `json:"head"` // link of the last of them
	Broken *journal.Broken `json:"broken,omitempty"`
}

func (s *Server) chain(r *http.Request) (Chain, error) {
	id, err := s.find(r)
	if err != nil {
		return Chain{}, err
	}
	chain, broken, err := s.VerifyChain(r.Context(), id)
	out := Chain{Rows: chain.Rows, Head: chain.Head.String()}
	if broken != nil && !errors.As(broken, &out.Broken) {
		err = errors.Join(err, broken)
	}
	return out, err
}

// A History is a journal as the lines of history.jsonl.
type History struct {
	History []journal.Event `json:"history"`
}

func (s *Server) history(r *http.Request) (History, error) {
	entries, err := s.entries(r)
	out := History{[]journal.Event{}}
	for _, e := range entries {
		out.History = append(out.History, journal.History(e)...)
	}
	return out, err
}

func (s *Server) explain(r *http.Request) (engine.Explanation, error) {
	t, err := s.load(r)
	if err != nil {
		return engine.Explanation{}, err
	}
	x, err := s.Engine.Explain(r.Context(), t.ID)
	if err == nil && s.Reasons != nil {
		x.Reasons = s.Reasons(&t) // with the last lines of an agent that died
	}
	return x, err
}

// An InboxList is what waits for a person, what frees other tasks first, then by age. The
// backlog, items of kind start, comes last.
type InboxList struct {
	Items   []engine.Item `json:"items"`
	Total   int           `json:"total,omitempty"`   // wait for a person
	Backlog int           `json:"backlog,omitempty"` // were created and not started
}

func (s *Server) inbox(r *http.Request) (InboxList, error) {
	items, err := s.Inbox(r.Context(), r.URL.Query().Get("project"))
	engine.SortInbox(items)
	waiting, backlog := engine.CountInbox(items)
	return InboxList{nonNil(items), waiting, backlog}, err
}

func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
