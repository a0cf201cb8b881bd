package api

import (
	"context"
	"io"
	"net/http"

	"orange/internal/wire"
)

func (s *Server) sayHello(*http.Request) (wire.Hello, error) {
	return wire.Hello{Version: s.Release, API: wire.Version, PID: s.PID, Home: s.Home}, nil
}

func (s *Server) pauseAll(*http.Request) (wire.PauseState, error)  { return s.setPaused(true) }
func (s *Server) resumeAll(*http.Request) (wire.PauseState, error) { return s.setPaused(false) }

func (s *Server) setPaused(paused bool) (wire.PauseState, error) {
	defer s.streamWaker.wakeAll()
	err := s.Control.SetPaused(paused)
	return wire.PauseState{Paused: s.Control.Paused()}, err
}

func (s *Server) runChecks(r *http.Request) (wire.HealthReport, error) {
	return wire.HealthReport{Checks: s.Checks(r.Context())}, nil
}

func (s *Server) repairRecords(r *http.Request) (wire.HealthReport, error) {
	defer s.streamWaker.wakeAll()
	if err := s.Repair(r.Context()); err != nil {
		return wire.HealthReport{}, err
	}
	return s.runChecks(r)
}

// Transfer exports and imports a whole installation.
type Transfer interface {
	Export(ctx context.Context, w io.Writer) error
	Import(ctx context.Context, r io.Reader) (wire.Imported, error)
	ImportFolder(ctx context.Context, path string) (wire.Imported, error)
}

func (s *Server) exportAll(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", wire.TypeJSONLines)
	if err := s.Transfer.Export(r.Context(), w); err != nil {
		s.Log.Error("export", "component", "api", "error", err)
		panic(http.ErrAbortHandler) // the export is incomplete, and the client must notice
	}
}

// importAll imports an export, or the content of a folder.
func (s *Server) importAll(w http.ResponseWriter, r *http.Request) {
	defer s.streamWaker.wakeAll()
	var in wire.Imported
	var err error
	if r.Header.Get("Content-Type") == wire.TypeJSONLines {
		in, err = s.Transfer.Import(r.Context(), r.Body)
	} else {
		var from wire.ImportRequest
		if err = decodeBody(r, &from); err == nil {
			in, err = s.Transfer.ImportFolder(r.Context(), from.Path)
		}
	}
	in.Skipped = nonNil(in.Skipped)
	s.replyOr(w, in, err)
}

func (s *Server) stopServer(w http.ResponseWriter, _ *http.Request) {
	s.replyJSON(w, http.StatusOK, wire.Stopped{Stopped: true})
	s.Stop()
}
