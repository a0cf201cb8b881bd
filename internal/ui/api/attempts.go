package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/view/ansi"
	"orange/internal/wire"
)

// Attempts reads the attempts on this machine.
type Attempts interface {
	ListAttempts(t task.Task) ([]wire.Attempt, error)
	AttachCommand(t task.Task, role string) (argv []string, err error)
	// AttemptLog returns the log of the attempt with that number, else of the role's newest, else of the newest. It
	// begins after a point that an earlier response named as Next.
	AttemptLog(t task.Task, number int, role, after string) (wire.Log, error)
	// LastMessage returns the last message of that attempt.
	LastMessage(t task.Task, number int, role string) (wire.Message, error)
	HandleHook(ctx context.Context, c agent.Caller, harness, event string, payload []byte) error
}

func (s *Server) listAttempts(r *http.Request) (wire.AttemptList, error) {
	t, err := s.loadTask(r)
	if err != nil {
		return wire.AttemptList{}, err
	}
	list, err := s.Attempts.ListAttempts(t)
	if err != nil {
		return wire.AttemptList{}, err
	}
	if entries, err := s.Tasks.Journal(t.ID, 0); err == nil { // the rest is useful without it
		addJournalFacts(list, entries)
	}
	today, err := s.loadSpentToday(t.Project)
	return wire.AttemptList{Attempts: nonNil(list), Today: today}, err
}

// spendQuery sums up what was spent.
type spendQuery interface {
	SpentOn(project, day string) (attempts int, micros int64, err error)
}

// loadSpentToday returns what a project has spent today, or nil if it has no daily budget.
func (s *Server) loadSpentToday(project string) (*wire.DailySpend, error) {
	spend, ok := s.Tasks.(spendQuery)
	if !ok {
		return nil, nil
	}
	for _, p := range s.Projects.Projects() {
		if p.Name != project || !p.Budget.HasDailyLimit() {
			continue
		}
		out := &wire.DailySpend{Day: task.DayOf(time.Now()), Budget: p.Budget}
		var err error
		out.Attempts, out.Micros, err = spend.SpentOn(project, out.Day)
		return out, err
	}
	return nil, nil
}

// addJournalFacts adds what the journal records about attempts: the state in which each was started, and its
// consumption as counted in the task's record.
func addJournalFacts(list []wire.Attempt, entries []journal.Entry) {
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
		spent[number] = spent[number].Plus(t.Spent.Minus(before))
	}
	for i := range list {
		a := &list[i]
		a.State, a.Usage = states[a.Number], nil
		if u := spent[a.Number]; u != (task.Usage{}) {
			a.Usage = &u
		}
	}
}

func (s *Server) attemptLog(r *http.Request) (wire.Log, error) {
	t, number, err := s.loadAttempt(r)
	if err != nil {
		return wire.Log{}, err
	}
	query := r.URL.Query()
	out, err := s.Attempts.AttemptLog(t, number, query.Get(wire.ParamRole), query.Get(wire.ParamAfter))
	out.Turns, out.Lines = nonNil(out.Turns), nonNil(out.Lines)
	return out, err
}

func (s *Server) lastMessage(r *http.Request) (wire.Message, error) {
	t, number, err := s.loadAttempt(r)
	if err != nil {
		return wire.Message{}, err
	}
	return s.Attempts.LastMessage(t, number, r.URL.Query().Get(wire.ParamRole))
}

// loadAttempt reads the task of a request, and the number of its attempt; 0 for the newest.
func (s *Server) loadAttempt(r *http.Request) (task.Task, int, error) {
	t, err := s.loadTask(r)
	number := 0
	if text := r.URL.Query().Get(wire.ParamAttempt); err == nil && text != "" {
		if number, err = strconv.Atoi(text); err != nil || number < 1 {
			err = task.Mistakef("attempt %q: give a positive integer", ansi.OneLine(text))
		}
	}
	return t, number, err
}

func (s *Server) attachCommand(r *http.Request) (wire.AttachCommand, error) {
	t, err := s.loadTask(r)
	if err != nil {
		return wire.AttachCommand{}, err
	}
	argv, err := s.Attempts.AttachCommand(t, r.URL.Query().Get(wire.ParamRole))
	return wire.AttachCommand{Argv: argv, Session: t.TmuxSession}, err
}

func (s *Server) handleHook(r *http.Request, h wire.HookEvent) (wire.HookReceived, error) {
	c := callerOf(r)
	if c == nil {
		return wire.HookReceived{}, task.Mistakef("only an attempt reports events of its harness")
	}
	return wire.HookReceived{Received: true}, s.Attempts.HandleHook(r.Context(), *c, h.Harness, h.Event, h.Payload)
}
