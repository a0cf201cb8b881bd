package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"orange/internal/core/task"
)

func (s *Server) hello(w http.ResponseWriter, _ *http.Request) {
	s.reply(w, http.StatusOK, map[string]any{"version": s.Release, "api": Version, "pid": s.PID, "home": s.Home})
}

func (s *Server) listProjects(w http.ResponseWriter, _ *http.Request) {
	s.reply(w, http.StatusOK, map[string]any{"projects": nonNil(s.Projects.Projects())})
}

func (s *Server) addProject(w http.ResponseWriter, r *http.Request) {
	var p task.Project
	if err := read(r, &p); err != nil {
		s.failWith(w, err)
		return
	}
	p, err := s.Projects.Add(r.Context(), p)
	s.replyProject(w, p, err)
}

func (s *Server) updateProject(w http.ResponseWriter, r *http.Request) {
	var change ProjectChange
	if err := read(r, &change); err != nil {
		s.failWith(w, err)
		return
	}
	p, err := s.Projects.Update(r.Context(), r.PathValue("name"), change)
	s.replyProject(w, p, err)
}

func (s *Server) removeProject(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	s.replyProject(w, task.Project{Name: name}, s.Projects.Remove(r.Context(), name))
}

func (s *Server) replyProject(w http.ResponseWriter, p task.Project, err error) {
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, map[string]any{"project": p})
}

func (s *Server) where(w http.ResponseWriter, r *http.Request) {
	place, err := s.Where(r.Context(), r.URL.Query().Get("path"))
	if err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, place)
}

func (s *Server) setPaused(w http.ResponseWriter, paused bool) {
	if err := s.Control.SetPaused(paused); err != nil {
		s.failWith(w, err)
		return
	}
	s.reply(w, http.StatusOK, map[string]bool{"paused": s.Control.Paused()})
}

func (s *Server) doctor(w http.ResponseWriter, r *http.Request) {
	s.reply(w, http.StatusOK, map[string]any{"checks": s.Checks(r.Context())})
}

func (s *Server) repair(w http.ResponseWriter, r *http.Request) {
	if err := s.Repair(r.Context()); err != nil {
		s.failWith(w, err)
		return
	}
	s.doctor(w, r)
}

func (s *Server) export(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/jsonl")
	if err := s.Transfer.Export(r.Context(), w); err != nil {
		s.Log.Error("export", "component", "api", "error", err)
		panic(http.ErrAbortHandler) // the export is cut: the client must see that
	}
}

func (s *Server) importAll(w http.ResponseWriter, r *http.Request) {
	var in Imported
	var err error
	if r.Header.Get("Content-Type") == "application/jsonl" {
		in, err = s.Transfer.Import(r.Context(), r.Body)
	} else {
		var from struct {
			Path string `json:"path"`
		}
		if err = read(r, &from); err == nil {
			in, err = s.Transfer.ImportFolder(r.Context(), from.Path)
		}
	}
	if err != nil {
		s.failWith(w, err)
		return
	}
	in.Skipped = nonNil(in.Skipped)
	s.reply(w, http.StatusOK, in)
}

func (s *Server) stop(w http.ResponseWriter, _ *http.Request) {
	s.reply(w, http.StatusOK, map[string]bool{"stopped": true})
	s.Stop()
}

// pingEvery keeps an event stream from looking dead.
const pingEvery = 30 * time.Second

// events streams the journal from a row on. A client that reads slowly misses
// nothing: it is served from the store, not from a buffer.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	after, err := resumeAt(r)
	if err != nil {
		s.failWith(w, err)
		return
	}
	out := openStream(w)
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		rows, more, err := s.Engine.Follow(after, task.ID(r.URL.Query().Get("task")), 500)
		if err != nil {
			s.Log.Error("follow the journal", "component", "api", "error", err)
			return
		}
		for _, row := range rows {
			after = row.ID
			if _, err := fmt.Fprintf(w, "id: %d\nevent: entry\ndata: %s\n\n", row.ID, row.Entry); err != nil {
				return
			}
		}
		out.flush.Flush()
		if len(rows) > 0 {
			continue
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.leaving:
			return
		case <-more:
		case <-ping.C:
			out.ping()
		}
	}
}

func resumeAt(r *http.Request) (int64, error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 {
		return 0, task.Mistakef("Last-Event-ID %q is not a row: give the id of the last event seen", text)
	}
	return n, nil
}

// Serve answers on the listener until ctx ends, or until nothing has been going on
// for as long as idle. Requests under way are given a moment to end.
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

// leaveWhenIdle calls leave after a while without requests and without anything the
// engine waits for.
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
