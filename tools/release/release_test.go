package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestVersionsThatCanBeReleased(t *testing.T) {
	for version, want := range map[string]bool{
		"v0.1.0": true, "v1.20.3-rc.1": true, "0.1.0": false, "v0.1": false, "v0.1.0+x": false, "v01.0.0": false, "": false, "v0.1.0-": false,
	} {
		if got := semantic.MatchString(version); got != want {
			t.Errorf("%q: %v, want %v", version, got, want)
		}
	}
}

func TestTargets(t *testing.T) {
	if got, err := parseTargets("darwin/arm64,linux/amd64"); err != nil || len(got) != 2 || got[0] != allTargets[3] {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := parseTargets("plan9/386"); err == nil {
		t.Error("plan9/386 is accepted")
	}
}

func TestLicenceFiles(t *testing.T) {
	for name, want := range map[string]bool{
		"LICENSE": true, "LICENSE.txt": true, "LICENCE.md": true, "LICENSE-GO": true, "SQLITE-LICENSE": true, "COPYING": true, "NOTICE": true,
		"PATENTS": true, "license.go": false, "README.md": false, "licensed.go": false, "main.go": false,
	} {
		if got := isLicence(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestAModuleWithoutALicenceIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := appendLicences(new(bytes.Buffer), "example.org/x v1", dir); err == nil || !strings.Contains(err.Error(), "example.org/x v1 has no licence file") {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte("do what you like\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := appendLicences(&text, "example.org/x v1", dir); err != nil || !strings.HasSuffix(text.String(), "\n--- LICENSE\n\ndo what you like\n") {
		t.Errorf("%v: %q", err, text.String())
	}
}

func TestAnArchiveDependsOnItsFilesOnly(t *testing.T) {
	pack := func(names ...string) []byte {
		dir, files := t.TempDir(), []packedFile{}
		for _, n := range names {
			path := filepath.Join(dir, n)
			if err := os.WriteFile(path, []byte(n), 0o600); err != nil {
				t.Fatal(err)
			}
			files = append(files, packedFile{n, path, 0o644})
		}
		out, err := packFiles("orange_1", files, time.Unix(1e9, 0))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first := pack("a", "b")
	if !bytes.Equal(first, pack("b", "a")) {
		t.Error("the order and the folder of the files change the archive")
	}
	zip, err := gzip.NewReader(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(zip)
	for _, name := range []string{"orange_1/a", "orange_1/b"} {
		h, err := archive.Next()
		if err != nil || h.Name != name || h.Mode != 0o644 || h.Uid != 0 || h.Uname != "" || h.ModTime.Unix() != 1e9 {
			t.Errorf("%+v, %v", h, err)
		}
	}
	if _, err := archive.Next(); err != io.EOF {
		t.Errorf("%v", err)
	}
}

func TestSumsOfModules(t *testing.T) {
	if got, err := moduleHash("h1:AAEC"); err != nil || got != "000102" {
		t.Errorf("%q, %v", got, err)
	}
	if got := serialNumber([32]byte{}); got != "urn:uuid:00000000-0000-8000-8000-000000000000" {
		t.Error(got)
	}
}
