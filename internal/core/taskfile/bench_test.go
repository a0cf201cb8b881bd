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

// BenchmarkHeadings reads a megabyte of nothing but headings.
func BenchmarkHeadings(b *testing.B) {
	for name, line := range map[string]string{"sections": "## x\n", "deep": "### x\n", "underlined": "x\n---\n\n", "labels": "A: x\n", "fences": "```\n"} {
		b.Run(name, func(b *testing.B) {
			src := []byte(strings.Repeat(line, (1<<20)/len(line)))
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if d, err := Parse(src); err == nil {
					d.Sections()
				}
			}
		})
	}
}
