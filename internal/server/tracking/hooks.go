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

// maxBody bounds the body of one webhook, in bytes.
const maxBody = 4 << 20

// Watch polls trackers until ctx ends, and receives their webhooks at the address hooks, unless that is "". Changed
// receives when the list of trackers changed. The function it returns waits for the end.
func Watch(ctx context.Context, s *trackers.Service, hooks string, changed <-chan struct{}) (ended func(), err error) {
	var wait sync.WaitGroup
	if hooks != "" {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", hooks)
		if err != nil {
			return nil, fmt.Errorf("listen for webhooks of trackers: %w", err)
		}
		s.Log.Info("listening for webhooks of trackers", "component", "hooks", "address", l.Addr().String())
		server := &http.Server{Handler: hookHandler(s.HandleWebhook, s.Log), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
		wait.Go(func() { server.Serve(l) }) //nolint:errcheck // it ends with the server
		wait.Go(func() {
			<-ctx.Done()
			server.Close() //nolint:errcheck // a tracker sends its webhook again
		})
	}
	wait.Go(func() { s.WatchTrackers(ctx, changed) })
	return func() { wait.Wait(); s.Close() }, nil
}

// maxHooks bounds how many webhooks are handled at the same time.
const maxHooks = 16

// hookHandler receives the webhooks of trackers and passes them to handle. Its responses reveal as little as possible.
func hookHandler(handle func(ctx context.Context, name string, header http.Header, body []byte) error, log *slog.Logger) http.Handler {
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
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, "too much", http.StatusRequestEntityTooLarge)
			return
		}
		name := r.PathValue("name")
		err = handle(r.Context(), name, r.Header, body)
		var mistake *task.Mistake
		switch {
		case err == nil:
			w.WriteHeader(http.StatusNoContent)
		case errors.Is(err, tracker.ErrForged), errors.As(err, &mistake):
			log.Warn("refused a webhook that is not authentic", "component", "hooks", "tracker", name, "error", err)
			http.Error(w, "not believed", http.StatusForbidden)
		case errors.Is(err, tracker.ErrMalformed):
			log.Warn("refused a webhook that cannot be parsed", "component", "hooks", "tracker", name, "error", err)
			http.Error(w, "not understood", http.StatusBadRequest)
		default:
			log.Warn("could not handle a webhook", "component", "hooks", "tracker", name, "error", err)
			http.Error(w, "later", http.StatusServiceUnavailable)
		}
	})
	return mux
}
