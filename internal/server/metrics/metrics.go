// Package metrics serves figures of the server for Prometheus, as text. They are counts and durations by workflow, harness,
// outcome and kind of state. Nothing of a task is a label: no id, branch, project, summary or path.
package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"orange/internal/core/stats"
)

// Figures returns the figures of all tasks.
type Figures func(ctx context.Context) ([]stats.TaskFigures, error)

// contentType is that of the text format.
const contentType = "text/plain; version=0.0.4; charset=utf-8"

// Handler serves /metrics.
func Handler(figures Figures, version string, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		tasks, err := figures(r.Context())
		if err != nil {
			log.Error("measure tasks", "component", "metrics", "error", err)
			http.Error(w, "the journal cannot be read: run orange doctor", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", contentType)
		io.WriteString(w, FormatMetrics(tasks, version)) //nolint:errcheck // the client left
	})
	return mux
}

// Serve serves the metrics at an address until ctx ends. The function it returns waits for the end.
func Serve(ctx context.Context, address string, h http.Handler, log *slog.Logger) (ended func(), err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return func() {}, fmt.Errorf("serve metrics: %w: choose another address with --metrics", err)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics are no longer served", "component", "metrics", "error", err)
		}
	}()
	stop := context.AfterFunc(ctx, func() { server.Close() }) //nolint:errcheck // nothing is left to be done
	log.Info("metrics are served", "component", "metrics", "address", l.Addr().String())
	return func() {
		if stop() {
			server.Close() //nolint:errcheck // nothing is left to be done
		}
		<-done
	}, nil
}
