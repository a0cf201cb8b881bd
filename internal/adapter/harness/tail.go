package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"os"
	"strings"
	"syscall"
)

const (
	headSize = 64 << 10 // where an agent says which session this is
	tailSize = 4 << 20  // where it says how it went
)

// lines yields the lines at the beginning and at the end of a file, at most headSize
// and tailSize bytes of it. A file that cannot be read has none.
func lines(path string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, part := range ends(path) {
			for line := range bytes.Lines(part) {
				if line = bytes.TrimSpace(line); len(line) > 0 && !yield(line) {
					return
				}
			}
		}
	}
}

// ends reads both ends of a file, each cut to whole lines where the file is longer.
func ends(path string) [][]byte {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // an agent may say that a pipe is its transcript
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // read only
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	size := info.Size()
	if size <= headSize+tailSize {
		return [][]byte{section(f, 0, size)}
	}
	head, tail := section(f, 0, headSize), section(f, size-tailSize, tailSize)
	head = head[:bytes.LastIndexByte(head, '\n')+1]
	tail = tail[bytes.IndexByte(tail, '\n')+1:]
	return [][]byte{head, tail}
}

func section(f *os.File, from, size int64) []byte {
	part, err := io.ReadAll(io.NewSectionReader(f, from, size))
	if err != nil {
		return nil
	}
	return part
}

// records yields the lines of a file that are JSON objects, as values of type T.
func records[T any](path string) iter.Seq[T] {
	return func(yield func(T) bool) {
		for line := range lines(path) {
			var v T
			var other *json.UnmarshalTypeError // one field is not what it was: the rest is
			if line[0] != '{' {
				continue
			}
			if err := json.Unmarshal(line, &v); err != nil && !errors.As(err, &other) {
				continue
			}
			if !yield(v) {
				return
			}
		}
	}
}

// count is a number of tokens as an agent writes it, which may be anything.
type count float64

func (c count) int() int {
	if !(c > 0) || c > 1e15 {
		return 0
	}
	return int(c)
}

// micros turns dollars into millionths of them.
func micros(dollars float64) int64 {
	if !(dollars > 0) || dollars > 1e9 {
		return 0
	}
	return int64(math.Round(dollars * 1e6))
}

// plus adds what one message consumed.
func (u *Usage) plus(v Usage) {
	u.InputTokens += v.InputTokens
	u.OutputTokens += v.OutputTokens
	u.CacheTokens += v.CacheTokens
	u.CostMicroUSD += v.CostMicroUSD
}

// some is nil for no usage at all, which says nothing.
func (u Usage) some() *Usage {
	if u == (Usage{}) {
		return nil
	}
	return &u
}

// messageText is the text of a message: a string, or the parts of type text in a list.
type messageText string

// UnmarshalJSON implements json.Unmarshaler. What is not a message has no text.
func (t *messageText) UnmarshalJSON(text []byte) error {
	var whole string
	if json.Unmarshal(text, &whole) == nil {
		*t = messageText(whole)
		return nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(text, &parts) != nil {
		return nil
	}
	var said []string
	for _, p := range parts {
		if p.Text != "" && (p.Type == "text" || p.Type == "output_text") {
			said = append(said, p.Text)
		}
	}
	*t = messageText(strings.Join(said, "\n"))
	return nil
}
