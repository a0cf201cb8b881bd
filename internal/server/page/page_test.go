package page

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
)

// newPage returns a web page of a data folder without a server behind it.
func newPage(t *testing.T, web string) *Page {
	t.Helper()
	dir := t.TempDir()
	store, err := sqlite.Open(filepath.Join(dir, "orange.db"))
	check(t, err)
	t.Cleanup(func() { check(t, store.Close()) })
	socket := filepath.Join(dir, "s")
	return New(Parts{Home: dir, Socket: socket, At: func() string { return socket }, Web: web, Settings: store, Log: slog.New(slog.DiscardHandler)})
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestTheNextServerOpensThePageAgain is about a page that is open while a server is
// replaced: it is where it was, for a day.
func TestTheNextServerOpensThePageAgain(t *testing.T) {
	p := newPage(t, "127.0.0.1:0")
	closed, err := p.Start(t.Context(), "", Options{})
	check(t, err)
	if p.open != nil {
		t.Error("a page that nobody asked for is open")
	}
	was, err := p.OpenPage(t.Context())
	check(t, err)
	closed()
	next := New(p.Parts)
	closed, err = next.Start(t.Context(), "", Options{})
	check(t, err)
	if next.open == nil || "http://"+next.open.Addr().String()+"/" != was.URL || next.KeepsServer() {
		t.Errorf("it was at %s and is not open again", was.URL)
	}
	closed()
	check(t, p.Settings.SetSetting(pageSetting, strings.TrimSuffix(strings.TrimPrefix(was.URL, "http://"), "/")+" "+time.Now().Add(-25*time.Hour).UTC().Format(time.RFC3339)))
	late := New(p.Parts)
	closed, err = late.Start(t.Context(), "", Options{})
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
	closed, err := p.Start(t.Context(), "", Options{})
	check(t, err)
	at, err := p.OpenPage(t.Context())
	check(t, err)
	again, err := p.OpenPage(t.Context())
	check(t, err)
	if at.URL != again.URL || at.Login == again.Login || p.KeepsServer() || !strings.HasPrefix(at.URL, "http://127.0.0.1:") || !strings.HasPrefix(at.Login, at.URL+"?code=") {
		t.Errorf("%+v, then %+v; busy %v", at, again, p.KeepsServer())
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
	info, err := os.Stat(filepath.Join(p.Home, "web.key"))
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
	if _, err := p.Start(t.Context(), address, Options{}); err == nil || !strings.Contains(err.Error(), "is in use: choose another") || p.KeepsServer() {
		t.Errorf("an address that is taken: %v", err)
	}
	p = newPage(t, address)
	closed, err := p.Start(t.Context(), address, Options{}) // of the configuration
	check(t, err)
	defer closed()
	at, err := p.OpenPage(t.Context()) // any other will do
	if err != nil || strings.Contains(at.URL, address) {
		t.Errorf("%+v, %v", at, err)
	}
	for _, address := range []string{"0.0.0.0:0", "192.0.2.1:80", "example.com:80", ":80", "4747"} {
		p := newPage(t, "")
		if _, err := p.Start(t.Context(), address, Options{}); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", address, err)
		}
	}
	stays := newPage(t, "")
	closed, err = stays.Start(t.Context(), "127.0.0.1:0", Options{})
	check(t, err)
	defer closed()
	if !stays.KeepsServer() {
		t.Error("a server that was told to show the page leaves")
	}
}
