//go:build forge

package forge_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"orange/internal/adapter/lock"
)

const (
	landingTasks = 12
	ciName       = "ci/test"
)

// ciScript is the test of the repository: no slot has two parts, which git cannot see, and no conflict was committed.
const ciScript = `#!/bin/sh
twice=$(ls | sed -n 's/^slot-\([0-9]*\)-.*/\1/p' | sort | uniq -d)
test -z "$twice" && ! grep -q '^[<=>]\{7\}' shared
`

// landingWork is an agent that commits a part, and later merges what others landed.
const landingWork = `
worker:
  - run: "sh %s %d %d"
    must: true
  - run: orange task update --status reviewing
`

const landingScript = `#!/bin/sh
set -eu
n=$1 slot=$2
if ! test -e part-$n; then
	echo $n >part-$n
	echo $n >slot-$slot-$n
	echo "line of $n" >>shared
	git add -A
	git commit -qm "part $n"
else
	git pull -q --no-rebase --no-edit origin main || {
		sed -i '/^[<=>]\{7\}/d' shared
		git add -A
		git commit -q --no-edit
	}
	if test $(ls slot-$slot-* | wc -l) -gt 1; then
		git mv slot-$slot-$n slot-$((100 + n))-$n
		git commit -qm "another slot"
	fi
fi
`

// landMany lands several tasks that change the same file through pull requests into a protected branch whose checks are
// required. Meanwhile a person pushes to main, and the server is killed.
func landMany(t *testing.T, w *world) {
	p := w.install(t)
	w.write(t, "test.sh", ciScript)
	w.write(t, "shared", "begin\n")
	w.push(t, "main")
	_, _, err := w.as(t, chief).CreateBranchProtection(chief, w.repo, sdk.CreateBranchProtectionOption{
		RuleName: "main", EnablePush: true, EnableStatusCheck: true, StatusCheckContexts: []string{ciName}, BlockOnOutdatedBranch: true, BlockAdminMergeOverride: true,
	})
	must(t, err)
	work := filepath.Join(p.home, "work.sh")
	must(t, os.WriteFile(work, []byte(landingScript), 0o600))
	p.orange(t, "project", "add", "--name", "shop", "--workflow", "solo", "--pool-size", strconv.Itoa(landingTasks))
	p.orange(t, "project", "update", "shop", "--trust-git", "--delivery", "pr", "--merge", "auto", "--forge", "gitea", "--forge-url", w.url,
		"--forge-repo", chief+"/"+w.repo, "--forge-token", "file:"+filepath.Join(p.home, "token"))
	for i := range landingTasks {
		script := filepath.Join(p.home, fmt.Sprintf("work-%d.yaml", i))
		must(t, os.WriteFile(script, fmt.Appendf(nil, landingWork, work, i+1, i/2), 0o600))
		p.orange(t, "task", "create", fmt.Sprintf("part-%d", i), "a part", "--project", "shop", "--harness", "script:"+script)
	}
	ci := newCI(t, w)
	tips := p.landAll(t, ci)
	w.git(t, "fetch", "--quiet", "origin")
	for _, commit := range tips {
		w.git(t, "merge-base", "--is-ancestor", commit, "origin/main")
		if !ci.passes(commit) {
			t.Errorf("%s was merged, and its test fails", commit)
		}
	}
	for i := range landingTasks {
		w.git(t, "cat-file", "-e", fmt.Sprintf("origin/main:part-%d", i+1))
	}
	w.git(t, "cat-file", "-e", "origin/main:person-1")
}

// landAll acts as the people and as the CI of the repository until every task is done. It returns the commits that pull
// requests brought to main.
func (p *installation) landAll(t *testing.T, ci *ci) (tips []string) {
	t.Helper()
	pushed := false
	for end, round := time.Now().Add(15*time.Minute), 1; ; time.Sleep(500 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it does not end:\n%s\n%s", p.orange(t, "task", "list", "--all"), p.orange(t, "inbox"))
		}
		ci.run(t)
		var list struct {
			Tasks []struct {
				ID, Status, Attention string
				Pending               []struct{ Do string }
			}
		}
		out, err := p.command("task", "list", "--all", "--closed", "--json").Output()
		if err != nil || json.Unmarshal(out, &list) != nil {
			continue // its server was killed
		}
		done := 0
		for _, one := range list.Tasks {
			switch {
			case one.Status == "done":
				done++
			case one.Status == "stuck" && len(one.Pending) == 0: // main moved under it three times
				p.command("task", "answer", one.ID, "bring it up to date again").Run() //nolint:errcheck // likewise
			case one.Status == "reviewing" && len(one.Pending) == 0:
				p.command("task", "merge", one.ID, "--no-wait").Run() //nolint:errcheck // the server may have been killed; it is tried again
			}
		}
		switch {
		case done == landingTasks:
			return ci.merged(t)
		case done > 0 && !pushed:
			pushed = true
			p.commitAsPerson(t)
		case round%20 == 0 && round <= 60:
			p.killServer(t)
		}
		round++
	}
}

// commitAsPerson pushes a commit to main.
func (p *installation) commitAsPerson(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	p.git(t, "clone", "--quiet", p.url+"/"+chief+"/"+p.repo+".git", dir)
	must(t, os.WriteFile(filepath.Join(dir, "person-1"), []byte("mine\n"), 0o600))
	p.git(t, "-C", dir, "add", "person-1")
	p.git(t, "-C", dir, "commit", "--quiet", "-m", "mine")
	p.git(t, "-C", dir, "push", "--quiet", "origin", "main")
}

// killServer kills the server, as a crash would.
func (p *installation) killServer(t *testing.T) {
	t.Helper()
	pid := lock.ReadHolder(filepath.Join(p.home, ".local/share/orange")).PID
	if pid <= 0 {
		t.Fatal("there is no server to kill")
	}
	must(t, syscall.Kill(pid, syscall.SIGKILL))
}

// ci tests the heads of pull requests in a clone of its own, and reports to the forge.
type ci struct {
	w    *world
	dir  string
	done map[string]bool
}

func newCI(t *testing.T, w *world) *ci {
	t.Helper()
	c := &ci{w, filepath.Join(t.TempDir(), "ci"), map[string]bool{}}
	w.git(t, "clone", "--quiet", w.url+"/"+chief+"/"+w.repo+".git", c.dir)
	return c
}

// run tests each head that was not tested yet.
func (c *ci) run(t *testing.T) {
	t.Helper()
	found, _, err := c.w.as(t, chief).ListRepoPullRequests(chief, c.w.repo, sdk.ListPullRequestsOptions{State: sdk.StateOpen})
	must(t, err)
	for _, pr := range found {
		head := pr.Head.Sha
		if c.done[head] {
			continue
		}
		c.done[head] = true
		c.w.git(t, "-C", c.dir, "fetch", "--quiet", "origin", head)
		state := sdk.StatusFailure
		if c.passes(head) {
			state = sdk.StatusSuccess
		}
		c.w.status(t, head, sdk.CreateStatusOption{State: state, Context: ciName})
	}
}

// passes reports whether the test passes on a commit.
func (c *ci) passes(commit string) bool {
	cmd := exec.Command("sh", "-c", "git fetch -q origin; git checkout -q --detach "+commit+" && sh test.sh")
	cmd.Dir = c.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.w.dir, "GIT_CONFIG_NOSYSTEM=1"}
	return cmd.Run() == nil
}

// merged returns the commits that merged pull requests brought to main.
func (c *ci) merged(t *testing.T) (out []string) {
	t.Helper()
	found, _, err := c.w.as(t, chief).ListRepoPullRequests(chief, c.w.repo, sdk.ListPullRequestsOptions{State: sdk.StateClosed})
	must(t, err)
	for _, pr := range found {
		if pr.HasMerged && pr.MergedCommitID != nil {
			out = append(out, *pr.MergedCommitID)
		}
	}
	if len(out) != landingTasks {
		t.Errorf("%d pull requests were merged", len(out))
	}
	return out
}
