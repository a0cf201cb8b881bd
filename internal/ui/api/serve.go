package api

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// Serve handles requests on the listener until ctx ends, or until nothing happened for the duration idle. It gives
// running requests a moment to end.
func (s *Server) Serve(ctx context.Context, l net.Listener, idle time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, ConnContext: s.withPeer}
	s.touched, s.leaving = make(chan struct{}, 1), ctx.Done()
	var wait sync.WaitGroup
	wait.Go(func() { s.leaveWhenIdle(ctx, idle, cancel) })
	wait.Go(func() {
		<-ctx.Done()
		grace, done := context.WithTimeout(context.Background(), 3*time.Second)
		defer done()
		if server.Shutdown(grace) != nil {
			server.Close() //nolint:errcheck // what is left is cut
		}
	})
	err := server.Serve(l)
	cancel()
	wait.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// leaveWhenIdle calls leave after the duration idle without requests and without anything that the engine waits for.
func (s *Server) leaveWhenIdle(ctx context.Context, idle time.Duration, leave func()) {
	if idle <= 0 {
		return
	}
	timer := time.NewTimer(idle)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.touched:
		case <-timer.C:
			if s.active.Load() == 0 && !s.Control.Busy() {
				s.Log.Info("idle: leaving", "component", "api")
				leave()
				return
			}
		}
		timer.Reset(idle)
	}
}
