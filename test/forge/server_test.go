//go:build forge

// Package forge_test tests with a real Gitea: started for the test, with its own database, on loopback. Pushes and
// fetches use the real git.
package forge_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "code.gitea.io/sdk/gitea"
)

// chief is the account of the setup and of the adapter.
const chief = "orange"

// A server is a running Gitea.
type server struct {
	bin, dir string
	url      string
	token    string
}

// start runs Gitea until the test is over. Another process may take the free port before Gitea does, so it tries
// several.
func start(t *testing.T) *server {
	t.Helper()
	bin := os.Getenv("ORANGE_GITEA_BIN")
	if bin == "" {
		t.Skip("ORANGE_GITEA_BIN names no Gitea: run make test-forge, which builds one")
	}
	s := &server{bin: bin, dir: t.TempDir()}
	for try := 1; ; try++ {
		err := s.run(t)
		if err == nil {
			break
		}
		if try == 3 {
			t.Fatalf("start Gitea: %v\n%s", err, s.log())
		}
		t.Logf("start Gitea: %v", err)
	}
	s.admin(t, "user", "create", "--username", chief, "--email", chief+"@example.invalid", "--random-password", "--admin", "--must-change-password=false")
	s.token = s.admin(t, "user", "generate-access-token", "--username", chief, "--token-name", "test", "--scopes", "all", "--raw")
	return s
}

func (s *server) run(t *testing.T) error {
	t.Helper()
	port := freePort(t)
	s.url = fmt.Sprintf("http://127.0.0.1:%d", port)
	s.configure(t, port)
	ctx, cancel := context.WithCancel(context.Background())
	cmd := s.command(ctx, "web")
	out, err := os.OpenFile(s.path("gitea.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	err = cmd.Start()
	out.Close()
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	stop := func() { cancel(); <-ended }
	if err := s.answers(ended); err != nil {
		stop()
		return err
	}
	t.Cleanup(func() {
		stop()
		if t.Failed() {
			t.Logf("what Gitea said:\n%s", s.log())
		}
	})
	return nil
}

// answers waits until the server responds.
func (s *server) answers(ended <-chan struct{}) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	late := time.After(2 * time.Minute)
	for {
		resp, err := http.Get(s.url + "/api/v1/version")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ended:
			return errors.New("it ended at once")
		case <-late:
			return fmt.Errorf("it does not answer: %w", err)
		case <-tick.C:
		}
	}
}

func (s *server) configure(t *testing.T, port int) {
	t.Helper()
	static := ""
	if home := filepath.Dir(s.bin); exists(filepath.Join(home, "templates")) {
		static = "STATIC_ROOT_PATH = " + home // a release binary contains its files
	}
	root := ""
	if os.Getuid() == 0 {
		root = "I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true"
	}
	text := fmt.Sprintf(`WORK_PATH = %[1]s
RUN_MODE = prod
%[2]s
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = %[3]d
ROOT_URL = %[4]s/
DISABLE_SSH = true
OFFLINE_MODE = true
LFS_START_SERVER = false
%[5]s
[database]
DB_TYPE = sqlite3
PATH = %[1]s/gitea.db
[repository]
ROOT = %[1]s/repositories
DEFAULT_BRANCH = main
[security]
INSTALL_LOCK = true
[service]
DISABLE_REGISTRATION = true
[log]
MODE = console
LEVEL = warn
[indexer]
ISSUE_INDEXER_TYPE = db
[actions]
ENABLED = false
[cron]
ENABLED = false
[picture]
DISABLE_GRAVATAR = true
`, s.dir, root, port, s.url, static)
	if err := os.WriteFile(s.path("app.ini"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *server) path(name string) string { return filepath.Join(s.dir, name) }

func (s *server) log() string {
	said, _ := os.ReadFile(s.path("gitea.log"))
	return string(said)
}

// command runs Gitea with nothing of the user's environment but PATH.
func (s *server) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.bin, append([]string{"--config", s.path("app.ini"), "--work-path", s.dir}, args...)...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "USER=" + os.Getenv("USER")}
	return cmd
}

func (s *server) admin(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := s.command(t.Context(), append([]string{"admin"}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("gitea admin %s: %v\n%s%s", args[:2], err, out.String(), errs.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	return lines[len(lines)-1]
}

// as returns an SDK client that acts as one of the accounts.
func (s *server) as(t testing.TB, who string) *sdk.Client {
	t.Helper()
	c, err := sdk.NewClient(s.url, sdk.SetToken(s.token), sdk.SetSudo(who), sdk.SetContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
