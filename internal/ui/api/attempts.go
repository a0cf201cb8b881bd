package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/screen"
	"orange/internal/core/task"
	"orange/internal/core/transcript"
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
	// Log is what happened in the attempt of that number, else in the newest of the role, else
	// in the newest. It begins behind a point that an earlier answer named as Next.
	Log(t task.Task, number int, role, after string) (Log, error)
	// Said is what that attempt said last.
	Said(t task.Task, number int, role string) (Message, error)
	Hook(ctx context.Context, c Caller, harness, event string, payload []byte) error
}

// AttemptList are the runs of a task's roles.
type AttemptList struct {
	Attempts []Attempt `json:"attempts"`
	Today    *Today    `json:"today,omitempty"`
}

func (s *Server) attempts(r *http.Request) (AttemptList, error) {
	t, err := s.load(r)
	if err != nil {
		return AttemptList{}, err
	}
	list, err := s.Attempts.Attempts(t)
	if err != nil {
		return AttemptList{}, err
	}
	if entries, err := s.Tasks.Journal(t.ID, 0); err == nil { // without it the rest is still known
		account(list, entries)
	}
	today, err := s.today(t.Project)
	return AttemptList{nonNil(list), today}, err
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

// The forms of a log.
const (
	FormTranscript = "transcript" // what was said, in turns
	FormTerminal   = "terminal"   // what the terminal showed, in lines
	FormOutput     = "output"     // what an agent without a terminal printed, in lines
)

// A Log is what happened in an attempt: the conversation that its agent keeps, else the end
// of what it printed.
type Log struct {
	Attempt int               `json:"attempt"`
	Role    string            `json:"role"`
	Harness string            `json:"harness"`
	Alive   bool              `json:"alive"`
	Form    string            `json:"form"`
	Turns   []transcript.Turn `json:"turns"`
	Lines   []string          `json:"lines"`
	Skipped int               `json:"skipped,omitempty"` // lines of the agent's record that are not understood
	Cut     bool              `json:"cut,omitempty"`     // there is more before it
	Next    string            `json:"next,omitempty"`    // where to go on reading a transcript
}

// A Message is what an attempt said last.
type Message struct {
	Attempt int    `json:"attempt"`
	Role    string `json:"role"`
	Alive   bool   `json:"alive"`
	Text    string `json:"text"` // "" if it has said nothing
}

func (s *Server) attemptLog(r *http.Request) (Log, error) {
	t, number, err := s.loadAttempt(r)
	if err != nil {
		return Log{}, err
	}
	query := r.URL.Query()
	out, err := s.Attempts.Log(t, number, query.Get("role"), query.Get("after"))
	out.Turns, out.Lines = nonNil(out.Turns), nonNil(out.Lines)
	return out, err
}

func (s *Server) lastMessage(r *http.Request) (Message, error) {
	t, number, err := s.loadAttempt(r)
	if err != nil {
		return Message{}, err
	}
	return s.Attempts.Said(t, number, r.URL.Query().Get("role"))
}

// loadAttempt reads the task of a request, and which attempt is meant; 0 for the newest.
func (s *Server) loadAttempt(r *http.Request) (task.Task, int, error) {
	t, err := s.load(r)
	number := 0
	if text := r.URL.Query().Get("attempt"); err == nil && text != "" {
		if number, err = strconv.Atoi(text); err != nil || number < 1 {
			err = task.Mistakef("attempt %q: give a positive integer", screen.OneLine(text))
		}
	}
	return t, number, err
}

// An Attachment is the command that shows an agent's terminal.
type Attachment struct {
	Argv    []string `json:"argv"`
	Session string   `json:"session"`
}

func (s *Server) attach(r *http.Request) (Attachment, error) {
	t, err := s.load(r)
	if err != nil {
		return Attachment{}, err
	}
	argv, err := s.Attempts.Attach(t, r.URL.Query().Get("role"))
	return Attachment{argv, t.Session}, err
}

// A HookEvent is what an agent's harness reports.
type HookEvent struct {
	Harness string `json:"harness"`
	Event   string `json:"event"`
	Payload []byte `json:"payload"` // the harness's own
}

// Heard says that an event arrived.
type Heard struct {
	Heard bool `json:"heard"`
}

func (s *Server) hook(r *http.Request, h HookEvent) (Heard, error) {
	c := callerOf(r)
	if c == nil {
		return Heard{}, task.Mistakef("only an attempt reports events of its harness")
	}
	return Heard{true}, s.Attempts.Hook(r.Context(), *c, h.Harness, h.Event, h.Payload)
}
