package web_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"orange/internal/core/task"
	"regexp"
	"strings"
	"testing"
	"time"

	"orange/internal/ui/web"
)

var csrfPattern = regexp.MustCompile(`data-csrf="([^"]+)"`)

// do sends a request and reads the answer.
func (v *visitor) do(r *http.Request) (*http.Response, string) {
	v.t.Helper()
	for _, c := range v.cookies {
		r.AddCookie(c)
	}
	res, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return res, string(body)
}

func (v *visitor) request(method, path, body string) *http.Request {
	v.t.Helper()
	r, err := http.NewRequest(method, "http://"+v.env.addr+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return r
}

func (v *visitor) get(path string) (*http.Response, string) {
	v.t.Helper()
	return v.do(v.request("GET", path, ""))
}

// form sends a form as a page of the site does.
func (v *visitor) form(path string, fields url.Values) (*http.Response, string) {
	v.t.Helper()
	return v.do(v.formRequest(path, fields))
}

func (v *visitor) formRequest(path string, fields url.Values) *http.Request {
	v.t.Helper()
	if v.csrf == "" {
		_, body := v.get("/new")
		if m := csrfPattern.FindStringSubmatch(body); m != nil {
			v.csrf = m[1]
		}
	}
	fields.Set("_csrf", v.csrf)
	r := v.request("POST", path, fields.Encode())
	r.Header.Set("Origin", "http://"+v.env.addr)
	return r
}

func TestLogin(t *testing.T) {
	h := newEnv(t, newBackend(t))
	v := &visitor{t: t, env: h, client: http.DefaultClient}
	v = &visitor{t: t, env: h, client: h.visitor(t).client}
	res, body := v.get("/")
	if res.StatusCode != 403 || !strings.Contains(body, "orange web") {
		t.Errorf("without a token: %d %s", res.StatusCode, body)
	}
	res, body = v.get("/?token=wrong")
	if res.StatusCode != 403 || !strings.Contains(body, "orange web") || len(res.Cookies()) > 0 {
		t.Errorf("with a wrong token: %d %s", res.StatusCode, body)
	}
	res, _ = v.get("/inbox?token=" + token + "&project=shop")
	if res.StatusCode != 303 || res.Header.Get("Location") != "/inbox?project=shop" {
		t.Errorf("with the token: %d, location %q", res.StatusCode, res.Header.Get("Location"))
	}
	c := res.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || strings.Contains(c.Value, token) {
		t.Errorf("cookie %+v", c)
	}
	v.cookies = res.Cookies()
	if res, _ := v.get("/"); res.StatusCode != 200 {
		t.Errorf("with a session: %d", res.StatusCode)
	}
}

func TestLoginLeadsNowhereElse(t *testing.T) {
	h := newEnv(t, newBackend(t))
	v := h.visitor(t)
	r := v.request("GET", "/", "")
	r.URL.Opaque = "//evil.example/?token=" + token
	r.URL.RawQuery = ""
	r.Host = h.addr
	res, _ := v.do(r)
	if to := res.Header.Get("Location"); strings.HasPrefix(to, "//") || strings.Contains(to, "evil") && !strings.HasPrefix(to, "/") {
		t.Errorf("%d leads to %q", res.StatusCode, to)
	}
}

func TestWrongTokensAreBounded(t *testing.T) {
	now := epoch
	h := newEnv(t, newBackend(t), func(o *web.SiteOptions) { o.Now = func() time.Time { return now } })
	v := &visitor{t: t, env: h, client: h.visitor(t).client}
	for range 5 {
		if res, _ := v.get("/?token=wrong"); res.StatusCode != 403 {
			t.Fatalf("status %d", res.StatusCode)
		}
	}
	bearer := func(token string) int {
		r := v.request("GET", "/api/v1/state", "")
		r.Header.Set("Authorization", "Bearer "+token)
		res, _ := v.do(r)
		return res.StatusCode
	}
	for name, path := range map[string]string{"a token": "/?token=wrong", "a code": "/?code=wrong"} {
		if res, _ := v.get(path); res.StatusCode != 429 {
			t.Errorf("%s, a sixth wrong try in a second: %d, want 429", name, res.StatusCode)
		}
	}
	if got := bearer("wrong"); got != 429 {
		t.Errorf("a wrong bearer while somebody guesses: %d, want 429", got)
	}
	for name, path := range map[string]string{"token": "/?token=" + token, "code": "/?code=" + h.opts.Codes.New()} {
		if res, _ := v.get(path); res.StatusCode != 303 {
			t.Errorf("the right %s while somebody guesses: %d", name, res.StatusCode)
		}
	}
	if got := bearer(token); got != 200 {
		t.Errorf("the right bearer while somebody guesses: %d", got)
	}
	now = now.Add(time.Second)
	if res, _ := v.get("/?token=wrong"); res.StatusCode != 403 {
		t.Errorf("a second later: %d", res.StatusCode)
	}
}

// TestLoginCodes signs in with codes that are good once, and for a minute.
func TestLoginCodes(t *testing.T) {
	now := epoch
	clock := func() time.Time { return now }
	h := newEnv(t, newBackend(t), func(o *web.SiteOptions) { o.Now, o.Codes = clock, web.NewCodes(clock) })
	v := &visitor{t: t, env: h, client: h.visitor(t).client}
	refused := func(what, code string) {
		t.Helper()
		res, body := v.get("/?code=" + code)
		if res.StatusCode != 403 || len(res.Cookies()) > 0 || !strings.Contains(body, "run `orange web` and open the address it prints") {
			t.Errorf("%s: %d %s", what, res.StatusCode, body)
		}
		now = now.Add(time.Second) // wrong tries are bounded
	}
	first, second := h.opts.Codes.New(), h.opts.Codes.New()
	if first == second || len(first) < 22 {
		t.Fatalf("codes %q and %q", first, second)
	}
	res, _ := v.get("/inbox?project=shop&code=" + second)
	if res.StatusCode != 303 || res.Header.Get("Location") != "/inbox?project=shop" || len(res.Cookies()) != 1 {
		t.Fatalf("a code: %d, location %q", res.StatusCode, res.Header.Get("Location"))
	}
	if c := res.Cookies()[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || strings.Contains(c.Value, second) {
		t.Errorf("cookie %+v", c)
	}
	refused("a code that was used", second)
	refused("a code that nobody gave out", "x")
	refused("the token in place of a code", token)
	r := v.request("GET", "/api/v1/state", "")
	r.Header.Set("Authorization", "Bearer "+first)
	if res, _ := v.do(r); res.StatusCode != 401 {
		t.Errorf("a code as a bearer: %d", res.StatusCode)
	}
	if res, _ := v.get("/?code=" + first); res.StatusCode != 303 {
		t.Errorf("the other code: %d", res.StatusCode)
	}
	late := h.opts.Codes.New()
	now = now.Add(time.Minute)
	refused("a code after a minute", late)
	var codes []string
	for range 20 {
		codes = append(codes, h.opts.Codes.New())
	}
	refused("the oldest of too many", codes[0])
	if res, _ := v.get("/?code=" + codes[19]); res.StatusCode != 303 {
		t.Errorf("the newest of many: %d", res.StatusCode)
	}
}

// TestACodeIsGoodOnceAtATime sends one code many times in parallel.
func TestACodeIsGoodOnceAtATime(t *testing.T) {
	h := newEnv(t, newBackend(t))
	v := &visitor{t: t, env: h, client: h.visitor(t).client}
	code := h.opts.Codes.New()
	got := make(chan int, 8)
	for range cap(got) {
		go func() {
			res, err := v.client.Do(v.request("GET", "/?code="+code, ""))
			if err != nil {
				t.Error(err)
				got <- 0
				return
			}
			res.Body.Close()
			got <- res.StatusCode
		}()
	}
	in := 0
	for range cap(got) {
		if <-got == 303 {
			in++
		}
	}
	if in != 1 {
		t.Errorf("one code was good for %d logins", in)
	}
}

func TestSessionsEnd(t *testing.T) {
	now := epoch
	h := newEnv(t, newBackend(t), func(o *web.SiteOptions) { o.Now = func() time.Time { return now } })
	v := h.visitor(t)
	now = now.Add(6 * 24 * time.Hour)
	if res, _ := v.get("/"); res.StatusCode != 200 {
		t.Errorf("after 6 days: %d", res.StatusCode)
	}
	now = now.Add(2 * 24 * time.Hour)
	if res, _ := v.get("/"); res.StatusCode != 403 {
		t.Errorf("after 8 days: %d", res.StatusCode)
	}
}

func TestForgedSession(t *testing.T) {
	h := newEnv(t, newBackend(t))
	v := h.visitor(t)
	good := v.cookies[0].Value
	name, sum, _ := strings.Cut(good, ".")
	for what, value := range map[string]string{"no sum": name, "another name": "zz-" + name + "." + sum, "another sum": name + ".AAAA", "nothing": ".", "the token": token} {
		v.cookies[0].Value = value
		if res, _ := v.get("/"); res.StatusCode != 403 {
			t.Errorf("%s: %d", what, res.StatusCode)
		}
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	w := newBackend(t)
	w.add(task.Task{ID: "A0000000000000000000a", Project: "shop", Branch: "b", Status: "pending"})
	h := newEnv(t, w)
	tests := map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"as it should be":              {func(*http.Request) {}, 303},
		"foreign origin":               {func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		"another port of this machine": {func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, 403},
		"origin null":                  {func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"no origin with a cookie":      {func(r *http.Request) { r.Header.Del("Origin") }, 403},
		"same site, another origin":    {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
		"cross site":                   {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"a name that was made to lead here": {func(r *http.Request) {
			r.Host = "evil.example:" + strings.Split(h.addr, ":")[1]
			r.Header.Set("Origin", "http://"+r.Host)
		}, 421},
		"the right name, another port": {func(r *http.Request) { r.Host = "127.0.0.1:1"; r.Header.Set("Origin", "http://127.0.0.1:1") }, 421},
		"no port":                      {func(r *http.Request) { r.Host = "127.0.0.1"; r.Header.Set("Origin", "http://127.0.0.1") }, 421},
		"localhost is this machine": {func(r *http.Request) {
			r.Host = "localhost:" + strings.Split(h.addr, ":")[1]
			r.Header.Set("Origin", "http://"+r.Host)
		}, 303},
		"a name with cookies of its own": {func(r *http.Request) {
			r.Host = "orange.localhost:" + strings.Split(h.addr, ":")[1]
			r.Header.Set("Origin", "http://"+r.Host)
		}, 303},
		"another name of this machine": {func(r *http.Request) {
			r.Host = "other.localhost:" + strings.Split(h.addr, ":")[1]
			r.Header.Set("Origin", "http://"+r.Host)
		}, 421},
		"no cookie":    {func(r *http.Request) { r.Header.Del("Cookie") }, 403},
		"wrong bearer": {func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, 401},
		"bearer, no cookie": {func(r *http.Request) {
			r.Header.Del("Cookie")
			r.Header.Del("Origin")
			r.Header.Set("Authorization", "Bearer "+token)
		}, 303},
		"bearer, foreign origin": {func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Origin", "https://evil.example")
		}, 403},
		"no such method": {func(r *http.Request) { r.Method = "PUT" }, 405},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := h.visitor(t)
			w.Change("A0000000000000000000a", func(t *task.Task) { t.Paused = false })
			r := v.formRequest("/act/A0000000000000000000a", url.Values{"do": {"pause"}, "back": {"/"}})
			for _, c := range v.cookies {
				r.AddCookie(c)
			}
			v.cookies = nil
			tt.change(r)
			res, body := v.do(r)
			if res.StatusCode != tt.want {
				t.Errorf("status %d, want %d: %s", res.StatusCode, tt.want, body)
			}
			checkHeaders(t, res)
		})
	}
}

func TestFormsAreOfASession(t *testing.T) {
	w := newBackend(t)
	w.add(task.Task{ID: "A0000000000000000000a", Project: "shop", Branch: "b", Status: "pending"})
	h := newEnv(t, w)
	v, other := h.visitor(t), h.visitor(t)
	other.formRequest("/", url.Values{})
	for name, csrf := range map[string]string{"none": "", "of another session": other.csrf, "the token": token} {
		r := v.request("POST", "/act/A0000000000000000000a", url.Values{"do": {"pause"}, "_csrf": {csrf}}.Encode())
		r.Header.Set("Origin", "http://"+h.addr)
		res, body := v.do(r)
		if res.StatusCode != 403 || !strings.Contains(body, "reload the page") {
			t.Errorf("%s: %d %s", name, res.StatusCode, body)
		}
	}
	if len(w.heard) > 0 {
		t.Errorf("the server heard %v", w.heard)
	}
	if v.csrf = ""; v.formRequest("/", url.Values{}) == nil || v.csrf == other.csrf {
		t.Error("two sessions have the same form token")
	}
}

func TestForeignPagesReadNothing(t *testing.T) {
	h := newEnv(t, newBackend(t))
	v := h.visitor(t)
	read := func(site, mode, dest string) int {
		r := v.request("GET", "/", "")
		r.Header.Set("Sec-Fetch-Site", site)
		r.Header.Set("Sec-Fetch-Mode", mode)
		r.Header.Set("Sec-Fetch-Dest", dest)
		res, _ := v.do(r)
		return res.StatusCode
	}
	for name, got := range map[string]int{
		"script":    read("cross-site", "no-cors", "script"),
		"image":     read("same-site", "no-cors", "image"),
		"fetch":     read("cross-site", "cors", "empty"),
		"frame":     read("cross-site", "navigate", "iframe"),
		"websocket": read("cross-site", "websocket", "empty"),
	} {
		if got != 403 {
			t.Errorf("%s of another origin: %d", name, got)
		}
	}
	if got := read("cross-site", "navigate", "document"); got != 200 {
		t.Errorf("a person follows a link: %d", got)
	}
}

func TestLinkFromElsewhereIsNotADeadEnd(t *testing.T) {
	h := newEnv(t, newBackend(t))
	v := &visitor{t: t, env: h, client: h.visitor(t).client} // a browser keeps a strict cookie to itself
	r := v.request("GET", "/inbox", "")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	r.Header.Set("Sec-Fetch-Mode", "navigate")
	r.Header.Set("Sec-Fetch-Dest", "document")
	res, body := v.do(r)
	if res.StatusCode != 403 || !strings.Contains(body, `<a href="/inbox">Go on</a>`) {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}

func checkHeaders(t *testing.T, res *http.Response) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Security-Policy":      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Referrer-Policy":              "same-origin",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
	} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := res.Header.Get("Cache-Control"); got != "no-store" && got != "no-cache" {
		t.Errorf("Cache-Control is %q", got)
	}
	if got := res.Header.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("others may read: %q", got)
	}
}

func TestHeadersAreOnEveryAnswer(t *testing.T) {
	w := newBackend(t)
	w.add(task.Task{ID: "A0000000000000000000a", Project: "shop", Branch: "b", Status: "pending"})
	h := newEnv(t, w)
	v := h.visitor(t)
	for path, want := range map[string]int{
		"/": 200, "/inbox": 200, "/fleet": 200, "/new": 200, "/move/A0000000000000000000a": 200, "/static/app.js": 200, "/static/app.css": 200,
		"/api/v1/state": 200, "/api/v1/nothing": 404, "/nothing": 404, "/move/nothing-like-it": 404, "/move/%3Cb%3E": 404, "/static/nothing.js": 404,
		"/static/": 404, "/?token=x": 403, "/?at=abc": 200, "/live?after=x": 400, "/mcp": 401,
	} {
		res, body := v.get(path)
		if res.StatusCode != want {
			t.Errorf("%s: %d, want %d: %s", path, res.StatusCode, want, body)
		}
		checkHeaders(t, res)
		if strings.Contains(body, token) {
			t.Errorf("%s shows the token", path)
		}
		for _, bad := range []string{"<style", " style=", " onclick=", "<script>", "javascript:"} {
			if strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") && strings.Contains(body, bad) {
				t.Errorf("%s has %q in it", path, bad)
			}
		}
	}
}

func TestStaticFilesAreAllThereIs(t *testing.T) {
	h := newEnv(t, newBackend(t))
	v := &visitor{t: t, env: h, client: h.visitor(t).client}
	for _, path := range []string{"/static/../web.go", "/static/%2e%2e/web.go", "/static/..%2fweb.go", "/static//etc/passwd", "/static/app.js/..", "/static/app.js%00", "/static/\\..\\web.go"} {
		r := v.request("GET", "/", "")
		r.URL.Opaque = "//" + h.addr + path
		res, body := v.do(r)
		if res.StatusCode == 200 || strings.Contains(body, "package web") {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	res, _ := v.get("/static/app.js")
	again := v.request("GET", "/static/app.js", "")
	again.Header.Set("If-None-Match", res.Header.Get("Etag"))
	if res, _ := v.do(again); res.StatusCode != 304 {
		t.Errorf("an unchanged file: %d", res.StatusCode)
	}
}

func TestAgentsAreRefused(t *testing.T) {
	w := newBackend(t)
	w.add(task.Task{ID: "A0000000000000000000a", Project: "shop", Branch: "b", Status: "pending"})
	agent := false
	called := 0
	h := newEnv(t, w, func(o *web.SiteOptions) {
		o.Who = func(*http.Request) error {
			if agent {
				return errors.New("this is the worker of a task: use the orange command")
			}
			return nil
		}
		o.MCP = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called++ })
	})
	v := h.visitor(t)
	form := v.formRequest("/act/A0000000000000000000a", url.Values{"do": {"pause"}})
	code := h.opts.Codes.New()
	agent = true
	w.mu.Lock()
	w.headers = nil
	w.mu.Unlock()
	for name, r := range map[string]*http.Request{
		"a form": form, "login": v.request("GET", "/?token="+token, ""), "login by code": v.request("GET", "/?code="+code, ""), "the board": v.request("GET", "/", ""), "a stream": v.request("GET", "/live", ""),
		"a terminal": v.request("GET", "/tasks/A0000000000000000000a/terminal", ""), "the API with a cookie": v.request("GET", "/api/v1/trackers", ""),
	} {
		if res, body := v.do(r); res.StatusCode != 403 || !strings.Contains(body, "this is the worker") {
			t.Errorf("%s: %d %s", name, res.StatusCode, body)
		}
	}
	bearer := func(method, path, token string) int {
		r := v.request(method, path, "")
		r.Header.Set("Authorization", "Bearer "+token)
		res, _ := v.do(r)
		return res.StatusCode
	}
	for _, ask := range []string{"POST /api/v1/pause", "GET /api/v1/trackers", "GET /api/v1/state", "HEAD /inbox"} {
		method, path, _ := strings.Cut(ask, " ")
		if got := bearer(method, path, token); got != 403 {
			t.Errorf("%s: %d", ask, got)
		}
	}
	if got := bearer("POST", "/mcp", token); got != 403 || called > 0 {
		t.Errorf("MCP as a person: %d", got)
	}
	if got := bearer("POST", "/mcp", "its own"); got != 200 || called != 1 {
		t.Errorf("MCP as itself: %d", got)
	}
	if res, _ := v.get("/static/app.js"); res.StatusCode != 200 {
		t.Errorf("what is the same for everybody: %d", res.StatusCode)
	}
	w.mu.Lock()
	asked := len(w.headers)
	w.mu.Unlock()
	if asked > 0 {
		t.Errorf("the server was asked %d times", asked)
	}
	agent = false
	if res, _ := v.get("/?code=" + code); res.StatusCode != 303 {
		t.Errorf("an agent used up a person's code: %d", res.StatusCode)
	}
}

// TestWhoLooksIsFoundOutOncePerConnection turns pages over one connection.
func TestWhoLooksIsFoundOutOncePerConnection(t *testing.T) {
	now, looks, agent := epoch, 0, false
	h := newEnv(t, newBackend(t), func(o *web.SiteOptions) {
		o.Now = func() time.Time { return now }
		o.Who = func(*http.Request) error {
			looks++
			if agent {
				return errors.New("this is the worker of a task")
			}
			return nil
		}
	})
	h.shut()
	h.Server = httptest.NewUnstartedServer(web.New(h.opts).Handler())
	h.Config.ConnContext = web.ConnContext
	h.Start()
	h.addr = h.Listener.Addr().String()
	v := h.visitor(t)         // a login is looked at by itself
	over := func() *visitor { // a connection of its own
		client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}, CheckRedirect: v.client.CheckRedirect}
		t.Cleanup(client.CloseIdleConnections)
		return &visitor{t: t, env: h, client: client, cookies: v.cookies}
	}
	one := over()
	looks = 0
	for _, path := range []string{"/", "/inbox", "/static/app.js", "/api/v1/state"} {
		if res, _ := one.get(path); res.StatusCode != 200 {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	if looks != 1 {
		t.Errorf("%d looks for four pages, want 1", looks)
	}
	if over().get("/"); looks != 2 {
		t.Errorf("another connection: %d looks, want 2", looks)
	}
	if now = now.Add(time.Minute); true {
		if one.get("/"); looks != 3 {
			t.Errorf("a minute later: %d looks, want 3", looks)
		}
	}
	agent = true
	if res, _ := one.form("/act/A0000000000000000000a", url.Values{"do": {"pause"}}); res.StatusCode != 403 || looks != 4 {
		t.Errorf("what changes something: %d after %d looks", res.StatusCode, looks)
	}
	for range 2 { // a no is not remembered, and not forgotten
		if res, _ := over().get("/"); res.StatusCode != 403 {
			t.Errorf("an agent: %d", res.StatusCode)
		}
	}
}

func TestWrongTokensAtMCPAreBounded(t *testing.T) {
	now := epoch
	h := newEnv(t, newBackend(t), func(o *web.SiteOptions) {
		o.Now = func() time.Time { return now }
		o.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if shown := r.Header.Get("Authorization"); shown != "Bearer its own" && shown != "Bearer "+token {
				w.WriteHeader(http.StatusUnauthorized)
			}
		})
	})
	v := h.visitor(t)
	show := func(token string) int {
		r := v.request("POST", "/mcp", "")
		r.Header.Set("Authorization", "Bearer "+token)
		res, _ := v.do(r)
		return res.StatusCode
	}
	for range 20 {
		if got := show("its own"); got != 200 {
			t.Fatalf("a good one: %d", got)
		}
	}
	for range 5 {
		if got := show("wrong"); got != 401 {
			t.Fatalf("a wrong one: %d", got)
		}
	}
	if got := show("wrong"); got != 429 {
		t.Errorf("a sixth in a second: %d", got)
	}
	for _, good := range []string{"its own", token} {
		if got := show(good); got != 200 {
			t.Errorf("%s while somebody guesses: %d", good, got)
		}
	}
	if now = now.Add(time.Second); show("wrong") != 401 {
		t.Error("a second later nobody is heard")
	}
}

func TestRelay(t *testing.T) {
	w := newBackend(t)
	h := newEnv(t, w)
	v := h.visitor(t)
	seen := func() http.Header {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.headers[len(w.headers)-1]
	}
	ask := func(method string, headers map[string]string, cookies bool) int {
		t.Helper()
		r := v.request(method, map[string]string{"GET": "/api/v1/state", "POST": "/api/v1/pause"}[method], "")
		for k, x := range headers {
			r.Header.Set(k, x)
		}
		keep := v.cookies
		if !cookies {
			v.cookies = nil
		}
		defer func() { v.cookies = keep }()
		res, _ := v.do(r)
		return res.StatusCode
	}
	v.formRequest("/", url.Values{})
	own := "http://" + h.addr
	if got := ask("GET", nil, true); got != 200 || seen().Get("Cookie") != "" {
		t.Errorf("reading with a cookie: %d, passed on %v", got, seen())
	}
	if got := ask("GET", map[string]string{"Orange-Token": "t.1.x"}, true); got != 200 || seen().Get("Orange-Token") != "" {
		t.Errorf("a browser spoke for an attempt: %d %v", got, seen())
	}
	if got := ask("GET", map[string]string{"Orange-Token": "t.1.x", "Authorization": "Bearer " + token}, false); got != 200 || seen().Get("Orange-Token") != "t.1.x" || seen().Get("Authorization") != "" {
		t.Errorf("a program with both: %d %v", got, seen())
	}
	if got := ask("GET", nil, false); got != 403 {
		t.Errorf("nobody: %d", got)
	}
	if got := ask("POST", map[string]string{"Origin": own}, true); got != 403 {
		t.Errorf("changing with a cookie alone: %d", got)
	}
	if got := ask("POST", map[string]string{"Origin": own, "Orange-Csrf": v.csrf}, true); got != 403 {
		t.Errorf("changing as a page: %d", got)
	}
	if got := ask("POST", map[string]string{"Authorization": "Bearer " + token}, false); got != 200 {
		t.Errorf("changing as a program: %d", got)
	}
}

// TestASessionIsWorthNoMoreThanThePages asks the API for what pages do not offer.
func TestASessionIsWorthNoMoreThanThePages(t *testing.T) {
	for _, input := range []bool{false, true} {
		w := newBackend(t)
		h := newEnv(t, w, func(o *web.SiteOptions) { o.Input = input })
		v := h.visitor(t)
		v.formRequest("/", url.Values{})
		w.mu.Lock()
		w.headers = nil
		w.mu.Unlock()
		ask := func(method, path string, bearer bool) int {
			r := v.request(method, path, "")
			r.Header.Set("Origin", "http://"+h.addr)
			r.Header.Set("Orange-Csrf", v.csrf)
			if bearer {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			res, _ := v.do(r)
			return res.StatusCode
		}
		typing := []string{"/api/v1/tasks/A0000000000000000000a/type", "/api/v1/tasks/A/%74ype", "/%61pi/v1/tasks/A/type"}
		for _, path := range append(typing, "/api/v1/web", "/api/v1/stop", "/api/v1/import", "/api/v1/repair", "/api/v1/tasks", "/api/v1/pause") {
			if got := ask("POST", path, false); got != 403 {
				t.Errorf("a session, POST %s: %d", path, got)
			}
		}
		for _, ask1 := range []string{"GET /api/v1/export", "HEAD /api/v1/export", "GET /api/v1/ex%70ort", "DELETE /api/v1/projects/shop", "PATCH /api/v1/projects/shop"} {
			method, path, _ := strings.Cut(ask1, " ")
			if got := ask(method, path, false); got != 403 {
				t.Errorf("a session, %s: %d", ask1, got)
			}
		}
		w.mu.Lock()
		passed := len(w.headers)
		w.mu.Unlock()
		if passed > 0 {
			t.Errorf("%d requests were passed on", passed)
		}
		want := 403
		if input {
			want = 400 // no agent asks at a terminal
		}
		for _, path := range typing {
			if got := ask("POST", path, true); got != want {
				t.Errorf("the token, input %v, POST %s: %d, want %d", input, path, got, want)
			}
		}
		if got := ask("GET", "/api/v1/export", true); got != 200 {
			t.Errorf("the token, export: %d", got)
		}
	}
}

func TestLargeForms(t *testing.T) {
	w := newBackend(t)
	w.add(task.Task{ID: "A0000000000000000000a", Project: "shop", Branch: "b", Status: "pending"})
	h := newEnv(t, w)
	v := h.visitor(t)
	for name, note := range map[string]string{"more than a form may have": strings.Repeat("x", 2<<20), "more than a note may have": strings.Repeat("x", 300<<10)} {
		res, body := v.form("/act/A0000000000000000000a", url.Values{"do": {"answer"}, "note": {note}})
		if res.StatusCode != 413 || len(body) > 1<<20 {
			t.Errorf("%s: %d with %d bytes", name, res.StatusCode, len(body))
		}
		script := v.formRequest("/act/A0000000000000000000a", url.Values{"do": {"answer"}, "note": {note}})
		script.Header.Set("Orange-Csrf", v.csrf)
		if res, _ := v.do(script); res.StatusCode != 413 {
			t.Errorf("%s, sent by a script: %d", name, res.StatusCode)
		}
	}
}
