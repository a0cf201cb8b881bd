package outputlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Output is an output as it was when it was opened. Positions are those of the whole output,
// including what was left out.
type Output struct {
	parts []outputFile // never empty; in order, without overlap
}

// outputFile is a file of an output.
type outputFile struct {
	file       *os.File
	start, end int64
}

// Open opens the output at path for reading. The error is fs.ErrNotExist if it does not exist.
func Open(path string) (*Output, error) {
	for range 10 {
		o, whole, err := openParts(path)
		if whole || err != nil {
			return o, err
		}
		o.Close()
	}
	o, _, err := openParts(path) // another file has the name of a segment
	return o, err
}

// openParts opens the files. whole is false if a segment was removed in the meantime.
func openParts(path string) (o *Output, whole bool, err error) {
	head, err := openRegular(path)
	if err != nil {
		return nil, false, err
	}
	o = &Output{parts: []outputFile{{file: head}}}
	list, err := segmentsOf(path)
	if err == nil { // a segment with a successor no longer grows
		o.parts[0].end, err = sizeOf(head)
	}
	if err != nil {
		o.Close()
		return nil, false, err
	}
	whole = true
	for _, start := range list {
		if start < o.Size() {
			continue
		}
		file, err := openRegular(segmentName(path, start))
		if errors.Is(err, fs.ErrNotExist) {
			whole = false
		}
		if err != nil {
			continue
		}
		size, err := sizeOf(file)
		if err != nil {
			file.Close() //nolint:errcheck // read only
			continue
		}
		o.parts = append(o.parts, outputFile{file, start, start + size})
	}
	return o, whole, nil
}

// openRegular opens a regular file for reading, and nothing else: an agent can put a pipe in
// its place.
func openRegular(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file: remove it", path)
	}
	if err != nil {
		file.Close() //nolint:errcheck // read only
		return nil, err
	}
	return file, nil
}

func sizeOf(file *os.File) (int64, error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Close closes the files.
func (o *Output) Close() {
	for _, p := range o.parts {
		p.file.Close() //nolint:errcheck // read only
	}
}

// Size returns the size of the whole output, including what was left out.
func (o *Output) Size() int64 { return o.parts[len(o.parts)-1].end }

// ReadAt implements io.ReaderAt. What was left out reads as line ends, so that no line
// continues across it.
func (o *Output) ReadAt(p []byte, at int64) (n int, err error) {
	for _, one := range o.parts {
		for n < len(p) && at < one.start {
			p[n] = '\n'
			n++
			at++
		}
		if n == len(p) || at >= one.end {
			continue
		}
		got, err := one.file.ReadAt(p[n:min(int64(len(p)), int64(n)+one.end-at)], at-one.start)
		n += got
		at += int64(got)
		if err != nil && !errors.Is(err, io.EOF) {
			return n, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WriteFrom writes the output from a position, and returns the position up to which it wrote. A
// line stands for what was left out.
func (o *Output) WriteFrom(w io.Writer, at int64) (int64, error) {
	for _, one := range o.parts {
		if at < one.start {
			if _, err := fmt.Fprintf(w, "\n... %d bytes of output were left out ...\n", one.start-at); err != nil {
				return at, err
			}
			at = one.start
		}
		if at >= one.end {
			continue
		}
		n, err := io.Copy(w, io.NewSectionReader(one.file, at-one.start, one.end-at))
		at += n
		if err != nil {
			return at, err
		}
	}
	return at, nil
}

// LastLines returns the position at which the last lines begin.
func (o *Output) LastLines(lines int) (int64, error) {
	block := make([]byte, 64<<10)
	for _, one := range slices.Backward(o.parts) {
		for end := one.end; end > one.start; {
			text := block[:min(end-one.start, int64(len(block)))]
			from := end - int64(len(text))
			if _, err := one.file.ReadAt(text, from-one.start); err != nil {
				return 0, err
			}
			for i := bytes.LastIndexByte(text, '\n'); i >= 0; i = bytes.LastIndexByte(text[:i], '\n') {
				if from+int64(i) == o.Size()-1 { // the last line may end in a line break
					continue
				}
				if lines--; lines == 0 {
					return from + int64(i) + 1, nil
				}
			}
			end = from
		}
	}
	return 0, nil
}

// Stat returns the size of the output at path, including what was left out, and when it was
// last written.
func Stat(path string) (size int64, at time.Time, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, time.Time{}, err
	}
	size, at = info.Size(), info.ModTime()
	list, err := segmentsOf(path)
	if err != nil || len(list) == 0 {
		return size, at, err
	}
	newest := list[len(list)-1]
	if info, err := os.Stat(segmentName(path, newest)); err == nil {
		size, at = newest+info.Size(), info.ModTime()
	}
	return size, at, nil
}

// NamePattern returns a pattern of path.Match for the file names of an output.
func NamePattern(path string) string { return filepath.Base(path) + "*" }

// maxStart is larger than any output.
const maxStart = 1 << 60

// segmentsOf returns the start positions of the segments of an output, in order.
func segmentsOf(path string) ([]int64, error) {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close() //nolint:errcheck // read only
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var list []int64
	for _, name := range names {
		digits, ok := strings.CutPrefix(name, filepath.Base(path)+".")
		start, err := strconv.ParseInt(digits, 10, 64)
		if ok && err == nil && 0 < start && start < maxStart && strconv.FormatInt(start, 10) == digits {
			list = append(list, start)
		}
	}
	slices.Sort(list)
	return list, nil
}
