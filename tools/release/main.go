// Command release builds what is published of one version of Orange: programs, archives,
// packages for Debian and Fedora, bills of materials, a Homebrew formula, an installer and
// the sums of all of them. The same commit and the same Go give the same bytes in any folder.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A release is one version on its way to the folder out.
type release struct {
	repo    string    // the repository
	out     string    // where the files go
	work    string    // scratch
	version string    // without the v
	commit  string    // that it is built from
	at      time.Time // time of every file in archives: that of the commit
	baseURL string    // of the folder that holds the folders of all versions
	targets []target
}

// A target is a system and a processor.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

var allTargets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// semantic matches versions such as v0.1.0 and v1.2.3-rc.1. Packages cannot hold more.
var semantic = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z]+(\.[0-9A-Za-z]+)*)?$`)

func main() {
	var (
		version = flag.String("version", "", "version to release, such as v0.1.0")
		repo    = flag.String("repo", "..", "folder of the repository")
		out     = flag.String("out", "", "folder for the files (default: dist in the repository)")
		targets = flag.String("targets", "", "only these, such as linux/amd64,darwin/arm64 (default: all)")
	)
	flag.Parse()
	if err := run(*version, *repo, *out, *targets); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(version, repo, out, targets string) error {
	r, err := planRelease(version, repo, out, targets)
	if err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "orange-release"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work) //nolint:errcheck // the system clears its folder for temporary files
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	for _, step := range []func() error{r.buildPrograms, r.writeManual, r.writeNotices, r.writeMaterials, r.writeArchives, r.writePackages, r.writeFormula, r.writeInstaller, r.writeSums} {
		if err := step(); err != nil {
			return err
		}
	}
	fmt.Printf("%s: version %s, commit %s\n", r.out, r.version, r.commit)
	return nil
}

// planRelease checks what was asked for and looks up the commit.
func planRelease(version, repo, out, targets string) (release, error) {
	if !semantic.MatchString(version) {
		return release{}, fmt.Errorf("version %q is not like v0.1.0 or v0.1.0-rc.1: run make release VERSION=v0.1.0", version)
	}
	r := release{version: version[1:], targets: allTargets}
	var err error
	if r.repo, err = filepath.Abs(repo); err != nil {
		return r, err
	}
	if r.out, err = filepath.Abs(out); err != nil {
		return r, err
	}
	if out == "" {
		r.out = filepath.Join(r.repo, "dist")
	}
	if targets != "" {
		if r.targets, err = parseTargets(targets); err != nil {
			return r, err
		}
	}
	changed, err := r.runGit("status", "--porcelain")
	if err != nil {
		return r, err
	}
	if changed != "" {
		return r, fmt.Errorf("%s has changes that are not committed: commit them, because a release is built from a commit", r.repo)
	}
	if r.commit, err = r.runGit("rev-parse", "HEAD"); err != nil {
		return r, err
	}
	if r.at, err = r.sourceTime(); err != nil {
		return r, err
	}
	base, err := os.ReadFile(filepath.Join(r.repo, "packaging", "base-url"))
	r.baseURL = strings.TrimSpace(string(base))
	return r, err
}

func parseTargets(text string) (out []target, err error) {
	for name := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(allTargets, func(t target) bool { return t.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("target %q is not known: use %v", name, allTargets)
		}
		out = append(out, allTargets[i])
	}
	return out, nil
}

// sourceTime is SOURCE_DATE_EPOCH, or else the time of the commit.
func (r release) sourceTime() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		var err error
		if text, err = r.runGit("log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, err
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

func (r release) runGit(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stderr = r.repo, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
