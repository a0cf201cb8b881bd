package scriptedmodel

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// maxBody is the size limit of a request: a long conversation with a large system prompt is far
// below it.
const maxBody = 64 << 20

// Model answers the requests of agent CLIs from scripts. It is an http.Handler and is safe for
// concurrent use.
type Model struct {
	scripts []Script
	now     func() time.Time

	mu      sync.Mutex
	log     []Request
	changed chan struct{}      // closed and replaced when the log grows
	faults  map[faultPlace]int // how often an error was sent
}

type faultPlace struct {
	script string
	turn   int
}

// New returns a model that plays the scripts.
func New(scripts []Script) (*Model, error) {
	if err := checkScripts(scripts); err != nil {
		return nil, err
	}
	return &Model{scripts: scripts, now: time.Now, changed: make(chan struct{}), faults: map[faultPlace]int{}}, nil
}

// reply is an answer, independent of the protocol: a call, a text or a fault.
type reply struct {
	number int // number of the request, for ids
	call   *toolCall
	text   string
	fault  *fault
	usage  Usage
	at     time.Time
	delay  time.Duration
}

// fault is an error of the provider.
type fault struct {
	status  int
	message string
	resetIn time.Duration // of a used-up limit; 0 if there is none
	reset   time.Time
}

// ServeHTTP handles a request of any of the protocols.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "the request cannot be read", http.StatusBadRequest)
		return
	}
	p, found := protocolOf(r.URL.Path)
	if !found {
		m.serveRest(w, r)
		return
	}
	record := Request{Protocol: p.name, Method: r.Method, Path: r.URL.Path}
	a, err := p.read(r, body)
	if err != nil {
		record.Kind, record.Answer = Unreadable, err.Error()
		m.appendRequest(record)
		p.fail(w, fault{status: http.StatusBadRequest, message: err.Error()})
		return
	}
	out := m.decideReply(a, record)
	if !waitFor(r.Context(), out.delay) {
		return
	}
	if out.fault != nil {
		p.fail(w, *out.fault)
		return
	}
	p.write(w, a, out)
	m.finishRequest(out.number)
}

// decideReply decides the answer and logs it under one lock, so that a concurrent retry counts
// after this request.
func (m *Model) decideReply(a modelRequest, record Request) reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := reply{number: len(m.log) + 1, at: m.now(), usage: ordinaryUsage()}
	record.Model, record.Stream, record.Prompt, record.Turn = a.model, a.stream, a.lastPrompt(), -1
	for _, t := range a.tools {
		record.Tools = append(record.Tools, t.name)
	}
	if len(a.tools) == 0 {
		record.Kind = Side
		out.text = sideText(a)
	} else {
		m.playTurn(a, &out, &record)
	}
	record.Usage = out.usage
	record.Answer = out.describeReply()
	m.appendLocked(record)
	return out
}

// sideText answers a request that offers no tools: the CLI wants a title, a topic or the like,
// and any answer in the right form is enough.
func sideText(a modelRequest) string {
	if a.schema != nil {
		return compactJSON(parseSchema(a.schema).sampleValue())
	}
	return sampleText
}

// waitFor waits for d. It returns false if the client is gone.
func waitFor(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// describeReply returns a short description of the answer, for the log.
func (r reply) describeReply() string {
	switch {
	case r.fault != nil:
		return http.StatusText(r.fault.status)
	case r.call != nil:
		return r.call.tool.name + " " + r.call.argumentsJSON()
	}
	return r.text
}
