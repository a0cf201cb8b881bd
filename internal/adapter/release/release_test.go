package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode)); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// archive returns an archive as a release has it.
func archive(t *testing.T, files map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	all := tar.NewWriter(zip)
	for name, text := range files {
		if err := all.WriteHeader(&tar.Header{Name: "orange_2_x/" + name, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := all.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(all.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const script = "#!/bin/sh\necho '{\"version\":\"2\"}'\n"

func name(version string) string {
	return "orange_" + version + "_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
}

func sums(file, text string) string {
	return fmt.Sprintf("%064d  other\n%x  %s\n", 0, sha256.Sum256([]byte(text)), file)
}

func TestFind(t *testing.T) {
	packed := archive(t, map[string]string{"orange": script, "man/man1/orange.1": "page", "../../escape": "x"})
	tests := map[string]struct {
		files    map[string]string
		from     string
		verified bool
		says     string
	}{
		"the program":                 {map[string]string{"orange": script}, "orange", false, ""},
		"the program with its sum":    {map[string]string{"orange": script, "SHA256SUMS": sums("orange", script)}, "orange", true, ""},
		"a folder with the program":   {map[string]string{"orange": script}, "", false, ""},
		"an archive":                  {map[string]string{"any.tar.gz": packed}, "any.tar.gz", false, ""},
		"a folder with an archive":    {map[string]string{name("2"): packed, "SHA256SUMS": sums(name("2"), packed), "orange_2_plan9_mips.tar.gz": "x"}, "", true, ""},
		"a sum in the form of BSD":    {map[string]string{"orange": script, "SHA256SUMS": strings.ReplaceAll(sums("orange", script), "  ", " *")}, "", true, ""},
		"another sum":                 {map[string]string{"orange": script, "SHA256SUMS": sums("orange", "other")}, "orange", false, "has the sum "},
		"no sum":                      {map[string]string{"orange": script, "SHA256SUMS": sums("apple", script)}, "orange", false, "has no sum for orange: get the files of one release"},
		"two archives":                {map[string]string{name("1"): packed, name("2"): packed}, "", false, "has 2 archives for "},
		"nothing":                     {map[string]string{"x": ""}, "", false, "has neither an archive for "},
		"an archive without programs": {map[string]string{"a.tar.gz": archive(t, map[string]string{"x": ""})}, "a.tar.gz", false, "it does not hold the program orange"},
		"an archive that is cut off":  {map[string]string{"a.tar.gz": packed[:len(packed)/2]}, "a.tar.gz", false, "read the archive "},
		"no file":                     {nil, "x", false, "no such file"},
	}
	for what, tt := range tests {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tt.files {
				write(t, filepath.Join(dir, name), text, 0o644)
			}
			got, err := Find(filepath.Join(dir, tt.from))
			if tt.says != "" {
				if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "\n") {
					t.Errorf("it says %v, not %q", err, tt.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if string(got.program) != script || got.Verified != tt.verified || got.others["../escape"] != nil {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestAProgramIsReplacedAndPutBack(t *testing.T) {
	prefix := t.TempDir()
	program := write(t, filepath.Join(prefix, "bin", "orange"), "old", 0o750)
	link := filepath.Join(prefix, "link")
	page := write(t, filepath.Join(prefix, "share", "man", "man1", "orange.1"), "old page", 0o644)
	write(t, filepath.Join(prefix, "share", "doc", "orange", "CHANGELOG.md"), "old", 0o644)
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	from := write(t, filepath.Join(t.TempDir(), "a.tar.gz"), archive(t, map[string]string{"orange": script, "man/man1/orange.1": "new page", "completions/orange.fish": "x"}), 0o644)
	source, err := Find(from)
	if err != nil {
		t.Fatal(err)
	}
	prepare := func() *Upgrade {
		t.Helper()
		u, err := source.Prepare(t.Context(), link)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	inBin := func() (names []string) {
		entries, _ := os.ReadDir(filepath.Dir(program))
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	u := prepare()
	if out, err := u.AskVersion(t.Context()); err != nil || string(out) != "{\"version\":\"2\"}\n" || u.Same || u.Program != program {
		t.Errorf("%s, %v, %+v", out, err, u)
	}
	u.Discard()
	if got := inBin(); len(got) != 1 || read(t, program) != "old" {
		t.Errorf("%q", got)
	}

	write(t, program+".previous", "of an upgrade that was killed", 0o644)
	u = prepare()
	if err := errors.Join(u.Replace()); err != nil || read(t, program) != script || read(t, program+".previous") != "old" {
		t.Errorf("%v", err)
	}
	if info, err := os.Stat(program); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := u.Undo(); err != nil || read(t, program) != "old" || len(inBin()) != 1 {
		t.Errorf("%v, %q", err, inBin())
	}

	u = prepare()
	if err := errors.Join(u.Replace(), u.Finish()); err != nil || read(t, program) != script || len(inBin()) != 1 {
		t.Errorf("%v, %q", err, inBin())
	}
	u.Discard()
	if read(t, page) != "new page" {
		t.Error("the manual page is the old one")
	}
	if _, err := os.Stat(filepath.Join(prefix, "share", "fish")); err == nil {
		t.Error("a folder was made that was not there")
	}
	if u = prepare(); !u.Same {
		t.Error("it is the same and does not say so")
	}
	u.Discard()
}

func TestAProgramThatIsNotOursIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	source := &Source{File: "x", program: []byte(script)}
	cellar := write(t, filepath.Join(dir, "Cellar", "orange", "1", "bin", "orange"), "old", 0o755)
	if _, err := source.Prepare(t.Context(), cellar); err == nil || !strings.Contains(err.Error(), "belongs to Homebrew: run brew upgrade orange, and then orange restart") {
		t.Error(err)
	}
	tools := filepath.Join(dir, "tools")
	write(t, filepath.Join(tools, "dpkg-query"), "#!/bin/sh\nexit 1\n", 0o755)
	write(t, filepath.Join(tools, "rpm"), "#!/bin/sh\necho orange-1-1.x86_64\n", 0o755)
	t.Setenv("PATH", tools+":/usr/bin:/bin")
	program := write(t, filepath.Join(dir, "bin", "orange"), "old", 0o755)
	if _, err := source.Prepare(t.Context(), program); err == nil || !strings.Contains(err.Error(), "belongs to a package of rpm (orange-1-1.x86_64): run sudo rpm -U FILE.rpm") {
		t.Error(err)
	}
	write(t, filepath.Join(tools, "rpm"), "#!/bin/sh\nexit 1\n", 0o755)
	if os.Getuid() == 0 {
		return // root may write everywhere
	}
	if err := os.Chmod(filepath.Dir(program), 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Dir(program), 0o755) //nolint:errcheck // so that it can be removed
	if _, err := source.Prepare(t.Context(), program); err == nil || !strings.Contains(err.Error(), "such as sudo, and then orange restart") {
		t.Error(err)
	}
}

func TestAProgramThatDoesNotRun(t *testing.T) {
	program := write(t, filepath.Join(t.TempDir(), "orange"), "old", 0o755)
	for text, says := range map[string]string{
		"no program":          "x is not a program for this machine, ",
		"#!/bin/sh\nexit 3\n": "x does not run here: exit status 3",
	} {
		u, err := (&Source{File: "x", program: []byte(text)}).Prepare(t.Context(), program)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := u.AskVersion(t.Context()); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("it says %v, not %q", err, says)
		}
		u.Discard()
	}
}
