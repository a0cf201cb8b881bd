package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/wire"
)

// TestTheWebPageIsForPeople has an agent try to use it with the person's own token.
func TestTheWebPageIsForPeople(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash, with which the agent speaks TCP")
	}
	both(t, func(t *testing.T, s *env) {
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
		for _, do := range []string{"pause", "resume"} {
			status, said, err := post(page.URL+"api/v1/"+do, token)
			check(t, err)
			if status != http.StatusOK {
				t.Errorf("%s by a person: %d %s", do, status, said)
			}
		}
	})
}

// post asks for something with the page's token.
func post(address, token string) (status int, said string, err error) {
	r, err := http.NewRequest(http.MethodPost, address, nil)
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
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
