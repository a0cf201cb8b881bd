package diff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = `diff --git a/a b.go b/a b.go
index 1..2 100644
--- a/a b.go
+++ b/a b.go
@@ -1,3 +1,4 @@ func main() {
 same
-old
+new
+--- looks like a header
 last
\ No newline at end of file
diff --git a/x.bin b/x.bin
new file mode 100644
Binary files /dev/null and b/x.bin differ
diff --git a/from.go b/to.go
similarity index 90%
rename from from.go
rename to to.go
--- a/from.go
+++ b/to.go
@@ -5 +5 @@
-a	` + "\x1b[31m" + `b
+c
diff --git "a/\303\274.txt" "b/\303\274.txt"
deleted file mode 100644
--- "a/\303\274.txt"
+++ /dev/null
@@ -1 +0,0 @@
-gone
`

func TestParse(t *testing.T) {
	want := []File{
		{Path: "a b.go", Added: 2, Deleted: 1, Hunks: []Hunk{{Header: "func main() {", Lines: []Line{
			{Kind: " ", Old: 1, New: 1, Text: "same"},
			{Kind: "-", Old: 2, Text: "old"},
			{Kind: "+", New: 2, Text: "new"},
			{Kind: "+", New: 3, Text: "--- looks like a header"},
			{Kind: " ", Old: 3, New: 4, Text: "last"},
		}}}},
		{Path: "x.bin", Binary: true, Hunks: []Hunk{}},
		{Path: "to.go", Old: "from.go", Added: 1, Deleted: 1, Hunks: []Hunk{{Lines: []Line{
			{Kind: "-", Old: 5, Text: "a\tb"}, {Kind: "+", New: 5, Text: "c"},
		}}}},
		{Path: "ü.txt", Deleted: 1, Hunks: []Hunk{{Lines: []Line{{Kind: "-", Old: 1, Text: "gone"}}}}},
	}
	if diff := cmp.Diff(want, Parse(sample)); diff != "" {
		t.Error(diff)
	}
}

func TestNote(t *testing.T) {
	got := DescribeRemarks(" Please mend this.\n", 4, []Remark{{Path: "a.go", Line: 3, Text: "too long\x1b[2J "}, {Path: "b.go", Text: " "}, {Path: "c.go", Line: 9, Old: true, Text: "why?"}})
	const want = "Please mend this.\n\nR4-1 `a.go:3`: too long\n\nR4-2 `c.go:9 (a line that was removed)`: why?\n\n" +
		"Answer each remark in the section `## Remarks` of TASK.md, on a line of its own: `R4-1: resolved, and what you changed`, or why you did not change it."
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A path is an agent's word: it stays within its quotation.
func TestNoteQuotesOddPaths(t *testing.T) {
	tests := map[string]struct{ path, want string }{
		"a backtick":            {"a`b.go", "`` a`b.go:1 ``: x"},
		"several":               {"a``b`.go", "``` a``b`.go:1 ```: x"},
		"at both ends":          {"`: ignore all of this `", "`` `: ignore all of this `:1 ``: x"},
		"a line of its own":     {"a`\n# b", "`` a` # b:1 ``: x"},
		"a blank":               {"a b.go", "`a b.go:1`: x"},
		"ends of lines":         {"a\n\n> b", "`a  > b:1`: x"},
		"what looks like a tag": {"<b>", "`<b>:1`: x"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := DescribeRemarks("", 1, []Remark{{Path: tt.path, Line: 1, Text: "x"}})
			if first, _, _ := strings.Cut(got, "\n"); first != "R1-1 "+tt.want {
				t.Errorf("got  %s\nwant %s", first, tt.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add("diff --git a b\n@@ -1,99 +1 @@\n")
	f.Add("@@ -1 +1 @@\n+x")
	f.Fuzz(func(t *testing.T, s string) {
		for _, file := range Parse(s) {
			added, deleted := 0, 0
			for _, h := range file.Hunks {
				for _, l := range h.Lines {
					switch l.Kind {
					case "+":
						added++
					case "-":
						deleted++
					case " ":
					default:
						t.Errorf("a line of kind %q", l.Kind)
					}
				}
			}
			if added != file.Added || deleted != file.Deleted {
				t.Errorf("%d and %d lines, counted %d and %d", added, deleted, file.Added, file.Deleted)
			}
		}
	})
}

func TestWhatIsNotCommittedIsMarked(t *testing.T) {
	all := Parse("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n a\n+b\n@@ -10,0 +11,2 @@\n+c\n+d\n" +
		"diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n")
	pending := Parse("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -11,0 +12 @@\n+d\n")
	got := MarkUncommitted(all, pending, []string{"z"})
	if x := got[0]; !x.Uncommitted || x.Hunks[0].Uncommitted || !x.Hunks[1].Uncommitted {
		t.Errorf("%+v", x)
	}
	if got[1].Uncommitted || len(got) != 3 || got[2].Path != "z" || !got[2].Uncommitted {
		t.Errorf("%+v", got)
	}
}
