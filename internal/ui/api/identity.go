package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"

	"orange/internal/core/agent"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/wire"
)

// Identity identifies the attempt that sends a request by its token and its process. It returns nil for a person. Without
// an Identity the server trusts every claim: where no agents run, nobody can pose as another.
type Identity interface {
	IdentifyCaller(token string, pid int) (*agent.Caller, error)
}

type contextKey int

const (
	pidKey contextKey = iota
	callerKey
	viaKey
)

// withPeer records which process a connection comes from.
func (s *Server) withPeer(ctx context.Context, c net.Conn) context.Context {
	if s.Origins == nil {
		return ctx
	}
	return context.WithValue(ctx, pidKey, s.Origins.PeerPID(c))
}

// identifyCaller identifies the caller and checks whether the route permits it.
func (s *Server) identifyCaller(w http.ResponseWriter, r *http.Request, who access) (*http.Request, bool) {
	if s.Identity == nil || who == anybody {
		return r, true
	}
	pid, _ := r.Context().Value(pidKey).(int)
	token := r.Header.Get(wire.HeaderToken)
	if pid != 0 && pid == s.PID && token == "" { // the web page, which has found out that a person asks
		return r, true
	}
	caller, err := s.Identity.IdentifyCaller(token, pid)
	if err != nil {
		s.replyFailure(w, http.StatusForbidden, err)
		return r, false
	}
	if caller == nil {
		return r, true
	}
	return r.WithContext(context.WithValue(r.Context(), callerKey, caller)), true
}

// keepEnvironment keeps what agents may have of the environment of a person's client, for agents that are started from now
// on. It takes nothing from an attempt, and nothing where callers are not identified.
func (s *Server) keepEnvironment(r *http.Request) {
	text := r.Header.Get(wire.HeaderEnvironment)
	if text == "" || s.KeepEnvironment == nil || s.Identity == nil || callerOf(r) != nil {
		return
	}
	var e wire.Environment
	if json.Unmarshal([]byte(text), &e) == nil {
		s.KeepEnvironment(e)
	}
}

// notForAttempts returns the error for an attempt that may not use a route.
func notForAttempts(r *http.Request, c *agent.Caller) error {
	if strings.HasPrefix(r.URL.Path, wire.Root+wire.PathBoards) {
		return forbidf("an agent does not change the board: it says what it wants in its result")
	}
	return forbidf("this is attempt %d of task %s, and %s is a person's to ask for", c.Attempt, c.Task, r.URL.Path)
}

func callerOf(r *http.Request) *agent.Caller {
	c, _ := r.Context().Value(callerKey).(*agent.Caller)
	return c
}

// setActor sets the verified actor in a signal. Without an Identity the claim stands.
func (s *Server) setActor(r *http.Request, id task.ID, sig *signal.Signal) error {
	c := callerOf(r)
	switch {
	case s.Identity != nil && sig.Kind == signal.Exit:
		return task.Mistakef("the server itself detects the end of an attempt")
	case c != nil && c.Task != id:
		why := fmt.Sprintf("this is attempt %d of task %s: it may not change task %s", c.Attempt, c.Task, id)
		sig.Actor, sig.Attempt = task.Actor(c.Role), c.Attempt
		s.Engine.RecordRefusal(id, *sig, why)
		return task.Mistakef("%s", why)
	case c != nil:
		sig.Actor, sig.Attempt = task.Actor(c.Role), c.Attempt
	case s.Identity != nil && sig.Actor != task.Tracker:
		sig.Actor, sig.Attempt = task.Human, 0
	}
	return nil
}
