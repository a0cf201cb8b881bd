package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/backoff"
	"orange/internal/transport"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// reply returns a response: a status, then pairs of headers; a last single text is the body.
func reply(status int, parts ...string) *http.Response {
	resp := &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody}
	for len(parts) >= 2 {
		resp.Header.Set(parts[0], parts[1])
		parts = parts[2:]
	}
	if len(parts) == 1 {
		resp.Body = io.NopCloser(strings.NewReader(parts[0]))
	}
	return resp
}

func request(t *testing.T, method, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://tracker.test/issues", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer planted-token")
	return req
}

// A server sends its responses in turn, the last one forever. A nil response is an error.
type server struct {
	mu      sync.Mutex
	replies []func() (*http.Response, error)
	bodies  []string
	at      []time.Duration
	start   time.Time
}

func (s *server) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.start.IsZero() {
		s.start = time.Now()
	}
	s.at = append(s.at, time.Since(s.start))
	s.bodies = append(s.bodies, string(body))
	return s.replies[min(len(s.bodies), len(s.replies))-1]()
}

func says(status int, parts ...string) func() (*http.Response, error) {
	return func() (*http.Response, error) { return reply(status, parts...), nil }
}

func fails(err error) func() (*http.Response, error) {
	return func() (*http.Response, error) { return nil, err }
}

var (
	errReset   = &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	errRefused = &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	errNoHost  = &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "tracker.test"}}
)

type replies = []func() (*http.Response, error)

func TestWhatIsTriedAgain(t *testing.T) {
	tests := map[string]struct {
		method  string
		safe    bool
		replies replies
		want    string // status or error, behind the waits before each try
	}{
		"a reply":                         {"GET", false, replies{says(200)}, "[0s] 200"},
		"a read, 500":                     {"GET", false, replies{says(500), says(502), says(200)}, "[0s 1s 3s] 200"},
		"a read, 500 for ever":            {"GET", false, replies{says(500)}, "[0s 1s 3s] 500"},
		"a read, not implemented":         {"GET", false, replies{says(501)}, "[0s] 501"},
		"a read, no reply":                {"HEAD", false, replies{fails(errReset), says(200)}, "[0s 1s] 200"},
		"a read, no reply for ever":       {"GET", false, replies{fails(errReset)}, "[0s 1s 3s] read: connection reset by peer"},
		"a write, 500":                    {"POST", false, replies{says(500), says(200)}, "[0s] 500"},
		"a write, 503":                    {"POST", false, replies{says(503), says(200)}, "[0s] 503"},
		"a write, 503 that says when":     {"POST", false, replies{says(503, "Retry-After", "7"), says(200)}, "[0s 7s] 200"},
		"a write, no reply":               {"PATCH", false, replies{fails(errReset), says(200)}, "[0s] read: connection reset by peer"},
		"a write, nobody listens":         {"POST", false, replies{fails(errRefused), says(201)}, "[0s 1s] 201"},
		"a write, no such host":           {"POST", false, replies{fails(errNoHost), says(201)}, "[0s 1s] 201"},
		"a write, too many":               {"POST", false, replies{says(429), says(201)}, "[0s 1s] 201"},
		"a write, too many, seconds":      {"PUT", false, replies{says(429, "Retry-After", "30"), says(201)}, "[0s 30s] 201"},
		"a write, limited in its own way": {"POST", false, replies{says(403, "X-Limit", "0"), says(201)}, "[0s 1s] 201"},
		"a write, with its own end":       {"POST", false, replies{says(403, "X-Limit", "40"), says(201)}, "[0s 40s] 201"},
		"a write that reads, 500":         {"POST", true, replies{says(500), says(200)}, "[0s 1s] 200"},
		"a write that reads, no reply":    {"POST", true, replies{fails(errReset), says(200)}, "[0s 1s] 200"},
		"too long a wait":                 {"GET", false, replies{says(429, "Retry-After", "61"), says(200)}, "[0s] 429"},
		"the longest wait":                {"GET", false, replies{says(429, "Retry-After", "60"), says(200)}, "[0s 1m0s] 200"},
		"an endless wait":                 {"GET", false, replies{says(429, "Retry-After", "99999999999999999999"), says(200)}, "[0s] 429"},
		"a large wait":                    {"GET", false, replies{says(429, "Retry-After", fmt.Sprint(uint64(math.MaxInt64))), says(200)}, "[0s] 429"},
		"no wait":                         {"GET", false, replies{says(429, "Retry-After", "0"), says(200)}, "[0s 0s] 200"},
		"a wait that is nonsense":         {"GET", false, replies{says(429, "Retry-After", "-5"), says(200)}, "[0s 1s] 200"},
		"a date":                          {"GET", false, replies{says(429, "Retry-After", "Sat, 01 Jan 2000 00:00:20 GMT"), says(200)}, "[0s 20s] 200"},
		"a date, by the server's clock":   {"GET", false, replies{says(429, "Retry-After", "Mon, 03 Jan 2011 10:00:09 GMT", "Date", "Mon, 03 Jan 2011 10:00:00 GMT"), says(200)}, "[0s 9s] 200"},
		"a date that is past":             {"GET", false, replies{says(429, "Retry-After", "Mon, 03 Jan 1983 10:00:09 GMT"), says(200)}, "[0s 0s] 200"},
		"a limit used up":                 {"POST", false, replies{says(403, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "946684825"), says(201)}, "[0s 25s] 201"},
		"a limit used up, milliseconds":   {"POST", false, replies{says(429, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "946684825000"), says(201)}, "[0s 25s] 201"},
		"a limit used up, a while":        {"POST", false, replies{says(429, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "25"), says(201)}, "[0s 25s] 201"},
		"a limit used up, nobody says":    {"POST", false, replies{says(403, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "soon"), says(201)}, "[0s 1s] 201"},
		"a limit used up for long":        {"POST", false, replies{says(403, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "946688400"), says(201)}, "[0s] 403"},
		"forbidden for a while":           {"POST", false, replies{says(403, "Retry-After", "5"), says(201)}, "[0s 5s] 201"},
		"forbidden":                       {"GET", false, replies{says(403, "X-RateLimit-Remaining", "58"), says(200)}, "[0s] 403"},
		"refused credentials":             {"GET", false, replies{says(401), says(200)}, "[0s] 401"},
		"not found":                       {"GET", false, replies{says(404), says(200)}, "[0s] 404"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{replies: tt.replies}
				got := ask(t, s, tt.method, tt.safe)
				if got := fmt.Sprint(s.at, " ", got); got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
				for _, body := range s.bodies {
					if body != "body of "+tt.method {
						t.Errorf("the body came as %q", body)
					}
				}
			})
		})
	}
}

var usualWaits = backoff.Backoff{First: time.Second, Most: 10 * time.Second}

func ask(t *testing.T, s *server, method string, safe bool) string {
	t.Helper()
	tr := transport.New(transport.ClientOptions{
		Base:    s,
		Wait:    usualWaits.Delay,
		Limited: func(resp *http.Response) bool { return resp.Header.Get("X-Limit") != "" },
		Resets: func(resp *http.Response) time.Time {
			if seconds, err := time.ParseDuration(resp.Header.Get("X-Limit") + "s"); err == nil && seconds > 0 {
				return time.Now().Add(seconds)
			}
			return time.Time{}
		},
	})
	req := request(t, method, "body of "+method)
	if safe {
		req = req.WithContext(transport.MarkSafe(req.Context()))
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return err.Error()
	}
	resp.Body.Close()
	return fmt.Sprint(resp.StatusCode)
}

func TestTheUsualWaitsVary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{replies: replies{says(500)}}
		resp, err := transport.New(transport.ClientOptions{Base: s, Tries: 6}).RoundTrip(request(t, "GET", ""))
		if err != nil || resp.StatusCode != 500 || len(s.at) != 6 {
			t.Fatalf("%v, %v, %v", resp, err, s.at)
		}
		for n := range 5 {
			most := usualWaits.Delay(n)
			if wait := s.at[n+1] - s.at[n]; wait < most/2 || wait > most {
				t.Errorf("wait %d is %s, want %s to %s", n, wait, most/2, most)
			}
		}
	})
}

func TestABodyThatCannotBeReadAgain(t *testing.T) {
	s := &server{replies: replies{says(429), says(200)}}
	req := request(t, "POST", "once")
	req.GetBody = nil
	resp, err := transport.New(transport.ClientOptions{Base: s}).RoundTrip(req)
	if err != nil || resp.StatusCode != 429 || len(s.bodies) != 1 {
		t.Errorf("%v, %v, %q", resp, err, s.bodies)
	}
}

func TestCancellingEndsAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{replies: replies{says(429, "Retry-After", "50")}}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		_, err := transport.New(transport.ClientOptions{Base: s}).RoundTrip(request(t, "GET", "").WithContext(ctx))
		if !errors.Is(err, context.Canceled) || len(s.at) != 1 {
			t.Errorf("%v after %v", err, s.at)
		}
		if waited := time.Since(s.start); waited != 3*time.Second {
			t.Errorf("it ended after %s", waited)
		}
	})
}

func TestAWaitThatOutlastsTheDeadlineIsNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{replies: replies{says(429, "Retry-After", "50")}}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		resp, err := transport.New(transport.ClientOptions{Base: s}).RoundTrip(request(t, "GET", "").WithContext(ctx))
		if err != nil || resp.StatusCode != 429 || time.Since(s.start) != 0 {
			t.Errorf("%v, %v after %s", resp, err, time.Since(s.start))
		}
	})
}

func TestRefusedCredentialsStopTheAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{replies: replies{says(401), says(200, "denied"), says(403), says(500), fails(errReset), says(200, "fine")}}
		tr := transport.New(transport.ClientOptions{
			Name: "shop", Secret: "env:SHOP_TOKEN", Base: s, Tries: 1,
			Denied: func(resp *http.Response) bool { return string(transport.PeekBody(resp, 100)) == "denied" },
		})
		expect := func(want string) {
			t.Helper()
			resp, err := tr.RoundTrip(request(t, "GET", ""))
			got := fmt.Sprint(err)
			if err == nil {
				body, _ := io.ReadAll(resp.Body)
				got = fmt.Sprint(resp.StatusCode, string(body))
			}
			if got != want {
				t.Errorf("after %s: got %s, want %s", time.Since(s.start), got, want)
			}
		}
		expect("401")
		expect("200denied")
		expect("shop: the credentials were refused 2 times: check the secret in env:SHOP_TOKEN; no request is sent before 2000-01-01T00:01:00Z")
		time.Sleep(time.Minute)
		expect("403") // the probe
		expect("shop: the credentials were refused 3 times: check the secret in env:SHOP_TOKEN; no request is sent before 2000-01-01T00:03:00Z")
		time.Sleep(2 * time.Minute)
		expect("500") // means nothing for the credentials, and neither does no response
		expect(errReset.Error())
		if state, until := tr.BreakerStatus(); state != transport.HalfOpen || until.IsZero() {
			t.Errorf("it is %s until %s", state, until)
		}
		expect("200fine")
		expect("200fine")
		if state, _ := tr.BreakerStatus(); state != transport.Closed || len(s.bodies) != 7 {
			t.Errorf("it is %s after %d requests", state, len(s.bodies))
		}
	})
}

func TestAThingThatIsForbiddenIsNoRefusalOfTheSecret(t *testing.T) {
	s := &server{replies: replies{says(403)}}
	tr := transport.New(transport.ClientOptions{Base: s, Tries: 1, Forbids: true})
	for range 5 {
		if resp, err := tr.RoundTrip(request(t, "GET", "")); err != nil || resp.StatusCode != 403 {
			t.Fatal(resp, err)
		}
	}
}

func TestALimitIsNoRefusal(t *testing.T) {
	s := &server{replies: replies{says(403, "X-Limit", "1")}}
	tr := transport.New(transport.ClientOptions{Base: s, Tries: 1, Limited: func(resp *http.Response) bool { return resp.Header.Get("X-Limit") != "" }})
	for range 5 {
		if _, err := tr.RoundTrip(request(t, "GET", "")); err != nil {
			t.Fatal(err)
		}
	}
	if state, _ := tr.BreakerStatus(); state != transport.Closed {
		t.Errorf("it is %s", state)
	}
}

func TestOneProbeAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := make(chan struct{})
		sent := 0
		tr := transport.New(transport.ClientOptions{Tries: 1, Base: roundTripper(func(*http.Request) (*http.Response, error) {
			if sent++; sent > 2 {
				<-slow
				return reply(200), nil
			}
			return reply(401), nil
		})})
		for range 2 {
			tr.RoundTrip(request(t, "GET", ""))
		}
		time.Sleep(time.Minute)
		done := make(chan error)
		go func() {
			_, err := tr.RoundTrip(request(t, "GET", ""))
			done <- err
		}()
		synctest.Wait()
		var locked *transport.LockedOut
		if _, err := tr.RoundTrip(request(t, "GET", "")); !errors.As(err, &locked) || sent != 3 {
			t.Errorf("%v after %d", err, sent)
		}
		close(slow)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if _, err := tr.RoundTrip(request(t, "GET", "")); err != nil {
			t.Error(err)
		}
	})
}

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{replies: replies{says(200)}}
		tr := transport.New(transport.ClientOptions{Base: s, Rate: 2, Burst: 3})
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() { tr.RoundTrip(request(t, "GET", "")) })
		}
		all.Wait()
		time.Sleep(time.Hour)
		for range 2 {
			tr.RoundTrip(request(t, "GET", ""))
		}
		want := "[0s 0s 0s 500ms 1s 1.5s 1h0m1.5s 1h0m1.5s]"
		if got := fmt.Sprint(s.at); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestCancellingGivesTheTurnBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{replies: replies{says(200)}}
		tr := transport.New(transport.ClientOptions{Base: s, Rate: 1})
		tr.RoundTrip(request(t, "GET", ""))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		if _, err := tr.RoundTrip(request(t, "GET", "").WithContext(ctx)); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		tr.RoundTrip(request(t, "GET", ""))
		if got := fmt.Sprint(s.at); got != "[0s 1s]" {
			t.Errorf("got %s", got)
		}
	})
}

func TestTheLogHasNeitherHeadersNorBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		s := &server{replies: replies{says(429, "Retry-After", "1", "secret reply"), fails(errRefused), says(500, "secret reply")}}
		tr := transport.New(transport.ClientOptions{Name: "shop", Base: s, Log: func(msg string, args ...any) { fmt.Fprintln(&log, msg, args) }})
		tr.RoundTrip(request(t, "POST", "secret request"))
		if got := strings.Count(log.String(), "\n"); got != 2 || !strings.Contains(log.String(), "rate limit") {
			t.Errorf("the log is %s", log.String())
		}
		for _, word := range []string{"planted", "secret", "Bearer"} {
			if strings.Contains(log.String(), word) {
				t.Errorf("%q is in the log: %s", word, log.String())
			}
		}
	})
}

func TestPeekLeavesTheBody(t *testing.T) {
	closed := false
	resp := &http.Response{Body: closer{strings.NewReader("a long body"), &closed}}
	for range 2 {
		if got := string(transport.PeekBody(resp, 6)); got != "a long" {
			t.Errorf("Peek = %q", got)
		}
	}
	if all, err := io.ReadAll(resp.Body); string(all) != "a long body" || err != nil {
		t.Errorf("the body is %q, %v", all, err)
	}
	if resp.Body.Close(); !closed {
		t.Error("the body was not closed")
	}
	if transport.PeekBody(nil, 3) != nil || transport.PeekBody(&http.Response{}, 3) != nil {
		t.Error("something is in nothing")
	}
}

type closer struct {
	io.Reader
	closed *bool
}

func (c closer) Close() error {
	*c.closed = true
	return nil
}

// With a real server: bodies arrive whole each time, connections are used again.
func TestOverHTTP(t *testing.T) {
	var mu sync.Mutex
	var got []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if got = append(got, string(body)); len(got) < 3 {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		io.WriteString(w, "done")
	}))
	defer srv.Close()
	client := &http.Client{Transport: transport.New(transport.ClientOptions{Wait: func(int) time.Duration { return 0 }})}
	resp, err := client.Post(srv.URL, "text/plain", strings.NewReader("the body"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	mu.Lock()
	defer mu.Unlock()
	if body, _ := io.ReadAll(resp.Body); string(body) != "done" || strings.Join(got, ",") != "the body,the body,the body" {
		t.Errorf("%q after %q", body, got)
	}
}

// A server that disappears before it responds may have carried out the request.
func TestAWriteWithoutAReplyIsNotSentTwice(t *testing.T) {
	var sent atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		sent.Add(1)
		panic(http.ErrAbortHandler)
	}))
	client := &http.Client{Transport: transport.New(transport.ClientOptions{Wait: func(int) time.Duration { return 0 }})}
	if _, err := client.Post(srv.URL, "text/plain", strings.NewReader("x")); err == nil || sent.Load() != 1 {
		t.Errorf("%v after %d", err, sent.Load())
	}
	srv.Close()
	if _, err := client.Post(srv.URL, "text/plain", strings.NewReader("x")); !errors.Is(err, syscall.ECONNREFUSED) || sent.Load() != 1 {
		t.Errorf("%v after %d", err, sent.Load())
	}
}
