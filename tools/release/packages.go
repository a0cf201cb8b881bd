package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

// writePackages writes a .deb and an .rpm for every target that is Linux.
func (r release) writePackages() error {
	if err := r.compressManual(); err != nil {
		return err
	}
	for _, t := range r.targets {
		if t.os != "linux" {
			continue
		}
		if err := errors.Join(r.writePackage("deb", deb.Default, t), r.writePackage("rpm", rpm.DefaultRPM, t)); err != nil {
			return err
		}
	}
	return nil
}

func (r release) writePackage(format string, p nfpm.Packager, t target) error {
	contents, err := r.packageContents(t, format)
	if err != nil {
		return err
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "orange", Arch: t.arch, Platform: "linux", Version: r.version, Release: "1",
		Section: "devel", Priority: "optional", License: "Apache-2.0", MTime: r.at,
		Maintainer:  "The Orange authors",
		Description: "Runs coding agents through a workflow that is a file\nEach task gets a branch, a git worktree and an agent. Orange decides what its\nreport means, starts the next agent, and asks a person when it is their turn.",
		Overridables: nfpm.Overridables{
			Depends: []string{needs[format].git}, Recommends: []string{needs[format].tmux},
			Contents: contents, Umask: 0o022,
			RPM: nfpm.RPM{BuildHost: "localhost", Summary: "Runs coding agents through a workflow that is a file", Compression: "gzip:9"},
			Deb: nfpm.Deb{Compression: "gzip"},
		},
	})
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return fmt.Errorf("prepare the %s for %s: %w", format, t, err)
	}
	var out bytes.Buffer
	if err := p.Package(info, &out); err != nil {
		return fmt.Errorf("make the %s for %s: %w", format, t, err)
	}
	return os.WriteFile(filepath.Join(r.out, p.ConventionalFileName(info)), out.Bytes(), 0o644)
}

// needs are the programs that Orange calls, as each format names them.
var needs = map[string]struct{ git, tmux string }{
	"deb": {git: "git (>= 1:2.34)", tmux: "tmux (>= 3.2)"},
	"rpm": {git: "git >= 2.34", tmux: "tmux >= 3.2"},
}

// packageContents returns where the files of a package go.
func (r release) packageContents(t target, format string) (files.Contents, error) {
	zsh := "/usr/share/zsh/site-functions/_orange"
	if format == "deb" {
		zsh = "/usr/share/zsh/vendor-completions/_orange"
	}
	inWork := func(parts ...string) string { return filepath.Join(append([]string{r.work}, parts...)...) }
	list := []packedFile{
		{"/usr/bin/orange", r.program(t), 0o755},
		{"/usr/share/bash-completion/completions/orange", inWork("completions", "orange.bash"), 0o644},
		{zsh, inWork("completions", "_orange"), 0o644},
		{"/usr/share/fish/vendor_completions.d/orange.fish", inWork("completions", "orange.fish"), 0o644},
		{"/usr/share/doc/orange/copyright", filepath.Join(r.repo, "LICENSE"), 0o644},
		{"/usr/share/doc/orange/" + noticesName, r.notices(t), 0o644},
		{"/usr/share/doc/orange/CHANGELOG.md", filepath.Join(r.repo, "CHANGELOG.md"), 0o644},
	}
	pages, err := os.ReadDir(inWork("man1.gz"))
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		list = append(list, packedFile{"/usr/share/man/man1/" + p.Name(), inWork("man1.gz", p.Name()), 0o644})
	}
	out := files.Contents{}
	if format == "rpm" { // removes only folders that a package names
		out = append(out, &files.Content{
			Destination: "/usr/share/doc/orange", Type: files.TypeDir,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: 0o755, MTime: r.at},
		})
	}
	for _, f := range list {
		out = append(out, &files.Content{
			Source: f.source, Destination: f.name,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: os.FileMode(f.mode), MTime: r.at},
		})
	}
	return out, nil
}

// compressManual compresses the manual pages, as both systems want them.
func (r release) compressManual() error {
	pages, err := filepath.Glob(filepath.Join(r.work, "man1", "*.1"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(r.work, "man1.gz"), 0o755); err != nil {
		return err
	}
	for _, page := range pages {
		content, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		var out bytes.Buffer
		zip := gzip.NewWriter(&out)
		if _, err := zip.Write(content); err != nil {
			return err
		}
		if err := zip.Close(); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.work, "man1.gz", filepath.Base(page)+".gz"), out.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
