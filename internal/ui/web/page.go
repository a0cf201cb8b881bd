package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/ui/client"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
	"orange/internal/view/narrate"
	"orange/internal/view/overview"
)

// page is the data that every page has. The data of each template embeds it.
type page struct {
	CSRF    string
	Path    string    // path of the request, without the query; "/" after a form
	Now     time.Time // by the server's clock
	Row     int64     // row of the journal that the page is current as of; 0 if not known
	Topic   string    // which events the page receives: "", board, all, task:ID or kanban:PROJECT; see live.go
	Query   string    // the query of the board
	Paused  bool      // all tasks are paused
	Wants   int       // how many things wait for a person, -1 if not known
	Input   bool      // people may type into agents' terminals
	Theme   string    // of this browser
	Past    bool      // the page shows the past, and offers no actions
	Said    string    // the result of the last request
	SaidBad bool      // the last request was refused
}

// newPage returns the page data for a request. It reads the state from the server; if that fails, it
// leaves the fields unknown.
func (s *Site) newPage(r *http.Request) page {
	p := s.blankPage(r)
	if state, err := s.o.API.ReadState(r.Context(), client.StateQuery{Project: nobody}); err == nil {
		p.Row, p.Paused = state.Row, state.Paused
	}
	if list, err := s.o.API.ListInbox(r.Context(), ""); err == nil {
		p.Wants, _ = explain.CountInbox(list)
	}
	return p
}

// nobody is a name that no project has. Its state holds only what is common to all projects.
const nobody = "-"

// pageOf is like newPage, for callers that already have the state of all tasks.
func (s *Site) pageOf(r *http.Request, state *overview.State) page {
	p := s.blankPage(r)
	p.Row, p.Paused, p.Wants = state.Row, state.Paused, state.CountWaiting("")
	return p
}

func (s *Site) blankPage(r *http.Request) page {
	p := page{CSRF: s.csrfOf(r), Path: "/", Now: s.o.Now(), Wants: -1, Input: s.o.Input, Theme: themeOf(r)}
	if readOnly(r) {
		p.Path = r.URL.Path
	}
	if id := r.URL.Query().Get("said"); id != "" {
		p.Said, p.SaidBad = s.said.findMessage(id)
	}
	return p
}

// A navItem is a link of the navigation.
type navItem struct {
	Path, Name, Icon string
	Here             bool
	Count            int
}

// Nav returns the navigation of every page.
func (p page) Nav() []navItem {
	list := []navItem{
		{Path: "/inbox", Name: "Inbox", Icon: "inbox", Count: max(p.Wants, 0)}, {Path: "/", Name: "Board", Icon: "board"}, {Path: "/kanban", Name: "Kanban", Icon: "split"},
		{Path: "/fleet", Name: "Fleet", Icon: "fleet"}, {Path: "/workflows", Name: "Workflows", Icon: "workflow"}, {Path: "/stats", Name: "Stats", Icon: "chart"},
	}
	for i := range list {
		n := &list[i]
		n.Here = p.Path == n.Path || n.Path != "/" && strings.HasPrefix(p.Path, n.Path+"/")
	}
	return list
}

// ProjectChosen returns the project that the page is filtered by, "" for all. Pages with a filter have their own.
func (page) ProjectChosen() string { return "" }

// parseTemplates combines each page with the layout. Files whose names begin with _ are parts that all
// pages may use.
func parseTemplates() map[string]*template.Template {
	base := template.Must(template.New("layout.html").Funcs(templateFuncs()).ParseFS(templateFiles, "templates/layout.html"))
	if parts, _ := fs.Glob(templateFiles, "templates/_*.html"); len(parts) > 0 {
		template.Must(base.ParseFS(templateFiles, parts...))
	}
	out := map[string]*template.Template{}
	files, _ := fs.Glob(templateFiles, "templates/*.html")
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if name == "layout" || strings.HasPrefix(name, "_") {
			continue
		}
		out[name] = template.Must(template.Must(base.Clone()).ParseFS(templateFiles, file))
	}
	return out
}

// templateFuncs returns the functions that templates may call.
func templateFuncs() template.FuncMap {
	return template.FuncMap{
		"bound": narrate.DescribeBound,
		"age":   func(now, at time.Time) string { return humanize.FormatAge(now, at) },
		"until": timeUntil,
		"when":  func(now, at time.Time) string { return humanize.DescribeUntil(now, at) },
		"clock": func(now, at time.Time) string { return humanize.FormatTime(now, at) },
		"iso":   func(at time.Time) string { return at.UTC().Format(time.RFC3339) },
		"short": func(id task.ID) string { return humanize.ShortID(string(id)) },
		"money": formatMoney,
		"count": formatCount,
		"text":  ansi.SafeText,
		"line":  ansi.OneLine,
		"icon":  icon,
		"inc":   func(n int) int { return n + 1 },
		"part":  func(f *taskFile) filePart { return filePart{f} },
	}
}

// timeUntil returns how long it is until then, without the time itself.
func timeUntil(now, at time.Time) string {
	text, _, _ := strings.Cut(humanize.DescribeUntil(now, at), " (")
	return text
}

// formatMoney formats an amount in millionths of a dollar.
func formatMoney(micros int64) string {
	if micros > 0 && micros < 5000 {
		return "<$0.01"
	}
	return fmt.Sprintf("$%.2f", float64(micros)/1e6)
}

// renderPage responds with templates/<name>.html within the layout. It sends nothing until the whole
// page is rendered.
func (s *Site) renderPage(w http.ResponseWriter, r *http.Request, status int, name string, data any) {
	t, ok := s.pages[name]
	if !ok {
		s.writeBrokenPage(w, fmt.Errorf("unknown template %q", name))
		return
	}
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, "layout.html", data); err != nil {
		s.writeBrokenPage(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	text := compressText(w, r, out.Bytes())
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		w.Write(text) //nolint:errcheck // the client left
	}
}

// renderPart responds with a part of a page, for scripts.
func (s *Site) renderPart(w http.ResponseWriter, page, part string, data any) {
	var out bytes.Buffer
	if err := s.pages[page].ExecuteTemplate(&out, part, data); err != nil {
		s.writeBrokenPage(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(out.Bytes()) //nolint:errcheck // the client left
}

// writeBrokenPage responds that the page could not be rendered.
func (s *Site) writeBrokenPage(w http.ResponseWriter, err error) {
	s.o.Log.Error("render a page", "component", "web", "error", err)
	http.Error(w, "cannot render the page: see orange log", http.StatusInternalServerError)
}

// failure is the data of the error page.
type failure struct {
	page
	Status  int
	Title   string
	Message string
	Wrote   string // the note that the person had written, so that it is not lost
	Repeat  string // the address of the form, if it must be sent again with a code
	Fields  [][2]string
	Again   string // a link to the page itself, for people who are signed in and came from another site
}

// refusal is an error with an HTTP status.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string { return e.text }

func newRefusal(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// statusOf returns the HTTP status for an error.
func statusOf(err error) int {
	var own *refusal
	var no *client.Error
	var mistake *task.Mistake
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &own):
		return own.status
	case errors.As(err, &no):
		return no.Status
	case errors.As(err, &mistake):
		return http.StatusBadRequest
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge
	case client.IsAbsent(err):
		return http.StatusBadGateway
	}
	return http.StatusInternalServerError
}

// writeError responds with an error on one line: as a page, or as JSON if the client wants JSON.
func (s *Site) writeError(w http.ResponseWriter, r *http.Request, err error) {
	status := statusOf(err)
	if status >= 500 && r.Context().Err() == nil {
		s.o.Log.Error("a request of the web page failed", "component", "web", "path", r.URL.Path, "error", err)
	}
	message := ansi.OneLine(humanize.Cut(err.Error(), maxMessage))
	if client.IsAbsent(err) {
		message = "the server does not answer: wait a moment and reload, or see orange log"
	}
	if wantsJSON(r) {
		s.writeJSON(w, status, refused{message, client.NeedsCode(err)})
		return
	}
	p := s.blankPage(r)
	p.Said = ""
	wrote := ""
	if r.Method == http.MethodPost && r.PostForm != nil {
		wrote = ansi.SafeText(r.PostForm.Get("note"))
	}
	f := failure{page: p, Status: status, Title: titleOf(status), Message: message, Wrote: wrote}
	if client.NeedsCode(err) {
		f.Title, f.Repeat, f.Fields = "Code", r.URL.EscapedPath(), formFields(r)
	}
	s.renderPage(w, r, status, "error", f)
}

// refused is an error response as JSON.
type refused struct {
	Error string `json:"error"`
	Code  bool   `json:"code,omitempty"` // the request must be repeated with the code from the notification
}

// formFields returns the fields of a form, so that it can be sent again with a code.
func formFields(r *http.Request) [][2]string {
	var out [][2]string
	for _, name := range slices.Sorted(maps.Keys(r.PostForm)) {
		if name != fieldCSRF && name != fieldCode {
			out = append(out, [2]string{name, r.PostForm.Get(name)})
		}
	}
	return out
}

const maxMessage = 2000

func titleOf(status int) string {
	switch status {
	case http.StatusNotFound:
		return "Not found"
	case http.StatusConflict:
		return "Refused"
	case http.StatusForbidden:
		return "Not allowed"
	case http.StatusBadRequest:
		return "Not understood"
	case http.StatusBadGateway, http.StatusServiceUnavailable:
		return "No answer"
	}
	if t := http.StatusText(status); t != "" {
		return t
	}
	return "Error"
}

// wantsJSON reports whether the client wants JSON: scripts and programs do.
func wantsJSON(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/api/") || strings.HasPrefix(r.Header.Get("Accept"), "application/json")
}

func (s *Site) writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		s.writeBrokenPage(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(body, '\n')) //nolint:errcheck // the client left
}

// orUnknown responds with our own error page where mux has no handler.
func (s *Site) orUnknown(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, found := mux.Handler(r); found != "" {
			mux.ServeHTTP(w, r)
			return
		}
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			other := r.Clone(r.Context())
			if other.Method = method; method == r.Method {
				continue
			}
			if _, found := mux.Handler(other); found != "" {
				w.Header().Set("Allow", method)
				s.writeError(w, r, newRefusal(http.StatusMethodNotAllowed, "this page does not support that request: go to the board"))
				return
			}
		}
		s.serveNotFound(w, r)
	})
}

func (s *Site) serveNotFound(w http.ResponseWriter, r *http.Request) {
	s.writeError(w, r, newRefusal(http.StatusNotFound, "this page does not exist: go to the board"))
}

// maxForm limits the size of a form, in bytes.
const maxForm = 1 << 20

// formHandler returns the handler of a form. h carries out the form and ends with finishForm;
// formHandler shows the error that h returns. It parses the form for every kind of authentication.
// guardRequests has already checked where the form comes from.
func (s *Site) formHandler(h func(w http.ResponseWriter, r *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := parseForm(r)
		if err == nil {
			err = h(w, r)
		}
		if err != nil {
			s.writeError(w, r, err)
		}
	}
}

// finishForm ends a successful form: it redirects to the page at to, a path of this site, which shows
// said.
func (s *Site) finishForm(w http.ResponseWriter, r *http.Request, to, said string) {
	said = ansi.OneLine(humanize.Cut(said, maxMessage))
	to = ownPath(to)
	if wantsJSON(r) {
		s.writeJSON(w, http.StatusOK, map[string]string{"said": said, "to": to})
		return
	}
	if said != "" {
		sep := "?"
		if strings.Contains(to, "?") {
			sep = "&"
		}
		to += sep + "said=" + s.said.storeMessage(said, false)
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// ownPath returns to if it is a path of this site, and the path of the board otherwise.
func ownPath(to string) string {
	if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.Contains(to, "\\") || strings.ContainsFunc(to, unicode.IsControl) {
		return "/"
	}
	return to
}
