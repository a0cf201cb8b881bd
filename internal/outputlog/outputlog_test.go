package outputlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Sizes for tests.
const (
	testHead    = 10
	testSegment = 20
)

func newWriter(t *testing.T, path string) *Writer {
	t.Helper()
	w, err := appendTo(path, testHead, testSegment)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() }) //nolint:errcheck // a test may have closed it
	return w
}

func write(t *testing.T, w io.Writer, text string) {
	t.Helper()
	if n, err := io.WriteString(w, text); n != len(text) || err != nil {
		t.Fatalf("wrote %d of %d bytes: %v", n, len(text), err)
	}
}

func opened(t *testing.T, path string) *Output {
	t.Helper()
	o, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

// from returns the output from a position on, as a reader sees it.
func from(t *testing.T, path string, at int64) (text string, next int64) {
	t.Helper()
	var out strings.Builder
	next, err := opened(t, path).WriteFrom(&out, at)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), next
}

func onDisk(t *testing.T, path string) (size int64) {
	t.Helper()
	files, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			size += info.Size()
		}
	}
	return size
}

// digits returns a text in which every ten bytes contain their position.
func digits(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i += 10 {
		fmt.Fprintf(&b, "%09d\n", i)
	}
	return b.String()[:size]
}

func TestBeginningAndEndAreKept(t *testing.T) {
	for _, size := range []int{0, 1, 9, 10, 11, 30, 31, 49, 50, 51, 70, 71, 101, 110, 111} {
		for _, chunk := range []int{1, 7, 5000} {
			for _, reopened := range []bool{false, true} {
				path := filepath.Join(t.TempDir(), "output.log")
				all := digits(size)
				w := newWriter(t, path)
				for rest := all; rest != ""; {
					n := min(chunk, len(rest))
					write(t, w, rest[:n])
					rest = rest[n:]
					if reopened { // as after the writer was killed
						w.Close() //nolint:errcheck // it has what was written
						w = newWriter(t, path)
					}
					if have := onDisk(t, path); have > testHead+2*testSegment {
						t.Fatalf("%d bytes are on disk", have)
					}
				}
				got, next := from(t, path, 0)
				if next != int64(size) {
					t.Errorf("%d bytes: the end is at %d", size, next)
				}
				head, tail, cut := strings.Cut(got, "\n... ")
				if !cut {
					if got != all || size > testHead+2*testSegment {
						t.Errorf("%d bytes: %q", size, got)
					}
					continue
				}
				var left int
				line, tail, _ := strings.Cut(tail, "\n")
				if _, err := fmt.Sscanf(line, "%d bytes of output were left out ...", &left); err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				if head != all[:testHead] || !strings.HasSuffix(all, tail) || len(tail) < testSegment || testHead+left+len(tail) != size {
					t.Errorf("%d bytes: %q, %d left out, %q", size, head, left, tail)
				}
				if have, at, err := Stat(path); have != int64(size) || time.Since(at) > time.Hour || err != nil {
					t.Errorf("Stat: %d, %v, %v", have, at, err)
				}
			}
		}
	}
}

func TestReadAtFindsWhatIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "output.log")
	all := digits(1005)
	write(t, newWriter(t, path), all)
	o := opened(t, path)
	whole := make([]byte, len(all))
	if n, err := o.ReadAt(whole, 0); n != len(all) || err != nil {
		t.Fatal(n, err)
	}
	// The segments begin at 10, 30 and so on: the last two at 970 and 990.
	want := all[:10] + strings.Repeat("\n", 960) + all[970:]
	if string(whole) != want {
		t.Errorf("got %q", whole)
	}
	for at := range len(all) + 2 {
		for _, size := range []int{1, 15, 40} {
			p := make([]byte, size)
			n, err := o.ReadAt(p, int64(at))
			end := min(at+size, len(all))
			if got := string(p[:n]); n != max(end-at, 0) || got != want[min(at, end):end] || (err != nil) != (at+size > len(all)) || err != nil && !errors.Is(err, io.EOF) {
				t.Fatalf("ReadAt(%d, %d): %q, %v", size, at, got, err)
			}
		}
	}
}

func TestLastLinesAreFoundAcrossSegments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "output.log")
	all := digits(1005)
	write(t, newWriter(t, path), all)
	o := opened(t, path)
	for lines, want := range map[int]int64{1: 1000, 2: 990, 3: 980, 4: 10 /* with the line about what was left out */, 5: 0, 100: 0} {
		if got, err := o.LastLines(lines); got != want || err != nil {
			t.Errorf("the last %d lines begin at %d, want %d: %v", lines, got, want, err)
		}
	}
}

// TestAFollowerMissesOnlyWhatIsGone reads while another goroutine writes: what it gets is in
// order, and every missing byte is reported.
func TestAFollowerMissesOnlyWhatIsGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "output.log")
	const lines = 3000
	w := newWriter(t, path)
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := range lines {
			fmt.Fprintf(w, "%09d\n", i*10) //nolint:errcheck // its absence is noticed
		}
	})
	defer writing.Wait()
	var at int64
	for at < lines*10 {
		var got bytes.Buffer
		o := opened(t, path)
		next, err := o.WriteFrom(&got, at)
		o.Close()
		if err != nil {
			t.Fatal(err)
		}
		text, pos := got.String(), at
		for text != "" {
			var left int64
			if n, err := fmt.Sscanf(text, "\n... %d bytes of output were left out ...", &left); n == 1 && err == nil {
				pos += left
				_, text, _ = strings.Cut(text[1:], "\n")
				continue
			}
			var here int64
			if _, err := fmt.Sscanf(text, "%d\n", &here); err != nil || len(text) < 10 || here != pos {
				t.Fatalf("at %d: %.60q", pos, text)
			}
			text, pos = text[10:], pos+10
		}
		if pos != next {
			t.Fatalf("from %d on up to %d was written, and %d returned", at, pos, next)
		}
		at = next
	}
}

func TestWhatCannotBeWrittenIsLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "output.log")
	w := newWriter(t, path)
	write(t, w, "abc")
	w.file.Close() //nolint:errcheck // so that the next write fails
	if _, err := io.WriteString(w, "defg"); err == nil {
		t.Error("nothing failed")
	}
	write(t, w, "hij\n")
	if got, next := from(t, path, 0); got != "abc\n... 4 bytes of output were left out ...\nhij\n" || next != 11 {
		t.Errorf("%q, %d", got, next)
	}
}

func TestOtherFilesDoNoHarm(t *testing.T) {
	path := filepath.Join(t.TempDir(), "output.log")
	if _, err := Open(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open: %v", err)
	}
	write(t, newWriter(t, path), "abc\n")
	for _, name := range []string{".2", ".-5", ".05", ".x", ".9223372036854775807", ".tmp"} { // within, or never written
		if err := os.WriteFile(path+name, []byte("no"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("nowhere", path+".70"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path+".80", 0o700); err != nil {
		t.Fatal(err)
	}
	if got, next := from(t, path, 0); got != "abc\n" || next != 4 {
		t.Errorf("%q, %d", got, next)
	}
}
