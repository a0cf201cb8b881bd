// Package web serves the web page on which people watch and control tasks. It listens on this machine
// only, requires the token, and uses the API as any other client does. The pages work without
// JavaScript; the script keeps them up to date.
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

// SiteOptions configures a Site.
type SiteOptions struct {
	API     *client.Client
	Socket  func() string // path of the API's socket, for /api/v1/...; nil: it is not forwarded
	Log     *slog.Logger
	Token   string                    // grants reading and acting
	Codes   *Codes                    // login codes; nil: there are none
	Input   bool                      // people may type into agents' terminals
	Dev     bool                      // /style shows every component of the pages
	MCP     http.Handler              // serves /mcp and authenticates its callers; nil: there is none
	Who     func(*http.Request) error // returns why a process may not use the site; nil: all processes may
	Address func() string             // host and port of the listener

	EditorLink string // address that opens a folder in the editor of the person, with {path} in it; "" for none

	// Describe returns the process at the other end of a request; nil: it is not known.
	Describe func(*http.Request) signal.Via

	Now func() time.Time // nil: time.Now

	// Verify searches the states of a workflow; nil: search in this process.
	Verify func(ctx context.Context, def *workflow.Definition, maxStates int) (verify.Report, error)
}

// Site is the web page of one server. It is safe for concurrent use.
type Site struct {
	o      SiteOptions
	pages  map[string]*template.Template // by name, each within the layout
	static fs.FS
	etags  map[string]string // of static files
	zipped map[string][]byte // static files, compressed
	tries  bucket
	said   messageStore

	definitions definitionCache
	diffs       diffCache
	recent      stateCache
}

// New returns a site. It panics if an embedded template is broken.
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
	return &Site{o: o, pages: parseTemplates(), static: static, etags: etagsOf(static), zipped: compressFiles(static), tries: bucket{now: o.Now}}
}

// Handler serves the site.
func (s *Site) Handler() http.Handler {
	mux := http.NewServeMux()
	s.boardRoutes(mux)
	s.kanbanRoutes(mux)
	s.inboxRoutes(mux)
	s.fleetRoutes(mux)
	s.createRoutes(mux)
	s.actRoutes(mux)
	s.liveRoutes(mux)
	s.taskRoutes(mux)
	s.workflowRoutes(mux)
	s.statsRoutes(mux)
	s.relayRoutes(mux)
	s.styleRoutes(mux)
	s.shellRoutes(mux)
	mux.HandleFunc("GET /static/", s.serveStatic)
	if s.o.MCP != nil {
		mux.Handle("/mcp", s.o.MCP)
	}
	return s.guardRequests(s.orUnknown(mux))
}
