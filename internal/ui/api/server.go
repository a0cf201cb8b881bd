package api

import (
	"context"
	"io"
	"net/http"

	"orange/internal/doctor"
)

// A Hello is how a server introduces itself.
type Hello struct {
	API     int    `json:"api"`
	Home    string `json:"home"`
	PID     int    `json:"pid"`
	Version string `json:"version"`
}

func (s *Server) hello(*http.Request) (Hello, error) {
	return Hello{Version: s.Release, API: Version, PID: s.PID, Home: s.Home}, nil
}

// Held says whether everything is held.
type Held struct {
	Paused bool `json:"paused"`
}

func (s *Server) pause(*http.Request) (Held, error)  { return s.setPaused(true) }
func (s *Server) resume(*http.Request) (Held, error) { return s.setPaused(false) }

func (s *Server) setPaused(paused bool) (Held, error) {
	defer s.bell.ring()
	err := s.Control.SetPaused(paused)
	return Held{s.Control.Paused()}, err
}

// A Checkup is what the server found when it looked at itself.
type Checkup struct {
	Checks []doctor.Result `json:"checks"`
}

func (s *Server) doctor(r *http.Request) (Checkup, error) {
	return Checkup{s.Checks(r.Context())}, nil
}

func (s *Server) repair(r *http.Request) (Checkup, error) {
	defer s.bell.ring()
	if err := s.Repair(r.Context()); err != nil {
		return Checkup{}, err
	}
	return s.doctor(r)
}

// Transfer takes a whole installation out and in.
type Transfer interface {
	Export(ctx context.Context, w io.Writer) error
	Import(ctx context.Context, r io.Reader) (Imported, error)
	ImportFolder(ctx context.Context, path string) (Imported, error)
}

// Imported says what an import took over.
type Imported struct {
	Tasks    int      `json:"tasks"`
	Projects int      `json:"projects"`
	Skipped  []string `json:"skipped"`
}

// jsonLines is the content type of an export.
const jsonLines = "application/jsonl"

func (s *Server) export(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", jsonLines)
	if err := s.Transfer.Export(r.Context(), w); err != nil {
		s.Log.Error("export", "component", "api", "error", err)
		panic(http.ErrAbortHandler) // the export is cut: the client must see that
	}
}

// An ImportWish names a folder that the server can read.
type ImportWish struct {
	Path string `json:"path"`
}

// importAll takes over an export, or what is in a folder.
func (s *Server) importAll(w http.ResponseWriter, r *http.Request) {
	defer s.bell.ring()
	var in Imported
	var err error
	if r.Header.Get("Content-Type") == jsonLines {
		in, err = s.Transfer.Import(r.Context(), r.Body)
	} else {
		var from ImportWish
		if err = read(r, &from); err == nil {
			in, err = s.Transfer.ImportFolder(r.Context(), from.Path)
		}
	}
	in.Skipped = nonNil(in.Skipped)
	s.replyOr(w, in, err)
}

// Stopped says that the server leaves.
type Stopped struct {
	Stopped bool `json:"stopped"`
}

func (s *Server) stop(w http.ResponseWriter, _ *http.Request) {
	s.reply(w, http.StatusOK, Stopped{true})
	s.Stop()
}
