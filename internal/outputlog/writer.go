// Package outputlog keeps the output of an attempt in a limited amount of disk space: its
// beginning and its end. The beginning is in the file itself. The rest is in segments beside
// it, named after the file and the position at which they begin, such as output.log.4194304.
// Only the newest segments are kept. The names are all that a writer or a reader needs to know,
// so either may be killed and started again at any time.
package outputlog

import (
	"fmt"
	"os"
	"strconv"
)

// What is kept of an output: its first HeadSize bytes, and at least its last SegmentSize bytes.
// Readers of agents' messages read the first 64 KiB and the last 16 MiB.
const (
	HeadSize    = 4 << 20
	SegmentSize = 16 << 20
)

// keptSegments is how many segments are kept. The newest may have just begun.
const keptSegments = 2

// MaxSize is the most disk space that an output takes.
const MaxSize = HeadSize + keptSegments*SegmentSize

// Writer appends to an output. There must be only one per output.
type Writer struct {
	path    string
	segment int64
	file    *os.File // nil after a write that failed
	at      int64    // position of the next byte in the whole output
	full    int64    // position at which file is full
}

// Append opens the output at path for appending, and creates it if necessary.
func Append(path string) (*Writer, error) { return appendTo(path, HeadSize, SegmentSize) }

func appendTo(path string, head, segment int64) (*Writer, error) {
	w := &Writer{path: path, segment: segment, full: head}
	file := path
	list, err := segmentsOf(path)
	if err != nil {
		return nil, fmt.Errorf("open the output: %w", err)
	}
	if len(list) > 0 {
		w.at = list[len(list)-1]
		w.full, file = w.at+segment, segmentName(path, w.at)
	}
	if err := w.openSegment(file); err != nil {
		return nil, fmt.Errorf("open the output: %w", err)
	}
	info, err := w.file.Stat()
	if err != nil {
		w.file.Close() //nolint:errcheck // nothing was written
		return nil, fmt.Errorf("open the output: %w", err)
	}
	w.at += info.Size()
	return w, nil
}

func (w *Writer) openSegment(path string) (err error) {
	w.file, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		w.file = nil
	}
	return err
}

// Write implements io.Writer. What cannot be written is left out: a reader sees how much is
// missing, and the next write begins a new segment.
func (w *Writer) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		if w.file == nil || w.at >= w.full {
			if err := w.beginSegment(); err != nil {
				w.at += int64(len(p))
				return n, err
			}
		}
		wrote, err := w.file.Write(p[:min(int64(len(p)), w.full-w.at)])
		n += wrote
		w.at += int64(wrote)
		p = p[wrote:]
		if err != nil {
			w.at += int64(len(p))
			w.Close() //nolint:errcheck // the first error is the one to report
			return n, err
		}
	}
	return n, nil
}

// beginSegment begins a segment and removes the oldest ones.
func (w *Writer) beginSegment() error {
	w.Close() //nolint:errcheck // it has what was written to it
	if err := w.openSegment(segmentName(w.path, w.at)); err != nil {
		return err
	}
	w.full = w.at + w.segment
	list, err := segmentsOf(w.path)
	for _, start := range list[:max(len(list)-keptSegments, 0)] {
		os.Remove(segmentName(w.path, start)) //nolint:errcheck // it is removed with the next one
	}
	return err
}

// Close closes the file.
func (w *Writer) Close() error {
	if w.file == nil {
		return nil
	}
	file := w.file
	w.file = nil
	return file.Close()
}

func segmentName(path string, start int64) string {
	return path + "." + strconv.FormatInt(start, 10)
}
