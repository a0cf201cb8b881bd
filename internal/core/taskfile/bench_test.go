package taskfile

import (
	"strings"
	"testing"
)

func BenchmarkParseAndSections(b *testing.B) {
	paragraph := "- did a thing in `pkg/file.go`, which was needed since the other one broke\n  and more text\n\n"
	section := "## Handoff\n\nDONE: x\n\n```go\nfunc main() {}\n```\n\n" + strings.Repeat(paragraph, 20)
	src := []byte("---\nid: a\nstatus: working\nreview_round: 1\n---\n" + strings.Repeat(section, 10))
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		d, err := Parse(src)
		if err != nil || len(d.Sections()) != 10 {
			b.Fatal(err)
		}
	}
}
