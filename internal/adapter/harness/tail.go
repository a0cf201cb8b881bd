package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"orange/internal/outputlog"
)

// How much of a file is read. Files are searched from the end in growing steps, so that a long
// session costs no more than a short one.
const (
	headSize  = 64 << 10         // where an agent names its session
	firstStep = 64 << 10         // at the end
	nextStep  = 4                // factor of growth
	wholeSize = headSize + 4<<20 // a file up to this size is read whole if necessary
	enough    = 1 << 20          // of a larger file, once the last message was found
	maxTail   = 16 << 20         // of a larger file, to find the last message
)

// found is how much of the wanted information the end of a file contains.
type found int

const (
	nothing  found = iota
	lastWord       // the whole last message; usage may be further up
	all            // nothing that counts is further up
)

// readRecords returns the lines of a file that are JSON objects, oldest first: those at its
// beginning, and as many at its end as look requires. A file that cannot be read has none.
func readRecords[T any](path string, look func(end []T) found) []T {
	head, end := readEnds(path, look)
	return append(head, end...)
}

// readEnds is readRecords, but returns the lines of the beginning separately if there is a gap
// after them.
func readEnds[T any](path string, look func(end []T) found) (head, end []T) {
	f, size := openOutput(path)
	if f == nil {
		return nil, nil
	}
	defer f.Close()
	need := int64(enough)
	if size <= wholeSize {
		need = size
	}
	var broken []byte // a line whose beginning is not read yet
	from := size
	for step := int64(firstStep); from > 0; step *= nextStep {
		start := size - step
		if start <= headSize {
			start = 0
		}
		part := append(readPart(f, start, from-start), broken...)
		from, broken = start, nil
		if start > 0 {
			line := bytes.IndexByte(part, '\n') + 1
			if line == 0 {
				line = len(part)
			}
			broken, part = part[:line:line], part[line:]
		}
		end = append(decodeLines[T](part), end...)
		seen := look(end)
		if seen == all || seen == lastWord && step >= need || step >= maxTail {
			break
		}
	}
	if from > 0 {
		text := readPart(f, 0, headSize)
		head = decodeLines[T](text[:bytes.LastIndexByte(text, '\n')+1])
	}
	return head, end
}

// openOutput opens a file for reading, including what was kept of a long output. It returns nil
// if the file does not exist.
func openOutput(path string) (f *outputlog.Output, size int64) {
	if path == "" {
		return nil, 0
	}
	f, err := outputlog.Open(path)
	if err != nil {
		return nil, 0
	}
	return f, f.Size()
}

// readPart reads a part of a file, as far as it exists.
func readPart(f io.ReaderAt, from, size int64) []byte {
	part := make([]byte, size)
	n, err := f.ReadAt(part, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	return part[:n]
}

// readTail returns the last bytes of a file, and reports whether there are more before them.
func readTail(path string, size int64) (text []byte, more bool) {
	f, have := openOutput(path)
	if f == nil {
		return nil, false
	}
	defer f.Close()
	start := max(0, have-size)
	return readPart(f, start, have-start), start > 0
}

// decodeLines decodes the lines that are JSON objects, as values of type T.
func decodeLines[T any](text []byte) []T {
	var out []T
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] != '{' {
			continue
		}
		var v T
		var other *json.UnmarshalTypeError // one field has another type than expected; the rest is decoded
		if err := json.Unmarshal(line, &v); err == nil || errors.As(err, &other) {
			out = append(out, v)
		}
	}
	return out
}
