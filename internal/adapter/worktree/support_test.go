package worktree

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"orange/internal/adapter/git"
	"orange/internal/core/task"
)

// TestMain isolates the tests from the user's git settings: git knows no user.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull,
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "maintenance.auto", "GIT_CONFIG_VALUE_0": "false",
	} {
		_ = os.Setenv(name, value)
	}
	code := m.Run()
	if dir, err := template(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// template is a repository with two commits that every test gets a copy of.
var template = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "orange-worktree")
	if err != nil {
		return "", err
	}
	files := map[string]string{"f": "0", ".gitignore": "/cache/\n.env\n"}
	if text, err := try(dir, "init", "--quiet", "--template=", "--initial-branch=main"); err != nil {
		return dir, fmt.Errorf("%s: %w", text, err)
	}
	for _, name := range []string{"f", ".gitignore"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(files[name]), 0o644); err != nil {
			return dir, err
		}
		for _, args := range [][]string{{"add", name}, {"commit", "--quiet", "-m", name}} {
			if text, err := try(dir, args...); err != nil {
				return dir, fmt.Errorf("%s: %w", text, err)
			}
		}
	}
	return dir, nil
})

// do runs git for a test, with an author, and returns what it prints.
func do(t *testing.T, dir string, args ...string) string {
	t.Helper()
	text, err := try(dir, args...)
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, text)
	}
	return text
}

func try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(cmd.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com", "GIT_EDITOR=:", "GIT_OPTIONAL_LOCKS=0")
	text, err := cmd.CombinedOutput()
	return strings.TrimRight(string(text), "\n"), err
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// content returns what a file has, "" if it is not there.
func content(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

func there(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

func commitFile(t *testing.T, dir, name, text string) {
	t.Helper()
	write(t, dir, name, text)
	do(t, dir, "add", "--force", "--", name)
	do(t, dir, "commit", "--quiet", "-m", "change "+name)
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want one line with %q", err, want)
	}
}

// A env is a project with a pool.
type env struct {
	*Pool
	t       *testing.T
	project task.Project
	home    string
}

func newBench(t *testing.T) *env {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(base, "repo")
	source, err := template()
	if err == nil {
		err = os.CopyFS(root, os.DirFS(source))
	}
	if err != nil {
		t.Fatal(err)
	}
	return &env{
		Pool:    New(filepath.Join(base, "home", "workspaces"), git.New()),
		t:       t,
		project: task.Project{Name: "p", Path: root, DefaultBranch: "main", PoolSize: 3},
		home:    filepath.Join(base, "home"),
	}
}

// id makes the id of the n-th task.
func id(n int) task.ID { return task.ID(fmt.Sprintf("Task%017d", n)) }

// slot returns the slot of the n-th task: workspace p--1, a separate branch.
func (b *env) slot(n int) Slot {
	b.t.Helper()
	file := filepath.Join(b.home, "tasks", "p", string(id(n)), TaskFileName)
	if !there("/", file) {
		write(b.t, "/", file, "---\nid: "+string(id(n))+"\n---\nthe body\n")
	}
	return Slot{
		Project: b.project, Name: "p--1", Task: id(n), Branch: fmt.Sprintf("task/%d", n), TaskFile: file,
		Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}, Exclude: []string{".claude/settings.local.json"},
	}
}

func (b *env) acquire(s Slot) string {
	b.t.Helper()
	if err := b.Acquire(context.Background(), s); err != nil {
		b.t.Fatal(err)
	}
	return b.Path(s.Name)
}

func (b *env) release(s Slot) string {
	b.t.Helper()
	ref, err := b.Release(context.Background(), s)
	if err != nil {
		b.t.Fatal(err)
	}
	return ref
}

// isClear reports whether a workspace is as it should be when no task has it.
func (b *env) isClear(name string) {
	b.t.Helper()
	dir := b.Path(name)
	if status := do(b.t, dir, "status", "--porcelain"); status != "" {
		b.t.Errorf("%s is not clean: %s", name, status)
	}
	commit, branch, err := b.Head(name)
	if want := do(b.t, b.project.Path, "rev-parse", "main"); commit != want || branch != "" || err != nil {
		b.t.Errorf("%s is at %s %q, %v, want %s", name, commit, branch, err, want)
	}
	admin := b.admin(name)
	for _, file := range []string{filepath.Join(dir, TaskFileName), filepath.Join(dir, ".claude"), filepath.Join(admin, bindingName), filepath.Join(admin, "orange-index")} {
		if there("/", file) {
			b.t.Errorf("%s is still there", file)
		}
	}
}

// isReady reports whether a workspace is as its task wants it.
func (b *env) isReady(s Slot) {
	b.t.Helper()
	dir := b.Path(s.Name)
	if _, branch, err := b.Head(s.Name); branch != s.Branch || err != nil {
		b.t.Errorf("%s is on %q, %v", s.Name, branch, err)
	}
	if target, err := os.Readlink(filepath.Join(dir, TaskFileName)); target != s.TaskFile || err != nil {
		b.t.Errorf("TASK.md leads to %q, %v", target, err)
	}
	if status := do(b.t, dir, "status", "--porcelain"); status != "" {
		b.t.Errorf("%s is not clean: %s", s.Name, status)
	}
	if now, err := readBinding(b.admin(s.Name), bindingName); now.Task != s.Task || !now.Ready || err != nil {
		b.t.Errorf("bound to %+v, %v", now, err)
	}
}

func (b *env) admin(name string) string {
	return filepath.Join(b.project.Path, ".git/worktrees", name)
}

// salvaged returns what the work kept at a ref has of a file.
func (b *env) salvaged(ref, name string) string {
	b.t.Helper()
	return do(b.t, b.project.Path, "show", ref+":"+name)
}
