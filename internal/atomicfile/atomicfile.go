// Package atomicfile replaces files so that a reader, and a machine that loses power, find
// the old text or the new one and never a part, and finds the file behind a link. It knows
// nothing about what is written.
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// tempMode is what os.CreateTemp gives. It need not be set again, which a file system without
// rights (a FAT stick) refuses.
const tempMode fs.FileMode = 0o600

// Write puts text in the place of the file at path. When it returns without an error, the
// file and its name are on the disk.
func Write(path string, text []byte, mode fs.FileMode) error {
	return WriteFrom(path, mode, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// WriteFrom is Write for a text that is written piece by piece. An error of write leaves
// the file as it is.
func WriteFrom(path string, mode fs.FileMode, write func(io.Writer) error) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".orange-*")
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil && mode != tempMode {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncFolder(dir)
}

// SyncFolder puts the names in a folder on the disk.
func SyncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
