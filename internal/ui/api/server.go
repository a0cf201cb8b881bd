package api

import (
	"context"
	"io"
	"net/http"

	"orange/internal/wire"
)

func (s *Server) hello(*http.Request) (wire.Hello, error) {
	return wire.Hello{Version: s.Release, API: wire.Version, PID: s.PID, Home: s.Home}, nil
}

func (s *Server) pause(*http.Request) (wire.Held, error)  { return s.setPaused(true) }
func (s *Server) resume(*http.Request) (wire.Held, error) { return s.setPaused(false) }

func (s *Server) setPaused(paused bool) (wire.Held, error) {
	defer s.bell.ring()
	err := s.Control.SetPaused(paused)
	return wire.Held{Paused: s.Control.Paused()}, err
}

func (s *Server) doctor(r *http.Request) (wire.Checkup, error) {
	return wire.Checkup{Checks: s.Checks(r.Context())}, nil
}

func (s *Server) repair(r *http.Request) (wire.Checkup, error) {
	defer s.bell.ring()
	if err := s.Repair(r.Context()); err != nil {
		return wire.Checkup{}, err
	}
	return s.doctor(r)
}

// Transfer takes a whole installation out and in.
type Transfer interface {
	Export(ctx context.Context, w io.Writer) error
	Import(ctx context.Context, r io.Reader) (wire.Imported, error)
	ImportFolder(ctx context.Context, path string) (wire.Imported, error)
}

func (s *Server) export(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", wire.TypeJSONLines)
	if err := s.Transfer.Export(r.Context(), w); err != nil {
		s.Log.Error("export", "component", "api", "error", err)
		panic(http.ErrAbortHandler) // the export is cut: the client must see that
	}
}

// importAll takes over an export, or what is in a folder.
func (s *Server) importAll(w http.ResponseWriter, r *http.Request) {
	defer s.bell.ring()
	var in wire.Imported
	var err error
	if r.Header.Get("Content-Type") == wire.TypeJSONLines {
		in, err = s.Transfer.Import(r.Context(), r.Body)
	} else {
		var from wire.ImportWish
		if err = read(r, &from); err == nil {
			in, err = s.Transfer.ImportFolder(r.Context(), from.Path)
		}
	}
	in.Skipped = nonNil(in.Skipped)
	s.replyOr(w, in, err)
}

func (s *Server) stop(w http.ResponseWriter, _ *http.Request) {
	s.reply(w, http.StatusOK, wire.Stopped{Stopped: true})
	s.Stop()
}
