package git

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"orange/internal/core/task"
	"orange/internal/testneeds"
)

// guardEnv is a repository with a worktree on branch x, in which an agent has a hand.
type guardEnv struct {
	t         *testing.T
	root, dir string
	outside   string // a folder outside of the repository
	trusted   []task.GitProgram
	environ   []string
	git       *Git
}

func newGuardEnv(t *testing.T) *guardEnv {
	t.Helper()
	e := &guardEnv{t: t, outside: t.TempDir()}
	e.root, e.dir = forMerge(t)
	e.environ = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_CONFIG_GLOBAL="+filepath.Join(e.outside, "gitconfig"))
	e.environ = slices.DeleteFunc(e.environ, func(v string) bool { return strings.HasPrefix(v, "GIT_ALLOW_PROTOCOL=") })
	common := filepath.Join(e.root, ".git")
	e.git = New().WithEnviron(func(bool) []string { return slices.Clone(e.environ) }).WithGuard(&Guard{Hooks: t.TempDir(), Trusted: func(of string) (string, []task.GitProgram) {
		if of != common && !strings.HasPrefix(of, common+"/") {
			return "", nil
		}
		return "shop", e.trusted
	}})
	e.git.lockTimeout = 0
	return e
}

// trust trusts what there is now.
func (e *guardEnv) trust() {
	e.t.Helper()
	list, err := e.git.ListPrograms(e.t.Context(), e.root)
	if err != nil {
		e.t.Fatal(err)
	}
	e.trusted = list
}

// program writes a program that notes that it ran and passes its input on.
func (e *guardEnv) program(name string) string {
	e.t.Helper()
	path := filepath.Join(e.outside, name)
	e.executable(path, "#!/bin/sh\nps -o args= -p $PPID >>"+e.outside+"/who; echo "+name+" >>"+e.outside+"/ran\nenv >"+e.outside+"/environ\ncase \"$*\" in transport*) exit 1 ;; *) cat ;; esac\n")
	return path
}

func (e *guardEnv) executable(path, text string) {
	e.t.Helper()
	write(e.t, filepath.Dir(path), filepath.Base(path), text)
	if err := os.Chmod(path, 0o755); err != nil {
		e.t.Fatal(err)
	}
}

// ran returns which programs have run since the last call.
func (e *guardEnv) ran() string {
	text, _ := os.ReadFile(filepath.Join(e.outside, "ran"))
	_ = os.Remove(filepath.Join(e.outside, "ran"))
	lines := strings.Fields(string(text))
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), " ")
}

// work does what Orange does with a repository in the life of a task. Some of it may fail.
func (e *guardEnv) work(g *Git) {
	ctx := e.t.Context()
	write(e.t, e.dir, "f", rand.Text())
	c := Comparison{Root: e.root, Worktree: e.dir, Branch: "x", Default: "main"}
	_, _ = g.DiffStat(ctx, c)
	_, _, _, _ = g.BranchDiff(ctx, c, 1<<20)
	_, _ = g.UncommittedFiles(ctx, e.dir)
	_, _ = g.UnsavedWork(ctx, e.dir)
	_, _ = g.SalvageWork(ctx, e.dir, "t")
	_ = g.CleanWorktree(ctx, e.dir, "t")
	_ = g.SwitchBranch(ctx, e.dir, "next", "main")
	_ = g.SwitchBranch(ctx, e.dir, "x", "main")
	_, _ = g.ListSalvages(ctx, e.root)
	e.merge(g)
	_ = g.FetchBranch(ctx, e.root, "origin", "main")
	do(e.t, e.root, "-c", "core.hooksPath=/dev/null", "update-ref", "refs/heads/pushed", "main")
	_ = g.PushBranch(ctx, e.root, "origin", "pushed")
	_ = g.AddWorktree(ctx, e.root, filepath.Join(e.outside, "more"), "main")
	_ = g.RemoveWorktree(ctx, filepath.Join(e.outside, "more"))
}

// merge merges a branch that is not in main yet. The test itself runs nothing for it.
func (e *guardEnv) merge(g *Git) {
	commit := func(parent, name, text string) string {
		cmd := exec.Command("sh", "-c", `export GIT_INDEX_FILE=$(mktemp -u) && git read-tree "$0" &&
			git update-index --add --cacheinfo "100644,$(echo "$1" | git hash-object -w --no-filters --stdin),$2" && git commit-tree -p "$0" -m x $(git write-tree)`, parent, text, name)
		cmd.Dir, cmd.Env = e.root, append(slices.Clone(e.environ), "GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=/dev/null",
			"GIT_CONFIG_KEY_1=core.fsmonitor", "GIT_CONFIG_VALUE_1=false", "GIT_CONFIG_KEY_2=commit.gpgSign", "GIT_CONFIG_VALUE_2=false")
		text2, err := cmd.CombinedOutput()
		if err != nil {
			e.t.Fatal(string(text2))
		}
		return strings.TrimSpace(string(text2))
	}
	base := out(e.t, e.root, "rev-parse", "main")
	for branch, name := range map[string]string{"side": "h", "line": "f"} {
		do(e.t, e.root, "-c", "core.hooksPath=/dev/null", "update-ref", "refs/heads/"+branch, commit(base, name, rand.Text()))
	}
	for _, branch := range []string{"side", "x"} {
		_, _ = g.MergeBranch(e.t.Context(), e.root, Merging{Branch: branch, Into: "line", Strategy: MergeCommit})
	}
	_, _ = g.MergeBranch(e.t.Context(), e.root, Merging{Branch: "side", Into: "main", Strategy: Auto})
}

// attacks are the ways in which an agent gets git to run its program.
var attacks = map[string]func(e *guardEnv, program string){
	"fsmonitor":           func(e *guardEnv, program string) { do(e.t, e.root, "config", "core.fsmonitor", program) },
	"filter":              func(e *guardEnv, program string) { e.filter("x", "clean", program) },
	"smudge filter":       func(e *guardEnv, program string) { e.filter("x", "smudge", program) },
	"filter process":      func(e *guardEnv, program string) { e.filter("x", "process", program) },
	"filter with = in it": func(e *guardEnv, program string) { e.filter("a=b", "clean", program) },
	"filter by info/attributes": func(e *guardEnv, program string) {
		do(e.t, e.root, "config", "filter.x.clean", program)
		write(e.t, e.root, ".git/info/attributes", "* filter=x\n")
	},
	"filter by an include": func(e *guardEnv, program string) {
		write(e.t, e.outside, "inc", "[filter \"x\"]\n\tclean = "+program+"\n")
		write(e.t, e.root, ".git/info/attributes", "* filter=x\n")
		do(e.t, e.root, "config", "include.path", filepath.Join(e.outside, "inc"))
	},
	"filter by an include that comes later": func(e *guardEnv, program string) {
		do(e.t, e.root, "config", "include.path", filepath.Join(e.outside, "inc"))
		_, _ = e.git.UncommittedFiles(e.t.Context(), e.dir)
		write(e.t, e.outside, "inc", "[filter \"x\"]\n\tclean = "+program+"\n")
		write(e.t, e.root, ".git/info/attributes", "* filter=x\n")
	},
	"filter of the worktree": func(e *guardEnv, program string) {
		do(e.t, e.root, "config", "extensions.worktreeConfig", "true")
		do(e.t, e.dir, "config", "--worktree", "filter.x.clean", program)
		write(e.t, e.dir, ".gitattributes", "* filter=x\n")
	},
	"filter of the user": func(e *guardEnv, program string) {
		write(e.t, e.outside, "gitconfig", "[filter \"x\"]\n\tclean = "+program+"\n")
		write(e.t, e.root, ".git/info/attributes", "* filter=x\n")
	},
	"filter of a repository inside": func(e *guardEnv, program string) {
		inner := filepath.Join(e.dir, "inner")
		do(e.t, e.dir, "init", "-q", "--template=", inner)
		commitFile(e.t, inner, "f", "1")
		do(e.t, e.dir, "add", "inner")
		do(e.t, e.dir, "commit", "-qm", "inner")
		do(e.t, inner, "config", "filter.x.clean", program)
		write(e.t, inner, ".git/info/attributes", "* filter=x\n")
		write(e.t, inner, "f", "2")
	},
	"hook":                func(e *guardEnv, program string) { e.hook(".git/hooks/post-checkout", program) },
	"hook for references": func(e *guardEnv, program string) { e.hook(".git/hooks/reference-transaction", program) },
	"hook for messages":   func(e *guardEnv, program string) { e.hook(".git/hooks/commit-msg", program) },
	"hook in another folder": func(e *guardEnv, program string) {
		e.hook("../evil/post-checkout", program)
		do(e.t, e.root, "config", "core.hooksPath", filepath.Join(e.root, "../evil"))
	},
	"hook in the worktree": func(e *guardEnv, program string) {
		do(e.t, e.root, "config", "core.hooksPath", "hooks")
		write(e.t, e.root, ".git/info/exclude", "hooks\n")
		e.executable(filepath.Join(e.dir, "hooks/post-checkout"), "#!/bin/sh\nexec "+program+" </dev/null\n")
	},
	"merge driver": func(e *guardEnv, program string) {
		do(e.t, e.root, "config", "merge.x.driver", program+" %A <%B")
		commitFile(e.t, e.root, "f", "conflict")
		write(e.t, e.root, ".git/info/attributes", "* merge=x\n")
	},
	"textconv": func(e *guardEnv, program string) {
		do(e.t, e.root, "config", "diff.x.textconv", program)
		write(e.t, e.root, ".git/info/attributes", "* diff=x\n")
	},
	"external diff": func(e *guardEnv, program string) { do(e.t, e.root, "config", "diff.external", program+" transport") },
	"signing": func(e *guardEnv, program string) {
		do(e.t, e.root, "config", "commit.gpgSign", "true")
		do(e.t, e.root, "config", "gpg.program", program)
	},
	"default key": func(e *guardEnv, program string) {
		do(e.t, e.root, "config", "commit.gpgSign", "true")
		do(e.t, e.root, "config", "gpg.format", "ssh")
		do(e.t, e.root, "config", "gpg.ssh.defaultKeyCommand", program)
	},
	"ssh": func(e *guardEnv, program string) {
		do(e.t, e.root, "remote", "add", "origin", "ssh://localhost/x")
		do(e.t, e.root, "config", "core.sshCommand", program+" transport")
	},
	"upload-pack": func(e *guardEnv, program string) {
		do(e.t, e.root, "remote", "add", "origin", e.root)
		do(e.t, e.root, "config", "remote.origin.uploadpack", program+" transport")
	},
	"ext": func(e *guardEnv, program string) {
		do(e.t, e.root, "remote", "add", "origin", "ext::"+program+" transport %S")
		do(e.t, e.root, "config", "protocol.ext.allow", "always")
	},
	"push to a folder": func(e *guardEnv, program string) {
		do(e.t, e.root, "remote", "add", "origin", "ssh://localhost/x")
		do(e.t, e.root, "remote", "set-url", "--push", "origin", e.remote(program))
	},
	"push to a file address": func(e *guardEnv, program string) {
		do(e.t, e.root, "remote", "add", "origin", "file://"+e.remote(program))
	},
	"push to another address": func(e *guardEnv, program string) {
		do(e.t, e.root, "remote", "add", "origin", "ssh://localhost/x")
		do(e.t, e.root, "config", "url."+e.remote(program)+".pushInsteadOf", "ssh://localhost/x")
	},
	"push to an address in parts": func(e *guardEnv, program string) {
		do(e.t, e.root, "remote", "add", "origin", "evil:"+strings.TrimPrefix(e.remote(program), "/"))
		do(e.t, e.root, "config", "url.file:.insteadOf", "evil:")
		do(e.t, e.root, "config", "remote.origin.pushurl", "evil://"+e.remote(program))
	},
	"push to a remote without an address": func(e *guardEnv, program string) {
		do(e.t, e.root, "config", "remote.origin.prune", "true")
		write(e.t, e.root, ".git/remotes/origin", "URL: "+e.remote(program)+"\n")
	},
	"another repository": func(e *guardEnv, program string) {
		evil := filepath.Join(e.outside, "another")
		do(e.t, e.root, "clone", "-q", "--bare", "--branch=x", e.root, evil)
		do(e.t, evil, "config", "core.bare", "false")
		do(e.t, evil, "config", "filter.x.clean", program)
		write(e.t, evil, "info/attributes", "* filter=x\n")
		write(e.t, e.dir, ".git", "gitdir: "+evil+"\n")
		do(e.t, e.dir, "reset", "-q")
		commitFile(e.t, e.dir, "g", "same")
		ago := time.Now().Add(-time.Hour) // git must compare its content to see that it is the same
		if err := os.Chtimes(filepath.Join(e.dir, "g"), ago, ago); err != nil {
			e.t.Fatal(err)
		}
	},
}

// remote makes a repository that runs a program when something is pushed to it.
func (e *guardEnv) remote(program string) string {
	e.t.Helper()
	dir := filepath.Join(e.outside, "remote.git")
	if !pathExists(dir, "HEAD") {
		do(e.t, e.root, "init", "-q", "--bare", "--template=", dir)
		e.executable(filepath.Join(dir, "hooks/pre-receive"), "#!/bin/sh\nexec "+program+"\n")
	}
	return dir
}

func (e *guardEnv) filter(name, part, program string) {
	e.t.Helper()
	do(e.t, e.root, "config", "filter."+name+"."+part, program)
	commitFile(e.t, e.dir, ".gitattributes", "* filter="+name+"\n")
	write(e.t, e.root, ".git/info/attributes", "* filter="+name+"\n")
}

func (e *guardEnv) hook(path, program string) {
	e.t.Helper()
	e.executable(filepath.Join(e.root, path), "#!/bin/sh\nexec "+program+" </dev/null\n")
}

// Nothing that an agent configures is run, and a git without a guard runs it.
func TestProgramsOfAgentsAreNotRun(t *testing.T) {
	testneeds.Processes(t)
	t.Parallel()
	never := []string{"textconv", "external diff", "push to a remote without an address"} // no git of Orange ever runs those
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newGuardEnv(t)
			e.trust()
			e.work(e.git) // it has inspected before
			attack(e, e.program("evil"))
			e.ran()
			e.work(e.git)
			if ran := e.ran(); ran != "" {
				t.Errorf("%s ran by %s", ran, read(t, e.outside, "who"))
			}
			e = newGuardEnv(t)
			free := New().WithEnviron(func(bool) []string { return slices.Clone(e.environ) })
			free.lockTimeout = 0
			attack(e, e.program("evil"))
			e.ran()
			e.work(free)
			if ran := e.ran(); ran == "" && !slices.Contains(never, name) {
				t.Error("a git without a guard does not run it either: the test shows nothing")
			}
		})
	}
}

// Trusted programs run as if there were no guard, also in a worktree, until they change.
func TestTrustedProgramsRun(t *testing.T) {
	testneeds.Processes(t)
	t.Parallel()
	for name, attack := range attacks {
		if slices.Contains([]string{"fsmonitor", "textconv", "external diff", "another repository", "filter of a repository inside", "filter of the worktree", "filter by an include that comes later", "hook in the worktree", "push to a remote without an address"}, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newGuardEnv(t)
			program := e.program("mine")
			attack(e, program)
			e.trust()
			e.ran()
			e.work(e.git)
			if e.ran() == "" {
				t.Error("it did not run")
			}
			e.executable(program, "#!/bin/sh\necho changed >>"+e.outside+"/ran\ncase \"$*\" in transport*) exit 1 ;; *) cat ;; esac\n")
			e.work(e.git)
			if strings.Contains(name, "hook") || strings.HasPrefix(name, "push") { // the hook is the file that is compared, and it is the same
				return
			}
			if ran := e.ran(); ran != "" {
				t.Errorf("%s ran", ran)
			}
			untrusted, err := e.git.UntrustedPrograms(t.Context(), e.root)
			if err != nil || len(untrusted) == 0 || !slices.ContainsFunc(untrusted[0].Files, func(f task.GitFile) bool { return f.Path == program }) {
				t.Errorf("%+v, %v", untrusted, err)
			}
			e.trust()
			e.work(e.git)
			if e.ran() == "" {
				t.Error("it is trusted and does not run")
			}
		})
	}
}

// A hook that comes beside trusted ones does not run; those do.
func TestAHookBesideTrustedOnesDoesNotRun(t *testing.T) {
	t.Parallel()
	e := newGuardEnv(t)
	e.hook(".git/hooks/post-checkout", e.program("mine"))
	e.trust()
	e.hook(".git/hooks/post-merge", e.program("evil"))
	e.hook(".git/hooks/reference-transaction", e.program("evil"))
	e.work(e.git)
	if ran := e.ran(); ran != "mine" {
		t.Errorf("%q ran", ran)
	}
	e.executable(filepath.Join(e.root, ".git/hooks/post-checkout"), "#!/bin/sh\necho changed >>"+e.outside+"/ran\n")
	e.work(e.git)
	if ran := e.ran(); ran != "" {
		t.Errorf("%q ran", ran)
	}
}

// What a trusted hook may forbid is not done without it, and a copy that an editor leaves beside it
// changes nothing.
func TestNothingIsDoneWithoutTheHookThatMayForbidIt(t *testing.T) {
	t.Parallel()
	for hook, try := range map[string]func(e *guardEnv) error{
		"pre-push": func(e *guardEnv) error { return e.git.PushBranch(t.Context(), e.root, "origin", "x") },
		"prepare-commit-msg": func(e *guardEnv) error {
			_, err := e.git.MergeBranch(t.Context(), e.root, Merging{Branch: "x", Into: "main", Strategy: MergeCommit})
			return err
		},
		"commit-msg": func(e *guardEnv) error {
			_, err := e.git.MergeBranch(t.Context(), e.root, Merging{Branch: "x", Into: "main", Strategy: MergeCommit})
			return err
		},
	} {
		t.Run(hook, func(t *testing.T) {
			t.Parallel()
			e := newGuardEnv(t)
			remote := filepath.Join(e.outside, "remote.git")
			do(t, e.root, "init", "-q", "--bare", "--template=", remote)
			do(t, e.root, "remote", "add", "origin", remote)
			e.hook(".git/hooks/"+hook, e.program("mine"))
			e.trust()
			file := filepath.Join(e.root, ".git/hooks", hook)
			text := read(t, e.root, ".git/hooks/"+hook)
			before := out(t, e.root, "rev-parse", "main")
			e.executable(file, text+"# changed\n")
			wantError(t, try(e), "Orange does not run the hook "+hook+", which nobody has trusted: review it, then run orange project update shop --trust-git")
			if out(t, e.root, "rev-parse", "main") != before || out(t, remote, "for-each-ref") != "" {
				t.Error("something was changed")
			}
			e.executable(file, text)
			for _, end := range []string{"~", ".bak", ".old", ".orig", ".swp", ".sample"} {
				e.executable(file+end, "#!/bin/sh\n")
			}
			e.ran()
			if err := try(e); err != nil || e.ran() != "mine" {
				t.Errorf("with copies beside it the hook does not run: %v", err)
			}
		})
	}
}

// Husky's hooks are in the working tree, call a file beside them and one above. In a worktree
// they run if all of these are what they were in the checkout that was trusted.
func TestHooksInTheWorkingTreeAreComparedByContent(t *testing.T) {
	t.Parallel()
	e := newGuardEnv(t)
	mine := e.program("mine")
	husky := func(dir, text string) {
		e.executable(filepath.Join(dir, ".husky/_/post-checkout"), "#!/bin/sh\n. \"$(dirname \"$0\")/h\"\n")
		e.executable(filepath.Join(dir, ".husky/_/h"), "sh -e \"$(dirname \"$(dirname \"$0\")\")/$(basename \"$0\")\" \"$@\"\n")
		e.executable(filepath.Join(dir, ".husky/post-checkout"), text)
	}
	husky(e.root, mine+" </dev/null\n")
	do(t, e.root, "config", "core.hooksPath", ".husky/_")
	e.trust()
	husky(e.dir, mine+" </dev/null\n")
	ctx := t.Context()
	if err := e.git.SwitchBranch(ctx, e.dir, "a", "main"); err != nil || e.ran() != "mine" {
		t.Errorf("the hook did not run: %v", err)
	}
	husky(e.dir, e.program("evil")+" </dev/null\n")
	if err := e.git.SwitchBranch(ctx, e.dir, "b", "main"); err != nil {
		t.Fatal(err)
	}
	if ran := e.ran(); ran != "" {
		t.Errorf("%s ran", ran)
	}
}

// A filter like that of Git LFS works in checkouts and landings. When it changes, no file is
// written without it.
func TestFilesAreNotWrittenWithoutTheirFilter(t *testing.T) {
	t.Parallel()
	e := newGuardEnv(t)
	lfs := filepath.Join(e.outside, "lfs")
	e.executable(lfs, "#!/bin/sh\ntest $1 = clean && exec tr a-z A-Z\nexec tr A-Z a-z\n")
	for _, part := range []string{"clean", "smudge"} {
		do(t, e.root, "config", "filter.lfs."+part, lfs+" "+part)
	}
	do(t, e.root, "config", "filter.lfs.required", "true")
	e.trust()
	commitFile(t, e.dir, ".gitattributes", "*.big filter=lfs\n")
	commitFile(t, e.dir, "a.big", "small\n")
	if got := out(t, e.dir, "cat-file", "-p", "x:a.big"); got != "SMALL" {
		t.Fatal(got)
	}
	ctx := t.Context()
	if _, err := e.git.MergeBranch(ctx, e.root, Merging{Branch: "x", Into: "main", Strategy: Auto}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, e.root, "a.big"); got != "small\n" {
		t.Errorf("it was written as %q", got)
	}
	commitFile(t, e.dir, "b.big", "more\n")
	e.executable(lfs, "#!/bin/sh\ntouch "+e.outside+"/ran\ntest $1 = clean && exec tr a-z A-Z\nexec tr A-Z a-z\n")
	before := out(t, e.root, "rev-parse", "main")
	_, err := e.git.MergeBranch(ctx, e.root, Merging{Branch: "x", Into: "main", Strategy: Auto})
	wantError(t, err, "files need the filter lfs: Orange does not run filter.lfs.clean, filter.lfs.smudge, which nobody has trusted: review it, then run orange project update shop --trust-git")
	if out(t, e.root, "rev-parse", "main") != before || pathExists(e.root, "b.big") || out(t, e.root, "status", "--porcelain") != "" {
		t.Error("something was changed")
	}
	wantError(t, e.git.AddWorktree(ctx, e.root, filepath.Join(e.outside, "w"), out(t, e.dir, "rev-parse", "x")), "--trust-git")
	_ = os.Remove(filepath.Join(e.outside, "ran"))
	if _, _, _, err := e.git.BranchDiff(ctx, Comparison{Root: e.root, Worktree: e.dir, Branch: "x", Default: "main"}, 1<<20); err != nil {
		t.Errorf("looking at the changes: %v", err)
	}
	commitFile(t, e.dir, "plain", "no filter\n")
	do(t, e.dir, "rm", "-q", "b.big")
	do(t, e.dir, "commit", "-qm", "rm")
	past := time.Now().Add(-time.Hour) // git compares a file that is as new as the index
	if err := os.Chtimes(filepath.Join(e.root, "a.big"), past, past); err != nil {
		t.Fatal(err)
	}
	do(t, e.root, "update-index", "-q", "--refresh") // git needs no filter to know that a.big is as it was
	_ = os.Remove(filepath.Join(e.outside, "ran"))
	if _, err := e.git.MergeBranch(ctx, e.root, Merging{Branch: "x", Into: "main", Strategy: Auto}); err != nil {
		t.Errorf("files that need no filter: %v", err)
	}
	if pathExists(e.outside, "ran") {
		t.Error("the changed filter ran")
	}
}

// A merge that needs an untrusted driver is refused and does not count as a conflict.
func TestAMergeWithoutItsDriverIsRefused(t *testing.T) {
	t.Parallel()
	e := newGuardEnv(t)
	do(t, e.root, "config", "merge.ours.driver", "true")
	commitFile(t, e.root, ".gitattributes", "f merge=ours\n")
	commitFile(t, e.root, "f", "mine")
	_, err := e.git.MergeBranch(t.Context(), e.root, Merging{Branch: "x", Into: "main", Strategy: Auto})
	wantError(t, err, "nothing was changed: Orange does not run merge.ours.driver, which nobody has trusted")
	e.trust()
	if _, err := e.git.MergeBranch(t.Context(), e.root, Merging{Branch: "x", Into: "main", Strategy: Auto}); err != nil || read(t, e.root, "f") != "mine" {
		t.Error(err, read(t, e.root, "f"))
	}
}

// Signing needs its program. An ssh agent is there for signatures with ssh only.
func TestSigningNeedsATrustedProgram(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"openpgp", "ssh"} {
		e := newGuardEnv(t)
		signer := filepath.Join(e.outside, "signer")
		e.executable(signer, "#!/bin/sh\nenv >"+e.outside+"/environ\n"+
			"for f; do :; done\nif test \"$1\" = -Y; then echo '-----BEGIN SSH SIGNATURE-----' >\"$f.sig\"; else cat >/dev/null; printf '\\n[GNUPG:] SIG_CREATED \\n' >&2; echo '-----BEGIN PGP SIGNATURE-----'; fi\n")
		do(t, e.root, "config", "commit.gpgSign", "true")
		do(t, e.root, "config", "gpg.format", format)
		do(t, e.root, "config", "user.signingKey", filepath.Join(e.outside, "key"))
		write(t, e.outside, "key", "key\n")
		do(t, e.root, "config", "gpg."+format+".program", signer)
		e.git = e.git.WithEnviron(func(keys bool) []string {
			if keys {
				return append(slices.Clone(e.environ), "SSH_AUTH_SOCK=/agent")
			}
			return slices.Clone(e.environ)
		})
		merge := Merging{Branch: "x", Into: "main", Strategy: MergeCommit}
		_, err := e.git.MergeBranch(t.Context(), e.root, merge)
		wantError(t, err, "Orange does not run gpg."+format+".program, which nobody has trusted")
		if pathExists(e.outside, "environ") {
			t.Error("it ran")
		}
		e.trust()
		merged, err := e.git.MergeBranch(t.Context(), e.root, merge)
		if err != nil {
			t.Fatal(err)
		}
		if text := out(t, e.root, "cat-file", "commit", merged.Commit); !strings.Contains(text, "gpgsig -----BEGIN") {
			t.Errorf("%s: it is not signed:\n%s", format, text)
		}
		if has := strings.Contains(read(t, e.outside, "environ"), "SSH_AUTH_SOCK=/agent"); has != (format == "ssh") {
			t.Errorf("%s: the signer has the ssh agent: %v", format, has)
		}
	}
}

// Fetch and push have the ssh agent and trusted credential helpers. Nothing else has.
func TestOnlyFetchAndPushHaveKeys(t *testing.T) {
	t.Parallel()
	e := newGuardEnv(t)
	var asked atomic.Int32 // for keys
	e.git = e.git.WithEnviron(func(keys bool) []string {
		if keys {
			asked.Add(1)
			return append(slices.Clone(e.environ), "SSH_AUTH_SOCK=/agent")
		}
		return slices.Clone(e.environ)
	})
	ssh := filepath.Join(e.outside, "ssh")
	e.executable(ssh, "#!/bin/sh\necho ssh \"$SSH_AUTH_SOCK\" >>"+e.outside+"/ssh.log\nexit 1\n")
	do(t, e.root, "remote", "add", "origin", "ssh://localhost/x")
	do(t, e.root, "config", "core.sshCommand", ssh)
	e.hook(".git/hooks/post-checkout", e.program("hook"))
	for _, helper := range []string{"store --file=/nowhere", "!true", ""} {
		do(t, e.root, "config", "--add", "credential.helper", helper)
	}
	do(t, e.root, "config", "--add", "credential.https://example.com.helper", "!echo trusted")
	e.trust()
	do(t, e.root, "config", "--add", "credential.https://example.com.helper", "!echo evil")
	e.work(e.git)
	if !strings.Contains(read(t, e.outside, "ssh.log"), "ssh /agent") {
		t.Error("fetch has no ssh agent")
	}
	if strings.Contains(read(t, e.outside, "environ"), "SSH_AUTH_SOCK=/agent") {
		t.Error("a hook has the ssh agent")
	}
	fetches := asked.Load()
	_ = e.git.PushBranch(t.Context(), e.root, "origin", "x")
	if asked.Load() == fetches {
		t.Error("push has no ssh agent")
	}
	for network, want := range map[bool][]setting{
		false: {{key: "credential.helper"}},
		true:  {{key: "credential.helper"}, {key: "credential.https://example.com.helper", value: "!echo trusted"}},
	} {
		r, err := e.git.guard.ruleOnCall(t.Context(), e.git, call{dir: e.root, args: []string{"fetch"}, network: network})
		if err != nil {
			t.Fatal(err)
		}
		got := slices.DeleteFunc(slices.Clone(r.settings), func(s setting) bool { return !strings.HasPrefix(s.key, "credential.") })
		if !slices.Equal(got, want) {
			t.Errorf("network %v: %v", network, got)
		}
	}
	do(t, e.root, "config", "core.sshCommand", e.program("evil"))
	wantError(t, e.git.FetchBranch(t.Context(), e.root, "origin", "main"), "Orange does not run core.sshcommand")
	if ran := e.ran(); strings.Contains(ran, "evil") {
		t.Errorf("%s ran", ran)
	}
}

// A command that writes files has keys and helpers where a filter or a partial clone may have to
// fetch them, and nothing is withheld.
func TestWritingFilesThatAreElsewhereHasKeys(t *testing.T) {
	t.Parallel()
	write, filters := []string{"worktree", "add", "x"}, []string{"cat-file", "--filters", "--path=f", "HEAD:f"}
	for _, c := range []struct {
		name      string
		key       string
		args      []string
		untrusted bool
		want      bool
	}{
		{"a filter process", "filter.lfs.process", write, false, true},
		{"a smudge filter", "filter.lfs.smudge", []string{"switch", "x"}, false, true},
		{"a filter of one file", "filter.lfs.smudge", filters, false, true},
		{"a partial clone", "remote.origin.promisor", write, false, true},
		{"an old partial clone", "extensions.partialClone", write, false, true},
		{"a clean filter fetches nothing", "filter.lfs.clean", write, false, false},
		{"looking writes nothing", "filter.lfs.process", []string{"status"}, false, false},
		{"neither filter nor partial clone", "core.abbrev", write, false, false},
		{"something is withheld", "filter.lfs.process", write, true, false},
		{"a partial clone where something is withheld", "remote.origin.promisor", write, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := newGuardEnv(t)
			do(t, e.root, "config", "credential.helper", "!true")
			do(t, e.root, "config", c.key, map[bool]string{true: "true", false: "12"}[c.key != "core.abbrev"])
			e.trust()
			if c.untrusted {
				e.hook(".git/hooks/post-checkout", e.program("evil"))
			}
			r, err := e.git.guard.ruleOnCall(t.Context(), e.git, call{dir: e.root, args: c.args})
			if err != nil {
				t.Fatal(err)
			}
			has := false
			g := e.git.WithEnviron(func(keys bool) []string { has = keys; return nil })
			g.callEnvironment(call{dir: e.root, args: c.args, ruling: r})
			if helper := slices.Contains(r.settings, setting{key: "credential.helper", value: "!true"}); helper != c.want || has != c.want {
				t.Errorf("helper %v, keys %v", helper, has)
			}
		})
	}
}

// A credential helper is its program. The file that it is given may change, and a configuration of
// ssh may not.
func TestTheFilesOfHelpersAreData(t *testing.T) {
	t.Parallel()
	for setting, data := range map[string]bool{"credential.helper=store --file %s": true, "credential.helper=%h --file %s": true, "credential.helper=!%h %s": false, "core.sshCommand=ssh -F %s": false} {
		e := newGuardEnv(t)
		file := filepath.Join(e.outside, "file")
		key, value, _ := strings.Cut(strings.NewReplacer("%s", file, "%h", e.program("helper")).Replace(setting), "=")
		write(t, e.outside, "file", "1")
		do(t, e.root, "config", key, value)
		e.trust()
		write(t, e.outside, "file", "22")
		list, err := e.git.UntrustedPrograms(t.Context(), e.root)
		if err != nil || (len(list) == 0) != data {
			t.Errorf("%s: %v, %v", setting, list, err)
		}
		e.executable(filepath.Join(e.outside, "helper"), "#!/bin/sh\n")
		if list, err := e.git.UntrustedPrograms(t.Context(), e.root); err != nil || len(list) == 0 && strings.Contains(setting, "%h") {
			t.Errorf("%s: another program is trusted: %v, %v", setting, list, err)
		}
	}
}

// A trusted credential helper is used, and what it holds is on no command line.
func TestNoSettingIsOnACommandLine(t *testing.T) {
	t.Parallel()
	e := newGuardEnv(t)
	var used atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password == "hush" {
			used.Store(true)
		}
		w.Header().Set("WWW-Authenticate", "Basic realm=x")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	e.executable(filepath.Join(e.outside, "bin/git"), "#!/bin/sh\necho \"$@\" >>"+e.outside+"/calls\nexec "+realGit(t)+" \"$@\"\n")
	e.git.program = filepath.Join(e.outside, "bin/git")
	do(t, e.root, "remote", "add", "origin", server.URL+"/x.git")
	do(t, e.root, "config", "credential."+server.URL+".helper", "!f() { echo username=me; echo password=hush; }; f")
	e.trust()
	e.trusted = task.GitProgramsWithoutSecrets(e.trusted)
	if text := fmt.Sprint(e.trusted); strings.Contains(text, "hush") {
		t.Errorf("the password is kept: %s", text)
	}
	if err := e.git.FetchBranch(t.Context(), e.root, "origin", "main"); err == nil || !used.Load() {
		t.Errorf("the helper was not asked: %v", err)
	}
	if text := read(t, e.outside, "calls"); !strings.Contains(text, "fetch") || strings.Contains(text, "hush") || strings.Contains(text, "credential."+server.URL) {
		t.Errorf("git was run with\n%s", text)
	}
	used.Store(false)
	do(t, e.root, "config", "credential."+server.URL+".helper", e.trusted[len(e.trusted)-1].Command) // it poses as the trusted one
	if list, err := e.git.UntrustedPrograms(t.Context(), e.root); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

// The guard starts git once, and again when a file has changed.
func TestTheGuardAsksGitOnce(t *testing.T) {
	t.Parallel()
	e := newGuardEnv(t)
	count := filepath.Join(e.outside, "calls")
	e.executable(filepath.Join(e.outside, "bin/git"), "#!/bin/sh\necho \"$@\" >>"+count+"\nexec "+realGit(t)+" \"$@\"\n")
	e.git.program = filepath.Join(e.outside, "bin/git")
	e.executable(filepath.Join(e.outside, "lfs"), "#!/bin/sh\ncat\n")
	do(t, e.root, "config", "filter.lfs.clean", filepath.Join(e.outside, "lfs"))
	e.trust()
	calls := func() int {
		text, _ := os.ReadFile(count)
		_ = os.Remove(count)
		return strings.Count(string(text), "\n")
	}
	settled := func() { // files that were just changed are read again
		for n := 0; n != 1; n = calls() {
			calls()
			if _, err := e.git.UncommittedFiles(context.Background(), e.dir); err != nil {
				t.Fatal(err)
			}
		}
	}
	settled()
	for range 20 {
		if _, err := e.git.UncommittedFiles(t.Context(), e.dir); err != nil {
			t.Fatal(err)
		}
	}
	if n := calls(); n != 20 {
		t.Errorf("%d commands for 20", n)
	}
	write(t, e.root, ".git/hooks/commit-msg", "")
	if _, err := e.git.UncommittedFiles(t.Context(), e.dir); err != nil || calls() != 2 {
		t.Error("a new file was not noticed", err)
	}
}

func realGit(t *testing.T) string {
	t.Helper()
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if pathExists(dir, "git") {
			return filepath.Join(dir, "git")
		}
	}
	t.Fatal("there is no git")
	return ""
}
