package scriptedmodel

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// RequestOutcome is how a request was answered.
type RequestOutcome string

// The ways in which a request is answered.
const (
	Played     RequestOutcome = "played"     // a turn of a script
	Over       RequestOutcome = "over"       // the script had no turn left
	Side       RequestOutcome = "side"       // a title or the like, not part of any script
	Unscripted RequestOutcome = "unscripted" // no prompt of the conversation chooses a script
	Unreadable RequestOutcome = "unreadable" // not valid in the protocol
	Listed     RequestOutcome = "listed"     // a list of models, a token count, a health check
	Unknown    RequestOutcome = "unknown"    // an address that the model does not serve
)

// Request is the log entry of a request.
type Request struct {
	Number   int            `json:"number"`
	Kind     RequestOutcome `json:"kind"`
	Protocol string         `json:"protocol,omitempty"` // anthropic, responses, chat or gemini
	Method   string         `json:"method"`
	Path     string         `json:"path"`
	Model    string         `json:"model,omitempty"`
	Stream   bool           `json:"stream,omitempty"`
	Tools    []string       `json:"tools,omitempty"` // the names of the offered tools
	Prompt   string         `json:"prompt,omitempty"`
	Script   string         `json:"script,omitempty"`
	Turn     int            `json:"turn"`             // the index in the script; -1 if no turn was played
	Answer   string         `json:"answer,omitempty"` // a short description
	Usage    Usage          `json:"usage"`

	Ended time.Time `json:"ended,omitzero"` // when the last byte of the answer was written
}

// Requests returns all requests so far, in order.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.log)
}

// Usage returns the total usage of a script's answers. The empty name stands for everything
// that belongs to no script, such as titles.
func (m *Model) Usage(script string) Usage {
	var sum Usage
	for _, r := range m.Requests() {
		if r.Script == script {
			sum = sum.Add(r.Usage)
		}
	}
	return sum
}

// Await returns the first request, past or future, for which wanted returns true.
func (m *Model) Await(ctx context.Context, wanted func(Request) bool) (Request, error) {
	seen := 0
	for {
		m.mu.Lock()
		log, changed := slices.Clone(m.log[seen:]), m.changed // finishRequest changes the entries
		m.mu.Unlock()
		if i := slices.IndexFunc(log, wanted); i >= 0 {
			return log[i], nil
		}
		seen += len(log)
		select {
		case <-changed:
		case <-ctx.Done():
			return Request{}, fmt.Errorf("no such request among %d: %w", seen, context.Cause(ctx))
		}
	}
}

// finishRequest records that a request was answered.
func (m *Model) finishRequest(number int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log[number-1].Ended = m.now()
}

func (m *Model) appendRequest(r Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.appendLocked(r)
}

func (m *Model) appendLocked(r Request) {
	r.Number = len(m.log) + 1
	m.log = append(m.log, r)
	close(m.changed)
	m.changed = make(chan struct{})
}
