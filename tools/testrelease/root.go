package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// A root is a folder that becomes / for the programs in it.
type root struct {
	dir  string
	dist string // the files of the release
}

// programs are in every root: what install.sh and a task need.
var programs = []string{"sh", "bash", "env", "cat", "cp", "mv", "rm", "mkdir", "mktemp", "chmod", "dirname", "basename", "sed", "awk", "uname", "id", "tar", "gzip", "sha256sum", "sleep", "ls", "tr", "git", "tmux"}

// library matches the path of a shared library in what ldd prints.
var library = regexp.MustCompile(`(/\S+) \(0x`)

// fill puts the programs and a user into the root.
func (r root) fill() error {
	for _, d := range []string{"bin", "usr/bin", "tmp", "root", "etc", "dev", "proc", "release"} {
		if err := os.MkdirAll(filepath.Join(r.dir, d), 0o755); err != nil {
			return err
		}
	}
	for _, name := range programs {
		path, err := exec.LookPath(name)
		if err != nil {
			return err
		}
		if err := r.copyProgram(path, "/usr/bin/"+name); err != nil {
			return err
		}
	}
	if err := os.Symlink("/usr/bin/sh", filepath.Join(r.dir, "bin/sh")); err != nil {
		return err
	}
	if err := r.copyGit(); err != nil {
		return err
	}
	for _, d := range []string{"/usr/lib/terminfo", "/lib/terminfo", "/usr/share/git-core/templates", "/usr/lib/locale/C.utf8"} {
		if err := r.copyFolder(d); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"etc/passwd":      "root:x:0:0:root:/root:/usr/bin/sh\n",
		"etc/group":       "root:x:0:\n",
		"root/.gitconfig": "[user]\n\tname = Tester\n\temail = tester@localhost\n[init]\n\tdefaultBranch = main\n",
	} {
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return os.CopyFS(filepath.Join(r.dir, "release"), os.DirFS(r.dist))
}

// copyGit copies the programs that git calls.
func (r root) copyGit() error {
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return err
	}
	path := strings.TrimSpace(string(out))
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		file := filepath.Join(path, e.Name())
		switch {
		case e.IsDir(), strings.HasPrefix(e.Name(), "git-http"), strings.HasPrefix(e.Name(), "git-remote-"):
			continue
		case e.Type()&fs.ModeSymlink != 0: // to git itself
			err = os.Symlink("/usr/bin/git", filepath.Join(r.dir, file))
		default:
			err = r.copyProgram(file, file)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyProgram copies a program and the libraries that it loads.
func (r root) copyProgram(from, to string) error {
	if err := r.copyFile(from, to); err != nil {
		return err
	}
	out, _ := exec.Command("ldd", from).Output() // fails for scripts and static programs
	for _, match := range library.FindAllSubmatch(out, -1) {
		lib := string(match[1])
		if err := r.copyFile(lib, lib); err != nil {
			return err
		}
	}
	return nil
}

// copyFolder copies the files of a folder of this machine, if it has it.
func (r root) copyFolder(dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return r.copyFile(path, path)
	})
}

func (r root) copyFile(from, to string) error {
	target := filepath.Join(r.dir, to)
	if _, err := os.Stat(target); err == nil {
		return nil
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	return os.WriteFile(target, content, 0o755)
}

// run runs a script in the root, in namespaces of its own: it sees no process and no file of
// this machine, it has no network, and what it leaves running ends with it.
func (r root) run(script string) (string, error) {
	enter := fmt.Sprintf(`mount -t proc proc %[1]s/proc && mount --rbind /dev %[1]s/dev && exec chroot %[1]s /usr/bin/sh -euc "$0"`, r.dir)
	cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "--net", "sh", "-c", enter, script)
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME=/root", "TERM=xterm", "LC_ALL=C.UTF-8"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s\n%s", err, script, out)
	}
	return string(out), nil
}

// requireNothingLeft says if a package that was removed left a file.
func (r root) requireNothingLeft() error {
	return filepath.WalkDir(filepath.Join(r.dir, "usr"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.Contains(d.Name(), "orange") {
			return fmt.Errorf("%s is left", path)
		}
		return err
	})
}
