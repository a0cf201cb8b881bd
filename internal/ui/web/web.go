// Package web is the page on which people see and steer everything with a browser. It is
// served on this machine only, to whoever has the token, and is a client of the API like
// every other. Its pages are whole without JavaScript; the script keeps them up to date.
package web

import (
	"context"
	"embed"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"orange/internal/core/signal"
	"orange/internal/core/verify"
	"orange/internal/core/workflow"
	"orange/internal/ui/client"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static
var staticFiles embed.FS

// SiteOptions are what a site is made of.
type SiteOptions struct {
	API     *client.Client
	Socket  func() string // of the API, for /api/v1/...; nil: it is not passed on
	Log     *slog.Logger
	Token   string                    // who shows it may look and act
	Codes   *Codes                    // who shows one that is good is signed in; nil: none is
	Input   bool                      // people may type into agents' terminals
	MCP     http.Handler              // at /mcp, nil: there is none; it finds out who asks
	Who     func(*http.Request) error // says why a process may not ask, nil: all may
	Address func() string             // host and port of the listener

	// Describe says which process is at the other end of a request; nil: that is not known.
	Describe func(*http.Request) signal.Via

	Now func() time.Time // nil: time.Now

	// Verify searches the states of a workflow; nil: in this process.
	Verify func(ctx context.Context, def *workflow.Definition, maxStates int) (verify.Report, error)
}

// Site is the web page of one server. It is safe for concurrent use.
type Site struct {
	o      SiteOptions
	pages  map[string]*template.Template // by name, each with the layout
	static fs.FS
	etags  map[string]string // of static files
	tries  bucket
	said   messageStore

	definitions definitionCache
	recent      stateCache
}

// New makes a site. It panics if a template that comes with the program is broken, which
// no input can bring about.
func New(o SiteOptions) *Site {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Codes == nil {
		o.Codes = NewCodes(o.Now)
	}
	if o.Verify == nil {
		o.Verify = searchHere
	}
	static, _ := fs.Sub(staticFiles, "static")
	return &Site{o: o, pages: parseTemplates(), static: static, etags: etagsOf(static), tries: bucket{now: o.Now}}
}

// Handler serves the site.
func (s *Site) Handler() http.Handler {
	mux := http.NewServeMux()
	s.boardRoutes(mux)
	s.inboxRoutes(mux)
	s.fleetRoutes(mux)
	s.createRoutes(mux)
	s.actRoutes(mux)
	s.liveRoutes(mux)
	s.taskRoutes(mux)
	s.workflowRoutes(mux)
	s.relayRoutes(mux)
	mux.HandleFunc("GET /static/", s.serveStatic)
	if s.o.MCP != nil {
		mux.Handle("/mcp", s.o.MCP)
	}
	return s.guardRequests(s.orUnknown(mux))
}
