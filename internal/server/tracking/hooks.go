package tracking

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
)

// maxNews bounds one piece of news of a tracker, in bytes.
const maxNews = 4 << 20

// Watch looks after trackers until ctx ends, and hears their news at an address, if one is given. Changed
// receives when the trackers are not the same any more. The function it returns waits for the end.
func Watch(ctx context.Context, s *trackers.Service, hooks string, changed <-chan struct{}) (ended func(), err error) {
	var wait sync.WaitGroup
	if hooks != "" {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", hooks)
		if err != nil {
			return nil, fmt.Errorf("hear the news of trackers: %w", err)
		}
		s.Log.Info("hearing news of trackers", "component", "hooks", "address", l.Addr().String())
		server := &http.Server{Handler: hookHandler(s.HandleWebhook, s.Log), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
		wait.Go(func() { server.Serve(l) }) //nolint:errcheck // it ends with the server
		wait.Go(func() {
			<-ctx.Done()
			server.Close() //nolint:errcheck // a tracker sends its news again
		})
	}
	wait.Go(func() { s.WatchTrackers(ctx, changed) })
	return func() { wait.Wait(); s.Close() }, nil
}

// maxHooks bounds how many pieces of news are read and followed at the same time.
const maxHooks = 16

// hookHandler takes the news of trackers. It says as little as it can to strangers.
func hookHandler(hear func(ctx context.Context, name string, header http.Header, body []byte) error, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	free := make(chan struct{}, maxHooks)
	mux.HandleFunc("POST /hooks/{name}", func(w http.ResponseWriter, r *http.Request) {
		select {
		case free <- struct{}{}:
			defer func() { <-free }()
		default:
			w.Header().Set("Retry-After", "10")
			http.Error(w, "too many", http.StatusTooManyRequests)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxNews))
		if err != nil {
			http.Error(w, "too much", http.StatusRequestEntityTooLarge)
			return
		}
		name := r.PathValue("name")
		err = hear(r.Context(), name, r.Header, body)
		var mistake *task.Mistake
		switch {
		case err == nil:
			w.WriteHeader(http.StatusNoContent)
		case errors.Is(err, tracker.ErrForged), errors.As(err, &mistake):
			log.Warn("news that is not believed", "component", "hooks", "tracker", name, "error", err)
			http.Error(w, "not believed", http.StatusForbidden)
		case errors.Is(err, tracker.ErrMalformed):
			log.Warn("news that is not understood", "component", "hooks", "tracker", name, "error", err)
			http.Error(w, "not understood", http.StatusBadRequest)
		default:
			log.Warn("news that could not be followed", "component", "hooks", "tracker", name, "error", err)
			http.Error(w, "later", http.StatusServiceUnavailable)
		}
	})
	return mux
}
