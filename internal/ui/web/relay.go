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

// relayRoutes forwards /api/v1/... to the API behind the socket, so that programs that have the token
// can use the API over TCP. A browser session may only read, and may not export: pages make changes
// with their own forms, so a stolen session can never do more than the pages can.
//
// The API treats forwarded requests as a person's, because this server opens the connection;
// guardRequests has checked that they are. A request may carry an attempt's token only together with
// the bearer token. That can only reduce its rights: the API then treats it as the attempt's. Cookies
// are never forwarded, and a browser can act only as its person.
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
	for _, path := range []string{wire.PathTaskType, wire.PathTaskKeys} {
		mux.HandleFunc("POST "+wire.Alias+path, func(w http.ResponseWriter, r *http.Request) {
			if !s.o.Input {
				s.writeError(w, r, errShown)
				return
			}
			pass.ServeHTTP(w, r)
		})
	}
}

var (
	errSession = newRefusal(http.StatusForbidden, "a session may only read the API: use the page, or send the token with Authorization: Bearer")
	errShown   = newRefusal(http.StatusForbidden, "terminals are read-only here: start the server with --web-input to type into them, or use orange task attach")
)

// maxRelay limits the size of a request body, in bytes. Importing an installation goes through the
// socket instead.
const maxRelay = 4 << 20

func (s *Site) newRelay() http.Handler {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", s.o.Socket())
	}
	proxy := &httputil.ReverseProxy{
		Transport:     &http.Transport{DialContext: dial, DisableCompression: true},
		FlushInterval: -1, // send events immediately
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = "http", "orange", "orange"
			for _, name := range []string{"Cookie", "Authorization", "Origin", "Referer", headerCSRF, "Forwarded"} {
				p.Out.Header.Del(name)
			}
			if _, shown := BearerToken(p.In); !shown {
				p.Out.Header.Del(wire.HeaderToken)
			}
			p.Out.Header.Del(wire.HeaderVia) // only this server says where a request comes from
			if via := client.ViaHeader(p.In.Context()); via != "" {
				p.Out.Header.Set(wire.HeaderVia, via)
			}
		},
		ModifyResponse: func(res *http.Response) error {
			res.Header.Del("Set-Cookie")
			for name := range res.Header { // the headers of this site take precedence
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
