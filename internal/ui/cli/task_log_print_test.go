package cli

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/ui/client"
)

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
	if err := p.showPartial(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write([]byte(long)); err != nil {
		t.Fatal(err)
	}
	if err := p.finishOutput(); err != nil {
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
