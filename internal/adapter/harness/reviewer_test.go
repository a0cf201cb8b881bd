package harness

import (
	"io"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// inGit runs git in a folder, apart from the user's configuration.
func inGit(dir string, env []string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=T", "-c", "user.email=t@example.invalid"}, args...)...)
	cmd.Env = append(append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0"), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// guarded returns the environment of a reviewer, with its files written.
func guarded(t *testing.T) []string {
	t.Helper()
	env, files := GuardReviewer(filepath.Join(t.TempDir(), "an attempt's"), os.Getenv("PATH"))
	if err := WriteFiles(files); err != nil {
		t.Fatal(err)
	}
	return env
}

// TestAReviewerCannotPush pushes with the real git in every way that an honest agent may
// think of.
func TestAReviewerCannotPush(t *testing.T) {
	dir := t.TempDir()
	git := func(env []string, args ...string) (string, error) {
		return inGit(filepath.Join(dir, "work"), env, args...)
	}
	must := func(args ...string) {
		t.Helper()
		if out, err := git(nil, args...); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	must("init", "--quiet", "--initial-branch=main", ".")
	must("commit", "--quiet", "--allow-empty", "--message=x")
	bare := map[string]string{}
	for _, name := range []string{"plain", "elsewhere", "third", "signed"} {
		bare[name] = filepath.Join(dir, name+".git")
		must("init", "--quiet", "--bare", bare[name])
		must("--git-dir="+bare[name], "config", "http.receivepack", "true")
	}
	must("--git-dir="+bare["signed"], "config", "receive.certNonceSeed", "x") // it takes signed pushes
	web := serveGit(t, dir)
	for name, config := range map[string][]string{
		"plain": {"url", bare["plain"]}, "away": {"url", bare["plain"], "pushurl", bare["elsewhere"]},
		"two": {"url", bare["plain"], "pushurl", bare["elsewhere"], "pushurl", "file://" + bare["third"]},
		"one": {"url", bare["plain"], "pushurl", bare["plain"]}, "signed": {"url", bare["plain"], "pushurl", bare["signed"]},
		"web": {"url", web + "/plain.git", "pushurl", web + "/elsewhere.git"},
	} {
		for i := 0; i < len(config); i += 2 {
			must("config", "--add", "remote."+name+"."+config[i], config[i+1])
		}
		must("config", "remote."+name+".fetch", "+refs/heads/*:refs/remotes/"+name+"/*")
	}
	must("config", "remote.pushDefault", "away")
	env := guarded(t)
	for _, to := range []string{"plain", "away", "two", "one", "signed", "web", bare["plain"], "file://" + bare["plain"], "../plain.git", web + "/plain.git", ""} {
		for _, args := range [][]string{{}, {"--no-verify"}, {"--force", "--no-verify"}, {"--all"}, {"--signed", "--no-verify"}} {
			push := append([]string{"push"}, args...)
			if to != "" {
				push = append(push, to)
			}
			if to != "" && !slices.Contains(args, "--all") {
				push = append(push, "main")
			}
			if out, err := git(env, push...); err == nil {
				t.Errorf("a reviewer can git %v: %s", push, out)
			} else if len(args) == 0 && !strings.Contains(out, "reviewers-do-not-push") && !strings.Contains(out, refusal) {
				t.Errorf("git %v does not say why: %s", push, out)
			}
		}
	}
	for name, path := range bare {
		if out, _ := git(nil, "--git-dir="+path, "for-each-ref"); out != "" {
			t.Errorf("something came to %s: %s", name, out)
		}
	}
	must("push", "--quiet", bare["plain"], "main")
	for _, from := range []string{"plain", "away", "two", "one", "web"} {
		if out, err := git(env, "fetch", from); err != nil {
			t.Errorf("a reviewer cannot fetch from %s: %v %s", from, err, out)
		}
	}
	for _, to := range []string{"away", "two", "web"} {
		if out, err := git(nil, "push", "--quiet", to, "main"); err != nil {
			t.Errorf("a worker cannot push to %s: %v %s", to, err, out)
		}
	}
}

// serveGit serves the repositories of a folder over HTTP.
func serveGit(t *testing.T, dir string) string {
	t.Helper()
	where, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(where)), "git-http-backend"), Root: "/",
		Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"}, Stderr: io.Discard,
		InheritEnv: []string{"PATH"},
	})
	t.Cleanup(server.Close)
	return server.URL
}

// TestAReviewerKeepsTheHooksOfTheRepository commits where the repository has hooks, at the
// usual place and where husky has them.
func TestAReviewerKeepsTheHooksOfTheRepository(t *testing.T) {
	env := guarded(t)
	for _, hooks := range []string{".git/hooks", ".husky/_"} {
		dir := filepath.Join(t.TempDir(), "a shop")
		write := func(name, text string) {
			t.Helper()
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		write("x", "x")
		for _, args := range [][]string{{"init", "--quiet", "--initial-branch=main", "."}, {"add", "x"}, {"commit", "--quiet", "--message=x"}, {"config", "core.hooksPath", hooks}, {"worktree", "add", "--quiet", "../tree"}} {
			if out, err := inGit(dir, nil, args...); err != nil {
				t.Fatalf("git %v: %v %s", args, err, out)
			}
		}
		tree := filepath.Join(dir, "../tree")
		if hooks == ".git/hooks" {
			if out, err := inGit(dir, nil, "config", "--unset", "core.hooksPath"); err != nil {
				t.Fatal(out)
			}
		} else { // of the worktree, as husky has it
			dir = tree
		}
		write(hooks+"/commit-msg", "#!/bin/sh\necho signed off >>\"$1\"\n")
		write(hooks+"/reference-transaction", "#!/bin/sh\ncat >>\"$(git rev-parse --git-dir)/heard\"\n")
		write(hooks+"/pre-commit", "#!/bin/sh\ntest ! -e no\n")
		if out, err := inGit(tree, env, "commit", "--quiet", "--allow-empty", "--message=by a reviewer"); err != nil {
			t.Fatalf("%s: %v %s", hooks, err, out)
		}
		if out, _ := inGit(tree, nil, "log", "-1", "--format=%B"); !strings.Contains(out, "signed off") {
			t.Errorf("%s: the hook commit-msg did not run: %s", hooks, out)
		}
		if out, _ := inGit(tree, nil, "rev-parse", "--path-format=absolute", "--git-dir"); true {
			if heard, _ := os.ReadFile(filepath.Join(strings.TrimSpace(out), "heard")); !strings.Contains(string(heard), "refs/heads/tree") {
				t.Errorf("%s: the hook reference-transaction did not hear of the branch: %s", hooks, heard)
			}
		}
		if err := os.WriteFile(filepath.Join(tree, "no"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := inGit(tree, env, "commit", "--quiet", "--allow-empty", "--message=again"); err == nil {
			t.Errorf("%s: the hook pre-commit does not refuse: %s", hooks, out)
		}
	}
}

// TestAReviewerReadsAForge calls the wrapper of gh, with a program in place of gh that prints
// its arguments.
func TestAReviewerReadsAForge(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "gh"), []byte("#!/bin/sh\nprintf '%s\\n' real \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "an attempt's")
	env, files := GuardReviewer(dir, bin+":"+os.Getenv("PATH"))
	if err := WriteFiles(files); err != nil {
		t.Fatal(err)
	}
	gh := func(args ...string) (string, error) {
		cmd := exec.Command(filepath.Join(dir, "bin", "gh"), args...)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, args := range [][]string{
		{"pr", "view", "1", "--json", "title"}, {"pr", "-R", "o/r", "view"}, {"-R", "o/r", "pr", "diff", "1"}, {"pr", "--repo=o/r", "checks"}, {"issue", "list", "--label", "a b"},
		{"repo", "deploy-key", "list"}, {"search", "prs", "merge"}, {"status"}, {}, {"--version"}, {"pr"}, {"pr", "merge", "--help"}, {"run", "view", "1", "--log"},
		{"api", "repos/o/r/pulls/1"}, {"api", "-X", "GET", "search/issues", "--paginate", "--jq", ".items"}, {"api", "x", "-H", "Accept: application/json"},
		{"auth", "git-credential", "get"},
	} {
		out, err := gh(args...)
		if want := "real\n" + strings.Join(append(args, ""), "\n"); err != nil || out != want {
			t.Errorf("gh %q: %v %s", args, err, out)
		}
	}
	for _, args := range [][]string{
		{"pr", "review", "1", "--approve"}, {"pr", "-R", "o/r", "merge", "1"}, {"pr", "-Ro/r", "merge", "1"}, {"-R", "pr view", "pr", "merge"}, {"pr", "--web", "view", "merge"}, {"issue", "new"},
		{"alias", "set", "v", "pr merge"}, {"v", "1"}, {"an-extension"}, {"extension", "exec", "x"}, {"secret", "set", "A"}, {"auth", "token"}, {"release", "upload", "v1", "x"},
		{"pr view"}, {"pr view", "1"}, {"*"}, {"pr", "*"}, {"pr", ""}, {"repo", "deploy-key", "add", "x"}, {"pr", "comment", "1", "--body", "--help"}, {"merge", "--help", "1", "--help"},
		{"api", "x", "-X", "POST"}, {"api", "x", "-XPOST"}, {"api", "x", "--method=POST"}, {"api", "x", "-f", "a=b"}, {"api", "x", "-fa=b"}, {"api", "x", "--input", "-"},
		{"api", "graphql"}, {"api", "/graphql"}, {"api", "x", "-H", "X-HTTP-Method-Override: DELETE"}, {"api", "x", "-iXPOST"}, {"api", "--jq"}, {"-R", "a", "api", "x", "-XPOST"},
		{"api", "x", "y"}, {"-R", "api"},
	} {
		if out, err := gh(args...); err == nil || !strings.Contains(out, refusal) || strings.Contains(out, "real") {
			t.Errorf("gh %q: %v %s", args, err, out)
		}
	}
	if err := os.Remove(filepath.Join(bin, "gh")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", filepath.Join(dir, "bin", "gh"), "pr", "view")
	cmd.Env = []string{"PATH=" + filepath.Join(dir, "bin") + ":" + bin}
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "not installed") {
		t.Errorf("without a gh: %v %s", err, out)
	}
}

// TestEveryCommandOfGHIsKnown compares what is known of gh with the gh that is installed.
func TestEveryCommandOfGHIsKnown(t *testing.T) {
	reads, writes := forgeReads(), forgeWrites()
	for _, r := range reads {
		for _, w := range writes {
			if strings.HasPrefix(r, w) {
				t.Errorf("a rule against gh %s keeps a reviewer from gh %s", w, r)
			}
		}
	}
	gh, err := exec.LookPath("gh")
	if err != nil {
		t.Skip("gh is not installed: run scripts/tools.sh test")
	}
	cmd := exec.Command(gh, "help", "reference")
	cmd.Env = append(os.Environ(), "GH_CONFIG_DIR="+t.TempDir(), "GH_NO_UPDATE_NOTIFIER=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("gh help reference: %v %s", err, out)
	}
	var commands []string
	for _, m := range regexp.MustCompile("(?m)^#+ .?gh ([a-z0-9 -]+)").FindAllStringSubmatch(string(out), -1) {
		words := strings.Fields(regexp.MustCompile(`\s+-.*`).ReplaceAllString(m[1], ""))
		commands = append(commands, strings.Join(words, "_"))
	}
	if len(commands) < 100 {
		t.Fatalf("gh lists %d commands:\n%s", len(commands), out)
	}
	for _, c := range commands {
		group := slices.ContainsFunc(commands, func(other string) bool { return strings.HasPrefix(other, c+"_") })
		known := slices.Contains(reads, c) || slices.ContainsFunc(writes, func(w string) bool { return c == w || strings.HasPrefix(c, w+"_") })
		if c != "api" && !group && !known {
			t.Errorf("gh %s is not known: say in reviewer.go whether it reads", strings.ReplaceAll(c, "_", " "))
		}
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
