package api

import (
	"context"
	"encoding/json"
	"net"
	"net/http"

	"orange/internal/core/signal"
	"orange/internal/wire"
)

// maxVia is the maximum size of the header, in bytes.
const maxVia = 4 << 10

// Origins identifies where connections come from.
type Origins interface {
	PeerPID(c net.Conn) int          // the process at the other end, 0 if unknown
	DescribeProcess(int) *signal.Via // what is known about a process
}

// ViaOf returns where the request of ctx came from, or nil if that is unknown or an attempt sent it.
func ViaOf(ctx context.Context) *signal.Via {
	v, _ := ctx.Value(viaKey).(*signal.Via)
	return v
}

// withVia records where a person's request came from. Requests that only read leave nothing in a journal.
func (s *Server) withVia(r *http.Request) *http.Request {
	if s.Origins == nil || callerOf(r) != nil || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return r
	}
	if v := s.viaOf(r); v != nil {
		return r.WithContext(context.WithValue(r.Context(), viaKey, v))
	}
	return r
}

func (s *Server) viaOf(r *http.Request) *signal.Via {
	said, ok := claimedVia(r)
	pid, _ := r.Context().Value(pidKey).(int)
	switch {
	case pid <= 0, pid == s.PID && !ok:
		return nil
	case pid == s.PID:
		said = said.SanitizedCopy()
		return &said
	}
	found := *s.Origins.DescribeProcess(pid)
	found.Kind, found.PID = signal.ViaSocket, pid
	if said.Kind == signal.ViaMCP {
		found.Kind = signal.ViaMCP
	}
	found = found.SanitizedCopy()
	return &found
}

// claimedVia returns what a request claims about its origin.
func claimedVia(r *http.Request) (v signal.Via, ok bool) {
	text := r.Header.Get(wire.HeaderVia)
	if text == "" || len(text) > maxVia || json.Unmarshal([]byte(text), &v) != nil {
		return signal.Via{}, false
	}
	return v, true
}
