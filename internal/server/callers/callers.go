// Package callers finds out who makes a request: an attempt or a person, and from which process.
// An agent runs as the same user and can read that user's files, the token of the web page included: what it
// shows says nothing, which process it is does.
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
	"orange/internal/core/signal"
	"orange/internal/host/agents"
	"orange/internal/ui/api"
)

// peers find out who is at the other end of the connections of the web page.
type peers struct {
	holders  func(*http.Request) ([]int, error)                 // of the other end
	identify func(token string, pid int) (*agent.Caller, error) // nil: nobody's
	attends  func(pid int) bool                                 // an attendant, which asks for nothing
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

var errGone = errors.New("it cannot be told who asks, because the process that asked is gone: wait for the answer, or use the command line")

// identifyCaller returns the attempt that a request comes from, nil for a person. It tries again before it
// refuses: a process that hides its connections may be a child of the server that does not run its program
// yet, and processes come and go while they are looked up.
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

// identifyOnce finds out who asks. It is told only if whoever holds the connection afterwards was asked
// about: one that sends and leaves gets nothing. A process that shared the connection for a
// moment, as one does that is about to become another, is no reason to say no at once.
func (p peers) identifyOnce(r *http.Request, token string) (*agent.Caller, error) {
	for range 3 {
		before, err := p.holders(r)
		if err != nil {
			return nil, fmt.Errorf("it cannot be told which process asks (%v): ask from this machine, or use the command line", err)
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

// identifyProcesses identifies processes. Those that are gone are not among the known. If any belongs to
// an attempt that is whose request it is; two attempts are nobody. Attendants do not count:
// they hide what they hold, so they are asked about whenever somebody else hides.
func (p peers) identifyProcesses(pids []int, token string) (who *agent.Caller, known []int, err error) {
	for _, pid := range pids {
		one, err := p.identify(token, pid)
		switch {
		case err != nil && p.gone(pid):
			continue
		case err != nil:
			return nil, nil, err
		case p.attends(pid):
		case one != nil && who != nil && *one != *who:
			return nil, nil, errors.New("the processes of two attempts ask at once: ask from one of them")
		case one != nil:
			who = one
		}
		known = append(known, pid)
	}
	return who, known, nil
}

// RefuseAgents refuses a request to the web page that an agent may have made: it must not approve its own
// work, nor see what is a person's. While no agent lives nobody is looked for.
func RefuseAgents(a *agents.Agents, r *http.Request) error {
	if a.Len() == 0 {
		return nil
	}
	caller, err := peersOf(a).identifyCaller(r, "")
	if err == nil && caller != nil {
		err = fmt.Errorf("this is the %s of task %s: it may not use the web page; use the orange command", caller.Role, caller.Task)
	}
	return err
}

// DescribePeer describes the process at the other end of a connection of the web page. Of
// several that share it, or if it cannot be found, nothing is said.
func DescribePeer(r *http.Request) signal.Via {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	pids, err := shim.TCPPeers(r.RemoteAddr, local)
	if err != nil || len(pids) != 1 {
		return signal.Via{}
	}
	return *Origins{}.DescribeProcess(pids[0])
}

// ErrUnknownToken says that a token is nobody's.
var ErrUnknownToken = errors.New("it is neither the page's nor an attempt's")

// AttemptOf is the attempt that shows its token in a request. A token that is nobody's is found out
// before anybody is looked for.
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

// Identity says who a caller at the socket is.
type Identity struct{ Agents *agents.Agents }

// Identify implements api.Identity.
func (i Identity) Identify(token string, pid int) (*api.Caller, error) {
	c, err := i.Agents.IdentifyCaller(token, pid)
	if c == nil || err != nil {
		return nil, err
	}
	out := api.Caller(*c)
	return &out, nil
}

// Origins says where requests come from.
type Origins struct{}

// PeerPID implements api.Origins.
func (Origins) PeerPID(c net.Conn) int {
	pid, _ := shim.PeerPID(c)
	return pid
}

// DescribeProcess implements api.Origins.
func (Origins) DescribeProcess(pid int) *signal.Via {
	d := shim.DescribeProcess(pid)
	return &signal.Via{PID: pid, Program: d.Program, Path: d.Path, Parent: d.Parent, Terminal: d.Terminal}
}
