// Package release puts the program of a release in the place of the installed one. It finds the
// program in what a release consists of, verifies its sum, and replaces the installed program in one
// step, which can be undone. It does not know what versions mean, and starts no server.
package release

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

const (
	programName = "orange"
	sumsName    = "SHA256SUMS"
	maxProgram  = 1 << 30  // bytes
	maxOthers   = 64 << 20 // bytes, of all other files of an archive
)

// A Source is a program of a release that was read and verified.
type Source struct {
	File     string // the file it is in
	Verified bool   // SHA256SUMS has its sum
	program  []byte
	others   map[string][]byte // the other files of an archive, by their names in it
}

// Find reads the program from a file or a folder: an archive of a release, a folder with the archive
// for this machine, a folder with the program, or the program itself. If SHA256SUMS is beside the
// file, it must have its sum.
func Find(from string) (*Source, error) {
	info, err := os.Stat(from)
	if err != nil {
		return nil, err
	}
	file := from
	if info.IsDir() {
		if file, err = findInFolder(from); err != nil {
			return nil, err
		}
	}
	text, err := readBounded(file)
	if err != nil {
		return nil, err
	}
	s := &Source{File: file}
	if s.Verified, err = verifySum(file, text); err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) { // not compressed
		s.program = text
		return s, nil
	}
	if err := s.unpack(text); err != nil {
		return nil, fmt.Errorf("read the archive %s: %w", file, err)
	}
	return s, nil
}

// findInFolder returns the archive for this machine, or else the program.
func findInFolder(dir string) (string, error) {
	machine := runtime.GOOS + "_" + runtime.GOARCH
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var archives []string
	for _, e := range entries {
		if ok, _ := path.Match(programName+"_*_"+machine+".tar.gz", e.Name()); ok {
			archives = append(archives, filepath.Join(dir, e.Name()))
		}
	}
	switch len(archives) {
	case 1:
		return archives[0], nil
	case 0:
		program := filepath.Join(dir, programName)
		if info, err := os.Stat(program); err == nil && info.Mode().IsRegular() {
			return program, nil
		}
		return "", fmt.Errorf("%s has neither an archive for %s/%s nor the program %s", dir, runtime.GOOS, runtime.GOARCH, programName)
	}
	return "", fmt.Errorf("%s has %d archives for %s/%s: give one of them", dir, len(archives), runtime.GOOS, runtime.GOARCH)
}

func readBounded(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	if info, err := f.Stat(); err == nil && (!info.Mode().IsRegular() || info.Size() > maxProgram) {
		return nil, fmt.Errorf("%s is not a release: it is not a file, or too large", file)
	}
	return io.ReadAll(io.LimitReader(f, maxProgram))
}

// verifySum compares the sum of a file with SHA256SUMS beside it, and reports whether there is one.
func verifySum(file string, text []byte) (bool, error) {
	sums, err := os.Open(filepath.Join(filepath.Dir(file), sumsName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer sums.Close() //nolint:errcheck // it was only read
	got := sha256.Sum256(text)
	for lines := bufio.NewScanner(sums); lines.Scan(); {
		sum, name, _ := strings.Cut(lines.Text(), " ")
		if strings.TrimPrefix(strings.TrimSpace(name), "*") != filepath.Base(file) {
			continue
		}
		if !strings.EqualFold(sum, hex.EncodeToString(got[:])) {
			return false, fmt.Errorf("%s has the sum %x, and %s says %.64s: get the file again", file, got, sumsName, sum)
		}
		return true, nil
	}
	return false, fmt.Errorf("%s has no sum for %s: get the files of one release", sums.Name(), filepath.Base(file))
}

// unpack reads the files of an archive. They are in one folder.
func (s *Source) unpack(archive []byte) error {
	zip, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	s.others = map[string][]byte{}
	left := int64(maxOthers)
	for files := tar.NewReader(zip); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		_, name, _ := strings.Cut(h.Name, "/")
		if h.Typeflag != tar.TypeReg || !filepath.IsLocal(name) {
			continue
		}
		limit := left
		if name == programName {
			limit = maxProgram
		}
		text, err := io.ReadAll(io.LimitReader(files, limit+1))
		switch {
		case err != nil:
			return err
		case int64(len(text)) > limit:
			return errors.New("it is too large")
		case name == programName:
			s.program = text
		default:
			s.others[name] = text
			left -= int64(len(text))
		}
	}
	if len(s.program) == 0 {
		return errors.New("it does not hold the program " + programName)
	}
	return nil
}
