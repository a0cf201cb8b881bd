package render

import (
	"strings"
	"testing"

	"orange/internal/core/journal"
	"orange/internal/view/ansi"
	"orange/internal/view/diff"
)

func BenchmarkRender(b *testing.B) {
	theme, list, def := NewTheme(true, true), entries(b, "login"), definition(b, "joan-board")
	var long []journal.Entry
	for range 40 {
		long = append(long, list...)
	}
	x, files, text := explained(b, list[:12]), diff.Parse(strings.Repeat(changes, 300)), strings.Repeat(document, 10)
	lines := ansi.ParseLines(strings.Repeat(captured, 20))
	for name, paint := range map[string]func() []string{
		"timeline": func() []string { return theme.RenderTimeline(long, played, 80) },
		"markdown": func() []string { return theme.RenderMarkdown(text, 80) },
		"explain":  func() []string { return theme.RenderExplanation(x, played, 80) },
		"graph":    func() []string { return theme.RenderGraph(def, "board", nil, 80) },
		"screen":   func() []string { return theme.RenderScreen(lines, 80, 40) },
		"diff":     func() []string { return theme.RenderDiff(files, 80) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				paint()
			}
		})
	}
}
