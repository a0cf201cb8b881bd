//go:build forge

package forge_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "code.gitea.io/sdk/gitea"
)

// installation is the whole product with a home of its own, in the clone of a world.
type installation struct {
	*world
	program, home string
}

func (w *world) install(t *testing.T) *installation {
	t.Helper()
	home, err := os.MkdirTemp("", "f") // a socket's path may have 108 bytes
	must(t, err)
	p := &installation{w, filepath.Join(home, "orange"), home}
	if out, err := exec.Command("go", "build", "-o", p.program, "orange/cmd/orange").CombinedOutput(); err != nil {
		t.Fatalf("build orange: %v\n%s", err, out)
	}
	must(t, os.WriteFile(filepath.Join(home, ".gitconfig"), fmt.Appendf(nil, "[user]\n\tname = test\n\temail = test@example.invalid\n[http]\n\textraHeader = Authorization: token %s\n", w.server.token), 0o600))
	must(t, os.MkdirAll(filepath.Join(home, ".config/orange"), 0o700))
	must(t, os.WriteFile(filepath.Join(home, ".config/orange/config.json"), []byte(`{"sessions":"headless"}`), 0o600))
	must(t, os.WriteFile(filepath.Join(home, "token"), []byte(w.token), 0o600))
	t.Cleanup(func() {
		p.command("stop").Run() //nolint:errcheck // there may be none
		_ = os.RemoveAll(home)
	})
	return p
}

func (p *installation) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.program, args...)
	cmd.Dir = p.clone
	cmd.Env = []string{"PATH=" + p.home + ":" + os.Getenv("PATH"), "HOME=" + p.home, "XDG_RUNTIME_DIR=" + p.home, "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1"}
	return cmd
}

// orange runs a command that must succeed, and returns its standard output.
func (p *installation) orange(t *testing.T, args ...string) string {
	t.Helper()
	cmd := p.command(args...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("orange %q: %v\n%s%s", args, err, out, said.String())
	}
	return string(out)
}

const solo = `
worker:
  - run: "grep -q 'Do it well' TASK.md"
    must: true
  - commit: {file: login.txt, text: "form\n", message: add the form}
  - run: orange task update --status reviewing
`

// runIssue works on an issue of Gitea by its address, for another base than the default: the branch is pushed, and the
// pull request asks to merge into that base.
func runIssue(t *testing.T, w *world) {
	p := w.install(t)
	w.commit(t, "release/2.1", "release.txt", "2.1\n")
	w.git(t, "switch", "--quiet", "main")
	is, _, err := w.as(t, chief).CreateIssue(chief, w.repo, sdk.CreateIssueOption{Title: "Log in", Body: "Do it well."})
	must(t, err)
	script := filepath.Join(p.home, "solo.yaml")
	must(t, os.WriteFile(script, []byte(solo), 0o600))
	p.orange(t, "project", "add", "--name", "shop")
	p.orange(t, "project", "update", "shop", "--trust-git", "--delivery", "pr", "--forge", "gitea", "--forge-url", w.url, "--forge-repo", chief+"/"+w.repo, "--forge-token", "file:"+filepath.Join(p.home, "token"))
	out := p.orange(t, "run", "--json", "--issue", is.HTMLURL, "--base", "release/2.1", "--harness", "script:"+script)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var end struct{ ID, Result, State string }
	must(t, json.Unmarshal([]byte(lines[len(lines)-1]), &end))
	if end.Result != "reached" || end.State != "reviewing" {
		t.Fatal(out)
	}
	var found []*sdk.PullRequest
	until(t, "the pull request", func() bool {
		found, _, err = w.as(t, chief).ListRepoPullRequests(chief, w.repo, sdk.ListPullRequestsOptions{State: sdk.StateOpen})
		must(t, err)
		return len(found) == 1
	})
	if pr := found[0]; pr.Base.Ref != "release/2.1" || pr.Title != "Log in" {
		t.Errorf("%q asks to merge into %s", pr.Title, pr.Base.Ref)
	}
	w.merge(t, int(found[0].Index), found[0].Head.Sha)
	w.git(t, "fetch", "--quiet", "origin")
	if got := w.git(t, "show", "origin/release/2.1:login.txt"); got != "form" {
		t.Errorf("the base has %q", got)
	}
	p.orange(t, "tracker", "sync")
	p.orange(t, "task", "wait", end.ID, "--for", "done", "--timeout", "60s")
}
