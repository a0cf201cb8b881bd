package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestThreads(t *testing.T) {
	remarks := []Remark{
		{Path: "a.go", Line: 3, Text: "why two?\n\nsay so"}, {Path: "odd `name`.go", Text: "the whole file"}, {Path: "a.go", Line: 2, Old: true, Text: "keep it"},
	}
	QuoteLines(remarks, []File{{Path: "a.go", Hunks: []Hunk{{Lines: []Line{{Kind: "-", Old: 2, Text: "var `old` = 1"}, {Kind: "+", New: 3, Text: "\tvar more = 2 "}}}}}})
	note := DescribeRemarks("Nearly.", 14, remarks)
	got := ParseRemarks(note)
	ReadReplies(got, "- R14-1: resolved, it is one now\n  and a test says so\n\n**R14-3**: no, nobody uses it\n\nR99-1: of nobody\x1b[2J\n")
	want := []Thread{
		{Remark: Remark{Path: "a.go", Line: 3, Text: "why two?\n\nsay so", Quote: "var more = 2"}, ID: "R14-1", Reply: "resolved, it is one now\n  and a test says so", Resolved: true},
		{Remark: Remark{Path: "odd `name`.go", Text: "the whole file"}, ID: "R14-2"},
		{Remark: Remark{Path: "a.go", Line: 2, Old: true, Text: "keep it", Quote: "var `old` = 1"}, ID: "R14-3", Reply: "no, nobody uses it"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s\n%s", d, note)
	}
	for _, text := range []string{"", "R1-1", "R1-1 ", "R1-1 `", "R1-1 `a", "R1-1 `a`", "R1-1 `a`:", "words", "R1-1 ``a`:3``"} {
		if got := ParseRemarks(text); len(got) > 0 {
			t.Errorf("%q has %+v", text, got)
		}
	}
	rows := BuildRows(&File{Path: "a.go", Hunks: []Hunk{{Lines: []Line{{Kind: "+", New: 1, Text: "var more = 2"}, {Kind: " ", Old: 1, New: 2, Text: "x"}, {Kind: "+", New: 9, Text: "var more = 2"}}}}}, nil, false)
	if at := got[0].FindLine(rows); at != 0 {
		t.Errorf("the thread is at row %d", at)
	}
	if at := got[2].FindLine(rows); at != -1 {
		t.Errorf("the thread of a line that is gone is at row %d", at)
	}
}
