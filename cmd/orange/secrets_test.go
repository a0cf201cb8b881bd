package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/core/task"
	"orange/internal/trackertest"
	"orange/internal/trackertest/fakegithub"
	"orange/internal/trackertest/fakelinear"
)

// planted are secrets that would be recognised anywhere.
var planted = map[string]string{
	"linear":  "lin_api_PLANTEDxLINEARx1f8e3b",
	"wrong":   "lin_api_PLANTEDxWRONGx77c2aa9",
	"webhook": "PLANTEDxWEBHOOKx90d1c2",
	"github":  "ghp_PLANTEDxGITHUBx5a6b7c8d9e",
}

// grep lists the files of a shop in which a secret is, but for those that keep it.
func (s *env) grep(keep ...string) (found []string) {
	s.t.Helper()
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // a file of SQLite that is no more
			return nil
		}
		if err != nil || !d.Type().IsRegular() || slices.Contains(keep, path) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for name, secret := range planted {
			for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))} {
				if bytes.Contains(text, []byte(form)) {
					found = append(found, name+" in "+path)
					break
				}
			}
		}
		return nil
	})
	check(s.t, err)
	return found
}

// TestSecretsAreWrittenNowhere plays lives with secrets from the environment, from a file
// and from a command, in good and in bad days, and looks for them in all that was written.
func TestSecretsAreWrittenNowhere(t *testing.T) {
	t.Parallel()
	lin := fakelinear.OpenWorld(t, fakelinear.FakeOptions{Token: planted["linear"], Secret: planted["webhook"]})
	hub, err := fakegithub.New(fakegithub.FakeOptions{Token: planted["github"]})
	check(t, err)
	t.Cleanup(hub.Stop)
	s := openEnv(t, "headless", "--pool-size", "4")
	s.write("config/orange/config.json", `{"sessions":"headless","log_level":"debug"}`)
	remote := filepath.Join(s.dir, "remote.git")
	s.git(s.dir, "init", "-q", "--bare", "-b", "main", remote)
	s.git(s.repo, "remote", "add", "origin", remote)
	s.git(s.repo, "push", "-q", "origin", "main")
	kept := s.secret("hub.token", planted["github"])
	s.environ = append(s.environ, "LINEAR_API_KEY="+planted["linear"], "ORANGE_SECRET_WRONG="+planted["wrong"], "LINEAR_WEBHOOK_SECRET="+planted["webhook"], "GITHUB_TOKEN="+planted["github"])
	url := s.hear()
	hub.PushBranch(t, "1-cart") // the forge knows what will be pushed
	s.orange("project", "update", "shop", "--trust-git", "--forge-url", hub.URL(), "--forge-repo", hub.Scope(), "--forge-token", "file:"+kept)
	snoop := "  - run: \"env >../../../env-{role}-{attempt}; cat /proc/$PPID/environ >../../../environ-{role}-{attempt}; git config -l --show-origin >../../../git-{role}-{attempt}\"\n"
	s.addTracker("lin", "development:\n"+snoop+strings.ReplaceAll(sdlc[len("\ndevelopment:\n"):], "qa:\n", "qa:\n"+snoop),
		"--kind", "linear", "--url", lin.URL, "--scope", "ENG", "--token", "env:LINEAR_API_KEY", "--webhook-secret", "env:LINEAR_WEBHOOK_SECRET", "--author", "alice", "--workflow", "linear-sdlc")
	s.addTracker("hub", strings.Replace(diligent, "worker:\n", "worker:\n"+snoop, 1),
		"--kind", "github", "--url", hub.URL(), "--scope", hub.Scope(), "--token", "command:cat "+kept, "--column", "In Review=Delivered", "--column", "Done=Accepted")
	s.addTracker("bad", sdlc, "--kind", "linear", "--url", strings.Replace(lin.URL, "127.0.0.1", "localhost", 1), "--scope", "ENG", "--token", "env:ORANGE_SECRET_WRONG")

	var told bytes.Buffer
	tell := func(args ...string) {
		out, said, _ := s.run(args...)
		told.WriteString(out + said)
	}
	first := lin.AddIssue(t, filed("Login", "Backlog"))
	for _, d := range lin.TakeDeliveries(t) {
		delivers(t, url+"lin", d)
		d.Header.Set("Linear-Signature", planted["webhook"])
		if code := deliver(t, url+"lin", d); code != http.StatusForbidden {
			t.Errorf("forged news is answered with %d", code)
		}
	}
	second := hub.AddIssue(t, filed("Cart", "Backlog"))
	lin.InjectFault(trackertest.Fault{Kind: trackertest.Broken, Times: 1})
	hub.InjectFault(trackertest.Fault{Kind: trackertest.Limited, Times: 2})
	tell("dispatch", "lin", "--json")
	s.orange("project", "update", "shop", "--delivery", "pr")
	tell("dispatch", "hub", "--json")
	for _, kind := range []string{trackertest.Lost, trackertest.Denied} {
		lin.InjectFault(trackertest.Fault{Kind: kind, Times: 1})
		hub.InjectFault(trackertest.Fault{Kind: kind, Times: 1})
		tell("tracker", "test", "lin")
		tell("tracker", "sync")
	}
	for range 3 {
		tell("tracker", "test", "bad", "--json")
		tell("tracker", "sync", "bad")
	}
	var done []task.ID
	s.eventually("both tasks are done", func() bool {
		done = nil
		for _, tk := range s.list() {
			if (tk.Status == "Accepted" || tk.Status == "reviewing") && len(tk.Pending) == 0 && len(tk.Attempts) == 0 {
				done = append(done, tk.ID)
			}
		}
		return len(done) == 2
	})
	if lin.ReadIssue(t, first).Card.Column != "Accepted" || hub.ReadIssue(t, second).Card.Column != "Delivered" || hub.CountPulls() != 1 {
		t.Errorf("%+v, %+v, %d pull requests", lin.ReadIssue(t, first).Card, hub.ReadIssue(t, second).Card, hub.CountPulls())
	}
	for _, args := range [][]string{{"tracker", "list", "--json"}, {"tracker", "issues", "lin", "--json"}, {"doctor", "--json"}, {"doctor"}, {"project", "list", "--json"}, {"inbox", "--json"}, {"log"},
		{"export", filepath.Join(s.dir, "exported")}} {
		tell(args...)
	}
	for _, id := range done {
		tell("task", "show", string(id), "--json")
		tell("task", "history", string(id), "--json")
		tell("task", "explain", string(id))
	}
	s.write("told", told.String())
	s.orange("stop") // all is on the disk

	if _, err := os.Stat(filepath.Join(s.dir, "env-development-1")); err != nil {
		t.Errorf("nobody looked at the environment of agents: %v", err)
	}
	hasAll(t, "what was told", told.String(), "ORANGE_SECRET_WRONG", "LINEAR_API_KEY")
	if found := s.grep(kept); len(found) > 0 {
		t.Errorf("secrets are written down: %s", strings.Join(found, "\n"))
	}
	s.write("sentinel", planted["github"])
	if found := s.grep(kept); len(found) != 1 {
		t.Errorf("the search finds nothing: %q", found)
	}
}

// TestWhatAnAgentHasAHandInSeesNoSecret inspects the parent process of an agent at a terminal,
// and at hooks of git that an agent may have written.
func TestWhatAnAgentHasAHandInSeesNoSecret(t *testing.T) {
	t.Parallel()
	s := openEnv(t, "tmux")
	s.orange("stop")
	s.environ = append(s.environ, "GITHUB_TOKEN=planted-forge", "LINEAR_API_KEY=planted-tracker", "ORANGE_SECRET_X=planted-other")
	hooked := filepath.Join(s.dir, "hook.env")
	for _, name := range []string{"post-checkout", "reference-transaction"} {
		check(t, os.Chmod(s.write("shop/.git/hooks/"+name, "#!/bin/sh\nenv >>"+hooked+"\n"), 0o755))
	}
	s.orange("project", "update", "shop", "--trust-git") // no other hook runs at all
	id := s.createWith("feature", "--harness", `command:sh -c 'cat /proc/$PPID/environ | tr "\0" "\n" >"$ORANGE_PROMPT_FILE.tmp"; mv "$ORANGE_PROMPT_FILE.tmp" "$ORANGE_PROMPT_FILE.env"; sleep 1000'`)
	s.alive(id, 1)
	above := filepath.Join(string(s.folder(id, 1)), "prompt.md.env")
	s.eventually("the agent has looked", func() bool { _, err := os.Stat(above); return err == nil })
	for _, path := range []string{above, hooked} {
		env, err := os.ReadFile(path)
		shown := strings.Contains(string(env), "PATH=")
		if err != nil || !shown && (path == hooked || os.Getuid() == 0) || strings.Contains(string(env), "planted-") { // a shim shows root only
			t.Errorf("%s: %v\n%s", path, err, env)
		}
	}
}
