//go:build agents

package agents_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/config"
	"orange/internal/scriptedmodel"
	"orange/internal/wait"
)

// releaseOf returns a folder with a release for this machine: that of ORANGE_DIST, or one that is built from the commit.
func releaseOf(t *testing.T) string {
	t.Helper()
	if dist := os.Getenv("ORANGE_DIST"); dist != "" {
		return dist
	}
	repo, err := filepath.Abs("../..")
	check(t, err)
	clone, dist := filepath.Join(t.TempDir(), "clone"), filepath.Join(t.TempDir(), "dist")
	for _, argv := range [][]string{
		{"git", "clone", "--quiet", repo, clone},
		{"go", "-C", filepath.Join(clone, "tools"), "run", "./release", "-version", "v0.0.0-test.1", "-out", dist, "-targets", runtime.GOOS + "/" + runtime.GOARCH},
	} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", argv, err, out)
		}
	}
	return dist
}

// newHome returns the home of a person who uses an agent and has never had Orange: their agent's settings, a
// repository, and a release beside it.
func newHome(t *testing.T, agent, dist string, scripts []scriptedmodel.Script) *env {
	t.Helper()
	bin := installed(t, agent)
	dir, err := os.MkdirTemp("", "h")
	check(t, err)
	s := &env{t: t, agent: agent, dir: dir, repo: filepath.Join(dir, "shop"), sessions: "tmux"}
	t.Cleanup(s.close)
	s.model, err = scriptedmodel.Start(scripts)
	check(t, err)
	h := homeOf(agent, dir, s.model.URL())
	s.env = []string{
		"PATH=" + strings.Join([]string{filepath.Join(dir, ".local/bin"), filepath.Join(dir, "bin"), os.Getenv("PATH")}, string(os.PathListSeparator)),
		"HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "TMUX_TMPDIR=" + dir, "LANG=C.UTF-8", "TZ=UTC", "TERM=xterm-256color", "GIT_CONFIG_NOSYSTEM=1", "PS1=$ ",
	}
	check(t, errors.Join(os.Mkdir(filepath.Join(dir, "bin"), 0o755), os.Symlink(filepath.Join(bin, agent), filepath.Join(dir, "bin", agent)))) // no other agent
	for _, kv := range h.env {                                                                                                                 // Orange passes on the variables that an agent is known for
		s.env = append(s.env, strings.Replace(kv, "SCRIPTED_KEY=", "OPENAI_API_KEY=", 1))
	}
	cfg, err := config.Load(s.getenv, func() (string, error) { return dir, nil })
	check(t, err)
	s.data, s.tmux = cfg.Home, cfg.Terminal
	for name, text := range h.files {
		s.write(name, strings.Replace(text, "SCRIPTED_KEY", "OPENAI_API_KEY", 1))
	}
	s.write(".gitconfig", "[user]\n\tname = Shop\n\temail = shop@example.com\n")
	s.git(dir, "init", "-q", "-b", "main", s.repo)
	s.write("shop/README", "shop\n")
	s.git(s.repo, "add", ".")
	s.git(s.repo, "commit", "-qm", "begin")
	check(t, os.CopyFS(filepath.Join(dir, "release"), os.DirFS(dist)))
	return s
}

// A desk is a person's own terminal, in a tmux of its own.
type desk struct {
	*env
	socket string
}

func (s *env) openDesk() *desk {
	s.t.Helper()
	d := &desk{s, filepath.Join(s.dir, "desk")}
	s.t.Cleanup(func() { d.screen("kill-server") }) //nolint:errcheck // it may be gone
	if _, err := d.screen("-f", "/dev/null", "new-session", "-d", "-s", "desk", "-x", "118", "-y", "30", "-c", s.repo, "bash", "--norc", "--noprofile"); err != nil {
		s.t.Fatal(err)
	}
	return d
}

func (d *desk) screen(args ...string) (string, error) {
	out, err := d.command("tmux", append([]string{"-S", d.socket}, args...)...).Output()
	return string(out), err
}

// enter types a line and presses Enter.
func (d *desk) enter(line string) {
	d.t.Helper()
	_, err := d.screen("send-keys", "-t", "desk", "-l", line)
	_, pressed := d.screen("send-keys", "-t", "desk", "Enter")
	check(d.t, errors.Join(err, pressed))
}

// shows waits until the terminal shows all the words.
func (d *desk) shows(words ...string) {
	d.t.Helper()
	text := ""
	wait.Until(d.t, fmt.Sprintf("the terminal shows %q", words), func() bool {
		text, _ = d.screen("capture-pane", "-p", "-J", "-t", "desk")
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	}, func() any { return text })
}

// picture draws what a terminal shows, if ORANGE_PICTURES names a folder for pictures.
func (s *env) picture(name, title, socket, pane string) {
	s.t.Helper()
	folder := os.Getenv("ORANGE_PICTURES")
	if folder == "" {
		return
	}
	text, err := s.command("tmux", "-S", socket, "capture-pane", "-e", "-p", "-t", pane).Output()
	check(s.t, err)
	draw := exec.Command("go", "run", "orange/test/tour", "screen", filepath.Join(folder, name+".svg"), title, s.dir)
	draw.Stdin = strings.NewReader(strings.TrimRight(string(text), "\n") + "\n")
	if out, err := draw.CombinedOutput(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
}

// awaitWork waits until the agent has asked its model about the task, and returns when it was.
func (s *env) awaitWork() time.Time {
	s.t.Helper()
	wait.Until(s.t, "an agent works", func() bool {
		return slices.ContainsFunc(s.model.Requests(), func(r scriptedmodel.Request) bool { return r.Script == workerScript })
	})
	return time.Now()
}

// firstJob works for a while, so that the agent is seen at work, and hands over.
func firstJob() []scriptedmodel.Script {
	return []scriptedmodel.Script{{Name: workerScript, When: "# Task: Fix the login bug", Turns: []scriptedmodel.Turn{
		{Shell: `git log --oneline`},
		{Shell: `printf 'form that keeps the user name\n' >login.txt && git add login.txt && git commit -qm 'keep the user name'`},
		{Shell: `orange task update --status reviewing`},
		{Text: "The form keeps the user name after a failed login."},
	}}}
}

// Two commands lead from a release in a home without Orange to an agent at work: the installer and orange run. The
// person reviews and merges in the same terminal.
func TestTheFirstAgentFromARelease(t *testing.T) {
	dist := releaseOf(t)
	for _, agent := range []string{"claude", "codex"} {
		t.Run(agent, func(t *testing.T) {
			s := newHome(t, agent, dist, firstJob())
			d := s.openDesk()
			d.shows("$")
			began := time.Now()
			d.enter("sh ~/release/install.sh --from ~/release --prefix ~/.local")
			d.shows("Installed orange 0.0.0-test.1", "\n$")
			installed := time.Now()
			d.enter(`orange run "Fix the login bug"`)
			works := s.awaitWork()
			d.shows("reviewing: it is your turn", "login.txt", "m merges it")
			t.Logf("%s: %.1f s from the archive to the agent at work: %.1f s to install, %.1f s from orange run to its first request", agent,
				works.Sub(began).Seconds(), installed.Sub(began).Seconds(), works.Sub(installed).Seconds())
			if agent == "claude" { // it looks the same with every agent
				s.picture("first-run", "from a release to a reviewed change", d.socket, "desk")
			}
			s.picture("first-agent-"+agent, agent+", in its terminal", s.tmux, "=shop/fix-the-login-bug:=worker")
			d.enter("m")
			d.shows("Merged shop/fix-the-login-bug")
			if got := s.git(s.repo, "show", "main:login.txt"); got != "form that keeps the user name" {
				t.Errorf("main has %q", got)
			}
		})
	}
}
