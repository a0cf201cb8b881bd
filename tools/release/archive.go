package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// archiveName is the name of what is published for t, without an ending.
func (r release) archiveName(t target) string {
	return "orange_" + r.version + "_" + t.os + "_" + t.arch
}

// A packed file is one file of an archive.
type packedFile struct {
	name   string // in the archive, with slashes
	source string // on disk
	mode   int64
}

// writeArchives writes a tar.gz for every target.
func (r release) writeArchives() error {
	for _, t := range r.targets {
		files, err := r.listFiles(t)
		if err != nil {
			return err
		}
		content, err := packFiles(r.archiveName(t), files, r.at)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.out, r.archiveName(t)+".tar.gz"), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// listFiles returns what is in the archive for t.
func (r release) listFiles(t target) ([]packedFile, error) {
	files := []packedFile{
		{"orange", r.program(t), 0o755},
		{"LICENSE", filepath.Join(r.repo, "LICENSE"), 0o644},
		{"CHANGELOG.md", filepath.Join(r.repo, "CHANGELOG.md"), 0o644},
		{noticesName, r.notices(t), 0o644},
	}
	for _, c := range completions {
		files = append(files, packedFile{"completions/" + c.file, filepath.Join(r.work, "completions", c.file), 0o644})
	}
	pages, err := os.ReadDir(filepath.Join(r.work, "man1"))
	for _, p := range pages {
		files = append(files, packedFile{"man/man1/" + p.Name(), filepath.Join(r.work, "man1", p.Name()), 0o644})
	}
	return files, err
}

// packFiles makes a tar.gz of files below a folder: sorted, owned by nobody in particular, and
// of one time.
func packFiles(folder string, files []packedFile, at time.Time) ([]byte, error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b packedFile) int { return strings.Compare(a.name, b.name) })
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(zip)
	for _, f := range files {
		content, err := os.ReadFile(f.source)
		if err != nil {
			return nil, err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Mode: f.mode, Size: int64(len(content)), ModTime: at, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := archive.Write(content); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
