package scriptedmodel

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// ModelServer is a model that listens on loopback.
type ModelServer struct {
	*Model
	url   string
	http  *http.Server
	ended chan struct{} // closed when serving has ended
	err   error         // why it ended; valid after ended is closed
}

// Start serves the scripts on a free port of loopback.
func Start(scripts []Script) (*ModelServer, error) {
	return StartAt("127.0.0.1:0", scripts)
}

// StartAt serves the scripts on an address.
func StartAt(address string, scripts []Script) (*ModelServer, error) {
	model, err := New(scripts)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for agents: %w", err)
	}
	s := &ModelServer{
		Model: model,
		url:   "http://" + listener.Addr().String(),
		http:  &http.Server{Handler: model, ReadHeaderTimeout: 10 * time.Second},
		ended: make(chan struct{}),
	}
	go func() {
		defer close(s.ended)
		s.err = s.http.Serve(listener)
	}()
	return s, nil
}

// URL returns where the server listens, without a path.
func (s *ModelServer) URL() string { return s.url }

// Close ends the server and every answer in progress.
func (s *ModelServer) Close() error {
	closed := s.http.Close()
	<-s.ended
	if !errors.Is(s.err, http.ErrServerClosed) {
		return errors.Join(s.err, closed)
	}
	return closed
}
