package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/adapter/notify"
	"orange/internal/core/explain"
)

const planted = "s3cret-that-must-not-be-seen"

// hostile is what an agent may write.
const hostile = "--help \x1b]0;evil\x07<!channel> @channel <http://evil.example|click> [x](http://evil.example) www.evil.example & \"q\" \u202e\r\nX-Evil: 1\n"

// post is a request as it came.
type post struct {
	path   string
	header http.Header
	body   string
}

// server is a real one on the loopback, which keeps what it was sent.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	posts  []post
	answer http.HandlerFunc
}

func serve(t *testing.T, answer http.HandlerFunc) *server {
	s := &server{answer: answer}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.posts = append(s.posts, post{r.URL.Path, r.Header, string(body)})
		s.mu.Unlock()
		if s.answer != nil {
			s.answer(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) only(t *testing.T) post {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.posts) != 1 {
		t.Fatalf("%d requests came", len(s.posts))
	}
	return s.posts[0]
}

func (s *server) remote(secret string) notify.Remote {
	r := notify.Remote{Client: notify.NewClient(), URL: s.URL + "/topic"}
	if secret != "" {
		r.Secret = func(context.Context) (string, error) { return secret, nil }
	}
	return r
}

func message(text string) notify.Message {
	return notify.Message{ID: "0123abcd", URL: "http://127.0.0.1:4747/tasks/one", Items: []explain.Item{{
		Task: "oneAAAAAAAAAAAAAAAAAA", Project: "shop", Branch: "feat/login", Summary: "Sign in", Status: "working", Kind: explain.ItemPermission,
		Text: text, Do: "orange task attach oneAAAAAAAAAAAAAAAAAA", Since: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC),
	}}}
}

func TestWebhook(t *testing.T) {
	s := serve(t, nil)
	if err := (notify.Webhook{Remote: s.remote(planted)}).SendMessage(t.Context(), message(hostile)); err != nil {
		t.Fatal(err)
	}
	got := s.only(t)
	if sign := notify.SignBody(planted, []byte(got.body)); got.header.Get("Orange-Signature") != sign || !strings.HasPrefix(sign, "sha256=") {
		t.Errorf("signed with %q, not %q", got.header.Get("Orange-Signature"), sign)
	}
	if got.header.Get("Orange-Delivery") != "0123abcd" || got.header.Get("Content-Type") != "application/json" || strings.Contains(got.body, planted) {
		t.Errorf("sent was %v %s", got.header, got.body)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(got.body), &body); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"id": "0123abcd", "kind": "permission", "task": "oneAAAAAAAAAAAAAAAAAA", "project": "shop", "branch": "feat/login", "summary": "Sign in", "status": "working",
		"text": `--help <!channel> @channel <http://evil.example|click> [x](http://evil.example) www.evil.example & "q"  X-Evil: 1`,
		"do":   "orange task attach oneAAAAAAAAAAAAAAAAAA", "since": "2026-03-04T12:00:00Z", "url": "http://127.0.0.1:4747/tasks/one",
	}
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
}

func TestAWebhookWithoutASecretIsNotSigned(t *testing.T) {
	s := serve(t, nil)
	if err := (notify.Webhook{Remote: s.remote("")}).SendMessage(t.Context(), message("?")); err != nil {
		t.Fatal(err)
	}
	if got := s.only(t); got.header.Get("Orange-Signature") != "" {
		t.Errorf("signed with %q", got.header.Get("Orange-Signature"))
	}
}

func TestBriefLeavesOutWhatWasWritten(t *testing.T) {
	m := message("a secret plan")
	m.Brief = true
	for name, way := range map[string]func(*server) error{
		"webhook": func(s *server) error { return notify.Webhook{Remote: s.remote("")}.SendMessage(t.Context(), m) },
		"ntfy":    func(s *server) error { return notify.Ntfy{Remote: s.remote("")}.SendMessage(t.Context(), m) },
		"slack":   func(s *server) error { return notify.Slack{Remote: s.remote("")}.SendMessage(t.Context(), m) },
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, nil)
			if err := way(s); err != nil {
				t.Fatal(err)
			}
			got := s.only(t)
			all := got.body + got.header.Get("Title")
			for _, secret := range []string{"plan", "Sign in", "login"} {
				if strings.Contains(all, secret) {
					t.Errorf("%q is in %s", secret, all)
				}
			}
			if !strings.Contains(all, "permission") || !strings.Contains(all, "shop") {
				t.Errorf("it says too little: %s", all)
			}
		})
	}
}

func TestATestSaysThatItIsOne(t *testing.T) {
	for _, brief := range []bool{false, true} {
		m := message("real words")
		m.Brief, m.Test = brief, true
		for name, way := range map[string]func(*server) error{
			"webhook": func(s *server) error { return notify.Webhook{Remote: s.remote("")}.SendMessage(t.Context(), m) },
			"ntfy":    func(s *server) error { return notify.Ntfy{Remote: s.remote("")}.SendMessage(t.Context(), m) },
			"slack":   func(s *server) error { return notify.Slack{Remote: s.remote("")}.SendMessage(t.Context(), m) },
		} {
			s := serve(t, nil)
			if err := way(s); err != nil {
				t.Fatal(err)
			}
			got := s.only(t)
			all := got.header.Get("Title") + " " + got.body
			if !strings.Contains(all, "this is a test: nothing waits for you") || strings.Contains(all, "real words") {
				t.Errorf("%s, brief %v: %s", name, brief, all)
			}
			if said := strings.Contains(all, "Orange: test"); name != "webhook" && !said || name == "webhook" && !strings.Contains(all, `"test":true`) {
				t.Errorf("%s, brief %v: %s", name, brief, all)
			}
		}
	}
}

func TestNtfy(t *testing.T) {
	s := serve(t, nil)
	m := message(hostile)
	m.Items[0].Branch = "für/日本\r\nX-Evil: 1"
	if err := (notify.Ntfy{Remote: s.remote(planted)}).SendMessage(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	got := s.only(t)
	title, err := new(mime.WordDecoder).DecodeHeader(got.header.Get("Title"))
	if err != nil || title != "Orange: permission: shop/für/日本 X-Evil: 1" {
		t.Errorf("the title is %q, %v", title, err)
	}
	want := map[string]string{"Authorization": "Bearer " + planted, "Priority": "4", "Tags": "raised_hand", "Click": m.URL, "X-Evil": "", "Orange-Delivery": "0123abcd"}
	for name, value := range want {
		if got.header.Get(name) != value {
			t.Errorf("%s is %q, not %q", name, got.header.Get(name), value)
		}
	}
	for _, values := range got.header {
		if strings.ContainsFunc(strings.Join(values, ""), func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("a header is %q", values)
		}
	}
	if lines := strings.Split(got.body, "\n"); len(lines) != 3 || lines[1] != "Sign in" || strings.ContainsAny(got.body, "\x1b\r\u202e") {
		t.Errorf("the text is %q", got.body)
	}
	if got.path != "/topic" {
		t.Errorf("it went to %s", got.path)
	}
}

func TestSlack(t *testing.T) {
	s := serve(t, nil)
	r := s.remote(s.URL + "/services/" + planted)
	r.URL = ""
	if err := (notify.Slack{Remote: r}).SendMessage(t.Context(), message(hostile)); err != nil {
		t.Fatal(err)
	}
	got := s.only(t)
	if got.path != "/services/"+planted {
		t.Errorf("it went to %s", got.path)
	}
	var body struct {
		Text   string `json:"text"`
		Mrkdwn *bool  `json:"mrkdwn"`
	}
	if err := json.Unmarshal([]byte(got.body), &body); err != nil {
		t.Fatal(err)
	}
	own := strings.TrimSuffix(body.Text, "\nhttp://127.0.0.1:4747/tasks/one")
	if own == body.Text {
		t.Errorf("the page is not in %q", body.Text)
	}
	for _, alive := range []string{"<", ">", "@channel", "://", "](", "www.", "\x1b", "\u202e"} {
		if strings.Contains(own, alive) {
			t.Errorf("%q is alive in %q", alive, own)
		}
	}
	if !strings.Contains(own, "&lt;!channel&gt;") || strings.Count(own, "\n") != 3 || body.Mrkdwn == nil || *body.Mrkdwn {
		t.Errorf("sent was %q", got.body)
	}
}

func TestSeveralConcurrently(t *testing.T) {
	s := serve(t, nil)
	m := message("?")
	for range 6 {
		m.Items = append(m.Items, explain.Item{Kind: explain.ItemAttention, Project: "shop"})
	}
	if err := (notify.Ntfy{Remote: s.remote("")}).SendMessage(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	got := s.only(t)
	if got.header.Get("Title") != "Orange: 7 tasks wait for you" || got.body != "6 attention, 1 permission\norange inbox" || got.header.Get("Priority") != "5" {
		t.Errorf("sent was %q %q", got.header, got.body)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	s := serve(t, nil)
	m := message(strings.Repeat("ü", 5<<20))
	m.Items[0].Summary, m.Items[0].Branch = strings.Repeat("<", 5<<20), strings.Repeat("b", 5<<20)
	if err := (notify.Webhook{Remote: s.remote("")}).SendMessage(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	var body struct{ Text, Summary, Branch string }
	if err := json.Unmarshal([]byte(s.only(t).body), &body); err != nil {
		t.Fatal(err)
	}
	if n := len([]rune(body.Text)); n != 500 || !strings.HasSuffix(body.Text, "...") {
		t.Errorf("the text has %d characters", n)
	}
	if len(body.Summary) > 500 || len(body.Branch) > 120 {
		t.Errorf("%d and %d bytes", len(body.Summary), len(body.Branch))
	}
}

func TestAnswers(t *testing.T) {
	elsewhere := serve(t, nil)
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, planted+strings.Repeat("x", 1<<20))
		}
	}
	tests := map[string]struct {
		answer  http.HandlerFunc
		says    string
		lasting bool
	}{
		"all is well":    {status(200), "", false},
		"nothing to say": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, "", false},
		"it is broken":   {status(500), "answered 500", false},
		"too many":       {status(429), "answered 429", false},
		"no such topic":  {status(404), "answered 404: check the address", true},
		"a wrong secret": {status(401), "answered 401: check the secret", true},
		"it is elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}, "a redirect", true},
		"it breaks off":      {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "cannot be reached", false},
		"it takes for ever":  {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "cannot be reached: it takes too long", false},
		"it talks for ever":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200); forever(w) }, "", false},
		"an endless refusal": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400); forever(w) }, "answered 400", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, tt.answer)
			client := notify.NewClient()
			if name == "it takes for ever" {
				client.Timeout = 100 * time.Millisecond
			}
			for kind, tell := range map[string]func(notify.Remote) error{
				"webhook": func(r notify.Remote) error { return notify.Webhook{Remote: r}.SendMessage(t.Context(), message("?")) },
				"ntfy":    func(r notify.Remote) error { return notify.Ntfy{Remote: r}.SendMessage(t.Context(), message("?")) },
				"slack": func(r notify.Remote) error {
					r.URL = ""
					r.Secret = func(context.Context) (string, error) { return s.URL + "/services/" + planted, nil }
					return notify.Slack{Remote: r}.SendMessage(t.Context(), message("?"))
				},
			} {
				r := s.remote(planted)
				r.Client = client
				checkFailure(t, kind, tell(r), tt.says, tt.lasting)
			}
		})
	}
	t.Cleanup(func() {
		if len(elsewhere.posts) > 0 {
			t.Error("somebody else was told")
		}
	})
}

func forever(w io.Writer) {
	for {
		if _, err := io.WriteString(w, strings.Repeat(planted, 1000)); err != nil {
			return
		}
	}
}

func checkFailure(t *testing.T, kind string, err error, says string, lasting bool) {
	t.Helper()
	if says == "" {
		if err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		return
	}
	var f *notify.Failure
	if !errors.As(err, &f) || f.IsLasting() != lasting || !strings.Contains(err.Error(), says) {
		t.Errorf("%s: it says %v, not %q", kind, err, says)
	}
	if err != nil && (strings.Contains(err.Error(), planted) || strings.Contains(err.Error(), "/topic") || strings.ContainsRune(err.Error(), '\n')) {
		t.Errorf("%s: too much is said: %v", kind, err)
	}
}

func TestWhatCannotBeSent(t *testing.T) {
	ctx := t.Context()
	given := func(secret string, err error) notify.Remote {
		return notify.Remote{Client: notify.NewClient(), URL: "http://127.0.0.1:1/topic", Secret: func(context.Context) (string, error) { return secret, err }}
	}
	address := func(at string) notify.Remote {
		r := given(at, nil)
		r.URL = ""
		return r
	}
	tests := map[string]struct {
		err     error
		says    string
		lasting bool
	}{
		"nobody listens":               {notify.Ntfy{Remote: given(planted, nil)}.SendMessage(ctx, message("?")), "127.0.0.1:1 cannot be reached", false},
		"the secret cannot be read":    {notify.Ntfy{Remote: given("", errors.New("read the secret from env:X: X is not set"))}.SendMessage(ctx, message("?")), "env:X", false},
		"the secret is no header":      {notify.Ntfy{Remote: given(planted+"\x01", nil)}.SendMessage(ctx, message("?")), "cannot be reached", false},
		"the address is none":          {notify.Slack{Remote: address(planted)}.SendMessage(ctx, message("?")), "its address is not valid", true},
		"the address cannot be parsed": {notify.Slack{Remote: address("https://x/\x7f" + planted)}.SendMessage(ctx, message("?")), "its address is not valid", true},
		"the address is a file":        {notify.Slack{Remote: address("file:///" + planted)}.SendMessage(ctx, message("?")), "its address is not valid", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { checkFailure(t, name, tt.err, tt.says, tt.lasting) })
	}
	if (notify.Webhook{}).SendMessage(ctx, notify.Message{}) == nil {
		t.Error("nothing was told")
	}
}
