// Package callers identifies who makes a request: an attempt or a person, and from which process. An agent runs as the
// same user and can read that user's files, including the token of the web page. A token therefore proves nothing; the
// process does.
package callers

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"orange/internal/adapter/shim"
	"orange/internal/core/agent"
	"orange/internal/host/agents"
)

// peers identifies the processes at the other end of the connections of the web page.
type peers struct {
	holders  func(*http.Request) ([]int, error)                 // returns the processes that hold the other end
	identify func(token string, pid int) (*agent.Caller, error) // returns nil if the process belongs to no attempt
	isShim   func(pid int) bool                                 // a shim makes no requests
	gone     func(pid int) bool
}

func peersOf(a *agents.Agents) peers {
	holders := func(r *http.Request) ([]int, error) {
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		return shim.TCPPeers(r.RemoteAddr, local)
	}
	return peers{holders, a.IdentifyCaller, a.IsShim, shim.HasExited}
}

// identifyCaller tries again peerTries times. The first pause is peerPause and each next one is twice as
// long: 2.5 s in all, because on a busy machine a child of the server needs as long to run its program.
const (
	peerTries = 8
	peerPause = 10 * time.Millisecond
)

var errGone = errors.New("cannot identify the caller, because the process that sent the request is gone: wait for the response, or use the command line")

// identifyCaller returns the attempt that a request comes from, or nil for a person. It tries again before it refuses,
// because a process that hides its connections may be a child of the server that does not run its program yet, and
// because processes start and end while they are looked up.
func (p peers) identifyCaller(r *http.Request, token string) (*agent.Caller, error) {
	who, why := p.identifyOnce(r, token)
	for try := 0; why != nil && try < peerTries; try++ {
		time.Sleep(peerPause << try)
		if again, err := p.identifyOnce(r, token); err == nil {
			return again, nil
		}
	}
	return who, why
}

// identifyOnce identifies the caller. It returns a result only if every process that holds the connection afterwards was
// identified, so a process that sends a request and exits is refused. A process may share the connection for a moment,
// for example between fork and exec, so identifyOnce checks three times.
func (p peers) identifyOnce(r *http.Request, token string) (*agent.Caller, error) {
	for range 3 {
		before, err := p.holders(r)
		if err != nil {
			return nil, fmt.Errorf("cannot identify the process that sent the request (%v): send it from this machine, or use the command line", err)
		}
		who, known, err := p.identifyProcesses(before, token)
		if err != nil || who != nil && token == "" {
			return who, err
		}
		after, err := p.holders(r)
		if err != nil || len(after) == 0 {
			return nil, errGone
		}
		if !slices.ContainsFunc(after, func(pid int) bool { return !slices.Contains(known, pid) }) {
			return who, nil
		}
	}
	return nil, errGone
}

// identifyProcesses identifies the processes that hold a connection. Known has those that still exist. If one belongs to
// an attempt, the request is that attempt's; if they belong to two attempts, it is refused. Shims do not count: they hide
// what they hold, so they are among the candidates whenever another process hides its connections.
func (p peers) identifyProcesses(pids []int, token string) (who *agent.Caller, known []int, err error) {
	for _, pid := range pids {
		one, err := p.identify(token, pid)
		switch {
		case err != nil && p.gone(pid):
			continue
		case err != nil:
			return nil, nil, err
		case p.isShim(pid):
		case one != nil && who != nil && *one != *who:
			return nil, nil, errors.New("processes of two attempts share the connection: send the request from one of them")
		case one != nil:
			who = one
		}
		known = append(known, pid)
	}
	return who, known, nil
}

// A Guard keeps agents away from the web page.
type Guard struct{ Agents *agents.Agents }

// RefuseAgents returns an error for a request to the web page that an agent may have made: an agent must not approve its
// own work or see what is meant for people. While no agent runs, it does not look for the caller.
func (g Guard) RefuseAgents(r *http.Request) error {
	if g.Agents.Len() == 0 {
		return nil
	}
	caller, err := peersOf(g.Agents).identifyCaller(r, "")
	if err == nil && caller != nil {
		err = fmt.Errorf("this is the %s of task %s: it may not use the web page; use the orange command", caller.Role, caller.Task)
	}
	return err
}

// ErrUnknownToken means that a token belongs neither to the web page nor to an attempt.
var ErrUnknownToken = errors.New("the token belongs neither to the web page nor to an attempt")

// AttemptOf returns the attempt whose token a request contains. It refuses an unknown token before it looks for the
// process of the caller.
func AttemptOf(a *agents.Agents, token string, r *http.Request) (*agent.Caller, error) {
	who, err := a.CallerOfToken(token)
	if err != nil {
		return nil, ErrUnknownToken
	}
	if a.Len() == 0 {
		return who, nil
	}
	who, err = peersOf(a).identifyCaller(r, token)
	if err == nil && who == nil {
		err = ErrUnknownToken
	}
	return who, err
}
