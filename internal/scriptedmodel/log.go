package scriptedmodel

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Kind says what became of a request.
type Kind string

// What becomes of a request.
const (
	Played     Kind = "played"     // a turn of a script
	Over       Kind = "over"       // the script had no turn left
	Side       Kind = "side"       // a title or the like: not part of any script
	Unscripted Kind = "unscripted" // no prompt of the conversation chooses a script
	Unreadable Kind = "unreadable" // not what the protocol asks for
	Listed     Kind = "listed"     // a list of models, a count of tokens, a sign of life
	Unknown    Kind = "unknown"    // an address that the model does not serve
)

// Request is what the log keeps of a request.
type Request struct {
	Number   int      `json:"number"`
	Kind     Kind     `json:"kind"`
	Protocol string   `json:"protocol,omitempty"` // anthropic, responses, chat or gemini
	Method   string   `json:"method"`
	Path     string   `json:"path"`
	Model    string   `json:"model,omitempty"`
	Stream   bool     `json:"stream,omitempty"`
	Tools    []string `json:"tools,omitempty"` // the names of the tools that were offered
	Prompt   string   `json:"prompt,omitempty"`
	Script   string   `json:"script,omitempty"`
	Turn     int      `json:"turn"`             // the index in the script; -1 if none was played
	Answer   string   `json:"answer,omitempty"` // in a few words
	Usage    Usage    `json:"usage"`

	Ended time.Time `json:"ended,omitzero"` // when the last byte of the answer was written
}

// Requests is everything that was asked so far, in order.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.log)
}

// Usage returns what the answers of a script cost together. The empty name stands for all that
// belongs to none, such as titles.
func (m *Model) Usage(script string) Usage {
	var sum Usage
	for _, r := range m.Requests() {
		if r.Script == script {
			sum = sum.Add(r.Usage)
		}
	}
	return sum
}

// Await returns the first request that is wanted, past or to come.
func (m *Model) Await(ctx context.Context, wanted func(Request) bool) (Request, error) {
	seen := 0
	for {
		m.mu.Lock()
		log, changed := m.log[seen:], m.changed
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

// finishRequest notes that a request was answered.
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
