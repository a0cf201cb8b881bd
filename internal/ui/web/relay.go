package web

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"

	"orange/internal/ui/client"
	"orange/internal/wire"
)

// relayRoutes pass /api/v1/... on to the API behind the socket, so that programs which
// have the token ask the same things over TCP. A browser's session may look, and take no
// copy of everything: what pages change they change with forms of their own, and so a
// session is never worth more than the pages.
//
// The API takes what comes through here for a person's, because this server dials it; who
// may be that person was found out by guard. An attempt's token is passed on only
// together with the bearer token: it can then only take away (the API sees the attempt
// and no person any more). A cookie is never passed on, and a browser speaks for nobody
// but its person.
func (s *Site) relayRoutes(mux *http.ServeMux) {
	if s.o.Socket == nil {
		return
	}
	pass := s.newRelay()
	mux.Handle(wire.Alias+"/", pass)
	mux.HandleFunc("GET "+wire.Alias+wire.PathExport, func(w http.ResponseWriter, r *http.Request) {
		if _, shown := BearerToken(r); !shown {
			s.writeError(w, r, errSession)
			return
		}
		pass.ServeHTTP(w, r)
	})
	mux.HandleFunc("POST "+wire.Alias+wire.PathTaskType, func(w http.ResponseWriter, r *http.Request) {
		if !s.o.Input {
			s.writeError(w, r, errShown)
			return
		}
		pass.ServeHTTP(w, r)
	})
}

var (
	errSession = newRefusal(http.StatusForbidden, "a session may only look at the API: use the page, or show the token with Authorization: Bearer")
	errShown   = newRefusal(http.StatusForbidden, "terminals are only shown here: start the server with --web-input to type into them, or use orange task attach")
)

// maxRelay bounds what a request may carry. An import of an installation goes through the
// socket.
const maxRelay = 4 << 20

func (s *Site) newRelay() http.Handler {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", s.o.Socket())
	}
	proxy := &httputil.ReverseProxy{
		Transport:     &http.Transport{DialContext: dial, DisableCompression: true},
		FlushInterval: -1, // events are told at once
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = "http", "orange", "orange"
			for _, name := range []string{"Cookie", "Authorization", "Origin", "Referer", headerCSRF, "Forwarded"} {
				p.Out.Header.Del(name)
			}
			if _, shown := BearerToken(p.In); !shown {
				p.Out.Header.Del(wire.HeaderToken)
			}
			p.Out.Header.Del(wire.HeaderVia) // nobody else says where a request comes from
			if via := client.ViaHeader(p.In.Context()); via != "" {
				p.Out.Header.Set(wire.HeaderVia, via)
			}
		},
		ModifyResponse: func(res *http.Response) error {
			res.Header.Del("Set-Cookie")
			for name := range res.Header { // ours stand
				if strings.HasPrefix(name, "Access-Control-") || name == "Cache-Control" {
					res.Header.Del(name)
				}
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			s.writeError(w, r, newRefusal(http.StatusBadGateway, "the server does not answer: see orange log"))
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, shown := BearerToken(r); !shown && !readOnly(r) {
			s.writeError(w, r, errSession)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxRelay)
		proxy.ServeHTTP(w, r)
	})
}
