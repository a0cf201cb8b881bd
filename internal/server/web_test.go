package server

import (
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/internal/adapter/sqlite"
	"orange/internal/config"
)

// newPage is a web page of a data folder without a server behind it.
func newPage(t *testing.T, web string) *webPage {
	t.Helper()
	dir := t.TempDir()
	store, err := sqlite.Open(filepath.Join(dir, "orange.db"))
	check(t, err)
	t.Cleanup(func() { check(t, store.Close()) })
	return &webPage{s: &Server{cfg: config.Config{Home: dir, Socket: filepath.Join(dir, "s"), Web: web}, store: store, log: slog.New(slog.DiscardHandler)}}
}

// TestTheNextServerOpensThePageAgain is for whoever has the page open while a server is
// replaced: it is where it was, for a day.
func TestTheNextServerOpensThePageAgain(t *testing.T) {
	p := newPage(t, "127.0.0.1:0")
	closed, err := p.startPage(t.Context(), "", false)
	check(t, err)
	if p.open != nil {
		t.Error("a page that nobody asked for is open")
	}
	was, err := p.OpenPage(t.Context())
	check(t, err)
	closed()
	next := &webPage{s: p.s}
	closed, err = next.startPage(t.Context(), "", false)
	check(t, err)
	if next.open == nil || "http://"+next.open.Addr().String()+"/" != was.URL || next.isOpen() {
		t.Errorf("it was at %s and is not open again", was.URL)
	}
	closed()
	check(t, p.s.store.SetSetting(pageSetting, strings.TrimSuffix(strings.TrimPrefix(was.URL, "http://"), "/")+" "+time.Now().Add(-25*time.Hour).UTC().Format(time.RFC3339)))
	late := &webPage{s: p.s}
	closed, err = late.startPage(t.Context(), "", false)
	check(t, err)
	defer closed()
	if late.open != nil {
		t.Error("it is open again a day later")
	}
}

func TestTheWebPageIsOpenedOnDemand(t *testing.T) {
	p := newPage(t, "127.0.0.1:0")
	if _, err := p.OpenPage(t.Context()); err == nil {
		t.Error("it was opened before the server is there")
	}
	closed, err := p.startPage(t.Context(), "", false)
	check(t, err)
	at, err := p.OpenPage(t.Context())
	check(t, err)
	again, err := p.OpenPage(t.Context())
	check(t, err)
	if at.URL != again.URL || at.Login == again.Login || p.isOpen() || !strings.HasPrefix(at.URL, "http://127.0.0.1:") || !strings.HasPrefix(at.Login, at.URL+"?code=") {
		t.Errorf("%+v, then %+v; busy %v", at, again, p.isOpen())
	}
	key, err := p.PageToken(t.Context())
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
	if _, err := p.OpenPage(t.Context()); err == nil {
		t.Error("it was opened while the server leaves")
	}
}

func TestTheWebPageHasAnAddress(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer taken.Close()
	address := taken.Addr().String()
	p := newPage(t, "")
	if _, err := p.startPage(t.Context(), address, false); err == nil || !strings.Contains(err.Error(), "is taken: give another") || p.isOpen() {
		t.Errorf("an address that is taken: %v", err)
	}
	p = newPage(t, address)
	closed, err := p.startPage(t.Context(), address, false) // of the configuration
	check(t, err)
	defer closed()
	at, err := p.OpenPage(t.Context()) // any other will do
	if err != nil || strings.Contains(at.URL, address) {
		t.Errorf("%+v, %v", at, err)
	}
	for _, address := range []string{"0.0.0.0:0", "192.0.2.1:80", "example.com:80", ":80", "4747"} {
		p := newPage(t, "")
		if _, err := p.startPage(t.Context(), address, false); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", address, err)
		}
	}
	stays := newPage(t, "")
	closed, err = stays.startPage(t.Context(), "127.0.0.1:0", false)
	check(t, err)
	defer closed()
	if !stays.isOpen() {
		t.Error("a server that was told to show the page leaves")
	}
}
