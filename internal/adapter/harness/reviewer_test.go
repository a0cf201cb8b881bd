package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inGit runs git in a folder, apart from the user's configuration.
func inGit(dir string, env []string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=T", "-c", "user.email=t@example.invalid"}, args...)...)
	cmd.Env = append(append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestAReviewerCannotPush(t *testing.T) {
	dir := t.TempDir()
	run := func(env []string, args ...string) (string, error) { return inGit(dir, env, args...) }
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "bare"}, {"init", "--quiet", "--initial-branch=main", "."}, {"commit", "--quiet", "--allow-empty", "--message=x"},
		{"remote", "add", "origin", filepath.Join(dir, "bare")},
	} {
		if out, err := run(nil, args...); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	for _, name := range append(Names(), "command:x", "script:/a.yaml") {
		l := launch()
		l.ReadOnly = true
		plan, err := find(t, name).Plan(l)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range []string{"origin", filepath.Join(dir, "bare")} {
			if out, err := run(plan.Env, "push", to, "main"); err == nil || !strings.Contains(out, "reviewers-do-not-push") {
				t.Errorf("%s pushes to %s: %v %s", name, to, err, out)
			}
		}
		if out, err := run(plan.Env, "fetch", "origin"); err != nil {
			t.Errorf("%s cannot fetch: %v %s", name, err, out)
		}
		l.ReadOnly = false
		if plan, err := find(t, name).Plan(l); err != nil || strings.Contains(strings.Join(plan.Env, " "), "GIT_") {
			t.Errorf("%s: a worker is kept from git: %v, %v", name, plan.Env, err)
		}
	}
	if out, err := run(nil, "push", "origin", "main"); err != nil {
		t.Errorf("a worker cannot push: %v %s", err, out)
	}
}

func TestCodexGuard(t *testing.T) {
	guard := filepath.Join(t.TempDir(), "guard's.sh")
	if err := os.WriteFile(guard, guardScript(), 0o700); err != nil {
		t.Fatal(err)
	}
	for payload, refused := range map[string]bool{
		`{"tool_name":"Bash","tool_input":{"command":"git push origin main"}}`:            true,
		`{"tool_name":"Bash","tool_input":{"command":"cd x && gh pr comment 1 -b hi"}}`:   true,
		`{"tool_name":"Bash","tool_input":{"command":"true; gh pr review 1 --approve"}}`:  true,
		`{"tool_name":"Bash","tool_input":{"command":"true\ngit push"}}`:                  true,
		`{"tool_name":"Bash","tool_input":{"command":"grep -r \"git push\" docs"}}`:       false,
		`{"tool_name":"Bash","tool_input":{"command":"gh pr view 1"}}`:                    false,
		`{"tool_name":"apply_patch","tool_input":{"command":"*** Update File: TASK.md"}}`: false,
	} {
		cmd := exec.Command("/bin/sh", guard)
		cmd.Stdin = strings.NewReader(payload)
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); (code == 2) != refused || !refused && err != nil || refused != strings.Contains(string(out), refusal) {
			t.Errorf("%s: exit %d, %s", payload, code, out)
		}
	}
}
