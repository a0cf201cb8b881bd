package taskdir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/journal"
)

func entry(seq int) journal.Entry {
	return journal.Entry{Task: id, Seq: seq, At: start.Add(time.Duration(seq) * time.Second), Type: journal.AutoAdvanced,
		Move: journal.Move{From: "a", To: "b"}, Reason: "x < y"}
}

func seqs(t *testing.T, path string) []string {
	t.Helper()
	var out []string
	for line := range strings.Lines(read(t, path)) {
		_, rest, _ := strings.Cut(line, `"seq":`)
		seq, _, _ := strings.Cut(rest, ",")
		out = append(out, seq)
	}
	return out
}

func TestHistoryIsAppendedOnce(t *testing.T) {
	d, path := begin(t, "")
	path = filepath.Join(filepath.Dir(path), historyName)
	for _, entries := range [][]journal.Entry{{entry(1)}, {entry(1), entry(2)}, {entry(2)}, nil, {entry(1), entry(2), entry(3)}} {
		if err := d.ProjectRecord(record(), entries); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"1", "1", "2", "2", "3", "3"}, seqs(t, path)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	want := `{"type":"auto.advanced","timestamp":"2026-01-02T03:04:06.678Z","seq":1,"from":"a","to":"b","reason":"x < y"}
{"type":"status.changed","timestamp":"2026-01-02T03:04:06.678Z","seq":1,"from":"a","to":"b"}
`
	if got := read(t, path); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s", got)
	}
	wantError(t, d.ProjectRecord(record(), []journal.Entry{entry(5)}), "entry 5 cannot follow on entry 3")
}

func TestHistoryAfterACrash(t *testing.T) {
	whole := `{"type":"x","seq":1}` + "\n"
	long := `{"type":"` + strings.Repeat("y", 3*block) + `","seq":1}` + "\n"
	for name, tc := range map[string]struct {
		text string
		last int
		want []string
	}{
		"missing":                       {"", 0, []string{"1", "1", "2", "2"}},
		"a torn line":                   {whole + `{"type":"y","seq":2,"fr`, 1, []string{"1}\n", "2", "2"}},
		"a torn line only":              {`{"type":"y","seq":1,"fr`, 0, []string{"1", "1", "2", "2"}},
		"a torn line without an ending": {whole + `{"type":"y","seq":2}`, 1, []string{"1}\n", "2", "2"}},
		"a line of somebody else":       {whole + "hello\n", 1, []string{"1}\n", "", "2", "2"}},
		"lines without a number":        {strings.Repeat("{\"type\":\"task.created\"}\n", 5000), 0, nil},
		"a long line":                   {long, 1, []string{"1}\n", "2", "2"}},
		"a long torn line":              {whole + long[:len(long)-1], 1, []string{"1}\n", "2", "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			d, path := begin(t, "")
			path = filepath.Join(filepath.Dir(path), historyName)
			if tc.text != "" {
				write(t, path, tc.text)
			}
			if last, err := d.LastSeq("p", id); last != tc.last || err != nil {
				t.Errorf("last is %d, %v, want %d", last, err, tc.last)
			}
			if err := d.ProjectRecord(record(), []journal.Entry{entry(1), entry(2)}); err != nil {
				t.Fatal(err)
			}
			if tc.want == nil {
				return
			}
			if diff := cmp.Diff(tc.want, seqs(t, path)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestHistoryRefusesALink(t *testing.T) {
	d, path := begin(t, "")
	outside := filepath.Join(t.TempDir(), "outside")
	write(t, outside, "")
	if err := os.Symlink(outside, filepath.Join(filepath.Dir(path), historyName)); err != nil {
		t.Fatal(err)
	}
	wantError(t, d.ProjectRecord(record(), []journal.Entry{entry(1)}), "it is a link")
	if read(t, outside) != "" {
		t.Error("a file outside was written")
	}
	if !strings.HasPrefix(read(t, path), "---\nid:") {
		t.Error("the frontmatter was not written")
	}
}
