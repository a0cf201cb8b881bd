package cli

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/ui/client"
)

func TestPlainOutput(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "a\tb", "a\tb"},
		{"end of line of a terminal", "a\r", "a"},
		{"colour", "\x1b[31mred\x1b[0m", "red"},
		{"written over", "10%\r50%\rdone", "done"},
		{"written over and erased", "10%\r\x1b[2Kdone", "done"},
		{"steps to the right", "two\x1b[1Cwords\x1b[Cand\x1b[3Cmore", "two words and   more"},
		{"a step of any length", "a\x1b[999999999999999999999Cb\x1b[1000Cc", "a b" + strings.Repeat(" ", 40) + "c"},
		{"jumps", "\x1b[H\x1b[2Jtop\x1b[5;1Hbelow\x1b[1B\r", "top\nbelow\n"},
		{"a jump of one byte", "a\u009b5;1Hb", "a\nb"},
		{"title", "\x1b]0;evil\x07ok", "ok"},
		{"hidden", "a\u202eb\x00\x07", "ab"},
		{"no text", "a\xff", "a\ufffd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := plainOutput(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzPlainOutputLeavesNothingDangerous(f *testing.F) {
	for _, s := range []string{"\x1b[31m", "\x1b[9C", "a\rb", "\x1b[H\r\x1b", "\xc2\x9b1C\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := plainOutput(s); needsCleaning(got) {
			t.Errorf("%q became %q", s, got)
		}
	})
}

func TestOutputComesInPieces(t *testing.T) {
	var got []string
	p := &logPrinter{parts: true, emit: func(line string, whole bool) error {
		if whole {
			line += "|"
		}
		got = append(got, line)
		return nil
	}}
	long := strings.Repeat("x", maxPart+1)
	for _, piece := range []string{"o", "ne\ntw", "o\n\nthr"} {
		if n, err := p.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := p.pause(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write([]byte(long)); err != nil {
		t.Fatal(err)
	}
	if err := p.end(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one|", "two|", "|", "thr", long}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWithoutAServerNobodyKnowsWhetherAnAttemptEnded(t *testing.T) {
	server := client.New(filepath.Join(t.TempDir(), "s"))
	if over, err := attemptEnded(context.Background(), server, "one", 1); over || err != nil {
		t.Errorf("got %t, %v", over, err)
	}
}
