// Command testrelease builds a release for this machine twice, in two folders and with two
// build caches, compares every file, and installs each form of it into a clean root folder,
// where it runs Orange up to a merged task. Then it upgrades earlier programs under living agents.
//
// A root holds nothing but git, tmux, a shell and a few small programs of this machine with
// their libraries. It needs Linux, and root or user namespaces.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	repo := flag.String("repo", "..", "folder of the repository")
	dist := flag.String("dist", "", "test the release in this folder; do not build")
	only := flag.Bool("upgrade", false, "test only upgrades")
	flag.Parse()
	if err := run(*repo, *dist, *only); err != nil {
		fmt.Fprintln(os.Stderr, "testrelease:", err)
		os.Exit(1)
	}
}

func run(repo, dist string, onlyUpgrades bool) error {
	if runtime.GOOS != "linux" {
		return errors.New("this test needs Linux")
	}
	work, err := os.MkdirTemp("", "orange-testrelease")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) //nolint:errcheck // the system clears its folder for temporary files
	if dist == "" {
		dist = filepath.Join(work, "dist")
		if err := buildTwice(repo, work, dist); err != nil {
			return err
		}
	}
	if dist, err = filepath.Abs(dist); err != nil {
		return err
	}
	for _, w := range ways {
		if onlyUpgrades {
			break
		}
		if err := w.try(root{dir: filepath.Join(work, "root-"+w.name), dist: dist}); err != nil {
			return err
		}
	}
	for i, e := range earliers {
		if err := e.tryUpgrade(repo, work, root{dir: filepath.Join(work, fmt.Sprintf("root-upgrade-%d", i)), dist: dist}); err != nil {
			return fmt.Errorf("upgrade from %s: %w", e.name, err)
		}
	}
	return nil
}

// buildTwice builds a release in a clone of the repository with the build cache of this
// machine, and in another with an empty one, and compares the sums of all files.
func buildTwice(repo, work, dist string) error {
	changed, err := exec.Command("git", "-C", repo, "status", "--porcelain").Output()
	if err != nil {
		return fmt.Errorf("look for changes: %w", err)
	}
	if len(changed) > 0 {
		fmt.Println("changes that are not committed are not tested: a release is built from a commit")
	}
	program := filepath.Join(work, "release")
	if err := runCommand("", nil, "go", "build", "-o", program, "./release"); err != nil {
		return err
	}
	sums := [2]string{}
	for i := range sums {
		clone, out := filepath.Join(work, "clone", strings.Repeat("x", 7*i+1)), dist
		env := os.Environ()
		if i == 1 {
			out, env = filepath.Join(work, "again"), append(env, "GOCACHE="+filepath.Join(work, "cache"))
		}
		if err := runCommand("", nil, "git", "clone", "--quiet", repo, clone); err != nil {
			return err
		}
		fmt.Println("building in", clone)
		if err := runCommand(clone, env, program, "-repo", clone, "-version", "v0.0.0-test.1", "-out", out, "-targets", "linux/"+runtime.GOARCH); err != nil {
			return err
		}
		text, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
		if err != nil {
			return err
		}
		sums[i] = string(text)
	}
	if sums[0] != sums[1] {
		return fmt.Errorf("two builds of one commit differ:\n%s\n%s", sums[0], sums[1])
	}
	fmt.Printf("two builds in two folders are equal:\n%s", sums[0])
	return nil
}

func runCommand(dir string, env []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
