// Package fakegithub is a GitHub with one repository, for tests: a server that keeps issues,
// labels, pull requests, checks and reviews in memory and serves the REST API for them over
// real HTTP, in small pages, with ETags and limits, and that fails on demand. It implements
// what Orange uses and nothing else.
package fakegithub

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"orange/internal/trackertest"
)

// FakeOptions configure a server.
type FakeOptions struct {
	Scope    string                          // OWNER/REPO; "" for acme/shop
	Token    string                          // "" for a default
	Secret   string                          // of the webhooks; "" for a default
	Account  string                          // the token's account; "" for orange-app
	PageSize int                             // maximum page size; 0 for 25
	Limit    int                             // requests per hour; 0 for 100000
	Wait     int                             // seconds for which a limit lasts
	Wrap     func(http.Handler) http.Handler // wraps the handler
}

// A FakeServer is the GitHub.
type FakeServer struct {
	opts        FakeOptions
	owner, repo string
	web         http.Server
	url         string
	done        chan struct{}

	mu    sync.Mutex
	ticks int64 // of the clock: every change takes a second
	ids   int64

	undecided int // reads of a pull request that leave open whether it can be merged

	required   []string // checks that pull requests into the base must pass
	conflict   bool     // pull requests do not merge cleanly
	refusal    string   // why it merges nothing, in GitHub's words
	update     func(branch, base string)
	merge      func(branch, base string) string
	last       int // highest number of an issue or a pull request
	labels     []*issueLabel
	items      map[int]*item
	refs       map[string]string // commits of branches
	checks     map[string][]*check
	deliveries []trackertest.Delivery
	fault      trackertest.Fault
	failed     int // faults so far
	writes     int
	counted    int // requests that the rate limit counts
	repeated   int // requests that it does not count: nothing had changed
}

// New starts a server with the columns and tags of trackertest.
func New(o FakeOptions) (*FakeServer, error) {
	set := func(s *string, usual string) {
		if *s == "" {
			*s = usual
		}
	}
	set(&o.Scope, "acme/shop")
	set(&o.Token, "ghp_fakeTokenOfATest0123456789")
	set(&o.Secret, "the webhook's secret")
	set(&o.Account, "orange-app")
	if o.PageSize == 0 {
		o.PageSize = 25
	}
	if o.Limit == 0 {
		o.Limit = 100000
	}
	s := &FakeServer{opts: o, items: map[int]*item{}, refs: map[string]string{}, checks: map[string][]*check{}, done: make(chan struct{})}
	s.owner, s.repo, _ = strings.Cut(o.Scope, "/")
	for _, column := range trackertest.Columns {
		s.ensureLabel("status:" + column)
	}
	for _, tag := range trackertest.Tags {
		s.ensureLabel(tag)
	}
	for _, p := range priorities[1:] {
		s.ensureLabel("priority:" + p)
	}
	s.refs[base] = s.newCommit(base)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.url = "http://" + l.Addr().String()
	s.web.Handler = http.Handler(s)
	if o.Wrap != nil {
		s.web.Handler = o.Wrap(s.web.Handler)
	}
	go func() {
		defer close(s.done)
		_ = s.web.Serve(l)
	}()
	return s, nil
}

// Stop ends the server.
func (s *FakeServer) Stop() {
	_ = s.web.Close()
	<-s.done
}

// URL returns the address of its API.
func (s *FakeServer) URL() string { return s.url }

// Scope returns its repository.
func (s *FakeServer) Scope() string { return s.opts.Scope }

// Secret returns the token that its clients need.
func (s *FakeServer) Secret() string { return s.opts.Token }

// WebhookSecret returns the secret that signs its deliveries.
func (s *FakeServer) WebhookSecret() string { return s.opts.Secret }

// CountWrites returns the number of requests so far that changed something or tried to.
func (s *FakeServer) CountWrites() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

// CountRequests returns the numbers of requests that the rate limit counts, and of those that
// it does not, because nothing had changed.
func (s *FakeServer) CountRequests() (counted, repeated int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counted, s.repeated
}

// InjectFault makes the server fail from now on.
func (s *FakeServer) InjectFault(f trackertest.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

func (s *FakeServer) currentTime() time.Time {
	return time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC).Add(time.Duration(s.ticks) * time.Second)
}

// nextTime returns the time of a change.
func (s *FakeServer) nextTime() time.Time {
	s.ticks++
	return s.currentTime()
}

func (s *FakeServer) nextID() int64 {
	s.ids++
	return s.ids
}

// ServeHTTP handles a request.
func (s *FakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	write := r.Method != http.MethodGet && r.Method != http.MethodHead
	if write {
		s.writes++
	}
	kind := ""
	if s.fault.Times > 0 && (write || !s.fault.Writes) {
		s.fault.Times--
		s.failed++
		kind = s.fault.Kind
	}
	a := s.answerRequest(r, kind)
	if kind == trackertest.Lost {
		s.mu.Unlock()
		panic(http.ErrAbortHandler) // closes the connection
	}
	s.finishAnswer(r, a)
	s.mu.Unlock()
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.code)
	_, _ = w.Write(a.text)
}

// An answer is a response.
type answer struct {
	code   int
	header http.Header
	text   []byte
}

func replyJSON(code int, body any) *answer {
	a := &answer{code: code, header: http.Header{}}
	a.header.Set("Content-Type", "application/json; charset=utf-8")
	text, err := json.Marshal(body)
	if err != nil {
		return replyJSON(http.StatusInternalServerError, object{"message": err.Error()})
	}
	a.text = text
	return a
}

const docs = "https://docs.github.com/rest"

func replyProblem(code int, message string, details ...object) *answer {
	body := object{"message": message, "documentation_url": docs, "status": strconv.Itoa(code)}
	if len(details) > 0 {
		body["errors"] = details
	}
	return replyJSON(code, body)
}

func notFound() *answer { return replyProblem(http.StatusNotFound, "Not Found") }

func (s *FakeServer) answerRequest(r *http.Request, fault string) *answer {
	switch {
	case fault == trackertest.Denied || r.Header.Get("Authorization") != "Bearer "+s.opts.Token:
		return replyProblem(http.StatusUnauthorized, "Bad credentials")
	case fault == trackertest.Broken && s.failed%2 == 0:
		a := replyJSON(http.StatusBadGateway, nil)
		a.header.Set("Content-Type", "text/html")
		a.text = []byte("<html><body><h1>502 Bad Gateway</h1>\nno server is available</body></html>\n")
		return a
	case fault == trackertest.Broken:
		return replyProblem(http.StatusInternalServerError, "Server Error")
	case fault == trackertest.Limited && s.failed%2 == 0:
		a := replyProblem(http.StatusForbidden, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.")
		a.text = []byte(strings.Replace(string(a.text), docs, docs+"/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits", 1))
		a.header.Set("Retry-After", strconv.Itoa(s.opts.Wait))
		return a
	case fault == trackertest.Limited:
		a := replyProblem(http.StatusTooManyRequests, "API rate limit exceeded for user ID 1.")
		a.header.Set("X-RateLimit-Remaining", "0")
		a.header.Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Unix()+int64(s.opts.Wait), 10))
		return a
	}
	return s.routeRequest(r)
}

// finishAnswer adds what all responses have: a rate limit, and an ETag for conditional
// requests.
func (s *FakeServer) finishAnswer(r *http.Request, a *answer) {
	if r.Method == http.MethodGet && a.code == http.StatusOK {
		tag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(append(a.text, a.header.Get("Link")...)))
		a.header.Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			a.code, a.text = http.StatusNotModified, nil
			a.header.Del("Content-Type")
		}
	}
	if a.code == http.StatusNotModified {
		s.repeated++
	} else {
		s.counted++
	}
	set := func(name, value string) {
		if a.header.Get(name) == "" {
			a.header.Set(name, value)
		}
	}
	set("X-RateLimit-Limit", strconv.Itoa(s.opts.Limit))
	set("X-RateLimit-Remaining", strconv.Itoa(max(0, s.opts.Limit-s.counted)))
	set("X-RateLimit-Used", strconv.Itoa(s.counted))
	set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10))
	set("X-RateLimit-Resource", "core")
	set("X-GitHub-Request-Id", fmt.Sprintf("FAKE:%d", s.counted+s.repeated))
}
