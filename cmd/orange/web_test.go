package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/internal/adapter/sqlite"
	"orange/internal/config"
	"orange/internal/wire"
)

// newPage is a web page of a data folder without a server behind it.
func newPage(t *testing.T, web string) *webPage {
	t.Helper()
	dir := t.TempDir()
	store, err := sqlite.Open(filepath.Join(dir, "orange.db"))
	check(t, err)
	t.Cleanup(func() { check(t, store.Close()) })
	return &webPage{s: &server{cfg: config.Config{Home: dir, Socket: filepath.Join(dir, "s"), Web: web}, store: store, log: slog.New(slog.DiscardHandler)}}
}

// TestTheNextServerOpensThePageAgain is for whoever has the page open while a server is
// replaced: it is where it was, for a day.
func TestTheNextServerOpensThePageAgain(t *testing.T) {
	p := newPage(t, "127.0.0.1:0")
	closed, err := p.start(t.Context(), "", false)
	check(t, err)
	if p.open != nil {
		t.Error("a page that nobody asked for is open")
	}
	was, err := p.Open(t.Context())
	check(t, err)
	closed()
	next := &webPage{s: p.s}
	closed, err = next.start(t.Context(), "", false)
	check(t, err)
	if next.open == nil || "http://"+next.open.Addr().String()+"/" != was.URL || next.busy() {
		t.Errorf("it was at %s and is not open again", was.URL)
	}
	closed()
	check(t, p.s.store.SetSetting(pageSetting, strings.TrimSuffix(strings.TrimPrefix(was.URL, "http://"), "/")+" "+time.Now().Add(-25*time.Hour).UTC().Format(time.RFC3339)))
	late := &webPage{s: p.s}
	closed, err = late.start(t.Context(), "", false)
	check(t, err)
	defer closed()
	if late.open != nil {
		t.Error("it is open again a day later")
	}
}

func TestTheWebPageIsOpenedOnDemand(t *testing.T) {
	p := newPage(t, "127.0.0.1:0")
	if _, err := p.Open(t.Context()); err == nil {
		t.Error("it was opened before the server is there")
	}
	closed, err := p.start(t.Context(), "", false)
	check(t, err)
	at, err := p.Open(t.Context())
	check(t, err)
	again, err := p.Open(t.Context())
	check(t, err)
	if at.URL != again.URL || at.Login == again.Login || p.busy() || !strings.HasPrefix(at.URL, "http://127.0.0.1:") || !strings.HasPrefix(at.Login, at.URL+"?code=") {
		t.Errorf("%+v, then %+v; busy %v", at, again, p.busy())
	}
	key, err := p.Token(t.Context())
	check(t, err)
	if key.URL != at.URL || len(key.Token) != 43 || strings.Contains(at.Login, key.Token) {
		t.Errorf("token %+v, login %s", key, at.Login)
	}
	res, err := http.Get(at.URL)
	check(t, err)
	res.Body.Close()
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("without a token: %d", res.StatusCode)
	}
	info, err := os.Stat(filepath.Join(p.s.cfg.Home, "web.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v", info, err)
	}
	closed()
	if _, err := net.Dial("tcp", strings.TrimPrefix(strings.TrimSuffix(at.URL, "/"), "http://")); err == nil {
		t.Error("it is still open")
	}
	if _, err := p.Open(t.Context()); err == nil {
		t.Error("it was opened while the server leaves")
	}
}

func TestTheWebPageHasAnAddress(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer taken.Close()
	address := taken.Addr().String()
	p := newPage(t, "")
	if _, err := p.start(t.Context(), address, false); err == nil || !strings.Contains(err.Error(), "is taken: give another") || p.busy() {
		t.Errorf("an address that is taken: %v", err)
	}
	p = newPage(t, address)
	closed, err := p.start(t.Context(), address, false) // of the configuration
	check(t, err)
	defer closed()
	at, err := p.Open(t.Context()) // any other will do
	if err != nil || strings.Contains(at.URL, address) {
		t.Errorf("%+v, %v", at, err)
	}
	for _, address := range []string{"0.0.0.0:0", "192.0.2.1:80", "example.com:80", ":80", "4747"} {
		p := newPage(t, "")
		if _, err := p.start(t.Context(), address, false); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", address, err)
		}
	}
	stays := newPage(t, "")
	closed, err = stays.start(t.Context(), "127.0.0.1:0", false)
	check(t, err)
	defer closed()
	if !stays.busy() {
		t.Error("a server that was told to show the page leaves")
	}
}

// TestTheWebPageIsForPeople has an agent try to use it with the person's own token.
func TestTheWebPageIsForPeople(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash, with which the agent speaks TCP")
	}
	both(t, func(t *testing.T, s *shop) {
		var page wire.PageToken
		check(t, json.Unmarshal([]byte(s.orange("web", "--token", "--json")), &page))
		at, err := url.Parse(page.URL)
		check(t, err)
		token := page.Token
		waiting := s.create("waiting", "worker:\n  - idle:\n")
		s.write("ask.sh", fmt.Sprintf(`ask() {
	exec 3<>/dev/tcp/%[1]s/%[2]s
	printf '%%s %%s HTTP/1.1\r\nHost: %[3]s\r\nAuthorization: Bearer %[4]s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' "$1" "$2" >&3
	cat <&3
}
ask POST /act/%[5]s?do=cancel
ask POST /api/v1/pause
ask GET '/?token=%[4]s'
ask GET /api/v1/state
ask GET /api/v1/trackers
ask GET /
# One that sends, and is gone before anybody can look for it.
hush() {
	(exec 3<>/dev/tcp/%[1]s/%[2]s; printf 'POST /api/v1/pause HTTP/1.1\r\nHost: %[3]s\r\nAuthorization: Bearer %[4]s\r\nContent-Length: 0\r\n\r\n' >&3; sleep "$1") &
}
for i in 1 2 3 4; do
	for late in 0 0.005 0.01 0.015 0.02 0.03 0.04 0.06; do hush $late; done
	wait
done
`, at.Hostname(), at.Port(), at.Host, token, waiting))
		s.create("asking", fmt.Sprintf(`
worker:
  - run: "%s ../../../ask.sh >../../../heard 2>&1"
  - run: "orange web 2>../../../web"
  - run: "touch ../../../asked"
  - idle:
`, bash))
		s.eventually("it has asked", func() bool { _, err := os.Stat(filepath.Join(s.dir, "asked")); return err == nil })
		heard, err := os.ReadFile(filepath.Join(s.dir, "heard"))
		check(t, err)
		if n := strings.Count(string(heard), "403 Forbidden"); n != 6 || strings.Count(string(heard), "may not use the web page") != 6 {
			t.Errorf("of six requests that are a person's %d were refused: %s", n, heard)
		}
		if state := look(t, page.URL+"api/v1/state", token); strings.Contains(state, `"paused":true`) || !strings.Contains(state, `"branch":"waiting"`) {
			t.Errorf("one that was gone had everything paused: %s", state)
		}
		if said, _ := os.ReadFile(filepath.Join(s.dir, "web")); !strings.Contains(string(said), "for people") {
			t.Errorf("orange web: %s", said)
		}
		res, err := post(page.URL+"api/v1/pause", token)
		check(t, err)
		if res.StatusCode != http.StatusOK {
			t.Errorf("a person: %d", res.StatusCode)
		}
		res, err = post(page.URL+"api/v1/resume", token)
		check(t, err)
		if res.StatusCode != http.StatusOK {
			t.Errorf("a person: %d", res.StatusCode)
		}
	})
}

// post asks for something with the page's token.
func post(address, token string) (*http.Response, error) {
	r, err := http.NewRequest(http.MethodPost, address, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res, err
}

// look reads something with the page's token.
func look(t *testing.T, address, token string) string {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, address, nil)
	check(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	check(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	check(t, err)
	if res.StatusCode != http.StatusOK {
		t.Errorf("%s: %d %s", address, res.StatusCode, body)
	}
	return string(body)
}
