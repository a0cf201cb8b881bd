package mcpboard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Limits of one session with a board.
const (
	callTime   = 30 * time.Second // for a call, and for opening a session
	maxAnswer  = 1 << 20          // bytes of one answer's text
	maxPages   = 100              // of a list of tools
	maxLimited = 3                // how often a call is tried while the board is too busy
	maxPause   = 30 * time.Second
)

// A session is one connection with a board. It is closed when it is retired and no longer in
// use.
type session struct {
	*mcp.ClientSession
	program *program // nil over HTTP
	users   int
	retired bool
	ended   sync.Once
}

// A sharedSession holds the session that all callers share.
type sharedSession struct {
	open func(ctx context.Context) (*session, error)

	mu      sync.Mutex
	current *session
	closed  bool
	closing sync.WaitGroup
	opening chan struct{} // serializes opening
}

func newSharedSession(open func(ctx context.Context) (*session, error)) *sharedSession {
	return &sharedSession{open: open, opening: make(chan struct{}, 1)}
}

var errClosed = errors.New("the board was closed")

// acquireSession returns the session, and opens it if there is none. The caller must call
// releaseSession.
func (h *sharedSession) acquireSession(ctx context.Context) (s *session, fresh bool, err error) {
	if s, err := h.joinCurrent(); s != nil || err != nil {
		return s, false, err
	}
	select {
	case h.opening <- struct{}{}:
		defer func() { <-h.opening }()
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	if s, err := h.joinCurrent(); s != nil || err != nil {
		return s, false, err
	}
	s, err = h.open(ctx)
	if err != nil {
		return nil, false, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s.users = 1
	if h.closed {
		s.retired = true
	} else {
		h.current = s
	}
	return s, true, nil
}

func (h *sharedSession) joinCurrent() (*session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, errClosed
	}
	if h.current != nil {
		h.current.users++
	}
	return h.current, nil
}

// releaseSession ends one use. A session that is broken or outdated is retired, and closed in
// the background: a program may take a while to end.
func (h *sharedSession) releaseSession(s *session, retire bool) {
	h.mu.Lock()
	s.users--
	s.retired = s.retired || retire
	if s.retired && h.current == s {
		h.current = nil
	}
	over := s.retired && s.users == 0
	if over && !h.closed {
		h.closing.Go(s.endSession)
	}
	over = over && h.closed
	h.mu.Unlock()
	if over {
		s.endSession()
	}
}

// endSession closes a session, and its program.
func (s *session) endSession() {
	s.ended.Do(func() {
		s.Close()
		s.program.killGroup()
	})
}

// close ends the session, even if it is in use, and waits until it has ended.
func (h *sharedSession) close() {
	h.mu.Lock()
	s := h.current
	h.current, h.closed = nil, true
	h.mu.Unlock()
	if s != nil {
		s.endSession()
	}
	h.closing.Wait()
}

// withSession makes a call in the shared session. If the session turns out to be broken,
// withSession opens a new one and makes the call once more, unless that could have an effect
// twice.
func (t *Tracker) withSession(ctx context.Context, again bool, f func(ctx context.Context, s *session) error) error {
	for try := 0; ; try++ {
		err := t.withSessionOnce(ctx, f)
		var gone *brokenError
		if err == nil || !errors.As(err, &gone) || try > 0 || ctx.Err() != nil || !again && !gone.unsent {
			return err
		}
	}
}

func (t *Tracker) withSessionOnce(ctx context.Context, f func(ctx context.Context, s *session) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	s, _, err := t.shared.acquireSession(ctx)
	if err != nil {
		return t.explainError(ctx, err, nil)
	}
	err = t.explainError(ctx, f(ctx, s), s)
	var gone *brokenError
	t.shared.releaseSession(s, errors.As(err, &gone))
	return err
}

// A brokenError means that a session was interrupted.
type brokenError struct {
	text   string
	unsent bool  // the request certainly had no effect
	cause  error // why the caller no longer waits, if it does not
}

func (e *brokenError) Error() string { return e.text }
func (e *brokenError) Unwrap() error { return e.cause }

// explainError returns an error in one line without secrets. An error that means that the
// session can no longer be used is a *brokenError.
func (t *Tracker) explainError(ctx context.Context, err error, s *session) error {
	var http *statusError
	var rpc *jsonrpc.Error
	var failure *boardError
	var token *tokenError
	switch {
	case err == nil || errors.As(err, &failure) || errors.Is(err, errClosed):
		return err
	case errors.As(err, &token):
		return token
	case errors.As(err, &http):
		return t.newBoardError(http.errorKind(), http.Error(), http.after)
	case ctx.Err() != nil:
		return &brokenError{text: fmt.Sprintf("the board at %s did not answer in time: %v", t.where, ctx.Err()), cause: ctx.Err()}
	case errors.Is(err, mcp.ErrSessionMissing):
		return &brokenError{text: fmt.Sprintf("the board at %s forgot the session", t.where), unsent: true}
	case errors.As(err, &rpc):
		return t.newBoardError(rpcKind(rpc.Code), rpc.Message, 0)
	}
	said := err.Error()
	if s != nil {
		said += s.program.lastOutput()
	}
	return &brokenError{text: fmt.Sprintf("call the board at %s: %s", t.where, t.cleanMessage(said))}
}

// rpcKind returns the meaning of a code of the protocol: an invalid request would not succeed
// later, either.
func rpcKind(code int64) string {
	if code == jsonrpc.CodeInvalidParams || code == jsonrpc.CodeMethodNotFound {
		return kindRefused
	}
	return kindBroken
}

// callTool calls a tool. The error is a *boardError if the board reports a failure, in
// whatever form. If the board is too busy, callTool tries again later.
func (t *Tracker) callTool(ctx context.Context, op *Operation, vars map[string]any, again bool) (answer, error) {
	if vars == nil {
		vars = map[string]any{}
	}
	vars["project"] = t.o.Scope
	params := &mcp.CallToolParams{Name: op.Tool, Arguments: fillArguments(op.Args, vars)}
	for try := 1; ; try++ {
		var a answer
		err := t.withSession(ctx, again, func(ctx context.Context, s *session) error {
			r, err := s.CallTool(ctx, params)
			if err != nil {
				return err
			}
			a, err = t.parseResult(r)
			return err
		})
		var failure *boardError
		if err == nil || !errors.As(err, &failure) || failure.kind != kindLimited || try == maxLimited {
			return a, err
		}
		if err := t.waitFor(ctx, max(failure.after, t.o.Pause<<(try-1))); err != nil {
			return a, err
		}
	}
}

func (t *Tracker) waitFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(min(d, maxPause))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// parseResult converts a result and checks whether it is an error.
func (t *Tracker) parseResult(r *mcp.CallToolResult) (answer, error) {
	var out strings.Builder
	for _, c := range r.Content {
		part, ok := c.(*mcp.TextContent)
		if !ok {
			continue
		}
		if out.Len()+len(part.Text) > maxAnswer {
			return answer{}, t.newBoardError(kindBroken, fmt.Sprintf("its answer is longer than %d KB", maxAnswer>>10), 0)
		}
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(part.Text)
	}
	a := answer{text: out.String(), structured: r.StructuredContent}
	for _, e := range t.m.Errors {
		if e.Match.matches(a.text) {
			return a, t.newBoardError(e.Is, a.text, 0)
		}
	}
	if r.IsError {
		return a, t.newBoardError(kindBroken, a.text, 0)
	}
	return a, nil
}

// A boardError is a board's report of a failure.
type boardError struct {
	kind  string
	text  string
	after time.Duration // how long to wait, if the board states it
}

func (e *boardError) Error() string { return e.text }

func (t *Tracker) newBoardError(kind, said string, after time.Duration) error {
	said = t.cleanMessage(said)
	text := fmt.Sprintf("the board at %s says: %s", t.where, said)
	switch kind {
	case kindDenied:
		text = fmt.Sprintf("the board at %s does not accept the secret: check where the tracker's token comes from (it says: %s)", t.where, said)
	case kindLimited:
		text = fmt.Sprintf("the board at %s wants fewer requests: try again later (it says: %s)", t.where, said)
	}
	return &boardError{kind: kind, text: text, after: after}
}

// cleanMessage returns a message of a board as one line, without the secrets that it received.
func (t *Tracker) cleanMessage(s string) string {
	if len(s) > 4096 {
		s = s[:4096]
	}
	for _, secret := range t.knownSecrets() {
		s = strings.ReplaceAll(s, secret, "***")
	}
	if s = oneLine(s, 200); s == "" {
		return "nothing"
	}
	return s
}

func kindOf(err error) string {
	var failure *boardError
	if errors.As(err, &failure) {
		return failure.kind
	}
	return ""
}

// listAllTools requests the board's tools and returns them by name.
func (s *session) listAllTools(ctx context.Context) (map[string]*mcp.Tool, error) {
	out := map[string]*mcp.Tool{}
	params := &mcp.ListToolsParams{}
	for range maxPages {
		r, err := s.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		for _, tool := range r.Tools {
			out[tool.Name] = tool
		}
		if r.NextCursor == "" {
			break
		}
		params.Cursor = r.NextCursor
	}
	return out, nil
}
