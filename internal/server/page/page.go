// Package page serves the web page of a server, and MCP over HTTP at the same address.
package page

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"orange/internal/adapter/shim"
	"orange/internal/config"
	"orange/internal/core/task"
	"orange/internal/host/agents"
	"orange/internal/server/callers"
	"orange/internal/ui/cli"
	"orange/internal/ui/client"
	"orange/internal/ui/web"
	"orange/internal/wire"
)

// Settings store values for the next server.
type Settings interface {
	Setting(key string) (string, error)
	SetSetting(key, value string) error
}

// Parts are what New needs to make a Page.
type Parts struct {
	Home     string
	Socket   string        // of the server, whose client the page is
	At       func() string // returns the present path of the socket
	Web      string        // configured address, "" for the default
	Self     string        // this program
	Version  string
	Settings Settings
	Workflow func(name, cwd string) (file, text string, err error)
	ToolEnv  func() []string // environment of a program that verifies a workflow
	Agents   *agents.Agents  // nil: no agents run
	Log      *slog.Logger
}

// Page is the web page of this server. It is opened on request. It is a client of the server's socket like every other.
type Page struct {
	Parts

	mu     sync.Mutex
	life   context.Context // the server's; nil before Start and while the server stops
	shown  Options
	stays  bool // the page was opened at the start, so the server does not stop when idle
	open   net.Listener
	token  string
	codes  *web.Codes
	server *http.Server
	ended  chan struct{}
}

// Options say what the page offers.
type Options struct {
	Input      bool   // people may type into agents' terminals
	EditorLink string // as in config.json
	Dev        bool   // it shows its own components, for people who change it
}

// New returns a page that is not open.
func New(o Parts) *Page { return &Page{Parts: o} }

// SeenAt returns the address of a task's page, or of the inbox if id is "". It returns "" if the page is not open. The
// address contains no token: a person without a session must log in.
func (p *Page) SeenAt(id task.ID) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.open == nil:
		return ""
	case id == "":
		return "http://" + p.open.Addr().String() + "/inbox"
	default:
		return "http://" + p.open.Addr().String() + "/tasks/" + string(id)
	}
}

// OpenPage implements api.Page. It opens the page if it is not open, at any free port if the usual one is taken.
func (p *Page) OpenPage(ctx context.Context) (wire.PageAddress, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, err := p.openAddress()
	if err != nil {
		return wire.PageAddress{}, err
	}
	return wire.PageAddress{URL: at, Login: at + "?code=" + p.codes.New()}, nil
}

// PageToken implements api.Page.
func (p *Page) PageToken(ctx context.Context) (wire.PageToken, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, err := p.openAddress()
	if err != nil {
		return wire.PageToken{}, err
	}
	return wire.PageToken{URL: at, Token: p.token}, nil
}

// openAddress returns the address of the page. It opens the page if it is not open. The caller holds p.mu.
func (p *Page) openAddress() (string, error) {
	if p.life == nil {
		return "", task.ErrClosing
	}
	if p.open == nil {
		if err := p.listenNear(cmp.Or(p.Web, cli.UsualPage)); err != nil {
			return "", err
		}
	}
	p.saveAddress()
	return "http://" + p.open.Addr().String() + "/", nil
}

// Start opens the page at an address, unless that is "". The function it returns closes the page and waits for its end.
func (p *Page) Start(ctx context.Context, address string, shown Options) (ended func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.life, p.shown = ctx, shown
	switch {
	case address == "":
		p.reopenLast()
		return p.closePage, nil
	case address == p.Web: // a taken port in the configuration must not keep the server from starting
		err = p.listenNear(address)
	default:
		err = p.listenAt(address)
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("open the web page: %s is in use: choose another address with --web=127.0.0.1:PORT", address)
	}
	p.stays = err == nil
	return p.closePage, err
}

// The setting that holds the last address of the page, and for how long later servers open the page there, so that an open
// browser keeps working.
const (
	pageSetting = "web.page"
	pageMemory  = 24 * time.Hour
)

// saveAddress saves the address of the page for the next server. The caller holds p.mu.
func (p *Page) saveAddress() {
	at := p.open.Addr().String() + " " + time.Now().UTC().Format(time.RFC3339)
	if err := p.Settings.SetSetting(pageSetting, at); err != nil {
		p.Log.Warn("save the address of the web page", "component", "web", "error", err)
	}
}

// reopenLast opens the page where the previous server had it, if somebody opened it within pageMemory. If that fails, the
// page is opened on request. The caller holds p.mu.
func (p *Page) reopenLast() {
	text, err := p.Settings.Setting(pageSetting)
	address, when, ok := strings.Cut(text, " ")
	at, wrong := time.Parse(time.RFC3339, when)
	if err != nil || !ok || wrong != nil || time.Since(at) > pageMemory {
		return
	}
	if err := p.listenAt(address); err != nil {
		p.Log.Info("the web page cannot be opened at its last address", "component", "web", "error", err)
	}
}

// listenNear opens the page at an address, or at another port of the same host if that is taken. The caller holds p.mu.
func (p *Page) listenNear(address string) error {
	err := p.listenAt(address)
	if errors.Is(err, syscall.EADDRINUSE) {
		host, _, _ := net.SplitHostPort(address)
		err = p.listenAt(net.JoinHostPort(host, "0"))
	}
	return err
}

// KeepsServer reports whether the page was opened at the start, so that the server does not stop when idle.
func (p *Page) KeepsServer() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stays
}

// listenAt opens the page. The caller holds p.mu.
func (p *Page) listenAt(address string) error {
	if err := config.CheckLoopback(address); err != nil {
		return task.Mistakef("web page: %v", err)
	}
	token, err := pageToken(p.Home)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("open the web page: %w", err)
	}
	codes := web.NewCodes(nil)
	o := web.SiteOptions{
		API: client.FromOptions(client.DialOptions{Socket: p.Socket, Home: p.Home}), Socket: p.At, Log: p.Log, Token: token, Codes: codes, Input: p.shown.Input, EditorLink: p.shown.EditorLink, Dev: p.shown.Dev,
		MCP: p.mcpHandler(token), Verify: p.verifyElsewhere,
		Address: func() string { return l.Addr().String() },
	}
	o.Describe = shim.DescribePeer
	if p.Agents != nil {
		o.Who = callers.Guard{Agents: p.Agents}.RefuseAgents
	}
	life := p.life
	p.open, p.token, p.codes, p.ended = l, token, codes, make(chan struct{})
	p.server = &http.Server{
		Handler: web.New(o).Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return life }, // streams end with the server
		ConnContext: web.ConnContext,
		ErrorLog:    slog.NewLogLogger(p.Log.Handler(), slog.LevelDebug),
	}
	go func() {
		defer close(p.ended)
		if err := p.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			p.Log.Error("the web page is no longer served", "component", "web", "error", err)
		}
	}()
	p.Log.Info("the web page is open", "component", "web", "address", l.Addr().String())
	return nil
}

// closePage closes the page. Requests in progress have one second to finish.
func (p *Page) closePage() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.life = nil
	if p.open == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := p.server.Shutdown(ctx); err != nil {
		p.server.Close() //nolint:errcheck // there is nothing more to do
	}
	<-p.ended
	p.open = nil
}

// pageToken returns the token of the page. It has its own key, so that removing web.key ends every session without
// affecting the tokens of agents.
func pageToken(home string) (string, error) {
	key, err := agents.LoadKey(filepath.Join(home, "web.key"))
	if err != nil {
		return "", fmt.Errorf("web page: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(key), nil
}
